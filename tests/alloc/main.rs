//! Memory is taken when a match starts and not afterwards. A process of its own and without the test harness, whose
//! threads take memory when they please.

mod authority;
mod engine;
mod heap;
#[cfg(feature = "nat")]
mod nat;
mod net;
#[cfg(feature = "seal")]
mod online;
mod replay;
mod session;

use support::heap::{Counting, counts};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Calls of the allocator, and bytes asked for, while `work` runs.
fn counted<R>(work: impl FnOnce() -> R) -> (u64, u64, R) {
    let before = counts();
    let result = work();
    let after = counts();
    (after.calls - before.calls, after.bytes - before.bytes, result)
}

fn main() {
    let (calls, bytes, _) = counted(|| std::hint::black_box(Box::new(5_u64)));
    assert_eq!((calls, bytes), (1, 8), "the counter counts");
    authority::all();
    engine::all();
    heap::all();
    net::all();
    #[cfg(feature = "seal")]
    online::all();
    #[cfg(feature = "nat")]
    nat::all();
    replay::all();
    session::all();
}
