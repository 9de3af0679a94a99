//! The C interface as a caller sees it: arguments, phases, matches, and the programs of `examples`.

mod calls;
mod counters;
mod fuzz;
mod matches;
mod misuse;
mod pair;
mod programs;
mod replays;
