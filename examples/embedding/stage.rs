//! The surroundings of the game: keys, sound, a picture.

use crate::volley::Volley;
use rebout::{Buttons, CueEvent, Player};

/// The surroundings of the game: keys, sound, a picture.
pub(crate) trait Stage {
    fn buttons(&mut self, game: &Volley, seat: Player) -> Buttons;
    fn cue(&mut self, event: &CueEvent);
    /// Shows a text that stays until another one comes.
    fn say(&mut self, text: &str);
    fn draw(&mut self, game: &Volley, phase: f32);
}
