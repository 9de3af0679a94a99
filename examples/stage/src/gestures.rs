//! Strokes and touches: keys and pointer actions as a menu needs them, in order and with repeats.
//!
//! A match asks which keys are down. A menu asks what was typed, and a held arrow walks down its list.

use crate::{Key, Point};

/// One act on a keyboard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stroke {
    /// A key that types no character; a held key strokes again and again.
    Key(Key),
    /// A character as it was typed, capital or small.
    Character(char),
    /// A small character with Ctrl, or with Cmd on a Mac.
    Command(char),
    /// Text from the clipboard.
    Paste(String),
}

/// The surface on which a mouse points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface {
    /// The window's canvas, in its own units.
    Canvas,
    /// The cells of a terminal of this size.
    Cells { columns: usize, rows: usize },
}

/// The act of a mouse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TouchAct {
    Move,
    Press,
    WheelUp,
    WheelDown,
}

/// One act of a mouse, with its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    pub place: Point,
    pub surface: Surface,
    pub act: TouchAct,
}

/// No text is longer that a terminal types where it does not tell a paste, and a stream of nonsense must not grow
/// without end.
const MAX_STROKES: usize = 4_096;
const MAX_TOUCHES: usize = 64;
/// The longest text that is taken from a clipboard at once, in bytes.
const MAX_PASTE: usize = 4_096;

/// The strokes and touches since they were last taken.
#[derive(Debug, Default)]
pub struct Gestures {
    strokes: Vec<Stroke>,
    touches: Vec<Touch>,
}

impl Gestures {
    pub fn stroke(&mut self, stroke: Stroke) {
        if self.strokes.len() < MAX_STROKES {
            self.strokes.push(stroke);
        }
    }

    pub fn paste(&mut self, text: &str) {
        let end = (0..=text.len().min(MAX_PASTE)).rev().find(|end| text.is_char_boundary(*end));
        self.stroke(Stroke::Paste(text[..end.unwrap_or(0)].to_owned()));
    }

    pub fn touch(&mut self, touch: Touch) {
        // Of a row of moves the last one counts.
        if touch.act == TouchAct::Move && self.touches.last().is_some_and(|last| last.act == TouchAct::Move) {
            self.touches.pop();
        }
        if self.touches.len() < MAX_TOUCHES {
            self.touches.push(touch);
        }
    }

    pub fn take(&mut self) -> (Vec<Stroke>, Vec<Touch>) {
        (std::mem::take(&mut self.strokes), std::mem::take(&mut self.touches))
    }
}
