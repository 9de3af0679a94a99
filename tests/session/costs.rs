//! A match whose rollbacks take longer than a frame, by a made-up clock.

use rebout::lab::link::LinkConfig;
use rebout::lab::{Play, Setup, SimMatch, every_fourth};
use rebout::{Buttons, Cues, Event, Game, Inputs, Player, Save, StateError, fields};
use std::cell::Cell;
use std::time::Duration;

thread_local!(static CLOCK: Cell<Duration> = const { Cell::new(Duration::ZERO) });

fn stopwatch() -> Duration {
    CLOCK.get()
}

fn spend(micros: u64) {
    CLOCK.set(CLOCK.get() + Duration::from_micros(micros));
}

/// A core whose step takes 1.9 ms and whose save and restore take 0.5 ms.
struct Core(State);

#[derive(Clone, Copy)]
struct State {
    frame: u32,
    sum: u32,
}
fields!(State { frame, sum });

impl Save for Core {
    type Snapshot = State;
    fn snapshot(&self) -> State {
        self.0
    }
    fn save(&self, slot: &mut State) -> Result<(), StateError> {
        spend(500);
        *slot = self.0;
        Ok(())
    }
    fn restore(&mut self, snapshot: &State) -> Result<(), StateError> {
        spend(500);
        self.0 = *snapshot;
        Ok(())
    }
}

impl Game for Core {
    fn step(&mut self, inputs: Inputs, _: &mut Cues) {
        spend(1_900);
        self.0.frame += 1;
        for player in Player::BOTH {
            let held = u32::from(inputs[player].holds(Buttons(1)));
            self.0.sum = self.0.sum.wrapping_mul(31).wrapping_add(held);
        }
    }
}

fn play(stopwatch: Option<fn() -> Duration>, window: u8) -> SimMatch<Core> {
    let setup = Setup::new(7, LinkConfig::new(Duration::from_millis(70))).configure(|config| {
        config.rollback.stopwatch = stopwatch;
        config.rollback.window_frames = window;
    });
    let build = |seed| Core(State { frame: 0, sum: seed });
    let mut sim = SimMatch::new(setup, Play { build, script: every_fourth });
    assert!(sim.run_until_frame(900), "{sim:?}");
    assert_eq!(sim.flaw(true), None);
    sim
}

/// The slow rollbacks that a machine was told of: milliseconds, window and delay.
fn told(sim: &SimMatch<Core>, id: usize) -> Vec<(u128, u8, u8)> {
    let events = sim.machine(id).events.iter().filter_map(|(_, event)| match event {
        Event::SlowRollback { takes, window_frames, delay_frames } => {
            Some((takes.as_millis(), *window_frames, *delay_frames))
        }
        _ => None,
    });
    events.collect()
}

#[test]
fn game_is_told_once_that_its_rollbacks_take_too_long() {
    let sim = play(Some(stopwatch), 8);
    for id in 0..2 {
        // 0.5 + 8 * (1.9 + 0.5) + 1.9 ms. With 5 frames it is 14.4 ms, with 6 it would be 16.8.
        assert_eq!(told(&sim, id), [(21, 5, 2)]);
        let costs = sim.machine(id).stats().costs.expect("measured");
        assert_eq!((costs.step, costs.save), (Duration::from_micros(1_900), Duration::from_micros(500)));
    }
    let small = play(Some(stopwatch), 5);
    assert_eq!((told(&small, 0), told(&small, 1)), (vec![], vec![]), "it fits into a frame");
}

#[test]
fn packets_do_not_depend_on_the_stopwatch() {
    let [with, without] = [Some(stopwatch as fn() -> Duration), None].map(|stopwatch| play(stopwatch, 8));
    assert_eq!((told(&without, 0), without.machine(0).stats().costs), (vec![], None));
    assert_eq!(with.world.network().transcript().digest(), without.world.network().transcript().digest());
}
