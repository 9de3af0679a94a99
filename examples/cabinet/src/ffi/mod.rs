//! The border to a libretro core, whose functions and callbacks are C. Every `unsafe` block of the cabinet is in this folder.
//!
//! | file | |
//! |---|---|
//! | `abi` | the structs, numbers and functions of libretro that are used here |
//! | `core` | [`Core`]: a core that is loaded, with its content |
//! | `frontend` | the cabinet's side of the callbacks: picture, sound, pads |
//! | `environment` | the answers to a core's questions and wishes |
//! | `log` | the text of a core's log |
//! | `heap` | fresh memory that is filled |
//!
//! A libretro core is global to its library, and its callbacks have no user pointer. [`Core`] therefore loads a copy of the library for
//! each machine, and a call into a core names its frontend for the thread that makes it.

mod abi;
mod core;
mod environment;
mod frontend;
mod heap;
mod log;

pub(crate) use core::MAX_STATE;
pub use core::{Core, CoreError, Facts, Region, Stage};
pub use environment::Wish;
pub use frontend::{Frame, Frontend, Heard, Options, Variable};
pub use heap::fill_fresh_memory;
