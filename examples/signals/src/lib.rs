//! Signals: a request from outside to stop, by Ctrl-C in the terminal that a program was started from or by a plain `kill`, and
//! a pause by Ctrl-Z; a closed pipe; and the arguments of a program.
//!
//! A terminal view reads Ctrl-C as a key. For every other case there is the signal: whoever plays against us should then be
//! told that we left instead of waiting for a time-out, and a server tells its counts. The standard library cannot catch signals, so its C
//! library is asked directly: a handler that sets one flag needs no crate.

mod arguments;

pub use arguments::{arguments, arguments_of, refuse};

use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);
static RESUMED: AtomicBool = AtomicBool::new(false);

/// Whether somebody has asked this program to stop, after [`listen`].
#[must_use]
pub fn asked_to_stop() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// Whether this program was stopped and goes on since this was last asked, after [`listen`]. Whoever owns a terminal has to
/// take it again.
#[must_use]
pub fn take_resumed() -> bool {
    RESUMED.swap(false, Ordering::Relaxed)
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
    extern "C" fn resume(_: i32) {
        RESUMED.store(true, Ordering::Relaxed);
    }
    signal(STOP_AND_CONTINUE[1], resume as extern "C" fn(i32) as usize);
    for number in SIGNALS {
        // Storing a flag and calling `signal` are both allowed while any other code is interrupted.
        signal(number, note as extern "C" fn(i32) as usize);
    }
}

/// From now on a reader that closes the pipe of our output ends the program without a word, as it ends other programs; `println!` would
/// panic. For tools: a server goes on without its output.
pub fn end_on_closed_pipe() {
    #[cfg(unix)]
    {
        const SIGPIPE: i32 = 13;
        const DEFAULT: usize = 0;
        unsafe extern "C" {
            safe fn signal(number: i32, handler: usize) -> usize;
        }
        signal(SIGPIPE, DEFAULT);
    }
}

/// The numbers of the signals that stop a program from its terminal and let it go on.
#[cfg(any(target_os = "linux", target_os = "android"))]
const STOP_AND_CONTINUE: [i32; 2] = [20, 18];
#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
const STOP_AND_CONTINUE: [i32; 2] = [18, 19];

/// Stops this program until its shell lets it go on, as Ctrl-Z does; returns then. Where there is no such thing it returns at once.
pub fn suspend() {
    #[cfg(unix)]
    {
        unsafe extern "C" {
            safe fn raise(number: i32) -> i32;
        }
        raise(STOP_AND_CONTINUE[0]);
    }
}

/// Elsewhere Ctrl-C ends the program, and the other side learns it by our silence.
#[cfg(not(unix))]
pub fn listen() {}
