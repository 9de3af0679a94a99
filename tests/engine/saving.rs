//! The saving policies: every one leads to the same states, cues and ends, and a sparse one saves less.

use proptest::prelude::*;
use rebout::rollback::{Advance, EngineConfig, MAX_WINDOW, Rollback, RollbackStats};
use rebout::{
    Buttons, Cue, CueEvent, Cues, Frame, Game, Input, Inputs, Player, Prediction, Save, Saving, StateError,
    fields,
};
use std::cell::Cell;

/// A sum over all inputs: one step too many, too few or on another input shows in every later state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sum {
    frame: u32,
    sum: u32,
}
fields!(Sum { frame, sum });

/// Counts what is done to it, which no snapshot holds.
#[derive(Debug)]
struct Counted {
    state: Sum,
    last: u32,
    steps: u32,
    saves: Cell<u32>,
    restores: u32,
}

impl Counted {
    fn new(last: u32) -> Self {
        Self { state: Sum { frame: 0, sum: 1 }, last, steps: 0, saves: Cell::new(0), restores: 0 }
    }
}

impl Save for Counted {
    type Snapshot = Sum;

    fn snapshot(&self) -> Sum {
        self.state
    }

    fn save(&self, slot: &mut Sum) -> Result<(), StateError> {
        self.saves.set(self.saves.get() + 1);
        *slot = self.state;
        Ok(())
    }

    fn restore(&mut self, snapshot: &Sum) -> Result<(), StateError> {
        self.restores += 1;
        self.state = *snapshot;
        Ok(())
    }
}

impl Game for Counted {
    fn step(&mut self, inputs: Inputs, cues: &mut Cues) {
        let [one, two] = inputs.0.map(|input| u32::from(input.buttons().0));
        let Sum { frame, sum } = &mut self.state;
        *sum = (sum.rotate_left(7) ^ one ^ two << 8).wrapping_mul(0x9E37_79B1);
        *frame += 1;
        if *sum & 3 == 0 {
            cues.emit(Cue(*sum >> 28));
        }
        self.steps += 1;
    }

    fn finished(&self) -> bool {
        self.state.frame >= self.last
    }
}

/// Everything that a caller sees of one advance.
#[derive(Debug, PartialEq)]
struct Seen {
    outcome: Advance,
    state: Sum,
    frames: [Frame; 3],
    ended: Option<Frame>,
    cues: Vec<CueEvent>,
    stats: RollbackStats,
}

#[derive(Debug, Clone)]
struct Schedule {
    held: Vec<[u8; 2]>,
    arrivals: Vec<[u8; 2]>,
    window: u32,
    cadence: u32,
    policy: usize,
    last: u32,
}

const POLICIES: [Prediction; 3] = [
    Prediction::RepeatLast,
    Prediction::Neutral,
    Prediction::Custom(|[last, ..], ahead| if ahead > 2 { (!last.buttons()).into() } else { last }),
];

fn schedules() -> impl Strategy<Value = Schedule> {
    (
        prop::collection::vec([0_u8..3, 0_u8..3], 1..60),
        prop::collection::vec([0_u8..4, 0_u8..4], 1..200),
        (0..=MAX_WINDOW + 1).prop_map(|window| if window > MAX_WINDOW { u32::MAX } else { window }),
        prop::sample::select(vec![0_u32, 1, 2, 3, 5, 7, 8, 13, 30, u32::MAX]),
        0..POLICIES.len(),
        0_u32..200,
    )
        .prop_map(|(held, arrivals, window, cadence, policy, last)| Schedule {
            held,
            arrivals,
            window,
            cadence,
            policy,
            last,
        })
}

impl Schedule {
    fn held(&self, player: Player, frame: Frame) -> Input {
        // Held for three frames each.
        Buttons(u16::from(self.held[frame.0 as usize / 3 % self.held.len()][player.index()])).into()
    }

