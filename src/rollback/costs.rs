//! The measured cost of a step, a save and a restore, and the choice of a saving policy by it.

use super::store::Store;
use super::{Advance, Rollback, Saving};
use crate::{Frame, Game, Inputs, StateError};
use core::time::Duration;

/// The number of frames from one that is measured to the next.
const MEASURE_EVERY_FRAMES: u32 = 64;

/// How many rollbacks must have been measured before a conclusion is drawn from them.
const MIN_ROLLBACKS: u32 = 2;

/// The time that a clock of low resolution, or a process that was interrupted once, may add to a cost.
const SLACK: Duration = Duration::from_micros(100);

/// The measured cost of a step, a save and a restore on this machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Costs {
    /// The step of a new frame.
    pub step: Duration,
    /// A step of a rollback, in which a game may skip everything that is only shown. Until a rollback was measured, as `step`.
    pub resimulated_step: Duration,
    /// A save of the state.
    pub save: Duration,
    /// A restore. Until a rollback was measured, as `save`.
    pub restore: Duration,
}

/// Measures a frame and a rollback now and then, if there is a clock to do it by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meter {
    stopwatch: Option<fn() -> Duration>,
    /// The next frame that is not like the others: the first one, one to measure, or any after the end. Without a stopwatch,
    /// after the first, the last frame number, which is never stepped.
    due: Frame,
    /// The next rollback is to be measured.
    awaits_rollback: bool,
    /// The saving policy was chosen.
    has_chosen: bool,
    step: Average,
    resimulated_step: Average,
    save: Average,
    restore: Average,
}

/// An average that forgets: the newest sample counts a quarter.
#[derive(Clone, Copy, Debug, Default)]
struct Average {
    value: Duration,
    samples: u32,
}

impl Average {
    fn add(&mut self, sample: Duration) {
        // A sample is bounded, because the system may have interrupted it.
        let bounded = sample.min(self.value * 2 + SLACK);
        self.value = if self.samples == 0 { sample } else { (self.value * 3 + bounded) / 4 };
        self.samples = self.samples.saturating_add(1);
    }
}

impl Meter {
    pub(super) fn new(stopwatch: Option<fn() -> Duration>) -> Self {
        let none = Average::default();
        Self {
            stopwatch,
            due: Frame::ZERO,
            awaits_rollback: false,
            has_chosen: false,
            step: none,
            resimulated_step: none,
            save: none,
            restore: none,
        }
    }

    /// Begins another match, whose game and policy are the same.
    pub(super) fn restart(&mut self) {
        *self = Self { has_chosen: self.has_chosen, ..Self::new(self.stopwatch) };
    }

    /// Whether this frame is the first, is to be measured, or comes after the end.
    #[inline]
    pub(super) fn is_due(&self, frame: Frame) -> bool {
        frame >= self.due
    }

    /// Notes that the match is over.
    pub(super) fn stop(&mut self) {
        self.due = Frame::ZERO;
    }

    /// Whether a rollback is to be measured now.
    #[inline]
    pub(super) fn awaits_rollback(&self) -> bool {
        self.awaits_rollback
    }

    fn now(&self) -> Duration {
        self.stopwatch.map_or(Duration::ZERO, |now| now())
    }

    fn since(&self, begun: Duration) -> Duration {
        self.now().saturating_sub(begun)
    }

    fn costs(&self) -> Option<Costs> {
        let measured = |one: Average, other: Average| if one.samples > 0 { one.value } else { other.value };
        (self.step.samples > 0).then(|| Costs {
            step: self.step.value,
            resimulated_step: measured(self.resimulated_step, self.step),
            save: self.save.value,
            restore: measured(self.restore, self.save),
        })
    }
}

impl<S> Rollback<S> {
    /// The measured cost of a step, a save and a restore. `None` without [a stopwatch](super::EngineConfig::stopwatch), and
    /// in the first second.
    #[must_use]
    pub fn costs(&self) -> Option<Costs> {
        self.meter.costs()
    }

    /// The clock by which costs are measured.
    pub(crate) fn stopwatch(&self) -> Option<fn() -> Duration> {
        self.meter.stopwatch
    }

    /// How long an `advance` takes that rolls back over the whole window, and the greatest window with which it takes at most
    /// `budget`. `None` if this one does, or if too little was measured.
    pub(crate) fn slow_rollback(&self, budget: Duration) -> Option<(Duration, u32)> {
        if self.meter.resimulated_step.samples < MIN_ROLLBACKS {
            return None;
        }
        let costs = self.costs()?;
        let takes = |window: u32| {
            // A sparse policy steps up to twice the window, and saves one state on the way.
            let (steps, saves) = if self.saves_every() { (window, window) } else { (2 * window, 1) };
            costs.restore + costs.resimulated_step * steps + costs.save * saves + costs.step
        };
        let longest = takes(self.config.window);
        let fitting = || (0..self.config.window).rev().find(|window| takes(*window) <= budget);
        (longest > budget).then(|| (longest, fitting().unwrap_or(0)))
    }

