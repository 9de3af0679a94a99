//! The host's side of the sealed handshake: keys, cookies, and the handshakes that were worked off.

use super::limits::Limits;
use super::mac::Mac;
use super::noise::KeyPair;
use super::outbox::Outbox;
use super::random::{Random, Secret};
use super::rate_limiter::RateLimiter;
use super::signals::Signals;
use crate::channel::cookie::{Cookies, SUBJECT_LEN, subject};
use crate::protocol::time::{Span, Time};
use crate::wire::seal::{self, InitHead, KEY_LEN, Pattern, Retry};
use std::collections::VecDeque;
use std::net::SocketAddr;

/// A cookie is good for this long, and the key of its INIT is remembered as long.
const REMEMBERED: Span = Span::from_secs(10);

/// A key that opens INITs of one pattern. Its cookies have a key of their own, which binds them to version and pattern.
pub(super) struct Access {
    pub(super) pattern: Pattern,
    pub(super) keys: KeyPair,
    mac: Mac,
    cookies: Cookies,
}

impl Access {
    /// `None` never happens with a secret of 32 bytes.
    pub(super) fn new(pattern: Pattern, secret: Secret, random: &mut Random) -> Option<Self> {
        let keys = KeyPair::new(secret)?;
        let mac = match pattern {
            Pattern::Invite | Pattern::Signal => Mac::of(&keys.public),
            Pattern::Open => Mac::open(),
        };
        let cookies = Cookies::with_key((random.next_u64(), random.next_u64()));
        Some(Self { pattern, keys, mac, cookies })
    }

    /// By invite the mac proves the sender, and the cookie holds wherever it comes from; by address it proves that.
    fn subject(&self, from: SocketAddr, nonce: u64) -> [u8; SUBJECT_LEN] {
        match self.pattern {
            Pattern::Invite | Pattern::Signal => subject(SocketAddr::from(([0, 0, 0, 0], 0)), nonce),
            Pattern::Open => subject(from, nonce),
        }
    }

    /// Answers a REQUEST, or an INIT whose cookie is no good. Nothing is kept.
    pub(super) fn retry(&self, now: Time, from: SocketAddr, index: u16, nonce: u64, out: &mut Outbox) {
        let cookie = self.cookies.issue_for(now, &self.subject(from, nonce));
        let open_key = (self.pattern == Pattern::Open).then_some(self.keys.public);
        let retry = Retry { index, nonce, cookie, open_key };
        out.answer(from, |buf| seal::encode_retry(&retry, |covered| self.mac.write(covered), buf));
    }
}

/// An INIT that was worked off: its key and its cookie are used up.
struct Used {
    at: Time,
    ephemeral: [u8; KEY_LEN],
    cookie: u64,
}

/// The host's side.
pub(super) struct Host {
    pub(super) accesses: Vec<Access>,
    /// The only address that is answered, for a seal that joins it and may be joined by it.
    pub(super) only: Option<SocketAddr>,
    pub(super) rate_limiter: RateLimiter,
    pub(super) signals: Signals,
    used: VecDeque<Used>,
    /// Confirmed guests by address so far.
    pub(super) guests: u32,
    /// When a code was revealed last.
    pub(super) revealed_at: Option<Time>,
}

impl Host {
    pub(super) fn new(access: Access, only: Option<SocketAddr>) -> Self {
        let (rate_limiter, signals, used) = (RateLimiter::new(), Signals::default(), VecDeque::new());
        Self { accesses: vec![access], only, rate_limiter, signals, used, guests: 0, revealed_at: None }
    }

    /// Sets the limits by the number of guests that are expected.
    pub(super) fn expect(&mut self, limits: Limits) {
        (self.rate_limiter.limits, self.signals.limits) = (limits, limits);
    }

    /// As many handshakes as are worked off in the life of a cookie.
    fn max_used(&self) -> usize {
        self.rate_limiter.limits.handshakes() * 10
    }

    /// The access whose key the mac of a REQUEST or INIT fits.
    pub(super) fn access_of(&self, pattern: Pattern, datagram: &[u8]) -> Option<usize> {
        self.accesses.iter().position(|access| access.pattern == pattern && access.mac.fits(datagram))
    }

    /// How long the cookie of an INIT took to come back; `None` if it is not ours, too old, or used, as the key may be.
    pub(super) fn cookie_age(
        &self,
        now: Time,
        access: usize,
        from: SocketAddr,
        head: &InitHead,
        ephemeral: &[u8; KEY_LEN],
    ) -> Option<Span> {
        let access = self.accesses.get(access)?;
        let age = access.cookies.age_for(now, &access.subject(from, head.nonce), head.cookie)?;
        (!self.is_used(head.cookie, ephemeral)).then_some(age)
    }

