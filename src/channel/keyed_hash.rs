//! SipHash-2-4 over explicit bytes: without the key a value cannot be predicted, and values do not reveal the key.
//!
//! Written out here because nonces and cookies of a seeded run must be the same on every machine: the standard
//! library's keyed hasher is deprecated, and `Hash` feeds it native-endian words.

/// The two halves of the key.
pub(crate) type Key = (u64, u64);

/// The hash of `bytes` under `key`.
pub(crate) fn keyed_hash(key: Key, bytes: &[u8]) -> u64 {
    let mut state = State([
        key.0 ^ 0x736f_6d65_7073_6575,
        key.1 ^ 0x646f_7261_6e64_6f6d,
        key.0 ^ 0x6c79_6765_6e65_7261,
        key.1 ^ 0x7465_6462_7974_6573,
    ]);
    let (words, tail) = bytes.as_chunks::<8>();
    for word in words {
        state.compress(u64::from_le_bytes(*word));
    }
    // The last word holds what is left and, in its top byte, the length.
    let mut last = [0; 8];
    last[..tail.len()].copy_from_slice(tail);
    last[7] = bytes.len() as u8;
    state.compress(u64::from_le_bytes(last));
    state.finish()
}

struct State([u64; 4]);

impl State {
    fn round(&mut self) {
        let [v0, v1, v2, v3] = &mut self.0;
        *v0 = v0.wrapping_add(*v1);
        *v1 = v1.rotate_left(13) ^ *v0;
        *v0 = v0.rotate_left(32);
        *v2 = v2.wrapping_add(*v3);
        *v3 = v3.rotate_left(16) ^ *v2;
        *v0 = v0.wrapping_add(*v3);
        *v3 = v3.rotate_left(21) ^ *v0;
        *v2 = v2.wrapping_add(*v1);
        *v1 = v1.rotate_left(17) ^ *v2;
        *v2 = v2.rotate_left(32);
    }

    fn compress(&mut self, word: u64) {
        self.0[3] ^= word;
        self.round();
        self.round();
        self.0[0] ^= word;
    }

    fn finish(mut self) -> u64 {
        self.0[2] ^= 0xff;
        for _ in 0..4 {
            self.round();
        }
        self.0.into_iter().fold(0, |hash, word| hash ^ word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vectors of the algorithm's authors: key 00 01 .. 0f, input 00 01 .. of each length.
    #[test]
    fn digests_are_those_of_the_reference() {
        let key = (0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908);
        let bytes: Vec<u8> = (0..16).collect();
        for (len, digest) in [
            (0, 0x726f_db47_dd0e_0e31),
            (1, 0x74f8_39c5_93dc_67fd),
            (7, 0xab02_00f5_8b01_d137),
            (8, 0x93f5_f579_9a93_2462),
            (15, 0xa129_ca61_49be_45e5),
        ] {
            assert_eq!(keyed_hash(key, &bytes[..len]), digest, "{len} bytes");
        }
    }
}
