//! BLAKE2s over named inputs, for everything outside the Noise handshake that has to be hashed.

use blake2::{Blake2s256, Digest};

/// The hash of `parts`, each behind its length, under a name that keeps uses apart.
pub(super) fn hash(name: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = Blake2s256::new();
    for part in [&b"rebout seal 1"[..], name].iter().chain(parts) {
        hasher.update((part.len() as u32).to_be_bytes());
        hasher.update(part);
    }
    hasher.finalize().into()
}
