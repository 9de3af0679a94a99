//! The tools of several test programs of this workspace. They are apart from the library's lab, which games use too and
//! which has no unsafe code.

pub mod heap;
pub mod program;
mod repeats;

pub use repeats::repeats;
