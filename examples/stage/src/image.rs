//! A picture of pixels that something else has drawn, such as an emulator.

use std::sync::Arc;

/// Pixels of red, green, blue and opacity, row by row. A copy shares them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    width: usize,
    height: usize,
    pixels: Arc<Vec<[u8; 4]>>,
}

impl Image {
    /// An image of this width; the height follows, and a row that is not whole is left out.
    pub fn new(width: usize, pixels: Vec<[u8; 4]>) -> Self {
        let height = pixels.len().checked_div(width).unwrap_or(0);
        Self { width, height, pixels: Arc::new(pixels) }
    }

    pub fn is_empty(&self) -> bool {
        self.width == 0 || self.height == 0
    }

    /// For each of `count` pixels, which of `size` pixels it shows.
    pub(crate) fn sources(size: usize, count: usize) -> impl Iterator<Item = usize> + Clone {
        (0..count).map(move |at| (at * size + size / 2) / count.max(1))
    }

    /// The rows of the image, stretched to another size: the nearest pixel of each.
    pub(crate) fn stretched(
        &self,
        width: usize,
        height: usize,
    ) -> impl Iterator<Item = impl Iterator<Item = [u8; 4]>> {
        let columns = Self::sources(self.width, width);
        Self::sources(self.height, height).map(move |row| {
            let row = &self.pixels[row * self.width..][..self.width];
            columns.clone().map(|column| row[column])
        })
    }
}
