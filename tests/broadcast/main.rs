//! Live spectators in the simulator: joining late, trees, forged logs, delays and hostile machines.

mod delay;
mod forging;
mod hostile;
mod joining;
mod stage;
mod tree;
