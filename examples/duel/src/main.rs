//! A fighting game for two on the engine: what a player runs, and what an embedder copies from.
//!
//! `cargo run --release --example duel` opens the menu; `--help` tells the rest. The match loop is in
//! `play/online.rs`, the menus in `menu` and `play/flow.rs`, the game itself in `examples/games`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use duel::cli::{self, Cli, Command, Solo};
use duel::devices::Devices;
use duel::keys::Bindings;
use duel::menu::{App, Page, Request};
use duel::opponents::Opponents;
use duel::picture;
use duel::play::{
    self, BotMatch, Ending, Failure, InputSource, MAX_LISTED, Opened, Options, Rules, Run, Seat, print_error,
    print_line, seed_of_now,
};
use duel::replay_list;
use duel::settings::{Keyset, Settings, Store, config_folder};
use duel::view::{self, Roles};
use games::duel::bot::{Bot, Level};
use rebout::{ConnectOptions, Connection};
use stage::{BackgroundTask, characters};

fn main() -> ExitCode {
    match run(signals::arguments()) {
        Ok(ending) => {
            ending.lines.iter().for_each(|line| print_line(line));
            ending.code.into()
        }
        Err(failure) => {
            print_error(&failure.text);
            failure.code.into()
        }
    }
}

fn run(cli: Cli) -> Result<Ending, Failure> {
    match cli.command {
        None if cli.solo.shown.unattended() => solo(cli.solo, false),
        None => title(cli.solo),
        Some(Command::Demo { solo: demo }) => solo(demo, true),
        Some(Command::Local { shown, keys, keys2, round }) => local(&shown, keys, keys2, &round),
        Some(Command::Host { port, guests, player }) => {
            let home = Home::open();
            let (kept, connect) =
                (home.settings.rendezvous.clone(), opponents().introduced(player.connect()));
            let port = port.unwrap_or(home.settings.port);
            let (opened, endpoint) = cli::look_up(move || {
                let mut endpoint = guests.endpoint(port, connect, &kept, &opponents())?;
                endpoint.open().map(|opened| (opened, endpoint))
            })
            .map_err(unusable)?;
            versus(
                player,
                home,
                Way::Opened(opened),
                "Host",
                |run| run.endpoint = Some(endpoint),
                Request::Host,
            )
        }
        Some(Command::Join { host, bare, player }) => {
            let (words, connect) = (host.clone(), opponents().introduced(player.connect()));
            let connect = if bare { connect.bare() } else { connect };
            let opened = cli::look_up(move || play::join(&words, &connect)).map_err(unusable)?;
            let again = Request::Join(host.concat());
            versus(player, Home::open(), Way::Opened(opened), "Guest", |run| run.bare = bare, again)
        }
        Some(Command::Watch { invites, serve, shown }) => watch(&invites, serve, &shown),
        Some(Command::Rejoin { player }) => rejoin(player),
        Some(Command::Bots(args)) => bots(&args),
        Some(Command::Replays { dir }) => Ok(replays(dir)),
        Some(Command::Replay { file, every, shown }) => replay(file, every, &shown),
    }
}

/// The player's key and the opponents of earlier matches, as they are kept.
fn opponents() -> Opponents {
    Opponents::new(config_folder(|name| std::env::var_os(name)))
}

/// The settings as they are kept, and the file that they are kept in.
struct Home {
    store: Store,
    settings: Settings,
    /// What is wrong with the file.
    trouble: Option<String>,
}

impl Home {
    fn open() -> Self {
        let mut store = Store::new(config_folder(|name| std::env::var_os(name)));
        let (settings, trouble) = store.load();
        Self { store, settings, trouble }
    }

    /// The settings for a match without menus; trouble is printed.
    fn settings(self) -> Settings {
        self.trouble.iter().for_each(|text| print_error(text));
        self.settings
    }
}

/// Opens the menus in a view, at `page` or with a first request.
fn menus(
    shown: &cli::Shown,
    home: Home,
    page: Page,
    first: Option<Request>,
    change: impl FnOnce(&mut Run),
) -> Result<Ending, Failure> {
    let Home { store, settings, trouble } = home;
    let roles = Roles::new(&settings.keys);
    let mut app = App::new(settings, page);
    trouble.into_iter().for_each(|text| app.warn(text));
    let mut run = Run {
        store,
        roles: roles.clone(),
        name: None,
        keys: [None, None, None],
        delay_frames: None,
        window_frames: None,
        level: None,
        link: None,
        frame_rate: 60,
        rules: Rules::default(),
        seed: None,
        desync_at: None,
        record: cli::folder(None),
        net: shown.net,
        timings: shown.timings,
        sound: shown.sound.clone(),
        endpoint: None,
        opened: None,
        bare: false,
        connect: ConnectOptions::new(),
        opponents: opponents(),
    };
    change(&mut run);
    view::run(shown.view, roles, move |screen| play::flow(screen, app, run, first)).map_err(unseen)
}

