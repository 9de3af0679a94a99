//! Plays a recorded match: pause, step, seek and speed.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use rebout::replay::Replay;
use rebout::rollback::{Rollback, RollbackConfig};
use rebout::{Frame, Game, Inputs, Player, checksum};

use super::show::{Show, leaves};
use super::{Beat, Ending, FRAME};
use crate::picture::{Panel, Tape, Tone};
use crate::view::Screen;
use games::duel::Duel;
use stage::Key;

/// A state is kept for every so many frames, so that a jump resimulates at most five seconds.
const KEPT_EVERY: u32 = 300;
const JUMP_FRAMES: u32 = 120;
const SPEEDS: [f32; 6] = [0.125, 0.25, 0.5, 1.0, 2.0, 4.0];
const NORMAL_SPEED: usize = 3;

/// Reads a replay, or says what is wrong with it.
pub fn load(path: &Path) -> Result<Replay, String> {
    let file = File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Replay::read(&mut BufReader::new(file)).map_err(|error| format!("{}: {error}", path.display()))
}

/// Prints the checksum of every `every`-th state, and of the last.
pub fn checksums(replay: &Replay, every: u32) {
    let last = Frame(replay.inputs.len() as u32);
    rebout::replay::play(replay, &mut Duel::new(replay.seed), |frame, duel| {
        if frame.0 % every == 0 || frame == last {
            super::print_line(&format!("frame {frame}: {:08X}", checksum(duel)));
        }
    });
}

struct Deck {
    replay: Replay,
    duel: Duel,
    engine: Rollback<Duel>,
    frame: u32,
    /// The states of frames 0, 300, 600 and so on.
    kept: Vec<Duel>,
}

impl Deck {
    fn new(replay: Replay) -> Self {
        let duel = Duel::new(replay.seed);
        let mut kept = Vec::new();
        rebout::replay::play(&replay, &mut duel.clone(), |frame, duel| {
            if frame.0 % KEPT_EVERY == 0 {
                kept.push(*duel);
            }
        });
        Self { engine: Rollback::new(RollbackConfig::default(), &duel), duel, replay, frame: 0, kept }
    }

    fn frames(&self) -> u32 {
        self.replay.inputs.len() as u32
    }

    fn inputs(&self, frame: u32) -> Option<Inputs> {
        self.replay.inputs.get(frame as usize).copied()
    }

    /// One frame on; `false` at the end.
    fn step(&mut self) -> bool {
        let Some(inputs) = self.inputs(self.frame) else { return false };
        for player in Player::BOTH {
            self.engine.press(player, 0, inputs[player]);
        }
        self.engine.advance(&mut self.duel);
        self.frame += 1;
        true
    }

    /// Goes to any frame.
    fn seek(&mut self, frame: u32) {
        let frame = frame.min(self.frames());
        let kept = frame / KEPT_EVERY;
        self.duel = self.kept[kept as usize];
        let mut cues = rebout::Cues::new();
        for step in kept * KEPT_EVERY..frame {
            cues.clear();
            if let Some(inputs) = self.inputs(step) {
                self.duel.step(inputs, &mut cues);
            }
        }
        self.frame = frame;
        self.engine = Rollback::new(RollbackConfig::default(), &self.duel);
    }
}

/// The commands that the keys of a replay give.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wish {
    Pause,
    Step,
    StepBack,
    Seek(i64),
    Restart,
    Faster,
    Slower,
}

fn wish(key: Key) -> Option<Wish> {
    Some(match key {
        Key::Char(' ') => Wish::Pause,
        Key::Char('.') => Wish::Step,
        Key::Char(',') => Wish::StepBack,
        Key::Right => Wish::Seek(i64::from(JUMP_FRAMES)),
        Key::Left => Wish::Seek(-i64::from(JUMP_FRAMES)),
        Key::Up => Wish::Faster,
        Key::Down => Wish::Slower,
        Key::Backspace | Key::Char('0') => Wish::Restart,
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
            line("up, down", "faster, slower"),
            line("0", "back to the beginning"),
            line("esc", "leave"),
        ],
        footer: "any key goes on; h shows this again".to_owned(),
    }
}

/// Shows the replay until the viewer leaves. Without hands on the keys it ends by itself after the last frame.
pub fn replay(screen: &Screen, replay: Replay, names: [String; 2], at_once: bool) -> Ending {
    let mut deck = Deck::new(replay);
    let mut show = Show::new(screen, &deck.duel, names, false);
    let (mut paused, mut speed, mut share) = (false, NORMAL_SPEED, 0.0);
    let mut panel = !at_once;
    let mut beat = Beat::start();
    loop {
        let hands = show.hands();
        if leaves(&hands) || (at_once && deck.frame == deck.frames()) {
            break;
        }
        for key in &hands.presses {
            if panel || *key == Key::Char('h') {
                panel = !panel;
                continue;
            }
            match wish(*key) {
                Some(Wish::Pause) => paused = !paused,
                Some(Wish::Faster) => speed = (speed + 1).min(SPEEDS.len() - 1),
                Some(Wish::Slower) => speed = speed.saturating_sub(1),
                Some(wish) => {
                    paused |= matches!(wish, Wish::Step | Wish::StepBack);
                    let by = match wish {
                        Wish::Step => 1,
                        Wish::StepBack => -1,
                        Wish::Seek(frames) => frames,
                        _ => -i64::from(deck.frame),
                    };
                    deck.seek(u32::try_from(i64::from(deck.frame) + by).unwrap_or(0));
                    show.jump(&deck.duel);
                    show.frame(&deck.duel, &[]);
                }
                None => {}
            }
        }
        show.panel(panel.then(help));
        show.tape(Tape { frame: deck.frame, frames: deck.frames(), paused, speed: SPEEDS[speed] });
        share += if paused || panel { 0.0 } else { SPEEDS[speed] };
        let mut moved = false;
        while share >= 1.0 {
            share -= 1.0;
            if deck.step() {
                moved = true;
                show.frame(&deck.duel, deck.engine.cues());
            } else if !at_once {
                show.say("the end of the replay: left goes back, esc leaves", Tone::Calm);
            }
        }
        if !moved {
            show.refresh();
        }
        beat.wait(FRAME);
    }
    let line = format!("Frame {} of {}, checksum {:08X}", deck.frame, deck.frames(), checksum(&deck.duel));
    Ending::of([line])
}
