//! The dialect of R-Type: one entity a packet, packets that are resent until they are acknowledged one by one.

pub(crate) mod client_link;
mod lives;
mod numbers;
mod outbox;
mod replies;
pub(crate) mod responder;
pub(crate) mod server_link;
mod updates;

use crate::channel::refusal::Refusal;
use crate::wire::rtype::{RtypeDecodeError, RtypePacket};

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
