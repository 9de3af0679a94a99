//! The window's canvas: pixels in memory, filled row by row and handed to the graphics card as one texture.
//!
//! A software renderer shades every pixel of every triangle as a program of its own, ten times slower than a row of
//! memory is filled; a real graphics card has nothing to do either way. Shapes are convex, so a row of one is a run:
//! whole pixels in the middle, parts of pixels at both ends, weighed on four lines a row.

use crate::Image;
use crate::canvas::{Canvas, Color, Point, at};

/// The art is laid out for this size and scaled.
pub const WINDOW_SIZE: (f32, f32) = (WIDTH, HEIGHT);
pub(crate) const WIDTH: f32 = 960.0;
pub(crate) const HEIGHT: f32 = 540.0;
/// More pixels than this are left to the graphics card to make out of fewer.
const MAX_SCALE: f32 = 1.5;
/// Lines in a row of pixels on which the edges of shapes are weighed.
const LINES: i32 = 4;

type Rgba = [u8; 4];

#[derive(Debug, Default)]
pub struct Pixels {
    width: usize,
    height: usize,
    scale: f32,
    rows: Vec<Rgba>,
    /// The corners of the shape at hand, in pixels.
    outline: Vec<Point>,
    /// From where to where the shape covers each line.
    runs: Vec<[f32; 2]>,
}

impl Pixels {
    /// As many pixels as a window of this size has use for.
    pub fn fit(&mut self, width: f32, height: f32) {
        self.scale = (width / WIDTH).min(height / HEIGHT).clamp(0.25, MAX_SCALE);
        let size = ((WIDTH * self.scale).round() as usize, (HEIGHT * self.scale).round() as usize);
        if (self.width, self.height) != size {
            (self.width, self.height) = size;
            self.rows.clear();
            self.rows.resize(size.0 * size.1, [0, 0, 0, 255]);
        }
    }

    pub fn size(&self) -> (u16, u16) {
        (self.width as u16, self.height as u16)
    }

    /// Red, green, blue and full opacity of each pixel, row by row.
    pub fn bytes(&self) -> &[u8] {
        self.rows.as_flattened()
    }

    /// Stretches an image over a rectangle that lies inside the canvas.
    pub fn image(&mut self, corner: Point, width: f32, height: f32, image: &Image) {
        let place = |at: f32, limit: usize| ((at * self.scale).round().max(0.0) as usize).min(limit);
        let (left, right) = (place(corner.x, self.width), place(corner.x + width, self.width));
        let (top, bottom) = (place(corner.y, self.height), place(corner.y + height, self.height));
        if image.is_empty() || left >= right || top >= bottom {
            return;
        }
        for (y, pixels) in (top..).zip(image.stretched(right - left, bottom - top)) {
            let row = &mut self.rows[y * self.width + left..y * self.width + right];
            row.iter_mut().zip(pixels).for_each(|(slot, pixel)| *slot = pixel);
        }
    }

    /// Fills `from..to` of a row; `opacity` is 0 to 256.
    fn fill(&mut self, y: usize, from: usize, to: usize, color: Color, opacity: u32) {
        let over = [color.r, color.g, color.b, 255];
        let start = y * self.width;
        let Some(row) = self.rows.get_mut(start + from..start + to.min(self.width)) else { return };
        match opacity {
            0 => {}
            256.. => row.fill(over),
            _ => row.iter_mut().for_each(|under| *under = blend(*under, over, opacity)),
        }
    }

    /// The shape whose corners are in `outline`.
    fn convex(&mut self, color: Color) {
        let lines = LINES as f32;
        let limit = self.height as i32 * LINES;
        // The first line at or below a height.
        let line_at = |y: f32| ((y * lines - 0.5).ceil() as i32).clamp(0, limit);
        let low = self.outline.iter().map(|point| point.y).fold(f32::INFINITY, f32::min);
        let high = self.outline.iter().map(|point| point.y).fold(f32::NEG_INFINITY, f32::max);
        let (first, last) = (line_at(low), line_at(high));
        if first >= last {
            return;
        }
        self.runs.clear();
        self.runs.resize((last - first) as usize, [f32::INFINITY, f32::NEG_INFINITY]);
        for (index, a) in self.outline.iter().enumerate() {
            let b = self.outline[(index + 1) % self.outline.len()];
            let (from, to) = if a.y <= b.y { (*a, b) } else { (b, *a) };
            let slope = (to.x - from.x) / (to.y - from.y);
            for line in line_at(from.y)..line_at(to.y) {
                let x = from.x + ((line as f32 + 0.5) / lines - from.y) * slope;
                let run = &mut self.runs[(line - first) as usize];
                *run = [run[0].min(x), run[1].max(x)];
            }
        }
        for row in first / LINES..(last + LINES - 1) / LINES {
            self.convex_row(row, first, last, color);
        }
    }

