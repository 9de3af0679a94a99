//! A request to stop. This program is published with the library, alone: the package of the workspace for signals is not.

use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

pub(crate) fn is_asked_for() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// From now on the first Ctrl-C or `kill` is a request; the second one ends the program.
#[cfg(unix)]
pub(crate) fn listen() {
    unsafe extern "C" {
        safe fn signal(number: i32, handler: usize) -> usize;
    }
    extern "C" fn note(number: i32) {
        ASKED.store(true, Ordering::Relaxed);
        signal(number, 0);
    }
    for number in [1, 2, 15] {
        signal(number, note as extern "C" fn(i32) as usize);
    }
}

/// Elsewhere Ctrl-C ends the program.
#[cfg(not(unix))]
pub(crate) fn listen() {}
