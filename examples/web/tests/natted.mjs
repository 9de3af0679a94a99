// Matches of pages behind NATs. `nat` builds the network around it.
//
//   node examples/web/tests/natted.mjs URL --namespaces PREFIX --path direct|relayed --only native,pages --duel PROGRAM --rendezvous HOST:PORT
//
// URL is served in the namespaces PREFIXhost and PREFIXjoin; PREFIXwan forwards everything between them.
import { execFileSync } from "node:child_process";
import { parseArgs } from "node:util";
import { Browser } from "./chromium.mjs";
import { Native } from "./native.mjs";

const { values: options, positionals: [url] } = parseArgs({
    allowPositionals: true,
    options: Object.fromEntries(["namespaces", "path", "only", "duel", "rendezvous"].map((name) => [name, { type: "string" }])),
});
const enter = (side) => ["ip", "netns", "exec", options.namespaces + side];
const later = (millis) => new Promise((done) => setTimeout(done, millis));
const expect = (holds, text) => {
    if (!holds) {
        throw new Error(text);
    }
};
const KEEP = `const Made = RTCPeerConnection;
    window.RTCPeerConnection = class extends Made { constructor(...all) { super(...all); window.peer = this; } };`;
// The kinds of a page's candidates, and of the pair in use.
const LOOK = `peer.getStats().then((stats) => {
    const all = [...stats.values()];
    const { selectedCandidatePairId } = all.find(({ type }) => type === "transport");
    const { localCandidateId, remoteCandidateId } = stats.get(selectedCandidatePairId);
    return { own: all.filter(({ type }) => type === "local-candidate").map(({ candidateType }) => candidateType),
        used: [localCandidateId, remoteCandidateId].map((id) => stats.get(id).candidateType) };
})`;

function cut(is_cut) {
    const rules = "table inet gone { chain forward { type filter hook forward priority filter; policy drop; }; }";
    execFileSync("ip", ["netns", "exec", `${options.namespaces}wan`, "nft", is_cut ? rules : "delete table inet gone"]);
}

const settles = async (page, least) => {
    await page.until(`rebout.facts().mode !== 'fight' || rebout.facts().settled > ${least}`, 120);
    const facts = await page.facts();
    expect(facts.mode === "fight", `the match has ended: ${JSON.stringify(facts)}`);
    return facts;
};

// A match in progress: the path is the expected one, and a network that is gone for three seconds does not end it.
async function play(page) {
    await settles(page, 300);
    const { own, used } = await page.run(LOOK);
    const isRelayed = used.includes("relay");
    expect(isRelayed === (options.path === "relayed"), `the path is ${used.join(" to ")}`);
    expect(isRelayed || own.includes("srflx"), `the page has the candidates ${own.join(", ")}`);
    cut(true);
    try {
        await page.until("rebout.facts().interrupted", 20);
        await later(3_000);
    } finally {
        cut(false);
    }
    await page.until("!rebout.facts().interrupted", 60);
    const { settled } = await page.facts();
    const facts = await settles(page, settled + 300);
    return `${used.join(" to ")}, 3 s without a network, ${facts.settled} frames, ${facts.stalls} stalls, ${facts.rollbacks} rollbacks`;
}

const browsers = [];
async function open(side, where) {
    const browser = await Browser.start("chromium", [], enter(side));
    browsers.push(browser);
    return browser.open(where, { width: 800, height: 500, before: KEEP });
}

const matches = {
    async native() {
        const duel = new Native(options.duel, ["host", "--port", "7000", "--rendezvous", options.rendezvous, "--name", "Ann"], enter("host"));
        try {
            const [invite] = await duel.until(/^rebout:\S+/m);
            const page = await open("join", `${url}#${invite}`);
            await page.until("rebout.facts().playing", 60);
            const told = await play(page);
            await page.close();
            await duel.outcome();
            const [path] = await duel.until(/^path: \w+/m);
            expect(path.endsWith(options.path), `the native program has the ${path}`);
            return told;
        } finally {
            await duel.stop();
        }
    },

    async pages() {
        const host = await open("host", url);
        await host.until("rebout.figures.pictures > 0");
        for (const key of ["ArrowDown", "ArrowDown", "Enter"]) {
            await host.key(key);
        }
        const joiner = await open("join", await host.until("document.getElementById('address').value", 60));
        await joiner.until("rebout.facts().playing", 60);
        return play(joiner);
    },
};

let failed = 0;
for (const name of options.only.split(",")) {
    try {
        console.log(`${name}: ${await matches[name]()}`);
    } catch (error) {
        failed += 1;
        console.log(`${name}: FAILED: ${error.message}`);
    }
    await Promise.all(browsers.splice(0).map((browser) => browser.close()));
}
process.exit(failed === 0 ? 0 : 1);
