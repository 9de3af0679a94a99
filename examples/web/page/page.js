// The page around the game: canvas, keys, pads, touch buttons, sound, files and links. The game itself is in web_bg.wasm.
import init, { Page, flaw_of, golden, rendezvous_of } from "./web.js";

const WIDTH = 960;
const HEIGHT = 540;
const RATE = 48000;
const $ = (id) => document.getElementById(id);
const canvas = $("canvas");
const sentence = $("sentence");
const say = (text) => { sentence.textContent = text; };

// What a test or the console may look at.
const figures = { firstPicture: 0, pictures: 0, missed: 0, slowest: 0, work: 0 };

async function start() {
    if (typeof WebAssembly !== "object") {
        return say("This browser has no WebAssembly. Open the page in a current version of Firefox, Chrome, Edge or Safari.");
    }
    const context = canvas.getContext("2d", { alpha: false });
    if (context === null) {
        return say("This browser gives the page no canvas to draw on. Try another browser.");
    }
    let module;
    try {
        module = await init();
    } catch (error) {
        return say(`The game could not be loaded: ${error.message}. Reload the page to try again.`);
    }
    const page = new Page();
    window.rebout = { facts: () => JSON.parse(page.facts()), figures, golden, page };
    say("");

    const turn = turns(page);
    pictures(page, module, context, turn);
    keys(page);
    pointer(page);
    touch(page);
    sound(page);
    buttons(page);
    files(page);
    leaving(page);
    links(page, turn);
}

// Calls the game: for each picture, and by a timer that goes on while the page is in the background.
function turns(page) {
    let last = 0;
    const turn = () => {
        last = performance.now();
        page.turn();
    };
    const timer = new Worker("timer.js");
    timer.onmessage = () => {
        if (performance.now() - last > 20) {
            turn();
        }
    };
    return turn;
}

function pictures(page, module, context, turn) {
    let last = 0;
    const picture = (now) => {
        requestAnimationFrame(picture);
        const begun = performance.now();
        pads(page);
        turn();
        const scale = window.devicePixelRatio || 1;
        if (page.paint(canvas.clientWidth * scale, canvas.clientHeight * scale)) {
            const { width, height } = page;
            if (canvas.width !== width || canvas.height !== height) {
                [canvas.width, canvas.height] = [width, height];
            }
            // The memory of the module may have grown, and then it is another buffer.
            const bytes = new Uint8ClampedArray(module.memory.buffer, page.pixels(), width * height * 4);
            context.putImageData(new ImageData(bytes, width, height), 0, 0);
            figures.pictures += 1;
        }
        const done = performance.now();
        figures.firstPicture ||= done;
        figures.work += done - begun;
        figures.slowest = Math.max(figures.slowest, done - begun);
        if (last > 0 && document.visibilityState === "visible") {
            figures.missed += Math.max(0, Math.round((now - last) / (1000 / 60)) - 1);
        }
        last = now;
    };
    requestAnimationFrame(picture);
}

function keys(page) {
    const typed = (event) => event.target instanceof HTMLInputElement;
    const act = (down) => (event) => {
        if (typed(event) || event.ctrlKey || event.altKey || event.metaKey) {
            return;
        }
        if (down && !event.repeat && event.key === "F1") {
            page.toggle_net();
        } else if (down && !event.repeat && event.key === "m") {
            $("mute").click();
        } else if (!page.key(event.key, event.code, down, event.repeat)) {
            return;
        }
        event.preventDefault();
    };
    addEventListener("keydown", act(true));
    addEventListener("keyup", act(false));
    addEventListener("blur", () => page.release(false));
    document.addEventListener("visibilitychange", () => {
        if (document.visibilityState === "hidden") {
            page.release(true);
        }
    });
}

function pointer(page) {
    const act = (press) => (event) => {
        const box = canvas.getBoundingClientRect();
        page.pointer((event.clientX - box.left) / box.width * WIDTH, (event.clientY - box.top) / box.height * HEIGHT, press);
    };
    canvas.addEventListener("pointerdown", act(true));
    canvas.addEventListener("pointermove", act(false));
}

const plugged = new Set();

