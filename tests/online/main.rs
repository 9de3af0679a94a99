//! Connections and whole online matches, over UDP on loopback and in the simulated network.

mod closing;
mod connecting;
mod folder;
mod game;
mod keys;
mod matches;
mod options;
#[cfg(feature = "nat")]
mod reaching;
mod refusing;
mod serving;
mod town;
mod udp;
