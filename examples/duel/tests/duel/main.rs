//! The duel's views, and the program as players run it.

mod online;
mod view;
