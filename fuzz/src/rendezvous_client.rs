//! The two clients of a rendezvous against a hostile server, and against others who send in its name.
//!
//! Both speak to their server alone, at a bounded rate, and a datagram from any other address changes nothing.

use crate::attack::{MAX_ATTACKS, damage, random_seeds};
use crate::bytes::Bytes;
use crate::memory::Kept;
use crate::rendezvous_packets::{signals, written};
use rebout::lab::rendezvous::{Denial, JoinRequest, Registration, RendezvousEvent};
use rebout::lab::wire::rendezvous::{Cookie, Deliver, Grant, Outcome, Packet, Reply, TurnGrant, decode};
use rebout::{MAX_DATAGRAM, Randomness};
use std::net::SocketAddr;
use std::time::Duration;

const MAX_KEPT: i64 = 256 * 1_024;
/// The most datagrams in one call, and in a second: challenges, questions and answers to guests.
const MAX_SENT: usize = 64;
const MAX_PER_SECOND: u32 = 120;

fn server() -> SocketAddr {
    ([203, 0, 113, 1], 3_479).into()
}

#[allow(clippy::large_enum_variant)]
enum Client {
    Host(Registration),
    Joiner(JoinRequest),
}

impl Client {
    fn handle(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        match self {
            Self::Host(host) => host.handle_datagram(now, from, datagram),
            Self::Joiner(joiner) => joiner.handle_datagram(now, from, datagram),
        }
    }

    fn transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        match self {
            Self::Host(host) => host.poll_transmit(now, buf),
            Self::Joiner(joiner) => joiner.poll_transmit(now, buf),
        }
    }

    fn timeout(&self) -> Option<Duration> {
        match self {
            Self::Host(host) => host.poll_timeout(),
            Self::Joiner(joiner) => joiner.poll_timeout(),
        }
    }

    /// Takes the events as an owner does.
    fn serve(&mut self, now: Duration, named: &[SocketAddr]) -> usize {
        let [init, resp] = signals();
        let mut events = 0;
        loop {
            let event = match self {
                Self::Host(host) => host.poll_event(),
                Self::Joiner(joiner) => joiner.poll_event(),
            };
            let Some(event) = event else { break };
            events += 1;
            assert!(events < 1_000, "events without end");
            match (&mut *self, event) {
                (Self::Host(_), RendezvousEvent::Registered { observed, .. }) => {
                    assert!(named.contains(&observed), "{observed} was never named by the server");
                }
                (Self::Host(host), RendezvousEvent::Delivered { guest, .. }) => {
                    host.answer(guest, &resp);
                }
                (Self::Joiner(joiner), RendezvousEvent::Ticket { .. }) => {
                    joiner.post(&init);
                }
                _ => {}
            }
        }
        if let Self::Host(host) = self
            && host.wants_ticket(now)
        {
            host.set_ticket(now.as_millis() as u64);
        }
        events
    }
}

/// A packet of the server with the nonce that the client has used.
fn fitting(nonce: u64, named: &mut Vec<SocketAddr>, bytes: &mut Bytes<'_>) -> Vec<u8> {
    let nonce = if bytes.u8().is_multiple_of(8) { bytes.u64() } else { nonce };
    let observed = ([192, 0, 2, bytes.u8() % 3], 7_000).into();
    let (cookie, [init, resp]) = (bytes.u64().max(1), signals());
    let turn = TurnGrant {
        server: ([198, 51, 100, bytes.u8()], 1 + bytes.u16() % 60_000).into(),
        expiry: bytes.u32(),
        valid_secs: bytes.u16(),
        id: [bytes.u8() % 26 + b'a'; 6],
        password: [bytes.u8(); 20],
    };
    let turn = bytes.flag().then_some(turn);
    let denials = [Denial::Busy, Denial::Full, Denial::Held, Denial::Signature, Denial::Version];
    let packet = match bytes.below(6) {
        0 | 1 => {
            named.push(observed);
            Packet::Cookie(Cookie { nonce, cookie, observed })
        }
        2 => Packet::Grant(Grant { nonce, observed, ticket: bytes.u64(), turn }),
        3 => Packet::Deliver(Deliver { nonce, guest: bytes.u8().into(), signal: &init }),
        4 => {
            let outcome = if bytes.flag() { Outcome::Answered(&resp) } else { Outcome::Posted };
            Packet::Reply(Reply { nonce, outcome })
        }
        _ => Packet::Reply(Reply { nonce, outcome: Outcome::Refused(denials[bytes.below(denials.len())]) }),
    };
    written(&packet)
}

pub fn run(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let mut client = if bytes.flag() {
        Client::Joiner(JoinRequest::new(server(), [6; 16], Randomness::Seeded(2)).expect("a seed"))
    } else {
        let mut host = Registration::new(server(), &[1; 32], Randomness::Seeded(1)).expect("a seed");
        host.set_ticket(7);
        Client::Host(host)
    };
    let kept = Kept::new(MAX_KEPT);
    let (mut now, mut nonce, mut named, mut seen) = (Duration::from_secs(1), 0, Vec::new(), Vec::new());
    let mut in_second = (0, 0);
    for _ in 0..4 * MAX_ATTACKS {
        if bytes.is_empty() {
            break;
        }
        let mut buf = [0; MAX_DATAGRAM];
        for count in 0.. {
            let Some((to, len)) = client.transmit(now, &mut buf) else { break };
            assert!(to == server() && count < MAX_SENT, "{count} datagrams in one call, to {to}");
            nonce = match decode(&buf[..len]).expect("a packet of a client") {
                Packet::Register(register) => register.nonce,
                Packet::Ask(ask) => ask.nonce,
                Packet::Post(post) => post.nonce,
                _ => nonce,
            };
            if in_second.0 != now.as_secs() {
                in_second = (now.as_secs(), 0);
            }
            in_second.1 += 1;
            assert!(in_second.1 <= MAX_PER_SECOND, "{} datagrams in a second", in_second.1);
        }
        client.serve(now, &named);
        match bytes.below(5) {
            0 => now += bytes.wait(),
            // From somebody else.
            1 => {
                let datagram = fitting(nonce, &mut Vec::new(), &mut bytes);
                let before = client.timeout();
                client.handle(now, ([203, 0, 113, 1], 3_480).into(), &datagram);
                assert_eq!((client.timeout(), client.serve(now, &named)), (before, 0), "{datagram:02X?}");
            }
            choice => {
                let mut datagram = fitting(nonce, &mut named, &mut bytes);
                if choice == 2 {
                    damage(&mut bytes, &mut datagram, &seen);
                    // It may name any address.
                    if let Ok(Packet::Cookie(cookie)) = decode(&datagram) {
                        named.push(cookie.observed);
                    }
                }
                client.handle(now, server(), &datagram);
                if seen.len() < 16 {
                    seen.push(datagram);
                }
            }
        }
        kept.check();
    }
}

pub fn seeds() -> Vec<Vec<u8>> {
    random_seeds(&[&[0], &[1], &[0, 3, 1, 1, 0, 0, 0, 0, 0, 0, 0, 9], &[1, 3, 1, 1, 0, 0, 0, 0, 0, 0, 0, 9]])
}
