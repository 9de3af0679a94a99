//! The command line.

use std::path::{Path, PathBuf};

use clap::{Args, Parser, Subcommand};

use crate::check::parse_ranges;
use crate::content::Content;
use crate::ffi::Options;
use crate::machine::Rules;
use crate::pads::{Bot, Script, parse_names};
use crate::setup::Setup;

const AFTER_HELP: &str = "\
`cabinet CORE ROM` is short for `cabinet play CORE ROM`.
Keys: arrows, z and x are B and A, a and s are Y and X, q and w the shoulders, enter and backspace START and SELECT. A second player \
at this machine has i, j, k, l, g, h, t, y, r, u, 1 and 2. Gamepads play beside them, the first for the first player. Esc opens the \
menu, F1 the net graph, F2 and F3 change the input delay, F4 mutes.
Exit codes: 0 fit, or played to its end; 1 not fit, or no match; 2 bad arguments, or a core that cannot be used; 3 the match ended \
early.";

/// Plays libretro cores online with rollback, and checks whether a core is fit for it.
#[derive(Debug, Parser)]
#[command(name = "cabinet", max_term_width = 100, after_help = AFTER_HELP)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check whether a core is fit for rollback, and name the field or address that is not
    Check {
        #[command(flatten)]
        game: Game,
        #[command(flatten)]
        hands: Hands,
        /// The frames of the sync test
        #[arg(long, value_name = "N", default_value_t = 1200, value_parser = clap::value_parser!(u32).range(32..=1_000_000))]
        frames: u32,
        /// The frames of each match of the stress test on thirteen bad links; 0 leaves it out
        #[arg(long, value_name = "N", default_value_t = 180, value_parser = clap::value_parser!(u32).range(0..=100_000))]
        stress: u32,
    },
    /// Play at this machine
    Play {
        #[command(flatten)]
        game: Game,
        #[command(flatten)]
        hands: Hands,
        #[command(flatten)]
        seat: Seat,
    },
    /// Wait for another machine; prints the invite for it
    Host {
        #[command(flatten)]
        game: Game,
        /// The UDP port to wait at; 0 lets the system choose
        #[arg(long, default_value_t = 0)]
        port: u16,
        /// Meet the other player at this rendezvous
        #[arg(long, value_name = "SERVER")]
        rendezvous: Option<String>,
        #[command(flatten)]
        hands: Hands,
        #[command(flatten)]
        seat: Seat,
    },
    /// Join the machine that hosts
    Join {
        /// The invite of the host
        invite: String,
        #[command(flatten)]
        game: Game,
        /// Put a bad link in between, to try it at home: its latency each way in milliseconds
        #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u32).range(0..=2_000))]
        latency: Option<u32>,
        /// The loss of that link in per cent
        #[arg(long, value_name = "PERCENT", default_value_t = 0.0, requires = "latency")]
        loss: f64,
        #[command(flatten)]
        hands: Hands,
        #[command(flatten)]
        seat: Seat,
    },
    /// Come back into a match after this program ended in the middle of it
    Rejoin {
        /// The folder of `--rejoin-in`
        folder: PathBuf,
        #[command(flatten)]
        game: Game,
        #[command(flatten)]
        hands: Hands,
        #[command(flatten)]
        seat: Seat,
    },
    /// Watch a match of others while it is played
    Watch {
        /// The invite for spectators
        invite: String,
        #[command(flatten)]
        game: Game,
        #[command(flatten)]
        hands: Hands,
        /// Where it is shown [default: a window, or the terminal where there is none]
        #[arg(long, value_enum)]
        view: Option<stage::Kind>,
    },
    /// Show a recorded match; without a view it is verified
    Replay {
        /// The recording
        file: PathBuf,
        #[command(flatten)]
        game: Game,
        #[command(flatten)]
        hands: Hands,
        /// Where it is shown [default: a window, or the terminal where there is none]
        #[arg(long, value_enum)]
        view: Option<stage::Kind>,
    },
    /// Try a core in this process: the other commands run it as a child
    #[command(hide = true)]
    Probe {
        #[command(flatten)]
        game: Game,
    },
}

