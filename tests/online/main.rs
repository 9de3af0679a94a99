//! Connections and whole online matches, over UDP on loopback and in the simulated network.

mod connecting;
mod options;
#[cfg(feature = "reach")]
mod reaching;
mod town;
