//! Bad links: stalls and packets by loss, and freezes by blackouts. Virtual time, the same on every machine.

use super::Effort;
use crate::figures::{Case, Figures};
use crate::libs::{Library, Setup};
use crate::link::Path;
use crate::sim_match::{FRAME_NS, SimMatch, Wakes, prove};
use crate::world::Small;

const STALLS_4: Case =
    Case { name: "stalls-4", title: "Frames stalled at latency 4, percent, by loss", digits: 3 };
const STALLS_6: Case =
    Case { name: "stalls-6", title: "Frames stalled at latency 6, percent, by loss", digits: 3 };
const SHALLOW_6: Case = Case {
    name: "stalls-6-depth-7",
    title: "The same at a depth of 7: a window of 7 here, of 8 there",
    digits: 3,
};
const PACED_6: Case = Case {
    name: "stalls-6-paced",
    title: "The same at a depth of 8, with GGRS and Fortress slowing down by `frames_ahead` as in their example",
    digits: 3,
};
const PACKETS: Case =
    Case { name: "packets", title: "Packets a second and machine at latency 4, by loss", digits: 1 };
const BYTES: Case = Case {
    name: "bytes",
    title: "Bytes a second and machine at latency 4, with headers of UDP and IPv4, by loss",
    digits: 0,
};
const BLACKOUTS: Case = Case {
    name: "blackouts",
    title: "Frames frozen by a blackout at latency 4: of a hundred blackouts, 99 freeze no longer",
    digits: 0,
};

const LOSSES: [u32; 6] = [0, 1, 2, 5, 10, 20];
const MATCHES: u64 = 4;
const WARM_UP_NS: u64 = 2_000_000_000;

struct Measured {
    stalled_percent: f64,
    packets_per_s: f64,
    bytes_per_s: f64,
}

fn measure(library: Library, setup: Setup, path: Path, seconds: u64) -> Measured {
    let (mut frames, mut stalled, mut packets, mut bytes) = (0, 0, 0, 0);
    let mut time_ns = 0;
    for seed in 1..=MATCHES {
        let mut sim = SimMatch::new::<Small>(library, setup, path, Wakes::Arrivals, seed);
        sim.connect();
        sim.run_for(WARM_UP_NS);
        let before = (totals(&sim), sim.now());
        sim.run_for(seconds * 1_000_000_000 / MATCHES);
        let after = totals(&sim);
        time_ns += sim.now() - before.1;
        frames += after.frames - before.0.frames;
        stalled += after.stalled - before.0.stalled;
        packets += after.packets - before.0.packets;
        bytes += after.bytes - before.0.bytes;
    }
    let machine_seconds = 2.0 * time_ns as f64 / 1e9;
    Measured {
        stalled_percent: 100.0 * stalled as f64 / (frames + stalled) as f64,
        packets_per_s: packets as f64 / machine_seconds,
        bytes_per_s: bytes as f64 / machine_seconds,
    }
}

/// Both machines taken together.
struct Totals {
    frames: u64,
    stalled: u64,
    packets: u64,
    bytes: u64,
}

fn totals(sim: &SimMatch) -> Totals {
    let link = sim.link.borrow();
    Totals {
        frames: sim.machines.iter().map(|machine| u64::from(machine.frame().unwrap_or(0))).sum(),
        stalled: sim.reports().iter().map(|report| report.stalled).sum(),
        packets: link.sent.iter().map(|sent| sent.packets).sum(),
        bytes: link.sent.iter().map(|sent| sent.bytes).sum(),
    }
}

/// GGRS and Fortress do not slow down: two machines with equal clocks stall less often without it.
fn setup() -> Setup {
    Setup { paced: false, ..Setup::new(64, 4) }
}

pub(crate) fn run(figures: &mut Figures, effort: Effort) {
    let setup = setup();
    let path = |latency: u64, loss_percent| Path { latency_ns: latency * FRAME_NS, loss_percent };
    for library in Library::ON_LINKS {
        prove::<Small>(library, setup, path(4, 10), Wakes::Arrivals, 64);
    }
    for loss in LOSSES {
        let setting = format!("{loss} %");
        for library in Library::ON_LINKS {
            let mut add = |case, value| figures.add(case, &setting, f64::from(loss), library, value);
            let near = measure(library, setup, path(4, loss), effort.seconds);
            add(STALLS_4, near.stalled_percent);
            add(PACKETS, near.packets_per_s);
            add(BYTES, near.bytes_per_s);
            add(STALLS_6, measure(library, setup, path(6, loss), effort.seconds).stalled_percent);
        }
    }
    for loss in [5, 20] {
        let setting = format!("{loss} %");
        for library in Library::ON_LINKS {
            let shallow = Setup { depth_frames: 7, ..setup };
            let percent = measure(library, shallow, path(6, loss), effort.seconds).stalled_percent;
            figures.add(SHALLOW_6, &setting, f64::from(loss), library, percent);
        }
        for library in [Library::Ggrs, Library::Fortress] {
            let paced = Setup { paced: true, ..setup };
            let percent = measure(library, paced, path(6, loss), effort.seconds).stalled_percent;
            figures.add(PACED_6, &setting, f64::from(loss), library, percent);
        }
    }
}

/// Time for a match to recover from a blackout.
const BLACKOUT_EVERY_NS: u64 = 6_000_000_000;

pub(crate) fn run_blackouts(figures: &mut Figures, _: Effort) {
    let path = Path { latency_ns: 4 * FRAME_NS, loss_percent: 0 };
    for frames in [10, 20, 40] {
        for library in Library::ON_LINKS {
            let mut sim = SimMatch::new::<Small>(library, setup(), path, Wakes::Arrivals, 1);
            sim.connect();
            sim.run_for(WARM_UP_NS);
            let mut freezes = Vec::new();
            for _ in 0..100 {
                let before = sim.reports();
                // At any phase of the frames.
                let phase = sim.link.borrow_mut().draw(60 * FRAME_NS);
                let start = sim.now() + phase;
                sim.link.borrow_mut().cut(start, start + frames * FRAME_NS);
                sim.run_for(BLACKOUT_EVERY_NS);
                for (after, before) in sim.reports().iter().zip(before) {
                    freezes.push(after.stalled - before.stalled);
                }
            }
            freezes.sort_unstable();
            let frozen = freezes[(freezes.len() * 99).div_ceil(100) - 1];
            let setting = format!("{frames} frames");
            figures.add(BLACKOUTS, &setting, frames as f64, library, frozen as f64);
        }
    }
}
