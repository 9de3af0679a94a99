//! NAT-PMP, RFC 6886: the address outside is asked for first, then the mapping.

use super::{Dialogue, Granted, Step};
use crate::net::router::Request;
use core::time::Duration;
use std::net::{Ipv4Addr, SocketAddrV4};

const VERSION: u8 = 0;
const ADDRESS: u8 = 0;
const MAP_UDP: u8 = 1;
const IS_RESPONSE: u8 = 0x80;

/// A mapping by NAT-PMP.
#[derive(Debug)]
pub(super) struct NatPmp {
    server: SocketAddrV4,
    port: u16,
    lifetime: u32,
    /// The address outside, once it is known.
    ip: Option<Ipv4Addr>,
    /// The port outside that was granted, to be suggested for a renewal.
    outside: u16,
}

impl NatPmp {
    pub(super) fn new(server: SocketAddrV4, port: u16) -> Self {
        Self { server, port, lifetime: 0, ip: None, outside: port }
    }

    fn asks_address(&self) -> bool {
        self.ip.is_none() && self.lifetime > 0
    }
}

impl Dialogue for NatPmp {
    fn begin(&mut self, lifetime: u32) -> bool {
        (self.lifetime, self.ip) = (lifetime, None);
        true
    }

    fn request(&self) -> Request {
        let mut message = vec![VERSION, ADDRESS];
        if !self.asks_address() {
            // The end of a mapping suggests no port.
            let outside = if self.lifetime > 0 { self.outside } else { 0 };
            message = vec![VERSION, MAP_UDP, 0, 0];
            message.extend(self.port.to_be_bytes());
            message.extend(outside.to_be_bytes());
            message.extend(self.lifetime.to_be_bytes());
        }
        Request::Datagram(self.server, message)
    }

    fn patience(&self) -> Duration {
        Duration::from_millis(250)
    }

    fn take(&mut self, from: SocketAddrV4, answer: &[u8]) -> Step {
        let asked = if self.asks_address() { ADDRESS } else { MAP_UDP };
        if from != self.server || answer.get(..2) != Some(&[VERSION, asked | IS_RESPONSE]) {
            return Step::Ignored;
        }
        if answer.get(2..4).is_some_and(|result| result != [0, 0]) {
            return Step::Over;
        }
        match (asked, answer) {
            (ADDRESS, &[_, _, _, _, _, _, _, _, a, b, c, d]) => {
                self.ip = Some(Ipv4Addr::new(a, b, c, d));
                Step::Next
            }
            (MAP_UDP, &[_, _, _, _, _, _, _, _, in0, in1, out0, out1, l0, l1, l2, l3])
                if [in0, in1] == self.port.to_be_bytes() =>
            {
                // None at the end of a mapping, whose answer has no port.
                let Some(ip) = self.ip else { return Step::Over };
                self.outside = u16::from_be_bytes([out0, out1]);
                let lifetime = u32::from_be_bytes([l0, l1, l2, l3]);
                Step::Granted(Granted { outside: SocketAddrV4::new(ip, self.outside), lifetime })
            }
            _ => Step::Ignored,
        }
    }
}
