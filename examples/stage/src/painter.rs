//! The layout of a terminal: how much of it a picture gets, and the words for a terminal that is too small.

use crate::{Cells, Color, Depth, Picture, Raster, rgb};

/// A larger terminal shows the picture in its middle: more cells are more bytes, not more fun.
const MAX_COLUMNS: u16 = 160;
const MAX_ROWS: u16 = 50;
/// Smaller than this nothing can be recognised.
const MIN_COLUMNS: u16 = 60;
const MIN_ROWS: u16 = 18;
const PAPER: Color = rgb(0xFF_F6_E4);

/// Turns pictures into the bytes that show them in a terminal.
#[derive(Debug)]
pub struct Painter {
    raster: Raster,
    cells: Cells,
}

impl Painter {
    pub fn new(depth: Depth) -> Self {
        let raster = if depth == Depth::Mono { Raster::mono() } else { Raster::default() };
        Self { raster, cells: Cells::new(depth) }
    }

    /// Whether a terminal of these columns and rows is large enough for a picture.
    pub const fn has_room((columns, rows): (u16, u16)) -> bool {
        columns >= MIN_COLUMNS && rows >= MIN_ROWS
    }

    /// The columns and rows of the picture in a terminal of this size, in whose middle it lies.
    pub fn area((columns, rows): (u16, u16)) -> (u16, u16) {
        (columns.min(MAX_COLUMNS), rows.min(MAX_ROWS))
    }

    /// The bytes that show `picture` in a terminal of this size.
    pub fn paint(&mut self, picture: &impl Picture, size: (u16, u16)) -> &[u8] {
        if !Self::has_room(size) {
            return self.ask_for_room(size);
        }
        let (columns, rows) = Self::area(size);
        self.cells.resize_around((size.0.into(), size.1.into()), (columns.into(), rows.into()));
        self.raster.resize(columns.into(), usize::from(rows) * 2);
        picture.paint_shapes(&mut self.raster);
        self.cells.take_pixels(&self.raster);
        picture.write_words(&mut self.cells);
        self.cells.changes()
    }

    /// The bytes that tell the player of a terminal of this size how large it has to be.
    pub fn ask_for_room(&mut self, (columns, rows): (u16, u16)) -> &[u8] {
        self.cells.resize(columns.into(), rows.into());
        self.raster.resize(columns.into(), usize::from(rows) * 2);
        self.raster.clear();
        self.cells.take_pixels(&self.raster);
        let middle = i32::from(rows) / 2;
        let lines = [
            format!("needs {MIN_COLUMNS} x {MIN_ROWS} characters"),
            format!("this is {columns} x {rows}"),
            "ctrl-c leaves".to_owned(),
        ];
        for (row, line) in (middle - 1..).zip(&lines) {
            self.cells.write_centered(row, line, PAPER, None);
        }
        self.cells.changes()
    }

    /// The cells of the last picture.
    pub const fn cells(&self) -> &Cells {
        &self.cells
    }
}
