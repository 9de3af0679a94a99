//! The mac of REQUEST, RETRY and INIT: proof of knowing the host's key, checked before any Diffie-Hellman.

use super::hash::hash;
use crate::channel::keyed_hash::{Key, keyed_hash};
use crate::wire::seal::{KEY_LEN, split_mac};

/// The key of the mac. It is secret if the host's public key is.
#[derive(Clone, Copy)]
pub(super) struct Mac(Key);

opaque_debug!(Mac);

impl Mac {
    /// Keyed by a hash of the host's public key, which only those know who have the invite.
    pub(super) fn of(host_key: &[u8; KEY_LEN]) -> Self {
        let digest = hash(b"mac", &[host_key]);
        let half =
            |at: usize| digest[at..at + 8].iter().rev().fold(0, |key, byte| key << 8 | u64::from(*byte));
        Self((half(0), half(8)))
    }

    /// Keyed by zeros: by address there is no secret, and the mac is only a checksum.
    pub(super) fn open() -> Self {
        Self((0, 0))
    }

    pub(super) fn write(self, covered: &[u8]) -> u64 {
        keyed_hash(self.0, covered)
    }

    /// Whether the last 8 bytes of a datagram are the mac of the others.
    pub(super) fn fits(self, datagram: &[u8]) -> bool {
        split_mac(datagram).is_some_and(|(covered, mac)| self.write(covered) == mac)
    }
}
