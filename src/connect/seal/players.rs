//! The players' keys of a seal: the own one, and those of the players that it lets in.

use super::Seal;
use super::association::Association;
use super::introduction::Answer;
use super::noise::KeyPair;
use super::outbox::Outbox;
use super::player::PlayerKey;
use super::random::Secret;
use super::sealed::Sealed;
use super::stats::SealRefusal;
use crate::protocol::time::Time;
use crate::protocol::{PeerRole, Protocol};
use crate::wire::seal::{KEY_LEN, Kind, PLAYER_LEN};
use core::time::Duration;
use std::net::SocketAddr;

/// Why a joiner is not let in, or does not go in. Its host has said so, encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TurnedAway {
    /// The host lets in other players.
    NotNamed,
    /// The host lets in nobody without a key, and this machine has none.
    NeedsKey,
    /// The host is another player than the one that this machine asks for.
    OtherHost(PlayerKey),
    /// The host has no key, or one that it could not prove.
    UnprovenHost,
}

/// The players' keys of a seal.
#[derive(Default)]
pub(super) struct Players {
    own: Option<KeyPair>,
    /// The players that are let in; everybody if there are none.
    only: Vec<PlayerKey>,
    turned_away: Option<TurnedAway>,
    /// The newest guest that was not let in, with its key if it has proven one.
    stranger: Option<Option<PlayerKey>>,
}

impl Players {
    pub(super) fn own(&self) -> Option<&KeyPair> {
        self.own.as_ref()
    }

    /// Whether a peer in this role has to prove a key.
    #[inline]
    pub(super) fn wants(&self, role: PeerRole) -> bool {
        !self.only.is_empty() && role.plays()
    }

    /// Whether a peer may reach the inner protocol.
    #[inline]
    pub(super) fn admits(&self, peer: &Association) -> bool {
        !self.wants(peer.peer().role)
            || peer.introduction().player().is_some_and(|player| self.only.contains(&player))
    }

    /// Notes that a peer is not let in, or does not let this machine in.
    fn refuse(&mut self, role: PeerRole, proven: Option<PlayerKey>) {
        match role {
            PeerRole::Host => {
                self.turned_away = Some(proven.map_or(TurnedAway::UnprovenHost, TurnedAway::OtherHost));
            }
            _ => self.stranger = Some(proven),
        }
    }
}

impl Seal {
    /// Proves this private key to every host and player from now on.
    pub fn set_player_key(&mut self, secret_key: [u8; KEY_LEN]) {
        self.players.own = Some(KeyPair::new(Secret(secret_key)));
    }

    /// Lets only these players in, or joins only if the host is one of them. Spectators and rejoiners are let in by their own keys.
    pub fn only(&mut self, players: &[PlayerKey]) {
        self.players.only = players.to_vec();
    }

    /// The public key of the player here.
    #[must_use]
    pub fn player_key(&self) -> Option<PlayerKey> {
        self.players.own.as_ref().map(|keys| PlayerKey(keys.public))
    }

    /// The key that the peer at `inner_addr` has proven.
    #[must_use]
    pub fn player(&self, inner_addr: SocketAddr) -> Option<PlayerKey> {
        self.newest(inner_addr)?.introduction().player()
    }

    /// Whether the peer of the connection with this number may reach the inner protocol.
    pub(super) fn is_admitted(&self, index: u16) -> bool {
        let peer = self.associations.numbered(index).and_then(|at| self.associations.get(at));
        peer.is_some_and(|peer| self.players.admits(peer))
    }

    /// Why this joiner is not let in, or does not go in, by the players' keys.
    pub(crate) fn turned_away(&self) -> Option<TurnedAway> {
        self.players.turned_away
    }

    /// The newest guest that was not let in since the last call, with its key if it has proven one.
    pub fn take_stranger(&mut self) -> Option<Option<PlayerKey>> {
        self.players.stranger.take()
    }
}

impl Association {
    /// Sends the proof of the player here, or asks for the peer's. Returns when to do so again. A host shows its key only to guests that it
    /// lets in; a joiner has to show its own first.
    pub(super) fn introduce_players(&mut self, now: Time, is_admitted: bool, out: &mut Outbox) -> Time {
        if !self.is_confirmed() || self.paths().outer_addr().is_none() {
            return Time::NEVER;
        }
        let may_say = is_admitted || self.peer().role == PeerRole::Host;
        if may_say && let Some(proof) = self.introduction_mut().says(now) {
            self.say(Kind::Player, &proof, out);
        }
        if self.introduction_mut().wants(now) {
            self.say(Kind::PlayerAnswer, &[Answer::Wanted as u8], out);
        }
        self.introduction().due(may_say)
    }
}

impl<'a> Sealed<'a, dyn Protocol + 'a> {
    /// The peer proves its key. One that was waited for reaches the inner protocol from now on.
    pub(super) fn introduced(&mut self, now: Duration, at: usize, text: &[u8]) -> Result<(), SealRefusal> {
        let Seal { associations, players, out, .. } = &mut *self.seal;
        let peer = associations.get_mut(at).ok_or(SealRefusal::UnknownIndex)?;
        let role = peer.peer().role;
        let text: &[u8; PLAYER_LEN] = text.first_chunk().ok_or(SealRefusal::NoPacket)?;
        if role == PeerRole::Spectator {
            return Err(SealRefusal::OutOfPlace);
        }
        let was_admitted = players.admits(peer);
        let proven = peer.introduction_mut().prove(text);
        let is_admitted = players.admits(peer);
        let answer = if is_admitted { proven } else { Answer::Refused };
        peer.say(Kind::PlayerAnswer, &[answer as u8], out);
        if !is_admitted {
            players.refuse(role, peer.introduction().player());
        }
        out.stir();
        if is_admitted && !was_admitted {
            return self.let_in(now, at);
        }
        if proven == Answer::Taken { Ok(()) } else { Err(SealRefusal::Unproven) }
    }

    /// The peer answers a proof, or asks for one.
    pub(super) fn answered(&mut self, now: Time, at: usize, answer: u8) -> bool {
        let Seal { associations, players, out, .. } = &mut *self.seal;
        let (Some(peer), Some(answer)) = (associations.get_mut(at), Answer::of(answer)) else { return false };
        let role = peer.peer().role;
        let (makes_sense, is_without) = peer.introduction_mut().answered(now, answer);
        if !makes_sense {
            return false;
        }
        out.stir();
        if is_without {
            peer.say(Kind::PlayerAnswer, &[Answer::None as u8], out);
        }
        match (answer, role) {
            (Answer::Refused, PeerRole::Host) => players.turned_away = Some(TurnedAway::NotNamed),
            (Answer::Wanted, PeerRole::Host) if is_without => {
                players.turned_away = Some(TurnedAway::NeedsKey);
            }
            (Answer::None, _) => players.refuse(role, None),
            _ => {}
        }
        true
    }

    /// A peer has proven the key that was waited for.
    fn let_in(&mut self, now: Duration, at: usize) -> Result<(), SealRefusal> {
        let Some(peer) = self.seal.associations.get_mut(at) else { return Ok(()) };
        let (inner_addr, access) = (peer.peer().inner_addr, peer.peer().access);
        // The key of its invite may have been revoked since, or used by another guest.
        let host = self.seal.host.as_ref();
        if access.is_some_and(|access| host.and_then(|host| host.access(access)).is_none()) {
            self.forget(now, at);
            return Err(SealRefusal::Unexpected);
        }
        peer.introduce();
        peer.comparison_mut().trust();
        self.seal.admitted(access);
        self.tell(now, inner_addr);
        Ok(())
    }
}
