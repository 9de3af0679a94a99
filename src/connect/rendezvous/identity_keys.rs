//! SHA-256 and Ed25519 for the identity of a room: by `ring`, or in a page by crates without C code.

use crate::wire::rendezvous::{KEY_LEN, SIGNATURE_LEN};

#[cfg(not(target_family = "wasm"))]
mod by_ring {
    use super::{KEY_LEN, SIGNATURE_LEN};
    use ring::digest::{Context, SHA256};
    use ring::signature::{Ed25519KeyPair, KeyPair};

    pub(crate) fn sha256(parts: &[&[u8]]) -> [u8; 32] {
        let mut hash = Context::new(&SHA256);
        parts.iter().for_each(|part| hash.update(part));
        hash.finish().as_ref().first_chunk().copied().unwrap_or_default()
    }

    pub(crate) struct Pair(Ed25519KeyPair);

    impl Pair {
        pub(crate) fn new(seed: &[u8; 32]) -> Option<Self> {
            Ed25519KeyPair::from_seed_unchecked(seed).ok().map(Self)
        }

        pub(crate) fn key(&self) -> Option<[u8; KEY_LEN]> {
            self.0.public_key().as_ref().try_into().ok()
        }

        pub(crate) fn sign(&self, text: &[u8]) -> Option<[u8; SIGNATURE_LEN]> {
            self.0.sign(text).as_ref().try_into().ok()
        }
    }
}

#[cfg(target_family = "wasm")]
mod by_dalek {
    use super::{KEY_LEN, SIGNATURE_LEN};
    use ed25519_dalek::{Signer as _, SigningKey};
    use sha2::{Digest as _, Sha256};

    pub(crate) fn sha256(parts: &[&[u8]]) -> [u8; 32] {
        let mut hash = Sha256::new();
        parts.iter().for_each(|part| hash.update(part));
        hash.finalize().into()
    }

    pub(crate) struct Pair(SigningKey);

    impl Pair {
        pub(crate) fn new(seed: &[u8; 32]) -> Option<Self> {
            Some(Self(SigningKey::from_bytes(seed)))
        }

        pub(crate) fn key(&self) -> Option<[u8; KEY_LEN]> {
            Some(self.0.verifying_key().to_bytes())
        }

        pub(crate) fn sign(&self, text: &[u8]) -> Option<[u8; SIGNATURE_LEN]> {
            Some(self.0.sign(text).to_bytes())
        }
    }
}

#[cfg(target_family = "wasm")]
pub(crate) use by_dalek::{Pair, sha256};
#[cfg(not(target_family = "wasm"))]
pub(crate) use by_ring::{Pair, sha256};
