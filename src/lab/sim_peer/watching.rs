//! Spectators of a simulated match: the broadcast of a player's machine, and machines that watch.

use super::SimPeer;
use crate::connect::seal::{Randomness, Seal};
use crate::protocol::PeerRole;
use crate::replay::{End, Header, Outcome, Winner};
use crate::{
    Broadcast, BroadcastConfig, BroadcastKey, Config, Event, Fields, Game, LobbyError, Session, Spectator,
};
use std::net::SocketAddr;
use std::time::Duration;

/// The most spectators of a simulated match.
const SPECTATORS: u8 = 8;

/// The broadcast of a player's machine.
pub(super) struct Audience {
    broadcast: Broadcast,
    config: Config,
    has_begun: bool,
}

/// The keys of a spectator: that of the seal, and that of the broadcast.
#[derive(Clone, Copy)]
pub struct WatchKeys {
    seal: [u8; 32],
    broadcast: BroadcastKey,
}

impl Audience {
    pub(super) fn broadcast_mut(&mut self) -> &mut Broadcast {
        &mut self.broadcast
    }

    pub(super) fn poll_timeout(&self) -> Option<Duration> {
        crate::Protocol::poll_timeout(&self.broadcast)
    }

    pub(super) fn advanced<S: Fields>(&mut self, now: Duration, session: &Session<S>) {
        if !self.has_begun {
            self.has_begun = self.broadcast.begin(now, &Header::of_match(&self.config, session.agreed()));
        }
        self.broadcast.record(now, session);
    }

    pub(super) fn heard<S: Fields>(&mut self, now: Duration, session: &Session<S>, event: &Event) {
        self.broadcast.hear(now, session.local(), event);
        let outcome = match event {
            Event::Ended(verdict) => Outcome::from(*verdict),
            Event::Disconnected { reason } => Outcome::Disconnected(*reason),
            _ => return,
        };
        self.broadcast.finish(now, End { outcome, winner: Winner::Undecided });
    }
}

impl<G: Game> SimPeer<G> {
    /// Lets spectators watch the match of this machine, which hosts on a sealed link. Returns their keys.
    ///
    /// # Panics
    ///
    /// When the machine does not host on a sealed link.
    pub fn broadcast(&mut self, seed: u64, config: Config) -> WatchKeys {
        let mut secret = [0x5C; 32];
        secret[..8].copy_from_slice(&seed.to_be_bytes());
        let broadcast = Broadcast::new(BroadcastConfig::default(), &secret);
        let seal = self.seal.as_mut().expect("the link is sealed");
        let seal = seal.add_access(PeerRole::Spectator, None, SPECTATORS).expect("the machine hosts");
        let keys = WatchKeys { seal, broadcast: broadcast.key().expect("a secret") };
        self.audience = Some(Box::new(Audience { broadcast, config, has_begun: false }));
        keys
    }

    /// A machine that watches the match at this address.
    ///
    /// # Panics
    ///
    /// Never: a seed is random enough.
    #[must_use]
    pub fn watching(
        now: Duration,
        keys: WatchKeys,
        host: SocketAddr,
        seed: u64,
        play: crate::lab::Play<G>,
    ) -> Self {
        let mut peer = Self::in_stage(Err(LobbyError::NotAgreed), play);
        let seal = Seal::join(Randomness::Seeded(seed), keys.seal, &[host]).expect("an address");
        let target = seal.target().unwrap_or(host);
        peer.error = None;
        peer.spectator = Some(Box::new(Spectator::new(now, keys.broadcast, target)));
        peer.seal = Some(seal);
        peer
    }

    /// The spectator that this machine is.
    pub fn spectator(&self) -> Option<&Spectator> {
        self.spectator.as_deref()
    }
}
