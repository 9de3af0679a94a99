//! The arcade: a level that bots play in the simulated network, pictures, and the programs themselves.

mod level;
mod programs;
mod title;
mod view;
