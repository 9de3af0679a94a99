//! Random numbers for nonces, cookies and pings, from the seed that a config brings.

/// SplitMix64: every number a function of the seed, so that a simulated run can be repeated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entropy(u64);

impl Entropy {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Never 0.
    pub(crate) fn next_seed(&mut self) -> u32 {
        (self.next_u64() >> 32) as u32 | 1
    }
}
