//! One request that is sent until it is answered, and the cookie that goes with it.

use crate::protocol::time::{Span, Time};

/// A request is repeated this often, for as many times, and then less often. A signal, which has to reach the host and whose answer has
/// to come back, is repeated quickly for longer: on lines that lose every third datagram, one in four is answered.
const WAIT: Span = Span::from_millis(200);
const QUICK_REPEATS: u8 = 16;
const QUICK_REPEATS_OF_SIGNAL: u8 = 45;
const MAX_WAIT: Span = Span::from_secs(1);
/// A server that answers nothing for this long is called silent.
pub(super) const SILENT_AFTER: Span = Span::from_secs(5);
/// The most cookies that one request is sent again for at once: a forger who sees the nonce gets no flood.
const MAX_COOKIES: u8 = 8;
/// A cookie is good for 10 s at the server; one older than this is not worth a signature.
const COOKIE_GOOD_FOR: Span = Span::from_secs(9);

/// The retransmission of one request: every 200 ms for 3 s, or 9 s for a signal, and then every second.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchange {
    nonce: u64,
    send_at: Time,
    sent: u8,
    quick_repeats: u8,
    cookies: u8,
    /// When the server was last heard, at first the time of the first sending.
    heard_at: Option<Time>,
}

impl Exchange {
    pub(super) fn new(nonce: u64) -> Self {
        let (send_at, quick_repeats) = (Time::ZERO, QUICK_REPEATS);
        Self { nonce, send_at, sent: 0, quick_repeats, cookies: 0, heard_at: None }
    }

    /// The exchange of a signal for another player.
    pub(super) fn of_signal(nonce: u64) -> Self {
        Self { quick_repeats: QUICK_REPEATS_OF_SIGNAL, ..Self::new(nonce) }
    }

    /// Sends the request again at once, as if for the first time.
    pub(super) fn begin_anew(&mut self) {
        *self = Self { quick_repeats: self.quick_repeats, ..Self::new(self.nonce) };
    }

    pub(super) fn nonce(&self) -> u64 {
        self.nonce
    }

    /// Whether the request is to be sent now, which it is then taken to be.
    pub(super) fn is_due(&mut self, now: Time) -> bool {
        let is_due = self.send_at <= now;
        if is_due {
            self.heard_at.get_or_insert(now);
            self.send_at = now + if self.sent < self.quick_repeats { WAIT } else { MAX_WAIT };
            self.sent = self.sent.saturating_add(1);
        }
        is_due
    }

    /// The server wants the request again with a cookie: at `at`, or with the next repetition if it has wanted that often.
    pub(super) fn wants_cookie(&mut self, now: Time, at: Time) {
        self.heard(now);
        if self.cookies < MAX_COOKIES {
            self.cookies += 1;
            self.send_at = at;
            self.sent = 0;
        }
    }

    /// The server refuses the request, or the refusal is forged: it is sent again at `again_at` at the earliest, unless
    /// it is due now.
    pub(super) fn refused(&mut self, now: Time, again_at: Time) {
        self.heard(now);
        if now < self.send_at {
            self.send_at = self.send_at.max(again_at);
            // The server owes no answer before the request is repeated.
            self.heard_at = Some(self.send_at);
        }
    }

    pub(super) fn heard(&mut self, now: Time) {
        self.heard_at = Some(now);
    }

    /// Whether the server has said nothing to this request for too long.
    pub(super) fn is_silent(&self, now: Time) -> bool {
        self.heard_at.is_some_and(|heard_at| now.since(heard_at) >= SILENT_AFTER)
    }

    /// When the request is to be sent again. Silence is noticed then too.
    pub(super) fn send_at(&self) -> Time {
        self.send_at
    }
}

/// The newest cookie of a server.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HeldCookie {
    cookie: u64,
    since: Time,
}

impl HeldCookie {
    pub(super) fn new(now: Time, cookie: u64) -> Self {
        Self { cookie, since: now }
    }

    /// The cookie, or 0 if there is none that is still good.
    pub(super) fn get(&self, now: Time) -> u64 {
        if now.since(self.since) < COOKIE_GOOD_FOR { self.cookie } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_is_repeated_quickly_and_then_every_second() {
        let sent = |mut exchange: Exchange| -> Vec<u64> {
            (0..12_000).filter(|ms| exchange.is_due(Time::ZERO + Span::from_millis(*ms))).collect()
        };
        let quick = |times: u64| (0..=times).map(|n| n * 200);
        let mut again = Exchange::of_signal(1);
        again.is_due(Time::ZERO);
        again.begin_anew();
        for signal in [Exchange::of_signal(1), again] {
            assert_eq!(sent(signal), quick(45).chain([10_000, 11_000]).collect::<Vec<_>>());
        }
        let slow = (1..=8).map(|secs| 3_200 + secs * 1_000);
        assert_eq!(sent(Exchange::new(1)), quick(16).chain(slow).collect::<Vec<_>>());
    }

    #[test]
    fn silence_counts_from_the_first_send_to_any_answer() {
        let at = |secs| Time::ZERO + Span::from_secs(secs);
        let mut exchange = Exchange::new(1);
        assert!(!exchange.is_silent(at(100)), "nothing was sent");
        assert!(exchange.is_due(at(100)));
        assert!(!exchange.is_silent(at(104)) && exchange.is_silent(at(105)));
        exchange.wants_cookie(at(105), at(105));
        assert!(!exchange.is_silent(at(109)));
        exchange.refused(at(109), at(109));
        assert!(!exchange.is_silent(at(113)) && exchange.is_silent(at(114)));
    }

    #[test]
    fn forged_cookies_do_not_cause_endless_sending() {
        let mut exchange = Exchange::new(1);
        assert!(exchange.is_due(Time::ZERO));
        let mut sent = 0;
        for ms in 0..1_000 {
            let now = Time::ZERO + Span::from_millis(ms);
            exchange.wants_cookie(now, now);
            sent += usize::from(exchange.is_due(now));
        }
        assert!((8..=12).contains(&sent), "{sent}");
    }

    #[test]
    fn refusal_delays_the_next_repeat_but_none_that_is_due() {
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let mut exchange = Exchange::new(1);
        exchange.refused(at(0), at(5_000));
        assert!(exchange.is_due(at(0)));
        exchange.refused(at(10), at(10));
        assert_eq!(exchange.send_at(), at(200), "no sooner");
        exchange.refused(at(10), at(5_000));
        assert_eq!(exchange.send_at(), at(5_000));
        assert!(!exchange.is_silent(at(9_999)) && exchange.is_silent(at(10_000)));
        exchange.wants_cookie(at(20), at(20));
        exchange.refused(at(20), at(5_000));
        assert!(exchange.is_due(at(20)));
    }

    #[test]
    fn cookie_restarts_the_intervals() {
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let mut exchange = Exchange::new(1);
        let sent = (0..9_000).filter(|ms| exchange.is_due(at(*ms))).count();
        assert_eq!(sent, 22);
        exchange.wants_cookie(at(9_000), at(9_000));
        assert!(exchange.is_due(at(9_000)) && exchange.is_due(at(9_200)));
    }

    #[test]
    fn old_cookie_is_not_used() {
        let cookie = HeldCookie::new(Time::ZERO, 7);
        assert_eq!(cookie.get(Time::ZERO + Span::from_secs(8)), 7);
        assert_eq!(cookie.get(Time::ZERO + Span::from_secs(9)), 0);
    }
}
