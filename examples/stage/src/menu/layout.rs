//! The place of every line of a menu on a grid of cells: those of a terminal, or those that a window is divided into.

use super::{Item, Menu, Value};
use crate::characters::{width as characters, wrapped};
use crate::gestures::Surface;
use crate::pixels::{HEIGHT, WIDTH};
use crate::{Point, at, glyphs};

/// A grid of cells, one character each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    pub columns: usize,
    pub rows: usize,
    /// The size of a cell on the surface that the grid divides.
    pub cell: Point,
    /// Rows that a title in large characters takes.
    title_rows: usize,
    /// Columns of one large character; a window draws them as small as they must be.
    title_columns: f32,
}

impl Grid {
    /// The window: large enough characters that a player reads them from a sofa.
    pub const WINDOW: Self = Self {
        columns: 80,
        rows: 20,
        cell: at(WIDTH / 80.0, HEIGHT / 20.0),
        title_rows: 3,
        title_columns: 2.0,
    };

    pub const fn terminal(columns: usize, rows: usize) -> Self {
        Self { columns, rows, cell: at(1.0, 1.0), title_rows: 4, title_columns: 6.0 }
    }

    pub fn of(surface: Surface) -> Self {
        match surface {
            Surface::Canvas => Self::WINDOW,
            Surface::Cells { columns, rows } => Self::terminal(columns, rows),
        }
    }

    /// Columns that a title in large characters takes.
    fn title_width(&self, title: &str) -> usize {
        (characters(title) as f32 * self.title_columns) as usize
    }

    /// The cell at a place of the surface, with parts of a cell.
    pub(super) fn cell(&self, place: Point) -> Point {
        at(place.x / self.cell.x, place.y / self.cell.y)
    }
}

/// One line of a menu, from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// The title, in large characters or in a row of its own.
    Title {
        is_large: bool,
    },
    Note {
        text: String,
        is_warning: bool,
    },
    Item(usize),
    Hint(String),
    Footer(String),
    Gap,
}

/// The lines of a menu and the sheet that they are written on.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    pub left: usize,
    pub top: usize,
    pub wide: usize,
    pub tall: usize,
    /// Characters from the left edge of the sheet to the values.
    pub values_at: usize,
    /// Whether there are items above those that are shown, and below.
    pub more: [bool; 2],
    lines: Vec<Line>,
    title_rows: usize,
}

/// Characters beside the text of a line: an edge and the mark of the chosen item on each side.
const EDGE: usize = 3;
/// Characters between labels and values; the last two are for the mark of a choice that has more before it.
const GAP: usize = 4;
/// Characters that a field shows, where there is room.
const FIELD_CHARACTERS: usize = 44;
/// Characters of a line of words that are read at ease.
const NOTE_CHARACTERS: usize = 66;
/// Cells of a slider.
pub(super) const SLIDER_CELLS: usize = 14;

