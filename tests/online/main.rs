//! Connections and whole online matches, over UDP on loopback and in the simulated network.

mod connecting;
mod game;
mod matches;
mod options;
#[cfg(feature = "reach")]
mod reaching;
mod refusing;
mod serving;
mod town;
mod udp;
