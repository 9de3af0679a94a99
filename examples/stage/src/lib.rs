//! The stage that games share: a window, a terminal, keys, gamepads, sound, menus, a canvas and characters.
//!
//! A game makes [`Picture`]s and hands them to its [`Screen`]; [`run`] shows them in a window or a terminal and gives
//! back the [input](InputState) of keys, mouse and [gamepads](pads). The screen has the [sound] too. Nothing of it ever
//! waits for the game, nor the game for it.

pub mod address;
mod background_task;
mod canvas;
mod cells;
pub mod characters;
mod gestures;
pub mod glyphs;
mod image;
mod input;
mod keyboard;
mod keys;
pub mod menu;
pub mod pads;
mod painter;
mod picture;
mod pixels;
mod quoted;
mod raster;
#[cfg(not(target_family = "wasm"))]
mod screen;
pub mod sound;
#[cfg(not(target_family = "wasm"))]
mod terminal;
#[cfg(not(target_family = "wasm"))]
mod timings;
#[cfg(not(target_family = "wasm"))]
mod window;

pub use background_task::{BackgroundTask, Unanswered};
pub use canvas::{Canvas, Color, Point, at, rgb};
pub use cells::{Cells, Depth};
pub use gestures::{Gestures, Stroke, Surface, Touch, TouchAct};
pub use image::Image;
pub use input::InputState;
pub use keyboard::{Keyboard, Role};
pub use keys::{Key, UnknownKey};
pub use painter::Painter;
pub use picture::Picture;
pub use pixels::{Pixels, WINDOW_SIZE};
pub use quoted::quoted;
pub use raster::Raster;
#[cfg(not(target_family = "wasm"))]
pub use screen::{Kind, Screen, ViewError, run};
