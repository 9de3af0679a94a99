//! The client's own inputs and predicted bodies. Reconciliation replays the inputs that the server has not applied.

use super::smoothing::Smoothing;
use crate::authority::dialect::NumberedInput;
use crate::authority::world::{Body, Command, World};

/// The size of the history, in inputs.
const KEPT: u64 = 256;

/// The step of an entry that was never used.
const NONE: u64 = u64::MAX;

#[derive(Clone, Copy, Debug)]
struct Entry {
    step: u64,
    /// As it was sent.
    command: Command,
    /// The predicted body after it.
    body: Body,
}

/// Counts of predictions that were compared with snapshots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PredictionStats {
    /// Snapshots that were compared with what was predicted for their frame.
    pub compared: u64,
    /// Those that were exactly alike; on R-Type those within one unit of where the player had been.
    pub exact: u64,
    /// Inputs that were replayed after a correction.
    pub replayed: u64,
    /// The largest correction so far, in units of the game, rounded up.
    pub max_correction: u32,
}

impl PredictionStats {
    pub(super) fn corrected(&mut self, by: f32) {
        self.max_correction = self.max_correction.max(by.ceil() as u32);
    }
}

/// Inputs by step, the predicted body, and how much of the last correction is still to be shown.
#[derive(Clone, Debug)]
pub(super) struct History {
    entries: Box<[Entry; KEPT as usize]>,
    /// The first step that was ever taken, and the last.
    first: u64,
    last: u64,
    predicted: Option<Body>,
    before: Body,
    /// The newest baseline that was taken over.
    baseline: Option<u64>,
    smoothing: Smoothing,
    stats: PredictionStats,
}

impl History {
    pub(super) fn new() -> Self {
        let entry = Entry { step: NONE, command: Command::NEUTRAL, body: Body::at(0.0, 0.0) };
        Self {
            entries: Box::new([entry; KEPT as usize]),
            first: 0,
            last: 0,
            predicted: None,
            before: Body::at(0.0, 0.0),
            baseline: None,
            smoothing: Smoothing::default(),
            stats: PredictionStats::default(),
        }
    }

    /// Begins with the step after `step`.
    pub(super) fn begin_after(&mut self, step: u64) {
        (self.first, self.last) = (step + 1, step);
    }

    /// Takes a step with a command as it is sent.
    pub(super) fn step<W: World>(&mut self, world: &W, step: u64, command: Command) {
        if let Some(body) = &mut self.predicted {
            self.before = *body;
            world.walk(body, command.limited());
        }
        let body = self.predicted.unwrap_or(Body::at(0.0, 0.0));
        self.entries[(step % KEPT) as usize] = Entry { step, command, body };
        self.last = step;
        self.smoothing.step();
    }

    /// Takes over the server's body after step `applied`, and replays the steps that it has not applied.
    pub(super) fn reconcile<W: World>(&mut self, world: &W, applied: u64, body: Body) {
        if self.baseline.is_some_and(|baseline| applied < baseline) {
            return;
        }
        self.baseline = Some(applied);
        let kept = self.entries[(applied % KEPT) as usize];
        if let Some(predicted) = self.predicted
            && kept.step == applied
        {
            self.stats.compared += 1;
            if kept.body == body {
                self.stats.exact += 1;
                return;
            }
            self.replay(world, applied, body);
            self.show_away(&predicted);
        } else {
            let shown = self.predicted;
            self.replay(world, applied, body);
            if let Some(shown) = shown {
                self.show_away(&shown);
            }
        }
    }

    fn replay<W: World>(&mut self, world: &W, applied: u64, mut body: Body) {
        let first = (applied + 1).max(self.first).max(self.last.saturating_sub(KEPT - 1));
        self.before = body;
        if let Some(entry) = self.entries.get_mut((applied % KEPT) as usize)
            && entry.step == applied
        {
            entry.body = body;
        }
        for step in first..=self.last {
            let entry = &mut self.entries[(step % KEPT) as usize];
            self.before = body;
            world.walk(&mut body, entry.command.limited());
            entry.body = body;
            self.stats.replayed += 1;
        }
        self.predicted = Some(body);
    }

    fn show_away(&mut self, shown: &Body) {
        if let Some(predicted) = &self.predicted {
            self.stats.corrected(shown.distance(predicted));
            self.smoothing.show_away(shown, predicted);
        }
    }

    /// The predicted body, without smoothing.
    pub(super) fn predicted(&self) -> Option<&Body> {
        self.predicted.as_ref()
    }

    /// The body to draw at part `between` of the way from the last step but one to the last.
    pub(super) fn drawn(&self, between: f32) -> Option<Body> {
        Some(self.smoothing.drawn(&self.before, self.predicted.as_ref()?, between))
    }

    /// The last inputs, oldest first, at most `count`; their numbers are their steps less `base`.
    pub(super) fn newest(&self, count: u64, base: u64, into: &mut Vec<NumberedInput>) {
        into.clear();
        let first = (self.last + 1).saturating_sub(count.min(KEPT)).max(self.first);
        into.extend((first..=self.last).map(|step| {
            let entry = &self.entries[(step % KEPT) as usize];
            ((step - base) as u32, entry.command)
        }));
    }

