//! Plays a recorded match: pause, step, seek, speed, marks, and taking over.

use std::time::Instant;

use rebout::replay::{MatchEvent, Playback, Recording};
use rebout::{Frame, Player, checksum};

use super::show::{Show, leaves};
use super::take_over::take_over;
use super::{Ending, FRAME, FrameClock};
use crate::devices::Devices;
use crate::picture::{Mark, Panel, ReplayView, Tone};
use crate::replay_list;
use crate::view::Screen;
use games::duel::{Duel, Phase};
use stage::Key;

pub(super) const JUMP_FRAMES: i64 = 120;
const SPEEDS_PERMILLE: [u32; 6] = [125, 250, 500, 1000, 2000, 4000];
/// Frames that are loaded in each frame that is shown: a minute of the match takes two frames.
const LOADED_AT_ONCE: u32 = 2_000;

/// Prints the checksum of every `every`-th state, and of the last.
pub fn checksums(recording: Recording, every: u32) {
    let last = Frame(recording.frames());
    let mut playback = Playback::new(Duel::new(recording.header().seed), recording);
    playback.load(u32::MAX, |frame, duel| {
        if frame.0 % every == 0 || frame == last {
            super::print_line(&format!("frame {frame}: {:08X}", checksum(duel)));
        }
    });
}

/// A match that is watched, and the marks that were found in it so far.
struct Viewer {
    playback: Playback<Duel>,
    marks: Vec<Mark>,
    is_loaded: bool,
    start: Instant,
}

impl Viewer {
    fn new(recording: Recording) -> Self {
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
        let mut viewer = Self { playback, marks, is_loaded: false, start: Instant::now() };
        viewer.playback.play(viewer.start.elapsed());
        viewer
    }

    /// Loads some more, and finds the rounds on the way; answers what is wrong with the match once that is known.
    fn load(&mut self) -> Option<String> {
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

    fn frame(&self) -> u32 {
        self.playback.frame().0
    }

    fn frames(&self) -> u32 {
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
    fn twin(&self) -> Playback<Duel> {
        let recording = self.playback.recording().clone();
        let mut twin = Playback::new(Duel::new(recording.header().seed), recording);
        twin.seek(self.playback.frame());
        twin
    }

    fn replay_view(&self) -> ReplayView {
        ReplayView {
            frame: self.frame(),
            frames: self.frames(),
            paused: !self.playback.is_playing(),
            speed: self.playback.speed_permille() as f32 / 1e3,
            state: None,
            marks: self.marks.clone(),
        }
    }

    fn toggle(&mut self) {
        if self.playback.is_playing() {
            self.playback.pause();
        } else {
            self.playback.play(self.start.elapsed());
        }
    }

    fn change_speed(&mut self, faster: bool) {
        let now = self.playback.speed_permille();
        let mut speeds = SPEEDS_PERMILLE.into_iter();
        let next =
            if faster { speeds.find(|speed| *speed > now) } else { speeds.rfind(|speed| *speed < now) };
        self.playback.set_speed(next.unwrap_or(now));
    }
}

/// The frame that a key goes to, if it is one of those that jump.
fn target(viewer: &Viewer, key: Key) -> Option<u32> {
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

fn help() -> Panel {
    let line = |keys: &str, what: &str| (keys.to_owned(), what.to_owned());
    Panel {
        title: "Replay".to_owned(),
        lines: vec![
            line("space", "pause and go on"),
            line(", and .", "a frame back, a frame on"),
            line("left, right", "two seconds back, two seconds on"),
            line("[ and ]", "to the mark before, to the next"),
            line("up, down", "faster, slower"),
            line("0", "back to the beginning"),
            line("1, 2", "take over the left fighter, the right one"),
            line("esc", "leave"),
        ],
        footer: "any key goes on; h shows this again".to_owned(),
    }
}

/// Shows the replay until the viewer leaves. Without a player it ends by itself after the last frame.
pub fn replay(
    screen: &Screen,
    recording: Recording,
    devices: &Devices,
    outfits: [usize; 2],
    at_once: bool,
) -> Ending {
    let names = replay_list::names(&recording);
    let tail = recording.tail();
    let mut viewer = Viewer::new(recording);
    let mut show = Show::new(screen, viewer.playback.game(), names, false);
    show.set_outfits(outfits);
    if tail != rebout::replay::Tail::Whole {
        show.tell(format!("this recording {tail}"), Tone::Warning);
    }
    let mut panel = !at_once;
    let mut clock = FrameClock::start();
    loop {
        let input = show.take_input();
        if leaves(&input) || (at_once && viewer.frame() == viewer.frames()) {
            break;
        }
        if let Some(text) = viewer.load() {
            show.tell(text, Tone::Alarm);
        }
        for key in &input.presses {
            if panel || *key == Key::Char('h') {
                panel = !panel;
                continue;
            }
            if handle_keys(&mut viewer, &mut show, *key, devices) {
                return ending(&viewer);
            }
        }
        show.panel(panel.then(help));
        show.replay_view(Some(viewer.replay_view()));
        let now = viewer.start.elapsed();
        let moved = if panel {
            // The time of the panel is not made up for.
            viewer.playback.is_playing().then(|| viewer.playback.play(now));
            0
        } else {
            viewer.playback.advance(now, |_, duel, cues| show.frame(duel, cues))
        };
        if moved == 0 {
            if viewer.frame() == viewer.frames() && !at_once {
                show.say("the end of the replay: left goes back, esc leaves", Tone::Calm);
            }
            show.refresh();
        }
        clock.wait(FRAME);
    }
    ending(&viewer)
}

/// Acts on a key; `true` if the window was closed meanwhile.
fn handle_keys(viewer: &mut Viewer, show: &mut Show<'_>, key: Key, devices: &Devices) -> bool {
    match key {
        Key::Char(' ') => viewer.toggle(),
        Key::Up => viewer.change_speed(true),
        Key::Down => viewer.change_speed(false),
        Key::Char(digit @ ('1' | '2')) => {
            let seat = Player::BOTH[usize::from(digit == '2')];
            viewer.playback.pause();
            match take_over(show, viewer.twin(), seat, devices) {
                Ok(true) => return true,
                Ok(false) => {
                    show.clear_message();
                    show.jump(viewer.playback.game());
                }
                Err(error) => show.say(error.to_string(), Tone::Warning),
            }
        }
        key => {
            if let Some(frame) = target(viewer, key) {
                if matches!(key, Key::Char('.' | ',')) {
                    viewer.playback.pause();
                }
                viewer.playback.seek(Frame(frame));
                show.jump(viewer.playback.game());
                show.frame(viewer.playback.game(), &[]);
            }
        }
    }
    false
}

fn ending(viewer: &Viewer) -> Ending {
    let checksum = checksum(viewer.playback.game());
    Ending::of([format!("Frame {} of {}, checksum {checksum:08X}", viewer.frame(), viewer.frames())])
}
