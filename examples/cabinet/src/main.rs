//! `cabinet`: see `cabinet --help`.

use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use cabinet::check::{Plan, Verdict, check};
use cabinet::cli::{Cli, Command, Game, Hands as Pads, Seat};
use cabinet::machine::Machine;
use cabinet::play::{self, Ending, Hands, Role, Screen, Terms};
use cabinet::probe;
use cabinet::setup::Setup;
use clap::CommandFactory;
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::relay::Relay;
use rebout::replay::Recording;
use rebout::{BroadcastConfig, ConnectOptions, Invite, Online, Options, Watch};
use stage::{Key, Kind, Role as KeyRole};

fn main() -> ExitCode {
    match run(signals::arguments_of::<Cli>(arguments()).command) {
        Ok(code) => ExitCode::from(code),
        Err(sentence) => {
            eprintln!("{sentence}");
            ExitCode::from(2)
        }
    }
}

/// The arguments, with the command `play` before a core.
fn arguments() -> Vec<OsString> {
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    let is_core = |first: &OsString| {
        Path::new(first).extension().is_some_and(|kind| kind == std::env::consts::DLL_EXTENSION)
    };
    let is_command =
        |first: &OsString| Cli::command().get_subcommands().any(|known| first == known.get_name());
    if arguments.get(1).is_some_and(|first| is_core(first) && !is_command(first)) {
        arguments.insert(1, "play".into());
    }
    arguments
}

fn run(command: Command) -> Result<u8, String> {
    match command {
        Command::Probe { game } => Ok(u8::from(!probe::child(&game.setup()?))),
        Command::Check { game, hands, frames, stress } => {
            let setup = tried(&game)?;
            let plan = Plan { bot: hands.bot()?, sync_frames: frames, match_frames: stress };
            let verdict = check(&setup, &plan, &mut |line| println!("{line}"))?;
            println!("verdict: {verdict}");
            Ok(u8::from(matches!(verdict, Verdict::Unfit { .. })))
        }
        Command::Play { game, hands, seat } => {
            let (setup, held) = (limited(tried(&game)?, &seat), held(&hands, &seat)?);
            shown(seat.view, move |screen| {
                let (machine, mut terms) = loaded(&setup, &hands)?;
                terms.config.rollback.look_ahead_frames = seat.look_ahead;
                play::local(screen, machine, &terms, &held, seat.record.as_deref())
            })
        }
        Command::Host { game, port, rendezvous, hands, seat } => {
            let (setup, held) = (limited(tried(&game)?, &seat), held(&hands, &seat)?);
            shown(seat.view, move |screen| {
                let (machine, terms) = loaded(&setup, &hands)?;
                let first_state = terms.first_state(&machine)?;
                let mut options = options(&terms, &seat)
                    .first_state(first_state)
                    .connect(ConnectOptions::new().port(port))
                    .spectators(BroadcastConfig::default());
                if let Some(server) = &rendezvous {
                    options = options.rendezvous(server);
                }
                let online = Online::host(options).map_err(|error| error.to_string())?;
                play::online(screen, online, machine, terms, held, Role::Host, seat.net)
            })
        }
        Command::Join { invite, game, latency, loss, hands, seat } => {
            let (setup, held) = (tried(&game)?, held(&hands, &seat)?);
            // The link lives as long as the match.
            let (text, _relay) = match latency {
                Some(millis) => linked(&invite, millis, loss)?,
                None => (invite, None),
            };
            shown(seat.view, move |screen| {
                let (machine, terms) = loaded(&setup, &hands)?;
                let online =
                    Online::join(options(&terms, &seat), &text).map_err(|error| error.to_string())?;
                play::online(screen, online, machine, terms, held, Role::Join, seat.net)
            })
        }
        Command::Rejoin { folder, game, hands, mut seat } => {
            let (setup, held) = (tried(&game)?, held(&hands, &seat)?);
            let file = Options::unfinished_in(&folder).ok_or_else(|| {
                format!("{} has no match of the last hour to come back into", folder.display())
            })?;
            seat.rejoin_in = Some(folder);
            shown(seat.view, move |screen| {
                let (machine, terms) = loaded(&setup, &hands)?;
                let online =
                    Online::rejoin(options(&terms, &seat), &file).map_err(|error| error.to_string())?;
                play::online(screen, online, machine, terms, held, Role::Join, seat.net)
            })
        }
        Command::Watch { invite, game, hands, view } => {
            let setup = tried(&game)?;
            shown(view, move |screen| {
                let (machine, terms) = loaded(&setup, &hands)?;
                let watch =
                    Watch::join(&ConnectOptions::new(), &invite).map_err(|error| error.to_string())?;
                play::watch(screen, watch, machine, &terms)
            })
        }
        Command::Replay { file, game, hands, view } => {
            let setup = tried(&game)?;
            let named = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
            let bytes = std::fs::read(&file).map_err(|error| named(&error))?;
            let recording = Recording::open(bytes).map_err(|error| named(&error))?;
            shown(view, move |screen| {
                let (machine, terms) = loaded(&setup, &hands)?;
                play::replay(screen, recording, machine, &terms)
            })
        }
    }
}

