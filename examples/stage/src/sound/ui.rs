//! The sounds of menus, the same in every game.

use super::synth::{Osc, decay};
use super::{Bank, Clip, SoundId};

/// The mark goes to another line.
pub const MOVE: SoundId = SoundId(0xFF00);
/// A line is chosen.
pub const CHOOSE: SoundId = SoundId(0xFF01);
/// Back to the menu before.
pub const BACK: SoundId = SoundId(0xFF02);
/// That cannot be chosen.
pub const REFUSE: SoundId = SoundId(0xFF03);

/// Adds the sounds of menus to the bank of a game.
#[must_use]
pub fn add_to(bank: Bank) -> Bank {
    bank.with(MOVE, blip(&[880.0], 0.05).with_peak(0.22))
        .with(CHOOSE, blip(&[660.0, 990.0, 1320.0], 0.06).with_peak(0.30))
        .with(BACK, blip(&[740.0, 494.0], 0.06).with_peak(0.26))
        .with(REFUSE, blip(&[196.0, 185.0], 0.09).with_peak(0.34))
}

/// Short notes one after the other.
fn blip(notes: &[f32], seconds: f32) -> Clip {
    let mut osc = Osc::default();
    Clip::make(seconds * notes.len() as f32 + 0.08, |t| {
        let at = ((t / seconds) as usize).min(notes.len() - 1);
        let since = t - at as f32 * seconds;
        let wave = osc.triangle(notes[at]);
        wave * decay(since, 0.05)
    })
}
