//! The volume, shared between the game and the mixer without a lock.

use std::sync::atomic::{AtomicU32, Ordering};

/// The loudest setting of a volume.
pub const MAX_PERCENT: u8 = 100;

/// How loud effects and music are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels {
    /// Volume of the effects, 0 to 100.
    pub effects_percent: u8,
    /// Volume of the music, 0 to 100.
    pub music_percent: u8,
    /// Nothing is heard, whatever the volumes are.
    pub muted: bool,
}

impl Default for Levels {
    fn default() -> Self {
        Self { effects_percent: 80, music_percent: 60, muted: false }
    }
}

impl Levels {
    /// The factors of effects and music. Loudness is heard by ratios, which a square comes near enough.
    pub(super) fn gains(self) -> [f32; 2] {
        let gain = |percent: u8| (f32::from(percent.min(MAX_PERCENT)) / f32::from(MAX_PERCENT)).powi(2);
        if self.muted { [0.0; 2] } else { [gain(self.effects_percent), gain(self.music_percent)] }
    }
}

/// [`Levels`] packed into one number, so that neither side ever waits for the other.
#[derive(Debug)]
pub(super) struct SharedLevels(AtomicU32);

impl Default for SharedLevels {
    fn default() -> Self {
        let shared = Self(AtomicU32::new(0));
        shared.store(Levels::default());
        shared
    }
}

impl SharedLevels {
    pub(super) fn load(&self) -> Levels {
        let [effects_percent, music_percent, muted, _] = self.0.load(Ordering::Relaxed).to_le_bytes();
        Levels { effects_percent, music_percent, muted: muted != 0 }
    }

    pub(super) fn store(&self, levels: Levels) {
        let bytes = [levels.effects_percent, levels.music_percent, u8::from(levels.muted), 0];
        self.0.store(u32::from_le_bytes(bytes), Ordering::Relaxed);
    }
}
