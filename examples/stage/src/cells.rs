//! The terminal as a grid of cells: only what changed is written, in one piece.

use std::fmt::Write as _;

use crate::characters::{self, MAX_MARKS, is_block, is_mark};
use crate::{Color, Raster};

type Rgb = [u8; 3];

/// One character with its marks and colours. An upper half block makes two pixels of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cell {
    character: char,
    marks: [char; MAX_MARKS],
    ink: Rgb,
    paper: Rgb,
}

const BLANK: Cell = Cell { character: ' ', marks: [NONE; MAX_MARKS], ink: [0; 3], paper: [0; 3] };

impl Cell {
    /// The character and its marks; nothing for the second cell of a wide character.
    fn characters(self) -> impl Iterator<Item = char> {
        [self.character].into_iter().chain(self.marks).filter(|character| *character != NONE)
    }

    /// Adds a mark to the character, as long as there is room.
    fn mark(&mut self, mark: char) {
        if let Some(free) = self.marks.iter_mut().find(|place| **place == NONE) {
            *free = mark;
        }
    }

    /// Takes the character away, and leaves the paper.
    fn clear(&mut self) {
        *self = Self { paper: self.paper, ..BLANK };
    }
}

/// The place of a mark that is not there.
const NONE: char = '\0';
/// The second cell of a wide character.
const REST: char = '\0';

/// Which colours the terminal knows, or may be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    Full,
    /// The fixed palette of 256.
    Palette,
    /// None: brightness becomes blocks of different density.
    Mono,
}

impl Depth {
    pub fn of_environment() -> Self {
        Self::of(|name| std::env::var(name).ok())
    }

    /// The depth that the variables of an environment ask for: `NO_COLOR` wins over all others.
    pub fn of(var: impl Fn(&str) -> Option<String>) -> Self {
        let says = |name: &str, words: &[&str]| {
            var(name).is_some_and(|value| words.iter().any(|word| value.contains(word)))
        };
        if var("NO_COLOR").is_some_and(|value| !value.is_empty()) {
            Self::Mono
        } else if says("COLORTERM", &["truecolor", "24bit"])
            || says("TERM", &["direct", "kitty", "alacritty"])
        {
            Self::Full
        } else {
            Self::Palette
        }
    }
}

/// The cells of a terminal: those that are shown, and those to show next. A picture is written into an area of them.
#[derive(Debug)]
pub struct Cells {
    /// The columns and rows of the terminal.
    size: (usize, usize),
    /// The first column and row of the area.
    corner: (usize, usize),
    columns: usize,
    rows: usize,
    shown: Vec<Cell>,
    next: Vec<Cell>,
    depth: Depth,
    fresh: bool,
    out: String,
}

impl Cells {
    pub fn new(depth: Depth) -> Self {
        Self {
            size: (0, 0),
            corner: (0, 0),
            columns: 0,
            rows: 0,
            shown: Vec::new(),
            next: Vec::new(),
            depth,
            fresh: true,
            out: String::new(),
        }
    }

    /// The columns of the area that is written to.
    pub const fn columns(&self) -> usize {
        self.columns
    }

    /// The rows of the area that is written to.
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// A terminal of this size, all of which is written to.
    pub fn resize(&mut self, columns: usize, rows: usize) {
        self.resize_around((columns, rows), (columns, rows));
    }

    /// A terminal of this size, with an area in its middle that is written to.
    pub fn resize_around(&mut self, size: (usize, usize), area: (usize, usize)) {
        let (columns, rows) = (area.0.min(size.0), area.1.min(size.1));
        if (self.size, self.columns, self.rows) != (size, columns, rows) {
            self.size = size;
            (self.columns, self.rows) = (columns, rows);
            self.corner = ((size.0 - columns) / 2, (size.1 - rows) / 2);
            self.shown = vec![BLANK; size.0 * size.1];
            self.next = vec![BLANK; size.0 * size.1];
            self.fresh = true;
        }
    }

    /// The columns and rows of the whole terminal.
    pub const fn size(&self) -> (usize, usize) {
        self.size
    }

    /// The character, the ink and the paper of a cell of the terminal.
    pub fn cell(&self, column: usize, row: usize) -> (char, Color, Color) {
        let Cell { character, ink, paper, .. } = self.next[row * self.size.0 + column];
        let color = |[r, g, b]: Rgb| Color { r, g, b, a: 255 };
        (character, color(ink), color(paper))
    }

    /// A row of the area, as text.
    pub fn text(&self, row: usize) -> String {
        let cells = (0..self.columns).map(|column| self.next[self.index(column, row)]);
        cells.flat_map(Cell::characters).collect()
    }

    /// The place of a cell of the area.
    const fn index(&self, column: usize, row: usize) -> usize {
        (self.corner.1 + row) * self.size.0 + self.corner.0 + column
    }

    /// Takes over the pixels, two to a cell.
    pub fn take_pixels(&mut self, raster: &Raster) {
        let depth = self.depth;
        for row in 0..self.rows {
            for column in 0..self.columns {
                let halves = [raster.pixel(column, row * 2), raster.pixel(column, row * 2 + 1)];
                let index = self.index(column, row);
                if depth == Depth::Mono {
                    self.next[index] = Cell { character: shade(halves), ..BLANK };
                    continue;
                }
                let [ink, paper] = halves.map(|color| coarse(color, depth));
                self.next[index] = if ink == paper {
                    // A cell of one colour is a space: its ink does not count.
                    Cell { paper, ..BLANK }
                } else {
                    Cell { character: '▀', ink, paper, ..BLANK }
                };
            }
        }
    }