    fn is_used(&self, cookie: u64, ephemeral: &[u8; KEY_LEN]) -> bool {
        self.used.iter().any(|used| used.cookie == cookie || used.ephemeral == *ephemeral)
    }

    /// Uses up a cookie and a key. `false` if either was used.
    pub(super) fn use_up(&mut self, now: Time, cookie: u64, ephemeral: [u8; KEY_LEN]) -> bool {
        while self.used.front().is_some_and(|used| now.since(used.at) > REMEMBERED) {
            self.used.pop_front();
        }
        if self.is_used(cookie, &ephemeral) || self.used.len() >= self.max_used() {
            return false;
        }
        self.used.push_back(Used { at: now, ephemeral, cookie });
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connect::seal::Randomness;

    fn host(pattern: Pattern) -> Host {
        let mut random = Random::new(Randomness::Seeded(1)).unwrap();
        let secret = random.next_secret();
        Host::new(Access::new(pattern, secret, &mut random).unwrap(), None)
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn cookie(host: &Host, pattern: Pattern, from: SocketAddr) -> InitHead {
        let (mut out, mut buf) = (Outbox::new(), [0; 300]);
        host.accesses[0].retry(at(0), from, 5, 77, &mut out);
        let (to, len) = out.pop(&mut buf).unwrap();
        assert_eq!((to, len), (from, pattern.retry_len()));
        let Ok(seal::Packet::Retry(retry)) = seal::decode(&buf[..len]) else { panic!("a RETRY") };
        assert_eq!((retry.index, retry.nonce), (5, 77));
        assert_eq!(retry.open_key.is_some(), pattern == Pattern::Open);
        InitHead { pattern, index: 6, nonce: 77, cookie: retry.cookie }
    }

    #[test]
    fn cookie_is_valid_for_ten_seconds_and_one_address() {
        let (here, there) = (([192, 0, 2, 1], 5).into(), ([192, 0, 2, 1], 6).into());
        for pattern in [Pattern::Invite, Pattern::Open] {
            let host = host(pattern);
            let head = cookie(&host, pattern, here);
            let age = |ms, from, head: &InitHead| host.cookie_age(at(ms), 0, from, head, &[1; 32]);
            assert_eq!(age(80, here, &head), Some(Span::from_millis(80)));
            assert_eq!(age(80, there, &head).is_some(), pattern == Pattern::Invite);
            assert_eq!(age(80, here, &InitHead { nonce: 78, ..head }), None);
            assert_eq!(age(80, here, &InitHead { cookie: head.cookie ^ 1 << 30, ..head }), None);
            assert_eq!(age(10_001, here, &head), None);
        }
    }

    #[test]
    fn a_cookie_and_a_key_open_one_handshake() {
        let mut host = host(Pattern::Invite);
        let here = ([192, 0, 2, 1], 5).into();
        let head = cookie(&host, Pattern::Invite, here);
        assert!(host.use_up(at(1), head.cookie, [1; 32]));
        assert_eq!(host.cookie_age(at(2), 0, here, &head, &[2; 32]), None, "the cookie is used");
        assert!(!host.use_up(at(2), 4, [1; 32]), "and so is the key");
        for number in 0..159_u64 {
            assert!(host.use_up(at(3), 1 << 63 | number, [number as u8 + 2; 32]) || number == 255);
        }
        assert!(!host.use_up(at(3), 9, [250; 32]), "no more than are remembered");
        assert!(!host.use_up(at(10_001), head.cookie, [250; 32]), "used for as long as a cookie is good");
        assert!(host.use_up(at(10_002), 9, [250; 32]));
        assert!(host.use_up(at(10_004), head.cookie, [1; 32]), "the cookie itself has expired by then");
    }

    #[test]
    fn mac_selects_the_access() {
        let host = host(Pattern::Invite);
        let request = seal::Request { pattern: Pattern::Invite, index: 1, nonce: 2 };
        let mut buf = [0; 64];
        let mac = Mac::of(&host.accesses[0].keys.public);
        let len = seal::encode_request(&request, |covered| mac.write(covered), &mut buf).unwrap();
        assert_eq!(host.access_of(Pattern::Invite, &buf[..len]), Some(0));
        assert_eq!(host.access_of(Pattern::Open, &buf[..len]), None);
        for at in 0..len {
            let mut bad = buf;
            bad[at] ^= 1;
            assert_eq!(host.access_of(Pattern::Invite, &bad[..len]), None, "byte {at}");
        }
        let len = seal::encode_request(&request, |covered| Mac::open().write(covered), &mut buf).unwrap();
        assert_eq!(host.access_of(Pattern::Invite, &buf[..len]), None, "without the invite");
    }
}
