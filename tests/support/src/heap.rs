//! An allocator that counts, for programs that name it as theirs:
//!
//! ```ignore
//! #[global_allocator]
//! static ALLOCATOR: support::heap::Counting = support::heap::Counting;
//! ```

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The system's allocator, counted by thread and by process.
pub struct Counting;

static CALLS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);
static FREED: AtomicU64 = AtomicU64::new(0);

thread_local! {
    // No destructor and no lazy start, so that the allocator itself may use it.
    static LIVE: Cell<i64> = const { Cell::new(0) };
}

/// Counts of all threads since the program began.
#[derive(Clone, Copy, Debug)]
pub struct Counts {
    /// Calls that asked for memory.
    pub calls: u64,
    /// Bytes that they asked for.
    pub bytes: u64,
    /// Bytes that were asked for and not given back.
    pub live_bytes: u64,
}

/// The counts of the whole program.
pub fn counts() -> Counts {
    let (freed, bytes) = (FREED.load(Relaxed), BYTES.load(Relaxed));
    Counts { calls: CALLS.load(Relaxed), bytes, live_bytes: bytes.saturating_sub(freed) }
}

/// Bytes that this thread has asked for and not given back.
pub fn live() -> i64 {
    LIVE.with(Cell::get)
}

fn count_live(bytes: i64) {
    let _ = LIVE.try_with(|live| live.set(live.get() + bytes));
}

fn count_taken(bytes: usize) {
    CALLS.fetch_add(1, Relaxed);
    BYTES.fetch_add(bytes as u64, Relaxed);
    count_live(bytes as i64);
}

fn count_freed(bytes: usize) {
    FREED.fetch_add(bytes as u64, Relaxed);
    count_live(-(bytes as i64));
}

// SAFETY: every call is handed to the system's allocator as it is; only counters are touched besides.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count_taken(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count_taken(layout.size());
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count_taken(size);
        count_freed(layout.size());
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count_freed(layout.size());
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(block, layout) }
    }
}
