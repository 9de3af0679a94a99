//! Spectators at a connection: their invite at a host, and the host of a spectator.

use super::{ConnectError, Connection, Role};
use crate::net::Datagrams;
use std::net::SocketAddr;

impl<D: Datagrams> Connection<D> {
    /// Lets up to this many spectators in, by an invite of their own with the key of the broadcast. [`share_to_watch`](Self::share_to_watch)
    /// is their text.
    ///
    /// # Errors
    /// If this machine does not host by invite.
    pub fn admit_spectators(&mut self, spectators: u8, broadcast_key: [u8; 32]) -> Result<(), ConnectError> {
        let no_invite = ConnectError::Options { why: "only a host by invite can have spectators" };
        if let Some(paths) = self.layers.paths_mut() {
            paths.expect_spectators(spectators);
        }
        match (&mut self.invites, self.layers.seal_mut()) {
            (Some(invites), Some(seal)) => {
                self.chores_at = core::time::Duration::ZERO;
                invites.issue_to_watch(seal, spectators, broadcast_key)
            }
            _ => Err(no_invite),
        }
    }

    /// The text for spectators, who can watch with it and not play. `None` if there are none.
    #[must_use]
    pub fn share_to_watch(&self) -> Option<String> {
        self.invites.as_ref()?.watch()
    }

    /// The inner address of the host and the key of its broadcast, if this machine has joined by an invite to watch.
    pub(crate) fn watched(&self) -> Option<(SocketAddr, [u8; 32])> {
        match &self.role {
            Role::Join { target, broadcast_key, .. } => Some((*target, (*broadcast_key)?)),
            Role::Host => None,
        }
    }
}
