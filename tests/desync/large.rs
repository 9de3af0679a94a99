//! Checksums of states that are too large to be hashed in one frame.

use core::time::Duration;
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::{Play, Setup, SimMatch, every_fourth};
use rebout::{Cues, Desync, Event, Game, Inputs, Player, Save, Session, StateError, fields};
use std::cell::Cell;
use std::rc::Rc;
use support::repeats;

const FRAME: f64 = 1.0 / 60.0;
/// 300 KiB: the most frames that a checksum takes.
const WORDS: usize = 300 * 1024 / 8;
const WRONG_AT: u32 = 95;

/// A machine's memory; the snapshot is all of it.
#[derive(Clone)]
struct Memory {
    frame: u32,
    sum: u32,
    words: Vec<u64>,
}
fields!(Memory { frame, sum, words });

struct Machine {
    memory: Memory,
    /// The frame into which the step goes wrong, in the last word.
    wrong_at: Option<u32>,
}

impl Save for Machine {
    type Snapshot = Memory;

    fn snapshot(&self) -> Memory {
        self.memory.clone()
    }

    fn save(&self, slot: &mut Memory) -> Result<(), StateError> {
        (slot.frame, slot.sum) = (self.memory.frame, self.memory.sum);
        slot.words.copy_from_slice(&self.memory.words);
        Ok(())
    }

    fn restore(&mut self, snapshot: &Memory) -> Result<(), StateError> {
        (self.memory.frame, self.memory.sum) = (snapshot.frame, snapshot.sum);
        self.memory.words.copy_from_slice(&snapshot.words);
        Ok(())
    }
}

impl Game for Machine {
    fn step(&mut self, inputs: Inputs, _: &mut Cues) {
        let memory = &mut self.memory;
        let [one, two] = inputs.0.map(|input| u32::from(input.buttons().0));
        memory.sum = memory.sum.rotate_left(5) ^ one ^ two << 16;
        memory.frame += 1;
        let at = memory.frame.wrapping_mul(0x9E37_79B1) as usize % WORDS;
        memory.words[at] = memory.words[at].rotate_left(7) ^ u64::from(memory.sum);
        if self.wrong_at == Some(memory.frame) {
            memory.words[WORDS - 1] ^= 1;
        }
    }
}

fn sim_match(seed: u64, cadence: u16, loss: u32) -> SimMatch<Machine> {
    let link = LinkConfig { loss: Chance::percent(loss), ..LinkConfig::new(Duration::from_millis(50)) };
    let setup = Setup::new(seed, link).configure(|config| config.cadence_frames = cadence);
    SimMatch::new(setup, Play { build, script: every_fourth })
}

fn build(seed: u32) -> Machine {
    Machine { memory: Memory { frame: 0, sum: seed, words: vec![7; WORDS] }, wrong_at: None }
}

#[test]
fn every_checksum_of_a_large_state_is_compared() {
    for (seed, cadence, loss) in [(1, 30, 0), (2, 30, 10), (3, 8, 5), (4, 5, 5), (5, 1, 0)] {
        let mut sim = sim_match(seed, cadence, loss);
        let frames = if cadence == 1 { 120 } else { repeats(480) };
        assert!(sim.run_until_frame(frames), "{sim:?}");
        assert_eq!(sim.flaw(true), None, "cadence {cadence}");
        for id in 0..2 {
            let machine = sim.machine(id);
            assert!(!machine.events.iter().any(|(_, event)| matches!(event, Event::Desync(_))));
            // A lost packet leaves out a checksum if a newer one overtakes it.
            let due = u64::from((frames - 40) / u32::from(cadence));
            let least = if loss == 0 { due } else { due / 2 };
            let compared = machine.stats().checksums_compared;
            assert!(compared >= least, "cadence {cadence}: {compared} of {due}");
        }
    }
}

#[test]
fn desync_of_a_large_state_is_noticed_in_eight_frames() {
    let mut sim = sim_match(7, 30, 0);
    sim.world.machine_mut(0).tamper = Some(|game, player| {
        if player == Player::One {
            game.wrong_at = Some(WRONG_AT);
        }
    });
    let reached = [0, 1].map(|id| {
        let reached = Rc::new(Cell::new(None));
        let kept = Rc::clone(&reached);
        sim.world.machine_mut(id).watch = Some(Box::new(move |now, _, session: &Session<Memory>, _| {
            if kept.get().is_none() && session.current().0 >= WRONG_AT {
                kept.set(Some(now));
            }
        }));
        reached
    });
    let told = |sim: &SimMatch<Machine>, id: usize| -> Option<(Duration, Desync)> {
        sim.machine(id).events.iter().find_map(|(at, event)| match event {
            Event::Desync(desync) => Some((*at, *desync)),
            _ => None,
        })
    };
    assert!(sim.run_until(Duration::from_secs(20), |sim| (0..2).all(|id| told(sim, id).is_some())));
    for (id, reached) in reached.iter().enumerate() {
        let (at, desync) = told(&sim, id).expect("told");
        assert_eq!((desync.frame.0, desync.last_match.map(|frame| frame.0)), (120, Some(90)));
        let from = reached.get().expect("it came to that frame before it told");
        let frames = at.saturating_sub(from).as_secs_f64() / FRAME;
        // Up to frame 120, a round trip of 6 frames, 8 of hashing.
        assert!((31.0..=25.0 + 6.0 + 8.0 + 2.0).contains(&frames), "told after {frames} frames");
    }
}
