//! A player whose program is killed and comes back, and somebody who tries to come in its place.

use super::case::Case;
use super::conditions::Condition;
use super::timed::Timed;
use crate::lab::link::Seeded;
use crate::lab::sim::Clock;
use crate::lab::{JOINER, Play, SimMatch, SimPeer};
use crate::{Config, Game};
use std::net::SocketAddr;
use std::time::Duration;

/// A program is killed after this many frames at the latest, and not before the first.
const FRAMES: [u32; 2] = [40, 400];

/// The time that a kill takes at most.
pub(super) const TIME: Duration = Duration::from_secs(30);

/// The kill of a match.
pub(super) struct Kills {
    rng: Seeded,
    victim: usize,
    frame: u32,
    config: Config,
    /// When the program is started again.
    back_at: Option<Duration>,
    impostor: Option<usize>,
}

impl Kills {
    pub(super) fn new(case: &Case, config: &Config) -> Option<Self> {
        let mut rng = Seeded::stream(case.seed, 0x6B69_6C6C);
        let last = FRAMES[1].min(case.frames / 4 * 3);
        let frame = FRAMES[0] + rng.below(u64::from(last.saturating_sub(FRAMES[0]).max(1))) as u32;
        // Nobody reaches a joiner whose router forgets; and spectators watch the host.
        let is_host_needed =
            [Condition::Roaming, Condition::Spectators].iter().any(|one| case.conditions.has(*one));
        let victim = if is_host_needed { JOINER } else { rng.below(2) as usize };
        let has = case.conditions.has(Condition::Kills) && case.sealed;
        has.then(|| Self { rng, victim, frame, config: config.clone(), back_at: None, impostor: None })
    }

    /// Whether a program was killed.
    pub(super) fn is_done(&self) -> bool {
        self.back_at.is_some()
    }

    /// Kills the program when it is time, unless a pause runs, and starts it again.
    pub(super) fn run<G: Game + 'static>(&mut self, sim: &mut SimMatch<Timed<G>>, play: Play<Timed<G>>) {
        let now = sim.world.now();
        if let Some(back_at) = self.back_at {
            if now >= back_at && sim.machine(self.victim).asleep {
                sim.machine_mut(self.victim).asleep = false;
            }
            return;
        }
        let at = sim.machine(self.victim).session().map_or(0, |session| session.current().0);
        if at < self.frame || (0..2).any(|id| sim.machine(id).ticket().is_none()) {
            return;
        }
        let drawn = || self.rng.clone().below(u64::MAX);
        let Some(mut ticket) = sim.machine_mut(self.victim).kill(drawn()) else { return };
        self.back_at = Some(now + Duration::from_millis(1_500 + self.rng.below(2_500)));
        // One bit of the token, or of the key, of which X25519 ignores the first three and the last two bits.
        let bit = self.rng.below(64 + 251) as usize;
        match bit.checked_sub(64) {
            None => ticket.token ^= 1 << bit,
            Some(bit) => ticket.key[(bit + 3) / 8] ^= 1 << ((bit + 3) % 8),
        }
        let impostor = SimPeer::impostor(self.config.clone(), &ticket, self.rng.below(u64::MAX), play);
        let addr = SocketAddr::from(([203, 0, 113, 66], 7_066));
        self.impostor = Some(sim.world.add(addr, Clock::default(), now, impostor));
    }

    /// Whether somebody else came in the place of a player.
    pub(super) fn intrusion<G: Game>(&self, sim: &SimMatch<Timed<G>>) -> Option<String> {
        let is_in = self.impostor.is_some_and(|id| sim.machine(id).has_agreed());
        is_in.then(|| "somebody whose secret differs in one bit came in the place of a player".to_owned())
    }

    /// Why the match did not go on with the program that came back.
    pub(super) fn failure<G: Game>(&self, sim: &SimMatch<Timed<G>>) -> Option<String> {
        let why = (0..2).find_map(|id| sim.machine(id).not_resumed())?;
        Some(format!("the match did not go on with the program that came back: {why}"))
    }
}
