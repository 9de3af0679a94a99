//! A server and its players.

mod bot;
mod client;
mod connect;
mod serve;
mod silence;

pub use bot::bot;
pub use client::{End, Hosted, InputSource, Seat, play};
pub use connect::{Target, host, join};
pub use serve::{OwnGame, SEATS, Service, serve};
pub use silence::Silence;

use crate::cli::Format;
use rebout::Connection;
use rebout::authority::OverReason;
use std::collections::hash_map::RandomState;
use std::error::Error;
use std::fmt::Write as _;
use std::hash::{BuildHasher, Hasher};
use std::io::Write as _;
use std::time::Duration;

/// The result of anything that can fail with words for the player.
pub type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// Random bits of the operating system, by way of the seeds of the standard library's hasher.
pub fn entropy() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// How lines are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputFormat {
    Words,
    Json,
    /// A view has the terminal.
    Silent,
}

impl OutputFormat {
    /// Prints one line. Whoever reads it from a pipe gets it at once.
    pub fn say(self, event: &str, fields: &[(&str, String)], words: &str) {
        let mut line = String::new();
        match self {
            Self::Silent => return,
            Self::Words => line.push_str(words),
            Self::Json => {
                let _ = write!(line, "{{\"event\":\"{event}\"");
                for (name, value) in fields {
                    let quote = if value.parse::<f64>().is_err() { "\"" } else { "" };
                    let _ = write!(line, ",\"{name}\":{quote}{value}{quote}");
                }
                line.push('}');
            }
        }
        let mut out = std::io::stdout().lock();
        // A reader that has seen enough closes the pipe; that is no failure.
        let _ = writeln!(out, "{line}").and_then(|()| out.flush());
    }
}

/// Words for the end of a game, with what the player can do about it. `waited` is how long an answer was waited for.
fn words_for(reason: OverReason, wire: Option<Format>, connection: &Connection, waited: Duration) -> String {
    let mismatch = match wire {
        Some(wire) => format!("another wire than {}: try --wire {}", wire.name(), wire.other().name()),
        None => "neither rtype nor game".to_owned(),
    };
    match reason {
        OverReason::NoAnswer if connection.is_encrypted() && connection.stats().connections == 0 => {
            connection.no_answer(waited).to_string()
        }
        OverReason::NoAnswer if connection.is_encrypted() => {
            format!("the server is there, but it speaks {mismatch}")
        }
        OverReason::NoAnswer => format!(
            "{reason} It may also speak {mismatch}. A server that encrypts is joined by its invite, without --bare"
        ),
        OverReason::Full => format!("{reason}: four play already, or no room is left. Try again later"),
        _ => reason.to_string(),
    }
}
