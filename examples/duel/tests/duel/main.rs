//! The duel's views, and the program as players run it.

mod address;
mod by_hand;
mod glyphs;
mod hostile;
mod invited;
mod layout;
mod menus;
mod mix;
mod online;
mod opponents;
mod pads;
mod pages;
mod replays;
mod secrets;
mod settings;
mod texts;
mod training;
mod view;
mod watching;
mod words;
