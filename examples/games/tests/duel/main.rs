//! The duel's simulation and its bot.

mod answers;
mod bot;
mod bouts;
mod habits;
mod ladder;
mod players;
#[cfg(test)]
mod sight;
mod sim;
mod student;