function pads(page) {
    const found = navigator.getGamepads ? navigator.getGamepads() : [];
    for (const pad of found) {
        if (pad?.connected) {
            let bits = 0;
            pad.buttons.slice(0, 17).forEach((button, index) => { bits |= (button.pressed ? 1 : 0) << index; });
            page.pad(pad.index, pad.id, bits, pad.axes[0] ?? 0, pad.axes[1] ?? 0);
            plugged.add(pad.index);
        }
    }
    for (const index of plugged) {
        if (!found[index]?.connected) {
            plugged.delete(index);
            page.unplug(index);
        }
    }
}

// The touch buttons are one more pad.
const TOUCH_PAD = 1000;

function touch(page) {
    const shown = () => {
        $("touch").hidden = false;
        document.body.classList.add("touch");
        document.querySelector("main").classList.add("touched");
    };
    if (matchMedia("(pointer: coarse)").matches) {
        shown();
    }
    addEventListener("touchstart", shown, { once: true, passive: true });
    let bits = 0;
    const send = () => page.pad(TOUCH_PAD, "touch buttons", bits, 0, 0);
    for (const button of document.querySelectorAll("#touch button")) {
        const bit = 1 << Number(button.dataset.bit);
        const set = (down) => (event) => {
            event.preventDefault();
            bits = down ? bits | bit : bits & ~bit;
            button.classList.toggle("down", down);
            send();
        };
        button.addEventListener("pointerdown", (event) => { button.setPointerCapture(event.pointerId); set(true)(event); });
        button.addEventListener("pointerup", set(false));
        button.addEventListener("pointercancel", set(false));
    }
    const stick = $("stick");
    const [UP, DOWN, LEFT, RIGHT] = [12, 13, 14, 15].map((bit) => 1 << bit);
    const move = (event) => {
        event.preventDefault();
        const box = stick.getBoundingClientRect();
        const x = (event.clientX - box.left) / box.width * 2 - 1;
        const y = (event.clientY - box.top) / box.height * 2 - 1;
        // The sine of 22.5 degrees: eight directions of the same size, apart from the middle.
        const far = Math.hypot(x, y);
        const held = far < 0.25 ? [0, 0] : [x / far, y / far];
        bits &= ~(UP | DOWN | LEFT | RIGHT);
        bits |= (held[0] < -0.38 ? LEFT : held[0] > 0.38 ? RIGHT : 0) | (held[1] < -0.38 ? UP : held[1] > 0.38 ? DOWN : 0);
        stick.firstElementChild.style.translate = `${Math.max(-1, Math.min(1, x)) * 100}% ${Math.max(-1, Math.min(1, y)) * 100}%`;
        send();
    };
    const let_go = () => {
        bits &= ~(UP | DOWN | LEFT | RIGHT);
        stick.firstElementChild.style.translate = "";
        send();
    };
    stick.addEventListener("pointerdown", (event) => { stick.setPointerCapture(event.pointerId); move(event); });
    stick.addEventListener("pointermove", (event) => { if (stick.hasPointerCapture(event.pointerId)) { move(event); } });
    stick.addEventListener("pointerup", let_go);
    stick.addEventListener("pointercancel", let_go);
}

// No browser lets a page be heard before the first click, key or touch.
function sound(page) {
    let context;
    const open = async () => {
        if (context !== undefined) {
            return context.resume();
        }
        const Context = window.AudioContext ?? window.webkitAudioContext;
        if (Context === undefined) {
            $("mute").textContent = "No sound here";
            return;
        }
        try {
            context = new Context({ sampleRate: RATE, latencyHint: "interactive" });
            page.open_sound();
            if (context.audioWorklet !== undefined) {
                await context.audioWorklet.addModule("sound.js");
                const node = new AudioWorkletNode(context, "mix", { numberOfInputs: 0, outputChannelCount: [2] });
                node.port.onmessage = ({ data }) => {
                    const samples = new Float32Array(data * 2);
                    page.render(samples);
                    node.port.postMessage(samples, [samples.buffer]);
                };
                node.connect(context.destination);
            } else {
                // A page without https has no worklets.
                const node = context.createScriptProcessor(2048, 0, 2);
                node.onaudioprocess = ({ outputBuffer }) => {
                    const samples = new Float32Array(outputBuffer.length * 2);
                    page.render(samples);
                    for (let side = 0; side < 2; side += 1) {
                        outputBuffer.getChannelData(side).forEach((_, index, out) => { out[index] = samples[index * 2 + side]; });
                    }
                };
                node.connect(context.destination);
            }
            figures.sound = context.state;
        } catch (error) {
            $("mute").textContent = "No sound here";
            figures.sound = error.message;
        }
    };
    for (const event of ["pointerdown", "keydown", "touchend"]) {
        addEventListener(event, open, { passive: true });
    }
}

