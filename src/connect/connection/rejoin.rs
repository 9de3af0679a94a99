//! Coming back to a match on another connection.

use super::options::{Access, Key};
use super::{ConnectError, ConnectOptions, Connection};
use crate::Invite;
use crate::connect::seal::{Seal, public_rejoin_key};
use crate::net::Datagrams;
use std::net::SocketAddr;

impl<D: Datagrams> Connection<D> {
    /// The private key that only this machine and the peer at this address know; `None` without encryption.
    pub(crate) fn rejoin_key(&self, peer: SocketAddr) -> Option<[u8; 32]> {
        self.layers.seal()?.rejoin_key(peer)
    }

    /// The UDP port of this machine, 0 on other transports.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Admits the holder of this key, which was in the match before. `false` if that is not possible.
    pub(crate) fn admit_rejoiner(&mut self, key: [u8; 32]) -> bool {
        self.layers.seal_mut().is_some_and(|seal| seal.admit_rejoiner(key).is_ok())
    }

    /// Admits the holder of this key no longer.
    pub(crate) fn dismiss_rejoiner(&mut self, key: [u8; 32]) {
        if let Some(seal) = self.layers.seal_mut() {
            Seal::dismiss_rejoiner(seal, key);
        }
    }
}

impl ConnectOptions {
    /// The options of a machine that comes back, from the port that it had.
    pub(crate) fn to_rejoin(&self, port: u16) -> Self {
        let bind = SocketAddr::new(self.bind.ip(), port);
        let (access, key, rendezvous) = (Access::Invited, Key::New, None);
        Self { access, key, rendezvous, leaves_addresses_out: false, bind, ..self.clone() }
    }
}

/// The text by which a machine joins the one that waits for it at this address.
///
/// # Errors
/// If there is no such address.
pub(crate) fn rejoin_text(key: [u8; 32], peer: SocketAddr) -> Result<String, ConnectError> {
    let invite = Invite::new(public_rejoin_key(key), [peer]);
    invite.map(|invite| invite.to_string()).map_err(|error| ConnectError::Text { why: error.to_string() })
}
