//! Hunts desyncs by the million frames: many matches on simulated links, across all cores, with an oracle that knows
//! what should have happened in every frame.
//!
//! ```text
//! stress                                           a thousand matches over all links
//! stress --link wifi --matches 1 --seed 77         one match again
//! stress --plant all                               mistakes on purpose: every one of them has to be found
//! stress --report DIR                              the same, and a page with plots
//! stress --game hidden-cache                       what a failure looks like
//! ```

mod cli;
mod failure;
mod json;
mod page;
mod planting;
mod plants;
mod plot;
mod pool;
mod progress;
mod roster;
mod sample;
mod shrink;
mod subjects;
mod table;
mod tally;
mod trial;

use clap::Parser;
use cli::Args;
use failure::Failure;
use page::Page;
use planting::Planting;
use plants::PLANTS;
use progress::Progress;
use roster::Subject;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tally::Tally;
use trial::{Case, Keep, Outcome};

fn main() -> ExitCode {
    let args = Args::parse();
    match run(&args, &mut io::stdout().lock()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        // Whoever reads this has seen enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::FAILURE,
        Err(error) => {
            let _ = writeln!(io::stderr(), "cannot write the result: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Everything that was played in a run.
struct Played {
    cases: Vec<Case>,
    outcomes: Vec<Outcome>,
    seconds: f64,
}

fn run(args: &Args, out: &mut impl Write) -> io::Result<bool> {
    match &args.plant {
        None => run_game(args, out),
        Some(name) => run_plants(args, name, out),
    }
}

/// Plays so many matches of each of the subjects.
fn play(args: &Args, subjects: &[Subject], matches: u32) -> Played {
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let jobs = args.jobs.map_or_else(cores, usize::from);
    let cases: Vec<Case> = (0..matches).map(|index| roster::case(args, index)).collect();
    let links = cli::links(&args.link).len() as u32;
    let mut progress = Progress::new(matches * subjects.len() as u32);
    let work = |index: u32| {
        let subject = subjects[(index / matches) as usize];
        let sample = args.report.is_some() && index < links;
        subject.play(&cases[(index % matches) as usize], Keep { sample, inputs: false })
    };
    let outcomes = pool::run(jobs, matches * subjects.len() as u32, work, |outcome| progress.show(outcome));
    progress.finish();
    Played { cases, outcomes, seconds: progress.seconds() }
}

fn run_game(args: &Args, out: &mut impl Write) -> io::Result<bool> {
    // The names were checked with the arguments.
    let Some(subject) = Subject::named(&args.game) else { return Ok(false) };
    let played = play(args, &[subject], args.matches.unwrap_or(1_040));
    let tally = Tally::of(played.cases.iter().zip(&played.outcomes));
    let failure = tally.first_failure.map(|index| Failure::new(args, &subject, &played.cases[index]));
    if args.json {
        writeln!(out, "{}", json::object(&tally, None, played.seconds))?;
    } else {
        table::print_links(out, &tally)?;
        summarise(out, &tally, played.seconds)?;
    }
    if let Some(failure) = &failure {
        tell(args, failure)?;
    }
    let is_well = tally.failures == 0;
    write_page(args, &played, &tally, &[], failure.as_ref(), is_well)?;
    Ok(is_well)
}

fn summarise(out: &mut impl Write, tally: &Tally, seconds: f64) -> io::Result<()> {
    let total = tally.total();
    let per_s = total.figures.frames as f64 / seconds.max(1e-6);
    writeln!(
        out,
        "{} matches, {} frames in {seconds:.1} s: {:.2} million frames/s; {} diverged, {} vacuous, {} failed",
        table::grouped(u64::from(total.matches)),
        table::grouped(total.figures.frames),
        per_s / 1e6,
        total.divergences,
        total.vacuous,
        tally.failures,
    )?;
    if tally.excused > 0 {
        writeln!(out, "{} of them on links that flip bits, every one reported", tally.excused)?;
    }
    Ok(())
}

/// Prints a failure, and the place of its files.
fn tell(args: &Args, failure: &Failure) -> io::Result<()> {
    let mut err = io::stderr().lock();
    failure.describe(&mut err)?;
    let dir = args.report.clone().unwrap_or_else(|| Path::new("target").join("stress"));
    let written: PathBuf = failure.write(&dir)?;
    writeln!(err, "  written to {}", written.display())
}

fn run_plants(args: &Args, name: &str, out: &mut impl Write) -> io::Result<bool> {
    let plants: Vec<_> = PLANTS.iter().filter(|plant| name == "all" || plant.name == name).collect();
    let subjects: Vec<Subject> = plants.iter().map(|plant| Subject::Plant(plant)).collect();
    let matches = args.matches.unwrap_or(13);
    let played = play(args, &subjects, matches);
    let per_plant = played.outcomes.chunks(matches as usize);
    let plantings: Vec<Planting> =
        plants.iter().zip(per_plant).map(|(plant, outcomes)| Planting::of(plant, outcomes.iter())).collect();
    let tally = Tally::of(played.cases.iter().cycle().zip(&played.outcomes));
    if args.json {
        writeln!(out, "{}", json::object(&tally, Some(&plantings), played.seconds))?;
    } else {
        table::print_plants(out, &plantings)?;
    }
    let mut err = io::stderr().lock();
    for (planting, plant) in plantings.iter().zip(&plants).filter(|(planting, _)| !planting.is_right()) {
        let Some(wrong) = planting.wrong else { continue };
        let case = &played.cases[wrong as usize];
        writeln!(err, "{}: expected {} and {}, in", plant.name, plant.field, plant.side)?;
        writeln!(err, "  {}", failure::command(&format!("--plant {}", plant.name), case, &[]))?;
    }
    let is_well = plantings.iter().all(|planting| planting.is_caught() && planting.is_right());
    write_page(args, &played, &tally, &plantings, None, is_well)?;
    Ok(is_well)
}

/// Writes the report, if it is wanted.
fn write_page(
    args: &Args,
    played: &Played,
    tally: &Tally,
    plantings: &[Planting],
    failure: Option<&Failure>,
    is_well: bool,
) -> io::Result<()> {
    let Some(dir) = &args.report else { return Ok(()) };
    let (cases, outcomes, seconds) = (&played.cases, &played.outcomes, played.seconds);
    let page = Page { args, tally, seconds, cases, outcomes, plantings, failure, is_well };
    std::fs::create_dir_all(dir)?;
    let path = dir.join("index.html");
    std::fs::write(&path, page.html())?;
    writeln!(io::stderr(), "report: {}", path.display())
}
