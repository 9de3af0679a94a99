// Headless Chromium, driven over its DevTools protocol with what Node has built in.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--remote-debugging-port=0", "--autoplay-policy=user-gesture-required",
    // Two pages of one machine find each other by its addresses, and not by names that only a local network resolves.
    "--disable-features=WebRtcHideLocalIpsWithMdns", "--mute-audio"];

export class Browser {
    static async start(program = "chromium", more = []) {
        const folder = mkdtempSync(join(tmpdir(), "rebout-web-"));
        const child = spawn(program, [...FLAGS, ...more, `--user-data-dir=${folder}`, "about:blank"], { stdio: ["ignore", "ignore", "pipe"] });
        const address = await new Promise((found, failed) => {
            let text = "";
            child.on("error", failed);
            child.on("exit", () => failed(new Error(`the browser ended: ${text}`)));
            child.stderr.on("data", (data) => {
                text += data;
                const match = /DevTools listening on (\S+)/.exec(text);
                if (match) {
                    found(match[1]);
                }
            });
        });
        const socket = new WebSocket(address);
        await new Promise((open, failed) => { socket.onopen = open; socket.onerror = failed; });
        return new Browser(child, folder, socket);
    }

    constructor(child, folder, socket) {
        Object.assign(this, { child, folder, socket, next: 1, waiting: new Map(), pages: new Map() });
        socket.onmessage = ({ data }) => {
            const message = JSON.parse(data);
            const waits = this.waiting.get(message.id);
            if (waits) {
                this.waiting.delete(message.id);
                message.error ? waits.failed(new Error(message.error.message)) : waits.done(message.result);
            } else {
                this.pages.get(message.sessionId)?.heard(message);
            }
        };
    }

    send(method, params = {}, sessionId = undefined) {
        const id = this.next++;
        return new Promise((done, failed) => {
            this.waiting.set(id, { done, failed });
            this.socket.send(JSON.stringify({ id, method, params, sessionId }));
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

    close() {
        this.child.removeAllListeners("exit");
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
