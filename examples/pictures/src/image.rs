//! Pictures as pixels in memory: a window as it is, a terminal with its characters drawn.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use duel::picture::Picture;
use stage::glyphs::{self, Style};
use stage::{Canvas, Cells, Color, Depth, Painter, Picture as _, Pixels, Raster, at};

/// The pixels of a cell of the terminal, across and down.
const CELL: (usize, usize) = (8, 16);

/// Red, green and blue of each pixel, row by row.
pub(crate) struct Image {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) pixels: Vec<[u8; 3]>,
}

impl Image {
    /// A window with this many pixels.
    pub(crate) fn of_window(picture: &Picture, width: u16, height: u16) -> Self {
        let mut canvas = Pixels::default();
        canvas.fit(width.into(), height.into());
        picture.paint(&mut canvas);
        let (width, height) = canvas.size();
        let pixels = canvas.bytes().chunks_exact(4).map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
        Self { width: width.into(), height: height.into(), pixels }
    }

    /// A terminal with these columns and rows, in all colours.
    pub(crate) fn of_terminal(picture: &Picture, size: (u16, u16)) -> Self {
        Self::of_cells(picture, size, Depth::Full)
    }

    /// A terminal with these columns and rows.
    pub(crate) fn of_cells(picture: &Picture, size: (u16, u16), depth: Depth) -> Self {
        let mut painter = Painter::new(depth);
        painter.paint(picture, size);
        Self::draw_cells(painter.cells(), depth == Depth::Mono)
    }

    fn draw_cells(cells: &Cells, mono: bool) -> Self {
        let (columns, rows) = cells.size();
        let (width, height) = (columns * CELL.0, rows * CELL.1);
        let mut canvas = Raster::default();
        canvas.resize(width, height);
        for row in 0..rows {
            for column in 0..columns {
                let (character, ink, paper) = cells.cell(column, row);
                // A terminal without colours has its own: characters are light on dark here.
                let ink = if mono { Color { r: 220, g: 220, b: 220, a: 255 } } else { ink };
                draw_cell(&mut canvas, (column, row), character, ink, paper);
            }
        }
        let pixels = (0..width * height).map(|index| canvas.pixel(index % width, index / width)).collect();
        Self { width, height, pixels }
    }

    /// Writes the image as a PNG file.
    pub(crate) fn save(&self, path: &Path) -> Result<(), String> {
        let said = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let file = File::create(path).map_err(|error| said(&error))?;
        let mut encoder = png::Encoder::new(BufWriter::new(file), self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::Best);
        encoder.set_adaptive_filter(png::AdaptiveFilterType::Adaptive);
        let mut writer = encoder.write_header().map_err(|error| said(&error))?;
        writer.write_image_data(self.pixels.as_flattened()).map_err(|error| said(&error))
    }
}

fn draw_cell(canvas: &mut Raster, (column, row): (usize, usize), character: char, ink: Color, paper: Color) {
    let (wide, tall) = (CELL.0 as f32, CELL.1 as f32);
    let corner = at(column as f32 * wide, row as f32 * tall);
    canvas.rect(corner, wide, tall, paper);
    let middle = corner.plus(wide / 2.0, tall / 2.0);
    match character {
        ' ' => {}
        '▀' => canvas.rect(corner, wide, tall / 2.0, ink),
        '▄' => canvas.rect(corner.plus(0.0, tall / 2.0), wide, tall / 2.0, ink),
        '█' => canvas.rect(corner, wide, tall, ink),
        '▓' => canvas.rect(corner, wide, tall, ink.faded(0.75)),
        '▒' => canvas.rect(corner, wide, tall, ink.faded(0.5)),
        '░' => canvas.rect(corner, wide, tall, ink.faded(0.25)),
        '■' => canvas.rect(corner.plus(1.0, 5.0), 6.0, 6.0, ink),
        '●' => canvas.disc(middle, 3.4, ink),
        '○' => {
            canvas.disc(middle, 3.4, ink);
            canvas.disc(middle, 2.0, paper);
        }
        _ => {
            let style = Style { cased: true, ..Style::new(1.4, 1.25, ink) };
            glyphs::write(canvas, &character.to_string(), corner.plus(1.2, 3.5), style);
        }
    }
}
