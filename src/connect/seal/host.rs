//! The host's side of the sealed handshake: its key, its cookies, and the handshakes that it has worked off.

use super::limits::Limits;
use super::mac::Mac;
use super::noise::{self, Handshake, KeyPair};
use super::outbox::Outbox;
use super::padding::unpadded;
use super::random::{Random, Secret};
use super::rate_limiter::RateLimiter;
use super::stats::SealRefusal;
use super::tickets::Tickets;
use crate::channel::cookie::{Cookies, SUBJECT_LEN, subject};
use crate::protocol::time::{Span, Time};
use crate::wire::seal::{self, Init, InitHead, KEY_LEN, Pattern, Retry};
use core::ops::Range;
use std::collections::VecDeque;
use std::net::SocketAddr;

/// A cookie is good for this long, and the key of its INIT is remembered as long.
const REMEMBERED: Span = Span::from_secs(10);
/// A host reveals a part of a code at most this often: each code is a chance for somebody in the middle.
const REVEAL_AFTER: Span = Span::from_secs(10);

/// The key that opens INITs of one pattern. Its cookies have a key of their own, which binds them to version and pattern.
struct Access {
    pattern: Pattern,
    keys: KeyPair,
    mac: Mac,
    cookies: Cookies,
}

impl Access {
    /// By invite the mac proves the sender, and the cookie holds wherever it comes from; by address it proves that.
    fn subject(&self, from: SocketAddr, nonce: u64) -> [u8; SUBJECT_LEN] {
        match self.pattern {
            Pattern::Invite | Pattern::Signal => subject(SocketAddr::from(([0, 0, 0, 0], 0)), nonce),
            Pattern::Open => subject(from, nonce),
        }
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
    access: Access,
    /// The only address that is answered, for a seal that joins it and may be joined by it.
    only: Option<SocketAddr>,
    rate_limiter: RateLimiter,
    tickets: Tickets,
    used: VecDeque<Used>,
    max_used: usize,
    /// Confirmed guests by address so far.
    guests: u32,
    /// When a code was revealed last.
    revealed_at: Option<Time>,
}

impl Host {
    pub(super) fn new(
        pattern: Pattern,
        secret: Secret,
        only: Option<SocketAddr>,
        random: &mut Random,
    ) -> Self {
        let keys = KeyPair::new(secret);
        let mac = match pattern {
            Pattern::Invite | Pattern::Signal => Mac::of(&keys.public),
            Pattern::Open => Mac::open(),
        };
        let cookies = Cookies::with_key((random.next_u64(), random.next_u64()));
        let mut host = Self {
            access: Access { pattern, keys, mac, cookies },
            only,
            rate_limiter: RateLimiter::new(),
            tickets: Tickets::default(),
            used: VecDeque::new(),
            max_used: 0,
            guests: 0,
            revealed_at: None,
        };
        host.expect(Limits::default());
        host
    }

    /// Sets the limits by the number of guests that are expected.
    pub(super) fn expect(&mut self, limits: Limits) {
        self.rate_limiter.expect(limits);
        self.tickets.expect(limits);
        // As many handshakes as are worked off in the life of a cookie.
        self.max_used = limits.handshakes() * 10;
    }

    pub(super) fn only(&self) -> Option<SocketAddr> {
        self.only
    }

    /// The keys of the invite; `None` by address.
    pub(super) fn invite_keys(&self) -> Option<&KeyPair> {
        (self.access.pattern == Pattern::Invite).then_some(&self.access.keys)
    }

    pub(super) fn rate_limiter(&mut self) -> &mut RateLimiter {
        &mut self.rate_limiter
    }

    /// When the next INIT may be worked off that has to wait at `now`.
    pub(super) fn due(&self, now: Time) -> Time {
        self.rate_limiter.due(now)
    }

    pub(super) fn tickets(&mut self) -> &mut Tickets {
        &mut self.tickets
    }

    /// Whether the sender of a REQUEST or INIT may join in this way, and has the key of its mac.
    pub(super) fn admits(&self, pattern: Pattern, datagram: &[u8]) -> bool {
        self.access.pattern == pattern && self.access.mac.fits(datagram)
    }

