//! The net graph: figures and a plot of the last seconds, as a window and a terminal show them.

use stage::glyphs::{self, Style, write, write_ending};
use stage::{Canvas, Cells, Color, Point, Raster, at, rgb};

use super::hud::{GOLD, INK, PAPER, RED};
use crate::netgraph::{NetGraph, NetSample, PLOTTED_FRAMES};

/// How tall the strip is in a window, and how many rows it has in a terminal.
pub const NET_HEIGHT: f32 = 98.0;
pub const NET_ROWS: usize = 5;

const ROLLED_BACK: Color = rgb(0x54_C8_FF);
const GUESSED: Color = rgb(0x8C_E0_8C);
const WAITED: Color = RED;
const JUMPED: Color = GOLD;

/// Every colour of the plot, and its meaning.
pub const LEGEND: [(&str, Color); 4] =
    [("rolled back", ROLLED_BACK), ("guessed", GUESSED), ("waited", WAITED), ("jumped", JUMPED)];
/// The same in fewer characters.
const SHORT_LEGEND: [&str; 4] = ["back", "guess", "wait", "jump"];

/// The most frames that a bar stands for in a window.
const MAX_FRAMES: f32 = 12.0;

/// A strip along the floor, below the fighters' feet: figures on the left, the plot on the right.
pub fn paint_window(canvas: &mut dyn Canvas, net: &NetGraph) {
    let (width, height) = (canvas.width(), canvas.height());
    let top = height - NET_HEIGHT;
    canvas.rect(at(0.0, top), width, NET_HEIGHT, INK.faded(0.78));
    canvas.rect(at(0.0, top), width, 2.0, GOLD.faded(0.7));
    for (index, (label, value)) in net.lines().iter().enumerate() {
        let column = (index / 5) as f32 * 286.0;
        let place = at(14.0 + column, top + 13.0 + (index % 5) as f32 * 16.0);
        write(canvas, label, place, Style::new(1.4, 1.5, GOLD));
        write(canvas, value, place.plus(104.0, 0.0), Style::new(1.4, 1.5, PAPER));
    }
    let (left, right) = (600.0, width - 12.0);
    let mut place = at(left, top + 10.0);
    for (text, color) in LEGEND {
        canvas.rect(place.plus(0.0, 0.5), 7.0, 7.0, color);
        write(canvas, text, place.plus(12.0, 0.0), Style::new(1.3, 1.4, PAPER));
        place.x += glyphs::width(text, 1.3) + 24.0;
    }
    paint_plot(canvas, net, at(left, height - 20.0), right - left, NET_HEIGHT - 46.0);
    let small = Style::new(1.1, 1.2, PAPER.faded(0.8));
    write(canvas, "4 s ago", at(left, height - 14.0), small);
    write_ending(canvas, "now", at(right, height - 14.0), small);
}

/// Rollback depth as bars, guessed frames as a line of dots, waits in red, and a tick where a fighter jumped.
fn paint_plot(canvas: &mut dyn Canvas, net: &NetGraph, base: Point, wide: f32, tall: f32) {
    let step = wide / PLOTTED_FRAMES as f32;
    canvas.rect(base.plus(0.0, -tall), wide, tall, INK.faded(0.6));
    for (rule, unit) in [(0.0, ""), (4.0, ""), (8.0, ""), (12.0, "f")] {
        let y = base.y - tall * rule / MAX_FRAMES;
        canvas.rect(at(base.x, y), wide, 1.0, PAPER.faded(0.16));
        write_ending(
            canvas,
            &format!("{rule}{unit}"),
            at(base.x - 5.0, y - 3.0),
            Style::new(1.1, 1.2, PAPER.faded(0.8)),
        );
    }
    let offset = PLOTTED_FRAMES - net.samples().len();
    for (index, sample) in net.samples().enumerate() {
        let x = base.x + (offset + index) as f32 * step;
        let up = |frames: u32| (frames as f32).min(MAX_FRAMES) / MAX_FRAMES * tall;
        if sample.stalled {
            canvas.rect(at(x, base.y - tall), step + 0.4, tall, WAITED.faded(0.55));
        }
        if sample.rollback_frames > 0 {
            let height = up(sample.rollback_frames);
            canvas.rect(at(x, base.y - height), step.max(1.0), height, ROLLED_BACK);
        }
        canvas.rect(at(x, base.y - up(sample.predicted_frames) - 1.0), step, 1.6, GUESSED.faded(0.8));
        if sample.moved {
            canvas.rect(at(x - 0.5, base.y - tall), 2.0, 7.0, JUMPED);
        }
    }
}

