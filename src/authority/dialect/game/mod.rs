//! GAME: nine types of packets, and the messages that its RELIABLE_EVENTs carry between these roles.
//!
//! | file | |
//! |---|---|
//! | `responder.rs` | the answers to addresses without a seat |
//! | `server_link.rs`, `client_link.rs` | the two ends of a connection, each on a `connection.rs` |
//! | `prepared.rs`, `delta/` | snapshots: whole, and as differences to acknowledged ones |
//! | `message.rs` | the payload of a RELIABLE_EVENT |
//! | `pings.rs`, `losses.rs` | the round trip and the runs of lost packets, at the client |

mod client_link;
mod connection;
mod delta;
mod losses;
mod message;
mod pings;
mod prepared;
mod responder;
mod server_link;

pub(crate) use client_link::Stamp;

use super::{Dialect, Wire};
use crate::authority::client::ByFrames;
use crate::authority::server::InputBuffer;
use crate::protocol::time::Span;

/// GAME: numbered inputs, snapshots with their frame, messages of the game's own.
#[derive(Clone, Copy, Debug)]
pub struct GameWire;

impl Wire for GameWire {}

impl Dialect for GameWire {
    type ServerLink = server_link::ServerLink;
    type Inputs = InputBuffer;
    type ClientLink = client_link::ClientLink;
    type View = ByFrames;

    const HAS_MESSAGES: bool = true;
    /// A DISCONNECT is sent this many times, because nothing acknowledges it.
    const FAREWELLS: u8 = 3;
    const JOIN_EVERY: Span = Span::from_millis(200);
    const ANSWER_WITHIN: Option<Span> = None;
}
