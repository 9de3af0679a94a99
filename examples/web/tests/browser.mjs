// The page in headless Chromium, as players use it. Prints a line for each check, and ends with 1 if one has failed.
//
//   node --experimental-websocket examples/web/tests/browser.mjs URL [--only NAMES] [--replay FILE] [--seconds N] [--pictures FOLDER]
//
// URL is a served page, as by `cargo run -p web-build -- --serve 8080`. Checks of two players need a rendezvous behind it.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { Browser } from "./chromium.mjs";
import { proxy } from "./proxy.mjs";

const { values: options, positionals: [url] } = parseArgs({
    allowPositionals: true,
    options: {
        only: { type: "string", default: "opening,bot,rates,errors,phone,pad,replay,pair,gone,garbage" },
        replay: { type: "string" },
        seconds: { type: "string", default: "10" },
        pictures: { type: "string" },
        browser: { type: "string", default: "chromium" },
    },
});
const seconds = Number(options.seconds);
const later = (millis) => new Promise((done) => setTimeout(done, millis));
const expect = (holds, text) => {
    if (!holds) {
        throw new Error(text);
    }
};

let browser;
const opened = [];

async function open(where = url, settings = {}) {
    const page = await browser.open(where, settings);
    opened.push(page);
    return page;
}

const ready = (page) => page.until("rebout.figures.pictures > 0");

async function picture(page, name) {
    if (options.pictures) {
        await page.picture(`${options.pictures}/${name}.png`);
    }
}

// Nothing but the page's own files is loaded, and nothing goes wrong.
function clean(page) {
    expect(page.errors.length === 0, `the page reports ${page.errors.join("; ")}`);
    const strange = page.requests.filter((request) => !request.startsWith(new URL(url).origin) && !request.startsWith("data:"));
    expect(strange.length === 0, `the page asks for ${strange.join(", ")}`);
}

