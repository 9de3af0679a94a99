//! A machine that comes back: it steps the log of the match, some frames in each call, and goes on where the other one waits.

use super::now::{Finish, Now};
use super::{Online, Stage};
use crate::net::Datagrams;
use crate::replay::Resumption;
use crate::{Advanced, Cues, Fields, Frame, Game, Inputs, Lobby};
use core::time::Duration;

/// The most frames, and about the longest time, that one call steps.
const MAX_FRAMES: u32 = 1_500;
const MAX_TIME: Duration = Duration::from_millis(8);

/// The log that is stepped.
#[derive(Debug)]
pub(super) struct Returning {
    lobby: Lobby,
    resumption: Resumption,
    at: Frame,
    /// Whether the next turn asks for frames; in between it has the progress shown.
    steps: bool,
}

impl Returning {
    pub(super) fn new(lobby: Lobby, resumption: Resumption) -> Self {
        Self { lobby, resumption, at: Frame::ZERO, steps: false }
    }

    pub(super) fn lobby(&self) -> &Lobby {
        &self.lobby
    }

    pub(super) fn lobby_mut(&mut self) -> &mut Lobby {
        &mut self.lobby
    }

    /// The next thing to do: step, or show the progress.
    pub(super) fn next(&mut self) -> Now {
        self.steps = !self.steps;
        if self.steps { Now::Frame } else { Now::Connecting(self.progress()) }
    }

    pub(super) fn progress(&self) -> String {
        format!("catching up: frame {} of {}", self.at, self.resumption.frame())
    }

    /// Steps the game through the next frames of the log, and passes each on. Whether the end is reached.
    fn step<G: Game>(
        &mut self,
        game: &mut G,
        is_time_up: impl Fn() -> bool,
        mut log: impl FnMut(Frame, Inputs),
    ) -> bool {
        let mut cues = Cues::unseen();
        for inputs in self.resumption.recording().inputs_from(self.at).take(MAX_FRAMES as usize) {
            cues.clear();
            game.step(inputs, &mut cues);
            log(self.at, inputs);
            self.at = self.at.next();
            if is_time_up() {
                break;
            }
        }
        self.at >= self.resumption.frame()
    }
}

impl<S: Fields, D: Datagrams> Online<S, D> {
    /// Steps some frames of the log, and goes on with the match after the last.
    #[cold]
    pub(super) fn catch_up<G: Game<Snapshot = S>>(&mut self, game: &mut G) -> Advanced {
        let Stage::Returning(returning) = &mut self.stage else { return Advanced::Ended };
        let (connection, keeping, audience) = (&self.connection, &mut self.keeping, &mut self.audience);
        let now = connection.now();
        let log = |frame, inputs| {
            keeping.log(frame, inputs);
            audience.log(now, frame, inputs);
        };
        if !returning.step(game, || connection.now() >= now + MAX_TIME, log) {
            return Advanced::Stalled;
        }
        let over = Stage::Over(Finish::Ended(crate::Reason::LeftHere), None);
        let Stage::Returning(returning) = core::mem::replace(&mut self.stage, over) else {
            return Advanced::Ended;
        };
        let Returning { lobby, resumption, .. } = *returning;
        match resumption.resume(self.connection.now(), lobby, game) {
            Ok(Ok(session)) => {
                self.keep_ticket(&session);
                self.stage = Stage::Playing(session);
                Advanced::Stalled
            }
            Ok(Err(error)) => {
                self.finish(Finish::Refused(error));
                Advanced::Ended
            }
            Err(error) => {
                self.finish(Finish::NotResumed(error));
                Advanced::Ended
            }
        }
    }
}
