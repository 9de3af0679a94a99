//! The datagrams of a server: those of seats and of strangers, and those that go out.

use super::{Server, ServerEvent};
use crate::Protocol;
use crate::authority::dialect::{ServerEnd, Wire};
use crate::channel::refusal::Refusal;
use crate::protocol::time::Time;
use crate::protocol::trace;
use crate::protocol::{Authenticated, ConnectionStep};
use core::time::Duration;
use std::net::SocketAddr;

impl<W: Wire> Server<W> {
    fn hear_stranger(&mut self, now: Time, from: SocketAddr, datagram: &[u8]) -> Result<(), Refusal> {
        let is_vouched = self.access.vouched(from).is_some();
        let offer = self.seats.offer(from, is_vouched, self.replicated.entities());
        let Some(newcomer) = self.access.hear::<W>(now, from, datagram, offer)? else { return Ok(()) };
        let (times, terms, frame) = (self.times(now), self.terms(), self.clock.frame());
        let told = self.replicated.log().newest();
        let seat = self.seats.seat(times, &newcomer, told).ok_or(Refusal::NoRoom)?;
        self.replicated.admit(newcomer.id);
        seat.greet(now, &terms, frame, || {
            self.replicated
                .records(move |course, rate| W::ServerLink::course_for_newcomer(course, frame, rate))
        });
        self.tell(ServerEvent::Joined { id: newcomer.id, addr: from });
        let at = self.seats.of_addr(from).ok_or(Refusal::Stranger)?;
        self.seats.hear(times, at, frame, datagram)
    }

    fn next_datagram(&mut self, now: Time, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        if let Some((to, answer)) = self.access.next_answer() {
            buf.get_mut(..answer.len)?.copy_from_slice(&answer.bytes[..answer.len]);
            return Some((to, answer.len));
        }
        let (to, written) = self.seats.write(now, self.broadcast.prepared(), buf)?;
        if written.is_snapshot {
            self.stats.snapshot_bytes_out += written.len as u64;
        }
        Some((to, written.len))
    }
}

impl<W: Wire> Protocol for Server<W> {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        self.stats.datagrams_in += 1;
        let now = Time::from(now);
        let taken = match self.seats.of_addr(from) {
            Some(at) => self.seats.hear(self.times(now), at, self.clock.frame(), datagram),
            None => self.hear_stranger(now, from, datagram),
        };
        if let Err(refusal) = taken {
            self.stats.refused.count(refusal);
            trace::refused(from, &refusal, &"at a server");
        }
    }

    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        let sent = self.next_datagram(Time::from(now), buf)?;
        self.stats.datagrams_out += 1;
        self.stats.bytes_out += sent.1 as u64;
        Some(sent)
    }

    fn poll_timeout(&self) -> Option<Duration> {
        self.seats.farewell_due().deadline()
    }

    fn lingers(&self) -> bool {
        self.seats.farewell_due() != Time::NEVER
    }

    fn authenticated(&mut self) -> Option<&mut dyn Authenticated> {
        Some(self)
    }
}

/// A guest of an encrypted connection has a seat as soon as it asks: the connection has proven its address.
impl<W: Wire> Authenticated for Server<W> {
    fn connection(&mut self, _: Duration, peer: SocketAddr, step: ConnectionStep) {
        self.access.connection(peer, step);
    }

    fn knows(&mut self, peer: SocketAddr) -> bool {
        self.keeps(peer) || self.access.vouched(peer).is_some_and(|vouched| vouched.is_confirmed)
    }

    fn keeps(&mut self, peer: SocketAddr) -> bool {
        self.seats.of_addr(peer).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authority::GameWire;
    use crate::authority::ServerConfig;
    use crate::protocol::PeerRole;

    #[test]
    fn confirmed_and_seated_guests_are_known() {
        let mut server = Server::<GameWire>::new(ServerConfig::new(1)).unwrap();
        let [one, two] = [1, 2].map(|n| SocketAddr::from(([192, 0, 2, n], 7)));
        let (now, round_trip, role) = (Duration::from_secs(1), Duration::ZERO, PeerRole::Player);
        server.connection(now, one, ConnectionStep::Reached { round_trip, role });
        assert!(!server.knows(one) && !server.keeps(one), "its packets may be recorded ones");
        server.connection(now, one, ConnectionStep::Confirmed { round_trip, role });
        assert!(server.knows(one) && !server.keeps(one) && !server.knows(two));
        server.handle_datagram(now, one, b"GAME\0\x01\0\0\0\0\0\0\x01\0\0");
        assert_eq!(server.clients(), 1);
        server.connection(now, two, ConnectionStep::Reached { round_trip, role });
        assert!(server.knows(one) && server.keeps(one), "it has a seat");
        assert!(!server.knows(two) && !server.keeps(two));
    }
}
