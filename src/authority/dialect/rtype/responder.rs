//! Strangers on R-Type: only a HELLO is answered, and the sequence number of the WELCOME is the proof of an address.

use super::{NO_ENTITY, RtypeWire, decode};
use crate::authority::dialect::{Answer, HandshakeResponder, Heard, Stranger, Verdict};
use crate::channel::refusal::Refusal;
use crate::wire::rtype::{RtypeHeader, RtypePacket, RtypePayload};

fn answer(asks_ack: bool, sequence: u16, payload: &RtypePayload<'_>) -> Result<Answer, Refusal> {
    Answer::written(|buf| RtypePacket::encode(RtypeHeader { asks_ack, sequence }, payload, buf))
}

/// Answers HELLOs and recognises who has received the answer.
impl HandshakeResponder for RtypeWire {
    fn judge(stranger: &Stranger, datagram: &[u8]) -> Result<Verdict, Refusal> {
        let packet = decode(datagram)?;
        let heard = packet.header.sequence;
        match (packet.payload, stranger.offer) {
            (RtypePayload::Hello { version: RtypePacket::VERSION, .. }, Some(player_id)) => {
                let proof = stranger.proof(player_id);
                let welcome = answer(true, proof, &RtypePayload::Welcome { player_id, seed: stranger.seed })?;
                let ack = answer(false, proof.wrapping_sub(1), &RtypePayload::Ack(heard))?;
                Ok(Verdict::Offer(ack, Some(welcome)))
            }
            // Full, or another version.
            (RtypePayload::Hello { .. }, _) => {
                Ok(Verdict::Refuse(answer(false, 0, &RtypePayload::Nack(heard))?))
            }
            // A client that rejects a challenge has received it too.
            (RtypePayload::Ack(named) | RtypePayload::Nack(named), _) => {
                let proves = stranger.proves(named);
                Ok(Verdict::Packet(Heard { sequence: heard, named: Some(named), proves }))
            }
            (RtypePayload::Input(_) | RtypePayload::Heartbeat, _) => {
                Ok(Verdict::Packet(Heard { sequence: heard, named: None, proves: false }))
            }
            _ => Err(Refusal::Stranger),
        }
    }

    fn challenge(_: &[u8], number: u16) -> Result<Answer, Refusal> {
        answer(true, number, &RtypePayload::EntityDestroy { id: NO_ENTITY })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::time::{Span, Time};
    use std::net::SocketAddr;

    fn judge(now: Time, from: SocketAddr, datagram: &[u8], offer: Option<u8>) -> Result<Verdict, Refusal> {
        RtypeWire::judge(&Stranger { now, from, offer, key: (3, 4), seed: 42 }, datagram)
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn here() -> SocketAddr {
        "192.0.2.1:5".parse().unwrap()
    }

    fn hello(version: u8) -> Vec<u8> {
        let mut buf = [0; 40];
        let header = RtypeHeader { asks_ack: true, sequence: 9 };
        let len =
            RtypePacket::encode(header, &RtypePayload::Hello { version, name: "Ada" }, &mut buf).unwrap();
        buf[..len].to_vec()
    }

    fn ack(named: u16) -> [u8; 6] {
        let [high, low] = named.to_be_bytes();
        [1, 0, 0, 10, high, low]
    }

    #[test]
    fn ack_of_the_welcome_proves_the_address() {
        let Ok(Verdict::Offer(first, Some(second))) = judge(at(4_900), here(), &hello(1), Some(7)) else {
            panic!("no answer")
        };
        assert_eq!(RtypePacket::decode(&first.bytes[..first.len]).unwrap().payload, RtypePayload::Ack(9));
        let welcome = RtypePacket::decode(&second.bytes[..second.len]).unwrap();
        assert_eq!(welcome.payload, RtypePayload::Welcome { player_id: 7, seed: 42 });
        let proof = welcome.header.sequence;
        let ack_header = RtypePacket::decode(&first.bytes[..first.len]).unwrap().header;
        assert_eq!((ack_header.sequence, ack_header.asks_ack), (proof.wrapping_sub(1), false));
        assert!(welcome.header.asks_ack);
        let proven = |now, from, id, named| {
            let verdict = judge(now, from, &ack(named), Some(id));
            let Ok(Verdict::Packet(heard)) = verdict else { panic!("{verdict:?}") };
            assert_eq!((heard.sequence, heard.named), (10, Some(named)));
            heard.proves
        };
        assert!(proven(at(4_950), here(), 7, proof) && proven(at(9_900), here(), 7, proof));
        let [high, low] = proof.to_be_bytes();
        let nack = judge(at(4_950), here(), &[2, 0, 0, 10, high, low], Some(7));
        assert!(matches!(nack, Ok(Verdict::Packet(Heard { proves: true, .. }))), "it was received too");
        assert!(!proven(at(10_000), here(), 7, proof), "too old");
        assert!(!proven(at(4_950), "192.0.2.1:6".parse().unwrap(), 7, proof), "another port");
        assert!(!proven(at(4_950), here(), 8, proof), "the id has been taken");
        assert!(!proven(at(4_950), here(), 7, proof.wrapping_add(1)));
    }

    #[test]
    fn full_server_and_wrong_version_get_a_nack() {
        for (version, offer) in [(1, None), (2, Some(7)), (2, None)] {
            let Ok(Verdict::Refuse(only)) = judge(at(0), here(), &hello(version), offer) else {
                panic!("no answer")
            };
            assert_eq!(RtypePacket::decode(&only.bytes[..only.len]).unwrap().payload, RtypePayload::Nack(9));
        }
        for datagram in [&[0x99, 0, 0, 1][..], &[0x12, 1, 0, 1], &[0x31, 0, 0, 1, 0, 1, 0, 1, 0, 1]] {
            assert!(judge(at(0), here(), datagram, Some(7)).is_err(), "{datagram:02X?}");
        }
        for datagram in [&[0x50, 0, 0, 1][..], &[0x20, 0, 0, 1, 0]] {
            let verdict = judge(at(0), here(), datagram, Some(7));
            let Ok(Verdict::Packet(heard)) = verdict else { panic!("{datagram:02X?}") };
            assert_eq!(heard, Heard { sequence: 1, named: None, proves: false });
        }
    }
}
