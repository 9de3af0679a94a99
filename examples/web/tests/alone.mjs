// One page: its opening, the bot, displays, bad input, phones, pads and replays.
import { readFileSync } from "node:fs";
import { clean, expect, later, open, options, picture, ready, seconds, url } from "./context.mjs";

export const alone = {
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
