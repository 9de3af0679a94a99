//! A session as a protocol: the seam to whatever moves its datagrams.

use super::duel::Session;
use crate::{Fields, Protocol};
use core::time::Duration;
use std::net::SocketAddr;

impl<S: Fields> Protocol for Session<S> {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        self.silence.pass(now);
        self.stats.packets_in += 1;
        self.stats.bytes_in += datagram.len() as u64;
        if let Err(refusal) = self.receive(now, from, datagram) {
            self.stats.refused.count(refusal);
        }
    }

    #[inline]
    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        // A driver asks several times a frame, and nearly always for nothing.
        match (self.outbox.due, now < self.idle_until) {
            (false, true) => None,
            (true, true) => self.transmit_inputs(now, buf),
            (_, false) => self.transmit(now, buf),
        }
    }

    #[inline]
    fn poll_timeout(&self) -> Option<Duration> {
        match self.idle_until {
            _ if self.outbox.due => Some(Duration::ZERO),
            Duration::ZERO => self.next_due(),
            Duration::MAX => None,
            until => Some(until),
        }
    }

    fn wants_attention(&self, now: Duration) -> bool {
        self.can_go_on() && self.pacing.is_due(now)
    }

    fn lingers(&self) -> bool {
        self.link.has_unfinished()
            || self.outbox.due
            || self.resend_at().is_some()
            || self.examiner.has_messages()
    }
}
