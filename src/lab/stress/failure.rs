//! A match that failed, shrunk, with everything that is needed to look into it.

use super::case::Case;
use super::outcome::{Keep, Outcome};
use super::shrink::{Player, Shrunk, shrink};
use crate::lab::bundle::page;
use crate::replay::{Replay, WriteError};
use crate::{Autopsy, Bundle, BundleError};
use std::fmt::{self, Write};

/// The files that are kept of a failure: their names and their bytes.
pub type Files = Vec<(&'static str, Vec<u8>)>;

/// A failure, as small as it still happens.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Failure {
    /// The name of the game.
    pub game: String,
    /// The match that failed.
    pub case: Case,
    /// The shrunk match.
    pub shrunk: Case,
    /// The outcome of the shrunk match, with its inputs.
    pub outcome: Outcome,
}

impl Failure {
    /// Plays the match again, to see it fail again, and shrinks it.
    pub(super) fn new(game: &str, case: &Case, play: Player<'_>) -> Self {
        let outcome = play(case, Keep { inputs: true, ..Keep::default() });
        let Shrunk { case: shrunk, outcome } = shrink(play, case, outcome);
        Self { game: game.to_owned(), case: case.clone(), shrunk, outcome }
    }

    /// The report of the two machines about the desync, if there was one.
    #[must_use]
    pub fn autopsy(&self) -> Option<&Autopsy> {
        self.outcome.autopsy()
    }

    /// The seed and the inputs of the shrunk match; `None` if the machines never met.
    #[must_use]
    pub fn replay(&self) -> Option<Replay> {
        let Outcome { game_seed: seed, inputs, .. } = &self.outcome;
        (*seed != 0).then(|| Replay { seed: *seed, inputs: inputs.clone(), ..Replay::default() })
    }

    /// The bundle of the desync as files with its page, for [`folder::write`](crate::net::folder::write); the replay alone if there was
    /// no desync, and nothing if there was no match.
    ///
    /// # Errors
    /// If the game's name or the match does not fit the formats.
    pub fn files(&self) -> Result<Files, FilesError> {
        let Some(replay) = self.replay() else { return Ok(Vec::new()) };
        if let Some(autopsy) = self.autopsy() {
            let bundle = Bundle::new(&self.game, autopsy.clone(), replay).map_err(FilesError::Bundle)?;
            let mut files = bundle.files().map_err(FilesError::Bundle)?;
            files.push(("report.html", page(&bundle, None).into_bytes()));
            return Ok(files);
        }
        Ok(vec![("match.rplk", replay.to_file().map_err(FilesError::Replay)?)])
    }

    /// Describes the failure. `again` says how to play a match again.
    #[must_use]
    pub fn describe(&self, again: impl Fn(&Case) -> String) -> String {
        let [whole, shrunk] = [again(&self.case), again(&self.shrunk)];
        let mut text = String::new();
        // Writing to memory does not fail.
        let _ = self.write(&mut text, &whole, &shrunk);
        text
    }

    fn write(&self, out: &mut impl Write, whole: &str, shrunk: &str) -> fmt::Result {
        let Case { seed, link_name, .. } = &self.case;
        let Some(trouble) = &self.outcome.trouble else {
            writeln!(out, "the failure did not come again: the game depends on more than its seed")?;
            return writeln!(out, "  seed {seed}: {whole}");
        };
        let place = if self.outcome.in_rematch { " (in the second match)" } else { "" };
        writeln!(out, "FAILED on link {link_name}, seed {seed}{place}: {trouble}")?;
        writeln!(out, "  again:  {whole}")?;
        if shrunk != whole {
            writeln!(out, "  shrunk: {shrunk}")?;
        }
        for line in self.autopsy().map(ToString::to_string).iter().flat_map(|autopsy| autopsy.lines()) {
            writeln!(out, "  {line}")?;
        }
        Ok(())
    }
}

/// The failure, and the calls of [`Stress::again`](super::Stress::again) that play it again.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let again = |case: &Case| {
            let Case { link_name, seed, frames, without, .. } = case;
            format!(".again({link_name:?}, {seed}, {frames}, &{without:?})")
        };
        f.write_str(&self.describe(again))
    }
}

/// Why a failure cannot be made into files.
#[derive(Debug)]
#[non_exhaustive]
pub enum FilesError {
    /// The bundle of the desync.
    Bundle(BundleError),
    /// The replay.
    Replay(WriteError),
}

impl fmt::Display for FilesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bundle(error) => write!(f, "no bundle: {error}"),
            Self::Replay(error) => write!(f, "no replay: {error}"),
        }
    }
}

impl std::error::Error for FilesError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Bundle(error) => Some(error),
            Self::Replay(error) => Some(error),
        }
    }
}
