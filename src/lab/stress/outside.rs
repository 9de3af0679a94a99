//! Events outside both machines: a router that forgets its mappings, an attacker without keys, players who pause, programs that are
//! killed, spectators, and the routers and servers of a match through NATs.

use super::case::Case;
use super::conditions::Condition;
#[cfg(feature = "seal")]
use super::kills::Kills;
use super::pauses::Pauses;
#[cfg(feature = "nat")]
use super::relayed::Relayed;
#[cfg(feature = "seal")]
use super::spectators::Spectators;
use super::timed::Timed;
use crate::lab::Play;
use crate::lab::forge::Guesses;
use crate::lab::link::Seeded;
#[cfg(feature = "seal")]
use crate::lab::sim::NatKind;
use crate::lab::sim::Recording;
use crate::lab::{SimMatch, addresses};
use crate::{Config, Game};
use std::net::SocketAddr;
use std::time::Duration;

/// How often the state of a match is looked at.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(500);
/// An attacker sends to each machine this often.
const ATTACK_EVERY: Duration = Duration::from_millis(20);
/// The newest datagrams of the match, among which an attacker chooses.
const SEEN: usize = 64;
/// A router forgets its mappings after a time from the first up to the second of these, in seconds.
#[cfg(feature = "seal")]
const FORGETS_AFTER: [u64; 2] = [2, 10];

/// Everything outside the two machines and their link.
pub(super) struct Outside {
    rng: Seeded,
    /// The router of the joiner, and when it forgets its mappings.
    #[cfg(feature = "seal")]
    router: Option<(usize, Duration)>,
    attacker: Option<Guesses>,
    pub(super) pauses: Option<Pauses>,
    #[cfg(feature = "seal")]
    pub(super) kills: Option<Kills>,
    #[cfg(feature = "seal")]
    pub(super) spectators: Option<Spectators>,
    #[cfg(feature = "nat")]
    pub(super) relayed: Option<Relayed>,
    /// Whether the attacker may send in the name of the peer: on a bare link that takes a right guess, and here none is to succeed.
    poses: bool,
}

impl Outside {
    pub(super) fn new<G: Game>(case: &Case, config: &Config, sim: &mut SimMatch<Timed<G>>) -> Self {
        let is_hostile = case.conditions.has(Condition::Hostile);
        if is_hostile {
            sim.world.network_mut().record(Recording::Full);
        }
        Self {
            rng: Seeded::stream(case.seed, 0x6F75_7473),
            #[cfg(feature = "seal")]
            router: case
                .conditions
                .has(Condition::Roaming)
                .then(|| (sim.place_behind_nat(crate::lab::JOINER, NatKind::PortRestricted), Duration::ZERO)),
            attacker: is_hostile.then(|| Guesses::new(case.seed)),
            pauses: Pauses::new(case),
            #[cfg(feature = "seal")]
            kills: Kills::new(case, config),
            #[cfg(feature = "seal")]
            spectators: Spectators::new(case, config, sim),
            #[cfg(feature = "nat")]
            relayed: None,
            poses: !sim.machine(0).is_bare(),
        }
    }

    /// Runs the match until its state is to be looked at.
    pub(super) fn run<G: Game + 'static>(&mut self, sim: &mut SimMatch<Timed<G>>, play: Play<Timed<G>>) {
        let until = sim.world.now() + LOOK_EVERY;
        if let Some(pauses) = &mut self.pauses {
            pauses.run(sim);
        }
        #[cfg(feature = "nat")]
        if let Some(relayed) = &mut self.relayed {
            relayed.run(sim);
        }
        #[cfg(feature = "seal")]
        {
            self.forget(sim);
            let is_paused = self.pauses.as_ref().is_some_and(Pauses::is_running);
            if let Some(kills) = self.kills.as_mut().filter(|kills| kills.is_done() || !is_paused) {
                kills.run(sim, play);
            }
            if let Some(spectators) = &mut self.spectators {
                spectators.run(sim, play);
            }
        }
        #[cfg(not(feature = "seal"))]
        let _ = play;
        while sim.world.now() < until {
            if self.attacker.is_none() {
                return sim.run_for(LOOK_EVERY);
            }
            (0..2).for_each(|victim| self.attack(sim, victim));
            sim.run_for(ATTACK_EVERY);
        }
    }

    #[cfg(feature = "seal")]
    fn forget<G: Game>(&mut self, sim: &mut SimMatch<G>) {
        let now = sim.world.now();
        let Some((nat, at)) = self.router.as_mut().filter(|(_, at)| now >= *at) else { return };
        let [least, most] = FORGETS_AFTER;
        let is_first = *at == Duration::ZERO;
        *at = now + Duration::from_secs(least + self.rng.below(most - least));
        if !is_first {
            sim.world.network_mut().forget(*nat, now);
        }
    }

    /// Sends one datagram: a copy of one that was overheard, as it was or changed, or a guess.
    fn attack<G: Game>(&mut self, sim: &mut SimMatch<G>, victim: usize) {
        let Some(guesses) = &mut self.attacker else { return };
        let chosen = self.rng.below(SEEN as u64) as usize;
        let overheard = sim.said().rev().take(chosen + 1).last().map(|said| said.datagram.to_vec());
        let mut datagram = match self.rng.below(4) {
            0 => guesses.draw().to_vec(),
            _ => overheard.unwrap_or_else(|| guesses.draw().to_vec()),
        };
        let at = self.rng.below(datagram.len().max(1) as u64) as usize;
        match self.rng.below(4) {
            0 => datagram.truncate(at),
            1 => datagram.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << self.rng.below(8)),
            2 => datagram.extend([0; 3]),
            _ => {}
        }
        let stranger = SocketAddr::from(([203, 0, 113, self.rng.below(4) as u8], 9_999));
        let is_posing = self.poses && self.rng.below(2) == 0;
        sim.inject(victim, if is_posing { addresses()[1 - victim] } else { stranger }, &datagram);
    }
}
