//! Reads a desync bundle, and plays its inputs again: `cargo run --example autopsy -- DIR`.
//!
//! Prints the report, then what a clean run of the same inputs has in the first diverging frame, beside what each
//! machine had there. The game is found by the name in the bundle; `--game` overrides it, and `--all` shows the
//! fields that are alike too. `--html FILE` writes the report as a page to look at, `--json FILE` for other programs.
//!
//! Exit code: 0 if the bundle was read and re-run, 1 if it was read but there is no such game here, 2 if not.

use clap::Parser;
use games::duel::Duel;
use games::duel::identity::GAME_ID;
use games::playground::Playground;
use games::swarm::Swarm;
use rebout::lab::bundle::{json, page};
use rebout::net::folder;
use rebout::{Bundle, Game, OwnedLeaf, Player, Rerun, shown, walk};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Reads a desync bundle, and plays its inputs again.
#[derive(Parser)]
#[command(name = "autopsy", version, max_term_width = 100)]
struct Args {
    /// The folder of the bundle.
    dir: PathBuf,
    /// The game to play, if not the one that the bundle names.
    #[arg(long)]
    game: Option<String>,
    /// Show every recorded field, not only those that differ.
    #[arg(long)]
    all: bool,
    /// Write the report as an HTML page to this file.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Link the HTML page to a page that plays replays of the game, such as the duel's.
    #[arg(long, value_name = "URL", requires = "html", value_parser = web_address)]
    viewer: Option<String>,
    /// Write the report as JSON to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Takes the URL of a web page, so that a link runs no script.
fn web_address(text: &str) -> Result<String, String> {
    let is_page = ["http://", "https://"].iter().any(|scheme| text.starts_with(scheme));
    if is_page {
        Ok(text.to_owned())
    } else {
        Err("not a URL that begins with http:// or https://".to_owned())
    }
}

/// A run of a bundle with one game: what came out, and every leaf of the state in which it diverges.
type Run = fn(&Bundle) -> Option<(Rerun, BTreeMap<String, String>)>;

/// The games that can be re-run here, by the name in the bundle.
const GAMES: [(&str, Run); 3] = [
    ("playground", |bundle| run(bundle, Playground::new(bundle.replay().seed)?)),
    ("duel", |bundle| run(bundle, Duel::new(bundle.replay().seed))),
    ("swarm", |bundle| run(bundle, Swarm::new(bundle.replay().seed))),
];

fn run<G: Game>(bundle: &Bundle, mut game: G) -> Option<(Rerun, BTreeMap<String, String>)> {
    // The games here always save their states.
    let rerun = bundle.rerun(&mut game).ok()?;
    let mut leaves = BTreeMap::new();
    walk(&game.snapshot(), |leaf| {
        leaves.insert(leaf.path.to_string(), leaf.shown.to_string());
    });
    Some((rerun, leaves))
}

fn main() -> ExitCode {
    signals::end_on_closed_pipe();
    let args: Args = signals::arguments();
    let mut out = String::new();
    let done = read(&args).and_then(|bundle| examine(&bundle, args.game.as_deref(), args.all, &mut out));
    print!("{out}");
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err((code, reason)) => {
            eprintln!("autopsy: {reason}");
            ExitCode::from(code)
        }
    }
}

/// The reason why there is no more to say, with the exit code for it.
type Refused = (u8, String);

/// Reads the bundle, and writes its report to the files that are asked for.
fn read(args: &Args) -> Result<Bundle, Refused> {
    let refused = |error: &dyn std::error::Error| (2, format!("not a bundle: {error}"));
    let files = folder::read(&args.dir, &Bundle::FILES).map_err(|error| refused(&error))?;
    let bundle = Bundle::read(&files).map_err(|error| refused(&error))?;
    let page = args.html.as_ref().map(|path| (path, page(&bundle, args.viewer.as_deref())));
    let json = args.json.as_ref().map(|path| (path, json(&bundle)));
    for (path, report) in page.into_iter().chain(json) {
        let unwritten = |error| (2, format!("{}: {error}", shown(&path.to_string_lossy())));
        std::fs::write(path, report).map_err(unwritten)?;
    }
    Ok(bundle)
}

