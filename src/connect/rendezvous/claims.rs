//! The choice of the address that a host signs for.
//!
//! A host does not know the address that its server sees. COOKIEs name it, and a watcher can forge COOKIEs that name an
//! address of its own. The server's own COOKIE comes as well, because a watcher stops no packet: two addresses in one
//! exchange show a forgery. A host then signs for the address at which it was registered before. If it never was
//! without contest it signs for one address in each exchange, by turns: the server brings INITs to both.

use super::exchange::HeldCookie;
use crate::connect::seal::Random;
use crate::protocol::time::{Span, Time};
use std::net::SocketAddr;

/// Before an unexpected address is signed, the server has this long to name another one.
const HOLD: Span = Span::from_millis(500);
/// The most addresses that are kept of one exchange.
const MAX_OFFERS: usize = 8;

/// The addresses that COOKIEs have named.
#[derive(Debug, Default)]
pub(super) struct Claims {
    /// The address of the last grant.
    granted: Option<SocketAddr>,
    /// Whether a whole exchange passed in which no other address was named.
    is_settled: bool,
    /// Whether two addresses were named in the exchange before this one, and neither is settled.
    is_wary: bool,
    /// The address that was signed in the exchange before this one.
    before: Option<SocketAddr>,
    /// The addresses of this exchange, with the newest cookie of each.
    offers: Vec<(SocketAddr, HeldCookie)>,
    sign_at: Option<Time>,
    signed: Option<SocketAddr>,
    /// Another address than the one that is signed.
    other: Option<SocketAddr>,
}

impl Claims {
    /// A new exchange begins.
    pub(super) fn begin(&mut self) {
        let is_contested = self.other.take().is_some();
        self.is_settled |= self.granted.is_some() && !is_contested;
        self.is_wary = is_contested && !self.is_settled;
        self.before = self.signed.take().or(self.before);
        self.offers.clear();
        self.sign_at = None;
    }

    /// Whether no COOKIE of this exchange has named an address yet.
    pub(super) fn is_untouched(&self) -> bool {
        self.offers.is_empty() && self.signed.is_none()
    }

    /// A COOKIE of this exchange names an address. Returns when the request is to be sent with a cookie, if that changes.
    pub(super) fn offer(&mut self, now: Time, addr: SocketAddr, cookie: u64) -> Option<Time> {
        if self.signed.is_some_and(|signed| signed != addr) {
            self.other = Some(addr);
            return None;
        }
        let is_expected = if self.is_settled { self.granted == Some(addr) } else { !self.is_wary };
        self.offers.retain(|(offered, _)| *offered != addr);
        if self.offers.len() == MAX_OFFERS {
            if !is_expected {
                return None;
            }
            self.offers.pop();
        }
        self.offers.push((addr, HeldCookie::new(now, cookie)));
        if is_expected || self.signed.is_some() {
            self.sign(addr);
            return Some(now);
        }
        Some(*self.sign_at.get_or_insert(now + HOLD))
    }

    /// The address to sign for and its cookie; `None` if a cookie is to be asked for.
    pub(super) fn choose(&mut self, now: Time, random: &mut Random) -> Option<(SocketAddr, u64)> {
        if self.signed.is_none() && self.sign_at.is_some_and(|sign_at| sign_at <= now) {
            let other_than_before = |addr: &SocketAddr| self.before != Some(*addr);
            let mut addrs: Vec<SocketAddr> = self.offers.iter().map(|(addr, _)| *addr).collect();
            if addrs.iter().any(other_than_before) {
                addrs.retain(other_than_before);
            }
            self.sign(addrs[random.next_u64() as usize % addrs.len().max(1)]);
        }
        let signed = self.signed?;
        let (_, held) = self.offers.iter().find(|(addr, _)| *addr == signed)?;
        Some((signed, held.get(now))).filter(|(_, cookie)| *cookie != 0)
    }

    /// Whether this exchange may be granted for an address, which it then is.
    pub(super) fn grant(&mut self, addr: SocketAddr) -> bool {
        let is_signed = self.signed == Some(addr);
        if is_signed && self.granted != Some(addr) {
            (self.granted, self.is_settled) = (Some(addr), false);
        }
        is_signed
    }

    /// Another address was named for an exchange that is over.
    pub(super) fn contest(&mut self, addr: SocketAddr) {
        self.other = Some(addr);
    }

    /// The address that is signed, and another one that was named too.
    pub(super) fn contested(&self) -> Option<(SocketAddr, SocketAddr)> {
        self.signed.zip(self.other)
    }

    pub(super) fn is_settled(&self) -> bool {
        self.is_settled
    }

