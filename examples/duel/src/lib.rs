//! The duel: what a player runs, apart from its `main`, so that its tests can look at every part.
//!
//! The simulation and the bot are in the package `games`, windows and keys in `stage`. The page in `examples/web` takes the parts
//! that need no socket, thread or file.

pub mod art;
#[cfg(not(target_family = "wasm"))]
pub mod cli;
pub mod composer;
pub mod devices;
pub mod exit;
#[cfg(not(target_family = "wasm"))]
mod folder;
pub mod keys;
pub mod machine;
#[cfg(not(target_family = "wasm"))]
pub mod menu;
pub mod netgraph;
#[cfg(not(target_family = "wasm"))]
pub mod opponents;
pub mod pad_keys;
mod pause_pages;
pub mod picture;
#[cfg(not(target_family = "wasm"))]
pub mod play;
pub mod prompts;
#[cfg(not(target_family = "wasm"))]
pub mod replay_list;
pub mod rules;
pub mod scene;
#[cfg(not(target_family = "wasm"))]
mod screen;
#[cfg(not(target_family = "wasm"))]
pub mod settings;
pub mod sound;
pub mod training;
pub mod view;
pub mod viewer;
pub mod words;
