//! Encoding of rendezvous packets.

use super::{
    ANSWER, ASK, ASK_LEN, COOKIE, DELIVER, GRANT, Outcome, POST, Packet, REGISTER, REPLY, TURN_LEN,
    TurnGrant, VERSION,
};
use crate::wire::bytes::Writer;
use std::net::{IpAddr, SocketAddr};

/// The domain of the signature of a REGISTER.
const DOMAIN: &[u8; 13] = b"rebout room 1";

/// The bytes that a host signs: the domain, the server's cookie, the ticket, and the host's address as the server sees it.
#[must_use]
pub fn signed_text(cookie: u64, ticket: u64, host: SocketAddr) -> [u8; 47] {
    let mut text = [0; 47];
    let mut writer = Writer::new(&mut text);
    writer.put(DOMAIN);
    writer.u64(cookie);
    writer.u64(ticket);
    put_address(&mut writer, host);
    text
}

/// Writes a packet to the front of `buf` and returns its length; `None` if `buf` is too small.
pub fn encode(packet: &Packet<'_>, buf: &mut [u8]) -> Option<usize> {
    let mut writer = Writer::new(buf);
    match packet {
        Packet::Register(register) => {
            put_request(&mut writer, REGISTER, register.nonce, register.cookie);
            writer.put(&register.key);
            writer.u64(register.ticket);
            writer.put(&register.signature);
        }
        Packet::Ask(ask) => {
            put_request(&mut writer, ASK, ask.nonce, ask.cookie);
            writer.put(&ask.room);
            writer.zeros(ASK_LEN - writer.len());
        }
        Packet::Post(post) => {
            put_request(&mut writer, POST, post.nonce, post.cookie);
            writer.put(&post.room);
            writer.put(post.signal);
        }
        Packet::Answer(answer) => {
            writer.put(&[ANSWER, VERSION]);
            writer.u64(answer.guest);
            writer.put(answer.signal);
        }
        Packet::Cookie(cookie) => {
            writer.u8(COOKIE);
            writer.u64(cookie.nonce);
            writer.u64(cookie.cookie);
            put_address(&mut writer, cookie.observed);
        }
        Packet::Grant(grant) => {
            writer.u8(GRANT);
            writer.u64(grant.nonce);
            put_address(&mut writer, grant.observed);
            writer.u64(grant.ticket);
            put_turn(&mut writer, grant.turn.as_ref());
        }
        Packet::Deliver(deliver) => {
            writer.u8(DELIVER);
            writer.u64(deliver.nonce);
            writer.u64(deliver.guest);
            writer.put(deliver.signal);
        }
        Packet::Reply(reply) => {
            writer.u8(REPLY);
            writer.u64(reply.nonce);
            match reply.outcome {
                Outcome::Posted => writer.u8(0),
                Outcome::Answered(signal) => {
                    writer.u8(1);
                    writer.put(signal);
                }
                Outcome::Refused(denial) => writer.u8(denial as u8),
            }
        }
    }
    writer.finish().ok()
}

fn put_request(writer: &mut Writer<'_>, first: u8, nonce: u64, cookie: u64) {
    writer.put(&[first, VERSION]);
    writer.u64(nonce);
    writer.u64(cookie);
}

fn put_turn(writer: &mut Writer<'_>, turn: Option<&TurnGrant>) {
    let Some(turn) = turn else {
        writer.zeros(TURN_LEN);
        return;
    };
    put_address(writer, turn.server);
    writer.u32(turn.expiry);
    writer.u16(turn.valid_secs);
    writer.put(&turn.id);
    writer.put(&turn.password);
}

/// An address as IPv6, that of IPv4 mapped, and the port.
fn put_address(writer: &mut Writer<'_>, addr: SocketAddr) {
    let ip = match addr.ip() {
        IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        IpAddr::V6(ip) => ip,
    };
    writer.put(&ip.octets());
    writer.u16(addr.port());
}
