//! Rebout beside GGRS 0.13 and Fortress Rollback 0.13: one game, one process, all libraries in turns, with the floors.
//!
//! `cargo run --release -p peers` measures everything, prints the tables as Markdown, writes `target/peers.csv`, and
//! draws the plots of docs/PERFORMANCE.md into `docs/`. `-- links udp` measures those cases alone.
//!
//! Every library is in the loop that it recommends, with the same depth of rollbacks, the same input delay and the same
//! checksums. Before a library is measured, it plays a match whose last state must be that of a direct simulation.

mod cases;
mod clock;
mod figures;
mod heap;
mod libs;
mod link;
mod plot;
mod plots;
mod sim_match;
mod world;

use cases::Effort;
use clap::Parser;
use figures::Figures;
use std::process::ExitCode;

#[global_allocator]
static HEAP: heap::Counting = heap::Counting;

/// Measures rebout beside other rollback libraries.
#[derive(Parser)]
struct Args {
    /// The cases to measure: counts, sync-test, servers, links, blackouts, sessions, states, rollback, largest, udp. All if none is
    /// given.
    cases: Vec<String>,
    /// Seconds of virtual time of each figure of a link.
    #[arg(long, default_value_t = 2_000)]
    seconds: u64,
    /// How often each time is measured.
    #[arg(long, default_value_t = 15)]
    rounds: usize,
    /// Do not write the CSV file and the plots.
    #[arg(long)]
    dry: bool,
    /// Play one load, for a process that is counted.
    #[arg(long, num_args = 5, hide = true)]
    play: Option<Vec<String>>,
}

fn main() -> ExitCode {
    let args = Args::parse();
    if let Some(load) = args.play {
        cases::counts::play(&load);
        return ExitCode::SUCCESS;
    }
    let known = |name: &String| cases::ALL.iter().any(|(case, _)| case == name);
    if let Some(unknown) = args.cases.iter().find(|name| !known(name)) {
        eprintln!("peers: there is no case {unknown:?}");
        return ExitCode::FAILURE;
    }
    let effort = Effort { seconds: args.seconds, rounds: args.rounds };
    let mut figures = Figures::default();
    for (name, run) in cases::ALL {
        if args.cases.is_empty() || args.cases.iter().any(|case| case == name) {
            run(&mut figures, effort);
        }
    }
    println!("{}", figures.tables());
    if args.dry {
        return ExitCode::SUCCESS;
    }
    let written = std::fs::write("target/peers.csv", figures.csv()).and_then(|()| plots::draw(&figures));
    if let Err(error) = written {
        eprintln!("peers: {error} (run it in the root of the workspace)");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