function buttons(page) {
    $("mute").addEventListener("click", () => { $("mute").textContent = page.toggle_mute() ? "Sound off" : "Sound on"; });
    $("net").addEventListener("click", () => page.toggle_net());
    for (const button of document.querySelectorAll("footer button")) {
        // The keys belong to the game again.
        button.addEventListener("click", () => button.blur());
    }
    const root = document.documentElement;
    if (root.requestFullscreen === undefined) {
        $("full").hidden = true;
    }
    $("full").addEventListener("click", () => {
        const done = document.fullscreenElement ? document.exitFullscreen() : root.requestFullscreen();
        done.catch(() => say("The browser does not allow full screen here."));
    });
    let kept = "";
    try {
        kept = localStorage.getItem("name") ?? "";
    } catch {
        // Storage may be forbidden; the name is typed again then.
    }
    const name = $("name");
    name.value = kept;
    page.set_name(kept);
    name.addEventListener("change", () => {
        page.set_name(name.value);
        try {
            localStorage.setItem("name", name.value);
        } catch {
            // As above.
        }
    });
}

function files(page) {
    const open = async (file) => {
        try {
            page.open_replay(new Uint8Array(await file.arrayBuffer()));
        } catch (error) {
            say(`The file cannot be read: ${error.message}.`);
        }
    };
    addEventListener("dragover", (event) => event.preventDefault());
    addEventListener("drop", (event) => {
        event.preventDefault();
        if (event.dataTransfer.files.length > 0) {
            open(event.dataTransfer.files[0]);
        }
    });
    $("replay").addEventListener("change", ({ target }) => {
        if (target.files.length > 0) {
            open(target.files[0]);
            target.value = "";
        }
    });
}

function leaving(page) {
    addEventListener("pagehide", () => page.leave());
}

// An invite is the right to play: it travels in the fragment of a link, which no server gets to see, and leaves the address bar at once.
function links(page, turn) {
    const meta = (name) => document.querySelector(`meta[name="${name}"]`).content.trim();
    const wake = () => queueMicrotask(turn);
    // A page that came by https may only talk to an encrypted WebSocket: a proxy has the certificate, at the usual port.
    const socket = (server) => meta("rebout-websocket")
        || (location.protocol === "https:" ? `wss://${server.replace(/:\d+$/, "")}/rebout` : `ws://${server}/rebout`);
    const can = () => {
        if (window.RTCPeerConnection === undefined) {
            page.refuse("This browser has no WebRTC, or it is switched off. Allow it, or open the link in another browser.");
        }
        return window.RTCPeerConnection !== undefined;
    };
    const host = () => {
        if (can()) {
            const server = meta("rebout-rendezvous") || `${location.hostname}:3479`;
            page.host(server, socket(server), wake);
        }
    };
    const join = () => {
        let text = location.hash.slice(1);
        if (text === "") {
            return;
        }
        history.replaceState(null, "", location.pathname + location.search);
        try {
            text = decodeURIComponent(text);
        } catch {
            // It stays as it is, and the game says what is wrong with it.
        }
        figures.opened = performance.now();
        const flaw = flaw_of(text);
        if (flaw !== "") {
            return page.refuse(`This link cannot be used: ${flaw}. Ask the other player for a new link.`);
        }
        const server = rendezvous_of(text);
        if (server === "") {
            return page.refuse("The invite in this link names no rendezvous, and a browser finds nobody without one. "
                + "The host has to start with --rendezvous.");
        }
        if (can()) {
            page.join(text, socket(server), wake);
        }
    };
    let shown = "";
    setInterval(() => {
        if (page.take_host_request()) {
            host();
        }
        const invite = page.invite();
        if (invite !== shown) {
            shown = invite;
            $("link").hidden = invite === "";
            $("address").value = invite === "" ? "" : `${location.origin}${location.pathname}#${invite}`;
            $("copy").textContent = "Copy";
        }
    }, 50);
    $("copy").addEventListener("click", async () => {
        $("address").select();
        try {
            await navigator.clipboard.writeText($("address").value);
            $("copy").textContent = "Copied";
        } catch {
            $("copy").textContent = "Press Ctrl-C";
        }
    });
    addEventListener("hashchange", join);
    join();
}

start();
