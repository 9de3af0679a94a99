//! The duel's simulation and its bot.

mod answers;
mod balance;
mod bot;
mod choosing;
mod habits;
mod ladder;
mod matches;
mod players;
#[cfg(test)]
mod sight;
mod sim;
mod student;