/// Writes what there is to say about a bundle.
fn examine(bundle: &Bundle, game: Option<&str>, all: bool, out: &mut String) -> Result<(), Refused> {
    let seed = bundle.replay().seed;
    // Writing to a text cannot fail.
    let _ = writeln!(out, "Desync in {:?}, as {} saw it\n", bundle.game(), bundle.autopsy().local);
    let _ = writeln!(out, "{}", bundle.autopsy());

    let name = game.unwrap_or(bundle.game());
    // An online match names its game by the id.
    let name = if name == format!("{GAME_ID:016x}") { "duel" } else { name };
    let Some((name, run)) = GAMES.iter().find(|(known, _)| *known == name) else {
        let known = GAMES.map(|(known, _)| known).join(", ");
        return Err((1, format!("no game of the name {name:?} to re-run it with; there is: {known}")));
    };
    let Some((rerun, now)) = run(bundle) else {
        return Err((1, format!("{name} has no first state for seed {seed}")));
    };
    let _ = writeln!(out, "clean re-run of {name} from seed {seed}");
    if let Some((frame, checksum)) = rerun.last_match {
        let _ = writeln!(out, "  frame {frame:>6}  checksum {checksum:08X}  the last that matched");
    }
    let (frame, checksum) = rerun.first_divergence;
    let _ = writeln!(out, "  frame {frame:>6}  checksum {checksum:08X}  the first that diverged\n");
    table(bundle, &now, all, out);
    let _ = writeln!(out, "\n{}", conclusion(&rerun));
    Ok(())
}

/// Prints the recorded fields beside those of the re-run.
fn table(bundle: &Bundle, now: &BTreeMap<String, String>, all: bool, out: &mut String) {
    let states = &bundle.autopsy().states;
    let values = |leaves: &[OwnedLeaf]| -> BTreeMap<String, String> {
        leaves.iter().map(|leaf| (leaf.path.clone(), leaf.shown.clone())).collect()
    };
    let [one, two] = [values(&states[0]), values(&states[1])];
    let only_two = states[1].iter().filter(|leaf| !one.contains_key(&leaf.path));
    let rows = states[0].iter().chain(only_two).map(|leaf| {
        // A bundle comes from somebody else: nothing of it reaches the terminal as it is.
        let value = |side: &BTreeMap<String, String>| {
            side.get(&leaf.path).map_or("-".into(), |text| shown(text).into_owned())
        };
        [shown(&leaf.path).into_owned(), value(&one), value(&two), value(now)]
    });
    let rows: Vec<[String; 4]> = rows.filter(|[_, one, two, now]| all || one != two || one != now).collect();
    if rows.is_empty() {
        out.push_str("  no field that was recorded differs\n");
        return;
    }
    let heads = ["field", "player one", "player two", "re-run"].map(str::to_owned);
    let width =
        |column: usize| rows.iter().chain([&heads]).map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths = [0, 1, 2, 3].map(width);
    for row in [&heads].into_iter().chain(&rows) {
        let cells: Vec<String> =
            row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        let _ = writeln!(out, "  {}", cells.join("  ").trim_end());
    }
}

/// Whose state came out.
fn conclusion(rerun: &Rerun) -> &'static str {
    match [Player::One, Player::Two].map(|player| rerun.matches(player)) {
        [Some(true), Some(true)] => "the clean re-run gives what both machines recorded: they do not differ",
        [Some(true), _] => "the clean re-run gives the state of player one's machine",
        [_, Some(true)] => "the clean re-run gives the state of player two's machine",
        [None, None] => "no state was recorded to compare the clean re-run with",
        _ => "the clean re-run gives neither machine's state",
    }
}
