//! The sync test: a `save` that changes the game, and code that only inverted inputs reach.

use crate::sync_test::{Ball, Mistaken, changing_inputs};
use rebout::{Cues, Game, Inputs, Player, Save, StateError, SyncTest, SyncTestError};
use std::cell::Cell;

/// Advances a counter when it is saved: as a core does that polls its pads while it serializes. The snapshot has the value
/// from before the save.
struct Polling {
    ball: Cell<Ball>,
    /// The counter is part of the state, or else changes nothing until it reaches this many steps without a save.
    fires_after: Option<u32>,
    unsaved_steps: Cell<u32>,
}

impl Save for Polling {
    type Snapshot = Ball;
    fn snapshot(&self) -> Ball {
        self.ball.get()
    }
    fn save(&self, slot: &mut Ball) -> Result<(), StateError> {
        *slot = self.ball.get();
        self.unsaved_steps.set(0);
        if self.fires_after.is_none() {
            self.ball.set(Ball { bounces: slot.bounces.wrapping_add(1), ..*slot });
        }
        Ok(())
    }
    fn restore(&mut self, snapshot: &Ball) -> Result<(), StateError> {
        self.ball.set(*snapshot);
        self.unsaved_steps.set(0);
        Ok(())
    }
}

impl Game for Polling {
    fn step(&mut self, inputs: Inputs, _: &mut Cues) {
        let mut ball = self.ball.get();
        ball.kick(inputs);
        self.unsaved_steps.set(self.unsaved_steps.get() + 1);
        ball.x += i32::from(self.fires_after.is_some_and(|after| self.unsaved_steps.get() == after));
        self.ball.set(ball);
    }
}

#[test]
fn save_that_changes_the_state_is_found() {
    for (fires_after, depths, field) in [(None, 1..=8, "bounces"), (Some(3), 3..=8, "x")] {
        for depth in depths {
            let mut game = Polling { ball: Cell::new(Ball::NEW), fires_after, unsaved_steps: Cell::new(0) };
            let mut test = SyncTest::with_fixed_depth(&game, depth);
            let error =
                (0..12).find_map(|frame| test.advance(&mut game, changing_inputs(frame)).err()).unwrap();
            let SyncTestError::Unsaved { frame, depth, ref fields } = error else { panic!("{error}") };
            assert_eq!(fields[0].path, field, "depth {depth}: {error}");
            let text = format!(
                "frame {frame}, depth {depth}: the same inputs led to another state when no frame was saved; \
                 does `save` change the game?\n  {field}: "
            );
            assert!(error.to_string().starts_with(&text), "{error}");
        }
    }
}

#[test]
fn every_trial_compares_two_steps_of_one_state() {
    for seed in 0..40 {
        // A turbo button counts outside the state. The players never press it, and only a trial reaches the counter.
        let mut turbo = 0;
        let step = |ball: &mut Ball, inputs: Inputs| {
            ball.kick(inputs);
            if inputs[Player::One].buttons().0 & 0x8000 != 0 {
                turbo += 1;
                ball.speed += turbo % 2;
            }
        };
        let mut game = Mistaken::new(step);
        let mut test = SyncTest::new(&game, 7, seed);
        let error = (0..16).find_map(|frame| test.advance(&mut game, changing_inputs(frame)).err()).unwrap();
        let SyncTestError::Trial { frame, ref fields } = error else { panic!("{error}") };
        assert!((9..16).contains(&frame.0) && fields.len() == 1 && fields[0].path == "speed", "{fields:?}");
        let text = format!(
            "frame {frame}, all inputs inverted: two steps of one state led to different states\n  speed: "
        );
        assert!(error.to_string().starts_with(&text), "{error}");
    }
}
