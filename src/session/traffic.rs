//! A session as a protocol: its datagrams counted, and the time until which it has nothing to send.

use super::Session;
use super::event::Event;
use super::stats::Stats;
use crate::channel::refusal::{Conflict, Detail, Refusal, Refusals, Rejected};
use crate::protocol::time::Time;
use crate::protocol::{Authenticated, ConnectionStep, PeerRole};
use crate::{Fields, Protocol, protocol::trace};
use core::time::Duration;
use std::net::SocketAddr;

/// Counts datagrams, and remembers until when nothing is due.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Traffic {
    packets_out: u64,
    bytes_out: u64,
    packets_in: u64,
    bytes_in: u64,
    refused: Refusals,
    /// Nothing is due before this time but inputs. `ZERO` if that is not known.
    idle_until: Time,
    /// The same as a driver asks for it, several times a frame.
    deadline: Option<Duration>,
}

impl Traffic {
    pub(super) fn new(refused: Refusals) -> Self {
        Self { refused, ..Self::default() }
    }

    /// Counts a datagram that came in.
    #[inline]
    fn received(&mut self, len: usize) {
        self.packets_in += 1;
        self.bytes_in += len as u64;
    }

    /// Counts a datagram that goes out.
    #[inline]
    pub(super) fn sent(&mut self, len: usize) {
        self.packets_out += 1;
        self.bytes_out += len as u64;
    }

    /// Counts a datagram that was dropped.
    pub(super) fn refuse(&mut self, refusal: Refusal) {
        self.refused.count(refusal);
    }

    /// Something may be due sooner than was known.
    #[inline]
    pub(super) fn stir(&mut self) {
        self.idle_until = Time::ZERO;
    }

    /// Nothing but inputs is due before `until`.
    #[inline]
    pub(super) fn idle_until(&mut self, until: Time) {
        self.idle_until = until;
        self.deadline = until.deadline();
    }

    /// Something is due at `at`, perhaps sooner than was known.
    #[inline]
    pub(super) fn due_at(&mut self, at: Time) {
        if at < self.idle_until {
            self.idle_until(at);
        }
    }

    /// Writes the counts into the statistics.
    pub(super) fn fill(&self, stats: &mut Stats) {
        let Self { packets_out, bytes_out, packets_in, bytes_in, refused, .. } = *self;
        (stats.packets_out, stats.bytes_out) = (packets_out, bytes_out);
        (stats.packets_in, stats.bytes_in) = (packets_in, bytes_in);
        stats.refused = refused;
    }
}

impl<S: Fields> Protocol for Session<S> {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        let now = Time::from(now);
        self.liveness.listen(now);
        self.traffic.received(datagram.len());
        if let Err(Rejected { refusal, detail }) = self.receive(now, from, datagram) {
            self.traffic.refuse(refusal);
            trace::refused(from, &refusal, &detail);
            if let Detail::Conflict(Conflict { frame, confirmed, refused }) = detail {
                self.events.tell(Event::InputConflict { frame, confirmed, refused });
            }
        }
    }

    #[inline]
    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        // A driver asks several times a frame, and nearly always there is nothing.
        let now = Time::from(now);
        match (self.stream.is_due(), now < self.traffic.idle_until) {
            (false, true) => None,
            (true, true) => self.transmit_inputs(now, buf),
            (_, false) => self.transmit(now, buf),
        }
    }

    #[inline]
    fn poll_timeout(&self) -> Option<Duration> {
        match self.traffic.idle_until {
            _ if self.stream.is_due() => Some(Duration::ZERO),
            Time::ZERO => self.next_due().deadline(),
            _ => self.traffic.deadline,
        }
    }

    fn wants_attention(&self, now: Duration) -> bool {
        self.can_go_on() && self.pace.is_due(now.into())
    }

    fn lingers(&self) -> bool {
        self.link.has_unfinished() || self.resend_at().is_some()
    }

    #[inline]
    fn authenticated(&mut self) -> Option<&mut dyn Authenticated> {
        Some(self)
    }
}

impl<S: Fields> Authenticated for Session<S> {
    fn connection(&mut self, _: Duration, peer: SocketAddr, step: ConnectionStep) {
        self.responder.connection(peer, step);
    }

    #[inline]
    fn knows(&mut self, peer: SocketAddr) -> bool {
        self.responder.knows(peer)
    }

    fn keeps(&mut self, peer: SocketAddr) -> bool {
        self.link.is_peer(&peer)
    }

    fn serves(&mut self, role: PeerRole) -> bool {
        role.plays() || role == PeerRole::of_guest(self.link.addr())
    }
}
