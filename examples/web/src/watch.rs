//! A replay in the page: seekable, with its checksums verified while it loads.

use std::time::Duration;

use duel::composer::Composer;
use duel::picture::Tone;
use duel::sound;
use duel::viewer::{Viewer, names, target};
use games::duel::identity::GAME_ID;
use rebout::Frame;
use rebout::replay::{Recording, Tail};
use stage::sound::Sound;
use stage::{InputState, Key};

use crate::fight::leaves;
use crate::json;

/// The longest file that is read: more than any duel has.
const MAX_FILE: usize = 1 << 26;

/// A replay that is watched.
pub struct Watched {
    viewer: Viewer,
    pub composer: Composer,
    /// What is known about its checksums, in words.
    verdict: String,
}

impl Watched {
    /// Opens the bytes of a file.
    ///
    /// # Errors
    /// If they are no recorded duel, in words for the player.
    pub fn open(file: Vec<u8>, now: Duration, net_open: bool) -> Result<Self, String> {
        if file.len() > MAX_FILE {
            return Err(format!("this file has {} MB, more than any replay of a duel", file.len() >> 20));
        }
        let recording = Recording::open(file).map_err(|error| format!("this is no replay: {error}"))?;
        let game_id = recording.header().game_id;
        if game_id != GAME_ID && game_id != 0 {
            return Err("this is a replay of another game".to_owned());
        }
        let (names, tail) = (names(&recording), recording.tail());
        let viewer = Viewer::new(recording, now);
        let mut composer = Composer::new(viewer.playback.game(), names, net_open);
        if tail != Tail::Whole {
            composer.say(format!("this recording {tail}"), Tone::Warning);
        }
        Ok(Self { viewer, composer, verdict: "verifying".to_owned() })
    }

    /// Shows what is due; `true` if the player leaves.
    pub fn turn(&mut self, input: &InputState, now: Duration, sound: &Sound) -> bool {
        if leaves(input) {
            return true;
        }
        self.load();
        for key in input.menu_presses() {
            self.handle_key(key, now, sound);
        }
        self.composer.replay_view(Some(self.viewer.replay_view()));
        let composer = &mut self.composer;
        let moved = self.viewer.playback.advance(now, |_, duel, cues| {
            sound::hear(sound, duel, cues);
            composer.see(duel, cues);
        });
        if moved == 0 {
            if self.viewer.frame() == self.viewer.frames() {
                self.composer.say("the end of the replay: left goes back, esc leaves", Tone::Calm);
            }
            self.composer.renew();
        }
        false
    }

    /// Goes to a frame.
    pub fn seek(&mut self, frame: u32, sound: &Sound) {
        sound.stop();
        self.viewer.playback.seek(Frame(frame.min(self.viewer.frames())));
        self.composer.jump_to(self.viewer.playback.game());
        self.composer.see(self.viewer.playback.game(), &[]);
    }

    /// The facts of the replay for whoever measures it, as members of a JSON object.
    pub fn facts(&self) -> String {
        format!(
            "\"frame\":{},\"frames\":{},\"checksum\":\"{:08X}\",\"verdict\":{}",
            self.viewer.frame(),
            self.viewer.frames(),
            rebout::checksum(self.viewer.playback.game()),
            json::string(&self.verdict)
        )
    }

    fn load(&mut self) {
        let was_loaded = self.viewer.is_loaded();
        if let Some(text) = self.viewer.load() {
            self.composer.say(text.clone(), Tone::Alarm);
            self.verdict = text;
        } else if self.viewer.is_loaded() && !was_loaded {
            let count = self.viewer.playback.verified().unwrap_or(0);
            self.verdict = format!("{} verified", duel::netgraph::counted(count.into(), "checksum"));
            self.composer.say(self.verdict.clone(), Tone::Calm);
        }
    }

    fn handle_key(&mut self, key: Key, now: Duration, sound: &Sound) {
        match key {
            Key::Char(' ') | Key::Enter => self.viewer.toggle(now),
            Key::Up => self.viewer.change_speed(true),
            Key::Down => self.viewer.change_speed(false),
            key => {
                if let Some(frame) = target(&self.viewer, key) {
                    if matches!(key, Key::Char('.' | ',')) {
                        self.viewer.playback.pause();
                    }
                    self.seek(frame, sound);
                }
            }
        }
    }
}