/// The title, for whoever named no command.
fn title(args: Solo) -> Result<Ending, Failure> {
    let link = args.link.given().map_err(unusable)?;
    let home = Home::open();
    let rate = args.frame_rate;
    args.engine.preferences(&home.settings, picture::YOU, None, rate, Rules::default()).map_err(unusable)?;
    let change = |run: &mut Run| {
        run.name = args.who.name;
        run.keys[0] = args.keys.keys1;
        (run.delay_frames, run.window_frames) = (args.engine.delay, args.engine.window());
        run.level = args.who.level.map(cli::BotLevel::level);
        run.frame_rate = rate;
        run.link = link;
        run.rules.frames = args.round.frames;
        (run.seed, run.desync_at) = (args.round.seed, args.desync);
        run.record = cli::folder(args.round.record.as_deref());
    };
    menus(&args.shown, home, Page::Title, None, change)
}

fn replays(dir: Option<PathBuf>) -> Ending {
    let Some(folder) = dir.or_else(|| cli::folder(None)) else { return Ending::of([]) };
    let entries = replay_list::list(&folder, MAX_LISTED);
    if entries.is_empty() {
        return Ending::of([format!("No matches in {}", folder.display())]);
    }
    let lines = entries.iter().map(|entry| format!("{entry}  {}", entry.path.display())).collect();
    Ending { lines, ..Ending::of([]) }
}

fn replay(file: Option<PathBuf>, every: Option<u32>, shown: &cli::Shown) -> Result<Ending, Failure> {
    let newest = || replay_list::list(&cli::folder(None)?, 1).pop().map(|entry| entry.path);
    let at_once = shown.unattended();
    let home = Home::open();
    // Where there is nobody to pick one, it is the newest.
    let is_alone = at_once || every.is_some();
    let Some(file) = file.or_else(|| newest().filter(|_| is_alone)) else {
        if is_alone || newest().is_none() {
            return Err(Failure::of("no match has been recorded yet: name a file"));
        }
        return menus(shown, home, Page::Replays, None, |_| {});
    };
    let recording = replay_list::open(&file).map_err(Failure::of)?;
    if let Some(every) = every {
        play::checksums(recording, every);
        return Ok(Ending::of([]));
    }
    let heard = shown.sound.clone();
    let settings = home.settings();
    let devices = settings.devices(Keyset::Alone);
    view::run(shown.view, Roles::new(std::slice::from_ref(&devices.keys)), move |screen| {
        heard.tune(screen.sound(), settings.levels);
        play::replay(screen, recording, &devices, settings.outfits, at_once)
    })
    .map_err(unseen)
}

/// Watches a match of others by its invite.
fn watch(invites: &[String], serve: Option<u16>, shown: &cli::Shown) -> Result<Ending, Failure> {
    let (texts, settings) = (invites.to_vec(), Home::open().settings());
    let seats =
        cli::look_up(move || play::Seats::open(&texts, &ConnectOptions::new(), serve)).map_err(unusable)?;
    seats.lines().iter().for_each(|line| print_line(line));
    let (heard, at_once) = (shown.sound.clone(), shown.unattended());
    let roles = Roles::new(&settings.keys);
    view::run(shown.view, roles, move |screen| {
        heard.tune(screen.sound(), settings.levels);
        play::watch(screen, seats, settings.outfits, at_once)
    })
    .map_err(unseen)?
}

