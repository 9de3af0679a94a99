//! The datagrams of a client.

use super::{Baseline, Client, ClientEvent, OverReason, Phase, RTYPE_PATIENCE};
use crate::Protocol;
use crate::authority::config::ClientConfig;
use crate::authority::dialect::{FromServer, SpeaksToServer};
use crate::authority::numbering::nearest;
use crate::authority::record::Terms;
use crate::channel::refusal::Refusal;
use crate::protocol::time::{Span, Time};
use crate::protocol::{Authenticated, ConnectionStep};
use core::time::Duration;
use std::net::SocketAddr;

/// A request goes out again after this long without an answer.
const JOIN_EVERY: Span = Span::from_millis(200);
const JOIN_EVERY_RTYPE: Span = Span::from_millis(100);

/// An answer that leads to nothing within this time was void: somebody else took the seat that it offered.
const PROOF_WITHIN: Span = Span::from_millis(500);

/// A client that has nothing else to say is heard of this often.
const ALIVE_EVERY: Span = Span::from_millis(100);

/// A client without a seat is heard of this often: a server sends it as much as it gets, and waits for several acks.
const PROVING_EVERY: Span = Span::from_millis(25);

/// A server does not run for longer than this: times in nanoseconds stay within 64 bits, whatever a server claims.
const MAX_SECONDS: u64 = u32::MAX as u64 / 2;

const FAREWELL_EVERY: Span = Span::from_millis(100);

impl Client {
    fn hear_server(&mut self, now: Time, datagram: &[u8]) -> Result<(), Refusal> {
        if matches!(self.phase, Phase::Over(_)) {
            if self.link.ends_farewell(datagram) {
                self.farewells = 0;
                return Ok(());
            }
            return Err(Refusal::OutOfPlace);
        }
        let heard = self.link.receive(now, datagram, &mut self.shown)?;
        self.heard_at = now;
        if let Phase::Proving { until } = &mut self.phase {
            *until = (*until).max(now + PROOF_WITHIN);
        }
        match heard {
            FromServer::Accepted { id, seed } => self.accepted(now, id, seed),
            FromServer::Leaves => self.told_to_leave(now),
            FromServer::Snapshot { frame, applied } => self.snapshot(now, frame, applied)?,
            FromServer::Pong(value) => {
                let round_trip = self.pings.answered(now, value).ok_or(Refusal::UnaskedPong)?;
                if !self.clock.round_trip(round_trip) {
                    self.pings.quicken(now);
                }
            }
            FromServer::Updates => self.updated(now),
            FromServer::RoundTrip(round_trip) => {
                self.clock.round_trip(round_trip);
                // The request was answered, if not with a seat yet.
                self.asking_since = None;
                self.by_arrival.iter_mut().for_each(|mine| mine.round_trip = round_trip);
            }
            FromServer::Quiet => {
                self.seated(now);
                self.said_leave = None;
            }
            FromServer::Rejected => self.end(OverReason::Rejected),
            FromServer::Messages => {
                self.seated(now);
                self.deliver(now);
            }
            FromServer::Alive => {}
        }
        Ok(())
    }

    fn accepted(&mut self, now: Time, id: u8, seed: Option<u32>) {
        if let Phase::Asking = self.phase {
            // An answer takes as long as the one to the request did.
            let waited = self.asking_since.map_or(Span::ZERO, |since| now.since(since));
            self.phase = Phase::Proving { until: now + PROOF_WITHIN + waited };
            (self.id, self.asking_since) = (Some(id), None);
            match (&mut self.by_arrival, seed) {
                (Some(mine), Some(seed)) => {
                    mine.seed = seed;
                    // The ACK of the WELCOME goes out by itself.
                    self.alive_due = now + PROVING_EVERY;
                }
                _ => {
                    self.alive_due = now;
                    self.pings.begin(now);
                }
            }
        }
    }

    /// The server talks to us, so it has taken our proof.
    pub(super) fn seated(&mut self, now: Time) {
        if let (Phase::Proving { .. }, Some(id)) = (self.phase, self.id) {
            self.phase = Phase::Playing { since: now };
            self.tell(ClientEvent::Joined { id });
            match &self.by_arrival {
                Some(mine) => {
                    let seed = mine.seed;
                    let ClientConfig { frame_rate, broadcast_rate, .. } = self.config;
                    self.tell(ClientEvent::Terms(Terms { frame_rate, broadcast_rate, seed }));
                }
                None => self.pings.quicken(now),
            }
        }
    }

