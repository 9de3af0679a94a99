//! Connections and whole online matches, over UDP on loopback and in the simulated network.

mod came_back;
mod closing;
mod connecting;
mod first_state;
mod folder;
mod game;
mod invites;
mod keys;
#[cfg(unix)]
mod killed;
mod matches;
#[cfg(feature = "nat")]
mod nat;
mod options;
mod players;
mod refusing;
mod rejoin;
mod serving;
mod sim_network;
mod sleeping;
mod udp;
mod watching;
