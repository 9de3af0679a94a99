//! The games by name, and which matches make up a run.

use crate::cli::{Args, links, without};
use crate::plants::{self, PLANTS, Planted};
use crate::trial::{self, Case, Keep, Outcome};
use games::duel::Duel;
use games::playground::Playground;
use games::swarm::Swarm;
use std::rc::Rc;

/// A game that can be chosen.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    play: fn(&Case, Keep) -> Outcome,
}

/// The games of which nothing bad is known.
pub(crate) const GAMES: [Entry; 3] = [
    Entry { name: "playground", play: |case, keep| trial::play(case, keep, &plain::<Playground>()) },
    Entry { name: "duel", play: |case, keep| trial::play(case, keep, &plain::<Duel>()) },
    Entry { name: "swarm", play: |case, keep| trial::play(case, keep, &plain::<Swarm>()) },
];

fn plain<G: crate::subjects::Trial>() -> trial::Maker<G> {
    Rc::new(|seed, _| G::build(seed))
}

/// An entry of the roster: a game, or a planted mistake.
#[derive(Clone, Copy)]
pub(crate) enum Subject {
    Game(Entry),
    Plant(&'static plants::Plant),
}

impl Subject {
    pub(crate) fn named(name: &str) -> Option<Self> {
        let game = GAMES.into_iter().find(|game| game.name == name).map(Self::Game);
        game.or_else(|| PLANTS.iter().find(|plant| plant.name == name).map(Self::Plant))
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Game(game) => game.name,
            Self::Plant(plant) => plant.name,
        }
    }

    pub(crate) fn play(&self, case: &Case, keep: Keep) -> Outcome {
        match self {
            Self::Game(game) => (game.play)(case, keep),
            Self::Plant(plant) => {
                let mistake = plant.mistake;
                trial::play(
                    case,
                    keep,
                    &(Rc::new(move |seed, seat| Planted::new(mistake(), seed, seat))
                        as trial::Maker<Planted>),
                )
            }
        }
    }
}

/// The match with a number. Each has its own seed, and the first one the seed of the run: so that a match can be
/// played again alone.
pub(crate) fn case(args: &Args, index: u32) -> Case {
    let links = links(&args.link);
    let (link_name, mut link) = links[index as usize % links.len()];
    for impairment in &args.without {
        link = without(link, impairment);
    }
    let has = |extra: &str| !args.without.iter().any(|name| name == extra);
    Case {
        link_name,
        link,
        frames: args.frames,
        seed: match_seed(args.seed, index),
        // Planted mistakes show in rollbacks, which a machine with an input delay may not need.
        variety: args.plant.is_none() && has("variety"),
        rematch: has("rematch"),
    }
}

fn match_seed(seed: u64, index: u32) -> u64 {
    if index == 0 {
        return seed;
    }
    let mut mixed = seed.wrapping_add(u64::from(index).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}
