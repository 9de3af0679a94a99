//! Random numbers for nonces, cookies and pings, from the system or from the seed in a config.

use super::keyed_hash::{Key, keyed_hash};
use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, SocketAddr};

/// A generator: the keyed hash of a counter.
///
/// Every number is a function of the seed, so that a simulated run can be repeated, and no number reveals another. A
/// host's token and first frame travel in the open, and must not give away the key of its cookies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entropy {
    key: Key,
    count: u64,
    /// Random bits that are left of the last number, below a bit that is set.
    bits: u64,
}

impl Entropy {
    pub(crate) fn new(seed: u64) -> Self {
        Self { key: (seed, seed.rotate_left(32) ^ 0x9E37_79B9_7F4A_7C15), count: 0, bits: 0 }
    }

    /// A generator with a key of 128 bits from the system.
    pub(crate) fn of_system() -> Self {
        #[cfg(all(feature = "seal", not(target_family = "wasm")))]
        if let Some((key, _)) = system_bytes().as_ref().and_then(|bytes| bytes.split_first_chunk::<16>()) {
            let key = u128::from_le_bytes(*key);
            return Self { key: (key as u64, (key >> 64) as u64), count: 0, bits: 0 };
        }
        // The standard library gives random numbers only as the keys of a hash map.
        let system = RandomState::new();
        Self { key: (system.hash_one(0_u8), system.hash_one(1_u8)), count: 0, bits: 0 }
    }

    /// Mixes in the address that this side joins: two sides with the same seed that join each other draw other nonces.
    pub(crate) fn mix(&mut self, addr: SocketAddr) {
        let ip = match addr.ip() {
            IpAddr::V4(ip) => ip.to_ipv6_mapped(),
            IpAddr::V6(ip) => ip,
        };
        let mut bytes = [0; 18];
        bytes[..16].copy_from_slice(&ip.octets());
        bytes[16..].copy_from_slice(&addr.port().to_be_bytes());
        *self = Self::new(keyed_hash(self.key, &bytes));
    }

    pub(crate) fn next_u64(&mut self) -> u64 {
        self.count = self.count.wrapping_add(1);
        keyed_hash(self.key, &self.count.to_le_bytes())
    }

    /// True one time in four, by two random bits.
    pub(crate) fn one_in_four(&mut self) -> bool {
        if self.bits <= 1 {
            self.bits = self.next_u64() | 1 << 63;
        }
        let hits = self.bits & 3 == 0;
        self.bits >>= 2;
        hits
    }

    /// A number that is never 0.
    pub(crate) fn next_seed(&mut self) -> u32 {
        (self.next_u64() >> 32) as u32 | 1
    }
}

/// Random bytes of the operating system; `None` if it has none.
#[cfg(all(feature = "seal", not(target_family = "wasm")))]
pub(crate) fn system_bytes() -> Option<[u8; 32]> {
    use ring::rand::{SecureRandom, SystemRandom};
    let mut bytes = [0; 32];
    SystemRandom::new().fill(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A seeded run draws the same nonces on every machine, whatever its word size and byte order.
    #[test]
    fn seed_gives_the_same_numbers_everywhere() {
        let mut entropy = Entropy::new(7);
        let drawn = [entropy.next_u64(), entropy.next_u64()];
        assert_eq!(drawn, [0xD615_3CDD_B7C8_E1CF, 0xE1E6_AB34_36D1_19AC]);
    }

    #[test]
    fn both_halves_of_a_system_key_are_drawn() {
        let [one, other] = [Entropy::of_system(), Entropy::of_system()];
        assert!(one.key.0 != other.key.0 && one.key.1 != other.key.1);
        assert_ne!(one.key, Entropy::new(one.key.0).key, "the second half is no function of the first");
    }

    #[test]
    fn address_that_is_joined_changes_what_is_drawn() {
        let drawn = |addr: &str| {
            let mut entropy = Entropy::new(7);
            entropy.mix(addr.parse().unwrap());
            entropy.next_u64()
        };
        let all = ["192.0.2.1:5", "192.0.2.1:6", "192.0.2.2:5", "[2001:db8::1]:5"].map(drawn);
        for (at, number) in all.iter().enumerate() {
            assert!(!all[..at].contains(number) && *number != Entropy::new(7).next_u64());
        }
        assert_eq!(drawn("192.0.2.1:5"), drawn("[::ffff:192.0.2.1]:5"));
    }

    #[test]
    fn seeds_are_odd_and_use_all_other_bits() {
        let mut entropy = Entropy::new(7);
        let (mut ones, mut zeros) = (0_u32, 0_u32);
        for _ in 0..1_000 {
            let seed = entropy.next_seed();
            (ones, zeros) = (ones | seed, zeros | !seed);
        }
        assert_eq!((ones, zeros), (u32::MAX, u32::MAX - 1), "never 0, because bit 0 is always set");
    }
}
