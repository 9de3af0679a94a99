//! What is told of a match that failed, and what is left behind for whoever has to mend it.

use crate::cli::Args;
use crate::roster::Subject;
use crate::shrink::{Shrunk, shrink};
use crate::trial::{Case, Keep};
use rebout::replay::Replay;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A failure, shrunk.
pub(crate) struct Failure {
    pub(crate) case: Case,
    pub(crate) shrunk: Shrunk,
    /// The command that plays the match again as it was, and the shrunk one.
    pub(crate) commands: [String; 2],
}

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
        Self { case: case.clone(), shrunk, commands: [again, shrunk_command] }
    }

    /// What went wrong, and how to see it again.
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

    /// Leaves behind what is needed to look into it: what was found, how to see it again, and the inputs as a replay.
    pub(crate) fn write(&self, dir: &Path) -> io::Result<PathBuf> {
        let dir = dir.join(format!("{}-{}", self.case.link_name, self.case.seed));
        fs::create_dir_all(&dir)?;
        let mut report = BufWriter::new(File::create(dir.join("failure.txt"))?);
        self.describe(&mut report)?;
        report.flush()?;
        let replay =
            Replay { seed: self.shrunk.outcome.game_seed, inputs: self.shrunk.outcome.inputs.clone() };
        if replay.seed != 0 {
            let mut file = BufWriter::new(File::create(dir.join("match.rplk"))?);
            replay.write(&mut file).map_err(|error| io::Error::other(error.to_string()))?;
            file.flush()?;
        }
        Ok(dir)
    }
}

/// What plays a match again, alone.
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
