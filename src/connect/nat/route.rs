//! The way to a rendezvous: UDP, or a stream once UDP has brought no answer for a while.

use crate::protocol::stream_addr::{Notice, stream_addr};
use crate::protocol::time::{Span, Time};
use std::net::SocketAddr;

/// UDP brings no answer for this long: a stream is opened. It is used once it is open, if there is still no answer.
pub(super) const PATIENCE: Span = Span::from_secs(2);
/// An open stream brings no answer for this long: UDP is tried again.
const STREAM_PATIENCE: Span = Span::from_secs(5);
/// How often the transport is asked to open a stream, which it does not do at once after a failure.
const OPEN_AGAIN: Span = Span::from_secs(1);
/// The port of servers over TLS: the one that networks without UDP let out.
const TLS_PORT: u16 = 443;

/// The address of the stream to a server of which the UDP address is known.
pub(super) fn stream_to(server: SocketAddr) -> SocketAddr {
    stream_addr(SocketAddr::new(server.ip(), TLS_PORT))
}

/// The way to one server.
#[derive(Debug, Default)]
pub(super) struct Route {
    /// The streams to the server that there may be, and the one to be opened next.
    streams: Vec<SocketAddr>,
    next: usize,
    in_use: Option<SocketAddr>,
    unanswered_since: Option<Time>,
    open_at: Time,
    /// How the last stream has ended.
    failure: Option<Notice>,
}

impl Route {
    /// Lets a stream to the server at this address be used.
    pub(super) fn allow_stream(&mut self, server: SocketAddr) {
        self.streams.push(stream_to(server));
    }

    /// Whether a stream is in use.
    pub(super) fn is_stream(&self) -> bool {
        self.in_use.is_some()
    }

    /// The address at which the server is reached now, instead of its UDP address.
    pub(super) fn stream_in_use(&self) -> Option<SocketAddr> {
        self.in_use
    }

    /// Why there is no stream, if one was tried.
    pub(super) fn failure(&self) -> Option<Notice> {
        self.failure.filter(|_| !self.is_stream())
    }

    /// A request was sent.
    pub(super) fn sent(&mut self, now: Time) {
        self.unanswered_since.get_or_insert(now);
    }

    /// The server has answered.
    pub(super) fn answered(&mut self) {
        self.unanswered_since = None;
    }

    /// Whether requests have had no answer for this long.
    pub(super) fn is_silent_for(&self, now: Time, time: Span) -> bool {
        self.unanswered_since.is_some_and(|since| now >= since + time)
    }

    /// The stream to be opened, if that is due: of several one after the other.
    pub(super) fn open(&mut self, now: Time) -> Option<SocketAddr> {
        let is_due = self.opens_at().is_some_and(|at| at <= now);
        let stream = *self.streams.get(self.next).filter(|_| is_due)?;
        self.next = (self.next + 1) % self.streams.len();
        self.open_at = now + OPEN_AGAIN;
        Some(stream)
    }

    fn opens_at(&self) -> Option<Time> {
        let since = self.unanswered_since.filter(|_| !self.streams.is_empty() && !self.is_stream())?;
        Some((since + PATIENCE).max(self.open_at))
    }

    /// Lets time pass. `true` if the way is another one than before.
    pub(super) fn run(&mut self, now: Time) -> bool {
        self.is_stream() && self.is_silent_for(now, STREAM_PATIENCE) && self.leave()
    }

    pub(super) fn deadline(&self) -> Time {
        let silent_at =
            self.unanswered_since.filter(|_| self.is_stream()).map(|since| since + STREAM_PATIENCE);
        self.opens_at().into_iter().chain(silent_at).min().unwrap_or(Time::NEVER)
    }

    /// Takes a notice of a stream. `true` if the way is another one than before.
    pub(super) fn notice(&mut self, from: SocketAddr, notice: Notice) -> bool {
        if !self.streams.contains(&from) {
            return false;
        }
        if notice == Notice::Opened {
            self.failure = None;
            let is_better = !self.is_stream() && self.unanswered_since.is_some();
            if is_better {
                (self.in_use, self.unanswered_since) = (Some(from), None);
            }
            return is_better;
        }
        self.failure = Some(notice);
        self.in_use == Some(from) && self.leave()
    }

    /// Back to UDP.
    fn leave(&mut self) -> bool {
        (self.in_use, self.unanswered_since) = (None, None);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVER: SocketAddr =
        SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1)), 3479);

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn allowed() -> (Route, SocketAddr) {
        let mut route = Route::default();
        route.allow_stream(SERVER);
        (route, stream_to(SERVER))
    }

    /// The times at which a stream is to be opened.
    fn opens(route: &mut Route, time: core::ops::Range<u64>) -> Vec<u64> {
        time.step_by(100).filter(|at| route.open(ms(*at)).is_some()).collect()
    }

    #[test]
    fn stream_is_opened_after_two_seconds_without_an_answer() {
        let (mut route, stream) = allowed();
        assert_eq!(
            (route.deadline(), opens(&mut route, 0..9_000)),
            (Time::NEVER, vec![]),
            "nothing was sent"
        );
        route.sent(ms(1_000));
        route.sent(ms(1_400));
        assert_eq!(route.deadline(), ms(3_000));
        assert_eq!(opens(&mut route, 1_000..5_500), [3_000, 4_000, 5_000]);
        assert_eq!(route.stream_in_use(), None, "it is not open yet");
        assert!(route.notice(stream, Notice::Opened));
        assert_eq!((route.stream_in_use(), route.is_stream()), (Some(stream), true));
        assert!(opens(&mut route, 5_500..9_000).is_empty());
    }

    #[test]
    fn answer_over_udp_keeps_the_route_on_udp() {
        let (mut route, stream) = allowed();
        route.sent(ms(0));
        assert_eq!(opens(&mut route, 0..2_100), [2_000]);
        route.answered();
        assert!(!route.notice(stream, Notice::Opened));
        assert_eq!((route.stream_in_use(), opens(&mut route, 2_100..9_000)), (None, vec![]));
        assert!(opens(&mut Route::default(), 0..9_000).is_empty(), "no stream is allowed");
    }

    #[test]
    fn stream_that_ends_or_is_silent_gives_way_to_udp() {
        let (mut route, stream) = allowed();
        for why in [Some(Notice::Closed), None] {
            route.sent(ms(0));
            assert!(route.notice(stream, Notice::Opened));
            assert!(!route.notice(SERVER, Notice::Closed), "another one");
            route.sent(ms(10_000));
            assert_eq!(route.deadline(), ms(15_000));
            match why {
                Some(why) => assert!(route.notice(stream, why)),
                None => assert!(!route.run(ms(14_999)) && route.run(ms(15_000))),
            }
            assert_eq!((route.stream_in_use(), route.failure()), (None, why));
        }
    }
}