    fn convex_row(&mut self, row: i32, first: i32, last: i32, color: Color) {
        let width = self.width as f32;
        let mut runs = [[0.0_f32; 2]; LINES as usize];
        let mut count = 0;
        for line in (row * LINES).max(first)..(row * LINES + LINES).min(last) {
            let [from, to] = self.runs[(line - first) as usize];
            let run = [from.clamp(0.0, width), to.clamp(0.0, width)];
            if run[0] < run[1] {
                runs[count] = run;
                count += 1;
            }
        }
        let runs = &runs[..count];
        let from = runs.iter().map(|run| run[0]).fold(f32::INFINITY, f32::min);
        let to = runs.iter().map(|run| run[1]).fold(f32::NEG_INFINITY, f32::max);
        if from >= to {
            return;
        }
        let (from, to) = (from as usize, to.ceil() as usize);
        // The part that is covered on all lines with a run is filled in one go.
        let inner = runs.iter().map(|run| run[0]).fold(0.0, f32::max).ceil() as usize;
        let inner_end = runs.iter().map(|run| run[1]).fold(width, f32::min) as usize;
        let (inner, inner_end) = if inner < inner_end { (inner, inner_end) } else { (to, to) };
        let y = row as usize;
        let opacity = u32::from(color.a) + u32::from(color.a >> 7);
        for x in (from..inner).chain(inner_end..to) {
            let covered: f32 = runs.iter().map(|run| overlap(x, *run)).sum();
            self.fill(y, x, x + 1, color, (opacity as f32 * covered / LINES as f32) as u32);
        }
        self.fill(y, inner, inner_end, color, opacity * count as u32 / LINES as u32);
    }

    /// As many corners as a circle of this size needs to look round.
    fn corners(&self, radius: f32) -> u16 {
        ((radius * self.scale).sqrt() * 4.2).clamp(8.0, 48.0) as u16
    }
}

/// How much of the pixel at `place` lies within `run`.
fn overlap(place: usize, [from, to]: [f32; 2]) -> f32 {
    (to.min(place as f32 + 1.0) - from.max(place as f32)).clamp(0.0, 1.0)
}

/// Two colour parts at a time; `weight` is 0 to 256.
fn blend(under: Rgba, over: Rgba, weight: u32) -> Rgba {
    const ODD: u32 = 0x00FF_00FF;
    let (under, over) = (u32::from_le_bytes(under), u32::from_le_bytes(over));
    let mix = |under: u32, over: u32| (under & ODD) * (256 - weight) + (over & ODD) * weight;
    (mix(under, over) >> 8 & ODD | mix(under >> 8, over >> 8) & !ODD).to_le_bytes()
}

impl Canvas for Pixels {
    fn width(&self) -> f32 {
        WIDTH
    }

    fn height(&self) -> f32 {
        HEIGHT
    }

    fn gradient(&mut self, corner: Point, width: f32, height: f32, above: Color, below: Color) {
        let scale = self.scale;
        let limits = [self.width as f32, self.height as f32];
        let across = [corner.x, corner.x + width].map(|x| (x * scale).clamp(0.0, limits[0]));
        let down = [corner.y, corner.y + height].map(|y| (y * scale).clamp(0.0, limits[1]));
        if across[0] >= across[1] || down[0] >= down[1] {
            return;
        }
        let (from, to) = (across[0] as usize, across[1].ceil() as usize);
        let (inner, inner_end) = (across[0].ceil() as usize, across[1] as usize);
        let (inner, inner_end) = if inner < inner_end { (inner, inner_end) } else { (to, to) };
        for y in down[0] as usize..down[1].ceil() as usize {
            let share = ((y as f32 + 0.5) / scale - corner.y) / height;
            let color = if above == below { above } else { above.mix(below, share) };
            let opacity = (u32::from(color.a) + u32::from(color.a >> 7)) as f32 * overlap(y, down);
            for x in (from..inner).chain(inner_end..to) {
                self.fill(y, x, x + 1, color, (opacity * overlap(x, across)) as u32);
            }
            self.fill(y, inner, inner_end, color, opacity as u32);
        }
    }

    fn disc(&mut self, center: Point, radius: f32, color: Color) {
        let (count, scale) = (self.corners(radius), self.scale);
        self.outline.clear();
        self.outline.extend((0..count).map(|corner| {
            let (sine, cosine) = (f32::from(corner) / f32::from(count) * core::f32::consts::TAU).sin_cos();
            at((center.x + cosine * radius) * scale, (center.y + sine * radius) * scale)
        }));
        self.convex(color);
    }

    fn capsule(&mut self, from: Point, to: Point, radii: [f32; 2], color: Color) {
        let (dx, dy) = (to.x - from.x, to.y - from.y);
        let length = dx.hypot(dy);
        // One end within the other is a disc.
        if length <= (radii[0] - radii[1]).abs() + 0.01 {
            let center = if radii[0] >= radii[1] { from } else { to };
            return self.disc(center, radii[0].max(radii[1]), color);
        }
        let along = dy.atan2(dx);
        // The round ends meet the sides where both circles have a common tangent.
        let lean = ((radii[0] - radii[1]) / length).clamp(-1.0, 1.0).acos();
        let (half, scale) = (self.corners(radii[0].max(radii[1])) / 2 + 1, self.scale);
        let end = move |center: Point, radius: f32, start: f32, sweep: f32, step: u16| {
            let (sine, cosine) = (start + sweep * f32::from(step) / f32::from(half - 1)).sin_cos();
            at((center.x + cosine * radius) * scale, (center.y + sine * radius) * scale)
        };
        let tau = core::f32::consts::TAU;
        self.outline.clear();
        self.outline.extend((0..half * 2).map(|step| {
            if step < half {
                end(to, radii[1], along - lean, lean * 2.0, step)
            } else {
                end(from, radii[0], along + lean, tau - lean * 2.0, step - half)
            }
        }));
        self.convex(color);
    }

    fn polygon(&mut self, corners: &[Point], color: Color) {
        let scale = self.scale;
        self.outline.clear();
        self.outline.extend(corners.iter().map(|point| at(point.x * scale, point.y * scale)));
        self.convex(color);
    }
}
