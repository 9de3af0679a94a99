//! The games by name, and which matches make up a run.

use crate::cli::{Args, links};
use crate::plants::{self, PLANTS};
use crate::subjects;
use rebout::lab::stress::{Case, Keep, Outcome, Plan};

/// A game that can be chosen.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    play: fn(&Case, Keep) -> Outcome,
}

/// The games of which nothing bad is known.
pub(crate) const GAMES: [Entry; 5] = [
    Entry { name: "playground", play: |case, keep| subjects::playground().play(case, keep) },
    Entry { name: "duel", play: |case, keep| subjects::duel().play(case, keep) },
    Entry { name: "swarm", play: |case, keep| subjects::swarm().play(case, keep) },
    Entry { name: "tag", play: |case, keep| subjects::tag().play(case, keep) },
    Entry { name: "tilt", play: |case, keep| subjects::tilt().play(case, keep) },
];

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
            Self::Plant(plant) => plants::planted(plant).play(case, keep),
        }
    }
}

/// The plan of a run.
pub(crate) fn plan(args: &Args) -> Plan {
    Plan {
        links: links(&args.link),
        seed: args.seed,
        match_frames: args.frames,
        without: args.without.clone(),
        #[cfg(feature = "seal")]
        sealed: args.sealed,
        conditions: args.conditions(),
    }
}

/// The matches of a run, or of one part of it.
pub(crate) fn cases(args: &Args, matches: u32) -> Vec<Case> {
    let plan = plan(args);
    let case = |index| {
        let mut case = plan.case(index)?;
        // Planted mistakes show in rollbacks, which a machine with an input delay may not need.
        case.variety &= args.plant.is_none();
        Some(case)
    };
    let part = args.shard.map_or(0..matches, |shard| shard.part(matches));
    part.filter_map(case).collect()
}
