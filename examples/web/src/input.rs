//! The input of the page: keys, characters, the pointer, gamepads and touch buttons, gathered until a frame takes them.

use stage::pads::{PadAxis, PadButton, PadEvent, Pads};
use stage::{Gestures, InputState, Key, Stroke, Surface, Touch, TouchAct, at};

/// Presses that wait for a frame. A page that stands still must not gather without end.
const MAX_PRESSES: usize = 256;

/// The buttons of a gamepad in the order of the browser's standard layout.
const STANDARD: [PadButton; 17] = [
    PadButton::South,
    PadButton::East,
    PadButton::West,
    PadButton::North,
    PadButton::L1,
    PadButton::R1,
    PadButton::L2,
    PadButton::R2,
    PadButton::Select,
    PadButton::Start,
    PadButton::L3,
    PadButton::R3,
    PadButton::Up,
    PadButton::Down,
    PadButton::Left,
    PadButton::Right,
    PadButton::Guide,
];

/// A pad of the browser, or the touch buttons of the page, which are a pad too.
#[derive(Clone, Copy, Debug)]
struct Plugged {
    /// The number that the page has for it.
    number: u32,
    slot: usize,
    buttons: u32,
}

/// Everything that the player did since the last frame.
#[derive(Debug, Default)]
pub struct Input {
    held: Vec<Key>,
    presses: Vec<Key>,
    gestures: Gestures,
    pads: Pads,
    plugged: Vec<Plugged>,
    is_unseen: bool,
}

impl Input {
    /// A key goes down, again and again while it is held, or up. `name` and `code` are `key` and `code` of a `KeyboardEvent`.
    /// Answers whether the game has a use for it, so that the browser must not act on it.
    pub fn key(&mut self, name: &str, code: &str, act: KeyAct) -> bool {
        let Some(key) = key_of(name, code) else { return false };
        match act {
            KeyAct::Up => self.held.retain(|held| *held != key),
            KeyAct::Down | KeyAct::Repeat => {
                if act == KeyAct::Down && !self.held.contains(&key) {
                    self.held.push(key);
                    if self.presses.len() < MAX_PRESSES {
                        self.presses.push(key);
                    }
                }
                let mut characters = name.chars();
                let stroke = match (characters.next(), characters.next()) {
                    (Some(character), None) => Stroke::Character(character),
                    _ => Stroke::Key(key),
                };
                self.gestures.stroke(stroke);
            }
        }
        true
    }

    /// Lets go of every key, as when the page loses the keyboard.
    pub fn release_all(&mut self) {
        self.held.clear();
        for plugged in std::mem::take(&mut self.plugged) {
            self.pads.unplug(plugged.slot);
        }
    }

    /// The pointer does something, in units of the canvas.
    pub fn pointer(&mut self, x: f32, y: f32, act: TouchAct) {
        self.gestures.touch(Touch { place: at(x, y), surface: Surface::Canvas, act });
    }

    /// The state of a pad, in the order of the standard layout. Numbers of the page tell pads apart.
    pub fn pad(&mut self, number: u32, name: &str, buttons: u32, stick: [f32; 2]) {
        let known = self.plugged.iter().position(|plugged| plugged.number == number);
        let index = match known {
            Some(index) => index,
            None => {
                let Some(slot) = self.pads.plug_in(name) else { return };
                self.plugged.push(Plugged { number, slot, buttons: 0 });
                self.plugged.len() - 1
            }
        };
        let Plugged { slot, buttons: before, .. } = self.plugged[index];
        for (bit, button) in STANDARD.into_iter().enumerate() {
            if (before ^ buttons) >> bit & 1 == 1 {
                self.pads.apply(slot, PadEvent::Button { button, down: buttons >> bit & 1 == 1 });
            }
        }
        for (axis, value) in [PadAxis::StickX, PadAxis::StickY].into_iter().zip(stick) {
            let value = if value.is_finite() { value } else { 0.0 };
            self.pads.apply(slot, PadEvent::Axis { axis, value });
        }
        self.plugged[index].buttons = buttons;
    }

    /// A pad is gone.
    pub fn unplug(&mut self, number: u32) {
        if let Some(index) = self.plugged.iter().position(|plugged| plugged.number == number) {
            self.pads.unplug(self.plugged.remove(index).slot);
        }
    }

    /// The page was hidden.
    pub fn note_unseen(&mut self) {
        self.is_unseen = true;
    }

    /// The input for one frame. Presses are told once.
    pub fn take(&mut self) -> InputState {
        let (strokes, touches) = self.gestures.take();
        InputState {
            held: self.held.clone(),
            presses: std::mem::take(&mut self.presses),
            strokes,
            touches,
            pads: self.pads.take_states(),
            unseen: std::mem::take(&mut self.is_unseen),
            closed: false,
        }
    }
}

/// What happens to a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyAct {
    Down,
    Repeat,
    Up,
}

/// The key of an event. A letter counts as it is labelled; on a layout without Latin letters it counts by its place.
fn key_of(name: &str, code: &str) -> Option<Key> {
    Some(match name {
        "ArrowLeft" => Key::Left,
        "ArrowRight" => Key::Right,
        "ArrowUp" => Key::Up,
        "ArrowDown" => Key::Down,
        "Enter" => Key::Enter,
        "Escape" => Key::Escape,
        "Backspace" => Key::Backspace,
        "Delete" => Key::Delete,
        "Home" => Key::Home,
        "End" => Key::End,
        "F1" => Key::F(1),
        "F2" => Key::F(2),
        "F3" => Key::F(3),
        _ => {
            let mut characters = name.chars();
            let character = match (characters.next(), characters.next()) {
                (Some(character), None) if character.is_ascii() => character,
                (Some(_), None) => code.strip_prefix("Key").and_then(|letter| letter.chars().next())?,
                _ => return None,
            };
            Key::Char(character.to_ascii_lowercase())
        }
    })
}
