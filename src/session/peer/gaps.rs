//! Random gaps in our sequence numbers. A stranger who acknowledges all numbers is found out.

use crate::channel::entropy::Entropy;

/// The random numbers of one link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gaps {
    entropy: Entropy,
    bits: u64,
}

impl Gaps {
    pub(crate) fn new(entropy: Entropy) -> Self {
        Self { entropy, bits: 0 }
    }

    /// A random number.
    pub(crate) fn draw(&mut self) -> u64 {
        self.entropy.next_u64()
    }

    /// Whether the number after the next one is skipped: one in four, by two random bits.
    pub(crate) fn skips(&mut self) -> bool {
        if self.bits <= 1 {
            // The top bit says when the others are used up.
            self.bits = self.draw() | 1 << 63;
        }
        let skips = self.bits & 3 == 0;
        self.bits >>= 2;
        skips
    }
}
