//! A request from outside to stop: Ctrl-C in the terminal that a program was started from, or a plain `kill`.
//!
//! A terminal view reads Ctrl-C as a key. For every other case there is the signal: whoever plays against us should then be
//! told that we left instead of waiting for a time-out, and a server tells its counts. The standard library cannot catch signals, so its C
//! library is asked directly: a handler that sets one flag needs no crate.

use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

/// Whether somebody has asked this program to stop, after [`listen`].
#[must_use]
pub fn asked_to_stop() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// From now on the first signal is a request that the program can act on; the second one ends the program as ever.
#[cfg(unix)]
pub fn listen() {
    /// Hang-up, Ctrl-C and `kill`; these numbers are the same on every Unix.
    const SIGNALS: [i32; 3] = [1, 2, 15];
    const DEFAULT: usize = 0;
    unsafe extern "C" {
        safe fn signal(number: i32, handler: usize) -> usize;
    }
    extern "C" fn note(number: i32) {
        ASKED.store(true, Ordering::Relaxed);
        signal(number, DEFAULT);
    }
    for number in SIGNALS {
        // Storing a flag and calling `signal` are both allowed while any other code is interrupted.
        signal(number, note as extern "C" fn(i32) as usize);
    }
}

/// Elsewhere Ctrl-C ends the program, and the other side learns it by our silence.
#[cfg(not(unix))]
pub fn listen() {}
