//! The duel's simulation and its bot.

mod bot;
mod sim;