    fn told_to_leave(&mut self, now: Time) {
        match self.phase {
            Phase::Asking => self.end(OverReason::Full),
            _ => self.said_leave = self.said_leave.or(Some(now)),
        }
    }

    fn snapshot(&mut self, now: Time, frame: u32, applied: Option<u32>) -> Result<(), Refusal> {
        self.seated(now);
        self.stats.snapshots += 1;
        let first = self.newest_frame == 0;
        let frame = if first { u64::from(frame) } else { nearest(self.newest_frame, frame) };
        if frame / u64::from(self.frame_rate) > MAX_SECONDS {
            return Err(Refusal::OutOfPlace);
        }
        let implausible = self.clock.is_implausible(now, frame);
        self.clock.arrived(now, frame);
        if implausible && self.clock.is_implausible(now, frame) {
            return Err(Refusal::OutOfPlace);
        }
        self.said_leave = None;
        self.newest_frame = self.newest_frame.max(frame);
        self.scene.snapshot(frame, &self.shown);
        let own = self.shown.iter().find(|shown| Some(shown.id) == self.id.map(u16::from));
        let newer = self.baseline.is_none_or(|baseline| baseline.frame < frame);
        if let Some(own) = own
            && newer
        {
            self.baseline = Some(Baseline { frame, applied, body: own.body });
            let began = self.pace.is_some() && self.has_terms;
            self.stats.held_by_server += u64::from(began && applied.is_some_and(|n| n != frame as u32));
        }
        Ok(())
    }

    fn next_datagram(&mut self, now: Time, buf: &mut [u8]) -> Option<usize> {
        match self.phase {
            Phase::Over(_) => return self.farewell(now, buf),
            Phase::Asking if self.join_due <= now => return self.ask(now, buf),
            Phase::Asking => return None,
            Phase::Proving { until } if until < now => {
                self.phase = Phase::Asking;
                return self.ask(now, buf);
            }
            Phase::Proving { .. } | Phase::Playing { .. } => {}
        }
        if let Some(len) = self.link.write_due(now, buf) {
            return Some(len);
        }
        if self.pings.due() <= now {
            let value = self.pings.next(now);
            return self.link.write_ping(now, value, buf);
        }
        if self.inputs_due > 0 && self.by_arrival.is_some() {
            self.alive_due = now + ALIVE_EVERY;
            self.next_input();
            self.inputs_due -= 1;
            return self.link.write_inputs(now, &self.inputs, buf);
        }
        if self.inputs_due > 0 {
            let count = self.inputs_due - 1 + self.redundancy();
            self.inputs_due = 0;
            self.alive_due = now + ALIVE_EVERY;
            self.history.newest(count, self.base, &mut self.inputs);
            return self.link.write_inputs(now, &self.inputs, buf);
        }
        if self.alive_due <= now {
            let is_proving = matches!(self.phase, Phase::Proving { .. });
            self.alive_due = now + if is_proving { PROVING_EVERY } else { ALIVE_EVERY };
            return self.link.write_alive(now, buf);
        }
        None
    }

    fn ask(&mut self, now: Time, buf: &mut [u8]) -> Option<usize> {
        let since = *self.asking_since.get_or_insert(now);
        if self.by_arrival.is_some() && now.since(since) >= RTYPE_PATIENCE {
            // The next call of `advance` gives up.
            self.join_due = Time::NEVER;
            return None;
        }
        self.join_due = now + if self.by_arrival.is_some() { JOIN_EVERY_RTYPE } else { JOIN_EVERY };
        self.link.write_join(now, buf)
    }

    fn farewell(&mut self, now: Time, buf: &mut [u8]) -> Option<usize> {
        if self.farewells == 0 || self.farewell_due > now {
            return None;
        }
        (self.farewells, self.farewell_due) = (self.farewells - 1, now + FAREWELL_EVERY);
        self.link.write_leaves(now, buf)
    }
}