    /// Writes a line of text over the pixels; without paper, on the pixels that are there. Text that does not fit is
    /// cut.
    pub fn write(&mut self, column: i32, row: i32, text: &str, ink: Color, paper: Option<Color>) {
        let Some(row) = usize::try_from(row).ok().filter(|row| *row < self.rows) else { return };
        let (mut next, mut last) = (column, None);
        for character in text.chars() {
            if is_mark(character) {
                last.into_iter().for_each(|index: usize| self.next[index].mark(character));
                continue;
            }
            let (place, wide) = (next, characters::cells(character));
            next += wide as i32;
            last = None;
            if next > self.columns as i32 {
                return;
            }
            let Some(place) = usize::try_from(place).ok().filter(|_| wide > 0) else { continue };
            let index = self.index(place, row);
            // A control character or a separator of lines would move the cursor.
            let moves = character.is_control() || matches!(character, '\u{2028}' | '\u{2029}');
            self.put(index, if moves { '?' } else { character }, ink, paper);
            if wide == 2 {
                self.put(index + 1, REST, ink, paper);
            }
            last = Some(index);
        }
    }

    /// Puts a character into a cell. Of a wide character that was there the other half becomes a space.
    fn put(&mut self, index: usize, character: char, ink: Color, paper: Option<Color>) {
        let old = self.next[index];
        if old.character == REST && character != REST {
            self.next[index - 1].clear();
        }
        if self.next.get(index + 1).is_some_and(|next| next.character == REST) {
            self.next[index + 1].clear();
        }
        self.next[index] = Cell {
            character,
            marks: BLANK.marks,
            ink: coarse([ink.r, ink.g, ink.b], self.depth),
            paper: paper.map_or(old.paper, |paper| coarse([paper.r, paper.g, paper.b], self.depth)),
        };
    }

    pub fn write_centered(&mut self, row: i32, text: &str, ink: Color, paper: Option<Color>) {
        let column = (self.columns as i32 - characters::width(text) as i32) / 2;
        self.write(column, row, text, ink, paper);
    }

    pub fn write_ending(&mut self, column: i32, row: i32, text: &str, ink: Color, paper: Option<Color>) {
        self.write(column - characters::width(text) as i32, row, text, ink, paper);
    }

    /// The bytes that turn what is shown into what is to be.
    pub fn changes(&mut self) -> &[u8] {
        self.out.clear();
        // Between these two marks a terminal that knows them shows nothing half done.
        self.out.push_str("\x1b[?2026h");
        if self.fresh {
            self.out.push_str("\x1b[0m\x1b[2J");
        }
        let (mut ink, mut paper) = (None, None);
        for row in 0..self.size.1 {
            let mut cursor = usize::MAX;
            for column in 0..self.size.0 {
                let index = row * self.size.0 + column;
                let cell = self.next[index];
                if cell == self.shown[index] && !self.fresh {
                    continue;
                }
                self.shown[index] = cell;
                // The character before has covered it.
                if cell.character == REST {
                    continue;
                }
                if cursor != column {
                    let _ = write!(self.out, "\x1b[{};{}H", row + 1, column + 1);
                }
                if cell.character != ' ' && ink != Some(cell.ink) {
                    ink = Some(cell.ink);
                    push_color(&mut self.out, 38, cell.ink, self.depth);
                }
                if paper != Some(cell.paper) {
                    paper = Some(cell.paper);
                    push_color(&mut self.out, 48, cell.paper, self.depth);
                }
                let is_wide = self.next.get(index + 1).is_some_and(|next| next.character == REST);
                if is_wide {
                    // A terminal that takes the character for a narrow one must not show what was in its second cell.
                    let _ = write!(self.out, "  \x1b[{};{}H", row + 1, column + 1);
                }
                self.out.extend(cell.characters());
                // Terminals differ about the width of characters: only where all agree the cursor is known.
                let is_known = cell.character.is_ascii() || is_block(cell.character);
                cursor = if is_known { column + 1 } else { usize::MAX };
            }
        }
        self.fresh = false;
        self.out.push_str("\x1b[?2026l");
        self.out.as_bytes()
    }
}

/// Colours in steps that the eye hardly sees, so that a slow gradient is not a new picture every frame.
fn coarse(color: Rgb, depth: Depth) -> Rgb {
    match depth {
        Depth::Full => color.map(|part| part & 0xFC),
        Depth::Palette => color.map(|part| CUBE[usize::from(cube_step(part))]),
        Depth::Mono => [0; 3],
    }
}

/// Two pixels as a block whose density is their brightness; a sharp edge between them stays one.
fn shade(halves: [Rgb; 2]) -> char {
    const DENSITIES: [char; 5] = [' ', '░', '▒', '▓', '█'];
    let [above, below] = halves.map(|[r, g, b]| (u32::from(r) * 3 + u32::from(g) * 6 + u32::from(b)) / 10);
    match (above, below) {
        (150.., 0..100) => '▀',
        (0..100, 150..) => '▄',
        _ => DENSITIES[((above + below) / 2 * 5 / 256) as usize],
    }
}

/// The six levels of the palette's colour cube.
const CUBE: [u8; 6] = [0, 95, 135, 175, 215, 255];

const fn cube_step(part: u8) -> u8 {
    match part {
        0..48 => 0,
        48..115 => 1,
        115..155 => 2,
        155..195 => 3,
        195..235 => 4,
        235.. => 5,
    }
}

fn push_color(out: &mut String, target: u8, [r, g, b]: Rgb, depth: Depth) {
    let _ = match depth {
        Depth::Full => write!(out, "\x1b[{target};2;{r};{g};{b}m"),
        Depth::Palette => {
            let index =
                16 + 36 * u16::from(cube_step(r)) + 6 * u16::from(cube_step(g)) + u16::from(cube_step(b));
            write!(out, "\x1b[{target};5;{index}m")
        }
        Depth::Mono => Ok(()),
    };
}
