//! Memory is taken when a match starts and not afterwards. A process of its own and without the test harness, whose
//! threads take memory when they please.

mod authority;
mod engine;
mod net;
mod replay;
mod session;

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
    authority::all();
    engine::all();
    net::all();
    replay::all();
    session::all();
}
