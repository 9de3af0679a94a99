//! The simulator's random number generator: splitmix64, with a stream for each purpose.

/// A seeded stream of random numbers. It is independent of the game's generator, whose changes move no datagram.
#[derive(Clone, Debug)]
pub(crate) struct Seeded(u64);

impl Seeded {
    /// The stream of that number. Draws from one stream do not shift those of another.
    pub(crate) fn stream(seed: u64, stream: u64) -> Self {
        let mut mixer = Self(seed ^ stream.wrapping_mul(0xD6E8_FEB8_6659_FD93));
        Self(mixer.next_u64())
    }

    #[inline]
    pub(crate) fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in `0..bound`; 0 when `bound` is 0.
    #[inline]
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Uniform in `0..=max`; consumes no draw if `max` is 0.
    #[inline]
    pub(crate) fn up_to(&mut self, max: u64) -> u64 {
        if max == 0 { 0 } else { self.below(max.saturating_add(1)) }
    }
}
