//! A fighting game for two on the engine: what a player runs, and what an embedder copies from.
//!
//! `cargo run --release --example duel` plays you against a bot; `--help` tells the rest.

// Nothing in a program can be reached from outside: here `pub` says what a module offers to the others.
#![allow(unreachable_pub)]

mod art;
mod bot;
mod keyboard;
mod keys;
mod netgraph;
mod picture;
mod play;
mod scene;
mod sim;
mod view;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::{Args, Parser, Subcommand, ValueEnum};

use bot::{Bot, Level};
use keys::Bindings;
use picture::Panel;
use play::{Ending, Hand, Options, Seats};

/// A fighting game for two, with rollback.
///
/// Without a command it is you against a bot. Esc leaves, F1 or n opens the net graph.
#[derive(Debug, Parser)]
#[command(name = "duel", max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    common: Common,
}

#[derive(Clone, Debug, Subcommand)]
enum Command {
    /// Two players at one keyboard
    Local,
    /// Watch two bots
    Demo,
    /// Play a recorded match: pause, step, seek, speed
    Replay {
        /// The RPLK file to play
        file: PathBuf,
        /// Print the checksum of every Nth state instead of showing the match
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        every: Option<u32>,
    },
}

#[derive(Clone, Debug, Args)]
struct Common {
    /// Where to show it [default: a window where there is a display, otherwise the terminal]
    #[arg(long, global = true, value_enum)]
    view: Option<view::Kind>,
    /// Your name
    #[arg(long, global = true, value_name = "NAME", default_value = "You", value_parser = name)]
    name: String,
    /// How well the bot plays
    #[arg(long, global = true, value_enum, default_value_t = BotLevel::Normal)]
    level: BotLevel,
    /// By how many frames the bot's buttons are late; - and + change it in the game
    #[arg(long, global = true, value_name = "FRAMES", default_value_t = 3,
          value_parser = clap::value_parser!(u32).range(0..=15))]
    late: u32,
    /// What chance is made of, not 0 [default: the time]
    #[arg(long, global = true, value_name = "SEED", value_parser = clap::value_parser!(u32).range(1..))]
    seed: Option<u32>,
    /// The folder to record matches in, or "off"
    #[arg(long, global = true, value_name = "DIR|off", default_value = "replays")]
    record: String,
    /// Player one's keys: left,right,up,down,light,heavy,special,throw,start
    #[arg(long, global = true, value_name = "KEYS")]
    keys1: Option<Bindings>,
    /// Player two's keys, in the same order
    #[arg(long, global = true, value_name = "KEYS")]
    keys2: Option<Bindings>,
    /// Begin at once, without the first screen
    #[arg(long, global = true)]
    now: bool,
    /// Open the net graph at the start
    #[arg(long, global = true)]
    net: bool,
    /// End after so many frames
    #[arg(long, global = true, value_name = "N")]
    frames: Option<u32>,
    /// Print at the end how evenly the view drew
    #[arg(long, global = true)]
    timings: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum BotLevel {
    Easy,
    Normal,
    Hard,
}

impl BotLevel {
    const fn level(self) -> Level {
        match self {
            Self::Easy => Level::Easy,
            Self::Normal => Level::Normal,
            Self::Hard => Level::Hard,
        }
    }
}

/// A name is shown in large letters and sent to the other side: short, and nothing that moves a cursor.
fn name(text: &str) -> Result<String, String> {
    let text = text.trim();
    let count = text.chars().count();
    if !(1..=16).contains(&count) {
        Err(format!("a name has 1 to 16 characters, this one has {count}"))
    } else if let Some(bad) = text.chars().find(|letter| letter.is_control()) {
        Err(format!("a name has no control characters, this one has {bad:?}"))
    } else {
        Ok(text.to_owned())
    }
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(cli) {
        Ok(ending) => {
            ending.lines.iter().for_each(|line| println!("{line}"));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("duel: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> Result<Ending, String> {
    let common = cli.common;
    let seed = common.seed.unwrap_or_else(seed_of_now);
    let bot = |salt: u32| Hand::Bot(Box::new(Bot::new(seed ^ salt, common.level.level())));
    let (seats, names, late_frames) = match cli.command {
        None => {
            let keys = common.keys1.clone().unwrap_or(Bindings::ALONE);
            ([Hand::Keys(keys), bot(0xB07)], [common.name.clone(), "Bot".to_owned()], common.late)
        }
        Some(Command::Local) => {
            let one = common.keys1.clone().unwrap_or(Bindings::LEFT_HALF);
            let two = common.keys2.clone().unwrap_or(Bindings::RIGHT_HALF);
            if let Some(key) = one.shares_a_key_with(&two) {
                return Err(format!("'{key}' is a key of both players"));
            }
            let names = ["Player one".to_owned(), "Player two".to_owned()];
            ([Hand::Keys(one), Hand::Keys(two)], names, 0)
        }
        Some(Command::Demo) => ([bot(1), bot(2)], ["Kaito".to_owned(), "Rai".to_owned()], common.late),
        Some(Command::Replay { file, every }) => return watch_replay(&common, &file, every),
    };
    let panel = first_screen(&seats);
    let bindings: Vec<_> = seats
        .iter()
        .filter_map(|hand| match hand {
            Hand::Keys(bindings) => Some(bindings.clone()),
            Hand::Bot(_) => None,
        })
        .collect();
    let options = Options {
        seed,
        names,
        record: (common.record != "off").then(|| PathBuf::from(&common.record)),
        at_once: common.now || bindings.is_empty() || common.view == Some(view::Kind::None),
        net: common.net,
        frames: common.frames,
        timings: common.timings,
    };
    let seats = Seats { hands: seats, late_frames };
    view::run(common.view, &bindings, move |screen| play::local(screen, &options, seats, &panel))
}

fn watch_replay(common: &Common, file: &std::path::Path, every: Option<u32>) -> Result<Ending, String> {
    let replay = play::load(file)?;
    if let Some(every) = every {
        play::checksums(&replay, every);
        return Ok(Ending { lines: Vec::new() });
    }
    let names = ["Player one".to_owned(), "Player two".to_owned()];
    let at_once = common.now || common.view == Some(view::Kind::None);
    view::run(common.view, &[], move |screen| play::replay(screen, replay, names, at_once))
}

/// The keys, said before the first blow.
fn first_screen(seats: &[Hand; 2]) -> Panel {
    let mut lines = Vec::new();
    let alone = seats.iter().filter(|hand| matches!(hand, Hand::Keys(_))).count() < 2;
    let labels = if alone { ["your keys"; 2] } else { ["player one", "player two"] };
    for (hand, label) in seats.iter().zip(labels) {
        if let Hand::Keys(bindings) = hand {
            let [moves, blows] = bindings.lines();
            lines.push((label.to_owned(), moves));
            lines.push((" ".to_owned(), blows));
        }
    }
    let tips = [
        ("block", "hold back; crouch against low blows, stand against jumps"),
        ("special", "a fireball; with down, a rising strike"),
        ("throw", "close up, beats a block; throw back to slip out"),
        ("combo", "light, heavy, special: one into the next"),
        ("n or F1", "net graph    - and +: how late the other's buttons are"),
    ];
    lines.extend(tips.map(|(label, text)| (label.to_owned(), text.to_owned())));
    Panel { title: "Rebout duel".to_owned(), lines, footer: "press enter to fight, esc to leave".to_owned() }
}

fn seed_of_now() -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (now.subsec_nanos() ^ now.as_secs() as u32).max(1)
}