    /// Runs the first frame, one that is measured, or none after the end.
    #[cold]
    #[inline(never)]
    pub(super) fn run_rarely<G: Game<Snapshot = S>>(
        &mut self,
        game: &mut G,
        step_current: bool,
    ) -> Result<Advance, StateError> {
        match &self.over {
            None => {}
            Some(Ok(_)) => return Ok(Advance::Ended),
            Some(Err(_)) => return Ok(Advance::Failed),
        }
        if self.current == Frame::ZERO {
            if game.finished() {
                // State 0 is settled from the start.
                self.end(Frame::ZERO, game)?;
                return Ok(Advance::Ended);
            }
            self.choose_saving(game)?;
        }
        self.run_or_fail::<G, true>(game, step_current)
    }

    /// Saves and steps a frame, and measures both.
    #[cold]
    pub(super) fn step_measured<G: Game<Snapshot = S>>(
        &mut self,
        frame: Frame,
        game: &mut G,
        is_shown: bool,
    ) -> Result<(), StateError> {
        let begun = self.meter.now();
        self.save(frame, game, false)?;
        let save = self.meter.since(begun);
        let begun = self.meter.now();
        self.step(frame, game, is_shown);
        let step = self.meter.since(begun);
        self.meter.due = frame.plus(if self.stopwatch().is_some() { MEASURE_EVERY_FRAMES } else { u32::MAX });
        // The first frame fills caches and says little about the others.
        if self.stopwatch().is_some() && frame > Frame::ZERO {
            if self.saves_every() {
                self.meter.save.add(save);
            }
            self.meter.step.add(step);
            self.meter.awaits_rollback = true;
        }
        Ok(())
    }

    /// Rolls back, and measures a restore and the steps.
    #[cold]
    pub(super) fn resimulate_measured<G: Game<Snapshot = S>>(
        &mut self,
        frame: Frame,
        game: &mut G,
        shows_last: bool,
    ) -> Result<(), StateError> {
        self.meter.awaits_rollback = false;
        // The state is restored once more than needed, because a rollback does not tell its parts.
        let mut restore = Duration::ZERO;
        if let Some((_, snapshot)) = self.snapshots.nearest(frame) {
            let begun = self.meter.now();
            game.restore(snapshot)?;
            restore = self.meter.since(begun);
            self.meter.restore.add(restore);
        }
        let replayed = self.stats.replayed_frames;
        let begun = self.meter.now();
        self.resimulate(frame, game, shows_last)?;
        // Less than was mispredicted, if it has come to a barrier.
        let depth = self.current.since(frame);
        let saves = self.meter.save.value * if self.saves_every() { depth - 1 } else { 0 };
        let stepping = self.meter.since(begun).saturating_sub(restore + saves);
        let steps = u64::from(depth) + self.stats.replayed_frames - replayed;
        self.meter.resimulated_step.add(stepping / u32::try_from(steps).unwrap_or(u32::MAX).max(1));
        Ok(())
    }

    /// Saves a state of a sparse policy. Each one is measured: there are few.
    pub(super) fn save_measured<G: Game<Snapshot = S>>(
        meter: &mut Meter,
        game: &G,
        slot: &mut S,
    ) -> Result<(), StateError> {
        let begun = meter.now();
        game.save(slot)?;
        meter.save.add(meter.since(begun));
        Ok(())
    }

    /// Chooses the policy of [`Saving::Auto`] before the first frame, by a save and a step that leave no trace.
    fn choose_saving<G: Game<Snapshot = S>>(&mut self, game: &mut G) -> Result<(), StateError> {
        let has_chosen = core::mem::replace(&mut self.meter.has_chosen, true);
        // If the caller needs all snapshots, all are saved. A barrier is stepped on the players' inputs only.
        let is_fixed = self.config.cadence_frames == 1 || self.config.window == 0 || game.barrier();
        if has_chosen || is_fixed || self.stopwatch().is_none() || !self.config.saving.weighs(game) {
            return Ok(());
        }
        let mut slot = game.snapshot();
        let (mut save, mut step) = (Duration::ZERO, Duration::ZERO);
        // The first time warms the caches.
        for _ in 0..2 {
            let begun = self.meter.now();
            game.save(&mut slot)?;
            save = self.meter.since(begun);
            self.scratch.begin(false);
            let begun = self.meter.now();
            game.step(Inputs::default(), &mut self.scratch);
            step = self.meter.since(begun);
            game.restore(&slot)?;
        }
        if let Some(sparse) = Saving::is_sparse_by(save, step)
            && sparse == self.saves_every()
        {
            let (window, cadence) = (self.config.window, self.config.cadence_frames);
            self.snapshots = Store::new(window, cadence, sparse, || game.snapshot());
        }
        Ok(())
    }
}
