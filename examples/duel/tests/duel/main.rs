//! The duel's views, and the program as players run it.

mod hostile;
mod invited;
mod mix;
mod online;
mod pads;
mod replays;
mod view;
mod words;
