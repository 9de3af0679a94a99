//! A recorded match that is watched: where it is, how fast it runs, and what is marked in it.

use std::time::Duration;

use rebout::is_disruptive;
use rebout::replay::{MatchEvent, Playback, Recording};
use stage::{Key, characters};

use crate::picture::{Mark, ReplayView, Tone};
use crate::words::NAME_CHARACTERS;
use games::duel::{Duel, Phase};

/// Two seconds.
pub const JUMP_FRAMES: i64 = 120;
const SPEEDS_PERMILLE: [u32; 6] = [125, 250, 500, 1000, 2000, 4000];
/// Frames that are loaded in each frame that is shown: a minute of the match takes two frames.
const LOADED_AT_ONCE: u32 = 2_000;

/// A match that is watched, and the marks that were found in it so far.
pub struct Viewer {
    pub playback: Playback<Duel>,
    marks: Vec<Mark>,
    is_loaded: bool,
}

impl Viewer {
    /// Plays from now on.
    pub fn new(recording: Recording, now: Duration) -> Self {
        let marks = recording.events().filter_map(|(frame, event)| {
            let tone = match event {
                MatchEvent::Interrupted => Tone::Warning,
                MatchEvent::Desync { .. } => Tone::Alarm,
                _ => return None,
            };
            Some(Mark { frame: frame.0, tone })
        });
        let marks = marks.collect();
        let playback = Playback::new(Duel::new(recording.header().seed), recording);
        let mut viewer = Self { playback, marks, is_loaded: false };
        viewer.playback.play(now);
        viewer
    }

    /// Whether all of it was loaded.
    pub fn is_loaded(&self) -> bool {
        self.is_loaded
    }

    /// Loads some more, and finds the rounds on the way; answers what is wrong with the match once that is known.
    pub fn load(&mut self) -> Option<String> {
        if self.is_loaded {
            return None;
        }
        let marks = &mut self.marks;
        self.is_loaded = self.playback.load(LOADED_AT_ONCE, |frame, duel| {
            if duel.phase == Phase::Intro && duel.since == 0 {
                marks.push(Mark { frame: frame.0, tone: Tone::Calm });
            }
        });
        if !self.is_loaded {
            return None;
        }
        marks.sort_by_key(|mark| mark.frame);
        let error = self.playback.verified().err()?;
        Some(format!("not as it was played, by other rules perhaps: {error}"))
    }

    /// The frame that is shown.
    pub fn frame(&self) -> u32 {
        self.playback.frame().0
    }

    pub fn frames(&self) -> u32 {
        self.playback.recording().frames()
    }

    /// The frame of the mark before or after the one that is shown.
    fn mark(&self, after: bool) -> u32 {
        let frame = self.frame();
        let mut frames = self.marks.iter().map(|mark| mark.frame);
        if after {
            frames.find(|mark| *mark > frame).unwrap_or(self.frames())
        } else {
            frames.rfind(|mark| *mark < frame).unwrap_or(0)
        }
    }

    /// Another playback of the same match, at the same frame, to be taken over.
    pub fn twin(&self) -> Playback<Duel> {
        let recording = self.playback.recording().clone();
        let mut twin = Playback::new(Duel::new(recording.header().seed), recording);
        twin.seek(self.playback.frame());
        twin
    }

    /// The position, for the picture.
    pub fn replay_view(&self) -> ReplayView {
        ReplayView {
            frame: self.frame(),
            frames: self.frames(),
            paused: !self.playback.is_playing(),
            speed: self.playback.speed_permille() as f32 / 1e3,
            state: None,
            marks: self.marks.clone(),
        }
    }

    /// Pauses, or goes on.
    pub fn toggle(&mut self, now: Duration) {
        if self.playback.is_playing() {
            self.playback.pause();
        } else {
            self.playback.play(now);
        }
    }

    /// To the next speed.
    pub fn change_speed(&mut self, faster: bool) {
        let now = self.playback.speed_permille();
        let mut speeds = SPEEDS_PERMILLE.into_iter();
        let next =
            if faster { speeds.find(|speed| *speed > now) } else { speeds.rfind(|speed| *speed < now) };
        self.playback.set_speed(next.unwrap_or(now));
    }
}

/// The frame that a key goes to, if it is one of those that jump.
pub fn target(viewer: &Viewer, key: Key) -> Option<u32> {
    let by = |frames: i64| u32::try_from(i64::from(viewer.frame()) + frames).unwrap_or(0);
    Some(match key {
        Key::Char('.') => by(1),
        Key::Char(',') => by(-1),
        Key::Right => by(JUMP_FRAMES),
        Key::Left => by(-JUMP_FRAMES),
        Key::Char(']') => viewer.mark(true),
        Key::Char('[') => viewer.mark(false),
        Key::Backspace | Key::Char('0') => 0,
        _ => return None,
    })
}

/// The names of the players, also of those who are not told. They come from outside: short, and nothing that moves a
/// cursor or turns the words around it.
pub fn names(recording: &Recording) -> [String; 2] {
    let mut names = recording.header().names.each_ref().map(|name| {
        let name: String = name.chars().filter(|character| !is_disruptive(*character)).collect();
        characters::visible(&name).chars().take(NAME_CHARACTERS + 2).collect::<String>()
    });
    for (name, nameless) in names.iter_mut().zip(["Player one", "Player two"]) {
        if name.trim().is_empty() {
            nameless.clone_into(name);
        }
    }
    names
}
