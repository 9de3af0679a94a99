//! The sums over all matches, a row for each link.

use super::case::{Case, Plan};
use super::outcome::{Figures, Outcome, Trouble};
use crate::lab::text::{columns, grouped};
use std::fmt::Write;

/// The columns of the table.
pub(super) const COLUMNS: [&str; 9] =
    ["link", "matches", "frames", "rollbacks", "depth p50", "p99", "stalled %", "bytes/s", "refused"];

/// One link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Row {
    /// The name of the link.
    pub name: &'static str,
    /// Matches played; rematches are not counted.
    pub matches: u32,
    /// Matches whose machines differed, or said so.
    pub divergences: u32,
    /// Matches that proved nothing.
    pub vacuous: u32,
    /// The sums of their figures.
    pub figures: Figures,
}

impl Row {
    /// The depth that so many percent of the rollbacks did not exceed.
    #[must_use]
    pub fn depth(&self, percent: u64) -> u32 {
        let wanted = (self.figures.rollbacks * percent).div_ceil(100).max(1);
        let mut seen = 0;
        for (depth, count) in self.figures.depths.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return depth as u32;
            }
        }
        0
    }

    /// How many of the frames that were due had to wait.
    #[must_use]
    pub fn stalled_percent(&self) -> f64 {
        let due = self.figures.frames + self.figures.stalled;
        self.figures.stalled as f64 * 100.0 / due.max(1) as f64
    }

    /// The bytes that a machine sends, without the headers of UDP and IP.
    #[must_use]
    pub fn bytes_per_s(&self) -> f64 {
        self.figures.bytes as f64 / self.figures.played.as_secs_f64().max(0.001)
    }

    /// The link in the columns of the table.
    pub(super) fn cells(&self) -> [String; 9] {
        [
            self.name.to_owned(),
            grouped(u64::from(self.matches)),
            grouped(self.figures.frames),
            grouped(self.figures.rollbacks),
            self.depth(50).to_string(),
            self.depth(99).to_string(),
            format!("{:.2}", self.stalled_percent()),
            grouped(self.bytes_per_s().round() as u64),
            grouped(self.figures.refused),
        ]
    }
}

/// All links.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Tally {
    /// A row for each link, in the order of their first match.
    pub rows: Vec<Row>,
    /// Matches that make the run a failure, whatever for.
    pub failures: u32,
    /// The first of them.
    pub first_failure: Option<usize>,
    /// Diverged on a link that flips bits, or too slow on a narrow one with roaming, and reported.
    pub excused: u32,
    /// The links of the plan on which no match was played, because the run was too short.
    pub unplayed: Vec<&'static str>,
    /// How many frames one match on each link of the plan takes.
    pub round_frames: u64,
}

impl Tally {
    /// The sums of these matches of a plan.
    pub fn of<'a>(plan: &Plan, played: impl Iterator<Item = (&'a Case, &'a Outcome)>) -> Self {
        let mut tally = Self::default();
        for (index, (case, outcome)) in played.enumerate() {
            let at = tally.rows.iter().position(|row| row.name == case.link_name).unwrap_or_else(|| {
                tally.rows.push(Row { name: case.link_name, ..Row::default() });
                tally.rows.len() - 1
            });
            let row = &mut tally.rows[at];
            row.matches += 1;
            row.figures.add(&outcome.figures);
            row.vacuous += u32::from(matches!(outcome.trouble, Some(Trouble::Vacuous { .. })));
            row.divergences += u32::from(outcome.diverged());
            tally.excused += u32::from(outcome.excused);
            if outcome.failed() {
                tally.failures += 1;
                tally.first_failure.get_or_insert(index);
            }
        }
        let names = plan.links.iter().map(|(name, _)| *name);
        tally.unplayed = names.filter(|name| tally.rows.iter().all(|row| row.name != *name)).collect();
        tally.round_frames = plan.frames_each() * plan.links.len() as u64;
        tally
    }

    /// All rows together.
    #[must_use]
    pub fn total(&self) -> Row {
        let mut total = Row { name: "all", ..Row::default() };
        for row in &self.rows {
            total.matches += row.matches;
            total.divergences += row.divergences;
            total.vacuous += row.vacuous;
            total.figures.add(&row.figures);
        }
        total
    }

    /// A table of the links, for people.
    #[must_use]
    pub fn table(&self) -> String {
        let mut rows: Vec<Vec<String>> = vec![COLUMNS.iter().map(|&name| name.to_owned()).collect()];
        rows.extend(self.rows.iter().map(|row| row.cells().to_vec()));
        if self.rows.len() > 1 {
            rows.push(self.total().cells().to_vec());
        }
        columns(&rows, 1)
    }

    /// The sums in a line or two; with the speed, if it is known how many seconds the run took.
    #[must_use]
    pub fn summary(&self, seconds: Option<f64>) -> String {
        let total = self.total();
        let mut text = format!(
            "{} matches, {} frames",
            grouped(u64::from(total.matches)),
            grouped(total.figures.frames)
        );
        if let Some(seconds) = seconds {
            let per_s = total.figures.frames as f64 / seconds.max(1e-6);
            let _ = write!(text, " in {seconds:.1} s: {:.2} million frames/s", per_s / 1e6);
        }
        let _ = writeln!(
            text,
            "; {} diverged, {} vacuous, {} failed",
            total.divergences, total.vacuous, self.failures
        );
        if self.excused > 0 {
            let _ = writeln!(
                text,
                "{} of them excused, every one reported: on links that flip bits, or too narrow to roam on",
                self.excused
            );
        }
        if !self.unplayed.is_empty() {
            let _ = writeln!(
                text,
                "NOT PLAYED, the run was too short: {}; one match on each link takes {} frames",
                self.unplayed.join(", "),
                grouped(self.round_frames)
            );
        }
        text
    }
}
