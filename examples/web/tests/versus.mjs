// A page against the native duel, whose bot plays.
import { clean, cover, expect, host, later, open, options, outcome, picture, seconds, together, url } from "./context.mjs";
import { Native } from "./native.mjs";
import { CHANNEL, GARBAGE } from "./pairs.mjs";

const SKIPPED = "skipped: no --duel PROGRAM and --rendezvous HOST:PORT";
// What the native program says of a peer from which nothing comes.
const SILENCE = /waiting for \S+, \d+ s|is back/;

// Runs a check with a native program that waits for a page, unless there is none.
async function hosted(check, before = "") {
    if (!options.duel || !options.rendezvous) {
        return SKIPPED;
    }
    const duel = new Native(options.duel, ["host", "--port", "0", "--rendezvous", options.rendezvous, "--name", "Ann"]);
    try {
        const [invite] = await duel.until(/^rebout:\S+/m);
        await duel.until(/registered at the rendezvous/);
        const page = await open(`${url}#${invite}`, { width: 800, height: 500, before });
        await page.until("rebout.facts().playing", 60);
        const began = await page.run("performance.now()");
        await duel.until(/ against /);
        return await check({ duel, page, began });
    } finally {
        await duel.stop();
    }
}

// Plays against the bot for so long, rematches included. What has to hold does not depend on the speed of this machine.
async function fight(page) {
    for (const end = Date.now() + seconds * 1000; Date.now() < end;) {
        await page.key("d", "KeyD", 150);
        await page.key("j", "KeyJ", 60);
        await page.key("w", "KeyW", 60);
        await page.key("Enter");
    }
    await together([page], seconds * 30);
}

// The page is closed: the native program is told and ends, long before the 90 s for which it would wait for a silent page.
async function end(page, duel) {
    const facts = await page.facts();
    clean(page);
    await page.close();
    const { frames, stalls, rollbacks } = await duel.outcome();
    // The last packets of a page that is closed may be lost.
    expect(frames + 60 >= facts.settled, `the page has settled ${facts.settled} frames, the native program ${frames}`);
    return `page ${outcome(facts)} | native ${frames} frames, ${stalls} stalls, ${rollbacks} rollbacks`;
}

export const versus = {
    "native-host": () => hosted(async ({ page, duel, began }) => {
        await fight(page);
        await picture(page, "native-host");
        return `first frame ${began.toFixed(0)} ms after opening the link; ${await end(page, duel)}`;
    }),

    async "native-join"() {
        if (!options.duel) {
            return SKIPPED;
        }
        const page = await open(url, { width: 800, height: 500 });
        const link = await host(page);
        const started = Date.now();
        const duel = new Native(options.duel, ["join", link, "--name", "Ben"]);
        try {
            await duel.until(/ against /);
            const began = Date.now() - started;
            await page.until("rebout.facts().playing", 60);
            await fight(page);
            await picture(page, "native-join");
            return `match ${began} ms after the start of the native program; ${await end(page, duel)}`;
        } finally {
            await duel.stop();
        }
    },

    // A tab in front of the page: Chromium gives it no pictures, and its timers run once a second.
    background: () => hosted(async ({ page, duel }) => {
        await together([page], 120);
        const uncover = await cover(page);
        await page.run("window.timers = 0; setInterval(() => { timers += 1; }, 25); rebout.figures.pictures = 0");
        const from = await page.facts();
        await later(20_000);
        const to = await page.facts();
        const { pictures, timers } = await page.run("({ pictures: rebout.figures.pictures, timers })");
        expect(pictures === 0 && timers < 40, `the browser does not throttle the page: ${pictures} pictures, ${timers} timers`);
        expect(to.mode === "fight" && !to.interrupted, `the page says: ${JSON.stringify(to)}`);
        expect(!SILENCE.test(duel.said), `the native program says: ${duel.said}`);
        // Half of the usual rate leaves room for a busy machine; one turn a second would make 160 frames.
        expect(to.settled - from.settled > 20 * 30, `${to.settled - from.settled} frames in 20 s`);
        await uncover();
        await together([page], to.settled + 120);
        return `${to.settled - from.settled} frames in 20 s behind another tab, ${to.stalls - from.stalls} stalls; ${await end(page, duel)}`;
    }),

    // A page that sends garbage on the data channel.
    "native-garbage": () => hosted(async ({ page, duel }) => {
        await together([page], 120);
        await page.run(GARBAGE);
        const { frame } = await page.facts();
        await together([page], frame + 240);
        expect(await page.run("made") === 1, "the garbage has ended the data channel");
        expect(!SILENCE.test(duel.said), `the native program says: ${duel.said}`);
        return `2,200 messages of garbage to the native program: ${await end(page, duel)}`;
    }, CHANNEL),

    // A page that ends without a word: the other player is told of the silence.
    crash: () => hosted(async ({ page, duel }) => {
        await together([page], 120);
        page.send("Page.crash").catch(() => {});
        const [said] = await duel.until(new RegExp(`.*${SILENCE.source}.*`), 60);
        return `the native program says: ${said}`;
    }),
};
