//! A co-op side-scrolling shooter with a server in the middle, on R-Type or on GAME.
//!
//! `game` is the rules, which only the server runs but for the motion of a ship; `play` are the server and the clients over
//! UDP; `scene` is what a client knows; `art` draws it, and `sound` plays it.

pub mod art;
pub mod cli;
pub mod game;
pub mod keys;
pub mod pause;
pub mod play;
pub mod scene;
pub mod sound;
pub mod title;
