// Headless Chromium, driven over its DevTools protocol with what Node has built in.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--remote-debugging-pipe", "--autoplay-policy=user-gesture-required",
    // Two pages of one machine find each other by its addresses, and not by names that only a local network resolves.
    "--disable-features=WebRtcHideLocalIpsWithMdns", "--mute-audio"];

export class Browser {
    // Starts the program with further flags, behind the words of `prefix`, such as those that enter a network namespace.
    static async start(program = "chromium", more = [], prefix = []) {
        const folder = mkdtempSync(join(tmpdir(), "rebout-web-"));
        const [first, ...rest] = [...prefix, program, ...FLAGS, ...more, `--user-data-dir=${folder}`, "about:blank"];
        const child = spawn(first, rest, { stdio: ["ignore", "ignore", "pipe", "pipe", "pipe"] });
        const browser = new Browser(child, folder);
        await browser.send("Browser.getVersion");
        return browser;
    }

    constructor(child, folder) {
        Object.assign(this, { child, folder, next: 1, waiting: new Map(), pages: new Map(), log: "" });
        const ends = (why) => {
            this.waiting.forEach(({ failed }) => failed(new Error(`the browser ended: ${why} ${this.log}`)));
            this.waiting.clear();
        };
        child.on("error", (error) => ends(error.message));
        child.on("exit", (code) => ends(code));
        child.stderr.setEncoding("utf8").on("data", (text) => { this.log = (this.log + text).slice(-2000); });
        // Messages of the protocol end with a zero byte: fd 3 is written to, and fd 4 is read.
        let text = "";
        child.stdio[3].on("error", () => {});
        child.stdio[4].setEncoding("utf8").on("data", (data) => {
            text += data;
            const messages = text.split("\0");
            text = messages.pop();
            messages.forEach((message) => this.take(JSON.parse(message)));
        });
    }

    take(message) {
        const waits = this.waiting.get(message.id);
        if (waits) {
            this.waiting.delete(message.id);
            message.error ? waits.failed(new Error(message.error.message)) : waits.done(message.result);
        } else {
            this.pages.get(message.sessionId)?.heard(message);
        }
    }

    send(method, params = {}, sessionId = undefined) {
        const id = this.next++;
        return new Promise((done, failed) => {
            this.waiting.set(id, { done, failed });
            this.child.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
        });
    }

    // Opens a page in a window of its own: pages of one window hide each other.
    async open(url, { width = 1280, height = 780, phone = false, before = "" } = {}) {
        const { targetId } = await this.send("Target.createTarget", { url: "about:blank", newWindow: true });
        const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
        const page = new Tab(this, sessionId, targetId);
        this.pages.set(sessionId, page);
        for (const domain of ["Page", "Runtime", "Network", "Log"]) {
            await page.send(`${domain}.enable`);
        }
        await page.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: phone ? 2 : 1, mobile: phone });
        if (phone) {
            await page.send("Emulation.setTouchEmulationEnabled", { enabled: true });
        }
        if (before) {
            await page.send("Page.addScriptToEvaluateOnNewDocument", { source: before });
        }
        await page.send("Page.navigate", { url });
        return page;
    }

    // Opens an empty tab in the window of a page, in front of it: the page is in the background until the tab is closed.
    async cover(page) {
        await this.send("Target.activateTarget", { targetId: page.targetId });
        const { targetId } = await this.send("Target.createTarget", { url: "about:blank", newWindow: false });
        await page.until("document.visibilityState === 'hidden'");
        return async () => {
            await this.send("Target.closeTarget", { targetId });
            await this.send("Target.activateTarget", { targetId: page.targetId });
            await page.until("document.visibilityState === 'visible'");
        };
    }

    close() {
        const ended = new Promise((done) => this.child.once("exit", done));
        this.child.kill();
        // Its helpers may still write for a moment after it has ended.
        return ended.then(() => rmSync(this.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));
    }
}

export class Tab {
    constructor(browser, sessionId, targetId) {
        Object.assign(this, { browser, sessionId, targetId, errors: [], requests: [] });
    }

    send(method, params) {
        return this.browser.send(method, params, this.sessionId);
    }

    heard({ method, params }) {
        if (method === "Runtime.exceptionThrown") {
            const { exception, text } = params.exceptionDetails;
            this.errors.push(exception?.description ?? text);
        } else if (method === "Runtime.consoleAPICalled" && params.type === "error") {
            this.errors.push(params.args.map((arg) => arg.value ?? arg.description).join(" "));
        } else if (method === "Log.entryAdded" && params.entry.level === "error") {
            this.errors.push(params.entry.text);
        } else if (method === "Network.requestWillBeSent") {
            this.requests.push(params.request.url);
        }
    }

    async run(expression) {
        const { result, exceptionDetails } =
            await this.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
        if (exceptionDetails) {
            throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
        }
        return result.value;
    }

    // Waits until an expression of the page is true, and returns its value.
    async until(expression, seconds = 60) {
        const end = Date.now() + seconds * 1000;
        for (;;) {
            const value = await this.run(`(() => { try { return ${expression}; } catch { return undefined; } })()`);
            if (value) {
                return value;
            }
            if (Date.now() > end) {
                const facts = await this.run("window.rebout ? rebout.page.facts() : document.body.innerText");
                throw new Error(`waited ${seconds} s for ${expression}; the page: ${facts}; its errors: ${this.errors.join("; ")}`);
            }
            await new Promise((later) => setTimeout(later, 100));
        }
    }

    async key(key, code = key, holdMillis = 60) {
        const text = key.length === 1 ? key : undefined;
        await this.send("Input.dispatchKeyEvent", { type: "keyDown", key, code, text });
        await new Promise((later) => setTimeout(later, holdMillis));
        await this.send("Input.dispatchKeyEvent", { type: "keyUp", key, code });
    }

    async click(x, y) {
        for (const type of ["mousePressed", "mouseReleased"]) {
            await this.send("Input.dispatchMouseEvent", { type, x, y, button: "left", clickCount: 1 });
        }
    }

    async picture(file) {
        const { data } = await this.send("Page.captureScreenshot", { format: "png" });
        writeFileSync(file, Buffer.from(data, "base64"));
    }

    facts() {
        return this.run("rebout.facts()");
    }

    close() {
        return this.browser.send("Target.closeTarget", { targetId: this.targetId });
    }
}
