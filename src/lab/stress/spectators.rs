//! Spectators of a match, from its start and from its middle, who must come to the players' last state.

use super::case::Case;
use super::conditions::Condition;
use super::timed::Timed;
use crate::lab::link::{LinkConfig, Seeded};
use crate::lab::sim::Clock;
use crate::lab::{HOST, Play, SimMatch, SimPeer, WatchKeys, addresses};
use crate::replay::{Outcome, Recording, Tail};
use crate::{Config, Game, Save, Watching};
use std::net::SocketAddr;
use std::time::Duration;

/// The time after a match in which spectators have to get the end of it.
pub(super) const TIME: Duration = Duration::from_secs(60);

/// The spectators of a match.
pub(super) struct Spectators {
    keys: WatchKeys,
    link: LinkConfig,
    seed: u64,
    /// The frame in which each of them comes.
    frames: [u32; 2],
    ids: Vec<usize>,
}

impl Spectators {
    pub(super) fn new<G: Game>(case: &Case, config: &Config, sim: &mut SimMatch<Timed<G>>) -> Option<Self> {
        if !case.conditions.has(Condition::Spectators) || !case.sealed {
            return None;
        }
        let keys = sim.machine_mut(HOST).broadcast(case.seed, config.clone());
        let late = Seeded::stream(case.seed, 0x7761_7463).below(u64::from(case.frames.min(600))) as u32;
        Some(Self { keys, link: case.link, seed: case.seed, frames: [0, late], ids: Vec::new() })
    }

    pub(super) fn run<G: Game>(&mut self, sim: &mut SimMatch<Timed<G>>, play: Play<Timed<G>>) {
        let at = sim.machine(HOST).session().map(|session| session.current().0);
        let Some(_) = self.frames.get(self.ids.len()).filter(|frame| at >= Some(**frame)) else { return };
        let (now, number) = (sim.world.now(), self.ids.len() as u8);
        let seed = self.seed ^ 0x5EC7 ^ u64::from(number);
        let spectator = SimPeer::watching(now, self.keys, addresses()[HOST], seed, play);
        let addr = SocketAddr::from(([192, 0, 2, 10 + number], 7_010));
        let id = sim.world.add(addr, Clock::default(), now, spectator);
        sim.world.network_mut().set_links(HOST, id, self.link);
        self.ids.push(id);
    }

    /// Whether all of them have everything.
    pub(super) fn are_done<G: Game>(&self, sim: &SimMatch<Timed<G>>) -> bool {
        let state = |id: &usize| sim.machine(*id).spectator().map(crate::Spectator::state);
        self.ids.iter().all(|id| state(id) == Some(Watching::Complete))
    }

    /// Whether any of them watched.
    pub(super) fn is_done(&self) -> bool {
        !self.ids.is_empty()
    }

    /// What went wrong with a spectator of a match that ended with this checksum. `make` makes the game from its seed.
    pub(super) fn violation<G: Game>(
        &self,
        sim: &SimMatch<Timed<G>>,
        checksum: u32,
        make: impl Fn(u32) -> Timed<G>,
    ) -> Option<String> {
        let number = |at: usize| format!("spectator {} of {}", at + 1, self.ids.len());
        self.ids.iter().enumerate().find_map(|(at, id)| {
            let spectator = sim.machine(*id).spectator()?;
            let watched = watched(spectator, checksum, &make);
            watched.err().map(|why| format!("{} {why}", number(at)))
        })
    }
}

fn watched<G: Game>(
    spectator: &crate::Spectator,
    checksum: u32,
    make: &impl Fn(u32) -> Timed<G>,
) -> Result<(), String> {
    if spectator.state() != Watching::Complete {
        return Err(format!("has not got all of the match: {}", spectator.state()));
    }
    let recording =
        Recording::open(spectator.bytes().to_vec()).map_err(|error| format!("has no match: {error}"))?;
    if recording.tail() != Tail::Whole {
        return Err(format!("has a damaged match: {:?}", recording.tail()));
    }
    let outcome = recording.end().map(|end| end.outcome);
    if outcome != Some(Outcome::Agreed { checksum }) {
        return Err(format!("was told of another end: {outcome:?}"));
    }
    let mut game = make(recording.header().seed);
    recording.verify(&mut game).map_err(|error| format!("saw another match: {error}"))?;
    let seen = crate::checksum(&game.snapshot());
    if seen == checksum { Ok(()) } else { Err("came to another last state".to_owned()) }
}
