//! The duel's views, and the program as players run it.

mod hostile;
mod invited;
mod online;
mod view;
mod words;