/// A core and its content.
#[derive(Clone, Debug, Args)]
pub struct Game {
    /// The libretro core, a shared library
    pub core: PathBuf,
    /// The ROM
    pub rom: PathBuf,
    /// An option of the core, alike on both machines; may be given several times
    #[arg(long = "option", value_name = "KEY=VALUE", help_heading = "Core")]
    pub options: Vec<String>,
    /// The folder with the BIOS that a core may want
    #[arg(long, value_name = "DIR", help_heading = "Core")]
    pub system: Option<PathBuf>,
    /// Bytes of the save state that are set to 0, as `check` names them: 0x10-0x13,0x20
    #[arg(long, value_name = "BYTES", help_heading = "Core")]
    pub ignore: Option<String>,
    /// Buttons that the core never gets to see, as `check` names them: x,y
    #[arg(long, value_name = "BUTTONS", help_heading = "Core")]
    pub without: Option<String>,
    /// End each step with a save, for a core whose save changes it
    #[arg(long, help_heading = "Core")]
    pub save_in_step: bool,
}

impl Game {
    /// Reads the content and the options.
    ///
    /// # Errors
    /// A sentence about the argument that is wrong.
    pub fn setup(&self) -> Result<Setup, String> {
        let mut options = Options::new();
        for option in &self.options {
            let (key, value) = option
                .split_once('=')
                .ok_or_else(|| format!("--option {option:?}: an option is written KEY=VALUE"))?;
            options.insert(key.to_owned(), value.to_owned());
        }
        let ignored = self.ignore.as_deref().map_or(Ok(Vec::new()), parse_ranges)?;
        let content = Content::open(&self.rom, self.system.as_deref())?;
        let without = self.without.as_deref().map_or(Ok(0), parse_names)?;
        let rules = Rules { buttons: !without, ignored, saves_in_step: self.save_in_step, frames: None };
        Ok(Setup { core: self.core.clone(), content, options, rules })
    }

    /// The arguments of a child process that tries the same core.
    pub fn arguments(&self) -> Vec<std::ffi::OsString> {
        let mut arguments = vec!["probe".into(), self.core.clone().into(), self.rom.clone().into()];
        for option in &self.options {
            arguments.extend(["--option".into(), option.into()]);
        }
        if let Some(system) = &self.system {
            arguments.extend(["--system".into(), system.clone().into()]);
        }
        arguments
    }
}

/// How this machine plays.
#[derive(Clone, Debug, Args)]
pub struct Seat {
    /// Your name
    #[arg(long, default_value = "Player")]
    pub name: String,
    /// Where the match is shown [default: a window, or the terminal where there is none]
    #[arg(long, value_enum)]
    pub view: Option<stage::Kind>,
    /// Let the script and random presses play for you
    #[arg(long)]
    pub bot: bool,
    /// End the match after so many frames; the host's number is used
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub frames: Option<u32>,
    /// The input delay in frames [default: the one that the link suggests]
    #[arg(long, value_name = "FRAMES")]
    pub delay: Option<u8>,
    /// The most frames that are predicted
    #[arg(long, value_name = "FRAMES", default_value_t = 8)]
    pub window: u8,
    /// Show so many frames ahead, to hide the frames that a game takes to react
    #[arg(long, value_name = "FRAMES", default_value_t = 0)]
    pub look_ahead: u8,
    /// Record the match into this folder
    #[arg(long, value_name = "DIR")]
    pub record: Option<PathBuf>,
    /// While a match runs, keep a file in this folder by which `cabinet rejoin` comes back; both players need one
    #[arg(long, value_name = "DIR")]
    pub rejoin_in: Option<PathBuf>,
    /// Open the net graph
    #[arg(long)]
    pub net: bool,
}

/// Pads that nobody holds.
#[derive(Clone, Debug, Args)]
pub struct Hands {
    /// A script of presses; random ones on every button follow it. Each line has a number of frames and the buttons of both players,
    /// such as `30 right+a / left`
    #[arg(long, value_name = "SCRIPT", help_heading = "Pads")]
    pub pads: Option<PathBuf>,
    /// The seed of the random presses
    #[arg(long, value_name = "SEED", default_value_t = 1, help_heading = "Pads")]
    pub seed: u32,
    /// The players: 2, or 4 with two pads at each machine
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = players, help_heading = "Pads")]
    pub players: u8,
}

fn players(text: &str) -> Result<u8, String> {
    match text {
        "2" => Ok(2),
        "4" => Ok(4),
        _ => Err("2 or 4".to_owned()),
    }
}

impl Hands {
    /// The bot that these arguments describe.
    ///
    /// # Errors
    /// A sentence about a script that cannot be read.
    pub fn bot(&self) -> Result<Bot, String> {
        let script = self.pads.as_deref().map_or(Ok(Script::default()), read_script)?;
        Ok(Bot { script, seed: self.seed, pads: self.players / 2 })
    }
}

fn read_script(path: &Path) -> Result<Script, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Script::parse(&text).map_err(|error| format!("{}: {error}", path.display()))
}
