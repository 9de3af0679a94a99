//! The updates that the match loop sends to the screen.

use std::ops::{Deref, DerefMut};

use rebout::{Cue, CueEvent};

use crate::composer::Composer;
use crate::pad_keys::PAUSE;
use crate::picture::Tone;
use crate::sound;
use crate::view::{InputState, Screen};
use games::duel::Duel;
use stage::Key;
use stage::sound::{Sound, SoundId};

/// The picture as it is built up, and the screen it goes to.
pub(super) struct Show<'a> {
    screen: &'a Screen,
    composer: Composer,
    /// Nothing of the match is heard, as behind a sheet of words.
    is_match_muted: bool,
    /// The music that was asked for last.
    music: Option<SoundId>,
    /// Characters are a text that is typed, not keys.
    takes_characters: bool,
}

/// A show is its picture, and the screen beside it.
impl Deref for Show<'_> {
    type Target = Composer;

    fn deref(&self) -> &Composer {
        &self.composer
    }
}

impl DerefMut for Show<'_> {
    fn deref_mut(&mut self) -> &mut Composer {
        &mut self.composer
    }
}

impl<'a> Show<'a> {
    pub(super) fn new(screen: &'a Screen, duel: &Duel, names: [String; 2], net_open: bool) -> Self {
        // The marks of a match before belong to nothing any more.
        screen.sound().stop();
        let composer = Composer::new(duel, names, net_open);
        Self { screen, composer, is_match_muted: false, music: None, takes_characters: false }
    }

    /// Shows the state of one frame, and plays its sounds.
    pub(super) fn frame(&mut self, duel: &Duel, cues: &[CueEvent]) {
        if !self.is_match_muted {
            sound::hear(self.screen.sound(), duel, cues);
        }
        self.see(duel, cues);
    }

    /// Shows the state of one frame, and plays what its steps asked for, as often as they did.
    pub(super) fn frame_without_cues(&mut self, duel: &Duel, cues: &[CueEvent], asked: &[Cue]) {
        sound::hear_steps(self.screen.sound(), duel, asked);
        self.see(duel, cues);
    }

    fn see(&mut self, duel: &Duel, cues: &[CueEvent]) {
        // A match that is not heard is the picture behind a menu or a sheet.
        let music = if self.is_match_muted { Some(sound::MENU_MUSIC) } else { sound::music_of(duel) };
        if music.is_some() && self.music != music {
            self.music = music;
            self.screen.sound().music(music);
        }
        self.composer.see(duel, cues);
        self.screen.show(self.composer.picture());
    }

    /// Lets nothing of the match be heard.
    pub(super) fn mute_match(&mut self) {
        self.is_match_muted = true;
    }

    /// Takes characters as a text that is typed, instead of as keys.
    pub(super) fn take_characters(&mut self, takes: bool) {
        self.takes_characters = takes;
    }

    /// Shows the same state again: nothing moves, but the words may have changed.
    pub(super) fn refresh(&mut self) {
        self.composer.renew();
        self.screen.show(self.composer.picture());
    }

    /// Shows another state, as after a jump in a replay: no spark of the old one stays.
    pub(super) fn jump(&mut self, duel: &Duel) {
        self.screen.sound().stop();
        self.composer.jump_to(duel);
    }

    /// Says it on the screen, or prints it where there is none.
    pub(super) fn tell(&mut self, text: impl Into<String>, tone: Tone) {
        let text = text.into();
        self.print_without_screen(&text);
        self.say(text, tone);
    }

    /// Prints what a screen shows anyway, where there is none.
    pub(super) fn print_without_screen(&self, text: &str) {
        if !self.screen.is_seen() {
            super::print_line(text);
        }
    }

    pub(super) fn sound(&self) -> &Sound {
        self.screen.sound()
    }

    pub(super) fn is_seen(&self) -> bool {
        self.screen.is_seen()
    }

    /// The input, after the keys that belong to the screen were acted on: F1 opens the net graph, `m` mutes.
    pub(super) fn take_input(&mut self) -> InputState {
        let input = self.screen.take_input();
        for key in &input.presses {
            if *key == Key::F(1) {
                self.net_open = !self.net_open;
            }
            // Over a menu the characters are typed.
            if *key == Key::Char('m') && self.picture().menu.is_none() && !self.takes_characters {
                let text =
                    if self.screen.sound().toggle_mute() { "muted: m lets it be heard" } else { "sound on" };
                self.say(text, Tone::Calm);
            }
        }
        input
    }
}

/// Whether a match that can rest should: the player asks for it, or cannot see it.
pub(super) fn pauses(input: &InputState) -> bool {
    leaves(input) || input.unseen
}

/// Whether the player wants to leave.
pub(super) fn leaves(input: &InputState) -> bool {
    input.closed || input.presses.contains(&Key::Escape) || input.pad_pressed(PAUSE)
}
