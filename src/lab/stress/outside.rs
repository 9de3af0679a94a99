//! Events outside both machines: a router that forgets its mappings, and an attacker without keys.

use super::case::Case;
use crate::Game;
use crate::lab::forge::Guesses;
use crate::lab::link::Seeded;
#[cfg(feature = "seal")]
use crate::lab::sim::NatKind;
use crate::lab::sim::Recording;
use crate::lab::{SimMatch, addresses};
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
    /// Whether the attacker may send in the name of the peer: on a bare link that takes a right guess, and here none is to succeed.
    poses: bool,
}

impl Outside {
    pub(super) fn new<G: Game>(case: &Case, sim: &mut SimMatch<G>) -> Self {
        if case.hostile {
            sim.world.network_mut().record(Recording::Full);
        }
        Self {
            rng: Seeded::stream(case.seed, 0x6F75_7473),
            #[cfg(feature = "seal")]
            router: case
                .roaming
                .then(|| (sim.place_behind_nat(crate::lab::JOINER, NatKind::PortRestricted), Duration::ZERO)),
            attacker: case.hostile.then(|| Guesses::new(case.seed)),
            poses: !sim.machine(0).is_bare(),
        }
    }

    /// Runs the match until its state is to be looked at.
    pub(super) fn run<G: Game>(&mut self, sim: &mut SimMatch<G>) {
        let until = sim.world.now() + LOOK_EVERY;
        #[cfg(feature = "seal")]
        self.forget(sim);
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
