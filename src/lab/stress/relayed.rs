//! Two machines behind routers, which meet at a rendezvous and play through a relay where no direct path works.

use super::case::Case;
use super::conditions::Condition;
use super::timed::Timed;
use crate::connect::nat::{NatConfig, NatTraversal, Origin, Progress, RelayPolicy};
use crate::connect::rendezvous::{RendezvousConfig, RendezvousServer, TurnService};
use crate::connect::seal::{Randomness, Seal};
use crate::lab::link::{LinkConfig, Seeded};
use crate::lab::sim::{Clock, NatKind};
use crate::lab::{HOST, JOINER, Play, SimMatch, SimPeer, addresses};
use crate::{Config, Game, Protocol};
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

/// The longest time from the start of a machine to its match.
pub(super) const TIME: Duration = Duration::from_secs(60);
/// One way between the host and a server. Those of the joiner are as bad as the link of the match.
const TO_SERVERS: Duration = Duration::from_millis(5);
/// Two machines that search for a path take longer to meet than two that know their addresses.
const JOIN_TIMEOUT: Duration = Duration::from_secs(60);

/// The addresses of a server, and what answers at each.
pub type ServerPorts = Vec<(SocketAddr, Box<dyn Protocol>)>;

/// A TURN server, for matches with [`Condition::Relayed`].
#[derive(Clone, Copy)]
pub struct TurnRelay {
    /// The point of the system's clock that stands for time zero. Any one will do.
    pub origin: Origin,
    /// The secret of its passwords, which the rendezvous shares.
    pub secret: &'static [u8],
    /// Makes the server. The address that clients write to is the first.
    pub make: fn() -> ServerPorts,
}

impl fmt::Debug for TurnRelay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TurnRelay").finish_non_exhaustive()
    }
}

/// How a machine is connected to the internet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Router {
    Open,
    /// One outside port, which lets in what was written to.
    Cone,
    /// Another outside port for each destination.
    Symmetric,
    /// A firewall that passes the rendezvous and the relay alone.
    Blocked,
}

const ROUTERS: [Router; 4] = [Router::Open, Router::Cone, Router::Symmetric, Router::Blocked];

/// The routers and servers of a match.
pub(super) struct Relayed {
    /// Whether no direct path can work, or none is allowed.
    needs_relay: bool,
    /// Whether the match was seen to go through the relay.
    is_relayed: bool,
}

