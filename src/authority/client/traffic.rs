//! The datagrams of a client.

use super::schedule::PROVING_EVERY;
use super::{Client, ClientEvent, OverReason, Phase, View};
use crate::Protocol;
use crate::authority::dialect::{ClientEnd, FromServer, Wire};
use crate::channel::refusal::Refusal;
use crate::protocol::time::Time;
use crate::protocol::trace;
use crate::protocol::{Authenticated, ConnectionStep};
use core::time::Duration;
use std::net::SocketAddr;

impl<W: Wire> Client<W> {
    fn hear_server(&mut self, now: Time, datagram: &[u8]) -> Result<(), Refusal> {
        if self.over().is_some() {
            if self.link.ends_farewell(datagram) {
                self.schedule.end_farewell();
                return Ok(());
            }
            return Err(Refusal::OutOfPlace);
        }
        let heard = self.link.receive(now, datagram, &mut self.shown)?;
        self.lifecycle.heard(now);
        match heard {
            FromServer::Accepted { id, sends_proof } => {
                if self.lifecycle.accepted(now, id) {
                    self.schedule.alive_at(if sends_proof { now + PROVING_EVERY } else { now });
                }
            }
            FromServer::Leaves => {
                if let Some(reason) = self.lifecycle.told_to_leave(now) {
                    self.end(reason);
                }
            }
            FromServer::Entities(stamp) => {
                self.seated(now);
                self.stats.snapshots += 1;
                self.view.entities(now, self.lifecycle.id(), stamp, &self.shown)?;
                self.lifecycle.shown();
            }
            FromServer::RoundTrip(round_trip) => {
                self.lifecycle.answered();
                if !self.view.round_trip(round_trip) {
                    self.link.measure_again(now);
                }
            }
            FromServer::Quiet => {
                self.seated(now);
                self.lifecycle.shown();
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

    fn seated(&mut self, now: Time) {
        if let Some(id) = self.lifecycle.seated(now) {
            trace::joined(self.server, id);
            self.events.tell(ClientEvent::Joined { id });
            if let Some(terms) = self.link.seated(now) {
                self.events.tell(ClientEvent::Terms(terms));
            }
        }
    }

    fn next_datagram(&mut self, now: Time, buf: &mut [u8]) -> Option<usize> {
        let is_proving = match self.lifecycle.phase() {
            Phase::Over(_) if self.schedule.farewell_due() <= now => {
                self.schedule.farewell(now);
                return self.link.write_leaves(now, buf);
            }
            Phase::Asking if self.schedule.join_due() <= now => return self.ask(now, buf),
            Phase::Over(_) | Phase::Asking => return None,
            Phase::Proving { until } if until < now => return self.ask(now, buf),
            Phase::Proving { .. } => true,
            Phase::Playing { .. } => false,
        };
        if let Some(len) = self.link.write_due(now, buf) {
            return Some(len);
        }
        if self.view.next_inputs(self.link.recent_loss_run(), &mut self.inputs) {
            self.schedule.alive(now, false);
            return self.link.write_inputs(now, &self.inputs, buf);
        }
        if self.schedule.alive_due() <= now {
            self.schedule.alive(now, is_proving);
            return self.link.write_alive(now, buf);
        }
        None
    }

    fn ask(&mut self, now: Time, buf: &mut [u8]) -> Option<usize> {
        if !self.lifecycle.ask(now, W::ANSWER_WITHIN) {
            self.schedule.join_at(Time::NEVER);
            return None;
        }
        self.schedule.join_at(now + W::JOIN_EVERY);
        self.link.write_join(now, buf)
    }
}

impl<W: Wire> Protocol for Client<W> {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        self.stats.datagrams_in += 1;
        let taken = if from == self.server {
            self.hear_server(Time::from(now), datagram)
        } else {
            Err(Refusal::Stranger)
        };
        if let Err(refusal) = taken {
            self.stats.refused.count(refusal);
            trace::refused(from, &refusal, &"at a client");
        }
    }

    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        let len = self.next_datagram(Time::from(now), buf)?;
        self.stats.datagrams_out += 1;
        self.stats.bytes_out += len as u64;
        Some((self.server, len))
    }

    fn poll_timeout(&self) -> Option<Duration> {
        let due = match self.lifecycle.phase() {
            Phase::Asking => self.schedule.join_due(),
            Phase::Over(_) => self.schedule.farewell_due(),
            Phase::Proving { .. } | Phase::Playing { .. } => {
                self.schedule.alive_due().min(self.link.next_due())
            }
        };
        due.deadline()
    }

    fn lingers(&self) -> bool {
        self.over().is_some() && self.schedule.farewell_due() != Time::NEVER
    }

    fn opening(&mut self, now: Duration, peer: SocketAddr, buf: &mut [u8]) -> Option<usize> {
        if self.lifecycle.phase() != Phase::Asking || peer != self.server {
            return None;
        }
        let now = Time::from(now);
        self.lifecycle.ask_since(Some(now));
        self.link.write_join(now, buf)
    }

    fn authenticated(&mut self) -> Option<&mut dyn Authenticated> {
        Some(self)
    }
}

impl<W: Wire> Authenticated for Client<W> {
    fn connection(&mut self, now: Duration, peer: SocketAddr, step: ConnectionStep) {
        let is_made = step != ConnectionStep::Gone && peer == self.server;
        if is_made && self.lifecycle.phase() == Phase::Asking {
            // The request in the handshake may have no answer. One that there is comes right after this.
            self.schedule.join_at(Time::from(now));
            self.lifecycle.ask_since(None);
        }
    }

    fn knows(&mut self, _: SocketAddr) -> bool {
        true
    }

    fn keeps(&mut self, peer: SocketAddr) -> bool {
        peer == self.server
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authority::{ClientConfig, Command, GameWire, RtypeWire, Stage, World};
    use crate::protocol::PeerRole;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn made_connection_lets_the_client_ask_at_once() {
        let [server, other] = [1, 2].map(|n| SocketAddr::from(([192, 0, 2, n], 7)));
        let mut client = Client::<GameWire>::join(ClientConfig::new(1), server).unwrap();
        let mut buf = [0; 64];
        let mut asks = |client: &mut Client<GameWire>, at| client.poll_transmit(ms(at), &mut buf).is_some();
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
        let config = ClientConfig::new(1);
        for is_opened in [true, false] {
            let (mut client, mut buf) = (Client::<RtypeWire>::join(config, server).unwrap(), [0; 64]);
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
