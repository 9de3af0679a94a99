//! The saving policies beside each other, by the size of the state and by the weight of its step.
//!
//! `cargo bench --bench saving`: the time of `Saving::Sparse` against `Saving::Every`, from runs that alternate. Below 1 the
//! sparse policy is faster. It steps more and copies less, so that the weight of a step decides as much as the size; the
//! threshold of `Saving::Auto` comes from this table.

use rebout::rollback::{EngineConfig, Rollback};
use rebout::{Buttons, Cues, Frame, Game, Inputs, Player, Save, Saving, StateError, fields};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// A state on the heap, and how much of it a step changes: one word in so many.
#[derive(Clone)]
struct Block {
    sum: u64,
    words: Vec<u64>,
}
fields!(Block { sum, words });

struct Machine {
    block: Block,
    stride: usize,
}

impl Save for Machine {
    type Snapshot = Block;

    fn snapshot(&self) -> Block {
        self.block.clone()
    }

    fn save(&self, slot: &mut Block) -> Result<(), StateError> {
        slot.sum = self.block.sum;
        slot.words.copy_from_slice(&self.block.words);
        Ok(())
    }

    fn restore(&mut self, snapshot: &Block) -> Result<(), StateError> {
        self.block.sum = snapshot.sum;
        self.block.words.copy_from_slice(&snapshot.words);
        Ok(())
    }
}

impl Game for Machine {
    #[inline(never)]
    fn step(&mut self, inputs: Inputs, _: &mut Cues) {
        let [one, two] = inputs.0.map(|input| u64::from(input.buttons().0));
        let mut sum = self.block.sum.rotate_left(5) ^ one ^ two << 16;
        for word in self.block.words.iter_mut().step_by(self.stride) {
            sum = sum.rotate_left(7).wrapping_add(*word);
            *word = sum;
        }
        self.block.sum = sum;
    }
}

/// A match whose second player's inputs come `lag` frames late and change once in this many frames.
#[derive(Clone, Copy)]
struct Load {
    lag: u32,
    change_every: u32,
}

fn run(machine: &mut Machine, engine: &mut Rollback<Block>, load: Load, frames: u32) -> Duration {
    let begun = Instant::now();
    for now in (engine.current().0..).take(frames as usize) {
        engine.confirm(Player::One, Frame(now), Buttons::NONE).expect("in order");
        if let Some(late) = now.checked_sub(load.lag) {
            let held = Buttons((late / load.change_every) as u16 & 7);
            engine.confirm(Player::Two, Frame(late), held).expect("in order");
        }
        black_box(engine.advance(machine));
    }
    begun.elapsed()
}

/// The median of the ratios of both policies.
fn ratio(kib: usize, stride: usize, load: Load) -> f64 {
    let mut players = [Saving::Sparse, Saving::Every].map(|saving| {
        let machine = Machine { block: Block { sum: 1, words: vec![7; kib * 128 - 1] }, stride };
        // A session asks for the states with a checksum, one in thirty.
        let config = EngineConfig { saving, cadence_frames: 30, ..EngineConfig::default() };
        let engine = Rollback::new(config, &machine);
        (machine, engine)
    });
    let frames = (8 * 1024 / kib as u32).clamp(30, 600);
    let mut ratios: Vec<f64> = (0..31)
        .map(|_| {
            let [sparse, every] =
                players.each_mut().map(|(machine, engine)| run(machine, engine, load, frames).as_secs_f64());
            sparse / every
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}

fn main() {
    // `cargo test --benches` only asks whether it runs.
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
    let loads = [
        ("latency 4, inputs change every 4th frame", Load { lag: 4, change_every: 4 }),
        ("latency 4, inputs change every 15th frame", Load { lag: 4, change_every: 15 }),
        ("a rollback of 8 in every frame", Load { lag: 8, change_every: 1 }),
    ];
    for (name, load) in loads {
        println!("\n{name}: time of Sparse / Every\n");
        println!("| state | a step changes 1 word in 512 | 1 in 8 | all |\n|---|---|---|---|");
        for kib in [2, 8, 32, 64, 128, 256, 512, 1024, 4096] {
            let cells = [512, 8, 1].map(|stride| format!("{:.2}", ratio(kib, stride, load)));
            println!("| {kib} KiB | {} |", cells.join(" | "));
        }
    }
}
