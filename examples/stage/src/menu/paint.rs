//! The drawing of a menu: once, with a pen for the window, one for the shapes of a terminal and one for its words.

use super::layout::{Line, SLIDER_CELLS};
use super::{Grid, Item, Layout, Menu, Value};
use crate::glyphs::{self, Style};
use crate::{Canvas, Cells, Color, Raster, at, characters};

/// The colours of a menu.
#[derive(Clone, Copy, Debug)]
pub struct Theme {
    pub ink: Color,
    pub paper: Color,
    /// Rules, the chosen item and values.
    pub accent: Color,
    /// Warnings, and the shadow of the title.
    pub alarm: Color,
}

/// Draws on a grid of cells.
trait Pen {
    /// A rectangle, in cells and parts of cells.
    fn rect(&mut self, column: f32, row: f32, wide: f32, tall: f32, color: Color);
    /// A label: in a window, in capitals.
    fn label(&mut self, column: usize, row: usize, text: &str, color: Color) {
        self.words(column, row, text, color);
    }
    /// Prose, a value or a path, whose small letters stay small.
    fn words(&mut self, column: usize, row: usize, text: &str, color: Color);
    /// Words in the middle of `wide` columns from `column`.
    fn centered(&mut self, column: usize, row: usize, wide: usize, text: &str, color: Color) {
        let room = wide.saturating_sub(characters::width(text));
        self.words(column + room / 2, row, text, color);
    }
    /// A label in the middle, likewise.
    fn centered_label(&mut self, column: usize, row: usize, wide: usize, text: &str, color: Color) {
        self.centered(column, row, wide, text, color);
    }

    /// The title in large characters, centred in `wide` columns from `column`.
    fn large(&mut self, column: usize, row: usize, wide: usize, text: &str, theme: &Theme);
}

struct WindowPen<'a>(&'a mut dyn Canvas);

impl WindowPen<'_> {
    fn words_at(&mut self, column: f32, row: usize, text: &str, cased: bool, color: Color) {
        let cell = Grid::WINDOW.cell;
        // One character with its gap is six units wide, and six units are one cell.
        let unit = cell.x / 6.0;
        let corner = at(column * cell.x, row as f32 * cell.y + cell.y / 2.0 - unit * 3.0);
        glyphs::write(self.0, text, corner, Style { cased, ..Style::new(unit, unit * 1.12, color) });
    }
}

impl Pen for WindowPen<'_> {
    fn rect(&mut self, column: f32, row: f32, wide: f32, tall: f32, color: Color) {
        let cell = Grid::WINDOW.cell;
        self.0.rect(at(column * cell.x, row * cell.y), wide * cell.x, tall * cell.y, color);
    }

    fn label(&mut self, column: usize, row: usize, text: &str, color: Color) {
        self.words_at(column as f32, row, text, false, color);
    }

    fn words(&mut self, column: usize, row: usize, text: &str, color: Color) {
        self.words_at(column as f32, row, text, true, color);
    }

    // Not on whole cells, as in a terminal: half a cell of a window is seen.
    fn centered(&mut self, column: usize, row: usize, wide: usize, text: &str, color: Color) {
        let room = wide.saturating_sub(characters::width(text));
        self.words_at(column as f32 + room as f32 / 2.0, row, text, true, color);
    }

    fn centered_label(&mut self, column: usize, row: usize, wide: usize, text: &str, color: Color) {
        let room = wide.saturating_sub(characters::width(text));
        self.words_at(column as f32 + room as f32 / 2.0, row, text, false, color);
    }

    fn large(&mut self, column: usize, row: usize, wide: usize, text: &str, theme: &Theme) {
        let cell = Grid::WINDOW.cell;
        let room = wide as f32 * cell.x - 60.0;
        let unit = (room / glyphs::width(text, 1.0).max(1.0)).min(8.0);
        let middle = at(
            (column as f32 + wide as f32 / 2.0) * cell.x - unit * 0.4,
            (row as f32 + 1.5) * cell.y - unit * 3.0,
        );
        let style = Style::new(unit, unit * 1.25, theme.paper).slanted(0.14);
        let shadow = Style { color: theme.alarm, ..style };
        glyphs::write_centered(self.0, text, middle.plus(unit * 0.2, unit * 0.45), shadow);
        glyphs::write_centered(self.0, text, middle, style);
    }
}