/// You, or a bot at your controls, against the bot behind its bad link, and nothing else.
fn solo(args: Solo, demo: bool) -> Result<Ending, Failure> {
    let settings = Home::open().settings();
    let seed = args.round.seed.unwrap_or_else(seed_of_now);
    let level = args.who.level.map_or(settings.level, cli::BotLevel::level);
    let rules = Rules { frames: args.round.frames, desync_at: None };
    let name = if demo { "Kaito" } else { args.who.name(&settings, picture::YOU) };
    let preferences =
        args.engine.preferences(&settings, name, None, args.frame_rate, rules).map_err(unusable)?;
    let link = args.link.setting().map_err(unusable)?;
    let devices = devices(&settings, args.keys.keys1);
    let roles = Roles::new(std::slice::from_ref(&devices.keys));
    let source =
        if demo { InputSource::Bot(Box::new(Bot::new(seed ^ 1, level))) } else { InputSource::Keys(devices) };
    let seat = Seat {
        source,
        preferences,
        record: cli::folder(args.round.record.as_deref()),
        net: args.shown.net,
        unattended: true,
        timings: args.shown.timings,
        outfits: settings.outfits,
        without_cues: args.shown.sound.without_cues,
        opponents: Opponents::default(),
        invite: None,
    };
    let name = if demo { "Rai" } else { "Bot" };
    let game = BotMatch { seat, seed, level, link, name, desync_at: args.desync };
    let heard = args.shown.sound;
    let match_of = move |screen: &view::Screen| {
        heard.tune(screen.sound(), settings.levels);
        play::against_bot(screen, game)
    };
    view::run(args.shown.view, roles, match_of).map_err(unseen)?
}

/// How this machine comes into a match.
// There is one of these.
#[allow(clippy::large_enum_variant)]
enum Way {
    Opened(Opened),
    /// By the file of a match that was not played to its end.
    Back(PathBuf),
}

/// Goes back into the match that this program left when it ended.
fn rejoin(player: cli::Player) -> Result<Ending, Failure> {
    let record = cli::folder(player.round.record.as_deref());
    let file = play::unfinished(record.as_deref()).ok_or_else(|| {
        Failure::of("no match is waiting: the last one was played to its end, or its recording was off")
    })?;
    let again = Request::Rejoin(file.clone());
    versus(player, Home::open(), Way::Back(file), "Guest", |_| {}, again)
}

/// A match against another machine: within the menus where there is a player, alone where there is a bot or haste.
fn versus(
    args: cli::Player,
    home: Home,
    mut way: Way,
    nameless: &str,
    change: impl FnOnce(&mut Run),
    first: Request,
) -> Result<Ending, Failure> {
    if let Way::Opened((connection, role)) = &mut way {
        role.lines(connection).iter().for_each(|line| print_line(line));
        // A view has a page for it.
        if role.wants_answer() && args.shown.view == Some(view::Kind::None) {
            read_answer(connection)?;
        }
    }
    let rules = Rules { frames: args.round.frames, desync_at: None };
    let seed = args.round.seed.unwrap_or_else(seed_of_now);
    let name = args.who.name(&home.settings, nameless);
    let preferences = args
        .engine
        .preferences(&home.settings, name, Some(seed), args.frame_rate, rules)
        .map_err(unusable)?;
    let record = cli::folder(args.round.record.as_deref());
    let connect = args.connect();
    let keys = args.keys.keys1;
    if !args.bot && !args.shown.unattended() {
        let change = |run: &mut Run| {
            (run.name, run.keys[0]) = (args.who.name, keys);
            (run.delay_frames, run.window_frames) = (args.engine.delay, args.engine.window());
            (run.frame_rate, run.rules, run.seed, run.record) =
                (args.frame_rate, rules, args.round.seed, record);
            run.connect = connect;
            if let Way::Opened(opened) = way {
                run.opened = Some(opened);
            }
            change(run);
        };
        return menus(&args.shown, home, Page::Title, Some(first), change);
    }
    let settings = home.settings();
    let devices = devices(&settings, keys);
    let roles = Roles::new(std::slice::from_ref(&devices.keys));
    let source = if args.bot {
        // Two bots of one seed would dance in step.
        let salt = std::process::id();
        let level = args.who.level.map_or(Level::Normal, cli::BotLevel::level);
        InputSource::Bot(Box::new(Bot::new(seed ^ salt, level)))
    } else {
        InputSource::Keys(devices)
    };
    let seat = Seat {
        source,
        preferences,
        record,
        net: args.shown.net,
        unattended: args.shown.unattended(),
        timings: args.shown.timings,
        outfits: settings.outfits,
        without_cues: args.shown.sound.without_cues,
        opponents: opponents(),
        invite: match first {
            Request::Join(text) => Some(text),
            _ => None,
        },
    };
    let heard = args.shown.sound;
    let match_of = move |screen: &view::Screen| {
        heard.tune(screen.sound(), settings.levels);
        match way {
            Way::Opened(opened) => play::online(screen, seat, opened, None),
            Way::Back(file) => play::rejoin(screen, seat, &file, connect),
        }
    };
    view::run(args.shown.view, roles, match_of).map_err(unseen)?
}