/// The setup of a core that a child process has tried.
fn tried(game: &Game) -> Result<Setup, String> {
    let setup = game.setup()?;
    let program = std::env::current_exe().map_err(|error| format!("this program is nowhere: {error}"))?;
    let mut program = std::process::Command::new(program);
    program.args(game.arguments());
    probe::probe(program, None)?;
    Ok(setup)
}

fn limited(mut setup: Setup, seat: &Seat) -> Setup {
    setup.rules.frames = seat.frames;
    setup
}

fn held(hands: &Pads, seat: &Seat) -> Result<Hands, String> {
    Ok(if seat.bot { Hands::Bot(hands.bot()?) } else { Hands::Players { pads: hands.players / 2 } })
}

/// Loads the machine in the thread that plays, because a core belongs to its thread.
fn loaded(setup: &Setup, hands: &Pads) -> Result<(Machine, Terms), String> {
    let machine = setup.machine().map_err(|error| error.to_string())?;
    let terms = Terms::of(&machine, &setup.content, hands.players / 2);
    Ok((machine, terms))
}

fn options(terms: &Terms, seat: &Seat) -> Options {
    let mut config = terms.config.clone();
    config.rollback.delay_frames = seat.delay;
    config.rollback.window_frames = seat.window;
    config.rollback.look_ahead_frames = seat.look_ahead;
    let mut options = Options::with_config(config).name(&seat.name);
    if let Some(folder) = &seat.rejoin_in {
        options = options.rejoin_in(folder);
    }
    match &seat.record {
        Some(folder) => options.record_to(folder).bundles_to(folder.join("desyncs")),
        None => options,
    }
}

/// An invite that leads through a bad link to the same host.
fn linked(invite: &str, millis: u32, loss: f64) -> Result<(String, Option<Relay>), String> {
    let known: Invite = invite.parse().map_err(|error| format!("{error}"))?;
    let target = known.addresses().iter().find(|addr| addr.is_ipv4()).or(known.addresses().first());
    let target = *target.ok_or("the invite has no address that a link could lead to")?;
    let loss = Chance::from_percent(loss).map_err(|error| error.to_string())?;
    let link = LinkConfig { loss, ..LinkConfig::new(Duration::from_millis(millis.into())) };
    let here = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
    let relay = Relay::start(here, target, link, 1).map_err(|error| error.to_string())?;
    let front = SocketAddr::from((Ipv4Addr::LOCALHOST, relay.addr().port()));
    let text = Invite::new(*known.key(), [front]).map_err(|error| error.to_string())?;
    let text = if known.is_for_one() { text.for_one() } else { text };
    Ok((text.to_string(), Some(relay)))
}

/// Runs a job with a view, prints its ending, and answers its code.
fn shown(
    view: Option<Kind>,
    job: impl FnOnce(&Screen) -> Result<Ending, String> + Send + 'static,
) -> Result<u8, String> {
    let roles = |_: Key| KeyRole::Tap;
    let ending = stage::run(view, roles, job).map_err(|error| error.to_string())??;
    ending.lines.iter().for_each(|line| println!("{line}"));
    Ok(ending.code)
}
