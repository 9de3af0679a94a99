//! How a program of its own tells how it went.

/// Played to its end, watched to its end, or left by choice.
pub const PLAYED: u8 = 0;
/// No match came about, or the two machines ended with different states.
pub const FAILED: u8 = 1;
/// Bad arguments, or no place to play in; clap uses the same.
pub const UNUSABLE: u8 = 2;
/// The other machine left or was lost before the end.
pub const LOST: u8 = 3;
