//! The counters of received packets: the whole counter from its low bits, and each taken once.

/// How far behind the newest a counter is still taken.
pub(super) const WINDOW: u64 = 1_024;
const WORDS: usize = WINDOW as usize / 64;

/// The replay window of one direction.
#[derive(Clone, Debug)]
pub(super) struct Window {
    /// One past the newest counter; 0 before the first.
    end: u64,
    /// A bit for each of the last 1,024 counters, at the counter modulo 1,024.
    seen: [u64; WORDS],
}

impl Window {
    pub(super) const fn new() -> Self {
        Self { end: 0, seen: [0; WORDS] }
    }

    /// The counter nearest to the newest whose low 16 bits are these.
    #[inline]
    pub(super) fn near_16(&self, low: u16) -> u64 {
        self.end.saturating_add_signed(i64::from(low.wrapping_sub(self.end as u16) as i16))
    }

    /// The counter nearest to the newest whose low 32 bits are these.
    pub(super) fn near_32(&self, low: u32) -> u64 {
        self.end.saturating_add_signed(i64::from(low.wrapping_sub(self.end as u32) as i32))
    }

    /// Whether the counter is new, and not too old to tell.
    #[inline]
    pub(super) fn is_new(&self, counter: u64) -> bool {
        if counter >= self.end {
            return true;
        }
        let bit = counter % WINDOW;
        self.end - counter <= WINDOW && self.seen[(bit / 64) as usize] & 1 << (bit % 64) == 0
    }

    /// Takes a counter that is new, once its tag fits. Returns whether it is the newest.
    #[inline]
    pub(super) fn take(&mut self, counter: u64) -> bool {
        let newest = counter >= self.end;
        if newest {
            self.clear(counter);
            self.end = counter + 1;
        }
        let bit = counter % WINDOW;
        self.seen[(bit / 64) as usize] |= 1 << (bit % 64);
        newest
    }

    /// Clears the bits of the counters from the end up to `counter`.
    #[inline]
    fn clear(&mut self, counter: u64) {
        if counter == self.end {
            let bit = counter % WINDOW;
            self.seen[(bit / 64) as usize] &= !(1 << (bit % 64));
        } else if counter - self.end >= WINDOW {
            self.seen = [0; WORDS];
        } else {
            for skipped in self.end..=counter {
                let bit = skipped % WINDOW;
                self.seen[(bit / 64) as usize] &= !(1 << (bit % 64));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(counters: impl IntoIterator<Item = u64>) -> Window {
        let mut window = Window::new();
        for counter in counters {
            assert!(window.is_new(counter), "{counter}");
            window.take(counter);
        }
        window
    }

    #[test]
    fn a_counter_is_taken_once_and_only_within_the_window() {
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
    fn a_jump_forgets_what_left_the_window_and_nothing_else() {
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
