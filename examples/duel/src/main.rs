//! A fighting game for two on the engine: what a player runs, and what an embedder copies from.
//!
//! `cargo run --release --example duel` plays you against a bot; `--help` tells the rest. The match loop is in
//! `play/online.rs`, the game itself in `examples/games`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Parser;

use duel::cli::{self, Cli, Command, Solo};
use duel::keys::Bindings;
use duel::picture::{self, Panel};
use duel::play::{
    self, Ending, Failure, Hand, Line, Named, Opponent, Options, Rules, Seat, Way, exit, print_error,
    print_line,
};
use duel::shelf;
use duel::view;
use games::duel::bot::Bot;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(cli) {
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
        None => solo(cli.solo, false),
        Some(Command::Demo { solo: demo }) => solo(demo, true),
        Some(Command::Local { shown, keys, keys2, round }) => local(&shown, &keys, keys2, &round),
        Some(Command::Host { port, guests, player }) => {
            let admits = guests.admits().map_err(unusable)?;
            let (line, way) = play::host(port, &admits)?;
            versus(player, line, way, "Host")
        }
        Some(Command::Join { host, bare, player }) => {
            let host = Named::read(&host, cli::resolve).map_err(unusable)?;
            let (line, way) = play::join(&host, bare)?;
            versus(player, line, way, "Guest")
        }
        Some(Command::Bots(args)) => bots(&args),
        Some(Command::Replays { dir }) => Ok(replays(dir)),
        Some(Command::Replay { file, every, shown }) => replay(file, every, &shown),
    }
}

/// The most matches that are listed.
const MAX_LISTED: usize = 200;

fn replays(dir: Option<PathBuf>) -> Ending {
    let Some(folder) = dir.or_else(|| cli::folder(None)) else { return Ending::of([]) };
    let entries = shelf::list(&folder, MAX_LISTED);
    if entries.is_empty() {
        return Ending::of([format!("No matches in {}", folder.display())]);
    }
    let lines = entries.iter().map(|entry| format!("{entry}  {}", entry.path.display())).collect();
    Ending { lines, code: exit::PLAYED }
}

fn replay(file: Option<PathBuf>, every: Option<u32>, shown: &cli::Shown) -> Result<Ending, Failure> {
    let entries = match &file {
        Some(_) => Vec::new(),
        None => cli::folder(None).map_or_else(Vec::new, |folder| shelf::list(&folder, MAX_LISTED)),
    };
    let newest = || entries.first().map(|entry| entry.path.clone());
    if file.is_none() && entries.is_empty() {
        return Err(Failure::of("no match has been recorded yet: name a file"));
    }
    let at_once = shown.in_haste();
    // Where there is nobody to pick one, it is the newest.
    let file = if at_once || every.is_some() { file.or_else(newest) } else { file };
    let recording = file.map(|file| shelf::open(&file)).transpose().map_err(Failure::of)?;
    if let (Some(every), Some(recording)) = (every, recording.clone()) {
        play::checksums(recording, every);
        return Ok(Ending::of([]));
    }
    let (bindings, heard) = (Bindings::ALONE, shown.sound.clone());
    let match_of = move |screen: &view::Screen| {
        heard.tune(screen.sound());
        match recording {
            Some(recording) => Ok(play::replay(screen, recording, &bindings, at_once)),
            None => play::pick(screen, &entries, &bindings),
        }
    };
    view::run(shown.view, std::slice::from_ref(&Bindings::ALONE), match_of).map_err(unseen)?
}

/// You, or a bot at your controls, against the bot behind its bad link.
fn solo(args: Solo, demo: bool) -> Result<Ending, Failure> {
    let seed = args.round.seed.unwrap_or_else(seed_of_now);
    let level = args.who.level.level();
    let rules = Rules { frames: args.round.frames, desync_at: None };
    let name = args.who.name.as_deref().unwrap_or(if demo { "Kaito" } else { picture::YOU });
    let wishes = args.engine.wishes(name, None, 60, rules).map_err(unusable)?;
    let setting = args.link.setting().map_err(unusable)?;
    let mut theirs = wishes.clone();
    theirs.name = if demo { "Rai".to_owned() } else { "Bot".to_owned() };
    theirs.seed = Some(seed);
    theirs.rules.desync_at = args.desync;
    let bindings = args.keys.keys1.unwrap_or(Bindings::ALONE);
    let hand =
        if demo { Hand::Bot(Box::new(Bot::new(seed ^ 1, level))) } else { Hand::Keys(bindings.clone()) };
    let in_haste = args.shown.in_haste();
    let panel = first_screen(&[&bindings], true);
    let names = [name.to_owned(), theirs.name.clone()];
    let seat = Seat {
        hand,
        wishes,
        record: cli::folder(args.round.record.as_deref()),
        net: args.shown.net,
        in_haste: in_haste || demo,
        timings: args.shown.timings,
        without_cues: args.shown.sound.without_cues,
    };
    let heard = args.shown.sound;
    let match_of = move |screen: &view::Screen| {
        heard.tune(screen.sound());
        let wait = !in_haste && !demo;
        if wait && !play::wait(screen, &panel, std::slice::from_ref(&seat.hand), seed, &names) {
            return Ok(Ending::of([]));
        }
        let other = rebout::Player::Two;
        let bot = Bot::new(seed ^ 0xB07, level);
        let opponent = Opponent::start(theirs.config(), other, bot, theirs.rules, setting, false, None)?;
        let line = opponent.line()?;
        let link = opponent.link();
        let ending = play::online(screen, seat, line, &Way::Bot(opponent.addr()), Some(link));
        // Its report of the match repeats ours, and is dropped.
        let _ = opponent.finish(true);
        ending
    };
    view::run(args.shown.view, &[bindings], match_of).map_err(unseen)?
}

