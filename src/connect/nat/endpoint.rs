//! This machine in every search: its addresses, its policy about relays, and its random numbers.

use super::candidate::{self, Bases, Candidate, Kind, MAX_HOST, is_usable};
use super::observed::Observed;
use super::origin::Origin;
use super::signal::{Credentials, OwnPart, Signal};
use super::tunnel::Certificate;
use super::{NatConfig, RelayPolicy};
use crate::connect::seal::{Random, Randomness, SealError};
use crate::protocol::canonical;
use std::net::SocketAddr;
use std::sync::Arc;

/// This machine.
#[derive(Debug)]
pub(super) struct Endpoint {
    policy: RelayPolicy,
    /// Whether the host of this joiner is reached over a data channel alone.
    by_channel: bool,
    addresses: Vec<SocketAddr>,
    observed: Observed,
    /// The rendezvous, if there is one.
    server: Option<SocketAddr>,
    origin: Origin,
    random: Random,
    /// The parts of searches that were made.
    parts: u64,
    /// For data channels, once there was one.
    certificate: Option<Arc<Certificate>>,
}

impl Endpoint {
    pub(super) fn new(config: NatConfig, server: Option<SocketAddr>) -> Result<Self, SealError> {
        Ok(Self {
            policy: config.relay,
            by_channel: config.by_channel,
            addresses: config.addresses.into_iter().map(canonical).collect(),
            observed: Observed::default(),
            server,
            origin: config.origin,
            random: config.randomness.generator(b"nat").ok_or(SealError::NoRandomness)?,
            parts: 0,
            certificate: None,
        })
    }

    /// Whether nothing may be sent or taken outside the relay.
    #[inline]
    pub(super) fn is_relay_only(&self) -> bool {
        self.policy == RelayPolicy::Only
    }

    /// Whether this player allows no relay.
    pub(super) fn refuses_relay(&self) -> bool {
        self.policy == RelayPolicy::Never
    }

    /// Whether a direct path may have a fallback to a relay.
    pub(super) fn allows_both(&self) -> bool {
        self.policy == RelayPolicy::Allow
    }

    /// Whether the host of this joiner is reached over a data channel alone.
    pub(super) fn is_by_channel(&self) -> bool {
        self.by_channel
    }

    pub(super) fn origin(&self) -> Origin {
        self.origin
    }

    pub(super) fn set_addresses(&mut self, addresses: impl IntoIterator<Item = SocketAddr>) {
        self.addresses = addresses.into_iter().map(canonical).collect();
    }

    pub(super) fn rendezvous_saw(&mut self, addr: SocketAddr) {
        self.observed.rendezvous_saw(addr);
    }

    /// Whether the router of this machine shows each server another port.
    pub(super) fn is_symmetric(&self) -> bool {
        self.observed.is_symmetric()
    }

    pub(super) fn relay_saw(&mut self, addr: SocketAddr) {
        self.observed.relay_saw(addr);
    }

    /// Whether a relay that the rendezvous has named may be used. One at a loopback address has to be on the machine of the
    /// rendezvous.
    pub(super) fn may_use(&self, relay: SocketAddr) -> bool {
        !self.refuses_relay() && (candidate::is_admissible(relay) || self.is_local())
    }

    /// Whether the rendezvous is on this machine.
    fn is_local(&self) -> bool {
        self.server.is_some_and(|server| server.ip().is_loopback())
    }

