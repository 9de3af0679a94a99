//! The invites of a host: each has a key of its own, and all have the same ways to the host.

use super::ConnectError;
use super::options::ConnectOptions;
use crate::connect::seal::Seal;
use crate::net::system;
use crate::net::ticket::SpectatorKeys;
use crate::protocol::PeerRole;
use crate::{Invite, Rendezvous, ServerName};
use core::time::Duration;
use std::net::SocketAddr;

const NO_CLOCK: &str = "this machine has no clock by which an invite could expire";

/// The ways to a host.
#[derive(Clone, Debug, Default)]
pub(super) struct Ways {
    pub(super) addresses: Vec<SocketAddr>,
    pub(super) rendezvous: Option<Rendezvous>,
    /// The server of the rendezvous by its name, and the room there.
    pub(super) named: Option<(ServerName, [u8; 16])>,
    /// Whether the host is a page, which is reached over data channels alone.
    pub(super) by_channel: bool,
}

impl Ways {
    pub(super) fn invite(&self, key: [u8; 32]) -> Result<Invite, ConnectError> {
        let addresses = self.addresses.iter().copied();
        let invite = match (self.rendezvous, &self.named) {
            (_, Some((server, room))) => Invite::with_named_rendezvous(key, addresses, server.clone(), *room),
            (Some(rendezvous), None) => Invite::with_rendezvous(key, addresses, rendezvous),
            (None, None) => Invite::new(key, addresses),
        };
        let invite = invite.map_err(|error| ConnectError::Text { why: error.to_string() })?;
        Ok(if self.by_channel { invite.by_channel() } else { invite })
    }
}

/// The invites by which guests are admitted now.
#[derive(Debug)]
pub(super) struct Invites {
    ways: Ways,
    valid_for: Option<Duration>,
    /// The players that are expected.
    guests: u8,
    /// Those to play and to watch that everybody may have, and those for one guest.
    issued: Vec<Invite>,
}

impl Invites {
    /// The invite to play of a host.
    pub(super) fn open(ways: Ways, seal: &mut Seal, options: &ConnectOptions) -> Result<Self, ConnectError> {
        let (valid_for, guests) = (options.valid_for, options.guests);
        let mut invites = Self { ways, valid_for, guests, issued: Vec::new() };
        let key = seal.public_key().ok_or(ConnectError::Randomness)?;
        invites.issue(key, |invite| invite)?;
        Ok(invites)
    }

    /// Writes an invite with this key.
    fn issue(
        &mut self,
        key: [u8; 32],
        terms: impl FnOnce(Invite) -> Invite,
    ) -> Result<&Invite, ConnectError> {
        let mut invite = terms(self.ways.invite(key)?);
        if let Some(valid_for) = self.valid_for {
            let now = system::unix_seconds().ok_or(ConnectError::Options { why: NO_CLOCK })?;
            let until = now.saturating_add(valid_for.as_secs().max(1));
            invite = invite.until(u32::try_from(until).unwrap_or(u32::MAX));
        }
        self.issued.push(invite);
        self.issued.last().ok_or(ConnectError::Randomness)
    }

    /// One more invite to play, for a single guest.
    pub(super) fn issue_for_one(&mut self, seal: &mut Seal) -> Result<String, ConnectError> {
        self.issued.retain(|invite| seal.admits_by(invite.key()));
        let key = seal.add_access_for_one(PeerRole::Player, self.guests)?;
        self.issue(key, Invite::for_one).map(ToString::to_string)
    }

    /// An invite to watch, with the key of the broadcast, in the place of an earlier one.
    pub(super) fn issue_to_watch(
        &mut self,
        seal: &mut Seal,
        spectators: u8,
        broadcast_key: [u8; 32],
    ) -> Result<(), ConnectError> {
        let key = seal.add_access(PeerRole::Spectator, None, spectators)?;
        for earlier in self.issued.extract_if(.., |invite| invite.broadcast_key().is_some()) {
            seal.revoke(earlier.key());
        }
        self.issue(key, |invite| invite.to_watch(key, broadcast_key)).map(|_| ())
    }

