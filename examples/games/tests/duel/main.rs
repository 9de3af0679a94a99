//! The duel's simulation and its bot.

mod bot;
mod bouts;
mod ladder;
mod players;
mod sim;
