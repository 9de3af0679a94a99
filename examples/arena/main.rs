//! Dots that move and shoot, with a server in the middle: `cargo run --example arena -- serve` prints an invite, and
//! `-- join INVITE` joins by it in other terminals. `docs/AUTHORITY.md` explains what happens.
//!
//! In the terminal `@` is you as predicted, `O` are others as interpolated, `*` are shots; `+` and `o` are the same
//! entities as the last snapshot had them, raw. Keys: w a s d, space shoots, r shows or hides the raw ones, q leaves.
//! `bots` plays a server and a few bots over UDP in one process, and prints what each of them saw. `--bare` leaves the
//! encryption out: the plain wire, for clients of other people.

mod connect;
mod draw;
mod input_source;
mod play;
mod serve;

use clap::{Parser, Subcommand};
use connect::{Target, host};
use play::{PlayOptions, bots, join};
use rebout::lab::link::LinkConfig;
use serve::{PORT, SEATS, Service, serve};
use std::collections::hash_map::RandomState;
use std::error::Error;
use std::fmt::Write as _;
use std::hash::{BuildHasher, Hasher};
use std::io::Write as _;
use std::net::{Ipv6Addr, SocketAddr};
use std::process::ExitCode;

type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// Dots that move and shoot, with a server in the middle.
#[derive(Parser)]
#[command(name = "arena", version)]
struct Args {
    #[command(subcommand)]
    role: Role,
}

#[derive(Subcommand)]
enum Role {
    /// Runs a server, which prints its invite.
    #[command(visible_alias = "host")]
    Serve {
        /// The address to listen on; all interfaces by default.
        #[arg(long, default_value_t = SocketAddr::from((Ipv6Addr::UNSPECIFIED, PORT)))]
        bind: SocketAddr,
        /// Meet the players at this rendezvous; no port has to be forwarded.
        #[arg(long, value_name = "ADDRESS", conflicts_with = "bare")]
        rendezvous: Option<String>,
        /// No encryption, for clients of other implementations. Anybody on the path can read and forge packets.
        #[arg(long)]
        bare: bool,
        /// Shut down after this many seconds; by default the server runs until Ctrl-C or `kill`.
        #[arg(long)]
        seconds: Option<u64>,
        /// Remove a client that is silent for this many seconds.
        #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3_600))]
        timeout: u64,
        /// With --bare: the maximum number of players of one IPv4 address or IPv6 /48, such as those behind one router.
        #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u8).range(1..))]
        per_source: u8,
        /// Print JSON, one object a line.
        #[arg(long)]
        json: bool,
    },
    /// Plays on a server.
    Join {
        /// The invite of the server; with --bare its address or name, with or without a port.
        #[arg(value_name = "INVITE")]
        server: String,
        /// No encryption. The server must use --bare too.
        #[arg(long)]
        bare: bool,
        /// Leave after this many seconds.
        #[arg(long)]
        seconds: Option<u64>,
        /// Give up on a server that is silent for this many seconds.
        #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3_600))]
        timeout: u64,
        /// Play over a bad link: lan, fibre, wifi, mobile, distant, lossy, bursty, hostile and others.
        #[arg(long, value_parser = link)]
        link: Option<LinkConfig>,
        /// Let a bot play, and draw nothing.
        #[arg(long)]
        bot: bool,
        /// Print JSON, one object a line. Needs --bot.
        #[arg(long)]
        json: bool,
    },
    /// Plays a server and bots over UDP in one process, and prints the figures of each.
    Bots {
        /// The number of bots.
        #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=i64::from(SEATS)))]
        clients: u8,
        /// The duration in seconds.
        #[arg(long, default_value_t = 5)]
        seconds: u64,
        /// Let every bot play over a bad link.
        #[arg(long, value_parser = link)]
        link: Option<LinkConfig>,
        /// No encryption.
        #[arg(long)]
        bare: bool,
        /// Print JSON, one object a line.
        #[arg(long)]
        json: bool,
    },
}

/// The link of that name.
fn link(name: &str) -> Result<LinkConfig, String> {
    LinkConfig::named(name).ok_or_else(|| format!("there is no link called {name}"))
}

fn main() -> ExitCode {
    signals::listen();
    let args: Args = signals::arguments();
    let result = match args.role {
        Role::Serve { bind, rendezvous, bare, seconds, timeout, per_source, json } => {
            let service = Service { seconds, timeout, per_source, json };
            let served = |connection| serve(connection, &service, signals::asked_to_stop);
            host(bind, rendezvous.as_deref(), bare).and_then(served)
        }
        Role::Join { server, bare, seconds, timeout, link, bot, json } => {
            let options = PlayOptions { seconds, timeout, link, json };
            Target::read(&server, bare).and_then(|target| join(&target, &options, bot || json))
        }
        Role::Bots { clients, seconds, link, bare, json } => {
            bots(clients, bare, &PlayOptions { seconds: Some(seconds), timeout: 10, link, json })
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Not `eprintln!`, which would panic if nobody listens there.
            let _ = writeln!(std::io::stderr(), "arena: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Random bits of the operating system, by way of the seeds of the standard library's hasher.
fn entropy() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// Prints one line, as words or as JSON. Whoever reads it from a pipe gets it at once.
fn say(json: bool, event: &str, fields: &[(&str, String)], words: &str) {
    let mut line = String::new();
    if json {
        let _ = write!(line, "{{\"event\":\"{event}\"");
        for (name, value) in fields {
            let quoted = value.parse::<f64>().is_err();
            let _ = if quoted {
                write!(line, ",\"{name}\":\"{value}\"")
            } else {
                write!(line, ",\"{name}\":{value}")
            };
        }
        line.push('}');
    } else {
        line.push_str(words);
    }
    let mut out = std::io::stdout().lock();
    // A reader that has seen enough closes the pipe; that is no failure.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}
