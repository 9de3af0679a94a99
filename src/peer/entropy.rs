//! Random numbers for nonces, cookies and pings, from the seed that a config brings.

use super::keyed_hash;

/// The keyed hash of a counter: every number a function of the seed, so that a simulated run can be repeated, and no
/// number tells another. A host's token and first frame travel in the open, and must not give away its cookies' key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entropy {
    key: (u64, u64),
    count: u64,
}

impl Entropy {
    pub(crate) fn new(seed: u64) -> Self {
        Self { key: (seed, seed.rotate_left(32) ^ 0x9E37_79B9_7F4A_7C15), count: 0 }
    }

    pub(crate) fn next_u64(&mut self) -> u64 {
        self.count = self.count.wrapping_add(1);
        keyed_hash(self.key, &self.count)
    }

    /// Never 0.
    pub(crate) fn next_seed(&mut self) -> u32 {
        (self.next_u64() >> 32) as u32 | 1
    }
}
