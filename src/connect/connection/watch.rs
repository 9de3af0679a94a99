//! Spectators at a connection: their invite at a host, and the host of a spectator.

use super::{ConnectError, Connection, Role};
use crate::Invite;
use crate::net::Datagrams;
use crate::protocol::PeerRole;
use std::net::SocketAddr;

impl<D: Datagrams> Connection<D> {
    /// Lets up to so many spectators in, by an invite of their own with the key of the broadcast. [`share_to_watch`](Self::share_to_watch)
    /// is their text.
    ///
    /// # Errors
    /// If this machine does not host by invite.
    pub fn admit_spectators(&mut self, spectators: u8, broadcast_key: [u8; 32]) -> Result<(), ConnectError> {
        const NO_INVITE: ConnectError =
            ConnectError::Options { why: "only a host by invite can have spectators" };
        if self.share.0.parse::<Invite>().is_err() || !self.is_host() {
            return Err(NO_INVITE);
        }
        let seal = self.layers.seal_mut().ok_or(NO_INVITE)?;
        let key = seal.add_access(PeerRole::Spectator, None, spectators)?;
        self.watch_keys = Some((key, broadcast_key));
        Ok(())
    }

    /// The text for spectators, who can watch with it and not play. `None` if there are none.
    #[must_use]
    pub fn share_to_watch(&self) -> Option<String> {
        let (key, broadcast_key) = self.watch_keys?;
        let invite: Invite = self.share.0.parse().ok()?;
        Some(invite.to_watch(key, broadcast_key).to_string())
    }

    /// The inner address of the host and the key of its broadcast, if this machine has joined by an invite to watch.
    pub(crate) fn watched(&self) -> Option<(SocketAddr, [u8; 32])> {
        match &self.role {
            Role::Join { target, broadcast_key, .. } => Some((*target, (*broadcast_key)?)),
            Role::Host => None,
        }
    }
}
