//! A co-op side-scrolling shooter: what a player runs, and how a game with a server is put together.
//!
//! `cargo run --release --example arcade` opens its title; `--help` tells the rest. `docs/AUTHORITY.md`
//! explains what happens between the two.

use std::io::Write as _;
use std::net::{Ipv6Addr, SocketAddr};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use arcade::cli::{Access, Alone, Cli, Command, Format, Player};
use arcade::play::{
    End, Hosted, InputSource, Outcome, OutputFormat, OwnGame, SEATS, Seat, Service, Target, host, play, serve,
};
use arcade::scene::Scene;
use arcade::title::{Request, Title};
use arcade::{art, keys};
use rebout::authority::OverReason;
use rebout::lab::link::LinkConfig;
use rebout::{ConnectError, Connection};
use stage::menu::drive;

/// Bad arguments, or nowhere to play.
const UNUSABLE: u8 = 2;

/// A bot that has lost its seat asks for another after this long.
const BOT_RETURNS_AFTER: Duration = Duration::from_millis(300);

fn main() -> ExitCode {
    let cli: Cli = signals::arguments();
    let done = match cli.command {
        None => alone(&cli.alone),
        Some(Command::Serve { wire, bind, access, seconds, timeout, per_source, seed, json }) => {
            let output = if json { OutputFormat::Json } else { OutputFormat::Words };
            signals::listen();
            let service = Service { wire, seconds, timeout, per_source, seed, output, rest: None };
            host(&access, bind).and_then(|connection| serve(connection, &service, signals::asked_to_stop))
        }
        // An invite may have been torn apart where it was copied.
        Some(Command::Join { server, bare, player }) => Target::read(&server.concat(), bare)
            .map_err(Into::into)
            .and_then(|target| join(target, &player, None)),
        Some(Command::Bots { clients, seconds, wire, link, bare, seed, json }) => {
            bots(clients, seconds, wire, link, bare, seed, json)
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Not `eprintln!`, which would panic if nobody listens there.
            let _ = writeln!(std::io::stderr(), "arcade: {error}");
            let unusable = error.downcast_ref::<stage::ViewError>().is_some();
            if unusable { UNUSABLE.into() } else { ExitCode::FAILURE }
        }
    }
}

/// The title, until the player quits; a program or a bot has no use for it.
fn alone(args: &Alone) -> Outcome {
    let player = &args.player;
    if player.bot || player.json || player.seconds.is_some() || player.view == Some(stage::Kind::None) {
        let wire = player.wire.unwrap_or_default();
        return on_own_server(args, args.bots, wire, |here, hosted| join(here, player, Some(hosted)));
    }
    let args = args.clone();
    stage::run(player.view, keys::role_of, move |screen: &art::Screen| titles(screen, &args))?
}

/// Shows the title and does what it says.
fn titles(screen: &art::Screen, args: &Alone) -> Outcome {
    let mut title = Title::new(args.bots, args.access.bare, args.player.wire.unwrap_or_default());
    while let Some(request) = title_of(screen, &mut title) {
        let seat = seat_of(&args.player, OutputFormat::Silent);
        let done = match request {
            Request::Quit => break,
            Request::Join(target) => play(screen, &target, &seat),
            Request::Play { bots, wire } => on_own_server(args, bots, wire, |here, hosted| {
                play(screen, &here, &Seat { hosted: Some(hosted), wire: Some(wire), ..seat })
            }),
        };
        title.tell(match done {
            Ok(End { reason: OverReason::Left, .. }) => None,
            Ok(End { words, .. }) => Some(words),
            Err(error) => Some(error.to_string()),
        });
    }
    Ok(())
}

/// Shows the title until the player has a request; `None` once the view is closed.
fn title_of(screen: &art::Screen, title: &mut Title) -> Option<Request> {
    let mut scene = Scene::default();
    loop {
        let input = screen.take_input();
        if input.closed {
            return None;
        }
        let request = drive(&input, title, |title| Some(title.menu()), Title::act);
        if request.is_some() {
            return request;
        }
        scene.age += 1;
        screen.show(&art::Picture::of_menu(&scene, title.menu().clone()));
        thread::sleep(Duration::from_millis(16));
    }
}