fn versus(args: cli::Player, mut line: Line, way: Way, nameless: &str) -> Result<Ending, Failure> {
    if let Some(path) = &args.key_log {
        play::log_keys(&mut line, path)?;
    }
    way.lines().iter().for_each(|line| print_line(line));
    let seed = args.round.seed.unwrap_or_else(seed_of_now);
    let rules = Rules { frames: args.round.frames, desync_at: None };
    let name = args.who.name.as_deref().unwrap_or(nameless);
    let wishes = args.engine.wishes(name, Some(seed), args.frame_rate, rules).map_err(unusable)?;
    let bindings = args.keys.keys1.unwrap_or(Bindings::ALONE);
    let hand = if args.bot {
        // Two bots of one seed would dance in step.
        let salt = std::process::id();
        Hand::Bot(Box::new(Bot::new(seed ^ salt, args.who.level.level())))
    } else {
        Hand::Keys(bindings.clone())
    };
    let seat = Seat {
        hand,
        wishes,
        record: cli::folder(args.round.record.as_deref()),
        net: args.shown.net,
        in_haste: args.shown.in_haste(),
        timings: args.shown.timings,
        without_cues: args.shown.sound.without_cues,
    };
    let heard = args.shown.sound;
    let match_of = move |screen: &view::Screen| {
        heard.tune(screen.sound());
        play::online(screen, seat, line, &way, None)
    };
    view::run(args.shown.view, &[bindings], match_of).map_err(unseen)?
}

fn local(
    shown: &cli::Shown,
    keys: &cli::Keys,
    keys2: Option<Bindings>,
    round: &cli::Round,
) -> Result<Ending, Failure> {
    let one = keys.keys1.clone().unwrap_or(Bindings::LEFT_HALF);
    let two = keys2.unwrap_or(Bindings::RIGHT_HALF);
    if let Some(key) = one.shares_a_key_with(&two) {
        return Err(unusable(format!("'{key}' is a key of both players")));
    }
    let options = Options {
        seed: round.seed.unwrap_or_else(seed_of_now),
        names: ["Player one".to_owned(), "Player two".to_owned()],
        record: cli::folder(round.record.as_deref()),
        net: shown.net,
        rules: Rules { frames: round.frames, desync_at: None },
        timings: shown.timings,
    };
    let panel = first_screen(&[&one, &two], false);
    let in_haste = shown.in_haste();
    let bindings = [one.clone(), two.clone()];
    let hands = [Hand::Keys(one), Hand::Keys(two)];
    let heard = shown.sound.clone();
    let match_of = move |screen: &view::Screen| {
        heard.tune(screen.sound());
        if !in_haste && !play::wait(screen, &panel, &hands, options.seed, &options.names) {
            return Ending::of([]);
        }
        play::local(screen, &options, hands)
    };
    view::run(shown.view, &bindings, match_of).map_err(unseen)
}

fn bots(args: &cli::Bots) -> Result<Ending, Failure> {
    let seed = args.seed.unwrap_or_else(seed_of_now);
    let rules = Rules { frames: Some(args.frames), desync_at: args.desync };
    let wishes = args.engine.wishes("bot", Some(seed), args.frame_rate, rules).map_err(unusable)?;
    let setting = args.link.setting().map_err(unusable)?;
    let bots = [1, 2].map(|salt| Bot::new(seed ^ salt, args.level.level()));
    let folder = cli::folder(args.record.as_deref());
    play::bots(&wishes, bots, setting, folder.as_deref(), args.json, args.bare)
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

/// The keys, said before the first blow.
fn first_screen(players: &[&Bindings], against_bot: bool) -> Panel {
    let mut lines = Vec::new();
    let labels = if players.len() < 2 { ["your keys"; 2] } else { ["player one", "player two"] };
    for (bindings, label) in players.iter().zip(labels) {
        let [moves, blows] = bindings.lines();
        lines.push((label.to_owned(), moves));
        lines.push((" ".to_owned(), blows));
    }
    let tips = [
        ("block", "hold back; crouch against low blows, stand against jumps"),
        ("special", "a fireball; with down, a rising strike"),
        ("throw", "close up, beats a block; throw back to slip out"),
        ("combo", "light, heavy, special: one into the next"),
        ("F1", "net graph; m mutes"),
    ];
    lines.extend(tips.map(|(label, text)| (label.to_owned(), text.to_owned())));
    if against_bot {
        lines.push(("the link".to_owned(), play::link_keys()));
    }
    Panel { title: "Rebout duel".to_owned(), lines, footer: "press enter to fight, esc to leave".to_owned() }
}

fn seed_of_now() -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (now.subsec_nanos() ^ now.as_secs() as u32).max(1)
}