const checks = {
    async opening() {
        const page = await open();
        await ready(page);
        const golden = await page.run("rebout.golden()");
        expect(golden === "1000 41B73DB7", `the reference simulation gives ${golden}`);
        const first = await page.run("rebout.figures.firstPicture");
        await picture(page, "title");
        clean(page);
        return `first picture after ${first.toFixed(0)} ms, golden value ${golden}`;
    },

    async bot() {
        const page = await open();
        await ready(page);
        await page.key("Enter");
        await page.until("rebout.facts().mode === 'fight' && rebout.facts().frame > 100");
        await page.until("rebout.figures.sound === 'running'");
        // A hidden page pauses the match against the bot.
        await page.run("Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });"
            + "document.dispatchEvent(new Event('visibilitychange'))");
        await later(300);
        const [rests] = [await page.run("rebout.facts().frame"), await later(500)];
        expect(rests === await page.run("rebout.facts().frame"), "the match goes on in the background");
        await page.run("delete document.visibilityState");
        await page.key("Enter");
        await page.until(`rebout.facts().frame > ${rests}`);
        await page.run("Object.assign(rebout.figures, { missed: 0, work: 0, slowest: 0, pictures: 0 })");
        const begun = await page.run("performance.now()");
        for (const end = Date.now() + seconds * 1000; Date.now() < end;) {
            await page.key("d", "KeyD", 200);
            await page.key("j", "KeyJ", 100);
        }
        const { figures, facts, at } = await page.run("({ figures: rebout.figures, facts: rebout.facts(), at: performance.now() })");
        await picture(page, "bot");
        expect(facts.mode === "fight" && facts.settled > seconds * 30, `the match stands still: ${JSON.stringify(facts)}`);
        clean(page);
        return `${((at - begun) / 1000).toFixed(1)} s: ${figures.missed} frames missed, ${figures.pictures} pictures, `
            + `${(figures.work / figures.pictures).toFixed(2)} ms for each, ${facts.stalls} stalls, ${facts.rollbacks} rollbacks`;
    },

    // Displays of several rates, on a clock that the display itself drives: how busy this machine is does not count.
    async rates() {
        const told = [];
        for (const hertz of [30, 60, 120, 144]) {
            const before = `let time = 0; performance.now = () => time;
                window.requestAnimationFrame = (draw) => setTimeout(() => { time += 1000 / ${hertz}; draw(time); });`;
            const page = await open(url, { before });
            await page.until("window.rebout");
            await page.run("rebout.page.fight_bot()");
            await page.until("rebout.facts().frame > 30");
            const look = "(() => ({ at: performance.now(), frame: rebout.facts().frame }))()";
            const from = await page.run(look);
            const to = await page.until(`performance.now() > ${from.at + 5000} && ${look}`, 120);
            const frames = (to.frame - from.frame) / (to.at - from.at) * 1000;
            told.push(`${hertz} Hz: ${frames.toFixed(2)}`);
            expect(Math.abs(frames - 60) < 1, `a display of ${hertz} Hz steps ${frames} frames a second`);
            await page.close();
        }
        return `frames a second at ${told.join(", ")}`;
    },

    async errors() {
        const told = async (page, pattern) => {
            const words = await page.until("rebout.facts().words?.join(' ')");
            expect(pattern.test(words), `the page says: ${words}`);
        };
        let page = await open(`${url}#damaged`);
        await told(page, /^This link cannot be used/);
        expect(await page.run("location.hash") === "", "the invite stays in the address bar");
        expect(page.requests.every((request) => !request.includes("damaged")), "the invite was sent to the server");
        await picture(page, "damaged");
        page = await open(url, { before: "delete window.RTCPeerConnection" });
        await ready(page);
        for (const key of ["ArrowDown", "ArrowDown", "Enter"]) {
            await page.key(key);
        }
        await told(page, /no WebRTC/);
        page = await open(url, { before: "delete window.AudioContext" });
        await ready(page);
        await page.key("Enter");
        await page.until("document.getElementById('mute').textContent === 'No sound here'");
        await page.until("rebout.facts().frame > 30");
        page = await open(url, { before: "delete window.WebAssembly" });
        await page.until("document.getElementById('sentence').textContent.includes('WebAssembly')");
        page = await open();
        await ready(page);
        await page.run("rebout.page.open_replay(new Uint8Array([1, 2, 3]))");
        await told(page, /^this is no replay/);
        return "damaged link, no WebRTC, no audio, no WebAssembly, no replay: a sentence each";
    },

    async phone() {
        for (const [name, width, height] of [["phone-upright", 390, 844], ["phone-across", 844, 390]]) {
            const page = await open(url, { width, height, phone: true });
            await ready(page);
            await picture(page, `${name}-title`);
            const tap = async (selector, hold) => {
                const box = await page.run(`(() => { const { x, y, width, height } = document.querySelector(${JSON.stringify(selector)})`
                    + ".getBoundingClientRect(); return { x: x + width / 2, y: y + height / 2 }; })()");
                await page.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: [box] });
                await later(hold);
                await page.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
            };
            // The lowest of the four buttons confirms in a menu.
            await tap("[data-bit='0']", 100);
            await page.until("rebout.facts().mode === 'fight' && rebout.facts().frame > 200");
            await tap("[data-bit='2']", 100);
            await picture(page, `${name}-fight`);
            expect(await page.run("document.documentElement.scrollWidth <= innerWidth"), "the page is wider than the phone");
            clean(page);
            await page.close();
        }
        return "played by touch, upright and across";
    },

    async pad() {
        const before = "window.pads = []; navigator.getGamepads = () => window.pads;";
        const page = await open(url, { before });
        await ready(page);
        const press = (...down) => page.run(`window.pads = [{ connected: true, index: 0, id: "pad", axes: [0, 0], buttons:
            Array.from({ length: 17 }, (_, index) => ({ pressed: ${JSON.stringify(down)}.includes(index) })) }]`);
        await press(0);
        await page.until("rebout.facts().mode === 'fight' && rebout.facts().frame > 30");
        await press(8);
        await later(500);
        await press();
        const paused = await page.run("rebout.facts().frame");
        await later(500);
        expect(paused === await page.run("rebout.facts().frame"), "the pad does not pause the match");
        return "a gamepad starts and pauses a match";
    },

    async replay() {
        if (!options.replay) {
            return "skipped: no --replay FILE";
        }
        const bytes = readFileSync(options.replay).toString("base64");
        const page = await open();
        await ready(page);
        await page.run(`(() => {
            const bytes = Uint8Array.from(atob("${bytes}"), (one) => one.charCodeAt(0));
            const data = new DataTransfer();
            data.items.add(new File([bytes], "match.rplk"));
            dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
        })()`);
        const verdict = await page.until("/verified$/.test(rebout.facts().verdict) && rebout.facts().verdict");
        await page.key(" ", "Space");
        await page.run("rebout.page.seek(600)");
        await page.key(",", "Comma");
        await page.until("rebout.facts().frame !== 600");
        const { frame, frames, checksum } = await page.run("rebout.facts()");
        expect(frame === 599, `a seek to frame 600 and a step back lead to ${frame}`);
        await picture(page, "replay");
        clean(page);
        return `${frames} frames, ${verdict}, checksum ${checksum} at frame ${frame}`;
    },
};

// Two pages, one of which opens the link of the other.
async function pair({ width = 800, height = 500, before = "", at = url } = {}) {
    const host = await open(at, { width, height, before });
    await ready(host);
    for (const key of ["ArrowDown", "ArrowDown", "Enter"]) {
        await host.key(key);
    }
    const link = await host.until("document.getElementById('address').value", 20);
    await picture(host, "link");
    const joiner = await open(link, { width, height, before });
    await joiner.until("rebout.facts().playing", 40);
    const began = await joiner.run("performance.now()");
    await host.until("rebout.facts().playing", 40);
    expect(await joiner.run("location.hash") === "", "the invite stays in the address bar");
    return { host, joiner, began };
}

const outcome = ({ stalls, rollbacks, roundTripMillis, frame }) =>
    `${frame} frames, ${stalls} stalls, ${rollbacks} rollbacks, ${roundTripMillis} ms`;

