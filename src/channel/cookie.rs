//! Cookies: proof that a peer receives at its address, without state at the host.

use super::entropy::Entropy;
use super::keyed_hash::{Key, keyed_hash};
use crate::protocol::time::{Span, Time};
use std::net::SocketAddr;

/// A cookie is good for this long.
const LIFETIME: Span = Span::from_secs(10);

/// The low bits of a cookie are its time of issue, in units of 100 µs, which wraps after 28 minutes; the high bits are
/// the keyed hash, which covers the full time and so does not wrap. A cookie that comes back tells the round trip too,
/// though the host has kept nothing.
const TIME_BITS: u32 = 24;
const TIME_MASK: u64 = (1 << TIME_BITS) - 1;
const TIME_UNIT: Span = Span::from_micros(100);

/// Issues and recognises cookies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cookies {
    key: Key,
}

impl Cookies {
    pub(crate) fn new(entropy: &mut Entropy) -> Self {
        Self::with_key((entropy.next_u64(), entropy.next_u64()))
    }

    pub(crate) fn with_key(key: Key) -> Self {
        Self { key }
    }

    /// The time in units of a cookie, in full.
    fn stamp(now: Time) -> u64 {
        now.since(Time::ZERO).nanos() / TIME_UNIT.nanos()
    }

    fn seal(&self, subject: &[u8; SUBJECT_LEN], stamp: u64) -> u64 {
        let mut bound = [0; SUBJECT_LEN + 8];
        bound[..SUBJECT_LEN].copy_from_slice(subject);
        bound[SUBJECT_LEN..].copy_from_slice(&stamp.to_be_bytes());
        // Never 0: that would say that there is no cookie.
        (keyed_hash(self.key, &bound) | 1 << 63) & !TIME_MASK | stamp & TIME_MASK
    }

    /// A cookie that proves who can receive at `from`.
    pub(crate) fn issue(&self, now: Time, from: SocketAddr, nonce: u64) -> u64 {
        self.issue_for(now, &subject(from, nonce))
    }

    /// A cookie for this subject.
    pub(crate) fn issue_for(&self, now: Time, subject: &[u8; SUBJECT_LEN]) -> u64 {
        self.seal(subject, Self::stamp(now))
    }

    /// How long ago this cookie was issued to this address for this nonce; `None` if it was not, or has expired.
    pub(crate) fn age(&self, now: Time, from: SocketAddr, nonce: u64, cookie: u64) -> Option<Span> {
        self.age_for(now, &subject(from, nonce), cookie)
    }

    /// When this cookie was issued to this address for this nonce, in whole units, so that one cookie always has one time of
    /// issue; `None` if it was not, or has expired.
    #[cfg(any(test, feature = "nat"))]
    pub(crate) fn issued(&self, now: Time, from: SocketAddr, nonce: u64, cookie: u64) -> Option<Time> {
        let age = self.age(now, from, nonce, cookie)?;
        let below_unit = now.since(Time::ZERO).nanos() % TIME_UNIT.nanos();
        let stamped = now.shifted(-(below_unit as i64));
        Some(Time::ZERO + stamped.since(Time::ZERO + age))
    }

    /// How long ago this cookie was issued for this subject; `None` if it was not, or has expired.
    pub(crate) fn age_for(&self, now: Time, subject: &[u8; SUBJECT_LEN], cookie: u64) -> Option<Span> {
        let now = Self::stamp(now);
        let units = now.wrapping_sub(cookie) & TIME_MASK;
        let stamp = now.wrapping_sub(units);
        let age = TIME_UNIT * units as u32;
        (cookie == self.seal(subject, stamp) && age <= LIFETIME).then_some(age)
    }
}

/// The length of the bytes that a cookie is bound to besides its time of issue.
pub(crate) const SUBJECT_LEN: usize = 30;

/// An address and a nonce as the subject of a cookie: address, scope, port, nonce.
pub(crate) fn subject(from: SocketAddr, nonce: u64) -> [u8; SUBJECT_LEN] {
    let mut bytes = [0; SUBJECT_LEN];
    bytes[..ADDRESS_LEN].copy_from_slice(&address_bytes(from));
    bytes[ADDRESS_LEN..].copy_from_slice(&nonce.to_be_bytes());
    bytes
}

/// The length of an address as it is hashed.
pub(crate) const ADDRESS_LEN: usize = 22;

