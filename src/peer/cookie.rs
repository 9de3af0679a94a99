//! Cookies: a host that keeps nothing recognises what it said to an address.

use core::time::Duration;
use std::net::SocketAddr;

use super::entropy::Entropy;
use super::keyed_hash;

/// A cookie is good for this long.
const LIFETIME: Duration = Duration::from_secs(10);

/// The low bits of a cookie are the time of its issue, in units of 100 µs, which wraps after 28 minutes; the rest is the
/// keyed hash. So the cookie that comes back tells the round trip too, and the host has kept nothing.
const TIME_BITS: u32 = 24;
const TIME_MASK: u64 = (1 << TIME_BITS) - 1;
const TIME_UNIT: Duration = Duration::from_micros(100);

/// Issues and recognises cookies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cookies {
    key: (u64, u64),
}

impl Cookies {
    pub(crate) fn new(entropy: &mut Entropy) -> Self {
        Self { key: (entropy.next_u64(), entropy.next_u64()) }
    }

    fn stamp(now: Duration) -> u64 {
        (now.as_nanos() / TIME_UNIT.as_nanos()) as u64 & TIME_MASK
    }

    fn seal(&self, from: SocketAddr, nonce: u64, stamp: u64) -> u64 {
        // Never 0: that would say that there is no cookie.
        (keyed_hash(self.key, &(from, nonce, stamp)) | 1 << 63) & !TIME_MASK | stamp
    }

    /// A cookie for whoever can receive at `from`.
    pub(crate) fn issue(&self, now: Duration, from: SocketAddr, nonce: u64) -> u64 {
        self.seal(from, nonce, Self::stamp(now))
    }

    /// How long ago this cookie was issued to this address for this nonce; `None` if it was not, or has expired.
    pub(crate) fn age(&self, now: Duration, from: SocketAddr, nonce: u64, cookie: u64) -> Option<Duration> {
        let stamp = cookie & TIME_MASK;
        let units = Self::stamp(now).wrapping_sub(stamp) & TIME_MASK;
        let age = TIME_UNIT * units as u32;
        (cookie == self.seal(from, nonce, stamp) && age <= LIFETIME).then_some(age)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_good_for_one_address_one_nonce_and_ten_seconds() {
        let cookies = Cookies::new(&mut Entropy::new(3));
        let (here, there): (SocketAddr, SocketAddr) =
            ("192.0.2.1:5".parse().unwrap(), "192.0.2.1:6".parse().unwrap());
        let at = Duration::from_secs(2_000);
        let cookie = cookies.issue(at, here, 9);
        let later = at + Duration::from_millis(80);
        assert_eq!(cookies.age(later, here, 9, cookie), Some(Duration::from_millis(80)), "the round trip");
        assert_eq!(cookies.age(later, there, 9, cookie), None);
        assert_eq!(cookies.age(later, here, 8, cookie), None);
        assert_eq!(cookies.age(at + Duration::from_secs(11), here, 9, cookie), None);
        for bit in 0..64 {
            assert_eq!(cookies.age(later, here, 9, cookie ^ 1 << bit), None, "bit {bit}");
        }
        let other = Cookies::new(&mut Entropy::new(4));
        assert_eq!(other.age(later, here, 9, cookie), None);
    }
}
