//! One key of a host: whom it admits, in which role, and the handshakes with it.

use super::limits::Limits;
use super::mac::Mac;
use super::noise::{self, Handshake, KeyPair};
use super::outbox::Outbox;
use super::padding::unpadded;
use super::random::{Random, Secret};
use super::rate_limiter::{RateLimiter, Waiting};
use super::stats::SealRefusal;
use super::tickets::{BySignal, Tickets};
use crate::channel::cookie::{Cookies, SUBJECT_LEN, subject};
use crate::protocol::PeerRole;
use crate::protocol::time::{Span, Time};
use crate::wire::seal::{self, Init, InitHead, KEY_LEN, Pattern, Retry};
use core::ops::Range;
use std::collections::VecDeque;
use std::net::SocketAddr;

/// A cookie is good for this long, and the key of its INIT is remembered as long.
const REMEMBERED: Span = Span::from_secs(10);

/// The number of a key at its host. It is never given again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AccessId(u32);

impl AccessId {
    /// The number of a host's first key.
    pub(super) const FIRST: Self = Self(1);

    pub(super) fn next(self) -> Option<Self> {
        self.0.checked_add(1).map(Self)
    }
}

/// Whom a key admits.
pub(super) struct Admission {
    pub(super) pattern: Pattern,
    /// The role of its guests.
    pub(super) role: PeerRole,
    /// The only address that is answered, for a seal that joins it and may be joined by it.
    pub(super) only: Option<SocketAddr>,
    /// Whether it is revoked once a guest by it is confirmed.
    pub(super) is_for_one: bool,
}

/// The key pair, and the macs and cookies that go with it. Cookies have a key of their own, which binds them to version, pattern and key.
struct Keys {
    pair: KeyPair,
    mac: Mac,
    cookies: Cookies,
}

/// An INIT that was worked off: its key and its cookie are used up.
struct Used {
    at: Time,
    ephemeral: [u8; KEY_LEN],
    cookie: u64,
}

/// One key. It has limits of its own: guests by one key never use up the handshakes of another.
pub(super) struct Access {
    id: AccessId,
    admission: Admission,
    keys: Keys,
    limits: Limits,
    rate_limiter: RateLimiter,
    by_signal: BySignal,
    used: VecDeque<Used>,
}

impl Access {
    pub(super) fn new(id: AccessId, admission: Admission, secret: Secret, random: &mut Random) -> Self {
        let pair = KeyPair::new(secret);
        let mac = match admission.pattern {
            Pattern::Invite | Pattern::Signal => Mac::of(&pair.public),
            Pattern::Open => Mac::open(),
        };
        let cookies = Cookies::with_key((random.next_u64(), random.next_u64()));
        Self {
            id,
            admission,
            keys: Keys { pair, mac, cookies },
            limits: Limits::default(),
            rate_limiter: RateLimiter::new(),
            by_signal: BySignal::default(),
            used: VecDeque::new(),
        }
    }

    /// Sets the limits by the number of guests that are expected.
    pub(super) fn expect(&mut self, limits: Limits) {
        self.limits = limits;
        self.rate_limiter.expect(limits);
        self.by_signal.expect(limits);
    }

    pub(super) fn id(&self) -> AccessId {
        self.id
    }

    pub(super) fn role(&self) -> PeerRole {
        self.admission.role
    }

    pub(super) fn only(&self) -> Option<SocketAddr> {
        self.admission.only
    }

    pub(super) fn is_for_one(&self) -> bool {
        self.admission.is_for_one
    }

    /// The keys of an invite; `None` by address.
    pub(super) fn invite_keys(&self) -> Option<&KeyPair> {
        (self.admission.pattern == Pattern::Invite).then_some(&self.keys.pair)
    }

    pub(super) fn rate_limiter(&mut self) -> &mut RateLimiter {
        &mut self.rate_limiter
    }

    /// The next INIT to work off at `now`.
    pub(super) fn next(&mut self, now: Time) -> Option<Waiting> {
        self.rate_limiter.next(now)
    }

    /// When the next INIT may be worked off that has to wait at `now`.
    pub(super) fn due(&self, now: Time) -> Time {
        self.rate_limiter.due(now)
    }

    /// Whether the sender of a REQUEST or INIT may join in this way, and has the key of its mac.
    pub(super) fn admits(&self, pattern: Pattern, datagram: &[u8]) -> bool {
        self.admission.pattern == pattern && self.keys.mac.fits(datagram)
    }

    /// Admits an INIT by signalling, or says why not.
    pub(super) fn admit_signal(
        &mut self,
        now: Time,
        tickets: &Tickets,
        ticket: u64,
        ephemeral: [u8; KEY_LEN],
    ) -> Result<(), SealRefusal> {
        self.by_signal.admit(now, tickets, ticket, ephemeral)
    }

    /// By invite the mac proves the sender, and the cookie holds wherever it comes from; by address it proves that.
    fn subject(&self, from: SocketAddr, nonce: u64) -> [u8; SUBJECT_LEN] {
        match self.admission.pattern {
            Pattern::Invite | Pattern::Signal => subject(SocketAddr::from(([0, 0, 0, 0], 0)), nonce),
            Pattern::Open => subject(from, nonce),
        }
    }

