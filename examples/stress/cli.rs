//! The arguments of the program.

use crate::plants::PLANTS;
use crate::roster::GAMES;
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use rebout::lab::link::LinkConfig;
use rebout::lab::stress::{Condition, Conditions, extras};
use std::path::PathBuf;
use std::str::FromStr;

/// The matches of a run for which no number is given.
pub(crate) const USUAL_MATCHES: u32 = 1_040;

const AFTER_HELP: &str = "\
A game may be the name of a planted mistake: then a game that has it is tested as if it were yours, to see what a \
failure looks like.

Frames are counted as every machine steps them: a match of 3,600 frames is 7,200. A match is followed by a \
shorter one in the same process, whose frames count, and which is not counted as a match.

A run can be spread over machines: each plays `--shard I/N --json` with otherwise the same arguments, and `--merge` puts the \
reports together. All shards together play the matches of the whole run.

The exit code is 0 if all is well, 1 if not, 2 if the arguments make no sense.";

/// Plays many matches on simulated links across all cores, and looks for desyncs in them.
#[derive(Clone, Debug, Parser)]
#[command(name = "stress", version, max_term_width = 100, after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The number of matches; with --plant, for each mistake [default: 1040, or 13 with --plant]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    pub(crate) matches: Option<u32>,

    /// The length of a match in frames
    #[arg(long, default_value_t = 3_600, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(crate) frames: u32,

    /// The seed of all randomness; the first match has this seed itself
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,

    /// The link: `all`, or one of clean, lan, fibre, wifi, mobile, satellite, geostationary, distant, lossy, bursty,
    /// narrow, reordering, hostile, corrupting (which is not among all)
    #[arg(long, default_value = "all", value_parser = link)]
    pub(crate) link: String,

    /// The game: playground, duel, swarm, tag (four pads), tilt (two sticks), `all` of them by turns, or a planted mistake
    #[arg(long, default_value = "playground", value_parser = game)]
    pub(crate) game: String,

    /// Plants a mistake, or `all` of them in turn, and fails unless the engine finds it
    #[arg(long, value_parser = plant)]
    pub(crate) plant: Option<String>,

    /// Removes these impairments from the link: latency, jitter, loss, ...; `variety` makes both machines equal, `rematch` skips the
    /// second match, the name of a condition undoes the option of that name
    #[arg(long, value_delimiter = ',', value_parser = impairment)]
    pub(crate) without: Vec<String>,

    /// Encrypts and authenticates every datagram
    #[cfg(feature = "seal")]
    #[arg(long)]
    pub(crate) sealed: bool,

    #[command(flatten)]
    happening: Happening,

    /// Draws for each match which of the given conditions it has, and whether it is sealed
    #[arg(long, conflicts_with = "plant")]
    pub(crate) drawn: bool,

    /// Plays part I of N of the run, to spread it over machines: `1/4` to `4/4`
    #[arg(long, value_name = "I/N", conflicts_with = "plant")]
    pub(crate) shard: Option<Shard>,

    /// Merges the reports of all shards of a run, each the output of `--shard I/N --json`
    #[arg(long, value_name = "FILE", num_args = 1.., exclusive = true)]
    pub(crate) merge: Vec<PathBuf>,

    /// The number of threads [default: the number of cores]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1_024))]
    pub(crate) jobs: Option<u16>,

    /// Prints the result as one JSON object
    #[arg(long)]
    pub(crate) json: bool,

    /// Writes a page with plots, and the files of a failure, to this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) report: Option<PathBuf>,
}

/// What happens in every match besides play.
#[derive(Clone, Copy, Debug, clap::Args)]
struct Happening {
    /// Puts the joiner behind a router that drops its mappings every few seconds; needs --sealed
    #[cfg(feature = "seal")]
    #[arg(long, requires = "sealed")]
    roaming: bool,

    /// Adds an attacker without keys, who sends copies, damaged copies and guesses to both machines, 50 a second to each
    #[arg(long)]
    hostile: bool,

    /// Lets the players pause, for longer than the silence that ends a match
    #[arg(long)]
    pauses: bool,

