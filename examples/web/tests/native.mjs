// A native duel beside the page, played by its bot.
import { spawn } from "node:child_process";

// What holds for every match here: no window, no sound, no file.
const QUIET = ["--bot", "--level", "easy", "--view", "none", "--record", "off", "--timings"];

export class Native {
    // Runs `duel` with these arguments, behind the words of `prefix`, such as those that enter a network namespace.
    constructor(program, args, prefix = []) {
        const [first, ...rest] = [...prefix, program, ...args, ...QUIET];
        this.said = "";
        this.child = spawn(first, rest, { stdio: ["ignore", "pipe", "pipe"] });
        this.child.on("error", (error) => { this.said += error.message; });
        for (const stream of [this.child.stdout, this.child.stderr]) {
            stream.setEncoding("utf8").on("data", (text) => { this.said += text; });
        }
        this.isOver = false;
        this.ended = new Promise((done) => this.child.on("close", () => { this.isOver = true; done(); }));
    }

    // Waits until it has said something that matches, and returns the match.
    async until(pattern, seconds = 60) {
        const end = Date.now() + seconds * 1000;
        for (;;) {
            const match = pattern.exec(this.said);
            if (match) {
                return match;
            }
            if (Date.now() > end || this.isOver) {
                throw new Error(`waited for ${pattern}; the native program says: ${this.said}`);
            }
            await new Promise((later) => setTimeout(later, 50));
        }
    }

    // Waits for its end; returns what it has counted.
    async outcome(seconds = 60) {
        const late = new Promise((_, failed) => {
            setTimeout(() => failed(new Error(`the native program does not end: ${this.said}`)), seconds * 1000).unref();
        });
        await Promise.race([this.ended, late]);
        const stalled = /^(\d+) frames stalled, (\d+) rollback/m.exec(this.said);
        const frames = /^(\d+) frames?, checksum/m.exec(this.said);
        if (!stalled || !frames) {
            throw new Error(`the native program played no match: ${this.said}`);
        }
        return { frames: Number(frames[1]), stalls: Number(stalled[1]), rollbacks: Number(stalled[2]) };
    }

    stop() {
        this.child.kill();
        return this.ended;
    }
}
