//! The duel's simulation and its bot.

mod answers;
mod bot;
mod habits;
mod ladder;
mod matches;
mod players;
#[cfg(test)]
mod sight;
mod sim;
mod student;
