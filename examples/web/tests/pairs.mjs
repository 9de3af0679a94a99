// Two pages against each other, and what may go wrong between them.
import { clean, expect, host, later, open, outcome, picture, seconds, together, url, within } from "./context.mjs";
import { proxy } from "./proxy.mjs";

// Counts the data channels of a page, and keeps the newest.
export const CHANNEL = `const make = RTCPeerConnection.prototype.createDataChannel;
    window.made = 0;
    RTCPeerConnection.prototype.createDataChannel = function (...all) { made += 1; return window.channel = make.apply(this, all); };`;
export const GARBAGE = `for (let round = 0; round < 200; round += 1) {
        channel.send("text");
        for (const first of [0x00, 0x01, 0x03, 0x11, 0x12, 0x13, 0x52, 0xe0, 0xe4, 0xff]) {
            const bytes = crypto.getRandomValues(new Uint8Array(1 + round * 8));
            bytes[0] = first;
            channel.send(bytes);
        }
    }`;

// Two pages, one of which opens the link of the other.
async function pair({ width = 800, height = 500, before = "", at = url } = {}) {
    const hosts = await open(at, { width, height, before });
    const link = await host(hosts);
    await picture(hosts, "link");
    const joiner = await open(link, { width, height, before });
    await joiner.until("rebout.facts().playing", 40);
    const began = await joiner.run("performance.now()");
    await hosts.until("rebout.facts().playing", 40);
    expect(await joiner.run("location.hash") === "", "the invite stays in the address bar");
    return { host: hosts, joiner, began };
}

export const pairs = {
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
        await together([host, joiner], seconds * 30);
        const told = [outcome(await host.facts()), outcome(await joiner.facts())];
        // Leaving is told to the other side at once.
        await joiner.close();
        const words = await host.until("rebout.facts().words?.join(' ')", 20);
        expect(/left/.test(words), `the host says: ${words}`);
        return `first frame ${began.toFixed(0)} ms after opening the link; ${told.join(" | ")}; closed page: ${words}`;
    },

    // A page that came by https meets others over wss, behind a proxy that has the certificate.
    async https() {
        const server = await proxy(url);
        try {
            return await within(["--ignore-certificate-errors"], async () => {
                const { host, joiner } = await pair({ at: server.url });
                await together([host, joiner], 300);
                expect(await host.run("isSecureContext && location.protocol === 'https:'"), "the page did not come by https");
                return `two pages at ${server.url} play over wss`;
            });
        } finally {
            server.close();
        }
    },

    // Garbage of each side, with all first bytes that mean something to a transport or a seal.
    async garbage() {
        const { host, joiner } = await pair({ before: CHANNEL });
        await together([host, joiner], 120);
        await joiner.run(GARBAGE);
        await host.run(GARBAGE);
        const { frame } = await host.facts();
        await together([host, joiner], frame + 240);
        for (const page of [host, joiner]) {
            expect(await page.run("made") === 1, "garbage of the other side has ended a data channel");
            clean(page);
        }
        return `2,200 messages of garbage to each page: the match goes on, ${(await host.facts()).refused} packets refused by the seal`;
    },

    // A rendezvous that changes a byte of each signal which it passes on: where the fingerprint is, and at the end.
    async liar() {
        for (const at of [-1, -60, -150]) {
            const before = `${CHANNEL}
                const { set } = Object.getOwnPropertyDescriptor(WebSocket.prototype, "onmessage");
                window.lies = 0;
                Object.defineProperty(WebSocket.prototype, "onmessage", { set(hear) {
                    set.call(this, hear && ((event) => {
                        const bytes = new Uint8Array(event.data);
                        // DELIVER, or REPLY with a signal.
                        if ((bytes[0] === 0xee || bytes[0] === 0xef) && bytes.length > 200) {
                            lies += 1;
                            bytes[bytes.length + ${at}] ^= 1;
                        }
                        hear(event);
                    }));
                } });`;
            const hosts = await open(url, { before });
            const joiner = await open(await host(hosts));
            await hosts.until("lies > 2");
            await later(1_000);
            expect(await hosts.run("made") === 0, "the host opens a data channel for a changed offer");
            expect(!(await joiner.facts()).playing && !(await hosts.facts()).playing, "there is a match");
            await Promise.all([hosts.close(), joiner.close()]);
        }
        return "changed offers open no data channel";
    },

    // Every datagram between the two pages is lost for three seconds.
    async gone() {
        const before = `const send = RTCDataChannel.prototype.send;
            RTCDataChannel.prototype.send = function (bytes) { if (!window.gone) { send.call(this, bytes); } };`;
        const { host, joiner } = await pair({ before });
        await together([host, joiner], 120);
        const gone = (value) => Promise.all([host, joiner].map((page) => page.run(`window.gone = ${value}`)));
        await gone(true);
        await host.until("rebout.facts().interrupted", 20);
        await picture(host, "gone");
        await later(2_000);
        await gone(false);
        await host.until("!rebout.facts().interrupted", 20);
        const { frame } = await host.facts();
        await together([host, joiner], frame + 120);
        return "interrupted, told, and played on";
    },
};
