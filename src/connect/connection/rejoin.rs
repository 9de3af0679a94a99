//! Coming back to a match on another connection.
//!
//! The machine that waits is a host once more, by a key that only the two of the match know. It is asked at the address at which it was
//! last seen, and in a room at the rendezvous that the key gives: the same for host and joiner, whichever of them comes back.

use super::invites::Ways;
use super::options::{Access, Key};
use super::paths::read_relay;
use super::{ConnectOptions, Connection, Role};
use crate::connect::seal::{Seal, public_rejoin_key};
use crate::net::Datagrams;
use std::net::SocketAddr;

/// The policy about relays of a connection that finds no paths.
const NO_POLICY: &str = "allow";

impl<D: Datagrams> Connection<D> {
    /// The private key that only this machine and the peer at this address know; `None` without encryption.
    pub(crate) fn rejoin_key(&self, peer: SocketAddr) -> Option<[u8; 32]> {
        self.layers.seal()?.rejoin_key(peer)
    }

    /// The UDP port of this machine, 0 on other transports.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// The policy about relays, as a word for a file.
    pub(crate) fn relay_word(&self) -> &'static str {
        self.layers.paths().map_or(NO_POLICY, |paths| paths.relay_word())
    }

    /// The text by which this machine joins the peer at an inner address, once that admits the holder of the key: with its address,
    /// unless that is on a relay, and with the room that the key gives at the rendezvous. `None` if there is neither.
    pub(crate) fn rejoin_text(&self, key: [u8; 32], peer: SocketAddr) -> Option<String> {
        let info = self.peer(peer);
        let addresses = info.addr.filter(|_| !info.is_relayed).into_iter().collect();
        let (rendezvous, name) = self.layers.paths().and_then(|paths| paths.room_of(&key)).unzip();
        let named = name.flatten().zip(rendezvous.map(|rendezvous| rendezvous.room));
        let ways = Ways { addresses, rendezvous, named, by_channel: false };
        ways.invite(public_rejoin_key(key)).ok().map(|invite| invite.to_string())
    }

    /// Admits the holder of this key, which was in the match before, and waits for it at the rendezvous. `false` if that is not possible.
    pub(crate) fn admit_rejoiner(&mut self, key: [u8; 32]) -> bool {
        let is_admitted = self.layers.seal_mut().is_some_and(|seal| seal.admit_rejoiner(key).is_ok());
        if let Some(paths) = self.layers.paths_mut().filter(|_| is_admitted) {
            paths.open_room(&key);
        }
        is_admitted
    }

    /// Admits the holder of this key no longer.
    pub(crate) fn dismiss_rejoiner(&mut self, key: [u8; 32]) {
        if let Some(seal) = self.layers.seal_mut() {
            Seal::dismiss_rejoiner(seal, key);
        }
    }

    /// The host that this machine has joined has come back as its guest: this machine hosts from now on.
    pub(crate) fn become_host(&mut self) {
        let Role::Join { target, .. } = core::mem::replace(&mut self.role, Role::Host) else { return };
        if let Some(seal) = self.layers.seal_mut() {
            seal.forget_host();
        }
        if let Some(paths) = self.layers.paths_mut() {
            paths.forget_host(target);
        }
    }

    /// Leaves the room at the rendezvous that this key gives.
    pub(crate) fn close_rejoin_room(&mut self, key: [u8; 32]) {
        if let Some(paths) = self.layers.paths_mut() {
            paths.close_room(&key);
        }
    }
}

impl ConnectOptions {
    /// The options of a machine that comes back, from the port that it had and with the same policy about relays.
    pub(crate) fn to_rejoin(&self, port: u16, relay: &str) -> Self {
        let bind = SocketAddr::new(self.bind.ip(), port);
        let (access, key, rendezvous) = (Access::Invited, Key::New, None);
        let relay = read_relay(relay).unwrap_or(self.relay);
        // The key of the match proves who is there.
        let (only, leaves_addresses_out) = (Vec::new(), false);
        Self {
            access,
            key,
            rendezvous,
            relay,
            only,
            leaves_addresses_out,
            bind,
            #[cfg(feature = "nat")]
            comes_back: true,
            ..self.clone()
        }
    }
}

#[cfg(all(test, feature = "nat"))]
mod tests {
    use super::*;
    use crate::RelayPolicy;

    #[test]
    fn options_to_rejoin_keep_port_and_relay_policy_alone() {
        let before = ConnectOptions::new().open().rendezvous("192.0.2.1:7").leave_addresses_out();
        let options = before.to_rejoin(7_001, "only");
        assert_eq!((options.bind.ip(), options.bind.port()), (before.bind.ip(), 7_001));
        assert_eq!(options.relay, RelayPolicy::Only);
        assert!(options.comes_back && !before.comes_back, "it is waited for longer");
        assert!(matches!(options.access, Access::Invited) && options.rendezvous.is_none());
        assert!(!options.leaves_addresses_out);
        assert_eq!(before.to_rejoin(7_001, "unknown").relay, before.relay);
    }
}