    fn sign(&mut self, addr: SocketAddr) {
        self.signed = Some(addr);
        let other = self.offers.iter().find(|(offered, _)| *offered != addr);
        self.other = other.map(|(offered, _)| *offered).or(self.other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn random() -> Random {
        crate::connect::seal::Randomness::Seeded(1).generator(b"claims").unwrap()
    }

    fn addr(last: u8) -> SocketAddr {
        ([192, 0, 2, last], 7_000).into()
    }

    /// An exchange in which these addresses are named at once: the one that is signed, and when.
    fn exchange(claims: &mut Claims, offers: &[u8]) -> (SocketAddr, u64) {
        claims.begin();
        for last in offers {
            claims.offer(at(0), addr(*last), u64::from(*last));
        }
        let mut random = random();
        let chosen = [0, 499, 500].iter().find_map(|ms| Some((claims.choose(at(*ms), &mut random)?, *ms)));
        let ((signed, cookie), ms) = chosen.expect("an address is signed");
        assert_eq!(signed, addr(cookie as u8), "with its own cookie");
        assert!(!claims.grant(addr(77)) && claims.grant(signed));
        (signed, ms)
    }

    #[test]
    fn first_registration_is_signed_at_once() {
        let mut claims = Claims::default();
        assert_eq!(exchange(&mut claims, &[1]), (addr(1), 0));
        assert_eq!(claims.contested(), None);
    }

    #[test]
    fn settled_host_signs_its_address_whoever_is_first() {
        let mut claims = Claims::default();
        exchange(&mut claims, &[1]);
        for _ in 0..4 {
            assert_eq!(exchange(&mut claims, &[66, 1]), (addr(1), 0));
            assert_eq!(claims.contested(), Some((addr(1), addr(66))));
            assert_eq!(exchange(&mut claims, &[1, 66]), (addr(1), 0));
            assert_eq!(claims.contested(), Some((addr(1), addr(66))));
        }
    }

    #[test]
    fn host_that_moves_signs_its_new_address_after_a_while() {
        let mut claims = Claims::default();
        exchange(&mut claims, &[1]);
        assert_eq!(exchange(&mut claims, &[1]), (addr(1), 0));
        assert_eq!(exchange(&mut claims, &[2]), (addr(2), 500));
        assert_eq!(claims.contested(), None);
        assert_eq!(exchange(&mut claims, &[2]), (addr(2), 0));
        assert!(claims.is_settled());
    }

    #[test]
    fn unexpected_address_is_held_for_as_long_in_each_exchange() {
        let mut claims = Claims::default();
        exchange(&mut claims, &[1]);
        for ms in [0, 10_000] {
            claims.begin();
            assert_eq!(claims.offer(at(ms), addr(2), 2), Some(at(ms + 500)));
        }
    }

    #[test]
    fn contested_move_settles_nothing() {
        let mut claims = Claims::default();
        exchange(&mut claims, &[1]);
        let (first, _) = exchange(&mut claims, &[2, 66]);
        let other = if first == addr(2) { addr(66) } else { addr(2) };
        assert_eq!(exchange(&mut claims, &[2, 66]), (other, 500));
    }

    #[test]
    fn unsettled_host_signs_by_turns() {
        let mut claims = Claims::default();
        assert_eq!(exchange(&mut claims, &[66, 1]), (addr(66), 0));
        for _ in 0..3 {
            assert_eq!(exchange(&mut claims, &[66, 1]), (addr(1), 500));
            assert_eq!(exchange(&mut claims, &[66, 1]), (addr(66), 500));
            assert!(claims.contested().is_some() && !claims.is_settled());
            assert_eq!(claims.offer(at(600), addr(66), 9), Some(at(600)), "a newer cookie");
        }
        assert_eq!(exchange(&mut claims, &[1]), (addr(1), 500), "nobody contests any more");
        assert_eq!(exchange(&mut claims, &[66, 1]), (addr(1), 0), "settled");
    }

    #[test]
    fn address_named_after_the_grant_contests_it() {
        let mut claims = Claims::default();
        exchange(&mut claims, &[66]);
        claims.contest(addr(1));
        assert_eq!(claims.contested(), Some((addr(66), addr(1))));
        assert_eq!(exchange(&mut claims, &[66, 1]), (addr(1), 500));
    }

    #[test]
    fn one_address_is_signed_in_an_exchange() {
        let mut claims = Claims::default();
        claims.begin();
        assert_eq!(claims.offer(at(0), addr(1), 1), Some(at(0)));
        assert_eq!(claims.offer(at(1), addr(2), 2), None);
        assert_eq!(claims.contested(), Some((addr(1), addr(2))));
        assert_eq!(claims.offer(at(2), addr(1), 3), Some(at(2)), "a newer cookie for the same address");
        assert_eq!(claims.choose(at(3), &mut random()), Some((addr(1), 3)));
        assert_eq!(claims.choose(at(9_002), &mut random()), None, "the cookie is too old");
    }

    #[test]
    fn offers_are_bounded() {
        let mut claims = Claims::default();
        exchange(&mut claims, &[1]);
        claims.begin();
        for last in 2..200 {
            claims.offer(at(0), addr(last), 7);
        }
        assert_eq!(claims.offers.len(), MAX_OFFERS);
        assert_eq!(claims.offer(at(1), addr(1), 8), Some(at(1)), "the expected one has its place");
        assert_eq!(claims.choose(at(1), &mut random()), Some((addr(1), 8)));
        assert_eq!(claims.offers.len(), MAX_OFFERS);
    }
}
