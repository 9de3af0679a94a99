//! Manual signalling: the host's offer and the joiner's answer are texts that the players send each other.

use super::candidate::is_admissible;
use super::mapping::Mapping;
use super::search::Search;
use super::signal::Signal;
use crate::connect::invite::Offer;
use crate::protocol::time::{Span, Time};
use crate::wire::stun::Id;
use std::net::SocketAddr;

/// Without a path for this long after both texts, there is none. The host's handshake is open for 12 s.
pub(super) const GIVE_UP: Span = Span::from_secs(11);
/// A joiner checks the host's addresses again after this long, because players take their time to send a text.
const AGAIN_AFTER: Span = Span::from_secs(8);
/// A joiner is told after this long that it has heard nothing.
const UNHEARD_AFTER: Span = Span::from_secs(16);
/// The RESP is sent on the path that was found this often, at most.
const REPEAT: Span = Span::from_millis(100);
const MAX_REPEATS: u32 = 50;

/// The state of manual signalling. Nothing happens to it at a rendezvous.
#[derive(Debug, Default)]
pub(super) struct Manual {
    /// The mapped address of this machine, until there is a connection.
    mapping: Option<Mapping>,
    /// The host's search, which waits for the answer.
    offered: Option<Search>,
    resp: Option<Resp>,
    /// The ticket and the signal of the host's offer, as its joiner has them.
    host: Option<(u64, Signal)>,
    waiting: Option<Waiting>,
}

/// The host's RESP, which is sent on the first path.
#[derive(Debug)]
struct Resp {
    packet: Vec<u8>,
    sent: u32,
    next_at: Time,
}

/// A joiner with an answer, which waits for the host's machine.
#[derive(Debug)]
struct Waiting {
    since: Time,
    /// When it checks again.
    again_at: Time,
    /// When the first check of the host came: the host has the answer.
    heard_at: Option<Time>,
}

impl Manual {
    /// A host, and the STUN server that it asks for its mapped address.
    pub(super) fn host(stun: Option<SocketAddr>) -> Self {
        Self { mapping: stun.map(Mapping::new), ..Self::default() }
    }

    /// A joiner with a host's offer. Without a STUN server of its own it asks that of the host.
    pub(super) fn joiner(offer: &Offer, stun: Option<SocketAddr>) -> Self {
        let signal = Signal::decode(&offer.signal);
        let stun = stun.or(offer.stun.filter(|server| is_admissible(*server)));
        Self { host: signal.map(|signal| (offer.ticket, signal)), ..Self::host(stun) }
    }

    // The mapped address.

    /// The STUN server whose answer a text has to wait for.
    pub(super) fn awaited(&self, now: Time) -> Option<SocketAddr> {
        self.mapping.as_ref().filter(|mapping| mapping.is_awaited(now)).map(Mapping::server)
    }

    /// The STUN server, and whether it has answered.
    pub(super) fn stun(&self) -> Option<(SocketAddr, bool)> {
        self.mapping.as_ref().map(|mapping| (mapping.server(), mapping.has_answered()))
    }

    /// Lets time pass. `id` draws the identifier of a question.
    pub(super) fn run(&mut self, now: Time, id: impl FnOnce() -> Id) {
        if let Some(mapping) = &mut self.mapping {
            mapping.run(now, id);
        }
    }

    /// The next request to the STUN server.
    pub(super) fn poll_transmit(&mut self, now: Time) -> Option<(SocketAddr, Vec<u8>)> {
        self.mapping.as_mut()?.poll_transmit(now)
    }

    /// The mapped address, if a datagram is the answer of the STUN server.
    pub(super) fn handle(&mut self, now: Time, from: SocketAddr, datagram: &[u8]) -> Option<SocketAddr> {
        self.mapping.as_mut()?.handle(now, from, datagram)
    }

    pub(super) fn deadline(&self) -> Time {
        self.mapping.as_ref().map_or(Time::NEVER, Mapping::deadline)
    }

    // The texts.

    /// The ticket and the signal of the host's offer, if this is a joiner and they can be read.
    pub(super) fn offer(&self) -> Option<&(u64, Signal)> {
        self.host.as_ref()
    }

    /// A host has made an offer, whose search waits for the answer.
    pub(super) fn offered(&mut self, search: Search) {
        self.offered = Some(search);
    }

    /// The search of the newest offer, which has got its answer.
    pub(super) fn take_offered(&mut self) -> Option<Search> {
        self.offered.take()
    }

    /// The RESP to send on the first path.
    pub(super) fn set_resp(&mut self, packet: Option<Vec<u8>>) {
        self.resp = packet.map(|packet| Resp { packet, sent: 0, next_at: Time::ZERO });
    }

    /// A joiner waits until the host has its answer.
    pub(super) fn wait(&mut self, now: Time) {
        self.waiting = Some(Waiting { since: now, again_at: now + AGAIN_AFTER, heard_at: None });
    }

    /// Whether a joiner waits for a host whose machine it has not heard, and whether that takes long.
    pub(super) fn unheard(&self, now: Time) -> Option<bool> {
        let waiting = self.waiting.as_ref().filter(|waiting| waiting.heard_at.is_none())?;
        Some(now >= waiting.since + UNHEARD_AFTER)
    }

    /// Since when both machines have had both texts, as far as a joiner knows.
    pub(super) fn heard_at(&self) -> Option<Time> {
        self.waiting.as_ref().and_then(|waiting| waiting.heard_at)
    }

    /// A check of the host has come. A joiner checks again at once: the host answers now.
    pub(super) fn heard(&mut self, now: Time) {
        if let Some(waiting) = self.waiting.as_mut().filter(|waiting| waiting.heard_at.is_none()) {
            (waiting.heard_at, waiting.again_at) = (Some(now), now);
        }
    }

    /// There is a connection. `true` if a joiner has waited for it until now.
    pub(super) fn connected(&mut self) -> bool {
        (self.resp, self.mapping) = (None, None);
        self.waiting.take().is_some()
    }

    /// The RESP, if it is to be sent now.
    pub(super) fn resp_due(&mut self, now: Time) -> Option<Vec<u8>> {
        let resp = self.resp.as_mut().filter(|resp| now >= resp.next_at && resp.sent < MAX_REPEATS)?;
        resp.sent += 1;
        resp.next_at = now + REPEAT;
        Some(resp.packet.clone())
    }

    /// Whether a joiner is to check the host's addresses again now.
    pub(super) fn again_due(&mut self, now: Time) -> bool {
        let due = self.waiting.as_mut().filter(|waiting| now >= waiting.again_at);
        due.map(|waiting| waiting.again_at = now + AGAIN_AFTER).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joiner_asks_no_inadmissible_server_of_an_offer() {
        let at = |text: &str| -> SocketAddr { text.parse().unwrap() };
        let asked = |named: &str, own| {
            let offer = Offer { key: [7; 32], ticket: 1, stun: Some(at(named)), signal: Vec::new() };
            Manual::joiner(&offer, own).stun().map(|(server, _)| server)
        };
        assert_eq!(asked("192.0.2.1:3478", None), Some(at("192.0.2.1:3478")));
        for named in ["127.0.0.1:3478", "[::1]:3478", "224.0.0.1:3478", "169.254.1.1:3478", "192.0.2.1:0"] {
            assert_eq!(asked(named, None), None, "{named}");
        }
        let own = at("127.0.0.1:3479");
        assert_eq!(asked("192.0.2.1:3478", Some(own)), Some(own), "its own player's choice comes first");
    }
}