    /// Our candidates: our own addresses, those that servers have seen, the one on the relay. Each address once.
    pub(super) fn candidates(&self, relayed: Option<SocketAddr>) -> impl Iterator<Item = Candidate> + '_ {
        let usable = |addr: &SocketAddr| is_usable(*addr, self.is_local());
        let hosts = self.addresses.iter().copied().filter(usable).take(MAX_HOST);
        let known = |addr| self.addresses.iter().take(MAX_HOST).any(|own| *own == addr);
        let observed = self.observed.addresses().into_iter().flatten();
        let reflexive = observed.filter(move |addr| usable(addr) && !known(*addr));
        let of = |kind| move |addr| Candidate { kind, addr };
        let direct = hosts.map(of(Kind::Host)).chain(reflexive.map(of(Kind::Reflexive)));
        let relayed = relayed.filter(|addr| candidate::is_admissible(*addr)).map(of(Kind::Relayed));
        direct.filter(|_| !self.is_relay_only()).chain(relayed)
    }

    /// How many searches this machine has taken part in.
    pub(super) fn searches(&self) -> u64 {
        self.parts
    }

    /// Our part of a new search, for a data channel if `by_channel`.
    pub(super) fn part(&mut self, relayed: Option<SocketAddr>, by_channel: bool) -> OwnPart {
        self.parts += 1;
        if by_channel && self.certificate.is_none() {
            self.certificate = Certificate::draw().map(Arc::new);
        }
        let base = |v6: bool| self.addresses.iter().copied().find(|addr| addr.is_ipv6() == v6);
        let direct = if self.is_relay_only() { [None; 2] } else { [base(false), base(true)] };
        OwnPart {
            credentials: Credentials::draw(&self.random.next_32()),
            tie_breaker: self.random.next_u64(),
            bases: Bases { direct, relayed },
            candidates: self.candidates(relayed).collect(),
            no_relay: self.refuses_relay(),
            number: self.parts,
            certificate: self.certificate.clone().filter(|_| by_channel),
        }
    }

    /// The candidates of a peer's signal that are used: none is the rendezvous or `relay`.
    pub(super) fn admitted(&self, signal: &Signal, relay: Option<SocketAddr>) -> Vec<Candidate> {
        let servers: Vec<SocketAddr> = [self.server, relay].into_iter().flatten().collect();
        let mut theirs = candidate::theirs(&signal.candidates, &servers, self.is_local());
        if self.refuses_relay() {
            theirs.retain(|candidate| candidate.kind != Kind::Relayed);
        }
        theirs
    }

    /// A source of random bytes of its own.
    pub(super) fn draw_source(&mut self) -> Randomness {
        Randomness::Given(self.random.next_32())
    }

    /// The identifier of a question to a server.
    pub(super) fn draw_id(&mut self) -> [u8; 12] {
        self.random.next_32().first_chunk().copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connect::seal::Randomness;

    fn at(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    fn endpoint(relay: RelayPolicy, addresses: &[&str], server: &str) -> Endpoint {
        let mut config = NatConfig::new(std::time::Instant::now(), addresses.iter().map(|text| at(text)));
        (config.relay, config.randomness) = (relay, Randomness::Seeded(1));
        Endpoint::new(config, Some(at(server))).unwrap()
    }

    #[test]
    fn own_loopback_needs_a_rendezvous_on_this_machine() {
        let own = |server| {
            let mut endpoint = endpoint(RelayPolicy::Allow, &["127.0.0.1:7000"], server);
            endpoint.rendezvous_saw(at("127.0.0.1:7001"));
            endpoint.candidates(None).count()
        };
        assert_eq!((own("198.51.100.1:3479"), own("127.0.0.1:3479")), (0, 2));
    }

    #[test]
    fn policy_chooses_the_kinds_of_own_candidates() {
        let own = |relay, relayed| {
            let hosts = ["192.168.1.2:7000", "[fe80::1]:7000", "203.0.113.9:7000"];
            let mut endpoint = endpoint(relay, &hosts, "198.51.100.1:3479");
            endpoint.rendezvous_saw(at("203.0.113.9:7000"));
            endpoint.candidates(relayed).map(|one| one.kind).collect::<Vec<_>>()
        };
        let relayed = Some(at("198.51.100.1:5"));
        let all = own(RelayPolicy::Allow, relayed);
        assert_eq!(all, [Kind::Host, Kind::Host, Kind::Relayed], "one of each address");
        assert_eq!(own(RelayPolicy::Never, None), [Kind::Host, Kind::Host]);
        assert_eq!(own(RelayPolicy::Only, relayed), [Kind::Relayed]);
    }

    #[test]
    fn relay_at_a_loopback_or_multicast_address_is_refused() {
        let local = "127.0.0.1:3479";
        for (server, named, taken) in [
            ("198.51.100.1:3479", "127.0.0.1:3478", false),
            ("198.51.100.1:3479", "[::1]:3478", false),
            ("198.51.100.1:3479", "224.0.0.1:3478", false),
            ("198.51.100.1:3479", "198.51.100.2:3478", true),
            (local, "127.0.0.1:3478", true),
        ] {
            let may_use = |relay| endpoint(relay, &[], server).may_use(at(named));
            assert_eq!(may_use(RelayPolicy::Allow), taken, "{named} by {server}");
            assert!(!may_use(RelayPolicy::Never));
        }
    }

    #[test]
    fn own_servers_are_no_candidates_of_a_peer() {
        let of = |kind, text| Candidate { kind, addr: at(text) };
        let (server, peer) = ("198.51.100.1:3479", of(Kind::Host, "192.0.2.2:7000"));
        let signal = |candidates| Signal {
            no_relay: false,
            wants_answer: false,
            generation: 0,
            revision: 1,
            heard: 0,
            credentials: Credentials::draw(&[0; 32]),
            candidates,
            fingerprint: None,
        };
        let named = signal(vec![of(Kind::Host, server), of(Kind::Host, "198.51.100.2:3478"), peer]);
        let admitted = |relay| endpoint(relay, &[], server).admitted(&named, Some(at("198.51.100.2:3478")));
        assert_eq!(admitted(RelayPolicy::Allow), [peer]);
        let relayed = signal(vec![of(Kind::Relayed, "192.0.2.3:7")]);
        assert_eq!(endpoint(RelayPolicy::Never, &[], server).admitted(&relayed, None), []);
    }
}
