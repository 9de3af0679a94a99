//! Strangers on GAME: a CONNECT_REQ is empty, so the sequence number of the CONNECT_ACK is the proof of an address.

use super::GameWire;
use crate::authority::dialect::{Answer, HandshakeResponder, Heard, Stranger, Verdict};
use crate::channel::refusal::Refusal;
use crate::wire::control::{ControlDecodeError, ControlHeader, ControlPacket, ControlPayload};
use core::num::NonZeroU8;

fn answer(header: ControlHeader, payload: &ControlPayload<'_>) -> Result<Answer, Refusal> {
    Answer::written(|buf| ControlPacket::encode(&header, payload, buf))
}

/// Answers CONNECT_REQs and recognises who has received the answer.
impl HandshakeResponder for GameWire {
    fn judge(stranger: &Stranger, datagram: &[u8]) -> Result<Verdict, Refusal> {
        let packet = decode(datagram)?;
        let heard = packet.header;
        let offer = stranger.offer.and_then(NonZeroU8::new);
        match (packet.payload, offer) {
            (ControlPayload::ConnectReq, Some(client_id)) => {
                let sequence = stranger.proof(client_id.get());
                let header = ControlHeader { sequence, ack: heard.sequence, ack_bits: 0 };
                Ok(Verdict::Offer(answer(header, &ControlPayload::ConnectAck { client_id })?, None))
            }
            // One datagram for one, and no longer than the request.
            (ControlPayload::ConnectReq, None) => {
                let header = ControlHeader { sequence: 0, ack: heard.sequence, ack_bits: 0 };
                Ok(Verdict::Refuse(answer(header, &ControlPayload::Disconnect)?))
            }
            // The selective acks prove nothing: they would be 32 guesses at once.
            (
                ControlPayload::Input(_)
                | ControlPayload::Inputs(_)
                | ControlPayload::Ping(_)
                | ControlPayload::ReliableEvent(_)
                | ControlPayload::Heartbeat,
                _,
            ) => {
                let proves = stranger.proves(heard.ack);
                Ok(Verdict::Packet(Heard { sequence: heard.sequence, named: Some(heard.ack), proves }))
            }
            _ => Err(Refusal::Stranger),
        }
    }

    /// A PONG for a PING, so that a newcomer learns the round trip, and otherwise a HEARTBEAT.
    fn challenge(datagram: &[u8], number: u16) -> Result<Answer, Refusal> {
        let packet = decode(datagram)?;
        let header = ControlHeader { sequence: number, ack: packet.header.sequence, ack_bits: 0 };
        match packet.payload {
            ControlPayload::Ping(value) => answer(header, &ControlPayload::Pong(value)),
            _ => answer(header, &ControlPayload::Heartbeat),
        }
    }
}

/// Decodes a datagram of GAME, or says why not.
pub(super) fn decode(datagram: &[u8]) -> Result<ControlPacket<'_>, Refusal> {
    ControlPacket::decode(datagram).map_err(|error| match error {
        ControlDecodeError::TooShort { .. } | ControlDecodeError::Magic { .. } => Refusal::NoPacket,
        _ => Refusal::MalformedControl,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::time::{Span, Time};
    use std::net::SocketAddr;

    fn judge(now: Time, from: SocketAddr, datagram: &[u8], offer: Option<u8>) -> Result<Verdict, Refusal> {
        GameWire::judge(&Stranger { now, from, offer, key: (3, 4), seed: 1 }, datagram)
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn offered(now: Time, from: SocketAddr, id: u8) -> u16 {
        let mut request = [0; 15];
        ControlPacket::encode(
            &ControlHeader { sequence: 9, ack: 0, ack_bits: 0 },
            &ControlPayload::ConnectReq,
            &mut request,
        )
        .unwrap();
        let Ok(Verdict::Offer(answer, None)) = judge(now, from, &request, Some(id)) else {
            panic!("no answer")
        };
        let packet = ControlPacket::decode(&answer.bytes[..answer.len]).unwrap();
        assert_eq!(packet.header.ack, 9);
        packet.header.sequence
    }

    fn heartbeat(ack: u16, ack_bits: u32) -> [u8; 15] {
        let mut bytes = [0; 15];
        ControlPacket::encode(
            &ControlHeader { sequence: 10, ack, ack_bits },
            &ControlPayload::Heartbeat,
            &mut bytes,
        )
        .unwrap();
        bytes
    }

    #[test]
    fn proof_is_good_for_one_address_one_id_and_two_periods() {
        let (here, there): (SocketAddr, SocketAddr) =
            ("192.0.2.1:5".parse().unwrap(), "192.0.2.1:6".parse().unwrap());
        let proof = offered(at(4_900), here, 7);
        let proven = |now, from, id, ack, bits| {
            let verdict = judge(now, from, &heartbeat(ack, bits), Some(id));
            let Ok(Verdict::Packet(heard)) = verdict else { panic!("{verdict:?}") };
            assert_eq!((heard.sequence, heard.named), (10, Some(ack)));
            heard.proves
        };
        assert!(proven(at(4_950), here, 7, proof, 0));
        assert!(proven(at(9_900), here, 7, proof, 0), "of the period before");
        assert!(!proven(at(10_000), here, 7, proof, 0), "too old");
        assert!(!proven(at(4_950), there, 7, proof, 0), "another port");
        assert!(!proven(at(4_950), here, 8, proof, 0), "the id has been taken");
        assert!(!proven(at(4_950), here, 7, proof.wrapping_add(1), u32::MAX), "a selective ack is no proof");
    }

    #[test]
    fn full_server_says_so_with_as_many_bytes_as_it_was_sent() {
        let mut request = [0; 15];
        ControlPacket::encode(&ControlHeader::default(), &ControlPayload::ConnectReq, &mut request).unwrap();
        let Ok(Verdict::Refuse(answer)) = judge(at(0), "192.0.2.1:5".parse().unwrap(), &request, None) else {
            panic!("no answer")
        };
        assert_eq!(answer.len, request.len());
        assert_eq!(
            ControlPacket::decode(&answer.bytes[..answer.len]).unwrap().payload,
            ControlPayload::Disconnect
        );
    }

    #[test]
    fn only_packets_of_a_client_are_heard_of_a_stranger() {
        let here = "192.0.2.1:5".parse().unwrap();
        let hears = |payload: &ControlPayload<'_>| {
            let mut buf = [0; 64];
            let len = ControlPacket::encode(&ControlHeader::default(), payload, &mut buf).unwrap();
            judge(at(0), here, &buf[..len], Some(7)).is_ok()
        };
        assert!(hears(&ControlPayload::Ping(1)) && hears(&ControlPayload::ReliableEvent(&[1])));
        assert!(!hears(&ControlPayload::Pong(1)) && !hears(&ControlPayload::Disconnect));
        assert!(!hears(&ControlPayload::ConnectAck { client_id: NonZeroU8::MIN }));
    }
}
