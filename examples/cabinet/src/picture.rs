//! The picture of the cabinet: that of the core, with the words, the net graph and the menu over it.

use std::collections::VecDeque;

use stage::glyphs::{Style, write, write_centered};
use stage::menu::{self, Menu, Theme};
use stage::{Canvas, Cells, Color, Image, Pixels, Point, Raster, at, rgb};

const INK: Color = rgb(0x12_10_1C);
const PAPER: Color = rgb(0xF4_EF_E2);
const GOLD: Color = rgb(0xF2_B8_3B);
const RED: Color = rgb(0xE2_4A_4A);
const BLUE: Color = rgb(0x54_C8_FF);
const THEME: Theme = Theme { ink: INK, paper: PAPER, accent: GOLD, alarm: RED };

/// Frames that the net graph shows: four seconds.
pub const PLOTTED_FRAMES: usize = 240;
/// The most frames that a bar stands for.
const MAX_BAR: f32 = 12.0;
/// The height of the net graph.
const NET_HEIGHT: f32 = 84.0;
/// Characters on a line of words.
const LINE_CHARACTERS: usize = 86;

/// One frame of the net graph.
#[derive(Clone, Copy, Debug, Default)]
pub struct NetSample {
    pub rollback_frames: u32,
    pub is_stalled: bool,
}

/// The net graph: figures, and the last seconds.
#[derive(Clone, Debug, Default)]
pub struct NetView {
    pub lines: Vec<String>,
    pub samples: VecDeque<NetSample>,
}

/// One frame of the cabinet.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    pub image: Image,
    /// The width of the image by its height.
    pub aspect: f32,
    pub words: Vec<String>,
    pub net: Option<NetView>,
    pub menu: Option<Menu>,
}

impl Picture {
    /// The place of the image on a canvas of this size.
    fn place(&self, width: f32, height: f32) -> (Point, f32, f32) {
        let aspect = if self.aspect > 0.0 { self.aspect } else { 4.0 / 3.0 };
        let (wide, tall) =
            if width / height > aspect { (height * aspect, height) } else { (width, width / aspect) };
        (at((width - wide) / 2.0, (height - tall) / 2.0), wide, tall)
    }
}

/// Words in lines that fit.
fn wrapped(words: &[String]) -> impl Iterator<Item = String> {
    words.iter().flat_map(|text| {
        let characters: Vec<char> = text.chars().collect();
        characters.chunks(LINE_CHARACTERS).map(|line| line.iter().collect()).collect::<Vec<String>>()
    })
}

impl stage::Picture for Picture {
    const TITLE: &'static str = "Cabinet";

    fn paint(&self, window: &mut Pixels) {
        let (width, height) = (window.width(), window.height());
        window.rect(at(0.0, 0.0), width, height, INK);
        let (corner, wide, tall) = self.place(width, height);
        window.image(corner, wide, tall, &self.image);
        let lines: Vec<String> = wrapped(&self.words).collect();
        for (index, line) in lines.iter().enumerate() {
            let y = 16.0 + index as f32 * 22.0;
            window.rect(at(0.0, y - 6.0), width, 22.0, INK.faded(0.7));
            write_centered(window, line, at(width / 2.0, y + 5.0), Style::new(1.7, 1.8, PAPER));
        }
        if let Some(net) = &self.net {
            paint_net(window, net);
        }
        if let Some(menu) = &self.menu {
            menu::paint(window, menu, &THEME);
        }
    }

    fn paint_shapes(&self, raster: &mut Raster) {
        raster.clear();
        let (corner, wide, tall) = self.place(raster.width(), raster.height());
        raster.image(corner, wide, tall, &self.image);
        if let Some(menu) = &self.menu {
            menu::paint_shapes(raster, menu, &THEME);
        }
    }

    fn write_words(&self, cells: &mut Cells) {
        for (row, line) in (0..).zip(wrapped(&self.words)) {
            cells.write(0, row, &line, PAPER, Some(INK));
        }
        for (row, line) in (1..).zip(self.net.iter().flat_map(|net| &net.lines)) {
            cells.write(0, cells.rows() as i32 - row, line, GOLD, Some(INK));
        }
        if let Some(menu) = &self.menu {
            menu::write(cells, menu, &THEME);
        }
    }

    fn takes_mouse(&self) -> bool {
        self.menu.is_some()
    }
}

/// A strip along the lower edge: figures on the left, rollbacks and stalls of the last seconds on the right.
fn paint_net(canvas: &mut dyn Canvas, net: &NetView) {
    let (width, height) = (canvas.width(), canvas.height());
    let top = height - NET_HEIGHT;
    canvas.rect(at(0.0, top), width, NET_HEIGHT, INK.faded(0.8));
    for (index, line) in net.lines.iter().enumerate() {
        write(canvas, line, at(14.0, top + 10.0 + index as f32 * 16.0), Style::new(1.4, 1.5, PAPER));
    }
    let (left, tall) = (width * 0.55, NET_HEIGHT - 16.0);
    let (base, step) = (height - 8.0, (width - 14.0 - left) / PLOTTED_FRAMES as f32);
    canvas.rect(at(left, base - tall), width - 14.0 - left, tall, INK);
    let offset = PLOTTED_FRAMES.saturating_sub(net.samples.len());
    for (index, sample) in net.samples.iter().enumerate() {
        let x = left + (offset + index) as f32 * step;
        if sample.is_stalled {
            canvas.rect(at(x, base - tall), step, tall, RED.faded(0.6));
        }
        let bar = (sample.rollback_frames as f32).min(MAX_BAR) / MAX_BAR * tall;
        canvas.rect(at(x, base - bar), step, bar, BLUE);
    }
}
