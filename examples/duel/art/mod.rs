//! How a duel looks, on any canvas.

pub mod backdrop;
pub mod camera;
pub mod canvas;
pub mod figure;
pub mod glyphs;
pub mod hud;
pub mod pose;
pub mod sparks;
pub mod stage;
