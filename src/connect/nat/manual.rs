//! Manual signalling: the host's offer and the joiner's answer are texts that the players send each other.

use super::search::Search;
use super::signal::Signal;
use crate::connect::invite::Offer;
use crate::protocol::time::{Span, Time};

/// A joiner checks the host's addresses anew after this long, because players take their time to send a text.
const AGAIN_AFTER: Span = Span::from_secs(8);
/// The RESP is sent on the path that was found this often, at most.
const REPEAT: Span = Span::from_millis(100);
const MAX_REPEATS: u32 = 50;

/// The state of manual signalling. Nothing happens to it at a rendezvous.
#[derive(Debug, Default)]
pub(super) struct Manual {
    /// The host's search, which waits for the answer.
    offered: Option<Search>,
    resp: Option<Resp>,
    /// The ticket and the signal of the host's offer, as its joiner has them.
    host: Option<(u64, Signal)>,
    /// When the joiner checks anew.
    again_at: Option<Time>,
}

/// The host's RESP, which is sent on the first path.
#[derive(Debug)]
struct Resp {
    packet: Vec<u8>,
    sent: u32,
    next_at: Time,
}

impl Manual {
    /// A joiner with a host's offer.
    pub(super) fn joiner(offer: &Offer) -> Self {
        let signal = Signal::decode(&offer.signal);
        Self { host: signal.map(|signal| (offer.ticket, signal)), ..Self::default() }
    }

    /// The ticket and the signal of the host, if this is a joiner and they can be read.
    pub(super) fn host(&self) -> Option<&(u64, Signal)> {
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
        self.again_at = Some(now + AGAIN_AFTER);
    }

    pub(super) fn is_waiting(&self) -> bool {
        self.again_at.is_some()
    }

    /// There is a connection. `true` if a joiner has waited for it until now.
    pub(super) fn connected(&mut self) -> bool {
        self.resp = None;
        self.again_at.take().is_some()
    }

    /// The RESP, if it is to be sent now.
    pub(super) fn resp_due(&mut self, now: Time) -> Option<Vec<u8>> {
        let resp = self.resp.as_mut().filter(|resp| now >= resp.next_at && resp.sent < MAX_REPEATS)?;
        resp.sent += 1;
        resp.next_at = now + REPEAT;
        Some(resp.packet.clone())
    }

    /// The host's signal, if a joiner is to check its addresses anew now.
    pub(super) fn again_due(&mut self, now: Time) -> Option<&Signal> {
        self.again_at.filter(|at| now >= *at)?;
        self.wait(now);
        self.host.as_ref().map(|(_, signal)| signal)
    }
}
