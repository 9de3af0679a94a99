// The page in headless Chromium, as players use it. Prints a line for each check, and ends with 1 if one has failed.
//
//   node examples/web/tests/browser.mjs URL [--only NAMES] [--replay FILE] [--seconds N] [--pictures FOLDER]
//        [--duel PROGRAM --rendezvous HOST:PORT]
//
// URL is a served page, as by `cargo run -p web-build -- --serve 8080`. Checks of two players need a rendezvous behind it, and those
// against a native program a `duel` with the feature `webrtc` too.
import { alone } from "./alone.mjs";
import { closeAll, options, within } from "./context.mjs";
import { pairs } from "./pairs.mjs";
import { versus } from "./versus.mjs";

const USUAL = "opening,bot,rates,errors,phone,pad,replay,pair,gone,garbage,liar,native-host,native-join,native-garbage,background,crash";
const checks = { ...alone, ...pairs, ...versus };

let failed = 0;
await within([], async () => {
    for (const name of (options.only ?? USUAL).split(",")) {
        try {
            console.log(`${name}: ${await checks[name]()}`);
        } catch (error) {
            failed += 1;
            console.log(`${name}: FAILED: ${error.message}`);
        }
        await closeAll();
    }
});
process.exit(failed === 0 ? 0 : 1);
