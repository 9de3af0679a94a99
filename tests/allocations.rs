//! Memory is taken when a match starts and not afterwards. A process of its own and without the test harness, whose
//! threads take memory when they please.

#[path = "../examples/playground/script.rs"]
#[allow(dead_code)]
mod script;
#[path = "../examples/playground/sim.rs"]
#[allow(dead_code)]
mod sim;

use rebout::replay::{Recorder, Replay};
use rebout::rollback::{Rollback, RollbackConfig};
use rebout::{Frame, Player, SyncTest, checksum};
use sim::Playground;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

struct Counting;

static CALLS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);

fn count(bytes: usize) {
    CALLS.fetch_add(1, Relaxed);
    BYTES.fetch_add(bytes as u64, Relaxed);
}

// SAFETY: every call is handed to the system's allocator as it is; only counters are touched besides.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        unsafe { System.realloc(pointer, layout, size) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Calls of the allocator, and bytes asked for, while `work` runs.
fn counted<R>(work: impl FnOnce() -> R) -> (u64, u64, R) {
    let before = (CALLS.load(Relaxed), BYTES.load(Relaxed));
    let result = work();
    (CALLS.load(Relaxed) - before.0, BYTES.load(Relaxed) - before.1, result)
}

fn main() {
    let (calls, bytes, _) = counted(|| std::hint::black_box(Box::new(5_u64)));
    assert_eq!((calls, bytes), (1, 8), "the counter counts");
    a_match_with_rollbacks_cues_and_a_recorder();
    a_sync_test();
    a_short_file_that_promises_millions_of_frames();
    println!("nothing is allocated once a match runs: ok");
}

fn a_match_with_rollbacks_cues_and_a_recorder() {
    let inputs = script::fight(11, 2_000).unwrap();
    let mut game = Playground::new(11).unwrap();
    let mut engine = Rollback::new(RollbackConfig::default(), &game);
    let mut recorder = Recorder::new(11);
    let mut heard = 0;
    let mut run = |from: usize, to: usize| {
        for now in from..to {
            engine.confirm(Player::One, Frame(now as u32), inputs[now][Player::One]).unwrap();
            // Late by two to seven frames, in bursts.
            while let late = engine.next_input(Player::Two).0 as usize
                && late + 2 + now / 9 % 6 <= now
            {
                engine.confirm(Player::Two, Frame(late as u32), inputs[late][Player::Two]).unwrap();
            }
            engine.advance(&mut game);
            recorder.record_settled(&engine);
            heard += engine.cues().len();
        }
        (engine.stats().rollbacks, heard)
    };
    let (warm_up, _) = run(0, 100);
    let (calls, bytes, (rollbacks, heard)) = counted(|| run(100, 2_000));
    assert!(rollbacks - warm_up >= 100, "{rollbacks} rollbacks");
    assert!(heard > 50, "{heard} cue events");
    assert_eq!((calls, bytes), (0, 0), "in {} rollbacks", rollbacks - warm_up);

    // A second match in the same memory takes no more.
    let (calls, ..) = counted(|| {
        engine.reset();
        recorder.reset(12);
        game = Playground::new(12).unwrap();
        engine.advance(&mut game)
    });
    assert_eq!(calls, 0);
}

fn a_sync_test() {
    let inputs = script::fight(5, 600).unwrap();
    let mut game = Playground::new(5).unwrap();
    let mut test = SyncTest::new(&game, 8, 1);
    let mut run = |range: std::ops::Range<usize>| {
        for inputs in &inputs[range] {
            test.advance(&mut game, *inputs).unwrap();
        }
        checksum(&game)
    };
    run(0..50);
    let (calls, ..) = counted(|| run(50..600));
    assert_eq!(calls, 0);
}

fn a_short_file_that_promises_millions_of_frames() {
    let mut file = Vec::new();
    Replay { seed: 1, inputs: script::fight(1, 10).unwrap() }.write(&mut file).unwrap();
    file[16..20].copy_from_slice(&(1_u32 << 24).to_le_bytes());
    let (_, bytes, result) = counted(|| (Replay::decode(&file).is_err(), Replay::read(&mut &*file).is_err()));
    assert_eq!(result, (true, true));
    assert!(bytes < 1_000, "{bytes} bytes for a file of {}", file.len());
}
