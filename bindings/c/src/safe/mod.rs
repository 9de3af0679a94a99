//! A match behind a handle, without a pointer.
//!
//! | file | |
//! |---|---|
//! | `layout`, `state` | a state of bytes, and the regions by which reports name them |
//! | `input` | inputs as 64 bits |
//! | `part`, `commands`, `facts` | the match of a handle: online, offline, a recording |
//! | `local` | a match at one machine |
//! | `watched` | a match of others that is watched |
//! | `mailbox`, `clock` | a transport and a clock that the caller drives |
//! | `turn`, `codes` | the next thing to do, in the numbers of C |
//! | `trial` | the sync test and the stress test |
//! | `fault` | why a call failed |

mod clock;
pub mod codes;
mod commands;
mod facts;
pub mod fault;
pub mod input;
pub mod layout;
mod local;
pub mod mailbox;
pub mod part;
pub mod state;
pub mod trial;
pub mod turn;
pub mod watched;