    /// Answers a REQUEST, or an INIT whose cookie is no good. Nothing is kept.
    pub(super) fn retry(&self, now: Time, from: SocketAddr, index: u16, nonce: u64, out: &mut Outbox) {
        let Access { pattern, keys, mac, cookies } = &self.access;
        let cookie = cookies.issue_for(now, &self.access.subject(from, nonce));
        let open_key = (*pattern == Pattern::Open).then_some(keys.public);
        let retry = Retry { index, nonce, cookie, open_key };
        out.answer(from, |buf| seal::encode_retry(&retry, |covered| mac.write(covered), buf));
    }

    /// How long the cookie of an INIT took to come back; `None` if it is not ours, too old, or used, as the key may be.
    pub(super) fn cookie_age(
        &self,
        now: Time,
        from: SocketAddr,
        head: &InitHead,
        ephemeral: &[u8; KEY_LEN],
    ) -> Option<Span> {
        let subject = self.access.subject(from, head.nonce);
        let age = self.access.cookies.age_for(now, &subject, head.cookie)?;
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
        if self.is_used(cookie, &ephemeral) || self.used.len() >= self.max_used {
            return false;
        }
        self.used.push_back(Used { at: now, ephemeral, cookie });
        true
    }

    /// The Diffie-Hellman of an INIT. Its text is then in this place of `buf`.
    pub(super) fn open(
        &self,
        init: &Init<'_>,
        secret: Secret,
        buf: &mut [u8],
    ) -> Result<(Handshake, Range<usize>), SealRefusal> {
        let accepted = noise::accept(&self.access.keys, init.prologue, secret, init.message, buf);
        let (handshake, len) = accepted.ok_or(SealRefusal::BadHandshake)?;
        Ok((handshake, unpadded(&buf[..len]).ok_or(SealRefusal::BadHandshake)?))
    }

    /// How many guests by address were confirmed before this one.
    pub(super) fn count_guest(&mut self) -> u32 {
        let before = self.guests;
        self.guests = before.saturating_add(1);
        before
    }

    /// Whether a code may be revealed again.
    pub(super) fn may_reveal(&self, now: Time) -> bool {
        self.revealed_at.is_none_or(|last| now.since(last) >= REVEAL_AFTER)
    }

    /// Notes that a code was revealed.
    pub(super) fn revealed(&mut self, now: Time) {
        self.revealed_at = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connect::seal::Randomness;

    fn host(pattern: Pattern) -> Host {
        let mut random = Random::new(Randomness::Seeded(1)).unwrap();
        let secret = random.next_secret();
        Host::new(pattern, secret, None, &mut random)
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn cookie(host: &Host, pattern: Pattern, from: SocketAddr) -> InitHead {
        let (mut out, mut buf) = (Outbox::new(), [0; 300]);
        host.retry(at(0), from, 5, 77, &mut out);
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
            let age = |ms, from, head: &InitHead| host.cookie_age(at(ms), from, head, &[1; 32]);
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
        assert_eq!(host.cookie_age(at(2), here, &head, &[2; 32]), None, "the cookie is used");
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
    fn mac_of_the_invite_admits() {
        let host = host(Pattern::Invite);
        let request = seal::Request { pattern: Pattern::Invite, index: 1, nonce: 2 };
        let mut buf = [0; 64];
        let mac = Mac::of(&host.invite_keys().unwrap().public);
        let len = seal::encode_request(&request, |covered| mac.write(covered), &mut buf).unwrap();
        assert!(host.admits(Pattern::Invite, &buf[..len]));
        assert!(!host.admits(Pattern::Open, &buf[..len]) && !host.admits(Pattern::Signal, &buf[..len]));
        for at in 0..len {
            let mut bad = buf;
            bad[at] ^= 1;
            assert!(!host.admits(Pattern::Invite, &bad[..len]), "byte {at}");
        }
        let len = seal::encode_request(&request, |covered| Mac::open().write(covered), &mut buf).unwrap();
        assert!(!host.admits(Pattern::Invite, &buf[..len]), "without the invite");
    }
}
