//! An allocator that counts, while it is told to.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

pub(crate) struct Counting;

static ON: AtomicBool = AtomicBool::new(false);
static CALLS: AtomicU64 = AtomicU64::new(0);
static LIVE: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is handed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if ON.load(Relaxed) {
            CALLS.fetch_add(1, Relaxed);
            LIVE.fetch_add(layout.size() as u64, Relaxed);
        }
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        if ON.load(Relaxed) {
            LIVE.fetch_sub(layout.size() as u64, Relaxed);
        }
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }
}

/// Calls of the allocator and bytes that are still allocated, since counting began.
#[derive(Clone, Copy)]
pub(crate) struct Counts {
    pub(crate) calls: u64,
    pub(crate) live_bytes: u64,
}

/// Begins to count from zero.
pub(crate) fn start() {
    CALLS.store(0, Relaxed);
    LIVE.store(0, Relaxed);
    ON.store(true, Relaxed);
}

pub(crate) fn counts() -> Counts {
    Counts { calls: CALLS.load(Relaxed), live_bytes: LIVE.load(Relaxed) }
}

pub(crate) fn stop() {
    ON.store(false, Relaxed);
}