/// The columns of a terminal that the figures and the plot get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Columns {
    /// How many columns of figures there are, and how wide each is.
    pub figures: usize,
    pub wide: usize,
    /// The first column of the plot, after the numbers of its axis.
    pub plot: usize,
}

/// Characters of a label, with the gap after it.
const LABEL: usize = 12;
/// The narrowest plot that says anything.
const MIN_PLOT: usize = 24;

impl Columns {
    /// As many figures as leave room for a plot.
    pub fn of(net: &NetGraph, columns: usize) -> Self {
        let lines = net.lines();
        let with = |figures: usize| {
            let shown = lines.iter().take(figures * NET_ROWS);
            let longest = shown.map(|(_, value)| value.chars().count()).max().unwrap_or(0);
            let wide = LABEL + longest.max(18) + 1;
            Self { figures, wide, plot: 1 + figures * wide + 3 }
        };
        let two = with(2);
        if two.plot + MIN_PLOT <= columns { two } else { with(1) }
    }
}

/// The shapes of the strip in a terminal.
pub fn paint_pixels(raster: &mut Raster, net: &NetGraph) {
    let (wide, tall) = (raster.width(), NET_ROWS as f32 * 2.0);
    let top = raster.height() - tall;
    raster.rect(at(0.0, top), wide, tall, INK.faded(0.88));
    let left = Columns::of(net, wide as usize).plot;
    // One row is the legend's; a pixel is a frame.
    let (top, tall) = (top + 2.0, tall - 2.0);
    let columns = (wide as usize).saturating_sub(left + 1);
    raster.rect(at(left as f32, top), columns as f32, tall, INK);
    let samples: Vec<_> = net.samples().collect();
    // A column is as many frames as it must be, and shows the worst of them.
    for (column, frames) in samples.rchunks(PLOTTED_FRAMES.div_ceil(columns.max(1))).take(columns).enumerate()
    {
        let x = wide - 2.0 - column as f32;
        let most = |pick: fn(&NetSample) -> u32| {
            (frames.iter().map(|sample| pick(sample)).max().unwrap_or(0) as f32).min(tall)
        };
        let (bar, dot) = (most(|sample| sample.rollback_frames), most(|sample| sample.predicted_frames));
        if frames.iter().any(|sample| sample.stalled) {
            raster.rect(at(x, top), 1.0, tall, WAITED.faded(0.7));
        }
        raster.rect(at(x, top + tall - bar), 1.0, bar, ROLLED_BACK);
        raster.rect(at(x, (top + tall - dot).clamp(top, top + tall - 1.0)), 1.0, 1.0, GUESSED.faded(0.8));
        if frames.iter().any(|sample| sample.moved) {
            raster.rect(at(x, top), 1.0, 1.0, JUMPED);
        }
    }
}

/// The words of the strip in a terminal.
pub fn write_words(cells: &mut Cells, net: &NetGraph) {
    let top = cells.rows() - NET_ROWS;
    let Columns { figures, wide, plot } = Columns::of(net, cells.columns());
    for (index, (label, value)) in net.lines().iter().take(figures * NET_ROWS).enumerate() {
        let column = (index / NET_ROWS * wide + 1) as i32;
        let row = (top + index % NET_ROWS) as i32;
        cells.write(column, row, label, GOLD, None);
        cells.write(column + LABEL as i32, row, value, PAPER, None);
    }
    for (row, number) in [(1, "8f"), (3, "4"), (4, "0")] {
        cells.write_ending(plot as i32 - 1, (top + row) as i32, number, PAPER, None);
    }
    let room = cells.columns().saturating_sub(plot);
    let long: usize = LEGEND.iter().map(|(text, _)| text.len() + 3).sum();
    let mut column = plot as i32;
    for ((text, color), short) in LEGEND.into_iter().zip(SHORT_LEGEND) {
        if long <= room {
            cells.write(column, top as i32, "■", color, None);
            cells.write(column + 1, top as i32, text, PAPER, None);
            column += text.len() as i32 + 3;
        } else {
            cells.write(column, top as i32, short, color, None);
            column += short.len() as i32 + 1;
        }
    }
}
