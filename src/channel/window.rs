//! The numbers of received packets: the whole number from its low bits, and each taken once.

/// A replay window over the last `64 * WORDS` numbers of one direction.
#[derive(Clone, Debug)]
pub(crate) struct Window<const WORDS: usize> {
    /// One past the newest number; 0 before the first.
    end: u64,
    /// A bit for each of the last numbers, at the number modulo their count.
    seen: [u64; WORDS],
}

impl<const WORDS: usize> Window<WORDS> {
    const LEN: u64 = WORDS as u64 * 64;

    pub(crate) const fn new() -> Self {
        Self { end: 0, seen: [0; WORDS] }
    }

    /// One past the newest number; 0 before the first.
    #[cfg(any(test, feature = "authority"))]
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// The number nearest to the end whose low 16 bits are these.
    #[cfg(any(test, feature = "seal"))]
    #[inline]
    pub(crate) fn near_16(&self, low: u16) -> u64 {
        self.end.saturating_add_signed(i64::from(low.wrapping_sub(self.end as u16) as i16))
    }

    /// The number nearest to the end whose low 32 bits are these.
    #[cfg(any(test, feature = "seal"))]
    pub(crate) fn near_32(&self, low: u32) -> u64 {
        self.end.saturating_add_signed(i64::from(low.wrapping_sub(self.end as u32) as i32))
    }

    /// The word and the bit of a number.
    #[inline]
    fn place(number: u64) -> (usize, u64) {
        ((number % Self::LEN / 64) as usize, 1 << (number % 64))
    }

    /// Whether the number is new, and not too old to tell.
    #[inline]
    pub(crate) fn is_new(&self, number: u64) -> bool {
        let (word, bit) = Self::place(number);
        number >= self.end || self.end - number <= Self::LEN && self.seen[word] & bit == 0
    }

    /// Takes a number that is new. Returns whether it is the newest.
    #[inline]
    pub(crate) fn take(&mut self, number: u64) -> bool {
        let newest = number >= self.end;
        if newest {
            self.clear(number);
            self.end = number + 1;
        }
        let (word, bit) = Self::place(number);
        self.seen[word] |= bit;
        newest
    }

    /// Clears the bits of the numbers that are skipped from the end up to `number`.
    #[inline]
    fn clear(&mut self, number: u64) {
        if number - self.end >= Self::LEN {
            self.seen = [0; WORDS];
            return;
        }
        for skipped in self.end..number {
            let (word, bit) = Self::place(skipped);
            self.seen[word] &= !bit;
        }
    }
}

#[cfg(test)]
mod tests {
    type Window = super::Window<16>;
    const WINDOW: u64 = 1_024;

    fn after(counters: impl IntoIterator<Item = u64>) -> Window {
        let mut window = Window::new();
        for counter in counters {
            assert!(window.is_new(counter), "{counter}");
            window.take(counter);
        }
        window
    }

    #[test]
    fn counter_is_taken_once_and_only_within_the_window() {
        let window = after(0..2_000);
        for counter in 0..2_000 {
            assert!(!window.is_new(counter));
        }
        let gaps = after((0..4_000).filter(|counter| counter % 3 != 1));
        for counter in 0..3_999 {
            assert_eq!(gaps.is_new(counter), counter % 3 == 1 && counter >= 3_999 - WINDOW, "{counter}");
        }
        assert!(after([5_000]).is_new(5_001 - WINDOW));
        assert!(!after([5_000]).is_new(5_000 - WINDOW));
    }

    #[test]
    fn jump_forgets_only_what_left_the_window() {
        for jump in [1, 2, 63, 64, 65, 1_022, 1_023, 1_024, 1_025, 70_000] {
            let mut window = after(0..2_000);
            let newest = 1_999 + jump;
            assert!(window.take(newest));
            for counter in 900..newest {
                let new = counter >= 2_000 && newest + 1 - counter <= WINDOW;
                assert_eq!(window.is_new(counter), new, "{counter} after a jump of {jump}");
            }
            assert!(!window.is_new(newest));
        }
    }

    #[test]
    fn low_bits_name_the_nearest_counter() {
        let window = Window::new();
        assert_eq!((window.near_16(0), window.near_16(9), window.near_16(0x7FFF)), (0, 9, 0x7FFF));
        assert_eq!(window.near_16(0xFFFF), 0, "there is none before the first");
        let window = after([0x1_FFFE]);
        assert_eq!(window.near_16(0xFFFF), 0x1_FFFF);
        assert_eq!(window.near_16(0x0003), 0x2_0003, "beyond the low bits");
        assert_eq!(window.near_16(0xFFF0), 0x1_FFF0);
        assert_eq!(window.near_32(0x0100_0000), 0x0100_0000, "further than 16 bits reach");
        let window = after([0x5_FFFF_FFFE]);
        assert_eq!(window.near_32(3), 0x6_0000_0003);
        assert_eq!(window.near_32(0xFFFF_0000), 0x5_FFFF_0000);
    }
}
