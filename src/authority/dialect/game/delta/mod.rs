//! Delta snapshots: the bodies of a frame as differences to bodies that the client has acknowledged.
//!
//! A client asks for them with the message DELTAS. The server then sends DELTA packets instead of SNAPSHOTs; both carry
//! exactly the same bodies. The layout is in `docs/DELTAS.md`.
//!
//! | file | |
//! |---|---|
//! | `id_codec.rs`, `bits.rs` | sets of entities and bits in a datagram |
//! | `code.rs` | one body as the difference to an earlier one |
//! | `history.rs` | the server's last broadcasts, and the codes that all clients share |
//! | `holdings.rs` | the bodies that one client has acknowledged, and those that it is shown |
//! | `baselines.rs` | the bodies that a client has received, and the reader of DELTA packets |
//! | `tests.rs` | both ends together |

mod baselines;
mod bits;
mod code;
mod history;
mod holdings;
mod id_codec;
#[cfg(test)]
mod tests;

pub(super) use baselines::{Baselines, Unread};
pub(super) use history::History;
pub(super) use holdings::Holdings;

/// The number of broadcasts whose bodies both sides keep: 1.6 s at 20 a second.
const KEPT: usize = 32;

/// A baseline is at most this many broadcasts old. A client keeps more, so that packets that overtake each other do not
/// push out a baseline that the server still uses.
const MAX_AGE: u32 = 24;

/// The length of a DELTA before its sections: tick and last input.
const HEAD: usize = 8;