    /// The invites of a machine that comes back: the one to watch of its earlier program, with the same key.
    pub(super) fn of_watch(
        seal: &mut Seal,
        spectators: u8,
        kept: &SpectatorKeys,
    ) -> Result<Self, ConnectError> {
        let invite = kept.invite.parse::<Invite>();
        let invite = invite.map_err(|error| ConnectError::Text { why: error.to_string() })?;
        if let Some(ago) = has_expired(&invite) {
            return Err(expired(ago));
        }
        seal.add_access(PeerRole::Spectator, Some(kept.access), spectators)?;
        let named = invite.named_rendezvous().map(|(server, room)| (server.clone(), room));
        let addresses = invite.addresses().to_vec();
        let by_channel = invite.is_by_channel();
        let ways = Ways { addresses, rendezvous: invite.rendezvous().copied(), named, by_channel };
        Ok(Self { ways, valid_for: None, guests: 0, issued: vec![invite] })
    }

    /// The private key of the invite to watch.
    pub(super) fn watch_secret(&self, seal: &Seal) -> Option<[u8; 32]> {
        seal.secret_of(self.watched()?.key())
    }

    /// The invite to play that everybody may have; empty if it was revoked or has expired.
    pub(super) fn play(&self) -> String {
        let is_it = |invite: &&Invite| invite.broadcast_key().is_none() && !invite.is_for_one();
        self.issued.iter().find(is_it).map_or_else(String::new, ToString::to_string)
    }

    /// The invite to watch, if there is one.
    pub(super) fn watch(&self) -> Option<String> {
        self.watched().map(ToString::to_string)
    }

    fn watched(&self) -> Option<&Invite> {
        self.issued.iter().find(|invite| invite.broadcast_key().is_some())
    }

    /// The host is reached at other addresses.
    pub(super) fn take_addresses(&mut self, addresses: Vec<SocketAddr>) {
        self.ways.addresses = addresses;
        for invite in &mut self.issued {
            let Ok(mut moved) = self.ways.invite(*invite.key()) else { continue };
            if let Some(key) = invite.broadcast_key() {
                moved = moved.to_watch(*invite.key(), key);
            }
            moved = if invite.is_for_one() { moved.for_one() } else { moved };
            *invite = invite.expires_at().map_or(moved.clone(), |at| moved.until(at));
        }
    }

    /// Revokes an invite. `false` if it is not a valid invite of this host.
    pub(super) fn revoke(&mut self, text: &str, seal: &mut Seal) -> bool {
        let Ok(revoked) = text.parse::<Invite>() else { return false };
        let is_it = |invite: &Invite| invite.key() == revoked.key();
        let is_known = seal.revoke(revoked.key());
        self.issued.retain(|invite| !is_it(invite));
        is_known
    }

    /// Whether an invite expires at some time.
    pub(super) fn may_expire(&self) -> bool {
        self.issued.iter().any(|invite| invite.expires_at().is_some())
    }

    /// Revokes invites that have expired. Returns whether there were any.
    pub(super) fn expire(&mut self, seal: &mut Seal) -> bool {
        let over: Vec<Invite> = self.issued.extract_if(.., |invite| has_expired(invite).is_some()).collect();
        for invite in &over {
            seal.revoke(invite.key());
        }
        !over.is_empty()
    }
}

/// How long ago an invite has expired, by the clock of this machine, if it has.
pub(super) fn has_expired(invite: &Invite) -> Option<Duration> {
    let (at, now) = (u64::from(invite.expires_at()?), system::unix_seconds()?);
    now.checked_sub(at).map(Duration::from_secs)
}

/// The error of a joiner with an invite that has expired.
pub(super) fn expired(ago: Duration) -> ConnectError {
    let ago = match ago.as_secs() {
        secs @ 0..120 => format!("{secs} s"),
        secs @ 120..7_200 => format!("{} min", secs / 60),
        secs @ 7_200..172_800 => format!("{} h", secs / 3_600),
        secs => format!("{} days", secs / 86_400),
    };
    let why =
        format!("this invite expired {ago} ago, by the clock of this machine: ask the host for a new one");
    ConnectError::Text { why }
}
