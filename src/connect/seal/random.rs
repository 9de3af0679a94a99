//! Secrets, and the random bytes that they are made of.

use super::hash::hash;
#[cfg(not(target_family = "wasm"))]
use crate::channel::entropy::system_bytes;
use core::fmt;
use zeroize::Zeroize;

/// 32 secret bytes, wiped when they are dropped and never printed.
#[derive(Clone)]
pub(super) struct Secret(pub(super) [u8; 32]);

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

opaque_debug!(Secret);

/// The source of a seal's random bytes.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Randomness {
    /// The operating system.
    #[cfg(not(target_family = "wasm"))]
    System,
    /// 32 random bytes that the caller got from an unpredictable source, for targets without such a source here.
    Given([u8; 32]),
    /// A seed, for simulations only: it determines every key.
    Seeded(u64),
}

impl Randomness {
    /// A secret key that nothing else draws from the same source; `None` if the operating system has no random bytes.
    pub(crate) fn secret_key(self, name: &[u8]) -> Option<[u8; 32]> {
        Some(hash(name, &[&Random::new(self)?.next_secret().0]))
    }

    /// A generator that draws nothing that a seal, or a generator of another name, draws from the same source; `None` if the
    /// operating system has no random bytes.
    #[cfg(any(feature = "nat", feature = "browser"))]
    pub(crate) fn generator(self, name: &[u8]) -> Option<Random> {
        let mut random = Random::new(self)?;
        Some(Random { state: Secret(hash(name, &[&random.next_secret().0])) })
    }
}

impl fmt::Debug for Randomness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            #[cfg(not(target_family = "wasm"))]
            Self::System => "System",
            Self::Given(_) => "Given",
            Self::Seeded(_) => "Seeded",
        })
    }
}

/// A generator whose state is replaced with every draw: later memory does not reveal earlier keys.
#[derive(Debug)]
pub(crate) struct Random {
    state: Secret,
}

impl Random {
    /// `None` if the operating system has no random bytes.
    pub(super) fn new(source: Randomness) -> Option<Self> {
        let mut seed = match source {
            #[cfg(not(target_family = "wasm"))]
            Randomness::System => system_bytes()?,
            Randomness::Given(bytes) => bytes,
            Randomness::Seeded(number) => hash(b"seed", &[&number.to_be_bytes()]),
        };
        let state = Secret(hash(b"random", &[&seed]));
        seed.zeroize();
        Some(Self { state })
    }

    pub(super) fn next_secret(&mut self) -> Secret {
        let drawn = Secret(hash(b"draw", &[&self.state.0]));
        self.state = Secret(hash(b"next", &[&self.state.0]));
        drawn
    }

    pub(crate) fn next_u64(&mut self) -> u64 {
        let drawn = self.next_secret();
        u64::from_be_bytes(drawn.0.first_chunk().copied().unwrap_or_default())
    }

    #[cfg(any(feature = "nat", feature = "browser"))]
    pub(crate) fn next_32(&mut self) -> [u8; 32] {
        self.next_secret().0
    }

    pub(crate) fn next_16(&mut self) -> [u8; 16] {
        self.next_secret().0.first_chunk().copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seed_gives_the_same_bytes_and_no_two_draws_are_alike() {
        let drawn = |source| {
            let mut random = Random::new(source).unwrap();
            [random.next_u64(), random.next_u64(), random.next_u64()]
        };
        assert_eq!(drawn(Randomness::Seeded(7)), drawn(Randomness::Seeded(7)));
        let sources =
            [Randomness::Seeded(7), Randomness::Seeded(8), Randomness::Given([7; 32]), Randomness::System];
        let mut all: Vec<u64> = sources.into_iter().chain([Randomness::System]).flat_map(drawn).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 15);
    }

    #[test]
    fn secrets_are_not_printed() {
        let random = Random::new(Randomness::Given([0x41; 32])).unwrap();
        assert_eq!(format!("{random:?}"), "Random { state: Secret }");
        assert_eq!(format!("{:?}", Randomness::Given([0x41; 32])), "Given");
        assert_eq!(format!("{:?}", Randomness::Seeded(0x41)), "Seeded");
    }

    #[cfg(feature = "nat")]
    #[test]
    fn named_generators_draw_other_bytes_than_a_seal() {
        let source = Randomness::Seeded(7);
        let drawn = Random::new(source).unwrap().next_32();
        let [one, two] = [b"one", b"two"].map(|name| source.generator(name).unwrap().next_32());
        assert!(one != two && one != drawn && two != drawn);
        assert_eq!(source.generator(b"one").unwrap().next_32(), one);
    }
}
