//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use rebout::rollback::MAX_WINDOW;
use rebout::{Config, ConnectOptions, is_disruptive};

mod guests;

pub use guests::{Guests, RelayUse};

use crate::keys::Bindings;
use crate::play::{LinkSetting, MAX_MILLIS, NAME_CHARACTERS, Preferences, Rules, print_error};
use crate::replay_list::data_folder;
use crate::settings::Settings;
use crate::view;
use games::duel::bot::Level;
use stage::sound::{Levels, MAX_PERCENT, Sound};
use stage::{BackgroundTask, address};

const AFTER_HELP: &str = "\
In the game: Esc pauses, against another player three times a match for a minute each, F1 opens the net graph, m mutes, F2 and F3 \
change your input delay.
A gamepad plays beside the keys: west is light, north heavy, south special, east a throw, and select pauses; the settings bind \
its buttons as they bind keys.
Against the bot: F5 cuts the connection, F6 changes the round trip, F7 the loss, F8 the jitter.

The settings of the menu are kept in the config folder of the system, in rebout/duel/settings.conf.

Exit codes: 0 quit by the menu, played to its end or left by choice; 1 no match came about, or the two machines ended with \
different states; 2 bad arguments, or no display and no terminal to play in; 3 the other machine left or was lost before the \
end. 1 and 3 are those of a match without menus: with --now, --bot or --view none.";

/// A fighting game for two, with rollback. Without a command it opens the menu, and with --now it is you against a bot:
/// a second peer with a UDP socket of its own, behind a link of 80 ms round trip and 3 % loss. Options on the
/// command line override the settings of the menu.
#[derive(Debug, Parser)]
#[command(name = "duel", max_term_width = 100, args_conflicts_with_subcommands = true, after_help = AFTER_HELP)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub solo: Solo,
}

#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Two players at one keyboard
    Local {
        #[command(flatten)]
        shown: Shown,
        #[command(flatten)]
        keys: Keys,
        /// Player two's keys, in the same order
        #[arg(long, value_name = "KEYS", help_heading = "Player")]
        keys2: Option<Bindings>,
        #[command(flatten)]
        round: Round,
    },
    /// Wait for another machine to join
    Host {
        /// The UDP port to wait at; 0 lets the system choose [default: 7000, or that of the settings]
        #[arg(long)]
        port: Option<u16>,
        #[command(flatten)]
        guests: Guests,
        #[command(flatten)]
        player: Player,
    },
    /// Join the machine that hosts
    Join {
        // Not a doc comment: rustdoc reads the brackets as a link.
        #[arg(
            value_name = "INVITE|ADDRESS",
            required = true,
            help = "The host's invite or link, or where it is: 192.168.1.5, a name, [2001:db8::7]:7000"
        )]
        host: Vec<String>,
        /// Play without a seal: anybody on the way can read and forge. The host must say so too
        #[arg(long)]
        bare: bool,
        #[command(flatten)]
        player: Player,
    },
    /// Watch a match of others while it is played
    Watch {
        /// The invite for spectators, and others to the same match that are asked if it fails
        #[arg(value_name = "INVITE", required = true)]
        invites: Vec<String>,
        /// Serve other spectators at this UDP port; 0 lets the system choose
        #[arg(long, value_name = "PORT")]
        serve: Option<u16>,
        #[command(flatten)]
        shown: Shown,
    },
    /// Go back into the match that was interrupted when this program ended
    Rejoin {
        #[command(flatten)]
        player: Player,
    },
    /// Watch a bot play your side
    Demo {
        #[command(flatten)]
        solo: Solo,
    },
    /// Two bots over loopback UDP, unseen: prints a summary and both final checksums
    Bots(Bots),
    /// List the recorded matches, newest first: names, date, length, result
    Replays {
        /// The folder [default: where matches are recorded]
        dir: Option<PathBuf>,
    },
    /// Play a recorded match: pause, step, seek, speed, and take over from any frame
    Replay {
        /// The RPLK file to play [default: pick one of the recorded matches]
        file: Option<PathBuf>,
        /// Print the checksum of every Nth state instead of showing the match
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        every: Option<u32>,
        #[command(flatten)]
        shown: Shown,
    },
}

