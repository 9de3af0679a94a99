//! Bounds on memory: what a call asks for, and what it keeps.

use support::heap;

/// Runs a call that must not ask for more than `limit` bytes in all, given back or not.
pub(crate) fn within<T>(limit: usize, call: impl FnOnce() -> T) -> T {
    let before = heap::counts().bytes;
    let value = call();
    let asked = heap::counts().bytes - before;
    assert!(asked <= limit as u64, "{asked} bytes were asked for, {limit} are allowed");
    value
}

/// Follows how much of the heap is kept.
pub(crate) struct Kept {
    before: i64,
    limit: i64,
}

impl Kept {
    pub(crate) fn new(limit: i64) -> Self {
        Self { before: heap::live(), limit }
    }

    pub(crate) fn check(&self) {
        let kept = heap::live() - self.before;
        assert!(kept <= self.limit, "{kept} bytes are kept, {} are allowed", self.limit);
    }
}
