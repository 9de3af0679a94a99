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

    /// A stream of its own for a part of what draws from this one, which does not move.
    pub(crate) fn branch(&self) -> Self {
        Self::stream(self.0, 1)
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

    /// Exponentially distributed with this mean, by von Neumann's method, which compares uniform numbers and needs
    /// neither a logarithm nor a float.
    pub(crate) fn exponential(&mut self, mean: u64) -> u64 {
        let mut whole = 0;
        loop {
            let first = self.next_u64();
            if self.descent_is_odd(first) {
                let part = ((u128::from(first) * u128::from(mean)) >> 64) as u64;
                return mean.saturating_mul(whole).saturating_add(part);
            }
            whole += 1;
        }
    }

    /// Whether the numbers fall an odd number of times in a row, counting `first`: with probability `e^-first`, for
    /// `first` as a fraction.
    fn descent_is_odd(&mut self, first: u64) -> bool {
        let (mut last, mut odd) = (first, true);
        loop {
            let next = self.next_u64();
            if next >= last {
                return odd;
            }
            (last, odd) = (next, !odd);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponential_numbers_have_the_right_mean_and_tail() {
        const COUNT: usize = 200_000;
        let mut rng = Seeded::stream(1, 0);
        let drawn: Vec<u64> = (0..COUNT).map(|_| rng.exponential(1_000_000)).collect();
        let mean = drawn.iter().sum::<u64>() / COUNT as u64;
        assert!(mean.abs_diff(1_000_000) < 10_000, "{mean}");
        // The share beyond a bound is `e^-bound`, with the bound in means. In a million:
        for (bound, share) in
            [(100_000, 904_837), (500_000, 606_531), (1_000_000, 367_879), (3_000_000, 49_787)]
        {
            let beyond = drawn.iter().filter(|number| **number > bound).count() * 1_000_000 / COUNT;
            assert!(beyond.abs_diff(share) < 4_000, "{beyond} of a million beyond {bound}, not {share}");
        }
        assert_eq!(rng.exponential(0), 0);
    }

    #[test]
    fn branch_leaves_its_stream_unchanged() {
        let mut stream = Seeded::stream(7, 3);
        let mut unmoved = stream.clone();
        let mut branch = stream.branch();
        let numbers = [0; 4].map(|_| stream.next_u64());
        assert_eq!(numbers, [0; 4].map(|_| unmoved.next_u64()));
        assert!([0; 4].map(|_| branch.next_u64()).iter().all(|number| !numbers.contains(number)));
    }
}
