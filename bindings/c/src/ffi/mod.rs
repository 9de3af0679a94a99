//! The functions that C calls, and the callbacks of C. Every pointer is read here.
//!
//! | file | |
//! |---|---|
//! | `handle` | the handle: one call at a time, no panic into C, the text of the last error |
//! | `args` | pointers of the caller, read |
//! | `features` | the options of spectators, and those that need a feature of the library |
//! | `options`, `game`, `transport`, `log` | the options; the callbacks of a game, of a transport and of a log |
//! | `connect`, `play`, `facts`, `mailbox` | the functions of a match |
//! | `watch` | watching a match of others, and being watched |
//! | `replay`, `trial` | the functions of a recording; the sync test and the stress test |
//! | `version` | the version, and small helpers without a handle |

mod args;
pub mod connect;
pub mod facts;
mod features;
pub mod game;
pub mod handle;
pub mod log;
pub mod mailbox;
pub mod options;
pub mod play;
pub mod replay;
pub mod transport;
pub mod trial;
pub mod version;
pub mod watch;

pub use connect::*;
pub use facts::*;
pub use game::*;
pub use handle::*;
pub use log::*;
pub use mailbox::*;
pub use options::*;
pub use play::*;
pub use replay::*;
pub use transport::*;
pub use trial::*;
pub use version::*;
pub use watch::*;
