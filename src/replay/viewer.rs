//! Watching a match while it is recorded or received.

use super::{End, Outcome, Playback, Recording, Tail, VerifyError};
use crate::{CueEvent, Frame, Game};
use core::time::Duration;

/// Playback is this many thousandths faster while more than a second and a half is left to show.
const FASTER_PERMILLE: u32 = 1_250;
const NORMAL_PERMILLE: u32 = 1_000;

/// The state of a [`Viewer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Viewing {
    /// Steps through the frames that were there before, as fast as it may.
    CatchingUp,
    /// Shows new frames as they come.
    Live,
    /// Shows frames of the past at normal speed, because the viewer went back.
    Behind,
    /// Stands still.
    Paused,
    /// Shows the last frame of a match that is over.
    Ended,
}

/// A player for a [`Recording`] that still grows, about a second behind its newest frame; it pauses and seeks.
///
/// Bytes come in by [`append`](Self::append): from a file that is being written, or from a
/// `Spectator`. Every call of [`advance`](Self::advance) makes a bounded number of steps, so that a
/// screen stays alive while the viewer catches up. Recorded checksums are compared on the way.
pub struct Viewer<G: Game> {
    playback: Playback<G>,
    follows: bool,
    is_paused: bool,
    is_catching_up: bool,
    /// The time of the last call of `advance`.
    now: Duration,
}

impl<G: Game> Viewer<G> {
    /// Follows `recording`. `game` is in its first state, built from the seed and the first state of the header.
    pub fn new(game: G, recording: Recording) -> Self {
        Self {
            playback: Playback::new(game, recording),
            follows: true,
            is_paused: false,
            is_catching_up: true,
            now: Duration::ZERO,
        }
    }

    // Commands.

    /// Adds bytes of the recording, in order. Returns how it ends now.
    pub fn append(&mut self, bytes: &[u8]) -> Tail {
        self.playback.append(bytes)
    }

    /// Loads up to `max_steps` new frames, and shows the frames that are due at `now`: `look` gets each state with its cues.
    /// Frames that are skipped to catch up are not shown. Returns the number of frames that were shown.
    pub fn advance(
        &mut self,
        now: Duration,
        max_steps: u32,
        mut look: impl FnMut(Frame, &G, &[CueEvent]),
    ) -> u32 {
        self.now = now;
        let second = self.frames_of_a_second();
        self.playback.load(max_steps, |_, _| {});
        if self.is_paused {
            return 0;
        }
        if !self.playback.is_playing() {
            self.playback.play(now);
        }
        let is_loaded = self.playback.loaded() >= self.newest();
        self.is_catching_up &= !is_loaded;
        // A second and a little is kept, because that much comes at once.
        let kept = if self.end().is_some() { 0 } else { second + second / 8 };
        if self.follows && (!is_loaded || self.behind_frames() > 3 * second) {
            let target = Frame(self.playback.loaded().0.saturating_sub(if is_loaded { kept } else { 0 }));
            if target > self.frame() {
                self.is_catching_up |= !is_loaded;
                self.playback.seek(target);
                look(target, self.playback.game(), &[]);
                self.playback.play(now);
                return 1;
            }
        }
        let is_late = self.follows && self.behind_frames() > second + second / 2;
        self.playback.set_speed(if is_late { FASTER_PERMILLE } else { NORMAL_PERMILLE });
        self.playback.advance(now, look)
    }

    /// Stops at the frame that is shown. New frames are still loaded.
    pub fn pause(&mut self) {
        self.is_paused = true;
    }

    /// Goes on from the frame that is shown, at normal speed.
    pub fn resume(&mut self) {
        self.is_paused = false;
        self.follows &= self.behind_frames() <= 3 * self.frames_of_a_second();
        self.playback.play(self.now);
    }

    /// Goes to a frame, or to the newest that is loaded. The match is then shown from there at normal speed.
    pub fn seek(&mut self, frame: Frame) {
        self.playback.seek(frame.min(self.playback.loaded()));
        self.follows = false;
    }

    /// Follows the newest frames again.
    pub fn go_live(&mut self) {
        (self.follows, self.is_paused) = (true, false);
        self.playback.play(self.now);
    }

    // Getters.

    /// The state of the viewer.
    #[must_use]
    pub fn state(&self) -> Viewing {
        if self.end().is_some() && self.behind_frames() == 0 {
            Viewing::Ended
        } else if self.is_paused {
            Viewing::Paused
        } else if !self.follows {
            Viewing::Behind
        } else if self.is_catching_up {
            Viewing::CatchingUp
        } else {
            Viewing::Live
        }
    }

    /// The game in the state of the frame that is shown.
    #[must_use]
    pub fn game(&self) -> &G {
        self.playback.game()
    }

    /// The frame that is shown.
    #[must_use]
    pub fn frame(&self) -> Frame {
        self.playback.frame()
    }

    /// The newest frame that is there.
    #[must_use]
    pub fn newest(&self) -> Frame {
        Frame(self.recording().frames())
    }

    /// The number of frames from the one that is shown to the newest.
    #[must_use]
    pub fn behind_frames(&self) -> u32 {
        self.newest().since(self.frame())
    }

    /// How the match ended, once that is there.
    #[must_use]
    pub fn end(&self) -> Option<End> {
        self.recording().end()
    }

    /// The number of recorded checksums that agree with the states here, up to the frame that is loaded. The checksum of the verdict
    /// counts too.
    ///
    /// # Errors
    /// The first checksum that differs, or a state that the game could not save or restore.
    pub fn verified(&self) -> Result<u32, VerifyError> {
        let compared = self.playback.verified()?;
        let Some(found) = self.playback.last_checksum() else { return Ok(compared) };
        match self.end().map(|end| end.outcome) {
            Some(Outcome::Agreed { checksum: expected } | Outcome::Unconfirmed { checksum: expected }) => {
                if found != expected {
                    return Err(VerifyError::Checksum { frame: self.newest(), expected, found });
                }
                Ok(compared + 1)
            }
            _ => Ok(compared),
        }
    }

    /// The recording so far.
    #[must_use]
    pub fn recording(&self) -> &Recording {
        self.playback.recording()
    }

    fn frames_of_a_second(&self) -> u32 {
        let rate = self.recording().header().frame_rate.unwrap_or_default();
        (rate.numerator() / rate.denominator()).max(1)
    }
}
