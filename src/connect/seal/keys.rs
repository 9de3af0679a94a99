//! The keys of a host, for its owner: each admits guests in one role, and none can be derived from another.

use super::access::{Access, AccessId, Admission};
use super::random::Secret;
use super::{Seal, SealError};
use crate::protocol::PeerRole;
use crate::wire::seal::{KEY_LEN, Pattern};

impl Seal {
    /// A host expects this many players at once: one, unless this was called. The handshakes that it works off in a second, and
    /// the guests without a seat that it keeps, grow with the number. A joiner has no use for it.
    pub fn expect_guests(&mut self, guests: u8) {
        self.expect(PeerRole::Player, guests);
    }

    fn expect(&mut self, role: PeerRole, guests: u8) {
        let limits = self.associations.expect(role, guests);
        self.out.expect(limits);
        self.signals.expect(limits);
        if let Some(host) = &mut self.host {
            host.expect(limits);
        }
    }

    /// Adds a key that admits guests in a role, and returns its public half, for an invite. Without a `secret` it is drawn. A joiner may
    /// have such keys too, for a peer that comes back.
    ///
    /// `guests` are expected at once in this role, by all its keys together. Guests in one role never use up the handshakes and the places of
    /// another, and guests by one key never use up the handshakes of another.
    ///
    /// # Errors
    /// If there are [`MAX_KEYS`](super::MAX_KEYS) already, this key is one of them, or `guests` is 0.
    pub fn add_access(
        &mut self,
        role: PeerRole,
        secret: Option<[u8; KEY_LEN]>,
        guests: u8,
    ) -> Result<[u8; KEY_LEN], SealError> {
        self.add(role, false, secret, guests)
    }

    /// As [`add_access`](Self::add_access) with a key that is drawn, for a single guest: once that one is confirmed, the key is revoked.
    ///
    /// # Errors
    /// As [`add_access`](Self::add_access).
    pub fn add_access_for_one(&mut self, role: PeerRole, guests: u8) -> Result<[u8; KEY_LEN], SealError> {
        self.add(role, true, None, guests)
    }

    fn add(
        &mut self,
        role: PeerRole,
        is_for_one: bool,
        secret: Option<[u8; KEY_LEN]>,
        guests: u8,
    ) -> Result<[u8; KEY_LEN], SealError> {
        if guests == 0 {
            return Err(SealError::NoGuests);
        }
        let secret = secret.map_or_else(|| self.random.next_secret(), Secret);
        let admission = Admission { pattern: Pattern::Invite, role, only: None, is_for_one };
        let host = self.host.get_or_insert_default();
        let added = host.add(admission, secret, &mut self.random).and_then(Access::invite_keys);
        let public = added.ok_or(SealError::TooManyKeys)?.public;
        self.expect(role, guests);
        Ok(public)
    }

    /// Revokes a key. Confirmed guests stay, and half-open ones are dropped. `false`
    /// if there is no such key.
    pub fn revoke(&mut self, public_key: &[u8; KEY_LEN]) -> bool {
        let Some(host) = &mut self.host else { return false };
        let Some(access) = host.keyed(public_key) else { return false };
        self.close(access);
        true
    }

    /// A guest by this key is confirmed.
    pub(super) fn admitted(&mut self, access: Option<AccessId>) {
        let admitting = self.host.as_ref().zip(access).and_then(|(host, access)| host.access(access));
        if let Some(access) = admitting.filter(|access| access.is_for_one()).map(Access::id) {
            self.close(access);
        }
    }

    fn close(&mut self, access: AccessId) {
        if let Some(host) = &mut self.host {
            host.remove(access);
        }
        self.associations.revoke(access);
        self.out.stir();
    }

    /// Whether this key admits guests.
    #[must_use]
    pub fn admits_by(&self, public_key: &[u8; KEY_LEN]) -> bool {
        self.host.as_ref().is_some_and(|host| host.keyed(public_key).is_some())
    }

    /// The private half of a key, for a host that keeps it for later.
    pub(crate) fn secret_of(&self, public_key: &[u8; KEY_LEN]) -> Option<[u8; KEY_LEN]> {
        let host = self.host.as_ref()?;
        host.access(host.keyed(public_key)?)?.invite_keys().map(|keys| keys.secret.0)
    }

    /// The public key of the invite to play; `None` if this seal does not host by invite. It is secret: it grants the right to join.
    #[must_use]
    pub fn public_key(&self) -> Option<[u8; KEY_LEN]> {
        self.host.as_ref()?.invite(PeerRole::Player)?.invite_keys().map(|keys| keys.public)
    }

    /// The private key of the invite to play, for a host that keeps it for later. `None` if this seal does not host by invite.
    #[must_use]
    pub fn secret_key(&self) -> Option<[u8; KEY_LEN]> {
        self.host.as_ref()?.invite(PeerRole::Player)?.invite_keys().map(|keys| keys.secret.0)
    }
}
