//! The game that `docs/EMBEDDING.md` puts online, with a bot at the keys.
//!
//! `cargo run --example embedding -- host` prints an invite; in another terminal `cargo run --example embedding -- join INVITE`
//! joins by it. `host RENDEZVOUS` meets the other player there, with `--features nat`. `engine INVITE` joins in the loop of
//! an engine, `loop` and `loop ADDRESS` host and join bare in a loop on the parts; `offline` plays at one machine, `test` runs
//! the sync test.

mod engine;
mod offline;
mod online;
mod own_loop;
#[cfg(test)]
mod saves;
mod stage;
#[cfg(test)]
mod sticks;
mod sync_test;
#[cfg(test)]
mod tests;
mod volley;

use rebout::{Buttons, ConnectOptions, Connection, CueChange, CueEvent, Player};
use std::error::Error;
use volley::{DOWN, UP, Volley};

/// A bot at the keys, and a terminal for a screen.
#[derive(Default)]
struct Terminal {
    drawn: u32,
    said: String,
}

impl stage::Stage for Terminal {
    /// Follows the ball, not always in time.
    fn buttons(&mut self, game: &Volley, seat: Player) -> Buttons {
        match game.ball.y - game.paddles[seat.index()] {
            ..-30 => UP,
            31.. => DOWN,
            _ => Buttons::NONE,
        }
    }

    fn cue(&mut self, event: &CueEvent) {
        if let CueChange::Confirm = event.change
            && event.cue == volley::POINT
        {
            println!("a point in frame {}", event.frame);
        }
    }

    fn say(&mut self, text: &str) {
        if self.said != text {
            println!("{text}");
            text.clone_into(&mut self.said);
        }
    }

    fn draw(&mut self, game: &Volley, _: f32) {
        self.drawn += 1;
        if self.drawn.is_multiple_of(60) {
            println!("ball at {}, {}; {:?}", game.ball.x, game.ball.y, game.points);
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let mut terminal = Terminal::default();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["host"] => play(online::open(online::options("Ada"), None)?, &mut terminal),
        ["host", rendezvous] => {
            play(online::open(online::options("Ada").rendezvous(rendezvous), None)?, &mut terminal)
        }
        ["join", text] => play(online::open(online::options("Bob"), Some(text))?, &mut terminal),
        ["engine", text] => {
            let (mut online, mut game) = (online::open(online::options("Bob"), Some(text))?, None);
            let finish = loop {
                if let Some(finish) = engine::turn(&mut online, &mut game, &mut terminal)? {
                    break finish;
                }
                std::thread::sleep(std::time::Duration::from_millis(4)); // the engine's other work
            };
            println!("{finish}");
            Ok(online.close()?)
        }
        ["loop"] => own_loop(Connection::host(&ConnectOptions::new().bare().port(7000))?, &mut terminal),
        ["loop", addr] => own_loop(Connection::join(&ConnectOptions::new().bare(), addr)?, &mut terminal),
        ["offline"] => {
            let begun = std::time::Instant::now();
            let played = offline::play_offline(7, &mut terminal, |until| {
                std::thread::sleep(until.saturating_sub(begun.elapsed()));
                begun.elapsed()
            })?;
            println!("{:?} after {} frames", played.game.points, played.replay.inputs.len());
            Ok(())
        }
        ["test"] => {
            sync_test::sync_test(5_000)?;
            println!("5,000 frames, every one of them stepped again: no difference");
            Ok(())
        }
        _ => Err(
            "usage: embedding host [RENDEZVOUS] | join TEXT | engine TEXT | loop [ADDRESS] | offline | test"
                .into(),
        ),
    }
}

fn play(online: rebout::Online<volley::Volley>, terminal: &mut Terminal) -> Result<(), Box<dyn Error>> {
    println!("{}", online.share()); // a host's invite, for the other player and nobody else
    println!("{}", online::play(online, terminal)?);
    Ok(())
}

fn own_loop(mut connection: Connection, terminal: &mut Terminal) -> Result<(), Box<dyn Error>> {
    println!("{}", connection.share());
    let lobby = own_loop::meet(&mut connection, own_loop::config("a bot"))?;
    if let Some(agreed) = lobby.agreed()? {
        println!("against {}", own_loop::name_of(agreed));
    }
    let own_loop::Played { verdict, game, replay } = own_loop::play(&mut connection, lobby, terminal)?;
    println!("{:?} after {} frames, {verdict:?}", game.points, replay.inputs.len());
    Ok(())
}
