//! A recorded match that is continued as a live one.

use super::Recording;
use super::cursor::Cursor;
use crate::{Advanced, Config, ConfigError, CueEvent, Frame, Game, Inputs, Offline};
use core::time::Duration;

/// A live match at one machine, from any frame of a recording on: against a bot, or against the recorded other player.
///
/// Made by [`Playback::take_over`](super::Playback::take_over). The frames are paced by an [`Offline`] match.
#[derive(Debug)]
pub struct TakeOver<G: Game> {
    game: G,
    offline: Offline<G::Snapshot>,
    recording: Recording,
    cursor: Cursor,
    start: Frame,
}

impl<G: Game> TakeOver<G> {
    pub(super) fn new(
        now: Duration,
        config: &Config,
        game: G,
        recording: Recording,
        cursor: Cursor,
    ) -> Result<Self, ConfigError> {
        let offline = Offline::new(now, config, &game)?;
        Ok(Self { game, offline, recording, start: cursor.frame(), cursor })
    }

    /// Steps a frame, if one is due, on the inputs that `choose` makes of the state and the recorded inputs of the frame;
    /// there are none after the end of the recording.
    ///
    /// `choose` keeps the recorded input of the other player, or asks a bot in its place.
    pub fn advance(&mut self, now: Duration, choose: impl FnOnce(&G, Option<Inputs>) -> Inputs) -> Advanced {
        if !self.offline.frame_due(now) {
            return self.offline.advance(now, &mut self.game, Inputs::default());
        }
        let recorded = self.cursor.next(&self.recording);
        let inputs = choose(&self.game, recorded);
        self.offline.advance(now, &mut self.game, inputs)
    }

    /// The state of the match.
    #[must_use]
    pub fn game(&self) -> &G {
        &self.game
    }

    /// The next frame to step, counted from the first frame of the recording.
    #[must_use]
    pub fn current(&self) -> Frame {
        self.start.plus(self.offline.current().0)
    }

    /// The frame at which the recording was taken over.
    #[must_use]
    pub fn start(&self) -> Frame {
        self.start
    }

    /// The changes to cues in the last [`advance`](Self::advance). Their frames count from the take-over.
    #[must_use]
    pub fn cues(&self) -> &[CueEvent] {
        self.offline.cues()
    }

    /// When the next frame is due; never once the match is over.
    #[must_use]
    pub fn next_frame_at(&self) -> Duration {
        self.offline.next_frame_at()
    }

    /// Whether the match is over: the game is finished, or could not save or restore a state.
    #[must_use]
    pub fn ended(&self) -> bool {
        self.offline.ended()
    }

    /// The frame that the last [`advance`](Self::advance) stepped, with its inputs: for a replay of the new match.
    pub fn confirmed(&self) -> impl Iterator<Item = (Frame, Inputs)> {
        self.offline.confirmed().map(|(frame, inputs)| (self.start.plus(frame.0), inputs))
    }

    /// The recorded inputs of the frames before the take-over, with which a replay of the new match begins.
    pub fn inputs_before(&self) -> impl Iterator<Item = Inputs> {
        self.recording.inputs().take(self.start.0 as usize)
    }
}
