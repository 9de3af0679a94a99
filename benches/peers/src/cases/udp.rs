//! The loopback interface: each library with its own sockets, against the bare system calls of one datagram a frame.

use super::{Effort, median};
use crate::clock;
use crate::figures::{Case, Figures};
use crate::libs::{Library, Setup, udp};
use crate::sim_match::{FRAME_NS, Machine};
use crate::world::Small;
use std::cell::Cell;
use std::rc::Rc;

const UDP: Case = Case {
    name: "udp",
    title: "Loopback UDP: processor time against one send and two receives a frame",
    digits: 2,
};

const LIBRARIES: [Library; 4] = [Library::Floor, Library::Rebout, Library::Ggrs, Library::Fortress];
const FRAMES: u32 = 2_000;

struct Pair {
    machines: [Box<dyn Machine>; 2],
    now: Rc<Cell<u64>>,
}

impl Pair {
    /// Time passes a frame, and both have a turn.
    fn turn(&mut self) {
        self.now.set(self.now.get() + FRAME_NS + 1_000);
        clock::set(self.now.get());
        self.machines.iter_mut().for_each(|machine| machine.turn());
    }

    fn frames(&self) -> u32 {
        self.machines.iter().map(|machine| machine.frame().unwrap_or(0)).min().unwrap_or(0)
    }
}

pub(crate) fn run(figures: &mut Figures, effort: Effort) {
    let now = Rc::new(Cell::new(5_000_000_000_000_u64));
    clock::set(now.get());
    let mut pairs = LIBRARIES.map(|library| {
        let machines = udp::pair::<Small>(library, Setup::new(64, 4), &now).expect("sockets");
        let mut pair = Pair { machines, now: Rc::clone(&now) };
        while pair.frames() < 120 {
            pair.turn();
        }
        pair
    });
    let mut round = || {
        pairs.each_mut().map(|pair| {
            let (before, begun) = (clock::processor_ns(), pair.frames());
            (0..FRAMES).for_each(|_| pair.turn());
            let stepped = pair.frames() - begun;
            assert!(stepped > FRAMES - FRAMES / 50, "only {stepped} of {FRAMES} frames were stepped");
            (clock::processor_ns() - before) as f64 / f64::from(FRAMES)
        })
    };
    let rounds: Vec<[f64; 4]> = (0..effort.rounds).map(|_| round()).collect();
    clock::set(0);
    for (at, library) in LIBRARIES.into_iter().enumerate() {
        let ratio = median(rounds.iter().map(|times| times[at] / times[0]).collect());
        figures.add(UDP, "64 B", 0.0, library, ratio);
    }
}
