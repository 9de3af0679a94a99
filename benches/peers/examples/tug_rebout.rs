//! A tug of war on Rebout, for `docs/MIGRATING.md`: `tug_ggrs.rs` is the same game on GGRS. Run it without an argument to host,
//! and with the invite that it prints to join.

use rebout::{Buttons, Cues, Game, Inputs, Now, Online, Options, Player, fields};
use std::error::Error;

const PULL: Buttons = Buttons(1);

#[derive(Clone, Copy)]
struct Tug {
    rope: i32,
    held: [bool; 2],
    frames: u32,
}
fields!(Tug { rope, held, frames }); // saving, loading, the checksum, and the names in a desync report

impl Game for Tug {
    fn step(&mut self, inputs: Inputs, _: &mut Cues) {
        for player in Player::BOTH {
            let pulls = inputs[player].holds(PULL);
            let pressed = pulls && !self.held[player.index()];
            self.rope += i32::from(pressed) * [-1, 1][player.index()];
            self.held[player.index()] = pulls;
        }
        self.frames += 1;
    }

    fn finished(&self) -> bool {
        self.frames == 600
    }
}

fn play(mut online: Online<Tug>) -> Result<i32, Box<dyn Error>> {
    let mut game = Tug { rope: 0, held: [false; 2], frames: 0 };
    loop {
        match online.wait()? {
            Now::Begin { .. } => online.start(&game),
            Now::Frame => {
                let buttons = read_keys(online.local(), game.frames);
                online.advance(&mut game, buttons);
            }
            Now::Notice(text) => eprintln!("{text}"),
            Now::Finished(finish) => {
                println!("{finish}");
                return Ok(game.rope);
            }
            _ => {}
        }
    }
}

/// Keys of a player who presses every few frames.
fn read_keys(me: Option<Player>, frame: u32) -> Buttons {
    let every = me.map_or(5, |player| [5, 7][player.index()]);
    if frame.is_multiple_of(every) { PULL } else { Buttons::NONE }
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::new(0x54_7567, 1).bundles_to("desyncs");
    let online = match std::env::args().nth(1) {
        Some(invite) => Online::join(options, &invite)?,
        None => {
            let host = Online::host(options)?;
            println!("{}", host.share()); // the invite, for the other player
            host
        }
    };
    println!("the rope is at {}", play(online)?);
    Ok(())
}
