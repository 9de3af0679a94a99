//! A recorded match, played back.

use crate::volley::Volley;
use rebout::Frame;
use rebout::replay::{Playback, Recording};
use std::error::Error;
use std::path::Path;

/// The state at a frame of a recorded match.
pub(crate) fn state_at(file: &Path, frame: Frame) -> Result<Volley, Box<dyn Error>> {
    let recording = Recording::open(std::fs::read(file)?)?;
    let game = Volley::new(recording.header().seed); // and from `header().first_state`, if it is not empty
    let mut playback = Playback::new(game, recording);
    playback.seek(frame);
    let state = *playback.game();
    Ok(state)
}
