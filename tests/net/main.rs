//! Networks: links and the simulated network, the worlds on it, and UDP on this machine.

mod bursts;
mod nat;
mod network;
mod udp;
mod udp_match;
mod world;
