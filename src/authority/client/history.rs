//! The client's own inputs and predicted bodies. Reconciliation replays the inputs that the server has not applied.

use super::own::Own;
use crate::Frame;
use crate::authority::dialect::NumberedInput;
use crate::authority::{Body, Command, World, ahead};

/// The size of the history, in inputs.
const KEPT: u32 = 256;

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// `None` if it was never used.
    step: Option<Frame>,
    /// As it was sent.
    command: Command,
    /// The predicted body after it.
    body: Body,
}

/// Inputs by step, and the own player that they move.
#[derive(Clone, Debug)]
pub(super) struct History {
    entries: Box<[Entry; KEPT as usize]>,
    /// The first step that was ever taken, and the last.
    first: Frame,
    last: Frame,
    own: Own,
    /// The newest baseline that was taken over.
    baseline: Option<Frame>,
}

impl History {
    pub(super) fn new() -> Self {
        let entry = Entry { step: None, command: Command::NEUTRAL, body: Body::at(0.0, 0.0) };
        Self {
            entries: Box::new([entry; KEPT as usize]),
            first: Frame::ZERO,
            last: Frame::ZERO,
            own: Own::default(),
            baseline: None,
        }
    }

    /// Begins with the step after `step`.
    pub(super) fn begin_after(&mut self, step: Frame) {
        (self.first, self.last) = (step.next(), step);
    }

    /// Takes a step with a command as it is sent.
    pub(super) fn step<W: World>(&mut self, world: &W, step: Frame, command: Command) {
        let body = self.own.step(world, command).unwrap_or(Body::at(0.0, 0.0));
        *self.entry(step) = Entry { step: Some(step), command, body };
        self.last = step;
    }

    /// Takes over the server's body after step `applied`, and replays the steps that it has not applied.
    pub(super) fn reconcile<W: World>(&mut self, world: &W, applied: Frame, body: Body) {
        if self.baseline.is_some_and(|baseline| ahead(applied.0, baseline.0) < 0) {
            return;
        }
        self.baseline = Some(applied);
        let kept = *self.entry(applied);
        if self.own.predicted().is_some() && kept.step == Some(applied) {
            let is_exact = kept.body == body;
            self.own.compared(is_exact);
            if is_exact {
                return;
            }
        }
        self.replay(world, applied, body);
    }

    fn replay<W: World>(&mut self, world: &W, applied: Frame, mut body: Body) {
        let entry = self.entry(applied);
        if entry.step == Some(applied) {
            entry.body = body;
        }
        let (mut before, mut replayed) = (body, 0);
        let count = ahead(self.last.0, applied.0).max(0).unsigned_abs();
        for step in self.newest_steps(count) {
            let entry = self.entry(step);
            before = body;
            world.walk(&mut body, entry.command.limited());
            entry.body = body;
            replayed += 1;
        }
        self.own.correct(before, body, replayed);
    }

    fn entry(&mut self, step: Frame) -> &mut Entry {
        &mut self.entries[(step.0 % KEPT) as usize]
    }

    /// The last steps that are kept, oldest first, at most `count`.
    fn newest_steps(&self, count: u32) -> impl Iterator<Item = Frame> + use<> {
        let taken = ahead(self.last.0, self.first.0).wrapping_add(1).max(0).unsigned_abs();
        let (count, last) = (count.min(KEPT).min(taken), self.last.0);
        (0..count).rev().map(move |back| Frame(last.wrapping_sub(back)))
    }

    pub(super) fn own(&self) -> &Own {
        &self.own
    }

