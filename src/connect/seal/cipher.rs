//! The cipher of DATA and control packets: ChaCha20-Poly1305 in place, one key for one direction.
//!
//! `ring` does it where it builds. A pure Rust implementation stands behind the same calls for the others; the bytes are
//! the same.

#[cfg(not(target_family = "wasm"))]
pub(super) use fast::Cipher;
#[cfg(target_family = "wasm")]
pub(super) use portable::Cipher;

use crate::wire::seal::TAG_LEN;

/// The nonce of a counter: four zero bytes, then the counter, little-endian.
#[inline]
fn nonce(counter: u64) -> [u8; 12] {
    let mut nonce = [0; 12];
    nonce[4..].copy_from_slice(&counter.to_le_bytes());
    nonce
}

#[cfg(not(target_family = "wasm"))]
mod fast {
    use super::{TAG_LEN, nonce};
    use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};

    /// The key of one direction.
    #[derive(Debug)]
    pub(crate) struct Cipher(LessSafeKey);

    impl Cipher {
        /// `None` never happens with a key of 32 bytes.
        pub(crate) fn new(key: &[u8; 32]) -> Option<Self> {
            UnboundKey::new(&CHACHA20_POLY1305, key).ok().map(|key| Self(LessSafeKey::new(key)))
        }

        /// Seals `text` in place, and returns its tag, which covers `head` too. A counter is used once.
        #[inline]
        pub(crate) fn seal(&self, counter: u64, head: &[u8], text: &mut [u8]) -> Option<[u8; TAG_LEN]> {
            let nonce = Nonce::assume_unique_for_key(nonce(counter));
            let tag = self.0.seal_in_place_separate_tag(nonce, Aad::from(head), text).ok()?;
            tag.as_ref().try_into().ok()
        }

        /// Opens the text and tag in `sealed` in place. `false` if the tag does not fit; the text is then worthless.
        #[inline]
        pub(crate) fn open(&self, counter: u64, head: &[u8], sealed: &mut [u8]) -> bool {
            let nonce = Nonce::assume_unique_for_key(nonce(counter));
            self.0.open_in_place(nonce, Aad::from(head), sealed).is_ok()
        }
    }
}

#[cfg(any(target_family = "wasm", test))]
mod portable {
    use super::{TAG_LEN, nonce};
    use chacha20poly1305::aead::AeadInPlace;
    use chacha20poly1305::{ChaCha20Poly1305, KeyInit, Nonce, Tag};
    use core::fmt;

    /// The key of one direction.
    pub(crate) struct Cipher(ChaCha20Poly1305);

    impl fmt::Debug for Cipher {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("Cipher")
        }
    }

    impl Cipher {
        /// `None` never happens with a key of 32 bytes.
        pub(crate) fn new(key: &[u8; 32]) -> Option<Self> {
            ChaCha20Poly1305::new_from_slice(key).ok().map(Self)
        }

        /// Seals `text` in place, and returns its tag, which covers `head` too. A counter is used once.
        pub(crate) fn seal(&self, counter: u64, head: &[u8], text: &mut [u8]) -> Option<[u8; TAG_LEN]> {
            let nonce = nonce(counter);
            let tag = self.0.encrypt_in_place_detached(Nonce::from_slice(&nonce), head, text).ok()?;
            Some(tag.into())
        }

        /// Opens the text and tag in `sealed` in place. `false` if the tag does not fit; the text is then worthless.
        pub(crate) fn open(&self, counter: u64, head: &[u8], sealed: &mut [u8]) -> bool {
            let Some((text, tag)) = sealed.split_last_chunk_mut::<TAG_LEN>() else { return false };
            let nonce = nonce(counter);
            let tag = Tag::from_slice(tag);
            self.0.decrypt_in_place_detached(Nonce::from_slice(&nonce), head, text, tag).is_ok()
        }
    }
}

#[cfg(all(test, not(target_family = "wasm")))]
mod tests {
    use super::*;

    #[test]
    fn both_cipher_implementations_are_interoperable() {
        let key = core::array::from_fn(|at| at as u8 * 7);
        let (fast, portable) = (fast::Cipher::new(&key).unwrap(), portable::Cipher::new(&key).unwrap());
        for (counter, len) in [(0, 0), (1, 1), (0x1_0000, 26), (u64::MAX - 1, 64), (7, 1_179)] {
            let text: Vec<u8> = (0..len).map(|at| at as u8).collect();
            let head = [0xE5, 1, 2, 3, 4];
            let (mut one, mut two) = (text.clone(), text.clone());
            let tags = [fast.seal(counter, &head, &mut one), portable.seal(counter, &head, &mut two)]
                .map(Option::unwrap);
            assert_eq!((tags[0], &one), (tags[1], &two), "{len} bytes");
            one.extend(tags[0]);
            two.extend(tags[1]);
            for bit in [0, one.len() * 8 - 1] {
                let mut bad = one.clone();
                bad[bit / 8] ^= 1 << (bit % 8);
                assert!(!fast.open(counter, &head, &mut bad.clone()));
                assert!(!portable.open(counter, &head, &mut bad));
            }
            assert!(!fast.open(counter ^ 1, &head, &mut one.clone()));
            assert!(!fast.open(counter, &head[1..], &mut one.clone()));
            assert!(fast.open(counter, &head, &mut two) && portable.open(counter, &head, &mut one));
            assert_eq!((&one[..len], &two[..len]), (&text[..], &text[..]));
        }
        assert!(!fast.open(0, b"", &mut [0; 15]) && !portable.open(0, b"", &mut [0; 15]));
    }
}
