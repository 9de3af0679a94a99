//! R-Type: one entity a packet, packets that are resent until they are acknowledged one by one.
//!
//! | file | |
//! |---|---|
//! | `responder.rs` | the answers to addresses without a seat |
//! | `server_link.rs`, `client_link.rs` | the two ends of a connection |
//! | `numbers.rs`, `replies.rs` | sequence numbers, and the ACKs and NACKs of received packets |
//! | `outbox.rs`, `updates.rs` | at the server: reliable packets, and which entities a client is sent |
//! | `lives.rs` | at the client: the order of SPAWN, UPDATE and DESTROY of each entity |

mod client_link;
mod lives;
mod numbers;
mod outbox;
mod replies;
mod responder;
mod server_link;
mod updates;

use super::{Dialect, Wire};
use crate::authority::client::ByArrival;
use crate::authority::server::Sequenced;
use crate::channel::refusal::Refusal;
use crate::protocol::time::Span;
use crate::wire::rtype::{RtypeDecodeError, RtypePacket};

/// R-Type: one entity a packet in whole units, and neither frames nor messages of the game's own.
#[derive(Clone, Copy, Debug)]
pub struct RtypeWire;

impl Wire for RtypeWire {}

impl Dialect for RtypeWire {
    type ServerLink = server_link::ServerLink;
    type Inputs = Sequenced;
    type ClientLink = client_link::ClientLink;
    type View = ByArrival;

    const HAS_MESSAGES: bool = false;
    /// A PLAYER_LEAVE and a PLAYER_LEFT are sent once and five times more, unless the ACK comes.
    const FAREWELLS: u8 = outbox::MAX_RESENDS as u8 + 1;
    const JOIN_EVERY: Span = outbox::RESEND_EVERY;
    /// A request that five resends did not bring an answer to is given up.
    const ANSWER_WITHIN: Option<Span> = Some(Span::from_millis(600));
}

/// No entity has this id. A server challenges a newcomer with an ENTITY_DESTROY of it: it has to be acknowledged, changes
/// nothing, and is as long as an ACK.
const NO_ENTITY: u16 = 0;

/// Decodes a datagram of R-Type, or says why not.
fn decode(datagram: &[u8]) -> Result<RtypePacket<'_>, Refusal> {
    RtypePacket::decode(datagram).map_err(|error| match error {
        RtypeDecodeError::TooShort { .. } | RtypeDecodeError::TooLong { .. } => Refusal::NoPacket,
        _ => Refusal::MalformedControl,
    })
}

/// A coordinate as it travels: the nearest whole number that fits.
fn to_wire(coordinate: f32) -> u16 {
    coordinate.round().clamp(0.0, f32::from(u16::MAX)) as u16
}

#[cfg(test)]
mod tests {
    use super::to_wire;

    #[test]
    fn coordinates_are_rounded_and_limited() {
        let sent = [1.4, 1.5, -3.0, 65_535.4, 1e9, f32::NAN].map(to_wire);
        assert_eq!(sent, [1, 2, 0, 65_535, 65_535, 0]);
    }
}