    pub(super) fn stats(&self) -> PredictionStats {
        self.stats
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authority::Stage;

    struct Line;

    impl World for Line {
        fn walk(&self, body: &mut Body, command: Command) {
            body.x += command.x;
        }
        fn enter(&mut self, _: u8) -> (u8, Body) {
            (0, Body::at(0.0, 0.0))
        }
        fn step(&mut self, _: &mut Stage<'_>) {}
    }

    fn history(steps: u64) -> History {
        let mut history = History::new();
        history.begin_after(100);
        history.reconcile(&Line, 100, Body::at(0.0, 0.0));
        (101..=100 + steps).for_each(|step| history.step(&Line, step, Command::new(1.0, 0.0, 0)));
        history
    }

    fn close(value: f32, expected: f32) {
        assert!((value - expected).abs() < 1e-5, "{value} is not {expected}");
    }

    #[test]
    fn what_the_server_has_not_applied_is_replayed_on_its_body() {
        let mut history = history(10);
        close(history.predicted().unwrap().x, 10.0);
        history.reconcile(&Line, 104, Body::at(4.0, 0.0));
        assert_eq!(history.stats().replayed, 0, "it was as predicted");
        history.reconcile(&Line, 106, Body::at(3.0, 0.0));
        close(history.predicted().unwrap().x, 7.0);
        assert_eq!((history.stats().compared, history.stats().exact), (2, 1));
        assert_eq!((history.stats().replayed, history.stats().max_correction), (4, 3));
        history.reconcile(&Line, 106, Body::at(3.0, 0.0));
        history.reconcile(&Line, 107, Body::at(4.0, 0.0));
        assert_eq!(history.stats().exact, 3, "the corrected and the replayed steps are the prediction now");
        history.reconcile(&Line, 105, Body::at(77.0, 0.0));
        close(history.predicted().unwrap().x, 7.0);
    }

    #[test]
    fn every_field_of_a_body_is_corrected() {
        let body = Body::at(4.0, 0.0);
        let others = [
            Body { x: 4.5, ..body },
            Body { y: 0.5, ..body },
            Body { velocity_x: 1.0, ..body },
            Body { velocity_y: 1.0, ..body },
            Body { health: 0.25, ..body },
        ];
        for other in others {
            let mut history = history(10);
            history.reconcile(&Line, 104, other);
            let corrected = Body { x: other.x + 6.0, ..other };
            assert_eq!(history.predicted(), Some(&corrected));
            assert_eq!(history.stats().exact, 0);
        }
    }

    #[test]
    fn a_correction_is_shown_away_over_six_frames() {
        let mut history = history(10);
        history.reconcile(&Line, 110, Body::at(4.0, 0.0));
        close(history.drawn(1.0).unwrap().x, 10.0);
        let mut shown = Vec::new();
        for step in 111..118 {
            history.step(&Line, step, Command::NEUTRAL);
            shown.push(history.drawn(1.0).unwrap().x);
        }
        for (at, expected) in shown.into_iter().zip([9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 4.0]) {
            close(at, expected);
        }
    }

    #[test]
    fn inputs_go_out_oldest_first_and_none_from_before_the_start() {
        let (history, mut sent) = (history(3), Vec::new());
        history.newest(8, 100, &mut sent);
        assert_eq!(sent.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [1, 2, 3]);
        let mut diagonal = history.clone();
        diagonal.step(&Line, 104, Command { x: 1.0, y: 1.0, actions: 1 });
        diagonal.newest(1, 100, &mut sent);
        assert_eq!(sent, [(4, Command { x: 1.0, y: 1.0, actions: 1 })], "as given, not as applied");
        close(diagonal.predicted().unwrap().x, 3.0 + 0.5_f32.sqrt());
        history.newest(2, 0, &mut sent);
        assert_eq!(sent.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [102, 103]);
    }

    #[test]
    fn replay_reaches_back_to_the_first_step_and_256_steps() {
        let mut late = history(0);
        late.reconcile(&Line, 101, Body::at(1.0, 0.0));
        let mut early = History::new();
        early.begin_after(100);
        early.reconcile(&Line, 90, Body::at(1.0, 0.0));
        assert_eq!((late.stats().replayed, early.stats().replayed), (0, 0), "no step was taken");
        let mut long = history(400);
        long.reconcile(&Line, 110, Body::at(0.0, 0.0));
        assert_eq!(long.stats().replayed, 256);
        close(long.predicted().unwrap().x, 256.0);
        close(long.drawn(1.0).unwrap().x, 400.0);
        let mut sent = Vec::new();
        long.newest(1_000, 0, &mut sent);
        assert_eq!((sent.len(), sent[0].0), (256, 245));
    }

    #[test]
    fn corrected_body_is_drawn_between_its_last_two_steps() {
        let mut history = history(10);
        history.reconcile(&Line, 106, Body::at(3.0, 0.0));
        // Shown away by three units at first.
        close(history.drawn(0.0).unwrap().x, 6.0 + 3.0);
        close(history.drawn(0.5).unwrap().x, 6.5 + 3.0);
    }
}