async function together(host, joiner, least) {
    for (const page of [host, joiner]) {
        await page.until(`rebout.facts().mode !== 'fight' || rebout.facts().settled > ${least}`, 120);
        const facts = await page.facts();
        expect(facts.mode === "fight", `the match has ended: ${JSON.stringify(facts)}`);
    }
}

Object.assign(checks, {
    async pair() {
        const { host, joiner, began } = await pair();
        for (const end = Date.now() + seconds * 1000; Date.now() < end;) {
            // Steps, jumps and no blows, so that the match lasts.
            await host.key("d", "KeyD", 150);
            await joiner.key("w", "KeyW", 90);
            await joiner.key("a", "KeyA", 150);
            await host.key("s", "KeyS", 90);
        }
        await picture(host, "pair-host");
        await picture(joiner, "pair-joiner");
        await together(host, joiner, seconds * 30);
        const told = [outcome(await host.facts()), outcome(await joiner.facts())];
        // Leaving is told to the other side at once.
        await joiner.close();
        const words = await host.until("rebout.facts().words?.join(' ')", 20);
        expect(/left/.test(words), `the host says: ${words}`);
        return `first frame ${began.toFixed(0)} ms after opening the link; ${told.join(" | ")}; closed page: ${words}`;
    },

    // A real tab behind another one: the browser gives it no pictures and throttles its timers.
    async background() {
        const { host, joiner } = await pair();
        await together(host, joiner, 120);
        await browser.send("Target.createTarget", { url: "about:blank", newWindow: false }).catch(() => {});
        await joiner.run("window.requestAnimationFrame = () => 0;"
            + "Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });"
            + "document.dispatchEvent(new Event('visibilitychange'))");
        const from = await host.facts();
        await later(20_000);
        const to = await host.facts();
        expect(to.mode === "fight" && !to.interrupted, `the host says: ${JSON.stringify(to)}`);
        // Half of the usual rate leaves room for a busy machine; a throttled page would make 20 frames.
        expect(to.frame - from.frame > 20 * 30, `${to.frame - from.frame} frames in 20 s`);
        return `${to.frame - from.frame} frames in 20 s with one page in the background, ${to.stalls - from.stalls} stalls`;
    },

    // A page that came by https meets others over wss, behind a proxy that has the certificate.
    async https() {
        const server = await proxy(url);
        const plain = browser;
        browser = await Browser.start(options.browser, ["--ignore-certificate-errors"]);
        try {
            const { host, joiner } = await pair({ at: server.url });
            await together(host, joiner, 300);
            expect(await host.run("isSecureContext && location.protocol === 'https:'"), "the page did not come by https");
            return `two pages at ${server.url} play over wss`;
        } finally {
            opened.length = 0;
            await browser.close();
            browser = plain;
            server.close();
        }
    },

    async garbage() {
        const before = `const make = RTCPeerConnection.prototype.createDataChannel;
            RTCPeerConnection.prototype.createDataChannel = function (...all) { return window.channel = make.apply(this, all); };`;
        const { host, joiner } = await pair({ before });
        await together(host, joiner, 120);
        await joiner.run(`for (let round = 0; round < 200; round += 1) {
            channel.send("text");
            for (const first of [0x00, 0x01, 0x03, 0x11, 0x12, 0x13, 0x52, 0xe0, 0xe4, 0xff]) {
                const bytes = crypto.getRandomValues(new Uint8Array(1 + round * 8));
                bytes[0] = first;
                channel.send(bytes);
            }
        }`);
        const { frame } = await host.facts();
        await together(host, joiner, frame + 240);
        const facts = await host.facts();
        clean(host);
        return `2,200 messages of garbage: the match goes on, ${facts.refused} packets refused by the seal`;
    },

    // Every datagram between the two pages is lost for three seconds.
    async gone() {
        const before = `const send = RTCDataChannel.prototype.send;
            RTCDataChannel.prototype.send = function (bytes) { if (!window.gone) { send.call(this, bytes); } };`;
        const { host, joiner } = await pair({ before });
        await together(host, joiner, 120);
        const gone = (value) => Promise.all([host, joiner].map((page) => page.run(`window.gone = ${value}`)));
        await gone(true);
        await host.until("rebout.facts().interrupted", 20);
        await picture(host, "gone");
        await later(2_000);
        await gone(false);
        await host.until("!rebout.facts().interrupted", 20);
        const { frame } = await host.facts();
        await together(host, joiner, frame + 120);
        return "interrupted, told, and played on";
    },
});

browser = await Browser.start(options.browser);
let failed = 0;
for (const name of options.only.split(",")) {
    try {
        console.log(`${name}: ${await checks[name]()}`);
    } catch (error) {
        failed += 1;
        console.log(`${name}: FAILED: ${error.message}`);
    }
    await Promise.all(opened.splice(0).map((page) => page.close().catch(() => {})));
}
await browser.close();
process.exit(failed === 0 ? 0 : 1);
