//! A question to a STUN server: the address under which it sees this machine, and how far away it is.

use crate::canonical;
use crate::protocol::time::{Span, Time};
use std::net::SocketAddr;

const REQUEST: [u8; 8] = [0x00, 0x01, 0, 0, 0x21, 0x12, 0xA4, 0x42];
const SUCCESS: [u8; 2] = [0x01, 0x01];
const XOR_MAPPED_ADDRESS: u16 = 0x0020;
const HEAD_LEN: usize = 20;
const ID_LEN: usize = 12;

/// How often it is asked, and after how long the first time, which doubles.
const ASKS: u32 = 5;
const REPEAT: Span = Span::from_millis(150);

/// The identifier of a STUN message.
pub(super) fn id_of(message: &[u8]) -> Option<[u8; 12]> {
    message.get(8..20)?.first_chunk().copied()
}

/// A question that waits for its answer.
#[derive(Debug)]
pub(super) struct Probe {
    server: SocketAddr,
    id: [u8; ID_LEN],
    asked: u32,
    asked_at: Time,
    due: Option<Time>,
}

/// The answer of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) addr: SocketAddr,
    pub(super) round_trip: Span,
}

impl Probe {
    /// A question with an identifier that nobody can guess: who cannot see it cannot answer it.
    pub(super) fn new(now: Time, server: SocketAddr, id: [u8; ID_LEN]) -> Self {
        Self { server, id, asked: 0, asked_at: now, due: Some(now) }
    }

    pub(super) fn server(&self) -> SocketAddr {
        self.server
    }

    pub(super) fn deadline(&self) -> Option<Time> {
        self.due
    }

    /// The request, if it is due: 20 bytes.
    pub(super) fn poll_transmit(&mut self, now: Time) -> Option<[u8; HEAD_LEN]> {
        self.due.filter(|due| *due <= now)?;
        self.asked += 1;
        self.asked_at = now;
        self.due = (self.asked < ASKS).then(|| now + REPEAT * (1 << (self.asked - 1)));
        let mut request = [0; HEAD_LEN];
        request[..8].copy_from_slice(&REQUEST);
        request[8..].copy_from_slice(&self.id);
        Some(request)
    }

    /// Takes a datagram of the server; `None` if it is not the answer.
    pub(super) fn handle(&mut self, now: Time, datagram: &[u8]) -> Option<Seen> {
        let (head, attributes) = datagram.split_first_chunk::<HEAD_LEN>()?;
        let answers = head[..2] == SUCCESS && head[4..8] == REQUEST[4..] && head[8..] == self.id;
        let addr = mapped(attributes, &self.id).filter(|_| answers && self.asked > 0)?;
        self.due = None;
        Some(Seen { addr: canonical(addr), round_trip: now.since(self.asked_at) })
    }
}

/// The value of XOR-MAPPED-ADDRESS.
fn mapped(mut attributes: &[u8], id: &[u8; ID_LEN]) -> Option<SocketAddr> {
    loop {
        let (head, rest) = attributes.split_first_chunk::<4>()?;
        let kind = u16::from_be_bytes([head[0], head[1]]);
        let len = usize::from(u16::from_be_bytes([head[2], head[3]]));
        let value = rest.get(..len)?;
        if kind == XOR_MAPPED_ADDRESS {
            return unmasked(value, id);
        }
        attributes = rest.get(len.next_multiple_of(4)..)?;
    }
}

