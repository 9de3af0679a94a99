//! The key by which a machine that was started again proves that it was in a match.
//!
//! Both machines derive one key pair from the keys of their connection. The machine that waits admits the holder of it as a
//! rejoiner, and the one that comes back joins by its public half, as by an invite: recorded handshakes are refused by their cookies,
//! and the key of another match does not fit.

use super::primitives::public_key;
use super::random::Secret;
use super::{Seal, SealError};
use crate::protocol::PeerRole;
use crate::wire::seal::KEY_LEN;
use std::net::SocketAddr;

impl Seal {
    /// The private key that only this machine and the peer at `inner_addr` know; `None` before there is a connection.
    #[must_use]
    pub fn rejoin_key(&self, inner_addr: SocketAddr) -> Option<[u8; KEY_LEN]> {
        self.newest(inner_addr)?.rejoin_key()
    }

    /// Admits the holder of this key as a rejoiner.
    ///
    /// # Errors
    /// If there are too many keys.
    pub fn admit_rejoiner(&mut self, key: [u8; KEY_LEN]) -> Result<(), SealError> {
        self.dismiss_rejoiner(key);
        self.add_access(PeerRole::Rejoiner, Some(key), 1).map(|_| ())
    }

    /// Joins its host no longer: that one has come back as a guest.
    pub(crate) fn forget_host(&mut self) {
        self.join = None;
    }

    /// Admits the holder of this key no longer. One that is there stays.
    pub fn dismiss_rejoiner(&mut self, key: [u8; KEY_LEN]) {
        self.revoke(&public_rejoin_key(key));
    }
}

/// The public half of a key, for the machine that comes back.
#[must_use]
pub(crate) fn public_rejoin_key(key: [u8; KEY_LEN]) -> [u8; KEY_LEN] {
    public_key(&Secret(key))
}
