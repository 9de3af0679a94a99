//! The stage that games share: a window, a terminal, keys, a canvas and letters.
//!
//! A game makes [`Picture`]s and hands them to its [`Screen`]; [`run`] shows them in a window or a terminal and gives back
//! what the [hands](Hands) do. Neither ever waits for the other.

mod canvas;
mod cells;
pub mod glyphs;
mod keyboard;
mod keys;
mod pixels;
mod raster;
mod screen;
mod signals;
mod terminal;
mod timings;
mod window;

pub use canvas::{Canvas, Color, Point, at, rgb};
pub use cells::{Cells, Depth};
pub use keyboard::{Keyboard, Role};
pub use keys::{Key, UnknownKey};
pub use pixels::Pixels;
pub use raster::Raster;
pub use screen::{Hands, Kind, Picture, Screen, ViewError, run};