impl Relayed {
    /// Puts both machines behind routers, before anything else is set on them. `None` without the condition.
    pub(super) fn new<G: Game>(
        case: &Case,
        configs: &[Config; 2],
        turn: Option<TurnRelay>,
        sim: &mut SimMatch<Timed<G>>,
        play: Play<Timed<G>>,
    ) -> Option<Self> {
        let turn = turn.filter(|_| case.conditions.has(Condition::Relayed) && case.sealed)?;
        let mut rng = Seeded::stream(case.seed, 0x7265_6C61);
        let routers = [(); 2].map(|()| ROUTERS[rng.below(ROUTERS.len() as u64) as usize]);
        // One match in four is hidden on one side.
        let policies = match rng.below(8) {
            0 => [RelayPolicy::Only, RelayPolicy::Allow],
            1 => [RelayPolicy::Allow, RelayPolicy::Only],
            _ => [RelayPolicy::Allow; 2],
        };
        let relay = (turn.make)();
        let server = SocketAddr::from(([198, 51, 100, 1], 3_479));
        let nats = traversals(case, &turn, policies, server)?;
        let seal = Seal::host(Randomness::Seeded(case.seed)).ok()?;
        let joining = Seal::join_by_signal(Randomness::Seeded(!case.seed), seal.public_key()?).ok()?;
        // The joiner's lobby was made for the address of the host, which it does not know.
        let target = joining.target()?;
        for ((id, nat), seal) in nats.into_iter().enumerate().zip([seal, joining]) {
            let mut config = configs[id].clone();
            config.timeouts.join_timeout = JOIN_TIMEOUT;
            let machine = sim.world.machine_mut(id);
            *machine = SimPeer::new(config, (id == JOINER).then_some(target), play);
            (machine.seal, machine.nat) = (Some(seal), Some(nat));
        }
        let config = RendezvousConfig {
            turn: relay.first().map(|(addr, _)| TurnService { server: *addr, secret: turn.secret.to_vec() }),
            ..RendezvousConfig::default()
        };
        let rendezvous = RendezvousServer::new(config, Randomness::Seeded(case.seed ^ 0x3E7))?;
        let rendezvous: Box<dyn Protocol> = Box::new(rendezvous);
        let servers: Vec<usize> = [(server, rendezvous)]
            .into_iter()
            .chain(relay)
            .map(|(addr, server)| {
                sim.world.add(addr, Clock::default(), Duration::ZERO, SimPeer::server(server, play))
            })
            .collect();
        for id in servers.iter().copied() {
            sim.world.network_mut().set_links(HOST, id, LinkConfig::new(TO_SERVERS));
            sim.world.network_mut().set_links(JOINER, id, case.link);
        }
        // The rendezvous, and the address of the relay that clients write to.
        let (passed, others) = servers.split_at(2.min(servers.len()));
        debug_assert!(!passed.is_empty(), "a rendezvous");
        for (id, router) in routers.into_iter().enumerate() {
            connect(sim, id, router, others);
        }
        Some(Self { needs_relay: needs_relay(routers, policies), is_relayed: false })
    }

    pub(super) fn run<G: Game>(&mut self, sim: &SimMatch<Timed<G>>) {
        let progress = |id| sim.machine(id).nat.as_ref().map(NatTraversal::progress);
        self.is_relayed |= (0..2).all(|id| matches!(progress(id), Some(Progress::ThroughRelay { .. })));
    }

    /// What is wrong with the path of a match that was played.
    pub(super) fn violation(&self) -> Option<&'static str> {
        (self.needs_relay && !self.is_relayed)
            .then_some("no relay carried the match, and no other path was there")
    }
}

/// The host in a room of its own, and the joiner that asks for it.
fn traversals(
    case: &Case,
    turn: &TurnRelay,
    policies: [RelayPolicy; 2],
    server: SocketAddr,
) -> Option<[NatTraversal; 2]> {
    let config = |id: usize| {
        let mut config = NatConfig::new(turn.origin, [addresses()[id]]);
        config.relay = policies[id];
        config.randomness = Randomness::Seeded(case.seed.rotate_left(8) ^ id as u64);
        config
    };
    let host = NatTraversal::host(config(HOST), server, &[7; 32]).ok()?;
    let joiner = NatTraversal::join(config(JOINER), &host.rendezvous()?).ok()?;
    Some([host, joiner])
}

/// Puts a machine behind its router. `hidden` are the endpoints that a firewall does not pass, besides the other machine.
fn connect<G: Game>(sim: &mut SimMatch<Timed<G>>, id: usize, router: Router, hidden: &[usize]) {
    let network = sim.world.network_mut();
    let kind = match router {
        Router::Open => return,
        Router::Blocked => {
            for other in hidden.iter().copied().chain([1 - id]) {
                network.set_down(id, other, true);
                network.set_down(other, id, true);
            }
            return;
        }
        Router::Cone => NatKind::PortRestricted,
        Router::Symmetric => NatKind::Symmetric,
    };
    let nat = network.add_nat(addresses()[id].ip(), kind);
    network.place_behind(id, nat);
}

fn needs_relay(routers: [Router; 2], policies: [RelayPolicy; 2]) -> bool {
    policies.contains(&RelayPolicy::Only)
        || routers.contains(&Router::Blocked)
        || routers == [Router::Symmetric; 2]
        || routers.contains(&Router::Symmetric) && routers.contains(&Router::Cone)
}
