//! The layout of a sheet of words: every line wrapped to the room that there is.

use super::wrap::wrap;
use crate::picture::Panel;
use stage::{characters, glyphs};

/// The lines of a panel, wrapped: a label and its text, or a text alone.
pub type Lines = Vec<(String, String)>;

/// Wraps the lines of a panel: texts beside a label to `beside` characters, others to `alone`.
pub fn wrapped(panel: &Panel, beside: usize, alone: usize) -> Lines {
    let mut lines = Lines::new();
    for (label, text) in &panel.lines {
        let room = if label.is_empty() { alone } else { beside };
        for (index, piece) in wrap(text, room).into_iter().enumerate() {
            let label = match (label.is_empty(), index) {
                (false, 1..) => " ",
                _ => label,
            };
            lines.push((label.to_owned(), piece));
        }
    }
    lines
}

/// Where a panel lies in a terminal, in cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sheet {
    pub left: i32,
    pub top: i32,
    pub wide: i32,
    pub tall: i32,
    /// The title is drawn in large characters.
    pub large: bool,
    /// The column where labels end; texts begin two further right.
    pub spine: i32,
    pub lines: Lines,
    pub footer: Vec<String>,
}

/// Rows above the lines: a title in large characters, and one in the terminal's own.
const LARGE_TITLE: i32 = 6;
const SMALL_TITLE: i32 = 3;
const NARROWEST: i32 = 44;
/// Rows of bars and names, which a sheet leaves free if it can.
const BARS: i32 = 4;

impl Sheet {
    pub fn of(panel: &Panel, columns: i32, rows: i32) -> Self {
        let count = |text: &str| characters::width(text) as i32;
        let labels = panel.lines.iter().map(|(label, _)| count(label)).fold(0, i32::max);
        // Two columns stay free at either side, and between a label and its text.
        let beside = columns - labels - 6;
        let lines = wrapped(panel, beside.max(1) as usize, (columns - 4).max(1) as usize);
        let footer = wrap(&panel.footer, (columns - 4).max(1) as usize);
        let title = glyphs::width(&panel.title, 1.0) as i32 + 6;
        let used =
            lines.iter().map(|(label, text)| count(text) + if label.is_empty() { 4 } else { labels + 6 });
        let footers = footer.iter().map(|line| count(line) + 4);
        let wide = used.chain(footers).fold(NARROWEST, i32::max).min(columns);
        let below = footer.len() as i32 + 2;
        let large = title <= columns && LARGE_TITLE + lines.len() as i32 + below <= rows;
        let wide = if large { wide.max(title) } else { wide };
        let above = if large { LARGE_TITLE } else { SMALL_TITLE };
        let tall = (above + lines.len() as i32 + below).min(rows);
        let top = ((rows - tall) / 2).max(BARS).min(rows - tall);
        let left = (columns - wide) / 2;
        Self { left, top, wide, tall, large, spine: left + 2 + labels, lines, footer }
    }

    /// The row of the first line.
    pub fn first_line(&self) -> i32 {
        self.top + if self.large { LARGE_TITLE } else { SMALL_TITLE }
    }

    /// The row of the first line of the footer.
    pub fn first_footer(&self) -> i32 {
        self.top + self.tall - 1 - self.footer.len() as i32
    }

    /// How many lines there is room for.
    pub fn room(&self) -> usize {
        (self.first_footer() - self.first_line()).max(0) as usize
    }
}
