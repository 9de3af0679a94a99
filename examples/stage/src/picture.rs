//! The picture of a frame, which every view can show.

use crate::sound::Bank;
use crate::{Cells, Pixels, Raster};

/// One frame of a game as its views show it.
pub trait Picture: Clone + core::fmt::Debug + Send + 'static {
    /// The title of the window.
    const TITLE: &'static str;

    /// Paints all of it into the window.
    fn paint(&self, window: &mut Pixels);

    /// Paints the shapes of it, two to a cell of the terminal.
    fn paint_shapes(&self, raster: &mut Raster);

    /// Writes the words of it over the shapes in the terminal.
    fn write_words(&self, cells: &mut Cells);

    /// Whether a mouse is of use now. While it is, a terminal hands its clicks over instead of selecting text.
    fn takes_mouse(&self) -> bool {
        false
    }

    /// The sounds of the game. They are made once, in the thread of the sound device.
    fn sounds() -> Bank {
        Bank::default()
    }
}
