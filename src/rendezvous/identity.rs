//! The identity of a room: an Ed25519 key pair of its host.

use crate::peer::cookie::subject;
use crate::wire::rendezvous::{KEY_LEN, Room, SIGNATURE_LEN, signed_text};
use core::fmt;
use ring::digest::{Context, SHA256, digest};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use std::net::SocketAddr;

/// The room of a public key.
pub(super) fn room_of(key: &[u8; KEY_LEN]) -> Room {
    digest(&SHA256, key).as_ref().first_chunk().copied().unwrap_or_default()
}

/// Whether a registration is signed by the owner of `key`.
pub(super) fn is_signed(
    key: &[u8; KEY_LEN],
    cookie: u64,
    ticket: u64,
    signature: &[u8; SIGNATURE_LEN],
) -> bool {
    UnparsedPublicKey::new(&ED25519, key).verify(&signed_text(cookie, ticket), signature).is_ok()
}

/// The key pair of a host at one server.
pub(super) struct Identity {
    pair: Ed25519KeyPair,
    key: [u8; KEY_LEN],
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identity")
    }
}

impl Identity {
    /// The identity that a host's secret gives at one server. Each server gets another one: a server that passes on the
    /// cookie of another has a signature that nobody else accepts.
    pub(super) fn new(secret: &[u8; 32], server: SocketAddr) -> Option<Self> {
        let mut hash = Context::new(&SHA256);
        hash.update(b"rebout room key 1");
        hash.update(secret);
        hash.update(&subject(server, 0));
        let pair = Ed25519KeyPair::from_seed_unchecked(hash.finish().as_ref()).ok()?;
        let key = pair.public_key().as_ref().try_into().ok()?;
        Some(Self { pair, key })
    }

    pub(super) fn key(&self) -> [u8; KEY_LEN] {
        self.key
    }

    pub(super) fn room(&self) -> Room {
        room_of(&self.key)
    }

    pub(super) fn sign(&self, cookie: u64, ticket: u64) -> [u8; SIGNATURE_LEN] {
        let signature = self.pair.sign(&signed_text(cookie, ticket));
        signature.as_ref().try_into().unwrap_or([0; SIGNATURE_LEN])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_of_one_key_cookie_and_ticket() {
        let server = "192.0.2.1:3479".parse().unwrap();
        let identity = Identity::new(&[7; 32], server).unwrap();
        let signature = identity.sign(3, 4);
        assert!(is_signed(&identity.key(), 3, 4, &signature));
        assert!(!is_signed(&identity.key(), 4, 4, &signature));
        assert!(!is_signed(&identity.key(), 3, 3, &signature));
        let other = Identity::new(&[8; 32], server).unwrap();
        assert!(!is_signed(&other.key(), 3, 4, &signature));
    }

    #[test]
    fn a_host_has_one_room_at_each_server() {
        let room = |server: &str| Identity::new(&[7; 32], server.parse().unwrap()).unwrap().room();
        assert_eq!(room("192.0.2.1:3479"), room("192.0.2.1:3479"));
        assert_ne!(room("192.0.2.1:3479"), room("192.0.2.2:3479"));
        assert_ne!(room("192.0.2.1:3479"), room("192.0.2.1:3480"));
    }
}
