//! Two machines over a simulated network: how they meet, play, keep pace and part.

mod links;
mod matches;
mod pacing;