fn unmasked(value: &[u8], id: &[u8; ID_LEN]) -> Option<SocketAddr> {
    let mut mask = [0; 16];
    mask[..4].copy_from_slice(&REQUEST[4..]);
    mask[4..].copy_from_slice(id);
    let (head, ip) = value.split_first_chunk::<4>()?;
    let port = u16::from_be_bytes([head[2] ^ mask[0], head[3] ^ mask[1]]);
    match (head[1], ip.len()) {
        (1, 4) => {
            let octets: [u8; 4] = core::array::from_fn(|at| ip[at] ^ mask[at]);
            Some((octets, port).into())
        }
        (2, 16) => {
            let octets: [u8; 16] = core::array::from_fn(|at| ip[at] ^ mask[at]);
            Some((octets, port).into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: [u8; 12] = [0xB7, 0xE7, 0xA7, 0x01, 0xBC, 0x34, 0xD6, 0x86, 0xFA, 0x87, 0xDF, 0xAE];

    /// The answer of RFC 5769, section 2.2, without its last two attributes: SOFTWARE and XOR-MAPPED-ADDRESS.
    fn answer() -> Vec<u8> {
        let mut bytes = vec![0x01, 0x01, 0x00, 0x1C, 0x21, 0x12, 0xA4, 0x42];
        bytes.extend(ID);
        bytes.extend([0x80, 0x22, 0x00, 0x0B]);
        bytes.extend(b"test vector ");
        bytes.extend([0x00, 0x20, 0x00, 0x08, 0x00, 0x01, 0xA1, 0x47, 0xE1, 0x12, 0xA6, 0x43]);
        bytes
    }

    fn asked() -> Probe {
        let mut probe = Probe::new(Time::ZERO, "198.51.100.1:3478".parse().unwrap(), ID);
        assert_eq!(probe.poll_transmit(Time::ZERO).unwrap()[8..], ID);
        probe
    }

    #[test]
    fn the_answer_of_the_standard_is_read() {
        let later = Span::from_millis(30);
        let seen = Seen { addr: "192.0.2.1:32853".parse().unwrap(), round_trip: later };
        let mut probe = asked();
        assert_eq!(probe.handle(Time::ZERO + later, &answer()), Some(seen));
        assert_eq!(probe.deadline(), None);
    }

    #[test]
    fn an_answer_to_another_question_or_a_damaged_one_is_refused() {
        for at in (0..2).chain(4..20).chain([22, 36, 37, 38, 39, 41]) {
            let mut bytes = answer();
            bytes[at] ^= 0x11;
            assert_eq!(asked().handle(Time::ZERO, &bytes), None, "byte {at}");
        }
        for len in 0..answer().len() {
            assert_eq!(asked().handle(Time::ZERO, &answer()[..len]), None, "{len}");
        }
    }

    #[test]
    fn the_server_is_asked_at_doubling_intervals() {
        let mut probe = Probe::new(Time::ZERO, "198.51.100.1:3478".parse().unwrap(), ID);
        assert_eq!(probe.handle(Time::ZERO, &answer()), None, "nothing was asked yet");
        let is_asked = |ms: &u64| probe.poll_transmit(Time::ZERO + Span::from_millis(*ms)).is_some();
        assert_eq!((0..60_000).filter(is_asked).collect::<Vec<_>>(), [0, 150, 450, 1_050, 2_250]);
        assert_eq!(probe.deadline(), None);
    }

    #[test]
    fn the_round_trip_is_that_of_the_last_request() {
        let (mut probe, ms) = (asked(), |ms| Time::ZERO + Span::from_millis(ms));
        assert!(probe.poll_transmit(ms(150)).is_some());
        assert_eq!(probe.handle(ms(170), &answer()).map(|seen| seen.round_trip), Some(Span::from_millis(20)));
    }

    #[test]
    fn a_mapped_ipv4_address_is_seen_as_ipv4() {
        let mut bytes = answer()[..HEAD_LEN].to_vec();
        let mask: Vec<u8> = REQUEST[4..].iter().chain(&ID).copied().collect();
        let ip = std::net::Ipv4Addr::new(192, 0, 2, 1).to_ipv6_mapped().octets();
        bytes.extend([0x00, 0x20, 0x00, 0x14, 0x00, 0x02, mask[0], 7 ^ mask[1]]);
        bytes.extend(ip.iter().zip(&mask).map(|(byte, mask)| byte ^ mask));
        let seen = asked().handle(Time::ZERO, &bytes).map(|seen| seen.addr);
        assert_eq!(seen, Some("192.0.2.1:7".parse().unwrap()));
    }
}
