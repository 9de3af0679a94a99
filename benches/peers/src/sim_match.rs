//! A match of two machines on a link, in virtual time.

use crate::clock;
use crate::libs::{Library, Setup, machine};
use crate::link::{End, Link, Path, Shared};
use crate::world::{Script, World};
use std::cell::Cell;
use std::rc::Rc;

pub(crate) const FRAME_NS: u64 = 1_000_000_000 / 60;

/// Virtual time begins here. Libraries subtract from it.
const EPOCH_NS: u64 = 1_000_000_000_000;

/// How many frames before the end of a proof the buttons stop changing.
pub(crate) const QUIET_FRAMES: u32 = 120;

/// One machine: a library, its game and the loop that the library recommends.
pub(crate) trait Machine {
    /// One turn of the loop: receives, plays a frame if one is due, sends.
    fn turn(&mut self);
    /// When the next frame is due; before the match, when to try again.
    fn wake(&self) -> u64;
    /// The next frame to step; `None` before the match.
    fn frame(&self) -> Option<u32>;
    fn report(&self) -> Report;
    /// The checksum of the present state.
    fn state(&self) -> u32;
}

/// The account of a machine.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Report {
    /// How long frames that were due had to wait, in frames of a sixtieth of a second.
    pub(crate) stalled: u64,
    pub(crate) resimulated: u64,
}

/// When a machine gets a turn besides when its frame is due.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Wakes {
    /// Never: one turn a frame, as in a loop that waits for the display.
    Frames,
    /// Whenever a datagram arrives, as in a loop that polls many times a frame.
    Arrivals,
}

pub(crate) struct SimMatch {
    pub(crate) machines: [Box<dyn Machine>; 2],
    pub(crate) link: Shared,
    now: Rc<Cell<u64>>,
    wakes: Wakes,
}

impl SimMatch {
    pub(crate) fn new<W: World>(library: Library, setup: Setup, path: Path, wakes: Wakes, seed: u64) -> Self {
        let link = Link::new(path, seed);
        let now = Rc::new(Cell::new(EPOCH_NS + seed * FRAME_NS));
        clock::set(now.get());
        let machines = [0, 1]
            .map(|me| machine::<W>(library, setup, End { link: Rc::clone(&link), me, now: Rc::clone(&now) }));
        Self { machines, link, now, wakes }
    }

    pub(crate) fn now(&self) -> u64 {
        self.now.get()
    }

    /// Lets the machine that wakes first have its turn.
    fn turn(&mut self) {
        let wake = |me: usize| {
            let frame = self.machines[me].wake();
            match self.wakes {
                Wakes::Frames => frame,
                Wakes::Arrivals => frame.min(self.link.borrow().next_arrival(me)),
            }
        };
        let me = usize::from(wake(1) < wake(0));
        let at = wake(me).max(self.now.get());
        self.now.set(at);
        clock::set(at);
        self.machines[me].turn();
    }

    pub(crate) fn run_until(&mut self, done: impl Fn(&Self) -> bool) {
        clock::set(self.now.get());
        while !done(self) {
            self.turn();
        }
        clock::set(0);
    }

    pub(crate) fn run_for(&mut self, time_ns: u64) {
        let end = self.now.get() + time_ns;
        self.run_until(|sim| sim.now() >= end);
    }

    /// Runs until both machines have come to a frame.
    pub(crate) fn run_to_frame(&mut self, frame: u32) {
        self.run_until(|sim| sim.machines.iter().all(|machine| machine.frame() >= Some(frame)));
    }

    /// Runs until both are connected; how long it took.
    pub(crate) fn connect(&mut self) -> u64 {
        let begun = self.now();
        self.run_until(|sim| sim.machines.iter().all(|machine| machine.frame().is_some()));
        self.now() - begun
    }

    pub(crate) fn reports(&self) -> [Report; 2] {
        [0, 1].map(|me| self.machines[me].report())
    }
}

/// Plays a match to its end and compares both states with a direct simulation of the true inputs: a library that was
/// driven wrongly must not be measured.
pub(crate) fn prove<W: World>(library: Library, setup: Setup, path: Path, wakes: Wakes, bytes: usize) {
    let frames = 600;
    let script = Script { quiet_from: frames - QUIET_FRAMES, ..setup.script };
    let mut sim = SimMatch::new::<W>(library, Setup { script, ..setup }, path, wakes, 1);
    sim.connect();
    sim.run_to_frame(frames);
    for machine in &sim.machines {
        let report = machine.report();
        let expected = script.state_of::<W>(bytes, machine.frame().unwrap_or(0));
        assert_eq!(machine.state(), expected, "{}: {report:?}", library.name());
        assert!(path.latency_ns < FRAME_NS || report.resimulated > 50, "{}: {report:?}", library.name());
    }
}
