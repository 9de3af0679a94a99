//! The C interface of `rebout`. `include/rebout.h` is its header, and `docs/C.md` its page.
//!
//! | folder | |
//! |---|---|
//! | `safe` | a match behind a handle, in safe Rust: states of bytes with named regions, turns, offline matches, replays, tests |
//! | `ffi` | the functions that C calls, and the callbacks of C. Every `unsafe` block is here |
//!
//! Every function of the interface goes through [`ffi::handle`], which checks the handle, keeps panics from C, and keeps the text
//! of an error.

pub mod ffi;
#[forbid(unsafe_code)]
pub mod safe;

pub use ffi::*;
