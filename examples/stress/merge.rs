//! Puts the reports of all shards of a run together.

use crate::cli::links;
use crate::json_reader::Json;
use rebout::lab::stress::{Plan, Row, Tally};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::exit;
use std::time::Duration;

/// Reads the files, prints the report of the whole run, and returns whether all is well. Files that are not all shards of one run
/// end the program like arguments that make no sense.
pub(crate) fn run(files: &[PathBuf], out: &mut impl Write) -> io::Result<bool> {
    match Merged::of(files) {
        Ok(merged) => merged.tell(out),
        Err(why) => {
            let _ = writeln!(io::stderr(), "error: {why}");
            exit(2);
        }
    }
}

struct Merged {
    tally: Tally,
    shards: usize,
    /// Of all machines together.
    seconds: f64,
    failure: Option<String>,
}

impl Merged {
    fn of(files: &[PathBuf]) -> Result<Self, String> {
        let mut reports = Vec::new();
        for path in files {
            let named = |why: String| format!("{}: {why}", path.display());
            let text = std::fs::read_to_string(path).map_err(|error| named(error.to_string()))?;
            let report = Json::parse(&text).map_err(|why| named(format!("no report: {why}")))?;
            let shard = shard_of(&report).map_err(named)?;
            reports.push((shard, path, report));
        }
        reports.sort_by_key(|(shard, ..)| *shard);
        check_whole(&reports)?;
        let (_, first, report) = &reports[0];
        let tally = tally_of(report).map_err(|why| format!("{}: {why}", first.display()))?;
        let mut merged = Self { tally, shards: files.len(), seconds: 0.0, failure: None };
        for (_, path, report) in &reports {
            merged.add(report).map_err(|why| format!("{}: {why}", path.display()))?;
        }
        let rows = &merged.tally.rows;
        merged.tally.unplayed.retain(|name| rows.iter().all(|row| row.name != *name));
        Ok(merged)
    }

    fn add(&mut self, report: &Json) -> Result<(), String> {
        for link in report.list("links")? {
            let name = link.get("link")?.as_text().unwrap_or_default();
            let known = links("all").into_iter().chain(links("corrupting")).map(|(known, _)| known);
            let name =
                known.into_iter().find(|known| *known == name).ok_or(format!("no link is named {name:?}"))?;
            let rows = &mut self.tally.rows;
            let at = rows.iter().position(|row| row.name == name).unwrap_or_else(|| {
                let mut row = Row::default();
                row.name = name;
                rows.push(row);
                rows.len() - 1
            });
            add_link(&mut rows[at], link)?;
        }
        self.tally.failures += report.count("failures")? as u32;
        self.tally.excused += report.count("excused")? as u32;
        if let Json::Number(seconds) = report.get("seconds")? {
            self.seconds += seconds;
        }
        if self.failure.is_none() {
            self.failure = report.get("failure")?.as_text().map(str::to_owned);
        }
        Ok(())
    }

    fn tell(&self, out: &mut impl Write) -> io::Result<bool> {
        write!(out, "{}{}", self.tally.table(), self.tally.summary(None))?;
        writeln!(out, "{} shards, {:.1} s of all machines together", self.shards, self.seconds)?;
        if let Some(failure) = &self.failure {
            write!(io::stderr(), "{failure}")?;
        }
        Ok(self.tally.failures == 0 && self.tally.unplayed.is_empty())
    }
}

/// The number of a shard, and of how many.
fn shard_of(report: &Json) -> Result<(u64, u64), String> {
    let Json::List(shard) = report.get("shard")? else {
        return Err("the report of a whole run, and not of a shard".to_owned());
    };
    match shard[..] {
        [ref number, ref of] => number.as_count().zip(of.as_count()),
        _ => None,
    }
    .ok_or_else(|| "its shard is not two numbers".to_owned())
}

/// Whether these are all shards of one run, each once.
fn check_whole(reports: &[((u64, u64), &PathBuf, Json)]) -> Result<(), String> {
    let ((_, of), first, run) = &reports[0];
    for (shard, path, report) in reports {
        let shown = |path: &Path| path.display().to_string();
        if report.get("run")? != run.get("run")? || shard.1 != *of {
            return Err(format!("{} and {} are parts of different runs", shown(first), shown(path)));
        }
        let same: Vec<_> =
            reports.iter().filter(|(other, ..)| other == shard).map(|(_, path, _)| shown(path)).collect();
        if same.len() > 1 {
            return Err(format!("shard {}/{of} is there more than once: {}", shard.0, same.join(", ")));
        }
    }
    let is_missing = |number: &u64| !reports.iter().any(|((known, _), ..)| known == number);
    let missing: Vec<String> =
        (1..=*of).filter(is_missing).take(20).map(|number| format!("{number}/{of}")).collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("missing shards: {}", missing.join(", "))) }
}

/// The sums before the first shard, with the links of the plan as unplayed.
fn tally_of(report: &Json) -> Result<Tally, String> {
    let run = report.get("run")?;
    let link = run.get("link")?.as_text().unwrap_or_default();
    let without = run.get("without")?.as_text().unwrap_or_default();
    let plan = Plan {
        links: links(link),
        match_frames: run.count("frames")? as u32,
        without: without.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect(),
        ..Plan::default()
    };
    Ok(Tally::of(&plan, std::iter::empty()))
}

fn add_link(row: &mut Row, link: &Json) -> Result<(), String> {
    row.matches += link.count("matches")? as u32;
    row.divergences += link.count("divergences")? as u32;
    row.vacuous += link.count("vacuous")? as u32;
    let figures = &mut row.figures;
    for (sum, name) in [
        (&mut figures.frames, "frames"),
        (&mut figures.stalled, "stalled"),
        (&mut figures.rollbacks, "rollbacks"),
        (&mut figures.resimulated, "resimulated"),
        (&mut figures.bytes, "bytes"),
        (&mut figures.refused, "refused"),
        (&mut figures.checksums, "checksums"),
    ] {
        *sum += link.count(name)?;
    }
    figures.played += Duration::from_nanos(link.count("played_ns")?);
    for (sum, count) in figures.depths.iter_mut().zip(link.list("depths")?) {
        *sum += count.as_count().ok_or("a depth is no whole number")?;
    }
    Ok(())
}