/// Pixels of a terminal: two to a cell.
struct ShapePen<'a>(&'a mut Raster);

impl Pen for ShapePen<'_> {
    fn rect(&mut self, column: f32, row: f32, wide: f32, tall: f32, color: Color) {
        self.0.rect(at(column, row * 2.0), wide, tall * 2.0, color);
    }

    fn words(&mut self, _: usize, _: usize, _: &str, _: Color) {}

    fn large(&mut self, column: usize, row: usize, wide: usize, text: &str, theme: &Theme) {
        let characters = glyphs::width(text, 1.0);
        let left = (column as f32 + (wide as f32 - characters) / 2.0).floor() + 0.5;
        for (shift, color) in [(1.0, theme.alarm.darker(0.2)), (0.0, theme.paper)] {
            let corner = at(left + shift, row as f32 * 2.0 + 0.5 + shift);
            glyphs::write(self.0, text, corner, Style::new(1.0, 1.0, color));
        }
    }
}

/// The words of a terminal.
struct WordPen<'a>(&'a mut Cells);

impl Pen for WordPen<'_> {
    fn rect(&mut self, _: f32, _: f32, _: f32, _: f32, _: Color) {}

    fn words(&mut self, column: usize, row: usize, text: &str, color: Color) {
        self.0.write(column as i32, row as i32, text, color, None);
    }

    fn large(&mut self, _: usize, _: usize, _: usize, _: &str, _: &Theme) {}
}

/// Paints a menu into the window.
pub fn paint(canvas: &mut dyn Canvas, menu: &Menu, theme: &Theme) {
    draw(&mut WindowPen(canvas), menu, Grid::WINDOW, theme, 0.9);
}

/// Paints the shapes of a menu into a terminal.
pub fn paint_shapes(raster: &mut Raster, menu: &Menu, theme: &Theme) {
    let grid = Grid::terminal(raster.width() as usize, raster.height() as usize / 2);
    draw(&mut ShapePen(raster), menu, grid, theme, 1.0);
}

/// Writes the words of a menu over its shapes in a terminal.
pub fn write(cells: &mut Cells, menu: &Menu, theme: &Theme) {
    let grid = Grid::terminal(cells.columns(), cells.rows());
    draw(&mut WordPen(cells), menu, grid, theme, 1.0);
}

fn draw(pen: &mut dyn Pen, menu: &Menu, grid: Grid, theme: &Theme, opacity: f32) {
    let layout = Layout::of(menu, grid);
    let (left, top) = (layout.left as f32, layout.top as f32);
    let (wide, tall) = (layout.wide as f32, layout.tall as f32);
    if !menu.has_view {
        pen.rect(0.0, 0.0, grid.columns as f32, grid.rows as f32, theme.ink.faded(0.45));
    }
    pen.rect(left, top, wide, tall, theme.ink.faded(opacity));
    // A rule is half a cell of a terminal, and thinner in a window.
    let rule = if grid == Grid::WINDOW { 0.12 } else { 0.5 };
    pen.rect(left, top, wide, rule, theme.accent);
    pen.rect(left, top + tall - rule, wide, rule, theme.accent);
    let mut items = Vec::new();
    for (row, line) in layout.lines() {
        let mut centered = |text: &str, color| pen.centered(layout.left, row, layout.wide, text, color);
        match line {
            Line::Title { is_large: true } => pen.large(layout.left, row, layout.wide, &menu.title, theme),
            Line::Title { .. } => {
                pen.centered_label(layout.left, row, layout.wide, &menu.title, theme.paper);
            }
            Line::Note { text, is_warning } => {
                let color = if *is_warning { theme.alarm.lighter(0.35) } else { theme.paper.darker(0.12) };
                centered(text, color);
            }
            Line::Hint(text) => centered(text, theme.paper.darker(0.3)),
            Line::Footer(text) => centered(text, theme.accent.darker(0.25)),
            Line::Gap => {}
            Line::Item(index) => {
                items.push(row);
                draw_item(pen, menu, *index, row, &layout, theme);
            }
        }
    }
    let marks = [(items.first(), layout.more[0], "^"), (items.last(), layout.more[1], "v")];
    for (row, is_more, mark) in marks {
        if let (Some(row), true) = (row, is_more) {
            pen.words(layout.left + layout.wide - 2, *row, mark, theme.accent);
        }
    }
}

