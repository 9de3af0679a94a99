//! Bytes that hold a key, wiped when they are dropped.

/// Bytes that hold a key. They are never given more room: a move would leave a copy behind.
pub(super) struct Wiped(pub(super) Vec<u8>);

impl Wiped {
    pub(super) fn with_room(len: usize) -> Self {
        Self(Vec::with_capacity(len))
    }
}

impl Drop for Wiped {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

/// Overwrites a key. Without the feature `seal`, which brings `zeroize`, `black_box` keeps the compiler from leaving that out.
pub(super) fn wipe(bytes: &mut [u8]) {
    #[cfg(feature = "seal")]
    zeroize::Zeroize::zeroize(bytes);
    #[cfg(not(feature = "seal"))]
    {
        bytes.fill(0);
        core::hint::black_box(bytes);
    }
}
