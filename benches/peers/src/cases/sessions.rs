//! A session by itself: its memory, its allocations, the time to connect.

use super::Effort;
use crate::figures::{Case, Figures};
use crate::heap;
use crate::libs::{Library, Setup};
use crate::link::Path;
use crate::sim_match::{FRAME_NS, SimMatch, Wakes};
use crate::world::Small;

const SESSION: Case = Case {
    name: "session",
    title: "One session, 64 bytes of state, latency 4: KiB on the heap, calls of the allocator a frame, ms to connect",
    digits: 1,
};

const FRAMES: u32 = 600;

pub(crate) fn run(figures: &mut Figures, _: Effort) {
    let path = Path { latency_ns: 4 * FRAME_NS, loss_percent: 0 };
    for library in Library::ON_LINKS {
        // The link is allocated before the machines and is the same for all.
        let link_bytes = {
            heap::start();
            let link = crate::link::Link::new(path, 1);
            let bytes = heap::counts().live_bytes;
            drop(link);
            bytes
        };
        heap::start();
        let mut sim = SimMatch::new::<Small>(library, Setup::new(64, 4), path, Wakes::Arrivals, 1);
        let connected_ns = sim.connect();
        sim.run_to_frame(FRAMES);
        let warm = heap::counts();
        sim.run_to_frame(2 * FRAMES);
        let after = heap::counts();
        heap::stop();
        let kib = (after.live_bytes - link_bytes) as f64 / 2.0 / 1024.0;
        let calls = (after.calls - warm.calls) as f64 / 2.0 / f64::from(FRAMES);
        figures.add(SESSION, "KiB", 0.0, library, kib);
        figures.add(SESSION, "allocations a frame", 1.0, library, calls);
        figures.add(SESSION, "ms to connect", 2.0, library, connected_ns as f64 / 1e6);
    }
}
