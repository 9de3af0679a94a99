//! The arguments of the program.

use crate::plants::PLANTS;
use crate::roster::GAMES;
use clap::Parser;
use rebout::lab::link::LinkConfig;
use rebout::lab::stress::EXTRAS;
use std::path::PathBuf;

const AFTER_HELP: &str = "\
A game may be the name of a planted mistake: then a game that has it is tested as if it were yours, to see what a \
failure looks like.

Frames are counted as every machine steps them: a match of 3,600 frames is 7,200. A match is followed by a \
shorter one in the same process, whose frames count, and which is not counted as a match.

The exit code is 0 if all is well, 1 if not, 2 if the arguments make no sense.";

/// Plays many matches on simulated links across all cores, and looks for desyncs in them.
#[derive(Clone, Debug, Parser)]
#[command(name = "stress", after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// How many matches are played; with --plant, how many for each mistake [default: 1040, or 13 with --plant]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    pub(crate) matches: Option<u32>,

    /// How long a match is, in frames
    #[arg(long, default_value_t = 3_600, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(crate) frames: u32,

    /// The seed of all randomness; the first match has this seed itself
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,

    /// The link: `all`, or one of clean, lan, fibre, wifi, mobile, satellite, geostationary, distant, lossy, bursty,
    /// narrow, reordering, hostile, corrupting (which is not among all)
    #[arg(long, default_value = "all", value_parser = link)]
    pub(crate) link: String,

    /// The game: playground, duel, swarm, tag (four pads), tilt (two sticks), or a planted mistake
    #[arg(long, default_value = "playground", value_parser = game)]
    pub(crate) game: String,

    /// Plants a mistake, or `all` of them one after the other, and holds the engine to finding it
    #[arg(long, value_parser = plant)]
    pub(crate) plant: Option<String>,

    /// Takes these impairments away from the link: latency, jitter, loss, ...; `variety` makes the two machines alike,
    /// `rematch` leaves out the second match
    #[arg(long, value_delimiter = ',', value_parser = impairment)]
    pub(crate) without: Vec<String>,

    /// Seals the link: every datagram is encrypted and authenticated
    #[cfg(feature = "seal")]
    #[arg(long)]
    pub(crate) sealed: bool,

    /// How many threads play [default: as many as there are cores]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1_024))]
    pub(crate) jobs: Option<u16>,

    /// Prints the result as one JSON object
    #[arg(long)]
    pub(crate) json: bool,

    /// Writes a page with plots, and what there is to know of a failure, into this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) report: Option<PathBuf>,
}

/// The links that a name stands for.
pub(crate) fn links(name: &str) -> Vec<(&'static str, LinkConfig)> {
    let mut known = LinkConfig::presets().to_vec();
    if name != "all" {
        known.push(("corrupting", LinkConfig::corrupting()));
        known.retain(|(known, _)| *known == name);
    }
    known
}

fn link(name: &str) -> Result<String, String> {
    one_of(name, links("all").iter().map(|(name, _)| *name).chain(["all", "corrupting"]))
}

fn game(name: &str) -> Result<String, String> {
    one_of(name, GAMES.iter().map(|game| game.name).chain(PLANTS.iter().map(|plant| plant.name)))
}

fn plant(name: &str) -> Result<String, String> {
    one_of(name, PLANTS.iter().map(|plant| plant.name).chain(["all"]))
}

fn impairment(name: &str) -> Result<String, String> {
    // A link that has everything knows all the names.
    let everything = LinkConfig { corrupt: LinkConfig::corrupting().corrupt, ..LinkConfig::hostile() };
    let everything = LinkConfig { bandwidth: LinkConfig::narrow().bandwidth, ..everything };
    one_of(name, everything.simpler().map(|(name, _)| name).chain(EXTRAS))
}

fn one_of<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Result<String, String> {
    let known: Vec<&str> = known.collect();
    if known.contains(&name) { Ok(name.to_owned()) } else { Err(format!("not one of {}", known.join(", "))) }
}
