//! Two machines over a simulated network: how they meet, play, keep pace and part, and what they bear.

mod afterwards;
mod barrier;
mod clocks;
mod costs;
mod delay;
mod driving;
mod extensions;
mod failing;
mod far;
mod farewells;
mod figures;
mod first_state;
mod handshake;
mod hostile;
mod lab;
mod links;
mod lookahead;
mod matches;
mod messages;
mod nat;
mod pacing;
mod pads;
mod pair;
mod pausing;
mod resumption;
mod round;
mod saving;
mod stalls;
mod stress;

#[global_allocator]
static ALLOCATOR: support::heap::Counting = support::heap::Counting;