/// Reads lines until one of them is the answer to the offer of this host.
fn read_answer(connection: &mut Connection) -> Result<(), Failure> {
    print_line("Paste the answer here:");
    let next_line = || {
        let mut text = String::new();
        std::io::stdin().read_line(&mut text).map(|len| (len > 0).then_some(text))
    };
    let gone = |_| Failure::of("the answer cannot be read");
    loop {
        let task = BackgroundTask::begin(next_line);
        // The router keeps its mapping meanwhile.
        let line = loop {
            let deadline = connection.now() + Duration::from_millis(50);
            connection.rest_until(deadline)?;
            if let Some(line) = task.wait(Duration::ZERO).map_err(gone)? {
                break line?;
            }
        };
        let Some(text) = line else { break };
        match connection.take_answer(&characters::copied(&text)) {
            Ok(()) => {
                print_line("The answer fits: looking for the other player.");
                return Ok(());
            }
            Err(_) if text.trim().is_empty() => {}
            Err(error) => print_error(&error.to_string()),
        }
    }
    Err(Failure::of("the answer of the other player never came"))
}

fn local(
    shown: &cli::Shown,
    keys: cli::Keys,
    keys2: Option<Bindings>,
    round: &cli::Round,
) -> Result<Ending, Failure> {
    let home = Home::open();
    let [_, left, right] = home.settings.keys.clone();
    let given = [keys.keys1, keys2];
    let keys = [given[0].clone().unwrap_or(left), given[1].clone().unwrap_or(right)];
    if let Some(key) = keys[0].shares_a_key_with(&keys[1]) {
        return Err(unusable(format!("'{key}' is a key of both players")));
    }
    let rules = Rules { frames: round.frames, desync_at: None };
    let record = cli::folder(round.record.as_deref());
    if !shown.unattended() {
        let change = |run: &mut Run| {
            let [one, two] = given;
            run.keys = [None, one, two];
            (run.rules, run.seed, run.record) = (rules, round.seed, record);
        };
        return menus(shown, home, Page::Local, None, change);
    }
    let settings = home.settings();
    let options = Options {
        seed: round.seed.unwrap_or_else(seed_of_now),
        names: ["Player one".to_owned(), "Player two".to_owned()],
        record,
        net: shown.net,
        rules,
        timings: shown.timings,
        outfits: settings.outfits,
    };
    let roles = Roles::new(&keys);
    let pads = settings.pads;
    let [one, two] = keys;
    let [pad, pad2] = pads;
    let sources = [Devices { keys: one, pad }, Devices { keys: two, pad: pad2 }].map(InputSource::Keys);
    let (heard, levels) = (shown.sound.clone(), settings.levels);
    let match_of = move |screen: &view::Screen| {
        heard.tune(screen.sound(), levels);
        play::local(screen, &options, sources)
    };
    view::run(shown.view, roles, match_of).map_err(unseen)
}

/// The devices of the only player: keys of the command line outrank those of the settings.
fn devices(settings: &Settings, keys: Option<Bindings>) -> Devices {
    let kept = settings.devices(Keyset::Alone);
    Devices { keys: keys.unwrap_or(kept.keys), pad: kept.pad }
}

fn bots(args: &cli::Bots) -> Result<Ending, Failure> {
    let seed = args.seed.unwrap_or_else(seed_of_now);
    let rules = Rules { frames: Some(args.frames), desync_at: args.desync };
    let preferences = args
        .engine
        .preferences(&Settings::default(), "bot", Some(seed), args.frame_rate, rules)
        .map_err(unusable)?;
    let setting = args.link.setting().map_err(unusable)?;
    let bots = [1, 2].map(|salt| Bot::new(seed ^ salt, args.level.level()));
    let folder = cli::folder(args.record.as_deref());
    play::bots(&preferences, bots, setting, folder.as_deref(), args.json, args.bare)
}

fn unusable(text: String) -> Failure {
    Failure::unusable(text)
}

// Made for `map_err`, which hands errors over by value.
#[allow(clippy::needless_pass_by_value)]
fn unseen(error: view::ViewError) -> Failure {
    let hint = "; or let two bots play unseen: duel bots";
    unusable(format!("{error}{}", if error == view::ViewError::Nowhere { hint } else { "" }))
}
