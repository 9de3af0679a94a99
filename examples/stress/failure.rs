//! The report about a match that failed, and the files that are left behind for its repair.

use crate::cli::Args;
use crate::roster::Subject;
use crate::shrink::{Shrunk, shrink};
use crate::trial::{Case, Keep};
use rebout::Bundle;
use rebout::net::folder;
use rebout::replay::Replay;
use std::error::Error;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A failure, shrunk.
pub(crate) struct Failure {
    game: &'static str,
    pub(crate) case: Case,
    pub(crate) shrunk: Shrunk,
    /// The command that plays the match again as it was, and the shrunk one.
    pub(crate) commands: [String; 2],
}

/// Their names and what is in them.
type Files = Vec<(&'static str, Vec<u8>)>;

impl Failure {
    /// Plays the match again, to see it fail again, and shrinks it.
    pub(crate) fn new(args: &Args, subject: &Subject, case: &Case) -> Self {
        let outcome = subject.play(case, Keep { inputs: true, ..Keep::default() });
        let shrunk = shrink(subject, case, outcome);
        let mut without: Vec<&str> = args.without.iter().map(String::as_str).collect();
        let game = format!("--game {}", subject.name());
        let again = command(&game, case, &without);
        without.extend(&shrunk.without);
        let shrunk_command = command(&game, &shrunk.case, &without);
        Self { game: subject.name(), case: case.clone(), shrunk, commands: [again, shrunk_command] }
    }

    /// Describes the failure, and how to see it again.
    pub(crate) fn describe(&self, out: &mut impl Write) -> io::Result<()> {
        let Some(trouble) = &self.shrunk.outcome.trouble else {
            writeln!(out, "the failure did not come again: the game depends on more than its seed")?;
            return writeln!(out, "  seed {}: {}", self.case.seed, self.commands[0]);
        };
        let place = if self.shrunk.outcome.in_rematch { " (in the second match)" } else { "" };
        writeln!(out, "FAILED on link {}, seed {}{place}: {trouble}", self.case.link_name, self.case.seed)?;
        writeln!(out, "  again:  {}", self.commands[0])?;
        if self.commands[1] != self.commands[0] {
            writeln!(out, "  shrunk: {}", self.commands[1])?;
        }
        for autopsy in self.shrunk.outcome.autopsies.iter().flatten().take(1) {
            for line in autopsy.to_string().lines() {
                writeln!(out, "  {line}")?;
            }
        }
        Ok(())
    }

    /// Leaves behind what is needed to look into it: what was found and how to see it again, and the bundle of the
    /// desync, or the inputs alone if there was none.
    pub(crate) fn write(&self, dir: &Path) -> io::Result<PathBuf> {
        let dir = dir.join(format!("{}-{}", self.case.link_name, self.case.seed));
        let mut report = Vec::new();
        self.describe(&mut report)?;
        let mut files = vec![("failure.txt", report)];
        files.extend(self.bundle().map_err(io::Error::other)?);
        folder::write(&dir, &files).map_err(io::Error::other)?;
        Ok(dir)
    }

    fn bundle(&self) -> Result<Files, Box<dyn Error + Send + Sync>> {
        let outcome = &self.shrunk.outcome;
        let replay = Replay { seed: outcome.game_seed, inputs: outcome.inputs.clone() };
        if let Some(autopsy) = outcome.autopsies.iter().flatten().next() {
            return Ok(Bundle::new(self.game, (**autopsy).clone(), replay)?.files()?);
        }
        if replay.seed == 0 {
            // There was no match.
            return Ok(Vec::new());
        }
        let mut file = Vec::new();
        replay.write(&mut file)?;
        Ok(vec![("match.rplk", file)])
    }
}

/// The command that plays a match again, alone.
pub(crate) fn command(what: &str, case: &Case, without: &[&str]) -> String {
    let mut command = format!(
        "cargo run --release --example stress -- {what} --link {} --seed {} --matches 1 --frames {}",
        case.link_name, case.seed, case.frames
    );
    if !without.is_empty() {
        command += &format!(" --without {}", without.join(","));
    }
    command
}
