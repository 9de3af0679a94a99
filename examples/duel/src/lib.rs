//! The duel: what a player runs, apart from its `main`, so that its tests can look at every part.
//!
//! The simulation and the bot are in the package `games`, windows and keys in `stage`.

pub mod art;
pub mod cli;
pub mod devices;
mod folder;
pub mod keys;
pub mod menu;
pub mod netgraph;
pub mod opponents;
pub mod pad_keys;
pub mod picture;
pub mod play;
pub mod replay_list;
pub mod scene;
pub mod settings;
pub mod sound;
pub mod training;
pub mod view;