pub const DEFAULT_PORT: u16 = crate::settings::PORT;

/// You against the bot.
#[derive(Clone, Debug, Args)]
pub struct Solo {
    #[command(flatten)]
    pub shown: Shown,
    #[command(flatten)]
    pub keys: Keys,
    #[command(flatten)]
    pub who: Who,
    #[command(flatten)]
    pub link: LinkArgs,
    #[command(flatten)]
    pub engine: Engine,
    #[command(flatten)]
    pub round: Round,
    /// Change the state on the bot's machine in frame N, to see what a desync looks like
    #[arg(long, value_name = "N", help_heading = "Match", value_parser = clap::value_parser!(u32).range(1..))]
    pub desync: Option<u32>,
    /// Frames a second, of the bot too
    #[arg(long, value_name = "N", default_value_t = 60, help_heading = "Match",
          value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub frame_rate: u16,
}

/// You against another machine.
#[derive(Clone, Debug, Args)]
pub struct Player {
    #[command(flatten)]
    pub shown: Shown,
    #[command(flatten)]
    pub keys: Keys,
    #[command(flatten)]
    pub who: Who,
    #[command(flatten)]
    pub engine: Engine,
    #[command(flatten)]
    pub round: Round,
    /// Log the keys of the match to a file: who has it can read the packets (`inspect --keys FILE`)
    #[arg(long, value_name = "FILE", help_heading = "Match")]
    pub key_log: Option<PathBuf>,
    /// Whether a relay may carry the match: allow, never, or only, which hides your address from the other player
    #[arg(long, value_enum, hide_possible_values = true, default_value_t = RelayUse::Allow, help_heading = "Match")]
    pub relay: RelayUse,
    /// Trust the certificate authorities in this PEM file, where servers are reached over TLS because no UDP leaves
    #[arg(long, value_name = "FILE", help_heading = "Match")]
    pub tls_authorities: Option<PathBuf>,
    /// Let a bot play for you
    #[arg(long, help_heading = "Match")]
    pub bot: bool,
    /// Frames a second, alike on both machines
    #[arg(long, value_name = "N", default_value_t = 60, help_heading = "Match",
          value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub frame_rate: u16,
}

#[derive(Clone, Debug, Args)]
pub struct Bots {
    /// How many frames to play
    #[arg(long, value_name = "N", default_value_t = 1800, value_parser = clap::value_parser!(u32).range(1..))]
    pub frames: u32,
    /// Frames a second; at 60 it takes as long as a match does
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub frame_rate: u16,
    /// The seed of all randomness, not 0 [default: the time]
    #[arg(long, value_name = "SEED", value_parser = clap::value_parser!(u32).range(1..))]
    pub seed: Option<u32>,
    /// How well the bots play: easy, normal or hard
    #[arg(long, value_enum, hide_possible_values = true, default_value_t = BotLevel::Hard)]
    pub level: BotLevel,
    /// Change the state on player two's machine in frame N, to see what a desync looks like
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub desync: Option<u32>,
    /// Print the summary as JSON
    #[arg(long)]
    pub json: bool,
    /// Play without a seal
    #[arg(long)]
    pub bare: bool,
    /// The folder to record the match in, or "off" [default: the folder that `duel replays` lists]
    #[arg(long, value_name = "DIR|off")]
    pub record: Option<String>,
    #[command(flatten)]
    pub link: LinkArgs,
    #[command(flatten)]
    pub engine: Engine,
}

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "View")]
pub struct Shown {
    /// Where to show it: window, terminal or none [default: a window where there is a display]
    #[arg(long, value_enum, hide_possible_values = true)]
    pub view: Option<view::Kind>,
    /// Begin at once, without the menu, and end with the match
    #[arg(long)]
    pub now: bool,
    /// Open the net graph at the start
    #[arg(long)]
    pub net: bool,
    /// Print at the end how evenly the view drew, and how often an online match stalled and rolled back
    #[arg(long)]
    pub timings: bool,
    #[command(flatten)]
    pub sound: SoundArgs,
}

