//! The games by name, and which matches make up a run.

use crate::cli::{Args, links};
use crate::plants::{self, PLANTS};
use crate::subjects;
#[cfg(feature = "nat")]
use crate::turn;
use rebout::Game;
use rebout::lab::stress::{Case, Condition, Keep, Outcome, Plan, Stress};

/// A game that can be chosen.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    play: fn(&Case, Keep) -> Outcome,
}

/// The games of which nothing bad is known.
pub(crate) const GAMES: [Entry; 5] = [
    Entry { name: "playground", play: |case, keep| play(subjects::playground(), case, keep) },
    Entry { name: "duel", play: |case, keep| play(subjects::duel(), case, keep) },
    Entry { name: "swarm", play: |case, keep| play(subjects::swarm(), case, keep) },
    Entry { name: "tag", play: |case, keep| play(subjects::tag(), case, keep) },
    Entry { name: "tilt", play: |case, keep| play(subjects::tilt(), case, keep) },
];

fn play<G: Game + 'static>(stress: Stress<G>, case: &Case, keep: Keep) -> Outcome {
    #[cfg(feature = "nat")]
    let stress = stress.turn_relay(turn::relay());
    stress.play(case, keep)
}

/// An entry of the roster: a game, or a planted mistake.
#[derive(Clone, Copy)]
pub(crate) enum Subject {
    Game(Entry),
    /// Each match is one of a game that its seed chooses, so that it can be played again alone.
    AllGames,
    Plant(&'static plants::Plant),
}

impl Subject {
    pub(crate) fn named(name: &str) -> Option<Self> {
        if name == "all" {
            return Some(Self::AllGames);
        }
        let game = GAMES.into_iter().find(|game| game.name == name).map(Self::Game);
        game.or_else(|| PLANTS.iter().find(|plant| plant.name == name).map(Self::Plant))
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Game(game) => game.name,
            Self::AllGames => "all",
            Self::Plant(plant) => plant.name,
        }
    }

    pub(crate) fn play(&self, case: &Case, keep: Keep) -> Outcome {
        match self {
            Self::Game(game) => (game.play)(case, keep),
            Self::AllGames => (game_of(case).play)(case, keep),
            Self::Plant(plant) => play(plants::planted(plant), case, keep),
        }
    }
}

/// The game of a match, in a run of all games.
pub(crate) fn game_of(case: &Case) -> Entry {
    GAMES[(drawn(case, 0) % GAMES.len() as u64) as usize]
}

/// A number of a match, drawn from its seed.
fn drawn(case: &Case, what: u64) -> u64 {
    let mut mixed = (case.seed ^ what << 56).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ mixed >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    mixed ^ mixed >> 32
}

/// The match with a quarter of its conditions, sealed in a quarter of the matches of a sealed run: most matches are to be cheap, and
/// to have few conditions besides the one that fails.
fn draw(mut case: Case) -> Case {
    #[cfg(feature = "seal")]
    {
        case.sealed &= drawn(&case, 1).is_multiple_of(4);
        let is_sealed = case.sealed;
        case.conditions = case.conditions.iter().filter(|one| is_sealed || !one.needs_seal()).collect();
    }
    let is_kept = |condition: &Condition| drawn(&case, 2 + *condition as u64).is_multiple_of(4);
    case.conditions = case.conditions.iter().filter(is_kept).collect();
    if case.conditions.has(Condition::Relayed) {
        case.conditions = case.conditions.iter().filter(|one| !one.excludes_relays()).collect();
    }
    case
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
        Some(if args.drawn { draw(case) } else { case })
    };
    let part = args.shard.map_or(0..matches, |shard| shard.part(matches));
    part.filter_map(case).collect()
}
