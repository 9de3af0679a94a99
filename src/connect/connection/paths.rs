//! The paths of a connection through routers: at a rendezvous, or by an offer and an answer.

use super::ConnectError;
use super::opening::{Here, Opening};
use super::peer::{ConnectionStats, PeerInfo};
use super::text::About;
use crate::connect::invite::Answer;
pub(super) use crate::connect::invite::Offer;
use crate::connect::invite::{Rendezvous, ServerName};
use crate::connect::nat::{NatConfig, NatLayer, NatTraversal, NoWay, Progress};
use crate::connect::seal::Seal;
use crate::net::system;
use crate::{InviteError, Protocol, canonical};
use core::time::Duration;
use std::net::SocketAddr;

pub(super) use crate::connect::nat::RelayPolicy;

/// The paths and the encryption around a protocol.
pub(super) type Around<'a, P> = NatLayer<'a, P>;

/// A rendezvous or a host that was silent for this long after the search gave up will not answer. Paths that were tried have
/// had their time.
const PATIENCE: Duration = Duration::from_secs(3);
/// The same for a machine that comes back: the other one opens the room when it notices the silence.
const REJOIN_PATIENCE: Duration = Duration::from_secs(10);

/// The port of a STUN server for which none is named.
const STUN_PORT: u16 = 3478;

const IN_BROWSER: &str =
    "the host plays in a browser, and this program was built without the feature that reaches it";
const OFFER: &str = "rebout-offer:1:";
const ANSWER: &str = "rebout-answer:1:";

/// Whether the peer must not learn an address of this machine.
pub(super) fn hides(relay: &RelayPolicy) -> bool {
    *relay == RelayPolicy::Only
}

/// Reads a host's offer; `None` if the text is none at all.
pub(super) fn read_offer(text: &str) -> Result<Option<Offer>, ConnectError> {
    if text.parse::<Answer>().is_ok() {
        let why = "this is an answer to an offer: it is for the host, who made the offer".to_owned();
        return Err(ConnectError::Text { why });
    }
    match text.parse::<Offer>() {
        Ok(offer) => Ok(Some(offer)),
        Err(InviteError::NotAnInvite) => Ok(None),
        Err(error) => Err(ConnectError::Text { why: About("offer", OFFER, error).to_string() }),
    }
}

fn read_answer(text: &str) -> Result<Answer, ConnectError> {
    text.parse().map_err(|error| {
        let why = if text.parse::<Offer>().is_ok() {
            "this is an offer: send it to the other player, who sends back an answer".to_owned()
        } else {
            About("answer", ANSWER, error).to_string()
        };
        ConnectError::Text { why }
    })
}

/// The paths of one machine.
#[derive(Debug)]
pub(super) struct Paths {
    nat: NatTraversal,
    is_manual: bool,
    /// The text of manual signalling that is still to be written.
    owed: Option<Text>,
    /// The name of the rendezvous.
    name: Option<ServerName>,
    /// The longest wait for a rendezvous or a host that was silent, after the search has given up.
    patience: Duration,
    relay: RelayPolicy,
}

/// The policies about relays, in a file.
const RELAY_WORDS: [(RelayPolicy, &str); 3] =
    [(RelayPolicy::Allow, "allow"), (RelayPolicy::Never, "never"), (RelayPolicy::Only, "only")];

/// The policy about relays that a word in a file names.
pub(super) fn read_relay(word: &str) -> Option<RelayPolicy> {
    RELAY_WORDS.into_iter().find(|(_, known)| *known == word).map(|(policy, _)| policy)
}

/// A text of manual signalling.
#[derive(Clone, Copy, Debug)]
enum Text {
    Offer,
    Answer,
}

impl Paths {
    fn new(nat: NatTraversal, owed: Option<Text>) -> Self {
        let (name, patience, relay) = (None, PATIENCE, RelayPolicy::Allow);
        Self { nat, is_manual: owed.is_some(), owed, name, patience, relay }
    }

