//! Networks: links and the simulated network, the worlds on it, transports, and UDP on this machine.

mod append;
mod bursts;
mod driver;
mod memory;
mod nat;
mod network;
mod system_calls;
mod udp;
mod udp_match;
mod world;
