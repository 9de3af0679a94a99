//! The identity of a room: an Ed25519 key pair of its host.

use super::identity_keys::{Pair, sha256};
use crate::channel::cookie::subject;
use crate::wire::rendezvous::{KEY_LEN, Register, Room, SIGNATURE_LEN, signed_text};
use std::net::SocketAddr;

/// The room of a public key.
pub(super) fn room_of(key: &[u8; KEY_LEN]) -> Room {
    sha256(&[key]).first_chunk().copied().unwrap_or_default()
}

/// Whether a registration that came from `from` is signed by the owner of its key, for that address.
#[cfg(all(feature = "nat", not(target_family = "wasm")))]
pub(super) fn is_signed(register: &Register, from: SocketAddr) -> bool {
    let text = signed_text(register.cookie, register.ticket, from);
    let algorithm = &ring::signature::ED25519;
    ring::signature::UnparsedPublicKey::new(algorithm, &register.key)
        .verify(&text, &register.signature)
        .is_ok()
}

/// The key pair of a host at one server.
pub(super) struct Identity {
    server: SocketAddr,
    pair: Pair,
    key: [u8; KEY_LEN],
}

opaque_debug!(Identity);

impl Identity {
    /// The identity that a host's secret gives at one server. Each server gets another one: a server that passes on the
    /// cookie of another gets a signature that no other server accepts.
    pub(super) fn new(secret: &[u8; 32], server: SocketAddr) -> Option<Self> {
        Self::of(server, [b"rebout room key 1", secret, &subject(server, 0), b""])
    }

    /// The identity that a host's secret gives at a server with a name, wherever it is.
    pub(super) fn named(secret: &[u8; 32], server: SocketAddr, (name, port): (&str, u16)) -> Option<Self> {
        Self::of(server, [b"rebout room key 2", secret, &port.to_be_bytes(), name.as_bytes()])
    }

    fn of(server: SocketAddr, seed: [&[u8]; 4]) -> Option<Self> {
        let pair = Pair::new(&sha256(&seed))?;
        let key = pair.key()?;
        Some(Self { server, pair, key })
    }

    pub(super) fn server(&self) -> SocketAddr {
        self.server
    }

    pub(super) fn room(&self) -> Room {
        room_of(&self.key)
    }

    /// A registration that is signed for an address with its cookie, or that asks for a cookie.
    pub(super) fn register(&self, nonce: u64, ticket: u64, signed: Option<(SocketAddr, u64)>) -> Register {
        let signature = signed.and_then(|(host, cookie)| self.pair.sign(&signed_text(cookie, ticket, host)));
        Register {
            nonce,
            cookie: signed.map_or(0, |(_, cookie)| cookie),
            key: self.key,
            ticket,
            signature: signature.unwrap_or([0; SIGNATURE_LEN]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signature_is_of_one_key_cookie_ticket_and_address() {
        let server = "192.0.2.1:3479".parse().unwrap();
        let [here, there]: [SocketAddr; 2] = ["192.0.2.7:5", "192.0.2.7:6"].map(|addr| addr.parse().unwrap());
        let register = Identity::new(&[7; 32], server).unwrap().register(9, 4, Some((here, 3)));
        assert_eq!((register.nonce, register.cookie, register.ticket), (9, 3, 4));
        assert!(is_signed(&register, here) && !is_signed(&register, there));
        assert!(!is_signed(&Register { cookie: 4, ..register }, here));
        assert!(!is_signed(&Register { ticket: 3, ..register }, here));
        let other = Identity::new(&[8; 32], server).unwrap();
        assert!(!is_signed(&Register { key: other.key, ..register }, here));
        let asking = other.register(9, 4, None);
        assert_eq!((asking.cookie, asking.signature), (0, [0; SIGNATURE_LEN]), "nothing to sign yet");
    }

    #[test]
    fn host_has_one_room_at_each_server() {
        let room = |server: &str| Identity::new(&[7; 32], server.parse().unwrap()).unwrap().room();
        assert_eq!(room("192.0.2.1:3479"), room("192.0.2.1:3479"));
        assert_ne!(room("192.0.2.1:3479"), room("192.0.2.2:3479"));
        assert_ne!(room("192.0.2.1:3479"), room("192.0.2.1:3480"));
    }

    #[test]
    fn server_with_a_name_keeps_its_rooms_when_it_moves() {
        let room =
            |server: &str, name| Identity::named(&[7; 32], server.parse().unwrap(), name).unwrap().room();
        let name = ("play.example.org", 3479);
        assert_eq!(room("192.0.2.1:3479", name), room("[2001:db8::1]:3479", name));
        assert_ne!(room("192.0.2.1:3479", name), room("192.0.2.1:3479", (name.0, 3480)));
        assert_ne!(room("192.0.2.1:3479", name), room("192.0.2.1:3479", ("play.example.com", 3479)));
        let other = Identity::named(&[8; 32], "192.0.2.1:3479".parse().unwrap(), name).unwrap();
        assert_ne!(room("192.0.2.1:3479", name), other.room());
    }
}
