//! Reads a desync bundle, and plays its inputs again: `cargo run --example autopsy -- DIR`.
//!
//! Prints the report, then what a clean run of the same inputs has in the first diverging frame, beside what each
//! machine had there. The game is found by the name in the bundle; `--game` overrides it, and `--all` shows the
//! fields that are alike too.
//!
//! Exit code: 0 if the bundle was read and re-run, 1 if it was read but there is no such game here, 2 if not.

#[path = "playground/sim.rs"]
#[allow(dead_code)]
mod sim;

use clap::Parser;
use rebout::net::folder;
use rebout::{Bundle, Game, OwnedLeaf, Player, Rerun, walk};
use sim::Playground;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

/// Reads a desync bundle, and plays its inputs again.
#[derive(Parser)]
struct Args {
    /// The folder of the bundle.
    dir: PathBuf,
    /// The game to play, if not the one that the bundle names.
    #[arg(long)]
    game: Option<String>,
    /// Show every recorded field, not only those that differ.
    #[arg(long)]
    all: bool,
}

/// A run of a bundle with one game: what came out, and every leaf of the state in which it diverges.
type Run = fn(&Bundle) -> Option<(Rerun, BTreeMap<String, String>)>;

/// The games that can be re-run here, by the name in the bundle.
const GAMES: [(&str, Run); 1] =
    [("playground", |bundle| run(bundle, Playground::new(bundle.replay().seed)?))];

fn run<G: Game>(bundle: &Bundle, mut game: G) -> Option<(Rerun, BTreeMap<String, String>)> {
    let rerun = bundle.rerun(&mut game);
    let mut leaves = BTreeMap::new();
    walk(&game.snapshot(), |leaf| {
        leaves.insert(leaf.path.to_string(), leaf.shown.to_string());
    });
    Some((rerun, leaves))
}

fn main() -> ExitCode {
    let args = Args::parse();
    let files = match folder::read(&args.dir, &Bundle::FILES) {
        Ok(files) => files,
        Err(error) => return refuse(&error),
    };
    let bundle = match Bundle::read(&files) {
        Ok(bundle) => bundle,
        Err(error) => return refuse(&error),
    };
    println!("Desync in {:?}, as {} saw it\n", bundle.game(), bundle.autopsy().local);
    print!("{}", bundle.autopsy());

    let name = args.game.as_deref().unwrap_or(bundle.game());
    let Some((name, run)) = GAMES.iter().find(|(known, _)| *known == name) else {
        let known = GAMES.map(|(known, _)| known).join(", ");
        eprintln!("\nno game of the name {name:?} to re-run it with; there is: {known}");
        return ExitCode::from(1);
    };
    let Some((rerun, now)) = run(&bundle) else {
        eprintln!("\n{name} has no first state for seed {}", bundle.replay().seed);
        return ExitCode::from(1);
    };
    println!("\nclean re-run of {name} from seed {}", bundle.replay().seed);
    if let Some((frame, checksum)) = rerun.last_match {
        println!("  frame {frame:>6}  checksum {checksum:08X}  the last that matched");
    }
    let (frame, checksum) = rerun.first_divergence;
    println!("  frame {frame:>6}  checksum {checksum:08X}  the first that diverged\n");
    table(&bundle, &now, args.all);
    println!("\n{}", conclusion(&rerun));
    ExitCode::SUCCESS
}

fn refuse(error: &dyn std::error::Error) -> ExitCode {
    eprintln!("not a bundle: {error}");
    ExitCode::from(2)
}

/// The recorded fields beside those of the re-run.
fn table(bundle: &Bundle, now: &BTreeMap<String, String>, all: bool) {
    let [one, two] = &bundle.autopsy().states;
    let find = |leaves: &[OwnedLeaf], path: &str| {
        leaves.iter().find(|leaf| leaf.path == path).map_or("-".to_owned(), |leaf| leaf.shown.clone())
    };
    let mut paths: Vec<&str> = one.iter().map(|leaf| leaf.path.as_str()).collect();
    paths.extend(two.iter().map(|leaf| leaf.path.as_str()).filter(|path| find(one, path) == "-"));
    let rows = paths.into_iter().map(|path| {
        let now = now.get(path).map_or("-", String::as_str).to_owned();
        [path.to_owned(), find(one, path), find(two, path), now]
    });
    let rows: Vec<[String; 4]> = rows.filter(|[_, one, two, now]| all || one != two || one != now).collect();
    if rows.is_empty() {
        println!("  no field that was recorded differs");
        return;
    }
    let heads = ["field", "player one", "player two", "re-run"].map(str::to_owned);
    let width =
        |column: usize| rows.iter().chain([&heads]).map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths = [0, 1, 2, 3].map(width);
    for row in [&heads].into_iter().chain(&rows) {
        let cells: Vec<String> =
            row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        println!("  {}", cells.join("  ").trim_end());
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