    /// The last inputs, oldest first, at most `count`; their numbers are their steps less `base`.
    pub(super) fn newest(&self, count: u32, base: u32, into: &mut Vec<NumberedInput>) {
        into.clear();
        into.extend(self.newest_steps(count).map(|step| {
            let entry = &self.entries[(step.0 % KEPT) as usize];
            (step.0.wrapping_sub(base), entry.command)
        }));
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

    fn history(steps: u32) -> History {
        let mut history = History::new();
        history.begin_after(Frame(100));
        history.reconcile(&Line, Frame(100), Body::at(0.0, 0.0));
        (101..=100 + steps).for_each(|step| history.step(&Line, Frame(step), Command::new(1.0, 0.0, 0)));
        history
    }

    fn close(value: f32, expected: f32) {
        assert!((value - expected).abs() < 1e-5, "{value} is not {expected}");
    }

    #[test]
    fn unapplied_inputs_are_replayed_on_the_servers_body() {
        let mut history = history(10);
        close(history.own().predicted().unwrap().x, 10.0);
        history.reconcile(&Line, Frame(104), Body::at(4.0, 0.0));
        assert_eq!(history.own().stats().replayed, 0, "it was as predicted");
        history.reconcile(&Line, Frame(106), Body::at(3.0, 0.0));
        close(history.own().predicted().unwrap().x, 7.0);
        assert_eq!((history.own().stats().compared, history.own().stats().exact), (2, 1));
        assert_eq!((history.own().stats().replayed, history.own().stats().max_correction), (4, 3));
        history.reconcile(&Line, Frame(106), Body::at(3.0, 0.0));
        history.reconcile(&Line, Frame(107), Body::at(4.0, 0.0));
        assert_eq!(
            history.own().stats().exact,
            3,
            "the corrected and the replayed steps are the prediction now"
        );
        history.reconcile(&Line, Frame(105), Body::at(77.0, 0.0));
        close(history.own().predicted().unwrap().x, 7.0);
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
            history.reconcile(&Line, Frame(104), other);
            let corrected = Body { x: other.x + 6.0, ..other };
            assert_eq!(history.own().predicted(), Some(&corrected));
            assert_eq!(history.own().stats().exact, 0);
        }
    }

    #[test]
    fn correction_is_shown_away_over_six_frames() {
        let mut history = history(10);
        history.reconcile(&Line, Frame(110), Body::at(4.0, 0.0));
        close(history.own().drawn(1.0).unwrap().x, 10.0);
        let mut shown = Vec::new();
        for step in 111..118 {
            history.step(&Line, Frame(step), Command::NEUTRAL);
            shown.push(history.own().drawn(1.0).unwrap().x);
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
        diagonal.step(&Line, Frame(104), Command { x: 1.0, y: 1.0, actions: 1 });
        diagonal.newest(1, 100, &mut sent);
        assert_eq!(sent, [(4, Command { x: 1.0, y: 1.0, actions: 1 })], "as given, not as applied");
        close(diagonal.own().predicted().unwrap().x, 3.0 + 0.5_f32.sqrt());
        history.newest(2, 0, &mut sent);
        assert_eq!(sent.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [102, 103]);
    }

    #[test]
    fn replay_reaches_back_to_the_first_step_and_256_steps() {
        let mut late = history(0);
        late.reconcile(&Line, Frame(101), Body::at(1.0, 0.0));
        let mut early = History::new();
        early.begin_after(Frame(100));
        early.reconcile(&Line, Frame(90), Body::at(1.0, 0.0));
        assert_eq!((late.own().stats().replayed, early.own().stats().replayed), (0, 0), "no step was taken");
        let mut long = history(400);
        long.reconcile(&Line, Frame(110), Body::at(0.0, 0.0));
        assert_eq!(long.own().stats().replayed, 256);
        close(long.own().predicted().unwrap().x, 256.0);
        close(long.own().drawn(1.0).unwrap().x, 400.0);
        let mut sent = Vec::new();
        long.newest(1_000, 0, &mut sent);
        assert_eq!((sent.len(), sent[0].0), (256, 245));
    }

    #[test]
    fn corrected_body_is_drawn_between_its_last_two_steps() {
        let mut history = history(10);
        history.reconcile(&Line, Frame(106), Body::at(3.0, 0.0));
        // Shown away by three units at first.
        close(history.own().drawn(0.0).unwrap().x, 6.0 + 3.0);
        close(history.own().drawn(0.5).unwrap().x, 6.5 + 3.0);
    }
}
