//! How a duel looks, on any canvas.

pub mod backdrop;
pub mod boxes;
pub mod camera;
pub mod choosing;
pub mod drill;
pub mod figure;
pub mod graph;
pub mod hud;
pub mod menus;
pub mod pose;
pub mod seek;
pub mod sheet;
pub mod sparks;
pub mod stage;
pub mod texts;
pub mod wrap;
