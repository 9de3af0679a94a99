//! The report of a run: every match, the sums, and the first failure.

use super::case::{Case, Plan};
use super::failure::Failure;
use super::outcome::{Keep, Outcome};
use super::page::{Extras, Page};
use super::tally::Tally;
use std::fmt;

/// The report of a run. Its text is the table of the links, the sums, and the first failure.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// The name of the game.
    pub game: String,
    /// The seed of the run.
    pub seed: u64,
    /// The matches.
    pub cases: Vec<Case>,
    /// The outcome of each.
    pub outcomes: Vec<Outcome>,
    /// The sums.
    pub tally: Tally,
    /// The first failure, shrunk.
    pub failure: Option<Failure>,
}

impl Report {
    /// Sums up matches that were played, and shrinks the first failure; `play` plays a match again.
    pub fn of(
        game: &str,
        plan: &Plan,
        cases: Vec<Case>,
        outcomes: Vec<Outcome>,
        play: impl Fn(&Case, Keep) -> Outcome,
    ) -> Self {
        let mut report = Self::summed(game, plan, cases, outcomes);
        let first = report.tally.first_failure;
        report.failure = first.map(|index| Failure::new(game, &report.cases[index], &play));
        report
    }

    /// Sums up matches that were played, and does not look into failures: for games that are known to have one.
    #[must_use]
    pub fn summed(game: &str, plan: &Plan, cases: Vec<Case>, outcomes: Vec<Outcome>) -> Self {
        let tally = Tally::of(plan, cases.iter().zip(&outcomes));
        Self { game: game.to_owned(), seed: plan.seed, cases, outcomes, tally, failure: None }
    }

    /// Whether every link of the plan was played, no match failed, and none proved nothing.
    #[must_use]
    pub fn is_well(&self) -> bool {
        self.tally.failures == 0 && self.tally.unplayed.is_empty() && !self.cases.is_empty()
    }

    /// The report as an HTML page, with plots of a match on each link. It needs nothing but itself.
    #[must_use]
    pub fn page(&self) -> String {
        self.page_with(Extras::default())
    }

    /// The page, with more than the report knows.
    #[must_use]
    pub fn page_with(&self, extras: Extras<'_>) -> String {
        Page { report: self, extras }.html()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.tally.table(), self.tally.summary(None))?;
        self.failure.as_ref().map_or(Ok(()), |failure| failure.fmt(f))
    }
}