    /// Answers a REQUEST, or an INIT whose cookie is no good. Nothing is kept.
    pub(super) fn retry(&self, now: Time, from: SocketAddr, index: u16, nonce: u64, out: &mut Outbox) {
        let Keys { pair, mac, cookies } = &self.keys;
        let cookie = cookies.issue_for(now, &self.subject(from, nonce));
        let open_key = (self.admission.pattern == Pattern::Open).then_some(pair.public);
        let retry = Retry { index, nonce, cookie, open_key };
        out.answer(from, self.limits, |buf| seal::encode_retry(&retry, |covered| mac.write(covered), buf));
    }

    /// Sends the RESP of an INIT that has come again.
    pub(super) fn repeat(&self, to: SocketAddr, resp: &[u8], out: &mut Outbox) {
        out.answer(to, self.limits, |buf| super::outbox::copied(resp, buf));
    }

    /// How long the cookie of an INIT took to come back; `None` if it is not ours, too old, or used, as the key may be.
    pub(super) fn cookie_age(
        &self,
        now: Time,
        from: SocketAddr,
        head: &InitHead,
        ephemeral: &[u8; KEY_LEN],
    ) -> Option<Span> {
        let subject = self.subject(from, head.nonce);
        let age = self.keys.cookies.age_for(now, &subject, head.cookie)?;
        (!self.is_used(head.cookie, ephemeral)).then_some(age)
    }

    fn is_used(&self, cookie: u64, ephemeral: &[u8; KEY_LEN]) -> bool {
        self.used.iter().any(|used| used.cookie == cookie || used.ephemeral == *ephemeral)
    }

    /// Uses up a cookie and a key. `false` if either was used, or no more can be remembered: as many as are worked off in the life of a
    /// cookie.
    pub(super) fn use_up(&mut self, now: Time, cookie: u64, ephemeral: [u8; KEY_LEN]) -> bool {
        while self.used.front().is_some_and(|used| now.since(used.at) > REMEMBERED) {
            self.used.pop_front();
        }
        if self.is_used(cookie, &ephemeral) || self.used.len() >= self.limits.handshakes() * 10 {
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
        let accepted = noise::accept(&self.keys.pair, init.prologue, secret, init.message, buf);
        let (handshake, len) = accepted.ok_or(SealRefusal::BadHandshake)?;
        Ok((handshake, unpadded(&buf[..len]).ok_or(SealRefusal::BadHandshake)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connect::seal::Randomness;

    fn access(pattern: Pattern) -> Access {
        let mut random = Random::new(Randomness::Seeded(1)).unwrap();
        let secret = random.next_secret();
        let admission = Admission { pattern, role: PeerRole::Player, only: None, is_for_one: false };
        Access::new(AccessId::FIRST, admission, secret, &mut random)
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn cookie(access: &Access, pattern: Pattern, from: SocketAddr) -> InitHead {
        let (mut out, mut buf) = (Outbox::new(), [0; 300]);
        access.retry(at(0), from, 5, 77, &mut out);
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
            let access = access(pattern);
            let head = cookie(&access, pattern, here);
            let age = |ms, from, head: &InitHead| access.cookie_age(at(ms), from, head, &[1; 32]);
            assert_eq!(age(80, here, &head), Some(Span::from_millis(80)));
            assert_eq!(age(80, there, &head).is_some(), pattern == Pattern::Invite);
            assert_eq!(age(80, here, &InitHead { nonce: 78, ..head }), None);
            assert_eq!(age(80, here, &InitHead { cookie: head.cookie ^ 1 << 30, ..head }), None);
            assert_eq!(age(10_001, here, &head), None);
        }
    }

    #[test]
    fn cookie_and_a_key_open_one_handshake() {
        let mut access = access(Pattern::Invite);
        let here = ([192, 0, 2, 1], 5).into();
        let head = cookie(&access, Pattern::Invite, here);
        assert!(access.use_up(at(1), head.cookie, [1; 32]));
        assert_eq!(access.cookie_age(at(2), here, &head, &[2; 32]), None, "the cookie is used");
        assert!(!access.use_up(at(2), 4, [1; 32]), "and so is the key");
        for number in 0..159_u64 {
            assert!(access.use_up(at(3), 1 << 63 | number, [number as u8 + 2; 32]) || number == 255);
        }
        assert!(!access.use_up(at(3), 9, [250; 32]), "no more than are remembered");
        assert!(!access.use_up(at(10_001), head.cookie, [250; 32]), "used for as long as a cookie is good");
        assert!(access.use_up(at(10_002), 9, [250; 32]));
        assert!(access.use_up(at(10_004), head.cookie, [1; 32]), "the cookie itself has expired by then");
    }

    #[test]
    fn mac_of_the_invite_admits() {
        let access = access(Pattern::Invite);
        let request = seal::Request { pattern: Pattern::Invite, index: 1, nonce: 2 };
        let mut buf = [0; 64];
        let mac = Mac::of(&access.invite_keys().unwrap().public);
        let len = seal::encode_request(&request, |covered| mac.write(covered), &mut buf).unwrap();
        assert!(access.admits(Pattern::Invite, &buf[..len]));
        assert!(!access.admits(Pattern::Open, &buf[..len]) && !access.admits(Pattern::Signal, &buf[..len]));
        for at in 0..len {
            let mut bad = buf;
            bad[at] ^= 1;
            assert!(!access.admits(Pattern::Invite, &bad[..len]), "byte {at}");
        }
        let len = seal::encode_request(&request, |covered| Mac::open().write(covered), &mut buf).unwrap();
        assert!(!access.admits(Pattern::Invite, &buf[..len]), "without the invite");
    }
}