impl Layout {
    pub fn of(menu: &Menu, grid: Grid) -> Self {
        let room = grid.columns.saturating_sub(EDGE * 2).max(1);
        let labels = menu.items.iter().filter(|item| !is_lone(item)).map(|item| characters(&item.label));
        let labels = labels.max().unwrap_or(0).min(room / 2);
        let inner = inner_width(menu, labels, room);
        // A sheet is made wide enough for its title, if the surface is.
        let title_width = grid.title_width(&menu.title);
        let inner = if title_width <= room { inner.max(title_width) } else { inner };
        let note = |note: &super::Note| {
            let is_warning = note.is_warning;
            wrapped(&note.text, inner).into_iter().map(move |text| Line::Note { text, is_warning })
        };
        let notes: Vec<Line> = menu.notes.iter().flat_map(note).collect();
        let footer: Vec<Line> = wrapped(&menu.footer, inner).into_iter().map(Line::Footer).collect();
        // The room for hints is that of the longest, so that nothing jumps from item to item.
        let hint_rows = menu.items.iter().map(|item| wrapped(&item.hint, inner).len()).max().unwrap_or(0);
        let hint = menu.item().map_or_else(Vec::new, |item| wrapped(&item.hint, inner));

        let fixed = notes.len() + footer.len() + hint_rows + usize::from(!notes.is_empty()) + 4;
        let has_room = fixed + grid.title_rows + menu.items.len().min(8) <= grid.rows;
        // In large characters a name of characters without strokes would be a row of boxes.
        let is_large = title_width <= inner && has_room && !menu.has_view && glyphs::knows(&menu.title);
        let title_rows = if is_large { grid.title_rows } else { 1 };
        // Where it is tight, gaps go first.
        let is_tight = fixed + title_rows + menu.items.len().min(8) > grid.rows;
        let gap = || (!is_tight).then_some(Line::Gap);

        let mut lines = vec![Line::Title { is_large }];
        lines.extend(gap());
        lines.extend(notes);
        if lines.len() > 2 {
            lines.extend(gap());
        }
        let after = hint_rows + footer.len() + usize::from(!is_tight);
        let shown = grid.rows.saturating_sub(title_rows + lines.len() - 1 + after + 2).max(1);
        let first = first_shown(menu, shown);
        let last = (first + shown).min(menu.items.len());
        lines.extend((first..last).map(Line::Item));
        lines.extend(gap());
        lines.extend((0..hint_rows).map(|row| Line::Hint(hint.get(row).cloned().unwrap_or_default())));
        lines.extend(footer);

        let tall = (lines.len() + title_rows + 1).min(grid.rows);
        let wide = (inner + EDGE * 2).min(grid.columns);
        Self {
            left: (grid.columns - wide) / 2,
            top: if menu.has_view { 0 } else { (grid.rows - tall) / 2 },
            wide,
            tall,
            values_at: EDGE + labels + GAP,
            more: [first > 0, last < menu.items.len()],
            lines,
            title_rows,
        }
    }

    /// Every line with its row.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &Line)> {
        let mut row = self.top + 1;
        self.lines.iter().map(move |line| {
            let here = row;
            row += if matches!(line, Line::Title { is_large: true }) { self.title_rows } else { 1 };
            (here, line)
        })
    }

    /// Characters that a value has room for.
    pub(super) fn value_room(&self) -> usize {
        self.wide.saturating_sub(self.values_at + EDGE)
    }

    /// The item at a place in cells, and how far along its value that is.
    pub fn item_at(&self, place: Point) -> Option<(usize, f32)> {
        let (left, right) = (self.left as f32, (self.left + self.wide) as f32);
        if !(left..right).contains(&place.x) {
            return None;
        }
        let from = (self.left + self.values_at) as f32;
        self.lines().find_map(|(at, line)| match line {
            Line::Item(item) if (at as f32..at as f32 + 1.0).contains(&place.y) => {
                Some((*item, (place.x - from) / SLIDER_CELLS as f32))
            }
            _ => None,
        })
    }
}

/// Whether the item has no value beside its label.
fn is_lone(item: &Item) -> bool {
    item.value == Value::Pick
}

/// The characters of the longest line, as far as there is room.
fn inner_width(menu: &Menu, labels: usize, room: usize) -> usize {
    let of_item = |item: &Item| match &item.value {
        Value::Pick => characters(&item.label),
        Value::Shown(text) => labels + GAP + characters(text),
        Value::Choice { options, .. } => {
            labels + GAP + 2 + options.iter().map(|option| characters(option)).max().unwrap_or(0)
        }
        Value::Slider { unit, .. } => labels + GAP + SLIDER_CELLS + 6 + characters(unit),
        Value::Text(_) => labels + GAP + FIELD_CHARACTERS,
    };
    let words = menu.notes.iter().map(|note| characters(&note.text));
    let words =
        words.chain(menu.items.iter().map(|item| characters(&item.hint))).chain([characters(&menu.footer)]);
    let widest = menu.items.iter().map(of_item).max().unwrap_or(0);
    let title = characters(&menu.title).max(24);
    words.map(|count| count.min(NOTE_CHARACTERS)).chain([title]).fold(widest, usize::max).min(room)
}

/// The first item that is shown of a list that is longer than `shown`: the chosen one stays in view.
fn first_shown(menu: &Menu, shown: usize) -> usize {
    let last = menu.items.len().saturating_sub(shown);
    menu.chosen().saturating_sub(shown / 2).min(last)
}
