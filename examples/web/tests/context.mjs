// What the checks share: the options, the browser, and pages that are closed after each check.
import { parseArgs } from "node:util";
import { Browser } from "./chromium.mjs";

export const { values: options, positionals: [url] } = parseArgs({
    allowPositionals: true,
    options: {
        only: { type: "string" },
        replay: { type: "string" },
        seconds: { type: "string", default: "10" },
        pictures: { type: "string" },
        browser: { type: "string", default: "chromium" },
        duel: { type: "string" },
        rendezvous: { type: "string" },
    },
});
export const seconds = Number(options.seconds);
export const later = (millis) => new Promise((done) => setTimeout(done, millis));
export const expect = (holds, text) => {
    if (!holds) {
        throw new Error(text);
    }
};

let browser;
const opened = [];

// Another browser, with further flags, for what `work` does; then the one before.
export async function within(flags, work) {
    const before = browser;
    browser = await Browser.start(options.browser, flags);
    try {
        return await work(browser);
    } finally {
        opened.length = 0;
        await browser.close();
        browser = before;
    }
}

export async function open(where = url, settings = {}) {
    const page = await browser.open(where, settings);
    opened.push(page);
    return page;
}

// Puts a page into the background, behind another tab; returns what brings it back.
export const cover = (page) => browser.cover(page);

export const closeAll = () => Promise.all(opened.splice(0).map((page) => page.close().catch(() => {})));

export const ready = (page) => page.until("rebout.figures.pictures > 0");

export async function picture(page, name) {
    if (options.pictures) {
        await page.picture(`${options.pictures}/${name}.png`);
    }
}

// Nothing but the page's own files is loaded, and nothing goes wrong.
export function clean(page) {
    expect(page.errors.length === 0, `the page reports ${page.errors.join("; ")}`);
    const strange = page.requests.filter((request) => !request.startsWith(new URL(url).origin) && !request.startsWith("data:"));
    expect(strange.length === 0, `the page asks for ${strange.join(", ")}`);
}

// Hosts in a page; returns the link for the other player.
export async function host(page) {
    await ready(page);
    for (const key of ["ArrowDown", "ArrowDown", "Enter"]) {
        await page.key(key);
    }
    return page.until("document.getElementById('address').value", 20);
}

export const outcome = ({ stalls, rollbacks, roundTripMillis, frame }) =>
    `${frame} frames, ${stalls} stalls, ${rollbacks} rollbacks, ${roundTripMillis} ms`;

// Waits until the match of each page has come so far.
export async function together(pages, least) {
    for (const page of pages) {
        await page.until(`rebout.facts().mode !== 'fight' || rebout.facts().settled > ${least}`, 120);
        const facts = await page.facts();
        expect(facts.mode === "fight", `the match has ended: ${JSON.stringify(facts)}`);
    }
}
