//! Tests of the cabinet: with a core of our own in C, into which faults are planted, and with a NES core where one is installed.

mod check;
mod game_boy;
mod load;
mod matches;
mod tools;