fn draw_item(pen: &mut dyn Pen, menu: &Menu, index: usize, row: usize, layout: &Layout, theme: &Theme) {
    let item = &menu.items[index];
    let is_chosen = index == menu.chosen();
    if is_chosen {
        let (left, wide) = (layout.left as f32 + 1.0, layout.wide as f32 - 2.0);
        pen.rect(left, row as f32, wide, 1.0, theme.accent.darker(0.72));
        pen.rect(left, row as f32, 0.5, 1.0, theme.accent);
    }
    let color = match (item.is_open(), is_chosen) {
        (false, _) => theme.paper.darker(0.6),
        (true, true) => theme.accent,
        (true, false) => theme.paper,
    };
    if item.value == Value::Pick {
        let room = layout.wide.saturating_sub(6);
        let label = characters::head(&item.label, room);
        // Beside items with values a centred label would hang in the air.
        if menu.items.iter().any(|item| item.value != Value::Pick) {
            pen.label(layout.left + 3, row, label, color);
        } else {
            pen.centered_label(layout.left, row, layout.wide, label, color);
        }
        return;
    }
    let label = characters::head(&item.label, layout.values_at.saturating_sub(4));
    pen.label(layout.left + 3, row, label, color);
    draw_value(pen, item, is_chosen, row, layout, theme);
}

fn draw_value(pen: &mut dyn Pen, item: &Item, is_chosen: bool, row: usize, layout: &Layout, theme: &Theme) {
    let (column, room) = (layout.left + layout.values_at, layout.value_room());
    let color = if item.is_open() { theme.paper } else { theme.paper.darker(0.6) };
    match &item.value {
        Value::Pick => {}
        Value::Shown(text) => pen.words(column, row, characters::head(text, room), color),
        Value::Choice { options, at } => {
            let option = options.get(*at).map_or("", String::as_str);
            pen.words(column, row, characters::head(option, room), color);
            if is_chosen {
                let shown = |is_more: bool| if is_more { theme.accent } else { theme.accent.darker(0.6) };
                pen.words(column - 2, row, "<", shown(*at > 0));
                let end = column + 1 + characters::width(option);
                pen.words(end, row, ">", shown(*at + 1 < options.len()));
            }
        }
        Value::Slider { at, max, unit, .. } => {
            let share = f32::from(*at) / f32::from(*max).max(1.0);
            let (left, top, wide) = (column as f32, row as f32 + 0.25, SLIDER_CELLS as f32);
            pen.rect(left, top, wide, 0.5, theme.paper.darker(0.7));
            pen.rect(left, top, wide * share, 0.5, if is_chosen { theme.accent } else { color.darker(0.2) });
            pen.words(column + SLIDER_CELLS + 1, row, &format!("{at}{unit}"), color);
        }
        Value::Text(field) => {
            pen.rect(column as f32, row as f32, room as f32, 1.0, theme.paper.darker(0.82));
            // The cursor behind the last character has a cell too.
            let view = field.view(room.saturating_sub(1));
            let wide = characters::width(view.text);
            let is_at_end = view.cursor == wide;
            if is_chosen && view.is_selected {
                pen.rect(column as f32, row as f32, wide as f32, 1.0, theme.accent.darker(0.5));
            } else if is_chosen && !is_at_end {
                pen.rect((column + view.cursor) as f32, row as f32, 1.0, 1.0, theme.accent.darker(0.2));
            }
            if is_chosen && is_at_end {
                pen.words(column + wide, row, "_", theme.accent);
            }
            pen.words(column, row, view.text, color);
        }
    }
}
