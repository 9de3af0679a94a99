//! The command line.

use std::net::{Ipv6Addr, SocketAddr};
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use rebout::authority::PlayerName;
use rebout::lab::link::LinkConfig;

/// The port of a server that is told no other.
pub const PORT: u16 = 7_200;

const AFTER_HELP: &str = "\
In the game: w a s d or the arrows fly, space or j shoots, f keeps the gun firing, r shows the last
updates raw, n the figures of the connection, i the invite of your own server, m mutes. Esc or q opens the
menu with the volumes, which asks before you leave; a game of your own rests meanwhile.

Exit codes: 0 left by choice; 1 the connection ended otherwise, or none came about; 2 bad arguments, or
no display and no terminal to play in.";

/// A co-op shooter for one to four, with a server in the middle. Without a command it opens a menu: a server of your own,
/// which others join by its invite, or another's. A bot and --seconds begin at once.
#[derive(Debug, Parser)]
#[command(name = "arcade", version, max_term_width = 100, args_conflicts_with_subcommands = true, after_help = AFTER_HELP)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub alone: Alone,
}

/// The format of the datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// RFC-RTYPE-UDP-01: one entity a packet
    #[default]
    Rtype,
    /// Snapshots with their frame
    Game,
}

impl Format {
    pub fn name(self) -> &'static str {
        match self {
            Self::Rtype => "rtype",
            Self::Game => "game",
        }
    }

    /// The one that this is not.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Rtype => Self::Game,
            Self::Game => Self::Rtype,
        }
    }
}

#[derive(Clone, Debug, Args)]
pub struct Alone {
    /// The UDP port of the server; 0 lets the system choose
    #[arg(long, default_value_t = PORT)]
    pub port: u16,
    /// Bots that play along, up to three
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=3))]
    pub bots: u8,
    #[command(flatten)]
    pub access: Access,
    #[command(flatten)]
    pub player: Player,
}

/// How players reach a server: by its invite, unless it is bare.
#[derive(Clone, Debug, Default, Args)]
pub struct Access {
    /// Meet the players at this rendezvous: no port has to be forwarded
    #[arg(long, value_name = "ADDRESS", conflicts_with = "bare")]
    pub rendezvous: Option<String>,
    /// Put this address into the invite, such as that of the router; may be said again
    #[arg(long, value_name = "ADDRESS", conflicts_with = "bare")]
    pub public: Vec<String>,
    /// Keep the key of the invite in a file, so that the invite is valid the next time too
    #[arg(long, value_name = "FILE", conflicts_with = "bare")]
    pub keep: Option<PathBuf>,
    /// No encryption: the plain wire, for clients of other people. Anybody on the way can read and forge. Both sides must say so
    #[arg(long)]
    pub bare: bool,
}

#[derive(Clone, Debug, Args)]
pub struct Player {
    /// The format of the datagrams. Without it a server of your own speaks rtype, and that of another is asked in both
    #[arg(long, value_enum)]
    pub wire: Option<Format>,
    /// Where the game is shown: in a window if there is a display, otherwise in the terminal
    #[arg(long, value_enum)]
    pub view: Option<stage::Kind>,
    /// Play over a bad link: lan, fibre, wifi, mobile, distant, lossy, bursty and others
    #[arg(long, value_parser = link)]
    pub link: Option<LinkConfig>,
    /// Your name beside your lives, 1 to 32 bytes; the others know you by your colour
    #[arg(long, value_parser = name)]
    pub name: Option<PlayerName>,
    /// Let a bot play
    #[arg(long)]
    pub bot: bool,
    /// Leave after this many seconds
    #[arg(long, value_name = "N")]
    pub seconds: Option<u64>,
    /// A server that is silent for this many seconds is lost
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    pub timeout: u64,
    /// Say everything as JSON, one object a line, and show nothing
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Run a server, which prints its invite
    #[command(visible_alias = "host")]
    Serve {
        /// The format of the datagrams
        #[arg(long, value_enum, default_value_t)]
        wire: Format,
        /// The address to listen on; that of all interfaces unless another is named
        #[arg(long, default_value_t = SocketAddr::from((Ipv6Addr::UNSPECIFIED, PORT)))]
        bind: SocketAddr,
        #[command(flatten)]
        access: Access,
        /// Shut down after this many seconds; without it the server runs until Ctrl-C or a plain `kill`
        #[arg(long, value_name = "N")]
        seconds: Option<u64>,
        /// A client that is silent for this many seconds is removed
        #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3_600))]
        timeout: u64,
        /// With --bare: the most players of one IPv4 address or IPv6 /48; those behind one router share it
        #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=4))]
        per_source: u8,
        /// The seed of the waves
        #[arg(long, default_value_t = 1)]
        seed: u32,
        /// Say everything as JSON, one object a line
        #[arg(long)]
        json: bool,
    },
    /// Play on a server
    Join {
        /// The invite of the server; with --bare its address or name, with or without a port
        #[arg(value_name = "INVITE", required = true)]
        server: Vec<String>,
        /// No encryption: the plain wire. The server must say so too
        #[arg(long)]
        bare: bool,
        #[command(flatten)]
        player: Player,
    },
    /// A server and bots over UDP in one process, unseen: prints what each of them saw
    Bots {
        /// How many bots, one to four
        #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=4))]
        clients: u8,
        /// For how long
        #[arg(long, value_name = "N", default_value_t = 5)]
        seconds: u64,
        /// The format of the datagrams
        #[arg(long, value_enum, default_value_t)]
        wire: Format,
        /// Let every bot play over a bad link
        #[arg(long, value_parser = link)]
        link: Option<LinkConfig>,
        /// No encryption: the plain wire
        #[arg(long)]
        bare: bool,
        /// The seed of the waves
        #[arg(long, default_value_t = 1)]
        seed: u32,
        /// Say everything as JSON, one object a line
        #[arg(long)]
        json: bool,
    },
}

fn link(name: &str) -> Result<LinkConfig, String> {
    LinkConfig::named(name).ok_or_else(|| "there is no link of that name".to_owned())
}

fn name(name: &str) -> Result<PlayerName, String> {
    PlayerName::new(name).ok_or_else(|| format!("{} bytes are outside 1..=32", name.len()))
}
