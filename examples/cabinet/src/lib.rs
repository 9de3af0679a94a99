//! A cabinet for libretro cores: it plays them online, and checks whether a core is fit for rollback.
//!
//! | file | |
//! |---|---|
//! | `ffi` | a core behind a safe type. Every `unsafe` block is here |
//! | `content`, `setup` | the ROM and the folders around it; everything that is needed to load a core once more |
//! | `scratch` | a folder for temporary files |
//! | `machine` | a core as a game: its snapshot, with named memory |
//! | `identity` | everything that must be alike on both machines, by name |
//! | `probe` | a core tried in a process of its own |
//! | `check` | whether a core is fit for rollback |
//! | `pads`, `keys` | scripts and random presses; keys and gamepads |
//! | `play`, `picture` | at this machine, online, watching, replays; the picture of all of them |
//! | `cli` | the command line |

#![deny(unsafe_code)]

pub mod check;
pub mod cli;
pub mod content;
#[allow(unsafe_code)]
pub mod ffi;
pub mod identity;
pub mod keys;
pub mod machine;
pub mod pads;
pub mod picture;
pub mod play;
pub mod probe;
pub mod scratch;
pub mod setup;
