//! Players who pause, now and then for longer than the silence that ends a match.

use super::case::Case;
use super::conditions::Condition;
use crate::lab::SimMatch;
use crate::lab::link::Seeded;
use crate::{Config, Game, Session};
use std::time::Duration;

/// The silence that ends a match with pauses, and the longest pause.
const LOST_AFTER: Duration = Duration::from_secs(20);
const LONGEST: Duration = Duration::from_secs(24);
/// The pauses of a match.
const PAUSES: u32 = 3;

/// The time that pauses and their countdowns take at most.
pub(super) const TIME: Duration = Duration::from_secs(120);

pub(super) fn configure(config: &mut Config) {
    config.timeouts.lost_after = LOST_AFTER;
    config.timeouts.no_progress_after = config.timeouts.no_progress_after.min(LOST_AFTER);
}

/// The pauses of a match.
pub(super) struct Pauses {
    rng: Seeded,
    /// When the next pause begins, or the one that runs ends, and who asked for it.
    at: Duration,
    by: Option<usize>,
    /// The pauses that were ended.
    pub(super) held: u32,
}

impl Pauses {
    pub(super) fn new(case: &Case) -> Option<Self> {
        let mut rng = Seeded::stream(case.seed, 0x7061_7573);
        let at = Duration::from_millis(2_000 + rng.below(2_000));
        let has = case.conditions.has(Condition::Pauses);
        has.then_some(Self { rng, at, by: None, held: 0 })
    }

    /// Whether a pause runs or was asked for.
    pub(super) fn is_running(&self) -> bool {
        self.by.is_some()
    }

    pub(super) fn run<G: Game>(&mut self, sim: &mut SimMatch<G>) {
        let now = sim.world.now();
        let is_playing = |id| sim.machine(id).session().is_some_and(|session| !session.ended());
        if now < self.at || !(0..2).all(is_playing) {
            return;
        }
        if let Some(by) = self.by {
            let local = sim.local_now(by);
            // On a long way the two machines may not have agreed on the pause yet.
            if sim.session_mut(by).resume(local) {
                (self.held, self.by) = (self.held + 1, None);
                self.at = now + Duration::from_millis(4_000 + self.rng.below(4_000));
            }
        } else if self.held < PAUSES {
            let by = self.rng.below(2) as usize;
            let local = sim.local_now(by);
            if Session::pause(sim.session_mut(by), local) {
                let short = Duration::from_millis(500 + self.rng.below(3_000));
                // The first one is long: it comes in short matches too.
                self.at = now + if self.held == 0 { LONGEST } else { short };
                self.by = Some(by);
            }
        }
    }
}
