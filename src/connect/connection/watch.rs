//! Spectators at a connection: their invite at a host, and the host of a spectator.

use super::invites::Invites;
use super::{ConnectError, Connection, Role};
use crate::net::Datagrams;
use crate::net::ticket::SpectatorKeys;
use std::net::SocketAddr;

const NO_INVITE: &str = "only a host by invite can have spectators";

impl<D: Datagrams> Connection<D> {
    /// Lets up to this many spectators in, by an invite of their own with the key of the broadcast. [`share_to_watch`](Self::share_to_watch)
    /// is their text.
    ///
    /// # Errors
    /// If this machine does not host by invite.
    pub fn admit_spectators(&mut self, spectators: u8, broadcast_key: [u8; 32]) -> Result<(), ConnectError> {
        if let Some(paths) = self.layers.paths_mut() {
            paths.expect_spectators(spectators);
        }
        match (&mut self.invites, self.layers.seal_mut()) {
            (Some(invites), Some(seal)) => {
                self.chores_at = core::time::Duration::ZERO;
                invites.issue_to_watch(seal, spectators, broadcast_key)
            }
            _ => Err(ConnectError::Options { why: NO_INVITE }),
        }
    }

    /// Lets spectators in again by the invite that an earlier program of this machine has shared, in its room at the rendezvous too.
    ///
    /// # Errors
    /// If the invite has expired or cannot be used, or there is no encryption.
    pub(crate) fn readmit_spectators(
        &mut self,
        spectators: u8,
        kept: &SpectatorKeys,
    ) -> Result<(), ConnectError> {
        let seal = self.layers.seal_mut().ok_or(ConnectError::Options { why: NO_INVITE })?;
        self.invites = Some(Invites::of_watch(seal, spectators, kept)?);
        self.chores_at = core::time::Duration::ZERO;
        if let Some(paths) = self.layers.paths_mut() {
            paths.expect_spectators(spectators);
            if let Some(room) = &kept.room {
                paths.open_room(room);
            }
        }
        Ok(())
    }

    /// The private key of the invite to watch, and the secret of the room that it names. `None` if there is no such invite.
    pub(crate) fn spectator_secrets(&self) -> Option<([u8; 32], Option<[u8; 32]>)> {
        let seal = self.layers.seal()?;
        let room = self.layers.paths().and_then(|_| seal.secret_key());
        Some((self.invites.as_ref()?.watch_secret(seal)?, room))
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
