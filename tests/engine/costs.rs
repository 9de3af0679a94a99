//! Measured costs, by a made-up clock that the game itself moves on.

use rebout::rollback::{Advance, EngineConfig, Rollback};
use rebout::{Buttons, Cues, Frame, Game, Inputs, Player, Save, Saving, StateError, fields};
use std::cell::Cell;
use std::time::Duration;

thread_local!(static CLOCK: Cell<Duration> = const { Cell::new(Duration::ZERO) });

fn stopwatch() -> Duration {
    CLOCK.get()
}

fn spend(micros: u64) {
    CLOCK.set(CLOCK.get() + Duration::from_micros(micros));
}

#[derive(Clone)]
struct Memory {
    sum: u64,
    words: Vec<u64>,
}
fields!(Memory { sum, words });

/// A core whose step, save and restore take so many microseconds.
struct Core {
    memory: Memory,
    step: u64,
    /// In addition, if the step is shown.
    draw: u64,
    save: u64,
    /// Whether the first state is a barrier.
    begins_barred: bool,
    steps: u32,
    saves: Cell<u32>,
}

impl Core {
    fn new(kib: usize, step: u64, save: u64) -> Self {
        let memory = Memory { sum: 1, words: vec![7; kib * 128] };
        Self { memory, step, draw: 1_000, save, begins_barred: false, steps: 0, saves: Cell::new(0) }
    }
}

impl Save for Core {
    type Snapshot = Memory;
    fn snapshot(&self) -> Memory {
        self.memory.clone()
    }
    fn save(&self, slot: &mut Memory) -> Result<(), StateError> {
        spend(self.save);
        self.saves.set(self.saves.get() + 1);
        slot.clone_from(&self.memory);
        Ok(())
    }
    fn restore(&mut self, snapshot: &Memory) -> Result<(), StateError> {
        spend(self.save / 2);
        self.memory.clone_from(snapshot);
        Ok(())
    }
}

impl Game for Core {
    fn step(&mut self, inputs: Inputs, cues: &mut Cues) {
        spend(self.step + if cues.is_shown() { self.draw } else { 0 });
        self.steps += 1;
        let [one, two] = inputs.0.map(|input| u64::from(input.buttons().0));
        self.memory.sum = self.memory.sum.rotate_left(5) ^ one ^ two << 16;
        let at = self.memory.sum as usize % self.memory.words.len();
        self.memory.words[at] = self.memory.words[at].wrapping_add(self.memory.sum);
    }

    fn barrier(&self) -> bool {
        self.begins_barred && self.memory.sum == 1
    }
}

fn config(saving: Saving) -> EngineConfig {
    EngineConfig { saving, cadence_frames: 30, stopwatch: Some(stopwatch), ..EngineConfig::default() }
}

/// Plays frames; the second player's inputs come four frames late and change every third frame.
fn play(core: &mut Core, config: EngineConfig, frames: u32) -> Rollback<Memory> {
    let mut engine = Rollback::new(config, core);
    for now in 0..frames {
        engine.confirm(Player::One, Frame(now), Buttons::NONE).unwrap();
        if let Some(late) = now.checked_sub(4) {
            engine.confirm(Player::Two, Frame(late), Buttons((late / 3 % 5) as u16)).unwrap();
        }
        assert_eq!(engine.advance(core), Advance::Stepped);
    }
    engine
}

/// Whether the policy has kept few states only.
fn is_sparse(engine: &Rollback<Memory>) -> bool {
    (engine.current().0 - 6..engine.current().0).any(|frame| engine.snapshot(Frame(frame)).is_none())
}

#[test]
fn auto_weighs_a_save_against_a_step() {
    let unmeasured = EngineConfig { stopwatch: None, ..config(Saving::Auto) };
    for (kib, step, save, measured, by_size) in [
        (320, 1_200, 500, false, false),
        (200, 5, 20, true, false),
        (1_024, 1_200, 500, false, true),
        (1_024, 90, 100, true, true),
        (15, 5, 20, false, false),
        // A clock that is too coarse to tell.
        (320, 0, 0, false, false),
        (1_024, 0, 0, true, true),
    ] {
        let chosen = [config(Saving::Auto), unmeasured]
            .map(|config| is_sparse(&play(&mut Core::new(kib, step, save), config, 40)));
        assert_eq!(chosen, [measured, by_size], "{kib} KiB, {step} us a step, {save} us a save");
    }
    assert!(!is_sparse(&play(&mut Core::new(200, 5, 20), config(Saving::Every), 40)), "it is named");
    assert!(is_sparse(&play(&mut Core::new(320, 1_200, 500), config(Saving::Sparse), 40)), "it is named");
    let every = EngineConfig { cadence_frames: 1, ..config(Saving::Auto) };
    assert!(!is_sparse(&play(&mut Core::new(200, 5, 20), every, 40)), "the caller needs all states");
}