    /// Plays to the end of the match. Every snapshot that can be seen is that of a direct run.
    fn play(&self, saving: Saving) -> (Vec<Seen>, u64) {
        let states = self.direct();
        let mut game = Counted::new(self.last);
        let config = EngineConfig {
            window: self.window,
            prediction: POLICIES[self.policy],
            saving,
            cadence_frames: self.cadence,
            ..EngineConfig::default()
        };
        let mut engine = Rollback::new(config, &game);
        let mut arrivals = self.arrivals.iter().copied().chain(std::iter::repeat([1, 1]));
        let mut seen = Vec::new();
        while engine.ended().is_none() {
            for (player, count) in Player::BOTH.into_iter().zip(arrivals.next().unwrap()) {
                for _ in 0..count {
                    let next = engine.next_input(player);
                    let _too_far_ahead = engine.confirm(player, next, self.held(player, next));
                }
            }
            let (steps, restores) = (game.steps, game.restores);
            let outcome = engine.advance(&mut game);
            let window = self.window.min(MAX_WINDOW);
            let most = if outcome == Advance::Ended { 4 * window + 1 } else { (2 * window).max(1) };
            assert!(game.steps - steps <= most, "at most twice the window, and again to the end of a match");
            assert!(game.restores - restores <= 2);
            let newly = engine.newly_settled();
            for frame in newly.start.until(newly.end) {
                let wanted = self.cadence > 0 && frame.0.is_multiple_of(self.cadence);
                let snapshot = engine.snapshot(frame);
                assert!(snapshot.is_some() || !wanted, "the caller needs frame {frame}");
                assert!(snapshot.is_none_or(|state| *state == states[frame.0 as usize]), "{frame}");
            }
            let mut stats = *engine.stats();
            stats.replayed_frames = 0;
            seen.push(Seen {
                outcome,
                state: game.state,
                frames: [engine.current(), newly.start, newly.end],
                ended: engine.ended(),
                cues: engine.cues().to_vec(),
                stats,
            });
        }
        let end = engine.ended().unwrap();
        assert_eq!(engine.snapshot(end), Some(&states[end.0 as usize]), "the last state is kept");
        assert_eq!(game.state, states[end.0 as usize]);
        (seen, engine.stats().replayed_frames)
    }

    fn direct(&self) -> Vec<Sum> {
        let (mut game, mut cues) = (Counted::new(self.last), Cues::new());
        let mut states = vec![game.state];
        for frame in 0..self.last {
            cues.clear();
            game.step(Inputs(Player::BOTH.map(|player| self.held(player, Frame(frame)))), &mut cues);
            states.push(game.state);
        }
        states
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn every_policy_shows_the_same_match(schedule in schedules()) {
        let (every, replayed) = schedule.play(Saving::Every);
        prop_assert_eq!(replayed, 0);
        let (sparse, _) = schedule.play(Saving::Sparse);
        prop_assert_eq!(every, sparse);
    }
}

/// Frames stepped, saved and restored in 600 frames, player two's input `lag` frames late and changing every so many.
fn cost(saving: Saving, lag: u32, change_every: u32) -> [u32; 3] {
    let mut game = Counted::new(u32::MAX);
    let mut engine = Rollback::new(EngineConfig { saving, ..EngineConfig::default() }, &game);
    for now in 0..600 {
        engine.confirm(Player::One, Frame(now), Buttons::NONE).unwrap();
        if let Some(late) = now.checked_sub(lag) {
            let held = Buttons((late / change_every % 5) as u16);
            engine.confirm(Player::Two, Frame(late), held).unwrap();
        }
        assert_eq!(engine.advance(&mut game), Advance::Stepped);
    }
    [game.steps, game.saves.get(), game.restores]
}

#[test]
fn sparse_policy_saves_once_a_rollback_and_once_in_a_window() {
    assert_eq!(cost(Saving::Every, 8, 1), [600 + 8 * 591, 600 + 7 * 591, 591]);
    let [steps, saves, restores] = cost(Saving::Sparse, 8, 1);
    assert!(steps <= 600 + 9 * 591 && (591..=620).contains(&saves) && restores == 591, "{steps} {saves}");
    assert_eq!(cost(Saving::Sparse, 8, 600), [600, 600 / 8, 0], "nothing is mispredicted");
    assert_eq!(cost(Saving::Sparse, 0, 1), [600, 0, 0], "nothing is predicted");
}

#[test]
fn caller_that_needs_every_frame_gets_every_frame() {
    let mut game = Counted::new(u32::MAX);
    let config = EngineConfig { saving: Saving::Sparse, cadence_frames: 1, ..EngineConfig::default() };
    let mut engine = Rollback::new(config, &game);
    for frame in 0..5 {
        for player in Player::BOTH {
            engine.confirm(player, Frame(frame), Buttons(1)).unwrap();
        }
        engine.advance(&mut game);
        assert_eq!(engine.snapshot(Frame(frame)).map(|state| state.frame), Some(frame));
    }
}