/// An address as it is hashed: address, scope, port. An IPv4 address is the same as the IPv6 address that maps it.
pub(crate) fn address_bytes(addr: SocketAddr) -> [u8; ADDRESS_LEN] {
    let (ip, scope) = match addr {
        SocketAddr::V4(v4) => (v4.ip().to_ipv6_mapped(), 0),
        SocketAddr::V6(v6) => (*v6.ip(), v6.scope_id()),
    };
    let mut bytes = [0; ADDRESS_LEN];
    bytes[..16].copy_from_slice(&ip.octets());
    bytes[16..20].copy_from_slice(&scope.to_be_bytes());
    bytes[20..].copy_from_slice(&addr.port().to_be_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookie_has_one_time_of_issue() {
        let cookies = Cookies::new(&mut Entropy::new(3));
        let here: SocketAddr = "192.0.2.1:5".parse().unwrap();
        let at = Time::ZERO + Span::from_micros(2_000_000_073);
        let cookie = cookies.issue(at, here, 9);
        for micros in [0, 1, 26, 27, 99, 100, 5_000_001, 9_999_900] {
            let issued = cookies.issued(at + Span::from_micros(micros), here, 9, cookie);
            assert_eq!(issued, Some(Time::ZERO + Span::from_micros(2_000_000_000)), "{micros} µs later");
        }
        assert_eq!(cookies.issued(at + Span::from_secs(11), here, 9, cookie), None);
    }

    #[test]
    fn cookie_is_good_for_one_address_one_nonce_and_ten_seconds() {
        let cookies = Cookies::new(&mut Entropy::new(3));
        let (here, there): (SocketAddr, SocketAddr) =
            ("192.0.2.1:5".parse().unwrap(), "192.0.2.1:6".parse().unwrap());
        let at = Time::ZERO + Span::from_secs(2_000);
        let cookie = cookies.issue(at, here, 9);
        let later = at + Span::from_millis(80);
        assert_eq!(cookies.age(later, here, 9, cookie), Some(Span::from_millis(80)), "the round trip");
        assert_eq!(cookies.age(later, there, 9, cookie), None);
        assert_eq!(cookies.age(later, here, 8, cookie), None);
        assert_eq!(cookies.age(at + Span::from_secs(11), here, 9, cookie), None);
        let wrapped = at + TIME_UNIT * (1 << TIME_BITS);
        assert_eq!(
            cookies.age(wrapped, here, 9, cookie),
            None,
            "the low bits of the time are the same again"
        );
        for bit in 0..64 {
            assert_eq!(cookies.age(later, here, 9, cookie ^ 1 << bit), None, "bit {bit}");
        }
        let other = Cookies::new(&mut Entropy::new(4));
        assert_eq!(other.age(later, here, 9, cookie), None);
    }

    #[test]
    fn cookie_expires_a_unit_after_ten_seconds() {
        let cookies = Cookies::new(&mut Entropy::new(3));
        let here: SocketAddr = "192.0.2.1:5".parse().unwrap();
        let at = Time::ZERO + Span::from_secs(2_000);
        let cookie = cookies.issue(at, here, 9);
        let age = |after| cookies.age(at + after, here, 9, cookie);
        assert_eq!(age(LIFETIME), Some(LIFETIME));
        assert_eq!(age(LIFETIME + TIME_UNIT), None);
        assert_ne!(cookie, 0);
    }

    #[test]
    fn cookie_is_for_one_scope_and_for_mapped_addresses_too() {
        let cookies = Cookies::new(&mut Entropy::new(3));
        let at = Time::ZERO + Span::from_secs(2_000);
        let is_good = |issued: &str, shown: &str| {
            let [issued, shown] = [issued, shown].map(|text| text.parse().unwrap());
            cookies.age(at, shown, 9, cookies.issue(at, issued, 9)).is_some()
        };
        assert!(is_good("192.0.2.1:5", "[::ffff:192.0.2.1]:5"));
        assert!(is_good("[fe80::1%3]:5", "[fe80::1%3]:5"));
        assert!(!is_good("[fe80::1%3]:5", "[fe80::1%4]:5"));
        assert!(!is_good("[fe80::1%3]:5", "[fe80::2%3]:5"));
        assert!(!is_good("192.0.2.1:5", "192.0.2.2:5"));
    }
}
