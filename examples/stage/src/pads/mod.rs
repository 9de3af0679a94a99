//! Gamepads: their buttons by place, plugged in and out while a game runs.
//!
//! Threads of their own wait at the devices; [`Pads`] has what they have told. A pad keeps its place in the list while
//! it is plugged in, and the next one takes the first place that is free: who pulls a plug by accident gets the seat
//! back.
//!
//! ```
//! use stage::pads::{PadAxis, PadButton, PadEvent, Pads};
//!
//! let pads = Pads::in_memory();
//! let slot = pads.plug_in("Fight stick").expect("there is room");
//! pads.apply(slot, PadEvent::Button { button: PadButton::South, down: true });
//! pads.apply(slot, PadEvent::Axis { axis: PadAxis::StickX, value: -0.9 });
//! let states = pads.take_states();
//! assert!(states[0].held.holds(PadButton::Left));
//! assert_eq!(states[0].presses, [PadButton::South, PadButton::Left]);
//! ```

mod button;
mod codes;
#[cfg(target_os = "linux")]
mod evdev;
#[cfg(any(target_os = "macos", target_os = "windows"))]
mod native;
mod shape;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use button::{PadButton, PadButtons, UnknownPadButton};
pub use codes::Codes;
pub use shape::{PadAxis, PadEvent, PadShape};

/// Pads that are read at once.
pub const MAX_PADS: usize = 8;
/// Presses that wait for a game that does not ask.
const MAX_PRESSES: usize = 64;
/// The longest name of a pad that is kept.
const MAX_NAME_CHARACTERS: usize = 40;

/// The buttons of one pad since the last frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PadState {
    /// Its place, from 0: the seat at which it plays.
    pub slot: usize,
    pub held: PadButtons,
    /// The buttons that were pressed since the last call, in order.
    pub presses: Vec<PadButton>,
}

impl PadState {
    /// The buttons that are held, and those that were pressed and let go between two frames.
    pub fn buttons(&self) -> PadButtons {
        self.held | self.presses.iter().copied().collect()
    }
}

#[derive(Debug, Default)]
struct Pad {
    name: String,
    shape: PadShape,
    presses: Vec<PadButton>,
}

#[derive(Debug, Default)]
struct Shared {
    slots: [Option<Pad>; MAX_PADS],
    trouble: Option<String>,
}

/// Every gamepad of this machine. A copy sees the same pads; no call ever waits for a device.
#[derive(Clone, Debug, Default)]
pub struct Pads(Arc<Mutex<Shared>>);

impl Pads {
    /// Looks for pads from now on, in threads of its own.
    pub fn open() -> Self {
        let pads = Self::default();
        let worker = pads.clone();
        #[cfg(target_os = "linux")]
        let watch = move || evdev::watch(&worker);
        #[cfg(any(target_os = "macos", target_os = "windows"))]
        let watch = move || native::watch(&worker);
        #[cfg(not(any(target_os = "linux", target_os = "macos", target_os = "windows")))]
        let watch = move || worker.tell_trouble(Some("no gamepads on this system".to_owned()));
        if let Err(error) = std::thread::Builder::new().name("pads".to_owned()).spawn(watch) {
            pads.tell_trouble(Some(format!("no gamepads: {error}")));
        }
        pads
    }

    /// Pads without a device, for tests and for a game that nobody sees.
    pub fn in_memory() -> Self {
        Self::default()
    }

    /// The buttons of every pad. The presses are told once.
    pub fn take_states(&self) -> Vec<PadState> {
        let mut shared = self.shared();
        let pads = shared.slots.iter_mut().enumerate();
        pads.filter_map(|(slot, pad)| {
            let pad = pad.as_mut()?;
            Some(PadState { slot, held: pad.shape.held(), presses: std::mem::take(&mut pad.presses) })
        })
        .collect()
    }

    /// The place and the name of every pad that is plugged in, for the settings.
    pub fn names(&self) -> Vec<(usize, String)> {
        let shared = self.shared();
        let pads = shared.slots.iter().enumerate();
        pads.filter_map(|(slot, pad)| Some((slot, pad.as_ref()?.name.clone()))).collect()
    }

    /// Why a pad cannot be read, in words for the settings; `None` if there is nothing to say.
    pub fn trouble(&self) -> Option<String> {
        self.shared().trouble.clone()
    }

    /// Gives a new pad the first free place; `None` if there is none.
    pub fn plug_in(&self, name: &str) -> Option<usize> {
        let mut shared = self.shared();
        let slot = shared.slots.iter().position(Option::is_none)?;
        let plain =
            name.chars().filter(|character| !character.is_control()).take(MAX_NAME_CHARACTERS).collect();
        shared.slots[slot] = Some(Pad { name: plain, ..Pad::default() });
        Some(slot)
    }

    /// Frees the place of a pad, with everything that it held.
    pub fn unplug(&self, slot: usize) {
        if let Some(place) = self.shared().slots.get_mut(slot) {
            *place = None;
        }
    }

    /// Takes in an event of a pad.
    pub fn apply(&self, slot: usize, event: PadEvent) {
        let mut shared = self.shared();
        let Some(Some(pad)) = shared.slots.get_mut(slot) else { return };
        let pressed = pad.shape.apply(event);
        let room = MAX_PRESSES - pad.presses.len();
        pad.presses.extend(pressed.iter().take(room));
    }

    fn tell_trouble(&self, text: Option<String>) {
        self.shared().trouble = text;
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
