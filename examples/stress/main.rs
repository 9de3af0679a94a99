//! Hunts desyncs by the million frames: many matches on simulated links, across all cores, with an oracle that knows
//! what should have happened in every frame.
//!
//! ```text
//! stress                                           a thousand matches over all links
//! stress --link wifi --matches 1 --seed 77         one match again
//! stress --plant all                               mistakes on purpose: every one of them has to be found
//! stress --report DIR                              the same, and a page with plots
//! stress --shard 1/4 --json >one.json              a quarter of a run, for one of four machines
//! stress --merge one.json two.json ...             the report of the whole run
//! stress --game hidden-cache                       what a failure looks like
//! ```

mod cli;
mod json;
mod json_reader;
mod merge;
mod planting;
mod plants;
mod pool;
mod progress;
mod roster;
mod subjects;
#[cfg(feature = "nat")]
mod turn;

use cli::Args;
use planting::Planting;
use plants::PLANTS;
use progress::Progress;
use rebout::lab::stress::{Case, Extras, Failure, Keep, Outcome, Report};
use rebout::net::folder;
use roster::Subject;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = Args::of_program();
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
    if !args.merge.is_empty() {
        return merge::run(&args.merge, out);
    }
    match &args.plant {
        None => run_game(args, out),
        Some(name) => run_plants(args, name, out),
    }
}

/// Plays so many matches of each of the subjects.
fn play(args: &Args, subjects: &[Subject], matches: u32) -> Played {
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let jobs = args.jobs.map_or_else(cores, usize::from);
    let cases = roster::cases(args, matches);
    let matches = cases.len() as u32;
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
    let Played { cases, outcomes, seconds } =
        play(args, &[subject], args.matches.unwrap_or(cli::USUAL_MATCHES));
    let play = |case: &Case, keep| subject.play(case, keep);
    let mut report = Report::of(subject.name(), &roster::plan(args), cases, outcomes, play);
    if args.shard.is_some() {
        // Whether every link was played is known when the shards are put together.
        report.tally.unplayed.clear();
    }
    let described = report.failure.as_ref().map(describe);
    if args.json {
        let run = json::Run { args, failure: described.as_deref() };
        writeln!(out, "{}", json::object(&report.tally, Some(run), None, seconds))?;
    } else {
        write!(out, "{}{}", report.tally.table(), report.tally.summary(Some(seconds)))?;
    }
    if let (Some(failure), Some(text)) = (&report.failure, &described) {
        tell(args, failure, text)?;
    }
    let extras = Extras { seconds: Some(seconds), failure: described.as_deref(), ..Extras::default() };
    write_page(args, &report, extras)?;
    Ok(if args.shard.is_some() { report.tally.failures == 0 } else { report.is_well() })
}

fn run_plants(args: &Args, name: &str, out: &mut impl Write) -> io::Result<bool> {
    let plants: Vec<_> = PLANTS.iter().filter(|plant| name == "all" || plant.name == name).collect();
    let subjects: Vec<Subject> = plants.iter().map(|plant| Subject::Plant(plant)).collect();
    let matches = args.matches.unwrap_or(13);
    let Played { cases, outcomes, seconds } = play(args, &subjects, matches);
    let per_plant = outcomes.chunks(matches as usize);
    let plantings: Vec<Planting> =
        plants.iter().zip(per_plant).map(|(plant, outcomes)| Planting::of(plant, outcomes.iter())).collect();
    let cases = cases.iter().cycle().take(outcomes.len()).cloned().collect();
    let report = Report::summed(&format!("planted: {name}"), &roster::plan(args), cases, outcomes);
    if args.json {
        writeln!(out, "{}", json::object(&report.tally, None, Some(&plantings), seconds))?;
    } else {
        write!(out, "{}", planting::table(&plantings))?;
    }
    let mut err = io::stderr().lock();
    for (planting, plant) in plantings.iter().zip(&plants).filter(|(planting, _)| !planting.is_right()) {
        let Some(wrong) = planting.wrong else { continue };
        writeln!(err, "{}: expected {} and {}, in", plant.name, plant.field, plant.side)?;
        writeln!(err, "  {}", command(&format!("--plant {}", plant.name), &report.cases[wrong as usize]))?;
    }
    let is_well = plantings.iter().all(|planting| planting.is_caught() && planting.is_right());
    let section = planting::section(&plantings);
    let extras =
        Extras { seconds: Some(seconds), is_well: Some(is_well), section: &section, ..Extras::default() };
    write_page(args, &report, extras)?;
    Ok(is_well)
}

/// The command that plays a match again, alone.
fn command(what: &str, case: &Case) -> String {
    let mut command = format!(
        "cargo run --release --example stress -- {what} --link {} --seed {} --matches 1 --frames {}",
        case.link_name, case.seed, case.frames
    );
    if !case.without.is_empty() {
        command += &format!(" --without {}", case.without.join(","));
    }
    #[cfg(feature = "seal")]
    {
        command += if case.sealed { " --sealed" } else { "" };
    }
    case.conditions.iter().for_each(|condition| command += &format!(" --{}", condition.name()));
    command
}

fn describe(failure: &Failure) -> String {
    let game = |case: &Case| if failure.game == "all" { roster::game_of(case).name } else { &failure.game };
    failure.describe(|case| command(&format!("--game {}", game(case)), case))
}

/// Prints a failure, and leaves its files behind: what was found and how to see it again, and the bundle of the desync,
/// or the inputs alone if there was none.
fn tell(args: &Args, failure: &Failure, text: &str) -> io::Result<()> {
    let mut err = io::stderr().lock();
    write!(err, "{text}")?;
    let dir = args.report.clone().unwrap_or_else(|| Path::new("target").join("stress"));
    let dir: PathBuf = dir.join(format!("{}-{}", failure.case.link_name, failure.case.seed));
    let mut files = vec![("failure.txt", text.as_bytes().to_vec())];
    files.extend(failure.files().map_err(io::Error::other)?);
    folder::write(&dir, &files).map_err(io::Error::other)?;
    writeln!(err, "  written to {}", dir.display())
}

/// Writes the page, if it is wanted.
fn write_page(args: &Args, report: &Report, extras: Extras<'_>) -> io::Result<()> {
    let Some(dir) = &args.report else { return Ok(()) };
    std::fs::create_dir_all(dir)?;
    let path = dir.join("index.html");
    std::fs::write(&path, report.page_with(extras))?;
    writeln!(io::stderr(), "report: {}", path.display())
}
