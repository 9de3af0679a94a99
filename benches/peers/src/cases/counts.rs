//! Instructions a frame, counted by callgrind in a process of its own: two run lengths subtracted.

use super::Effort;
use crate::figures::{Case, Figures};
use crate::libs::{Library, Setup, fortress_sync_test, ggrs_sync_test};
use crate::link::Path;
use crate::sim_match::{FRAME_NS, SimMatch, Wakes, prove};
use crate::world::{Large, Script, Small, World};
use rebout::{Buttons, SyncTest};
use std::hint::black_box;
use std::process::{Command, Stdio};

const SHORT: u32 = 420;
const LONG: u32 = 1_620;
const DEPTH: u32 = 7;

const LIBRARIES: [Library; 4] = [Library::Floor, Library::Rebout, Library::Ggrs, Library::Fortress];

const WHOLE: Case = Case {
    name: "instructions",
    title: "Instructions a frame and peer, the whole process, 64 bytes of state",
    digits: 0,
};
const OWN: Case = Case {
    name: "instructions-own",
    title: "The same inside the calls of the library alone, without the game and the simulated link",
    digits: 0,
};
const BY_DEPTH: Case = Case {
    name: "instructions-depth",
    title: "Instructions a frame and peer, 64 bytes, a rollback in every frame, by its depth in frames",
    digits: 0,
};
const SYNC_TEST: Case =
    Case { name: "sync-test", title: "Sync test, depth 7: instructions a frame", digits: 0 };

/// A match that is counted: latency in half frames, and how often buttons change.
fn scene(half_frames: u64, change_every: u32) -> (Path, Setup) {
    let path = Path { latency_ns: FRAME_NS / 2 * half_frames, loss_percent: 0 };
    (path, Setup::new(64, change_every))
}

pub(crate) fn run(figures: &mut Figures, _: Effort) {
    if !valgrind() {
        return;
    }
    for (setting, half_frames, change) in [("no latency", 0, 4), ("latency 4, with rollbacks", 8, 4)] {
        for library in LIBRARIES {
            let (path, setup) = scene(half_frames, change);
            prove::<Small>(library, setup, path, Wakes::Frames, 64);
            let args = ["match", library.name(), &half_frames.to_string(), &change.to_string()];
            figures.add(WHOLE, setting, half_frames as f64, library, count(&args, false) / 2.0);
            if library != Library::Floor {
                figures.add(OWN, setting, half_frames as f64, library, count(&args, true) / 2.0);
            }
        }
    }
    for depth in [2_u32, 4, 6, 8] {
        let half_frames = 2 * depth - 1;
        for library in LIBRARIES {
            let args = ["match", library.name(), &half_frames.to_string(), "1"];
            figures.add(BY_DEPTH, &depth.to_string(), f64::from(depth), library, count(&args, false) / 2.0);
        }
    }
}

pub(crate) fn run_sync_tests(figures: &mut Figures, _: Effort) {
    if !valgrind() {
        return;
    }
    let settings = [
        ("64 bytes", "64", "all"),
        ("4 KiB of u64", "4096", "all"),
        ("4 KiB of u32", "4096-u32", "all"),
        ("4 KiB of u64, peers hash two words", "4096", "two"),
    ];
    for (row, (setting, state, hash)) in settings.into_iter().enumerate() {
        for library in Library::ON_LINKS {
            let args = ["sync-test", library.name(), state, hash];
            figures.add(SYNC_TEST, setting, row as f64, library, count(&args, false));
        }
    }
}

/// Plays what the arguments of [`count`] say, in the process that is counted.
pub(crate) fn play(args: &[String]) {
    let [kind, library, first, second, frames] = args else { panic!("five arguments, not {args:?}") };
    let frames = frames.parse().expect("a number");
    if kind == "server" {
        return super::servers::play(library, first, frames);
    }
    let library = Library::named(library).expect("a library");
    if kind == "match" {
        let (path, setup) = scene(first.parse().expect("a number"), second.parse().expect("a number"));
        let mut sim = SimMatch::new::<Small>(library, setup, path, Wakes::Frames, 1);
        sim.connect();
        sim.run_to_frame(frames);
        return;
    }
    match &**first {
        "64" => sync_test::<Small>(library, 64, frames, second == "two"),
        "4096" => sync_test::<Large<u64>>(library, 4096, frames, second == "two"),
        // For its time: callgrind counts each byte of a large copy as an instruction.
        "65536" => sync_test::<Large<u64>>(library, 65_536, frames, second == "two"),
        _ => sync_test::<Large<u32>>(library, 4096, frames, second == "two"),
    }
}

fn sync_test<W: World>(library: Library, bytes: usize, frames: u32, two_words: bool) {
    let script = Script { change_every: 4, quiet_from: u32::MAX };
    let hash = |world: &W| if two_words { world.two_words() } else { world.checksum() };
    match library {
        Library::Ggrs => ggrs_sync_test::<W>(bytes, DEPTH, frames, script, hash),
        Library::Fortress => fortress_sync_test::<W>(bytes, DEPTH, frames, script, hash),
        _ => {
            let mut world = W::new(bytes);
            let mut test = SyncTest::with_fixed_depth(&world, DEPTH);
            for frame in 0..frames {
                let held = [0, 1].map(|player| Buttons(script.held(player, frame)));
                test.advance(&mut world, held).expect("the game is deterministic");
            }
            black_box(world.checksum());
        }
    }
}

pub(super) fn valgrind() -> bool {
    let found = Command::new("valgrind").arg("--version").stdout(Stdio::null()).status().is_ok();
    if !found {
        eprintln!("counts: left out, because valgrind is not installed");
    }
    found
}

/// Instructions a frame, of both machines together.
fn count(args: &[&str; 4], own: bool) -> f64 {
    let counted = |frames| callgrind(args, frames, own);
    (counted(LONG) - counted(SHORT)) / f64::from(LONG - SHORT)
}

/// Instructions a frame inside the functions called `counted_`.
pub(super) fn count_own(args: &[&str; 4]) -> f64 {
    count(args, true)
}

fn callgrind(args: &[&str; 4], frames: u32, own: bool) -> f64 {
    let program = std::env::current_exe().expect("this program has a path");
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    if own {
        command.args(["--toggle-collect=*::counted_*", "--toggle-collect=*::aside_*"]);
    }
    command.arg(program).arg("--play").args(args).arg(frames.to_string());
    let output = command.output().expect("valgrind runs");
    let text = String::from_utf8_lossy(&output.stderr);
    let collected = text.lines().find_map(|line| line.split("Collected :").nth(1));
    let count: Option<f64> = collected.and_then(|count| count.trim().parse().ok());
    count.filter(|count| *count > 0.0).unwrap_or_else(|| panic!("valgrind said: {text}"))
}