    /// A host in its room at a rendezvous. A kept key keeps the room too.
    pub(super) fn host(
        opening: &Opening<'_>,
        seal: &Seal,
        (server, others): system::Servers,
        name: Option<&ServerName>,
    ) -> Result<(Self, Rendezvous), ConnectError> {
        let secret =
            seal.secret_key().ok_or(ConnectError::Options { why: "only a host by invite has a room" })?;
        let mut config = config(opening, Some(server))?;
        (config.server_name, config.other_servers) = (name.cloned(), others);
        let nat = NatTraversal::host(config, server, &secret)?;
        let rendezvous = nat.rendezvous().ok_or(ConnectError::Options { why: "only a host has a room" })?;
        let relay = opening.options.relay;
        Ok((Self { name: name.cloned(), relay, ..Self::new(nat, None) }, rendezvous))
    }

    /// A joiner at a rendezvous, which has `others` as addresses too.
    pub(super) fn join(
        opening: &Opening<'_>,
        rendezvous: &Rendezvous,
        others: Vec<SocketAddr>,
        name: Option<&ServerName>,
        by_channel: bool,
    ) -> Result<Self, ConnectError> {
        if by_channel && !cfg!(feature = "webrtc") {
            return Err(ConnectError::Options { why: IN_BROWSER });
        }
        let mut config = config(opening, Some(rendezvous.server))?;
        (config.other_servers, config.by_channel) = (others, by_channel);
        let paths = Self::new(NatTraversal::join(config, rendezvous)?, None);
        let patience = if opening.options.comes_back { REJOIN_PATIENCE } else { PATIENCE };
        Ok(Self { name: name.cloned(), patience, relay: opening.options.relay, ..paths })
    }