/// What is heard.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Sound")]
pub struct SoundArgs {
    /// Begin muted; m lets it be heard
    #[arg(long)]
    mute: bool,
    /// Volume of the effects, 0 to 100 [default: 80]
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=i64::from(MAX_PERCENT)))]
    volume: Option<u8>,
    /// Volume of the music, 0 to 100 [default: 60]
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=i64::from(MAX_PERCENT)))]
    music: Option<u8>,
    /// Play sounds straight from the steps of the simulation, to hear what the ledger of cues is for
    #[arg(long)]
    pub without_cues: bool,
}

impl SoundArgs {
    /// Sets what was said on the command line; the rest is that of the settings.
    pub fn tune(&self, sound: &Sound, levels: Levels) {
        sound.set_levels(Levels {
            effects_percent: self.volume.unwrap_or(levels.effects_percent),
            music_percent: self.music.unwrap_or(levels.music_percent),
            muted: self.mute || levels.muted,
        });
    }
}

impl Shown {
    /// Whether nobody is there to read a sheet of words.
    pub fn unattended(&self) -> bool {
        self.now || self.view == Some(view::Kind::None)
    }
}

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Player")]
pub struct Keys {
    /// Your keys: left,right,up,down,light,heavy,special,throw,start
    #[arg(long, value_name = "KEYS", alias = "keys")]
    pub keys1: Option<Bindings>,
}

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Player")]
pub struct Who {
    /// Your name, at most 16 characters
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub name: Option<String>,
    /// How well the bot plays: easy, normal or hard [default: normal, or that of the settings]
    #[arg(long, value_enum, hide_possible_values = true)]
    pub level: Option<BotLevel>,
}

/// How the engine bridges the way.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Rollback")]
pub struct Engine {
    /// Frames from your press to the blow [default: what the measured link suggests]
    #[arg(long, value_name = "FRAMES",
          value_parser = clap::value_parser!(u8).range(0..=i64::from(Config::MAX_DELAY_FRAMES)))]
    pub delay: Option<u8>,
    /// How many frames may be played on predictions; with the delay at most 30 [default: 8]
    #[arg(long, value_name = "FRAMES",
          value_parser = clap::value_parser!(u8).range(0..=i64::from(MAX_WINDOW)))]
    pub window: Option<u8>,
    /// Predict nothing and wait for the other side: the same as --window 0
    #[arg(long, conflicts_with = "window")]
    pub lockstep: bool,
}

/// The link to the bot.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Link")]
pub struct LinkArgs {
    /// Round trip of the link, in milliseconds [default: 80]
    #[arg(long, value_name = "MS",
          value_parser = clap::value_parser!(u32).range(0..=i64::from(MAX_MILLIS)))]
    rtt: Option<u32>,
    /// Packets that are lost, in percent [default: 3]
    #[arg(long, value_name = "PERCENT")]
    loss: Option<f64>,
    /// How much longer a packet may take each way, in milliseconds [default: 0]
    #[arg(long, value_name = "MS",
          value_parser = clap::value_parser!(u32).range(0..=i64::from(MAX_MILLIS)))]
    jitter: Option<u32>,
}

impl LinkArgs {
    /// The link; parts that nobody asked for are usual.
    ///
    /// # Errors
    /// A loss that is none.
    pub fn setting(&self) -> Result<LinkSetting, String> {
        let loss = self.loss.unwrap_or(3.0);
        let setting = LinkSetting::new(self.rtt.unwrap_or(80), loss, self.jitter.unwrap_or(0));
        setting.map_err(|error| format!("--loss: {error}"))
    }

    /// The link, if any part of it was asked for.
    ///
    /// # Errors
    /// A loss that is none.
    pub fn given(&self) -> Result<Option<LinkSetting>, String> {
        let is_given = self.rtt.is_some() || self.loss.is_some() || self.jitter.is_some();
        is_given.then(|| self.setting()).transpose()
    }
}

