//! The device: a thread that asks the mixer for samples whenever the device wants some.

#[cfg(target_os = "linux")]
mod message;
#[cfg(any(target_os = "macos", target_os = "windows"))]
mod native;
#[cfg(target_os = "linux")]
mod pulse;

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::{Mixer, RATE};

#[cfg(target_os = "linux")]
pub use message::PulseMessage;
#[cfg(any(target_os = "macos", target_os = "windows"))]
use native::play;
#[cfg(target_os = "linux")]
use pulse::play;

/// Rounds of unheard mixing before the device is looked for again.
const RETRY_ROUNDS: u32 = 30;
/// One round of unheard mixing.
const ROUND: Duration = Duration::from_millis(100);

/// Plays until the game has dropped its end. A device that is not there, or goes away, is looked for again.
pub(super) fn run(mixer: Mixer, device: &Mutex<String>) {
    let tell = |text: String| *device.lock().unwrap_or_else(PoisonError::into_inner) = text;
    // The orders from before the bank was made are a little late by now: so much of them is skipped.
    let mut mixer = mixer;
    pass(&mut mixer, ROUND);
    loop {
        mixer.fade_in();
        let (back, why) = play(mixer, &tell);
        mixer = back;
        tell(why);
        for _ in 0..RETRY_ROUNDS {
            if mixer.is_left() {
                return;
            }
            std::thread::sleep(ROUND);
            pass(&mut mixer, ROUND);
        }
    }
}

/// Lets the mixer run unheard, so that no old sound is played to a device that comes later.
fn pass(mixer: &mut Mixer, time: Duration) {
    let mut block = [0.0; 512];
    let frames = time.as_millis() as usize * RATE as usize / 1_000;
    for _ in 0..frames.div_ceil(block.len() / 2) {
        mixer.render(&mut block);
    }
}

/// Systems without a sound library of ours.
#[cfg(not(any(target_os = "linux", target_os = "macos", target_os = "windows")))]
fn play(mixer: Mixer, _tell: &dyn Fn(String)) -> (Mixer, String) {
    (mixer, "none, as this system is not known".to_owned())
}
