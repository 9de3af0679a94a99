//! How far the run is: a bar on a terminal, a line now and then elsewhere.

use rebout::lab::stress::Outcome;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

const WIDTH: u64 = 30;

pub(crate) struct Progress {
    of: u32,
    done: u32,
    frames: u64,
    divergences: u32,
    since: Instant,
    shown_at: Instant,
    tenths: u64,
    terminal: bool,
}

impl Progress {
    pub(crate) fn new(of: u32) -> Self {
        let now = Instant::now();
        let terminal = io::stderr().is_terminal();
        Self { of, done: 0, frames: 0, divergences: 0, since: now, shown_at: now, tenths: 0, terminal }
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.since.elapsed().as_secs_f64()
    }

    /// Takes in a match, if there is one, and shows how far things are.
    pub(crate) fn show(&mut self, outcome: Option<&Outcome>) {
        if let Some(outcome) = outcome {
            self.done += 1;
            self.frames += outcome.figures.frames;
            self.divergences += u32::from(outcome.diverged());
        }
        let done = u64::from(self.done);
        let of = u64::from(self.of.max(1));
        if self.terminal {
            if self.done == self.of || self.shown_at.elapsed() >= Duration::from_millis(100) {
                self.shown_at = Instant::now();
                let filled = (done * WIDTH / of) as usize;
                let bar: String = (0..WIDTH as usize).map(|at| if at < filled { '█' } else { '░' }).collect();
                // The rest of the line is cleared: the last one may have been longer.
                let _ = write!(io::stderr(), "\r{bar} {}\x1b[K", self.text());
            }
        } else if done * 10 / of > self.tenths {
            self.tenths = done * 10 / of;
            let _ = writeln!(io::stderr(), "{}", self.text());
        }
    }

    /// Leaves the line of the bar.
    pub(crate) fn finish(&self) {
        if self.terminal {
            let _ = writeln!(io::stderr());
        }
    }

    fn text(&self) -> String {
        let per_s = self.frames as f64 / self.seconds().max(1e-6);
        format!(
            "{} of {} matches, {:.2} million frames/s, {} diverged",
            self.done,
            self.of,
            per_s / 1e6,
            self.divergences
        )
    }
}
