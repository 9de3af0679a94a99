//! Cues: the side effects a frame asks for, such as a sound or a flash.

use crate::Frame;

/// A side effect that a step asks for, named by a number of the game's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cue(pub u32);

/// The set of cues that one step asks for.
///
/// A step may run several times for one frame; it always emits, and the engine works out what is new, what is gone
/// and what is certain ([`CueEvent`]).
#[derive(Clone, Debug, Default)]
pub struct Cues {
    cues: [Cue; Self::MAX],
    len: u8,
    left_out: u32,
}

impl Cues {
    /// How many different cues a frame can hold.
    pub const MAX: usize = 16;

    /// No cues. A game that is stepped without an engine passes one of these.
    #[must_use]
    pub const fn new() -> Self {
        Self { cues: [Cue(0); Self::MAX], len: 0, left_out: 0 }
    }

    /// Asks for `cue`. Asking twice in one frame is asking once; what comes after sixteen different ones is left
    /// out and counted, the same ones every time.
    #[inline]
    pub fn emit(&mut self, cue: Cue) {
        if self.as_slice().contains(&cue) {
            return;
        }
        match self.cues.get_mut(usize::from(self.len)) {
            Some(slot) => {
                *slot = cue;
                self.len += 1;
            }
            None => self.left_out = self.left_out.saturating_add(1),
        }
    }

    /// What has been asked for.
    #[inline]
    #[must_use]
    pub fn as_slice(&self) -> &[Cue] {
        &self.cues[..usize::from(self.len)]
    }

    /// How many were left out because the frame was full.
    #[inline]
    #[must_use]
    pub const fn left_out(&self) -> u32 {
        self.left_out
    }

    /// Forgets everything, for the next step.
    #[inline]
    pub const fn clear(&mut self) {
        self.len = 0;
        self.left_out = 0;
    }
}

/// Names one start of a cue, so that its end can be matched to it: a sound to stop, a flash to cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CueId(pub u32);

/// What happened to a cue in the last `advance`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CueEvent {
    /// Which start this is about.
    pub id: CueId,
    /// What the step asked for.
    pub cue: Cue,
    /// The frame that asked for it.
    pub frame: Frame,
    /// What happened.
    pub change: CueChange,
}

/// The life of a cue: one start, and then either a cancel or a confirm, each exactly once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CueChange {
    /// Begin it. A rollback found it `late_by` frames after its frame; 0 if it is on time.
    Start {
        /// How many frames ago it should have begun.
        late_by: u32,
    },
    /// It did not happen after all.
    Cancel,
    /// It is certain now.
    Confirm,
}
