//! Mending: this machine's own snapshot of the last frame that matched and the confirmed inputs take the place of its live state.
//!
//! Nothing of the peer enters the state: its notes only show that both machines come to the same states when they step again. A
//! peer that lies therefore costs a bounded number of steps, once in a match.

use super::autopsy::Budget;
use super::watch::Archive;
use crate::protocol::time::{Span, Time};
use crate::rollback::Rollback;
use crate::wire::message::MAX_WINDOW_AND_DELAY;
use crate::{Cues, Fields, Frame, Game, StateError, game};
use core::mem;

/// How many frames of confirmed inputs are kept for it: the longest autopsy at 60 Hz takes about a third of them.
pub(super) const KEPT_INPUTS: u32 = 4_096;

/// How long the peer has to mend its own states after this machine has.
const PATIENCE: Span = Span::from_secs(20);

/// The fewest steps in one `advance`. With one, the match would stay as far ahead as it was.
const MIN_STEPS: u32 = 2;

/// The mending of a match, which happens once at most.
#[derive(Clone, Debug)]
pub(crate) struct Mending<S> {
    stage: Stage<S>,
    /// The frame after which our states are right, and the same of the peer.
    ours: Option<Frame>,
    theirs: Option<Frame>,
}

#[derive(Clone, Debug)]
enum Stage<S> {
    Idle,
    /// The peer has mended, and nothing was found here yet.
    Asked,
    /// The inputs since the last match are stepped again.
    Stepping(Box<Shadow<S>>),
    /// Ours is done. Ends with the peer's.
    Waiting {
        until: Time,
    },
}

/// The state that takes the place of the live one once it has caught up.
#[derive(Clone, Debug)]
struct Shadow<S> {
    from: Frame,
    at: Frame,
    state: S,
    /// The state of the game while the shadow is stepped.
    own: S,
}

/// The progress of one `advance`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mended {
    /// Nothing to act on.
    UnderWay,
    /// Our states after `to` are right: the peer is to be told.
    Here { from: Frame, to: Frame },
    /// There was nothing to mend here, and the states after this frame are right: the peer is to be told.
    Answered { to: Frame },
    /// Both machines are done: checksums up to this frame are void.
    Both { void: Frame },
    /// The inputs are not kept any more.
    Lost,
    /// The peer did not mend its states in time.
    Overdue,
}

impl<S: Fields> Mending<S> {
    pub(crate) fn new() -> Self {
        Self { stage: Stage::Idle, ours: None, theirs: None }
    }

    /// Whether there is work to do.
    #[inline]
    pub(crate) fn is_active(&self) -> bool {
        !matches!(self.stage, Stage::Idle)
    }

    /// Begins at the last frame that matched here, if its state and the inputs since are kept. `false`: there is no mending.
    pub(crate) fn begin<G: Game<Snapshot = S>>(
        &mut self,
        from: Frame,
        game: &mut G,
        archive: &Archive<S>,
        settled: Frame,
    ) -> Result<bool, StateError> {
        let Some(kept) = archive.state(from) else { return Ok(false) };
        if self.ours.is_some() || !from.until(settled).all(|frame| archive.inputs(frame).is_some()) {
            return Ok(false);
        }
        let own = game::saved(game)?;
        game.restore(kept)?;
        let state = game::saved(game)?;
        game.restore(&own)?;
        self.stage = Stage::Stepping(Box::new(Shadow { from, at: from, state, own }));
        Ok(true)
    }

    /// Takes in the peer's MENDED. `settled` is the newest certain frame here: the peer's is not further ahead than window and
    /// delay. `false`: it is refused.
    pub(crate) fn heard(&mut self, frame: Frame, settled: Frame) -> bool {
        if self.theirs.is_some() || frame > settled.plus(u32::from(MAX_WINDOW_AND_DELAY)) {
            return false;
        }
        self.theirs = Some(frame);
        if matches!(self.stage, Stage::Idle) {
            self.stage = Stage::Asked;
        }
        true
    }

    /// Steps for a part of a frame's time, and puts the new state into the engine once it has caught up with the match.
    /// `is_examining`: an autopsy of our own will say whether there is something to mend here.
    pub(crate) fn go_on<G: Game<Snapshot = S>>(
        &mut self,
        now: Time,
        game: &mut G,
        archive: &Archive<S>,
        rollback: &mut Rollback<S>,
        is_examining: bool,
        budget: &mut Budget,
    ) -> Result<Mended, StateError> {
        match mem::replace(&mut self.stage, Stage::Idle) {
            Stage::Idle => Ok(Mended::UnderWay),
            _ if rollback.ended().is_some() => Ok(Mended::UnderWay),
            Stage::Asked if is_examining => {
                self.stage = Stage::Asked;
                Ok(Mended::UnderWay)
            }
            Stage::Asked => {
                self.stage = Stage::Waiting { until: now + PATIENCE };
                self.ours = Some(rollback.settled());
                Ok(Mended::Answered { to: rollback.settled() })
            }
            Stage::Stepping(mut shadow) => match shadow.step(game, archive, rollback, budget)? {
                Some(to) => {
                    self.stage = Stage::Waiting { until: now + PATIENCE };
                    self.ours = Some(to);
                    Ok(Mended::Here { from: shadow.from, to })
                }
                None if archive.inputs(shadow.at).is_none() => Ok(Mended::Lost),
                None => {
                    self.stage = Stage::Stepping(shadow);
                    Ok(Mended::UnderWay)
                }
            },
            Stage::Waiting { until } => Ok(match self.ours.max(self.theirs) {
                Some(void) if self.theirs.is_some() => Mended::Both { void },
                _ if now >= until => Mended::Overdue,
                _ => {
                    self.stage = Stage::Waiting { until };
                    Mended::UnderWay
                }
            }),
        }
    }
}

impl<S: Fields> Shadow<S> {
    /// Steps towards the settled frame; that frame, or the last one of the game, once the engine has the new state.
    fn step<G: Game<Snapshot = S>>(
        &mut self,
        game: &mut G,
        archive: &Archive<S>,
        rollback: &mut Rollback<S>,
        budget: &mut Budget,
    ) -> Result<Option<Frame>, StateError> {
        let (mut cues, mut owed, mut is_finished) = (Cues::unseen(), MIN_STEPS, false);
        game.save(&mut self.own)?;
        game.restore(&self.state)?;
        while self.at < rollback.settled()
            && !is_finished
            && (budget.take() || owed > 0)
            && let Some(inputs) = archive.inputs(self.at)
        {
            owed = owed.saturating_sub(1);
            cues.clear();
            game.step(inputs, &mut cues);
            self.at = self.at.next();
            is_finished = game.finished();
        }
        game.save(&mut self.state)?;
        if is_finished {
            rollback.correct_end(self.at, &self.state, game)?;
        } else if self.at == rollback.settled() {
            rollback.correct(&mut self.state, game)?;
        } else {
            game.restore(&self.own)?;
            return Ok(None);
        }
        Ok(Some(self.at))
    }
}
