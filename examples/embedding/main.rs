//! The game that `docs/EMBEDDING.md` puts online, with a bot at the keys.
//!
//! `cargo run --example embedding -- host`, and in another terminal
//! `cargo run --example embedding -- join 127.0.0.1:7000`. `engine` in place of `join` does the same in a loop that is not the
//! driver's; `offline` plays at one machine, `test` runs the sync test.

mod offline;
mod online;
#[cfg(test)]
mod saves;
#[cfg(test)]
mod sticks;
#[cfg(test)]
mod tests;
mod volley;

use rebout::net::udp::UdpDriver;
use rebout::{Buttons, CueChange, CueEvent, Player};
use std::error::Error;
use volley::{DOWN, UP, Volley};

/// A bot at the keys, and a terminal for a screen.
struct Terminal {
    drawn: u32,
}

impl online::Stage for Terminal {
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
        println!("{text}");
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
    let (bind, host, engine) = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["offline"] => {
            let begun = std::time::Instant::now();
            let played = offline::play_offline(7, &mut Terminal { drawn: 0 }, |until| {
                std::thread::sleep(until.saturating_sub(begun.elapsed()));
                begun.elapsed()
            })?;
            println!("{:?} after {} frames", played.game.points, played.replay.inputs.len());
            return Ok(());
        }
        ["test"] => {
            online::sync_test(5_000)?;
            println!("5,000 frames, every one of them stepped again: no difference");
            return Ok(());
        }
        ["host"] => ("[::]:7000", None, false),
        ["join", addr] => ("[::]:0", Some(addr.parse()?), false),
        ["engine", addr] => ("[::]:0", Some(addr.parse()?), true),
        _ => {
            return Err(
                "usage: embedding host | join ADDRESS:PORT | engine ADDRESS:PORT | offline | test".into()
            );
        }
    };
    let mut udp = UdpDriver::bind(bind.parse()?)?;
    println!("{}", udp.local_addr());
    let lobby = online::meet(&mut udp, online::config("a bot"), host)?;
    if let Some(agreed) = lobby.agreed()? {
        println!("against {}", online::name_of(agreed));
    }
    let mut terminal = Terminal { drawn: 0 };
    let play = if engine { online::play_in_turns } else { online::play };
    let online::Played { verdict, game, replay } = play(&mut udp, lobby, &mut terminal)?;
    println!("{:?} after {} frames, {verdict:?}", game.points, replay.inputs.len());
    Ok(())
}
