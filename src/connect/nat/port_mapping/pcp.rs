//! The Port Control Protocol, RFC 6887: one question, the MAP request.

use super::{Dialogue, Granted, Step, mapped_v4};
use crate::net::router::Request;
use core::time::Duration;
use std::net::{Ipv4Addr, SocketAddrV4};

const VERSION: u8 = 2;
const MAP: u8 = 1;
const IS_RESPONSE: u8 = 0x80;
const UDP: u8 = 17;
/// The length of a MAP request and of its response, without options.
const LEN: usize = 60;
/// The longest message that the protocol allows.
const MAX_LEN: usize = 1_100;

/// A mapping by PCP.
#[derive(Debug)]
pub(super) struct Pcp {
    server: SocketAddrV4,
    inside: SocketAddrV4,
    nonce: [u8; 12],
    lifetime: u32,
    /// The address that was granted, to be suggested for a renewal.
    outside: Option<SocketAddrV4>,
}

impl Pcp {
    pub(super) fn new(server: SocketAddrV4, inside: SocketAddrV4, nonce: [u8; 12]) -> Self {
        Self { server, inside, nonce, lifetime: 0, outside: None }
    }
}

impl Dialogue for Pcp {
    fn begin(&mut self, lifetime: u32) -> bool {
        self.lifetime = lifetime;
        true
    }

    fn request(&self) -> Request {
        let unknown = SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, self.inside.port());
        let suggested = self.outside.filter(|_| self.lifetime > 0).unwrap_or(unknown);
        let mut message = Vec::with_capacity(LEN);
        message.extend([VERSION, MAP, 0, 0]);
        message.extend(self.lifetime.to_be_bytes());
        message.extend(self.inside.ip().to_ipv6_mapped().octets());
        message.extend(self.nonce);
        message.extend([UDP, 0, 0, 0]);
        message.extend(self.inside.port().to_be_bytes());
        message.extend(suggested.port().to_be_bytes());
        message.extend(suggested.ip().to_ipv6_mapped().octets());
        Request::Datagram(self.server, message)
    }

    fn patience(&self) -> Duration {
        Duration::from_millis(250)
    }

    fn take(&mut self, from: SocketAddrV4, answer: &[u8]) -> Step {
        if from != self.server || answer.len() > MAX_LEN {
            return Step::Ignored;
        }
        // A router with NAT-PMP alone answers in its own version.
        if answer.first().is_some_and(|version| *version != VERSION) {
            return Step::Over;
        }
        let Some(answer) = answer.first_chunk::<LEN>() else { return Step::Ignored };
        let field = |at: usize| [answer[at], answer[at + 1]];
        let is_ours = answer[1] == MAP | IS_RESPONSE
            && answer[24..36] == self.nonce
            && answer[36] == UDP
            && field(40) == self.inside.port().to_be_bytes();
        if !is_ours {
            return Step::Ignored;
        }
        let lifetime = u32::from_be_bytes([answer[4], answer[5], answer[6], answer[7]]);
        let outside = answer.last_chunk().copied().and_then(mapped_v4);
        match outside {
            Some(ip) if answer[3] == 0 => {
                let outside = SocketAddrV4::new(ip, u16::from_be_bytes(field(42)));
                self.outside = Some(outside);
                Step::Granted(Granted { outside, lifetime })
            }
            _ => Step::Over,
        }
    }
}
