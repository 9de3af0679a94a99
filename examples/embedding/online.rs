//! The networking code of `docs/EMBEDDING.md`: an encrypted match by invite, with a recording.

use crate::volley::Volley;
use rebout::{Buttons, ConnectError, CueEvent, Event, Finish, Now, Online, Options, Player, shown};
use std::error::Error;

/// The game's surroundings: keys, sound and screen.
pub(crate) trait Stage {
    fn buttons(&mut self, game: &Volley, seat: Player) -> Buttons;
    fn cue(&mut self, event: &CueEvent);
    fn say(&mut self, text: &str);
    fn draw(&mut self, game: &Volley, phase: f32);
}

/// The id of the game, any number of yours, and a hash of its build, data and rules. Both must be equal on the two machines.
pub(crate) fn options(name: &str) -> Options {
    Options::new(0x566F_6C6C_6579, 1).name(name).record_to("replays").bundles_to("desyncs")
}

/// Hosts, or joins by the host's invite.
pub(crate) fn open(options: Options, invite: Option<&str>) -> Result<Online<Volley>, ConnectError> {
    match invite {
        None => Online::host(options),
        Some(text) => Online::join(options, text),
    }
}

/// Plays a match to its end.
pub(crate) fn play(mut online: Online<Volley>, stage: &mut impl Stage) -> Result<Finish, Box<dyn Error>> {
    let mut game = None;
    let finish = loop {
        match online.wait()? {
            Now::Begin { seed, .. } => online.start(game.insert(Volley::new(seed))),
            Now::Frame => {
                let (Some(game), Some(seat)) = (&mut game, online.local()) else { continue };
                online.advance(game, stage.buttons(game, seat)); // rolls back, steps, sends, records
                online.cues().iter().for_each(|event| stage.cue(event));
                stage.draw(game, 1.0);
            }
            Now::Connecting(text) | Now::Notice(text) => stage.say(&text),
            Now::Event(Event::Interrupted { .. }) => stage.say("Waiting for the other player ..."),
            Now::Event(Event::Resumed) => stage.say("The other player is back."),
            Now::Event(Event::Message(bytes)) => stage.say(&shown(&String::from_utf8_lossy(&bytes))),
            Now::Finished(finish) => break finish,
            _ => {} // other events, and guests to accept
        }
    };
    online.close()?; // delivers the last message
    Ok(finish)
}
