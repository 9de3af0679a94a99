//! One very long match on a simulated link, to see whether anything grows: `cargo run --release --example soak`.
//!
//! Two machines play `--frames` frames in virtual time, with loss, jitter, rollbacks, second copies, reports and
//! checksums. After a warm-up nothing may allocate any more, and resident memory may not change by more than 1 %: a
//! container that grew would do either. With `--desync` the machines disagree from the start, make their autopsy, and
//! go on. Exit code 0 only if all is well.

use clap::Parser;
use core::time::Duration;
use games::playground::Playground;
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::{Play, Setup, SimMatch, every_fourth};
use rebout::{Event, Player};
use std::process::ExitCode;
use std::time::Instant;
use support::heap::{Counting, counts};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// One very long match, to see whether anything grows.
#[derive(Parser)]
#[command(name = "soak", version, max_term_width = 100)]
struct Args {
    /// The number of frames that both machines confirm after the warm-up.
    #[arg(long, default_value_t = 10_000_000)]
    frames: u32,
    /// The number of frames before the measurement.
    #[arg(long, default_value_t = 100_000)]
    warm_up: u32,
    /// The seed of all randomness.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The link: `clean` or `lossy`.
    #[arg(long, default_value = "lossy")]
    link: String,
    /// Let the machines disagree from the start, and continue.
    #[arg(long)]
    desync: bool,
}

/// The measurements at a point of the match.
#[derive(Clone, Copy)]
struct Sample {
    frame: u32,
    in_use: u64,
    resident: Option<u64>,
    events: usize,
}

fn sample(sim: &SimMatch<Playground>) -> Sample {
    Sample {
        frame: sim.checked().0,
        in_use: counts().live_bytes,
        resident: resident(),
        events: (0..2).map(|id| sim.machine(id).events.len()).sum(),
    }
}

/// Resident memory in bytes, where the system tells.
fn resident() -> Option<u64> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = pages.split(' ').nth(1)?.parse().ok()?;
    Some(pages * 4096)
}

fn print(sample: &Sample, began: Instant) {
    let resident = sample.resident.map_or("?".to_owned(), |bytes| format!("{} KiB", bytes / 1024));
    println!(
        "frame {:>10}  in use {:>9} B  resident {resident}  {:.1} s",
        sample.frame,
        sample.in_use,
        began.elapsed().as_secs_f64(),
    );
}

fn main() -> ExitCode {
    signals::end_on_closed_pipe();
    let args: Args = signals::arguments();
    let Some(link) = link(&args.link) else {
        eprintln!("soak: no link is called {:?}; use clean or lossy", args.link);
        return ExitCode::from(2);
    };
    let play = Play { build: |seed| Playground::new(seed).expect("a seed is not 0"), script: every_fourth };
    let mut sim = SimMatch::new(Setup::new(args.seed, link), play);
    if args.desync {
        for id in 0..2 {
            sim.world.machine_mut(id).tamper = Some(|game, player| {
                if player == Player::Two {
                    game.fighters[1].cooldown = 1_000;
                }
            });
        }
    }
    let began = Instant::now();
    sim.run_until_frame(args.warm_up);
    let first = sample(&sim);
    print(&first, began);
    let end = args.warm_up.saturating_add(args.frames);
    // To take a sample allocates too, so what is between them is counted apart.
    let mut allocations = 0;
    for tenth in 1..=10 {
        let frame = args.warm_up.saturating_add((u64::from(args.frames) * tenth / 10) as u32);
        let before = counts().calls;
        let reached = sim.run_until_frame(frame);
        allocations += counts().calls - before;
        if !reached {
            break;
        }
        print(&sample(&sim), began);
    }
    let last = sample(&sim);
    judge(&args, &sim, [first, last], (end, allocations), began)
}

/// All figures are one way; the names are those of the other laboratories.
fn link(name: &str) -> Option<LinkConfig> {
    let millis = Duration::from_millis;
    match name {
        "clean" => Some(LinkConfig::clean()),
        "lossy" => Some(LinkConfig {
            loss: Chance::percent(10),
            duplicate: Chance::percent(2),
            jitter: millis(20),
            ..LinkConfig::new(millis(40))
        }),
        _ => None,
    }
}

fn judge(
    args: &Args,
    sim: &SimMatch<Playground>,
    [first, last]: [Sample; 2],
    (end, allocations): (u32, u64),
    began: Instant,
) -> ExitCode {
    let seconds = began.elapsed().as_secs_f64();
    let stats = sim.machine(0).stats();
    println!(
        "{} frames on both machines in {seconds:.1} s: {:.2} million peer-frames a second; {} rollbacks, {} \
         resimulated, {} checksums compared, {} datagrams refused",
        last.frame,
        2.0 * f64::from(last.frame) / seconds / 1e6,
        stats.rollback.rollbacks,
        stats.rollback.resimulated_frames,
        stats.checksums_compared,
        stats.refused.total(),
    );
    let mut faults = Vec::new();
    if last.frame < end {
        faults.push(format!("the match ended at frame {} of {end}", last.frame));
    }
    println!("allocations after the warm-up: {allocations}");
    if allocations > 0 {
        faults.push(format!("{allocations} allocations after the warm-up"));
    }
    if let (Some(before), Some(after)) = (first.resident, last.resident) {
        let growth = (after as f64 / before as f64 - 1.0) * 100.0;
        println!("resident: {} KiB, then {} KiB: {growth:+.2} %", before / 1024, after / 1024);
        if growth.abs() > 1.0 {
            faults.push(format!("resident memory changed by {growth:+.2} %"));
        }
    }
    if last.events != first.events {
        faults.push(format!("{} events after the warm-up", last.events - first.events));
    }
    let autopsies = |id: usize| {
        sim.machine(id).events.iter().filter(|(_, event)| matches!(event, Event::Autopsy(_))).count()
    };
    let expected = usize::from(args.desync);
    if autopsies(0) != expected || autopsies(1) != expected || sim.divergence().is_some() != args.desync {
        faults.push(format!(
            "divergence {:?}, autopsies {} and {}",
            sim.divergence(),
            autopsies(0),
            autopsies(1)
        ));
    }
    for fault in &faults {
        println!("FAULT: {fault}");
    }
    if faults.is_empty() {
        println!("all is well: nothing grew");
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