    /// Makes every sixtieth state a barrier, which must be stepped once
    #[arg(long)]
    barriers: bool,

    /// Lets the host hand over a first state of up to 48 kB
    #[arg(long)]
    first_states: bool,

    /// Kills a player's program, which comes back by its key and its recording; needs --sealed
    #[cfg(feature = "seal")]
    #[arg(long, requires = "sealed")]
    kills: bool,

    /// Lets two spectators watch, who must see the players' last state; needs --sealed
    #[cfg(feature = "seal")]
    #[arg(long, requires = "sealed")]
    spectators: bool,

    /// Puts both players behind routers and firewalls: they meet at a rendezvous, and play through a relay where no direct path
    /// works; needs --sealed
    #[cfg(feature = "nat")]
    #[arg(long, requires = "sealed")]
    relayed: bool,
}

impl Args {
    /// The arguments of the program, which ends if they make no sense.
    pub(crate) fn of_program() -> Self {
        let args: Self = signals::arguments();
        let conditions = args.conditions();
        if conditions.has(Condition::Relayed)
            && !args.drawn
            && let Some(other) = conditions.iter().find(|one| one.excludes_relays())
        {
            let why = format!("--relayed and --{} do not go together in one match", other.name());
            signals::refuse::<Self>(&Self::command().error(ErrorKind::ArgumentConflict, why));
        }
        args
    }

    /// The conditions of the run.
    pub(crate) fn conditions(&self) -> Conditions {
        let on = &self.happening;
        let everywhere = [
            (Condition::Hostile, on.hostile),
            (Condition::Pauses, on.pauses),
            (Condition::Barriers, on.barriers),
            (Condition::FirstStates, on.first_states),
        ];
        #[cfg(feature = "seal")]
        let sealed = [
            (Condition::Roaming, on.roaming),
            (Condition::Kills, on.kills),
            (Condition::Spectators, on.spectators),
        ];
        #[cfg(not(feature = "seal"))]
        let sealed = [];
        #[cfg(feature = "nat")]
        let relayed = [(Condition::Relayed, on.relayed)];
        #[cfg(not(feature = "nat"))]
        let relayed = [];
        everywhere
            .into_iter()
            .chain(sealed)
            .chain(relayed)
            .filter(|(_, is_on)| *is_on)
            .map(|(one, _)| one)
            .collect()
    }
}

/// A part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shard {
    /// From 1 on.
    pub(crate) number: u32,
    pub(crate) of: u32,
}

impl Shard {
    /// The matches of this part: all parts together are the whole run.
    pub(crate) fn part(self, matches: u32) -> core::ops::Range<u32> {
        let before = |number: u32| (u64::from(matches) * u64::from(number) / u64::from(self.of)) as u32;
        before(self.number - 1)..before(self.number)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed =
            text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        let (number, of) = parsed.ok_or("two numbers with a slash between them are needed, such as 1/4")?;
        if of == 0 || !(1..=of).contains(&number) {
            return Err(format!("the parts of {of} are numbered from 1 to {of}"));
        }
        Ok(Self { number, of })
    }
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
    let plants = PLANTS.iter().map(|plant| plant.name);
    one_of(name, GAMES.iter().map(|game| game.name).chain(["all"]).chain(plants))
}

fn plant(name: &str) -> Result<String, String> {
    one_of(name, PLANTS.iter().map(|plant| plant.name).chain(["all"]))
}

fn impairment(name: &str) -> Result<String, String> {
    // A link that has everything knows all the names.
    let everything = LinkConfig { corrupt: LinkConfig::corrupting().corrupt, ..LinkConfig::hostile() };
    let everything = LinkConfig { bandwidth: LinkConfig::narrow().bandwidth, ..everything };
    one_of(name, everything.simpler().map(|(name, _)| name).chain(extras()))
}

fn one_of<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Result<String, String> {
    let known: Vec<&str> = known.collect();
    if known.contains(&name) { Ok(name.to_owned()) } else { Err(format!("not one of {}", known.join(", "))) }
}
