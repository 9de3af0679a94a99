//! The tape of the dummy: buttons that the player gave it, to be played back.

use rebout::Buttons;

use games::duel::Facing;
use games::duel::buttons::{LEFT, RIGHT};

/// The longest recording: ten seconds.
const MAX_FRAMES: usize = 600;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    #[default]
    Idle,
    Recording,
    /// The next frame to play.
    Playing(usize),
}

/// Recorded buttons of the dummy. They count toward and away from the player, so that they fit either side.
#[derive(Clone, Debug, Default)]
pub struct Tape {
    frames: Vec<Buttons>,
    mode: Mode,
}

impl Tape {
    pub fn is_recording(&self) -> bool {
        self.mode == Mode::Recording
    }

    pub fn is_playing(&self) -> bool {
        matches!(self.mode, Mode::Playing(_))
    }

    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Begins a recording in place of the last one, or ends it.
    pub fn toggle_recording(&mut self) {
        if self.is_recording() {
            self.stop();
        } else {
            self.frames.clear();
            self.mode = Mode::Recording;
        }
    }

    /// Plays the recording from its beginning and again, or stops. An empty one is not played.
    pub fn toggle_playing(&mut self) {
        let stops = self.is_playing() || self.is_empty();
        self.mode = if stops { Mode::Idle } else { Mode::Playing(0) };
    }

    /// Neither records nor plays.
    pub fn stop(&mut self) {
        self.mode = Mode::Idle;
    }

    /// Back to the first frame, if it plays.
    pub fn rewind(&mut self) {
        if self.is_playing() {
            self.mode = Mode::Playing(0);
        }
    }

    /// Takes in the buttons of a frame. `toward` is where the player is, seen from the dummy. A full tape ends the recording.
    pub fn record(&mut self, buttons: Buttons, toward: Facing) {
        if self.is_recording() {
            self.frames.push(turned(buttons, toward));
            if self.frames.len() >= MAX_FRAMES {
                self.stop();
            }
        }
    }

    /// The buttons of the next frame; `None` if nothing is played.
    pub fn next(&mut self, toward: Facing) -> Option<Buttons> {
        let Mode::Playing(at) = &mut self.mode else { return None };
        let buttons = *self.frames.get(*at)?;
        *at = (*at + 1) % self.frames.len();
        Some(turned(buttons, toward))
    }
}

/// The buttons as they are for a fighter who looks to the right, and back.
fn turned(buttons: Buttons, toward: Facing) -> Buttons {
    if toward == Facing::Right {
        return buttons;
    }
    let other = buttons & !(LEFT | RIGHT);
    let swapped = |from: Buttons, to: Buttons| if buttons.holds(from) { to } else { Buttons::NONE };
    other | swapped(LEFT, RIGHT) | swapped(RIGHT, LEFT)
}
