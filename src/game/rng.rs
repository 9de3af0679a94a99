//! A random number generator that is part of the state: saved, restored and hashed with the rest.

/// A seeded xorshift32 (13, 17, 5): 32 bits of state, every draw a pure function of it.
///
/// Keep it inside the game's state and draw from it in `step` only. Each method draws exactly once for any
/// arguments, and the sequence never depends on how a draw is used. It is not cryptographic.
///
/// ```
/// use rebout::Rng;
///
/// let mut rng = Rng::new(1).expect("not zero");
/// assert_eq!(rng.next_u32(), 270_369);
/// assert!(rng.below(6) < 6);
/// assert!(Rng::new(0).is_none()); // xorshift would stay at zero forever
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rng {
    // Never 0, from which xorshift never moves.
    state: u32,
}

impl Rng {
    /// A generator that starts from `seed`; `None` if that is 0, from which xorshift never moves.
    #[inline]
    #[must_use]
    pub const fn new(seed: u32) -> Option<Self> {
        if seed == 0 { None } else { Some(Self { state: seed }) }
    }

    /// The whole state: the seed before the first draw, after that the result of the last [`next_u32`](Self::next_u32).
    #[inline]
    #[must_use]
    pub const fn state(&self) -> u32 {
        self.state
    }

    /// The next number of the sequence. It is never 0.
    #[inline]
    pub const fn next_u32(&mut self) -> u32 {
        let mut x = self.state;
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        self.state = x;
        x
    }

    /// A number from 0 up to, but not including, `limit`; 0 if `limit` is 0.
    ///
    /// The bias is at most `limit` in 2^32.
    #[inline]
    pub const fn below(&mut self, limit: u32) -> u32 {
        ((self.scrambled() as u64 * limit as u64) >> 32) as u32
    }

    /// A number from `low` to `high`, both included; `low` if `high` is less.
    #[inline]
    pub const fn range(&mut self, low: i32, high: i32) -> i32 {
        let span = if high < low { 1 } else { high.abs_diff(low) as u64 + 1 };
        let offset = (self.scrambled() as u64 * span) >> 32;
        low.wrapping_add_unsigned(offset as u32)
    }

    /// True in `wins` of `of` cases: never if `wins` is 0, otherwise always if it is at least `of`.
    #[inline]
    pub const fn chance(&mut self, wins: u32, of: u32) -> bool {
        self.below(of) < wins
    }

    // Spreads a draw over all 32 bits. The methods above use the high bits, which are 0 in the first draws after a
    // small seed.
    const fn scrambled(&mut self) -> u32 {
        self.next_u32().wrapping_mul(0x9E37_79B9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seeded(seed: u32) -> Rng {
        Rng::new(seed).unwrap()
    }

    #[test]
    fn seed_one_gives_the_published_sequence() {
        let mut rng = seeded(1);
        assert_eq!([rng.next_u32(), rng.next_u32(), rng.next_u32()], [270_369, 67_634_689, 2_647_435_461]);
        assert_eq!(rng.state(), 2_647_435_461);
    }

    #[test]
    fn seed_zero_is_refused() {
        assert_eq!(Rng::new(0), None);
    }

    #[test]
    fn copy_repeats_the_sequence() {
        let mut rng = seeded(0xDEAD_BEEF);
        let mut copy = rng;
        for _ in 0..100 {
            assert_eq!(rng.next_u32(), copy.next_u32());
        }
    }

    #[test]
    fn every_draw_moves_the_state_exactly_once() {
        let mut expected = seeded(7);
        expected.next_u32();
        let draws: [fn(&mut Rng) -> bool; 7] = [
            |rng| rng.below(0) == 0,
            |rng| rng.below(u32::MAX) < u32::MAX,
            |rng| rng.range(5, 5) == 5,
            |rng| rng.range(9, -9) == 9,
            |rng| rng.range(i32::MIN, i32::MAX) != 0,
            |rng| !rng.chance(0, 0),
            |rng| rng.chance(1, 1),
        ];
        for draw in draws {
            let mut rng = seeded(7);
            assert!(draw(&mut rng));
            assert_eq!(rng, expected);
        }
    }

    #[test]
    fn below_is_uniform_from_small_seeds_too() {
        let mut hits = [0u32; 6];
        for seed in 1..=6_000 {
            hits[seeded(seed).below(6) as usize] += 1;
        }
        assert!(hits.iter().all(|hits| (900..=1_100).contains(hits)), "{hits:?}");
    }

    #[test]
    fn range_includes_both_ends_and_nothing_else() {
        let mut rng = seeded(3);
        let mut seen = [false; 5];
        for _ in 0..1_000 {
            seen[usize::try_from(rng.range(-2, 2) + 2).unwrap()] = true;
        }
        assert_eq!(seen, [true; 5]);
        assert_eq!(rng.range(4, 4), 4);
        assert_eq!(rng.range(4, -4), 4);
    }

    #[test]
    fn full_range_reaches_both_halves() {
        let mut rng = seeded(3);
        let draws: Vec<i32> = (0..100).map(|_| rng.range(i32::MIN, i32::MAX)).collect();
        assert!(
            draws.iter().any(|&draw| draw < i32::MIN / 2) && draws.iter().any(|&draw| draw > i32::MAX / 2)
        );
    }

    #[test]
    fn chance_wins_as_often_as_it_says() {
        let mut rng = seeded(11);
        let wins = (0..10_000).filter(|_| rng.chance(1, 4)).count();
        assert!((2_350..=2_650).contains(&wins), "{wins}");
        assert!((0..1_000).all(|_| rng.chance(4, 4)));
        assert!((0..1_000).all(|_| !rng.chance(0, 4)));
    }
}
