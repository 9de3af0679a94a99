//! Processor time, as a ratio to the loop by hand and by the size of the state. All libraries take turns in one run.

use super::{Effort, median};
use crate::clock;
use crate::figures::{Case, Figures};
use crate::libs::{Library, Setup};
use crate::link::Path;
use crate::sim_match::{FRAME_NS, SimMatch, Wakes, prove};
use crate::world::{Large, Small, World};

const STATES: Case = Case {
    name: "states",
    title: "Processor time against the loop by hand: latency 4, a rollback in 4 frames, checksums on, by state",
    digits: 2,
};
const ROLLBACK: Case = Case {
    name: "rollback",
    title: "A rollback of 8 frames in every frame, no checksums: processor time of a frame and peer in ms, by state",
    digits: 3,
};
const LARGEST: Case = Case {
    name: "largest",
    title: "The largest state that such a frame leaves time for at 60 Hz, in MiB",
    digits: 1,
};

const KIB: usize = 1024;

/// The largest state that is tried: two machines with ten copies each have to fit the memory.
const MAX_MIB: f64 = 128.0;

/// The frames before anything is measured: every slot has been used, and every frame rolls back.
const WARM_UP: u32 = 24;

/// The processor time of each library for this many frames of a peer, in turns.
struct Race {
    sims: Vec<(Library, SimMatch)>,
    frames: u32,
    reached: u32,
}

impl Race {
    fn new<W: World>(libraries: &[Library], setup: Setup, path: Path, frames: u32) -> Self {
        let start = |library: &Library| {
            let mut sim = SimMatch::new::<W>(*library, setup, path, Wakes::Frames, 1);
            sim.connect();
            sim.run_to_frame(WARM_UP);
            (*library, sim)
        };
        Self { sims: libraries.iter().map(start).collect(), frames, reached: WARM_UP }
    }

    /// Nanoseconds a frame and peer of each library.
    fn round(&mut self) -> Vec<f64> {
        self.reached += self.frames;
        let (frames, reached) = (self.frames, self.reached);
        let time = |(_, sim): &mut (Library, SimMatch)| {
            let before = clock::processor_ns();
            sim.run_to_frame(reached);
            (clock::processor_ns() - before) as f64 / f64::from(frames) / 2.0
        };
        self.sims.iter_mut().map(time).collect()
    }
}

pub(crate) fn run(figures: &mut Figures, effort: Effort) {
    let sizes = [("64 B", 64), ("4 KiB", 4 * KIB), ("64 KiB", 64 * KIB), ("1 MiB", 1024 * KIB)];
    for (setting, bytes) in sizes {
        if bytes == 64 {
            race::<Small>(figures, setting, bytes, effort);
        } else {
            race::<Large<u64>>(figures, setting, bytes, effort);
        }
    }
}

fn race<W: World>(figures: &mut Figures, setting: &str, bytes: usize, effort: Effort) {
    let path = Path { latency_ns: 4 * FRAME_NS, loss_percent: 0 };
    let setup = Setup::new(bytes, 4);
    let libraries: Vec<Library> =
        Library::ALL.into_iter().filter(|library| competes(*library, bytes)).collect();
    for library in &libraries {
        prove::<W>(*library, setup, path, Wakes::Frames, bytes);
    }
    // Whole seconds, so that every run has as many checksums.
    let frames = if bytes >= 256 * KIB { 120 } else { 600 };
    let mut race = Race::new::<W>(&libraries, setup, path, frames);
    let rounds: Vec<Vec<f64>> = (0..effort.rounds).map(|_| race.round()).collect();
    for (at, library) in libraries.into_iter().enumerate() {
        let ratio = median(rounds.iter().map(|times| times[at] / times[0]).collect());
        figures.add(STATES, setting, bytes as f64, library, ratio);
    }
}

/// Whether a library has a figure of its own for states of this size. The game on pages is for large ones.
fn competes(library: Library, bytes: usize) -> bool {
    library != Library::ReboutPages || bytes >= 64 * KIB
}

/// A rollback of 8 frames in every frame: inputs arrive just in time, and each is another one.
fn worst(bytes: usize) -> (Setup, Path) {
    let setup = Setup { checksums: false, ..Setup::new(bytes, 1) };
    (setup, Path { latency_ns: FRAME_NS / 2 * 15, loss_percent: 0 })
}

pub(crate) fn run_rollbacks(figures: &mut Figures, effort: Effort) {
    for (setting, kib) in [("64 KiB", 64), ("256 KiB", 256), ("1 MiB", 1024), ("4 MiB", 4096)] {
        let (setup, path) = worst(kib * KIB);
        let frames = if kib > 1024 { 20 } else { 60 };
        let mut race = Race::new::<Large<u64>>(&Library::ALL, setup, path, frames);
        let rounds: Vec<Vec<f64>> = (0..effort.rounds).map(|_| race.round()).collect();
        for (at, library) in Library::ALL.into_iter().enumerate() {
            let ms = median(rounds.iter().map(|times| times[at] / 1e6).collect());
            figures.add(ROLLBACK, setting, kib as f64, library, ms);
        }
    }
}

pub(crate) fn run_largest(figures: &mut Figures, _: Effort) {
    for library in Library::ALL {
        figures.add(LARGEST, "MiB", 0.0, library, largest(library));
    }
}

/// Looks for the largest state whose frame takes at most a sixtieth of a second, by halves.
///
/// Time does not grow evenly with size: from 32 MiB on, the system's allocator asks the kernel for every copy.
fn largest(library: Library) -> f64 {
    let (mut fits, mut too_large) = (1.0_f64, MAX_MIB);
    for _ in 0..8 {
        let mib = (fits * too_large).sqrt();
        let (setup, path) = worst((mib * 1024.0) as usize * KIB);
        let mut race = Race::new::<Large<u64>>(&[library], setup, path, 10);
        let ns = median((0..3).map(|_| race.round()[0]).collect());
        *(if ns <= FRAME_NS as f64 { &mut fits } else { &mut too_large }) = mib;
    }
    fits
}
