//! The C interface as a caller sees it: arguments, phases, matches, and the programs of `examples`.

mod callbacks;
mod calls;
mod connecting;
mod counters;
mod fuzz;
mod inputs;
mod matches;
mod misuse;
mod pair;
mod programs;
mod rejoining;
mod replays;
mod watching;
