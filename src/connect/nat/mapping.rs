//! The mapped address of manual signalling: a STUN server is asked for it, and the router keeps it while the players send their texts.

use super::probe::Probe;
use crate::protocol::time::{Span, Time};
use crate::wire::stun::Id;
use std::net::SocketAddr;

/// A text is written without the mapped address if the server has not answered within this time.
const PATIENCE: Span = Span::from_secs(3);
/// The server is asked again after this long, so that the router keeps the mapping.
const KEEP_ALIVE: Span = Span::from_secs(15);

/// The question for the mapped address of this machine.
#[derive(Debug)]
pub(super) struct Mapping {
    server: SocketAddr,
    /// `None` before the first turn.
    probe: Option<Probe>,
    since: Time,
    again_at: Time,
    has_answered: bool,
}

impl Mapping {
    pub(super) fn new(server: SocketAddr) -> Self {
        Self { server, probe: None, since: Time::NEVER, again_at: Time::ZERO, has_answered: false }
    }

    pub(super) fn server(&self) -> SocketAddr {
        self.server
    }

    pub(super) fn has_answered(&self) -> bool {
        self.has_answered
    }

    /// Whether a text has to wait for the answer.
    pub(super) fn is_awaited(&self, now: Time) -> bool {
        !self.has_answered && (self.probe.is_none() || now < self.since + PATIENCE)
    }

    /// Lets time pass. `id` draws the identifier of a question.
    pub(super) fn run(&mut self, now: Time, id: impl FnOnce() -> Id) {
        if self.again_at <= now {
            self.since = self.since.min(now);
            self.again_at = now + KEEP_ALIVE;
            self.probe = Some(Probe::new(now, self.server, id()));
        }
    }

    /// The next request to the server.
    pub(super) fn poll_transmit(&mut self, now: Time) -> Option<(SocketAddr, Vec<u8>)> {
        let request = self.probe.as_mut()?.poll_transmit(now)?;
        Some((self.server, request.to_vec()))
    }

    /// The address in a datagram that came from `from`, if it is the answer of the server.
    pub(super) fn handle(&mut self, now: Time, from: SocketAddr, datagram: &[u8]) -> Option<SocketAddr> {
        let probe = self.probe.as_mut().filter(|_| from == self.server)?;
        let seen = probe.handle(now, datagram)?;
        self.has_answered = true;
        Some(seen.addr)
    }

    pub(super) fn deadline(&self) -> Time {
        let repeat_at = self.probe.as_ref().and_then(Probe::deadline);
        repeat_at.unwrap_or(Time::NEVER).min(self.again_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::stun;

    const SERVER: &str = "198.51.100.1:3478";

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// Runs a mapping for a minute at a server that answers or not. Returns when the server was asked.
    fn run(mapping: &mut Mapping, answers: bool) -> Vec<u64> {
        let (mut asked, server) = (Vec::new(), mapping.server());
        for ms in 0..60_000 {
            mapping.run(at(ms), || [7; 12]);
            while let Some((to, request)) = mapping.poll_transmit(at(ms)) {
                assert_eq!(to, server);
                asked.push(ms);
                let mut buf = [0; stun::MAX_ANSWER];
                let len = stun::answer(&request, "192.0.2.1:7".parse().unwrap(), &mut buf).unwrap();
                let other = "198.51.100.9:3478".parse().unwrap();
                assert_eq!(mapping.handle(at(ms), other, &buf[..len]), None, "from elsewhere");
                if answers {
                    let seen = mapping.handle(at(ms), server, &buf[..len]);
                    assert_eq!(seen, Some("192.0.2.1:7".parse().unwrap()));
                }
            }
        }
        asked
    }

    #[test]
    fn mapping_is_kept_alive() {
        let mut mapping = Mapping::new(SERVER.parse().unwrap());
        assert_eq!(run(&mut mapping, true), [0, 15_000, 30_000, 45_000]);
        assert!(mapping.has_answered() && !mapping.is_awaited(at(0)));
    }

    #[test]
    fn text_waits_for_the_server_but_not_for_ever() {
        let mut mapping = Mapping::new(SERVER.parse().unwrap());
        assert!(mapping.is_awaited(at(9_000)), "nothing was asked yet");
        mapping.run(at(100), || [7; 12]);
        assert!(mapping.is_awaited(at(3_099)) && !mapping.is_awaited(at(3_100)));
        assert!(mapping.deadline() <= at(15_100));
        let mut silent = Mapping::new(SERVER.parse().unwrap());
        assert_eq!(run(&mut silent, false)[..6], [0, 150, 450, 1_050, 2_250, 15_000]);
        assert!(!silent.is_awaited(at(60_000)), "the time counts from the first question");
    }
}