/// A server in a thread, bots if they are wanted, and a player on it.
fn on_own_server<T>(
    args: &Alone,
    bots: u8,
    wire: Format,
    plays: impl FnOnce(Target, Hosted) -> Outcome<T>,
) -> Outcome<T> {
    let at = |port| host(&args.access, SocketAddr::from((Ipv6Addr::UNSPECIFIED, port)));
    let connection = at(args.port).or_else(|error| match error.downcast_ref() {
        // A second game on the same machine takes any free port.
        Some(ConnectError::Socket { .. }) => at(0),
        _ => Err(error),
    })?;
    let (here, invitation) = (Target::here(&connection)?, connection.share().to_owned());
    let game = OwnGame { bots, ..OwnGame::default() };
    let stop = Arc::new(AtomicBool::new(false));
    let service = Service {
        wire,
        seconds: None,
        timeout: 10,
        per_source: SEATS,
        seed: arcade::play::entropy() as u32,
        output: OutputFormat::Silent,
        rest: Some(game.clone()),
    };
    let serving = serve_in_thread(connection, service, &stop);
    let playing: Vec<_> = (0..bots).map(|_| keep_bot(here.clone(), wire, &stop)).collect();
    let done = plays(here, Hosted { invitation, game });
    stop.store(true, Ordering::Relaxed);
    for bot in playing {
        // It ends with the server.
        bot.join().map_err(|_| "a bot has panicked")?;
    }
    serving.join().map_err(|_| "the server has panicked")??;
    done
}

/// A server that ends once `stop` is set.
fn serve_in_thread(
    connection: Connection,
    service: Service,
    stop: &Arc<AtomicBool>,
) -> thread::JoinHandle<Outcome> {
    let stop = Arc::clone(stop);
    thread::spawn(move || serve(connection, &service, || stop.load(Ordering::Relaxed)))
}

fn join(target: Target, player: &Player, hosted: Option<Hosted>) -> Outcome {
    let view = if player.json { Some(stage::Kind::None) } else { player.view };
    let output = match (player.json, view) {
        (true, _) => OutputFormat::Json,
        (false, Some(stage::Kind::None)) => OutputFormat::Words,
        _ => OutputFormat::Silent,
    };
    let seat = Seat { hosted, ..seat_of(player, output) };
    let end = stage::run(view, keys::role_of, move |screen: &art::Screen| play(screen, &target, &seat))??;
    match end.reason {
        OverReason::Left => Ok(()),
        _ => Err(end.words.into()),
    }
}

fn seat_of(player: &Player, output: OutputFormat) -> Seat {
    Seat {
        wire: player.wire,
        source: if player.bot { InputSource::Bot } else { InputSource::Keys },
        name: player.name,
        link: player.link,
        seconds: player.seconds,
        timeout: player.timeout,
        output,
        prefix: String::new(),
        hosted: None,
    }
}

/// A bot that plays until `stop` is set. A bot that is removed, as after a time in which its thread did not run, comes again.
fn keep_bot(server: Target, wire: Format, stop: &Arc<AtomicBool>) -> thread::JoinHandle<()> {
    let stop = Arc::clone(stop);
    thread::spawn(move || {
        while !stop.load(Ordering::Relaxed) {
            let bot = spawn_bot(server.clone(), wire, None, None, OutputFormat::Silent, String::new());
            // It has nobody to tell how it ended.
            let _ = bot.join();
            thread::sleep(BOT_RETURNS_AFTER);
        }
    })
}

fn spawn_bot(
    server: Target,
    wire: Format,
    link: Option<LinkConfig>,
    seconds: Option<u64>,
    output: OutputFormat,
    prefix: String,
) -> thread::JoinHandle<Outcome<End>> {
    let (wire, source, name, timeout, hosted) = (Some(wire), InputSource::Bot, None, 10, None);
    let seat = Seat { wire, source, name, link, seconds, timeout, output, prefix, hosted };
    thread::spawn(move || {
        let view = Some(stage::Kind::None);
        stage::run(view, keys::role_of, move |screen: &art::Screen| play(screen, &server, &seat))?
    })
}

fn bots(
    clients: u8,
    seconds: u64,
    wire: Format,
    link: Option<LinkConfig>,
    bare: bool,
    seed: u32,
    json: bool,
) -> Outcome {
    let output = if json { OutputFormat::Json } else { OutputFormat::Words };
    let connection = host(&Access { bare, ..Access::default() }, ([127, 0, 0, 1], 0).into())?;
    let target = Target::here(&connection)?;
    let stop = Arc::new(AtomicBool::new(false));
    let seconds_served = Some(seconds + 10);
    let rest = None;
    let service =
        Service { wire, seconds: seconds_served, timeout: 10, per_source: SEATS, seed, output, rest };
    let serving = serve_in_thread(connection, service, &stop);
    let playing: Vec<_> = (1..=clients)
        .map(|n| spawn_bot(target.clone(), wire, link, Some(seconds), output, format!("bot {n}: ")))
        .collect();
    let mut ended = Vec::new();
    for bot in playing {
        ended.push(bot.join().map_err(|_| "a bot has panicked")??);
    }
    stop.store(true, Ordering::Relaxed);
    serving.join().map_err(|_| "the server has panicked")??;
    match ended.into_iter().find(|end| end.reason != OverReason::Left) {
        Some(end) => Err(end.words.into()),
        None => Ok(()),
    }
}
