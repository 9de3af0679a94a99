//! Pads that nobody holds: a script, and random presses after its end.

use rebout::lab::stress::{Turn, random};
use rebout::{Buttons, Frame, Input, Player};

/// The buttons of a libretro pad, by their numbers.
pub const NAMES: [&str; 16] =
    ["b", "y", "select", "start", "up", "down", "left", "right", "a", "x", "l", "r", "l2", "r2", "l3", "r3"];
/// Frames that one line can last.
const MAX_FRAMES: u32 = 1_000_000;

/// The number of a button as a bit.
pub fn bit(name: &str) -> Option<u16> {
    NAMES.iter().position(|known| *known == name).map(|at| 1 << at)
}

/// Presses by frame.
///
/// Each line is a number of frames and the buttons of player one, then those of player two after a slash. Buttons that are held
/// together are joined by `+`, and `#` begins a comment:
///
/// ```text
/// 120                 # nobody presses anything
/// 5 start
/// 30 right+a / left
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    lines: Vec<(u32, [u16; 2])>,
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// The line and the word that are wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut lines = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let (frames, presses) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            let frames: u32 =
                frames.parse().ok().filter(|frames| (1..=MAX_FRAMES).contains(frames)).ok_or_else(|| {
                    format!("line {number}: {frames:?} is no number of frames from 1 to {MAX_FRAMES}")
                })?;
            let mut sides = presses.splitn(2, '/');
            let mut side = || held(sides.next().unwrap_or_default());
            let words = |why: String| format!("line {number}: {why}");
            lines.push((frames, [side().map_err(words)?, side().map_err(words)?]));
        }
        Ok(Self { lines })
    }

    /// The buttons of a player in a frame; `None` after the end.
    pub fn at(&self, player: Player, frame: u32) -> Option<Buttons> {
        let mut left = frame;
        for (frames, sides) in &self.lines {
            if left < *frames {
                return Some(Buttons(sides[player.index()]));
            }
            left -= frames;
        }
        None
    }
}

/// The names of the buttons in a set, as they are written on the command line.
pub fn names(buttons: u16) -> String {
    let named = NAMES.iter().enumerate().filter(|(at, _)| buttons >> at & 1 != 0);
    named.map(|(_, name)| *name).collect::<Vec<_>>().join(",")
}

/// Reads the names of buttons from the command line.
///
/// # Errors
/// The word that is no button.
pub fn parse_names(text: &str) -> Result<u16, String> {
    held(&text.replace(',', "+"))
}

fn held(words: &str) -> Result<u16, String> {
    let words = words.split('+').map(str::trim).filter(|word| !word.is_empty() && *word != "-");
    words.into_iter().try_fold(0, |held, word| {
        let bit = bit(&word.to_lowercase())
            .ok_or_else(|| format!("no button is called {word:?}: use {}", NAMES.join(", ")))?;
        Ok(held | bit)
    })
}

/// Plays a script, and random presses on every button of each pad after it.
#[derive(Clone, Debug)]
pub struct Bot {
    pub script: Script,
    pub seed: u32,
    /// The pads at each machine.
    pub pads: u8,
}

impl Bot {
    /// The input of a player in a frame.
    pub fn at(&self, player: Player, frame: u32) -> Input {
        (0..usize::from(self.pads)).fold(Input::NEUTRAL, |input, pad| {
            let scripted = self.script.at(player, frame).filter(|_| pad == 0);
            let buttons = scripted.unwrap_or_else(|| {
                let seed = self.seed.wrapping_add(pad as u32);
                random(&Turn { game: &(), player, frame: Frame(frame), seed }, Buttons(u16::MAX), 0).buttons()
            });
            input.with_pad(pad, buttons)
        })
    }
}