/// The seed of a match, and the file that it is recorded to.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Match")]
pub struct Round {
    /// The seed of all randomness, not 0; the host's counts [default: the time]
    #[arg(long, value_name = "SEED", value_parser = clap::value_parser!(u32).range(1..))]
    pub seed: Option<u32>,
    /// The folder to record matches in, or "off" [default: the folder that `duel replays` lists]
    #[arg(long, value_name = "DIR|off")]
    pub record: Option<String>,
    /// End after so many frames, alike on both machines
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub frames: Option<u32>,
}

/// The folder that matches are recorded in: the one that `--record` names, or the usual one.
pub fn folder(record: Option<&str>) -> Option<PathBuf> {
    match record {
        None => Some(data_folder(|name| std::env::var_os(name))),
        Some("off") => None,
        Some(folder) => Some(PathBuf::from(folder)),
    }
}

impl Engine {
    /// The window that was asked for.
    pub fn window(&self) -> Option<u8> {
        if self.lockstep { Some(0) } else { self.window }
    }

    /// The preferences of this machine for a match: those of the command line, then those of the settings.
    ///
    /// # Errors
    /// If they do not fit together.
    pub fn preferences(
        &self,
        settings: &Settings,
        name: &str,
        seed: Option<u32>,
        frame_rate: u16,
        rules: Rules,
    ) -> Result<Preferences, String> {
        let window_frames = self.window().unwrap_or(settings.window_frames);
        let preferences = Preferences {
            name: name.to_owned(),
            seed,
            frame_rate,
            window_frames,
            delay_frames: self.delay.or(settings.delay_frames),
            rules,
        };
        let config: Config = preferences.config();
        config.check().map_err(|error| error.to_string())?;
        Ok(preferences)
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum BotLevel {
    Easy,
    Normal,
    Hard,
}

impl BotLevel {
    pub const fn level(self) -> Level {
        match self {
            Self::Easy => Level::Easy,
            Self::Normal => Level::Normal,
            Self::Hard => Level::Hard,
        }
    }
}

/// A name is shown in large characters and sent to the other side: short, and nothing that moves a cursor or turns the
/// words around it.
///
/// # Errors
/// A name that is too long, too short or none.
pub fn name(text: &str) -> Result<String, String> {
    let text = text.trim();
    let count = text.chars().count();
    if !(1..=NAME_CHARACTERS).contains(&count) {
        Err(format!("a name has 1 to {NAME_CHARACTERS} characters, this one has {count}"))
    } else if let Some(bad) = text.chars().find(|character| is_disruptive(*character)) {
        Err(format!("a name has no control characters and no marks of direction, this one has {bad:?}"))
    } else {
        Ok(text.to_owned())
    }
}

impl Player {
    /// How to connect, apart from whom a host lets in.
    pub fn connect(&self) -> ConnectOptions {
        let options = ConnectOptions::new().relay(self.relay.relay());
        let options = self.tls_authorities.iter().fold(options, ConnectOptions::trust_authorities_in);
        self.key_log.iter().fold(options, ConnectOptions::log_keys_to)
    }
}

impl Who {
    /// The name to play under: that of the command line, that of the settings, or the one for players without any.
    pub fn name<'a>(&'a self, settings: &'a Settings, nameless: &'a str) -> &'a str {
        let kept = Some(settings.name.as_str()).filter(|name| !name.is_empty());
        self.name.as_deref().or(kept).unwrap_or(nameless)
    }
}

/// A name that takes longer to be looked up than this is worth a word.
const PATIENCE: Duration = Duration::from_millis(500);

/// Looks up what the command line names. If that takes long, the player is told, and may press Ctrl-C.
///
/// # Errors
/// The words of `work`.
pub fn look_up<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    let task = BackgroundTask::begin(work);
    let gone = |_| "a name could not be looked up".to_owned();
    let mut patience = PATIENCE;
    loop {
        if let Some(answer) = task.wait(patience).map_err(gone)? {
            return answer;
        }
        if patience == PATIENCE {
            print_error("looking up the name; Ctrl-C leaves");
        }
        patience = Duration::MAX;
    }
}

/// The host that a joiner connects to: an address or a name, with the usual port if none is said.
pub fn resolve(host: &str) -> Result<SocketAddr, String> {
    address::resolve(host, DEFAULT_PORT)
}
