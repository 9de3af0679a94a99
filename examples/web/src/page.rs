//! The calls of the page's script, and what only a browser has: its clock and its random numbers.

use std::time::Duration;

use games::playground::{Playground, script};
use rebout::replay::{Replay, play};
use rebout::{ConnectError, ConnectOptions, Connection, Invite, Online, Options, Randomness};
use stage::TouchAct;
use wasm_bindgen::prelude::*;

use crate::app::{App, since_opening};
use crate::channel::Channels;
use crate::input::KeyAct;
use crate::wire::Wire;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = performance, js_name = now)]
    fn performance_now() -> f64;
    #[wasm_bindgen(js_namespace = crypto, js_name = getRandomValues)]
    fn random_bytes(bytes: &mut [u8]);
    #[wasm_bindgen(js_namespace = console, js_name = error)]
    fn console_error(text: &str);
}

/// The browser's clock.
fn now() -> Duration {
    since_opening(performance_now())
}

/// The game, as the page's script sees it.
#[wasm_bindgen]
pub struct Page {
    app: App,
    size: (u16, u16),
}

#[wasm_bindgen]
impl Page {
    /// The game at its title.
    #[wasm_bindgen(constructor)]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        std::panic::set_hook(Box::new(|info| console_error(&info.to_string())));
        let mut seed = [0; 4];
        random_bytes(&mut seed);
        Self { app: App::new(now, u32::from_le_bytes(seed).max(1)), size: (0, 0) }
    }

    pub fn turn(&mut self) {
        self.app.turn();
    }

    /// Paints for a canvas of this many pixels; `false` if nothing is new.
    pub fn paint(&mut self, width: f32, height: f32) -> bool {
        let Some(pixels) = self.app.paint(width, height) else { return false };
        self.size = pixels.size();
        true
    }

    #[wasm_bindgen(getter)]
    pub fn width(&self) -> u16 {
        self.size.0
    }

    #[wasm_bindgen(getter)]
    pub fn height(&self) -> u16 {
        self.size.1
    }

    /// The address of the pixels in the module's memory: four bytes each, row by row, until the next call.
    pub fn pixels(&self) -> *const u8 {
        self.app.pixels().as_ptr()
    }

    /// A key of a `KeyboardEvent`; `true` if the browser must not act on it.
    pub fn key(&mut self, name: &str, code: &str, is_down: bool, is_repeat: bool) -> bool {
        let act = match (is_down, is_repeat) {
            (true, false) => KeyAct::Down,
            (true, true) => KeyAct::Repeat,
            (false, _) => KeyAct::Up,
        };
        self.app.input.key(name, code, act)
    }

    /// The pointer, in units of the canvas of 960 by 540.
    pub fn pointer(&mut self, x: f32, y: f32, is_press: bool) {
        self.app.input.pointer(x, y, if is_press { TouchAct::Press } else { TouchAct::Move });
    }

    pub fn pad(&mut self, number: u32, name: &str, buttons: u32, x: f32, y: f32) {
        self.app.input.pad(number, name, buttons, [x, y]);
    }

    pub fn unplug(&mut self, number: u32) {
        self.app.input.unplug(number);
    }

    /// The page was hidden, or has lost the keyboard.
    pub fn release(&mut self, is_hidden: bool) {
        self.app.input.release_all();
        if is_hidden {
            self.app.input.note_unseen();
        }
    }

    pub fn open_sound(&mut self) {
        self.app.open_sound();
    }

    pub fn render(&mut self, out: &mut [f32]) {
        self.app.render(out);
    }

    pub fn toggle_mute(&mut self) -> bool {
        self.app.toggle_mute()
    }

    pub fn toggle_net(&mut self) {
        self.app.toggle_net();
    }

    pub fn set_name(&mut self, name: &str) {
        self.app.set_name(name);
    }

    pub fn fight_bot(&mut self) {
        self.app.fight_bot();
    }

    pub fn open_replay(&mut self, file: Vec<u8>) {
        self.app.open_replay(file);
    }

    pub fn seek(&mut self, frame: u32) {
        self.app.seek(frame);
    }

    pub fn leave(&mut self) {
        self.app.leave();
    }

    /// Whether the player wants to host; told once.
    pub fn take_host_request(&mut self) -> bool {
        self.app.take_host_request()
    }

    /// Hosts at a rendezvous, `host:port`, whose WebSocket has this URL. `wake` is called when something has come.
    pub fn host(&mut self, rendezvous: &str, url: &str, wake: js_sys::Function) {
        let options = ConnectOptions::new().rendezvous(rendezvous);
        let wire = Wire::Channels(Channels::new(now, url.to_owned(), wake));
        let connection = Connection::host_on(&options.randomness(randomness()), wire, &[]);
        self.meet(connection);
    }

    /// Joins the host of an invite, at the WebSocket of this URL.
    pub fn join(&mut self, invite: &str, url: &str, wake: js_sys::Function) {
        let wire = Wire::Channels(Channels::new(now, url.to_owned(), wake));
        let options = ConnectOptions::new().randomness(randomness());
        self.meet(Connection::join_on(&options, wire, &[], invite));
    }

    fn meet(&mut self, connection: Result<Connection<Wire>, ConnectError>) {
        let mut entropy = [0; 8];
        random_bytes(&mut entropy);
        let options = Options::with_config(self.app.config(u64::from_le_bytes(entropy)));
        self.app.meet(connection.and_then(|connection| Online::on(options, connection)));
    }

    /// The invite of a match that waits for its other player; empty without one.
    pub fn invite(&self) -> String {
        self.app.invite().unwrap_or_default().to_owned()
    }

    pub fn facts(&self) -> String {
        self.app.facts()
    }

    /// Shows a sentence about something that does not work.
    pub fn refuse(&mut self, sentence: &str) {
        self.app.refuse(sentence);
    }
}

/// Random bytes for one connection.
fn randomness() -> Randomness {
    let mut bytes = [0; 32];
    random_bytes(&mut bytes);
    Randomness::Given(bytes)
}

/// The rendezvous that an invite names, as `host:port`; empty if the text is no invite of a match by data channel.
#[wasm_bindgen]
pub fn rendezvous_of(invite: &str) -> String {
    rebout::web::rendezvous_of(invite).unwrap_or_default()
}

/// What is wrong with the text of a link, in words for the player; empty if it is an invite.
#[wasm_bindgen]
pub fn flaw_of(invite: &str) -> String {
    invite.parse::<Invite>().err().map_or_else(String::new, |error| error.to_string())
}

/// The published checksum of a thousand scripted frames, as this browser computes it.
#[wasm_bindgen]
pub fn golden() -> String {
    let replay = Replay { seed: 1, inputs: (0..1_000).map(script::golden).collect(), ..Replay::default() };
    let mut game = Playground::new(1).expect("a seed");
    play(&replay, &mut game, |_, _| {});
    format!("1000 {:08X}", rebout::checksum(&game))
}