impl Protocol for Client {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        self.stats.datagrams_in += 1;
        let taken = if from == self.server {
            self.hear_server(Time::from(now), datagram)
        } else {
            Err(Refusal::Stranger)
        };
        if let Err(refusal) = taken {
            self.stats.refused.count(refusal);
        }
    }

    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        let len = self.next_datagram(Time::from(now), buf)?;
        self.stats.datagrams_out += 1;
        self.stats.bytes_out += len as u64;
        Some((self.server, len))
    }

    fn poll_timeout(&self) -> Option<Duration> {
        let due = match self.phase {
            Phase::Asking => self.join_due,
            Phase::Over(_) if self.farewells > 0 => self.farewell_due,
            Phase::Over(_) => Time::NEVER,
            _ => self.alive_due.min(self.pings.due()).min(self.link.next_due()),
        };
        due.deadline()
    }

    fn lingers(&self) -> bool {
        matches!(self.phase, Phase::Over(_)) && self.farewells > 0
    }

    fn opening(&mut self, now: Duration, peer: SocketAddr, buf: &mut [u8]) -> Option<usize> {
        if self.phase != Phase::Asking || peer != self.server {
            return None;
        }
        // The requests before this one did not leave the machine: there is no connection yet.
        let now = Time::from(now);
        self.asking_since = Some(now);
        self.link.write_join(now, buf)
    }

    fn authenticated(&mut self) -> Option<&mut dyn Authenticated> {
        Some(self)
    }
}

impl Authenticated for Client {
    fn connection(&mut self, now: Duration, peer: SocketAddr, step: ConnectionStep) {
        let is_made = step != ConnectionStep::Gone && peer == self.server;
        if is_made && self.phase == Phase::Asking {
            // The request in the handshake may have no answer. One that there is comes right after this.
            (self.join_due, self.asking_since) = (Time::from(now), None);
        }
    }

    fn knows(&self, _: SocketAddr) -> bool {
        true
    }

    fn keeps(&self, peer: SocketAddr) -> bool {
        peer == self.server
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authority::{Command, Stage, World};
    use crate::protocol::PeerRole;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn made_connection_lets_the_client_ask_at_once() {
        let [server, other] = [1, 2].map(|n| SocketAddr::from(([192, 0, 2, n], 7)));
        let mut client = Client::join(ClientConfig::new(1), server).unwrap();
        let mut buf = [0; 64];
        let mut asks = |client: &mut Client, at| client.poll_transmit(ms(at), &mut buf).is_some();
        let reached = ConnectionStep::Reached { round_trip: ms(0), role: PeerRole::Host };
        assert_eq!([0, 10, 199, 200].map(|at| asks(&mut client, at)), [true, false, false, true]);
        for (peer, step, is_asked) in
            [(server, ConnectionStep::Gone, false), (other, reached, false), (server, reached, true)]
        {
            client.connection(ms(210), peer, step);
            assert_eq!(asks(&mut client, 210), is_asked, "{step:?} of {peer}");
        }
        assert!(client.knows(other) && client.keeps(server) && !client.keeps(other));
        assert_eq!(client.opening(ms(220), other, &mut [0; 64]), None);
        assert!(client.opening(ms(220), server, &mut [0; 64]).is_some());
    }

    /// The time until an R-Type client gives up begins with the opening of its connection, or when it is made.
    #[test]
    fn requests_before_the_connection_do_not_count() {
        let server = SocketAddr::from(([192, 0, 2, 1], 7));
        let mut config = ClientConfig::new(1);
        config.wire = crate::authority::Wire::Rtype;
        for is_opened in [true, false] {
            let (mut client, mut buf) = (Client::join(config, server).unwrap(), [0; 64]);
            client.advance(ms(0), &Nothing, Command::NEUTRAL);
            assert!(client.poll_transmit(ms(0), &mut buf).is_some());
            if is_opened {
                assert!(client.opening(ms(500), server, &mut buf).is_some());
            } else {
                let step = ConnectionStep::Reached { round_trip: ms(0), role: PeerRole::Host };
                client.connection(ms(500), server, step);
                assert!(client.poll_transmit(ms(500), &mut buf).is_some());
            }
            client.advance(ms(1_000), &Nothing, Command::NEUTRAL);
            assert_eq!(client.over(), None);
            client.advance(ms(1_100), &Nothing, Command::NEUTRAL);
            assert_eq!(client.over(), Some(OverReason::NoAnswer));
        }
    }

    struct Nothing;

    impl World for Nothing {
        fn walk(&self, _: &mut crate::authority::Body, _: Command) {}
        fn enter(&mut self, _: u8) -> (u8, crate::authority::Body) {
            (0, crate::authority::Body::at(0.0, 0.0))
        }
        fn step(&mut self, _: &mut Stage<'_>) {}
    }
}
