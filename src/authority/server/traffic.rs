//! The datagrams of a server: what comes in from seats and strangers, and what goes out.

use super::access::Newcomer;
use super::{InputStats, Server, ServerEvent};
use crate::Protocol;
use crate::authority::config::Wire;
use crate::authority::dialect::{FromClient, SpeaksToClient};
use crate::authority::record::Record;
use crate::channel::refusal::Refusal;
use crate::protocol::time::Time;
use crate::protocol::{Authenticated, ConnectionStep};
use core::time::Duration;
use std::net::SocketAddr;

impl Server {
    fn hear_stranger(&mut self, now: Time, from: SocketAddr, datagram: &[u8]) -> Result<(), Refusal> {
        let is_vouched = self.access.vouched(from).is_some();
        let offer = self.seats.offer(from, is_vouched, &self.entities);
        let Some(Newcomer { id, challenges }) = self.access.hear(now, from, datagram, offer)? else {
            return Ok(());
        };
        let at = self.seats.seat(now, from, id, &challenges, self.log.newest()).ok_or(Refusal::NoRoom)?;
        self.greet(now, at, id);
        self.tell(ServerEvent::Joined { id, addr: from });
        self.hear_client(now, at, datagram)
    }

    /// Tells a newcomer the terms, and everything that is there.
    fn greet(&mut self, now: Time, at: usize, id: u8) {
        self.entities.reserve(id);
        self.entering.push_back(id);
        let (terms, frame, mark) = (self.terms(), self.frame, self.log.newest());
        let seat = &mut self.seats.all_mut()[at];
        seat.link.queue_terms(now, &terms, frame);
        let mut written = 0;
        loop {
            // The table of entities is read anew for each message; a newcomer costs once what a frame never does.
            let mut count = 0;
            let mut buffer = [Record::Bye { kicked: false }; RECORDS_A_MESSAGE];
            let spawns = self.entities.iter().map(|(id, kind, frame, body)| Record::Spawn {
                id,
                kind,
                frame,
                place: Some((body.x, body.y)),
            });
            let shots = self.shots.iter().map(|(id, flight)| Record::Shot {
                id,
                kind: flight.kind,
                owner: flight.owner,
                course: match self.config.wire {
                    Wire::Game => flight.course,
                    // A place is all that travels: the one where the projectile is now.
                    Wire::Rtype => flight.course.moved_to(frame, self.config.frame_rate),
                },
            });
            for (slot, record) in buffer.iter_mut().zip(spawns.chain(shots).skip(written)) {
                *slot = record;
                count += 1;
            }
            let numbered = (1_u64..).zip(&buffer[..count]);
            match seat.link.queue_records(now, numbered) {
                Some(last) => written += last as usize,
                None => break,
            }
        }
        seat.link.mark_all(mark);
        self.seats.make_ready(at);
    }

    fn hear_client(&mut self, now: Time, at: usize, datagram: &[u8]) -> Result<(), Refusal> {
        let seat = &mut self.seats.all_mut()[at];
        let heard = seat.link.receive(now, datagram, &mut self.inputs);
        if self.config.wire == Wire::Rtype && seat.has_due(now) {
            // An ACK or a NACK does not wait for the next frame.
            self.seats.make_ready(at);
        }
        let heard = heard?;
        let seat = &mut self.seats.all_mut()[at];
        if !seat.is_playing() {
            if seat.link.is_farewell_heard() {
                seat.clear();
                self.seats.freed(at);
            }
            return Ok(());
        }
        seat.heard_at = now;
        match heard {
            FromClient::Inputs => {
                seat.said_leave = None;
                match (self.config.wire, self.inputs.first()) {
                    (Wire::Rtype, Some(input)) => seat.inputs.insert_by_packet(now, *input),
                    _ => seat.inputs.insert(self.frame, &self.inputs),
                }
            }
            FromClient::Ping(value) => {
                seat.pong = Some(value);
                self.seats.make_ready(at);
            }
            FromClient::Numbered { first } => seat.inputs.number_by_frames(self.frame, first),
            FromClient::JoinAgain => {
                let has_played = seat.inputs.stats() != InputStats::default();
                // Nothing in an R-Type packet tells whether a welcomed client is the one that was seated. One that has
                // started anew gets a WELCOME once the seat is free.
                seat.accept_again = self.config.wire == Wire::Game || !has_played;
                // One who has played and asks again has started anew, unless an input says otherwise.
                if has_played {
                    seat.said_leave = seat.said_leave.or(Some(now));
                }
                self.seats.make_ready(at);
            }
            FromClient::Leaves => seat.said_leave = seat.said_leave.or(Some(now)),
            FromClient::Passed { number } => seat.inputs.pass(number),
            FromClient::Alive => {}
        }
        Ok(())
    }
}

/// More records than one message holds.
const RECORDS_A_MESSAGE: usize = 256;

impl Protocol for Server {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        self.stats.datagrams_in += 1;
        let now = Time::from(now);
        let taken = match self.seats.of_addr(from) {
            Some(at) => self.hear_client(now, at, datagram),
            None => self.hear_stranger(now, from, datagram),
        };
        if let Err(refusal) = taken {
            self.stats.refused.count(refusal);
        }
    }

    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        let now = Time::from(now);
        let sent = self.next_datagram(now, buf)?;
        self.stats.datagrams_out += 1;
        self.stats.bytes_out += sent.1 as u64;
        Some(sent)
    }

    fn poll_timeout(&self) -> Option<Duration> {
        self.seats.farewell_due().deadline()
    }

    fn lingers(&self) -> bool {
        self.seats.all().iter().any(|seat| seat.farewell_due() != Time::NEVER)
    }

    fn authenticated(&mut self) -> Option<&mut dyn Authenticated> {
        Some(self)
    }
}

/// A guest of an encrypted connection has a seat as soon as it asks: the connection has proven its address.
impl Authenticated for Server {
    fn connection(&mut self, _: Duration, peer: SocketAddr, step: ConnectionStep) {
        self.access.connection(peer, step);
    }

    fn knows(&self, peer: SocketAddr) -> bool {
        self.keeps(peer) || self.access.vouched(peer).is_some_and(|vouched| vouched.is_confirmed)
    }

    fn keeps(&self, peer: SocketAddr) -> bool {
        self.seats.of_addr(peer).is_some()
    }
}

impl Server {
    fn next_datagram(&mut self, now: Time, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        if let Some((to, answer)) = self.access.next_answer() {
            buf.get_mut(..answer.len)?.copy_from_slice(&answer.bytes[..answer.len]);
            return Some((to, answer.len));
        }
        if self.seats.farewell_due() <= now {
            self.seats.ready_farewells(now);
        }
        while let Some(at) = self.seats.next_ready() {
            let seat = &mut self.seats.all_mut()[at];
            let addr = seat.addr;
            let broadcast = seat.broadcast_at();
            if let Some(len) = seat.write(now, &self.parts, buf) {
                if seat.broadcast_at() != broadcast {
                    self.stats.snapshot_bytes_out += len as u64;
                }
                if seat.is_empty() {
                    self.seats.freed(at);
                }
                return Some((addr, len));
            }
            self.seats.sent_all();
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authority::ServerConfig;
    use crate::protocol::PeerRole;

    #[test]
    fn confirmed_and_seated_guests_are_known() {
        let mut server = Server::new(ServerConfig::new(1)).unwrap();
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
