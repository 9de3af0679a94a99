//! The sums over all matches, a row for each link.

use crate::trial::{Case, Figures, Outcome, Trouble};

/// One link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) matches: u32,
    pub(crate) divergences: u32,
    pub(crate) vacuous: u32,
    pub(crate) figures: Figures,
}

impl Row {
    /// The depth that so many percent of the rollbacks did not exceed.
    pub(crate) fn depth(&self, percent: u64) -> u32 {
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
    pub(crate) fn stalled_percent(&self) -> f64 {
        let due = self.figures.frames + self.figures.stalled;
        self.figures.stalled as f64 * 100.0 / due.max(1) as f64
    }

    /// The bytes that a machine sends, without the headers of UDP and IP.
    pub(crate) fn bytes_per_s(&self) -> f64 {
        self.figures.bytes as f64 / self.figures.played.as_secs_f64().max(0.001)
    }
}

/// All links.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) rows: Vec<Row>,
    /// Matches that make the run a failure, whatever for.
    pub(crate) failures: u32,
    /// The first of them.
    pub(crate) first_failure: Option<usize>,
    /// Diverged on a link that flips bits, and reported.
    pub(crate) excused: u32,
}

impl Tally {
    pub(crate) fn of<'a>(played: impl Iterator<Item = (&'a Case, &'a Outcome)>) -> Self {
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
            row.divergences += u32::from(diverged(outcome));
            tally.excused += u32::from(outcome.excused);
            if outcome.failed() {
                tally.failures += 1;
                tally.first_failure.get_or_insert(index);
            }
        }
        tally
    }

    /// All rows together.
    pub(crate) fn total(&self) -> Row {
        let mut total = Row { name: "all", ..Row::default() };
        for row in &self.rows {
            total.matches += row.matches;
            total.divergences += row.divergences;
            total.vacuous += row.vacuous;
            total.figures.add(&row.figures);
        }
        total
    }
}

/// Whether the machines of a match differed, or said so.
pub(crate) fn diverged(outcome: &Outcome) -> bool {
    matches!(outcome.trouble, Some(Trouble::Diverged { .. } | Trouble::FalseAlarm { .. }))
}