#[test]
fn choice_of_a_policy_leaves_no_trace_in_the_match() {
    let states = [(5, 20), (1_200, 500)].map(|(step, save)| {
        [Some(stopwatch as fn() -> Duration), None].map(|stopwatch| {
            let mut core = Core::new(200, step, save);
            let engine = play(&mut core, EngineConfig { stopwatch, ..config(Saving::Auto) }, 100);
            let stats = engine.stats();
            (core.memory.sum, core.memory.words, stats.rollbacks, stats.resimulated_frames)
        })
    });
    assert!(states.iter().flatten().all(|state| *state == states[0][0]));

    // A barrier is stepped once in a match, and not to try it out.
    let mut barred = Core { begins_barred: true, ..Core::new(200, 5, 20) };
    let mut engine = Rollback::new(config(Saving::Auto), &barred);
    assert_eq!((engine.advance(&mut barred), barred.steps), (Advance::Stalled, 0));
    for player in Player::BOTH {
        engine.confirm(player, Frame(0), Buttons::NONE).unwrap();
    }
    assert_eq!((engine.advance(&mut barred), barred.steps), (Advance::Stepped, 1));

    let (mut small, mut named) = (Core::new(15, 5, 20), Core::new(200, 5, 20));
    let engines = [play(&mut small, config(Saving::Auto), 1), play(&mut named, config(Saving::Every), 1)];
    assert_eq!((small.steps, named.steps, engines.map(|engine| engine.current().0)), (1, 1, [1, 1]));
}

#[test]
fn costs_are_those_of_the_clock() {
    let us = Duration::from_micros;
    for saving in [Saving::Every, Saving::Sparse] {
        let mut core = Core::new(1, 1_200, 500);
        let engine = play(&mut core, config(saving), 64);
        assert_eq!(engine.costs(), None, "nothing was measured yet");
        let engine = play(&mut core, config(saving), 65);
        let costs = engine.costs().expect("a frame was measured");
        assert_eq!((costs.step, costs.resimulated_step), (us(2_200), us(2_200)), "{saving:?}");
        assert_eq!((costs.save, costs.restore), (us(500), us(500)), "{saving:?}: no rollback was measured");
        let costs = play(&mut core, config(saving), 300).costs().expect("and some more");
        assert_eq!((costs.step, costs.save, costs.restore), (us(2_200), us(500), us(250)), "{saving:?}");
        // The base that a sparse policy saves on the way counts as stepping.
        let most = if saving == Saving::Every { 1_200 } else { 1_200 + 500 };
        assert!((us(1_200)..=us(most)).contains(&costs.resimulated_step), "{saving:?}: {costs:?}");
    }
    let unmeasured = EngineConfig { stopwatch: None, ..config(Saving::Every) };
    assert_eq!(play(&mut Core::new(1, 1_200, 500), unmeasured, 300).costs(), None);
}

#[test]
fn costs_follow_a_game_that_grows_heavier_and_forget_an_outlier() {
    let us = Duration::from_micros;
    let mut core = Core { draw: 0, ..Core::new(1, 100, 10) };
    let mut engine = Rollback::new(config(Saving::Every), &core);
    let mut run = |core: &mut Core, frames: u32| {
        for frame in (engine.current().0..).take(frames as usize).map(Frame) {
            for player in Player::BOTH {
                engine.confirm(player, frame, Buttons::NONE).unwrap();
            }
            engine.advance(core);
        }
        engine.costs().map(|costs| costs.step)
    };
    assert_eq!(run(&mut core, 64 + 1), Some(us(100)));
    core.step = 50_000; // the system took the processor away
    assert_eq!(run(&mut core, 64), Some(us(150)), "at most doubled, and 100 us, by a quarter");
    core.step = 100;
    assert!(run(&mut core, 4 * 64).unwrap() < us(120));
    core.step = 400;
    assert!((us(390)..=us(400)).contains(&run(&mut core, 16 * 64).unwrap()));
}