    /// The policy about relays, as a word for a file.
    pub(super) fn relay_word(&self) -> &'static str {
        RELAY_WORDS.into_iter().find(|(policy, _)| *policy == self.relay).map_or("allow", |(_, word)| word)
    }

    /// The room that a secret gives at the rendezvous, and the name of the server if it has one.
    pub(super) fn room_of(&self, secret: &[u8; 32]) -> Option<(Rendezvous, Option<ServerName>)> {
        Some((self.nat.room_of(secret, self.name.as_ref())?, self.name.clone()))
    }

    /// Opens the room that a secret gives at the rendezvous, besides any other.
    pub(super) fn open_room(&mut self, secret: &[u8; 32]) {
        self.nat.open_room(secret, self.name.as_ref());
    }

    pub(super) fn close_room(&mut self, secret: &[u8; 32]) {
        if let Some((Rendezvous { room, .. }, _)) = self.room_of(secret) {
            self.nat.close_room(&room);
        }
    }

    /// The host at this inner address has come back as a guest.
    pub(super) fn forget_host(&mut self, inner: SocketAddr) {
        self.nat.forget_host(inner);
    }

    /// A host without a rendezvous, and its offer, unless that waits for a STUN server or for the router.
    pub(super) fn offer(
        opening: &Opening<'_>,
        seal: &mut Seal,
    ) -> Result<(Self, Option<String>), ConnectError> {
        if seal.public_key().is_none() {
            return Err(ConnectError::Options { why: "an offer needs a host's key" });
        }
        let mut paths = Self::new(NatTraversal::host_manual(config(opening, None)?)?, Some(Text::Offer));
        let offer = if opening.awaits_port { None } else { paths.take_text(opening.now, seal) };
        Ok((paths, offer))
    }

    /// A joiner without a rendezvous, its encryption, and its answer, unless that waits for a STUN server.
    pub(super) fn answer(
        opening: &Opening<'_>,
        offer: &Offer,
    ) -> Result<(Self, Seal, Option<String>), ConnectError> {
        let nat = NatTraversal::join_manual(config(opening, None)?, offer)?;
        if !nat.can_answer() {
            let malformed = InviteError::Malformed { rule: "its signal cannot be read" };
            return Err(ConnectError::Text { why: About("offer", OFFER, malformed).to_string() });
        }
        let mut seal = Seal::join_by_signal(opening.options.drawn()?, *offer.key())?;
        let mut paths = Self::new(nat, Some(Text::Answer));
        let answer = paths.take_text(opening.now, &mut seal);
        Ok((paths, seal, answer))
    }

    pub(super) fn owes_text(&self) -> bool {
        self.owed.is_some()
    }

    /// The text of manual signalling, once it is written.
    pub(super) fn take_text(&mut self, now: Duration, seal: &mut Seal) -> Option<String> {
        let text = match self.owed? {
            Text::Offer => self.nat.offer(now, seal)?.to_string(),
            Text::Answer => self.nat.answer(now, seal)?.to_string(),
        };
        self.owed = None;
        Some(text)
    }

    #[inline]
    pub(super) fn around<'a, P: Protocol>(
        &'a mut self,
        seal: &'a mut Seal,
        inner: &'a mut P,
    ) -> Around<'a, P> {
        self.nat.around(seal, inner)
    }

    pub(super) fn take_answer(
        &mut self,
        now: Duration,
        seal: &mut Seal,
        text: &str,
    ) -> Result<(), ConnectError> {
        let answer = read_answer(text)?;
        self.nat.take_answer(now, seal, &answer).map_err(|_| ConnectError::Text {
            why: "this answers another offer: the other player needs the newest one".to_owned(),
        })
    }

    pub(super) fn is_manual(&self) -> bool {
        self.is_manual
    }

    pub(super) fn release(&mut self, now: Duration) {
        self.nat.close(now);
    }

    /// The rendezvous.
    #[cfg(feature = "tls")]
    pub(super) fn server(&self) -> Option<SocketAddr> {
        self.nat.server()
    }

    /// The transport has streams to servers.
    #[cfg(feature = "tls")]
    pub(super) fn allow_streams(&mut self) {
        self.nat.allow_streams();
    }

    /// Sets how many spectators may be searched for besides the other guests.
    pub(super) fn expect_spectators(&mut self, spectators: u8) {
        self.nat.expect_spectators(spectators);
    }

    /// This machine has other addresses.
    pub(super) fn moved(&mut self, here: &Here) {
        self.nat.set_addresses(here.candidates(self.nat.server()));
    }

    pub(super) fn progress(&self) -> String {
        self.nat.progress().to_string()
    }

    /// Why there is no path, once that is certain enough.
    pub(super) fn failure(&self, now: Duration) -> Option<ConnectError> {
        let Progress::NoWay { why } = self.nat.progress() else { return None };
        let is_tried = matches!(why, NoWay::NoPath { .. } | NoWay::Unmapped { .. });
        let patience = if is_tried { Duration::ZERO } else { self.patience };
        let is_certain = self.nat.no_way_since().is_some_and(|since| now >= since + patience);
        is_certain.then(|| ConnectError::NoPath { why: why.to_string() })
    }

    /// Fills in the path to a peer.
    pub(super) fn describe(&self, seal: &Seal, peer: SocketAddr, info: &mut PeerInfo) {
        let path = self.nat.path_to(seal, peer);
        let is_lost = self.nat.progress() == Progress::NoWay { why: NoWay::RelayLost };
        let path = path.filter(|path| !(path.is_relayed && is_lost));
        info.addr = path.map(|path| path.addr);
        info.is_relayed = path.is_some_and(|path| path.is_relayed);
        info.is_over_tls = path.is_some_and(|path| path.is_over_tls);
        info.detour = path.and_then(|path| path.detour);
    }

    pub(super) fn count(&self, stats: &mut ConnectionStats) {
        let nat = self.nat.stats();
        stats.refused += nat.refused;
        (stats.searches, stats.allocations) = (nat.searches, nat.allocations);
        stats.found_after = self.nat.found_after();
        stats.overhead_bytes = nat.overhead_bytes;
    }
}

fn config(opening: &Opening<'_>, server: Option<SocketAddr>) -> Result<NatConfig, ConnectError> {
    let Opening { options, here, .. } = opening;
    let mut config = NatConfig::new(system::clock_origin(), here.candidates(server));
    config.relay = options.relay;
    config.randomness = options.drawn()?;
    config.guests = options.guests;
    let stun = options.stun.as_ref().map(|name| {
        let server = system::resolve(name, STUN_PORT);
        server.map(canonical).map_err(|error| ConnectError::name(name, &error))
    });
    config.stun = stun.transpose()?;
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::super::ConnectOptions;
    use super::*;

    #[test]
    fn search_has_the_policy_and_the_guests_of_the_options() {
        let options = ConnectOptions::new().relay(RelayPolicy::Never).guests(12);
        let (now, here, resolve) = (Duration::ZERO, Here::new(&[], &[]), system::resolve_all);
        let opening = Opening { options: &options, now, here, awaits_port: false, resolve };
        let config = config(&opening, None).unwrap();
        assert_eq!((config.relay, config.guests), (RelayPolicy::Never, 12));
    }
}
