//! Letters as strokes on a grid of four by six, so that one alphabet serves a window at any size and a terminal
//! whose letters are seven pixels tall.

mod marks;
mod small;
mod strokes;

use crate::{Canvas, Color, Point, at, characters};
use marks::Mark;

/// From one letter to the next, in grid units.
const ADVANCE: f32 = 6.0;
const TALL: f32 = 6.0;

/// How a line of letters looks.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Pixels from one grid line to the next; a letter is six of these tall.
    pub unit: f32,
    pub stroke: f32,
    pub color: Color,
    /// How far the top of a letter leans to the right, in units of its height.
    pub slant: f32,
    /// Whether small letters stay small.
    pub cased: bool,
}

impl Style {
    pub const fn new(unit: f32, stroke: f32, color: Color) -> Self {
        Self { unit, stroke, color, slant: 0.0, cased: false }
    }

    pub const fn slanted(self, slant: f32) -> Self {
        Self { slant, ..self }
    }
}

/// Whether there are strokes for every letter of `text`: others are boxes.
pub fn knows(text: &str) -> bool {
    let known = |letter: char| strokes::of(marks::parts(capital(letter)).0) != strokes::BOX;
    text.chars().filter(|letter| characters::cells(*letter) > 0).all(known)
}

/// The width of `text`, from the first stroke to the last.
pub fn width(text: &str, unit: f32) -> f32 {
    (characters::width(text) as f32 * ADVANCE - 2.0).max(0.0) * unit
}

/// Writes `text` with its top left corner at `corner`; small letters as capitals, unless the style keeps them.
pub fn write(canvas: &mut dyn Canvas, text: &str, corner: Point, style: Style) {
    let (mut cell, mut rest) = (0, text.chars().peekable());
    while let Some(letter) = rest.next() {
        let mark = rest.next_if(|next| characters::is_mark(*next)).and_then(marks::combining);
        let origin = corner.plus(cell as f32 * ADVANCE * style.unit, 0.0);
        match characters::cells(letter) {
            // A mark without a stroke of ours, or a letter that is never seen.
            0 => {}
            2 => draw(canvas, WIDE_BOX, origin, style, |row| row),
            _ => write_letter(canvas, letter, mark, origin, style),
        }
        cell += characters::cells(letter);
    }
}

/// A wide letter, of which the alphabet has none.
const WIDE_BOX: &str = "0090960600";

fn write_letter(canvas: &mut dyn Canvas, letter: char, on_it: Option<Mark>, origin: Point, style: Style) {
    let (base, mark) = marks::parts(capital(letter));
    let mark = mark.or(on_it);
    if style.cased
        && letter.is_lowercase()
        && let Some(strokes) = small::strokes(base.to_ascii_lowercase())
    {
        draw(canvas, strokes, origin, style, |row| row);
        // A small letter leaves two rows free for an accent.
        match mark {
            Some(Mark::Above(accent)) => draw(canvas, accent, origin, style, |row| row * 0.6),
            Some(Mark::Through(stroke)) => draw(canvas, stroke, origin, style, |row| row),
            None => {}
        }
        return;
    }
    match mark {
        Some(Mark::Above(accent)) => {
            // The letter makes room for its accent, so that a line of text has one height.
            draw(canvas, strokes::of(base), origin, style, |row| 1.7 + row * (TALL - 1.7) / TALL);
            draw(canvas, accent, origin, style, |row| row * 0.55);
        }
        Some(Mark::Through(stroke)) => {
            draw(canvas, strokes::of(base), origin, style, |row| row);
            draw(canvas, stroke, origin, style, |row| row);
        }
        None => draw(canvas, strokes::of(base), origin, style, |row| row),
    }
}

/// The capital of a letter, if that is one letter too.
fn capital(letter: char) -> char {
    let mut capitals = letter.to_uppercase();
    match (capitals.next(), capitals.next()) {
        (Some(capital), None) => capital,
        _ => letter,
    }
}

/// Draws runs of points; `down` moves each row of the grid.
fn draw(canvas: &mut dyn Canvas, strokes: &str, origin: Point, style: Style, down: impl Fn(f32) -> f32) {
    let point = |digits: &[u8]| {
        let [across, row] = [digits[0], digits[1]].map(|digit| f32::from(digit.saturating_sub(b'0')));
        let row = down(row);
        origin.plus((across + (TALL - row) * style.slant) * style.unit, row * style.unit)
    };
    for run in strokes.split_ascii_whitespace() {
        for ends in run.as_bytes().windows(4).step_by(2) {
            let (from, to) = (point(&ends[..2]), point(&ends[2..]));
            if from == to {
                // A dot as thin as a stroke would hardly be seen.
                canvas.disc(from, style.stroke * 0.7, style.color);
            } else {
                canvas.line(from, to, style.stroke, style.color);
            }
        }
    }
}

/// Writes `text` centred on `middle.x`, its top at `middle.y`.
pub fn write_centered(canvas: &mut dyn Canvas, text: &str, middle: Point, style: Style) {
    write(canvas, text, at(middle.x - width(text, style.unit) / 2.0, middle.y), style);
}

/// Writes `text` so that it ends at `corner.x`.
pub fn write_ending(canvas: &mut dyn Canvas, text: &str, corner: Point, style: Style) {
    write(canvas, text, at(corner.x - width(text, style.unit), corner.y), style);
}
