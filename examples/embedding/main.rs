//! The game that `docs/EMBEDDING.md` puts online, with a bot at the keys.
//!
//! `cargo run --example embedding -- host` prints an invite; `cargo run --example embedding -- join INVITE` joins in another
//! terminal. `host RENDEZVOUS` uses a rendezvous, with `--features nat`. `engine INVITE` joins in an engine's loop, `loop` and
//! `loop ADDRESS` host and join bare in a loop on the parts, `offline` plays on one machine, and `test` runs the sync test.

mod engine;
mod modes;
mod offline;
mod online;
mod own_loop;
#[cfg(test)]
mod playback;
#[cfg(test)]
mod saves;
#[cfg(test)]
mod sticks;
mod sync_test;
#[cfg(test)]
mod tests;
mod volley;

use online::Stage;
use rebout::{Buttons, CueChange, CueEvent, Player};
use std::error::Error;
use std::process::ExitCode;
use volley::{DOWN, POINT, UP, Volley};

/// A bot at the keys, and the terminal as the screen.
#[derive(Default)]
struct Terminal {
    said: String,
}

impl Stage for Terminal {
    fn buttons(&mut self, game: &Volley, seat: Player) -> Buttons {
        match game.ball.y - game.paddles[seat.index()] {
            ..-30 => UP,
            31.. => DOWN,
            _ => Buttons::NONE,
        }
    }

    fn cue(&mut self, event: &CueEvent) {
        if event.cue == POINT && event.change == CueChange::Confirm {
            println!("a point in frame {}", event.frame);
        }
    }

    fn say(&mut self, text: &str) {
        if self.said != text {
            println!("{text}");
            text.clone_into(&mut self.said);
        }
    }

    fn draw(&mut self, _: &Volley, _: f32) {}
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("embedding: {error}"); // every error prints as a sentence
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[&str]) -> Result<(), Box<dyn Error>> {
    if let Some(result) = modes::run(args) {
        return result;
    }
    let online = match *args {
        ["host"] => online::open(online::options("Ada"), None)?,
        ["join", invite] => online::open(online::options("Bob"), Some(invite))?,
        ["test"] => return Ok(sync_test::sync_test(5_000)?),
        _ => return Err("usage: host | join INVITE | test".into()),
    };
    println!("{}", online.share()); // the host's invite; empty at a joiner
    println!("{}", online::play(online, &mut Terminal::default())?);
    Ok(())
}
