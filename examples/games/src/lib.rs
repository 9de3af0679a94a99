//! The games that the tools, tests and benches of the engine play: simulations alone, without a window or a socket.
//!
//! | | |
//! |---|---|
//! | `arena` | dots that move and shoot on a server in the middle, and their bot; needs the feature `authority` |
//! | [`playground`] | the reference game: two fighters on a line in whole numbers, with a published checksum |
//! | [`duel`] | a fighting game in fixed point, and the bot that plays it; `examples/duel` puts it into a window |
//! | `faulty` | the playground with a mistake in it, and matches that find it; needs the feature `lab` |
//! | [`handle`] | a core behind a handle, as an emulator is: it logs its steps, and fails where a test wants it to |
//! | [`swarm`] | a game with heap memory, whose snapshot grows and shrinks |
//! | [`tag`] | a game for four: two pads at each of two machines |
//! | [`tilt`] | a game of sticks and triggers: six axes and one button |

#![forbid(unsafe_code)]

#[cfg(feature = "authority")]
pub mod arena;
pub mod duel;
#[cfg(feature = "lab")]
pub mod faulty;
pub mod handle;
pub mod playground;
pub mod swarm;
pub mod tag;
pub mod tilt;
