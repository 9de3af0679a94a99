//! A canvas of plain pixels, for the terminal: every shape is filled by its distance, so that edges are smooth.

use crate::Image;
use crate::canvas::{Canvas, Color, Point};

/// Pixels, row by row.
#[derive(Debug, Default)]
pub struct Raster {
    width: usize,
    height: usize,
    pixels: Vec<[u8; 3]>,
    mono: bool,
}

impl Raster {
    /// A canvas of which only brightness is seen.
    pub fn mono() -> Self {
        Self { mono: true, ..Self::default() }
    }

    pub fn resize(&mut self, width: usize, height: usize) {
        if (self.width, self.height) != (width, height) {
            (self.width, self.height) = (width, height);
            self.pixels.clear();
            self.pixels.resize(width * height, [0; 3]);
        }
    }

    pub fn clear(&mut self) {
        self.pixels.fill([0; 3]);
    }

    /// Stretches an image over a rectangle of whole pixels that lies inside the canvas.
    pub fn image(&mut self, corner: Point, width: f32, height: f32, image: &Image) {
        let place = |at: f32, limit: usize| (at.round().max(0.0) as usize).min(limit);
        let (left, right) = (place(corner.x, self.width), place(corner.x + width, self.width));
        let (top, bottom) = (place(corner.y, self.height), place(corner.y + height, self.height));
        if image.is_empty() || left >= right || top >= bottom {
            return;
        }
        for (y, pixels) in (top..).zip(image.stretched(right - left, bottom - top)) {
            let row = &mut self.pixels[y * self.width + left..y * self.width + right];
            row.iter_mut().zip(pixels).for_each(|(slot, [r, g, b, _])| *slot = [r, g, b]);
        }
    }

    pub fn pixel(&self, x: usize, y: usize) -> [u8; 3] {
        self.pixels[y * self.width + x]
    }

    /// The pixels from `low` to `high`, cut to what there is.
    fn span(low: f32, high: f32, limit: usize) -> core::ops::Range<usize> {
        let from = low.floor().max(0.0) as usize;
        let to = (high.ceil().max(0.0) as usize).min(limit);
        from..to.max(from)
    }

    fn blend(&mut self, x: usize, y: usize, color: Color, coverage: f32) {
        let weight = (f32::from(color.a) * coverage) as u32;
        let pixel = &mut self.pixels[y * self.width + x];
        if weight >= 255 {
            *pixel = [color.r, color.g, color.b];
        } else if weight > 0 {
            for (under, over) in pixel.iter_mut().zip([color.r, color.g, color.b]) {
                *under = ((u32::from(*under) * (255 - weight) + u32::from(over) * weight) / 255) as u8;
            }
        }
    }
}

impl Canvas for Raster {
    fn width(&self) -> f32 {
        self.width as f32
    }

    fn height(&self) -> f32 {
        self.height as f32
    }

    fn is_mono(&self) -> bool {
        self.mono
    }

    fn gradient(&mut self, corner: Point, width: f32, height: f32, above: Color, below: Color) {
        if width <= 0.0 || height <= 0.0 {
            return;
        }
        let covered = |place: usize, low: f32, high: f32| {
            (high.min(place as f32 + 1.0) - low.max(place as f32)).clamp(0.0, 1.0)
        };
        for y in Self::span(corner.y, corner.y + height, self.height) {
            let share = (y as f32 + 0.5 - corner.y) / height;
            let color = if above == below { above } else { above.mix(below, share) };
            let tall = covered(y, corner.y, corner.y + height);
            for x in Self::span(corner.x, corner.x + width, self.width) {
                self.blend(x, y, color, tall * covered(x, corner.x, corner.x + width));
            }
        }
    }

    fn disc(&mut self, center: Point, radius: f32, color: Color) {
        self.capsule(center, center, [radius; 2], color);
    }

    fn capsule(&mut self, from: Point, to: Point, radii: [f32; 2], color: Color) {
        let most = radii[0].max(radii[1]) + 0.5;
        let (dx, dy) = (to.x - from.x, to.y - from.y);
        let squared = dx * dx + dy * dy;
        let across = Self::span(from.x.min(to.x) - most, from.x.max(to.x) + most, self.width);
        for y in Self::span(from.y.min(to.y) - most, from.y.max(to.y) + most, self.height) {
            for x in across.clone() {
                let (px, py) = (x as f32 + 0.5 - from.x, y as f32 + 0.5 - from.y);
                let share = if squared > 0.0 { ((px * dx + py * dy) / squared).clamp(0.0, 1.0) } else { 0.0 };
                let (ox, oy) = (px - dx * share, py - dy * share);
                let radius = radii[0] + (radii[1] - radii[0]) * share;
                let reach = radius + 0.5;
                let distance_squared = ox * ox + oy * oy;
                if distance_squared < reach * reach {
                    let coverage = (reach - distance_squared.sqrt()).min(1.0);
                    // A limb thinner than a pixel is fainter, not thicker.
                    self.blend(x, y, color, coverage * (radius * 2.0).min(1.0));
                }
            }
        }
    }

    fn polygon(&mut self, corners: &[Point], color: Color) {
        let low = corners.iter().map(|corner| corner.y).fold(f32::INFINITY, f32::min);
        let high = corners.iter().map(|corner| corner.y).fold(f32::NEG_INFINITY, f32::max);
        for y in Self::span(low, high, self.height) {
            let middle = y as f32 + 0.5;
            let (mut left, mut right) = (f32::INFINITY, f32::NEG_INFINITY);
            for (index, from) in corners.iter().enumerate() {
                let to = corners[(index + 1) % corners.len()];
                if (from.y <= middle) != (to.y <= middle) {
                    let x = from.x + (to.x - from.x) * (middle - from.y) / (to.y - from.y);
                    left = left.min(x);
                    right = right.max(x);
                }
            }
            if left < right {
                for x in Self::span(left, right, self.width) {
                    let coverage = (right.min(x as f32 + 1.0) - left.max(x as f32)).clamp(0.0, 1.0);
                    self.blend(x, y, color, coverage);
                }
            }
        }
    }
}
