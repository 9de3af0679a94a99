//! A simulated network: seeded, pure data, bytes on the wire.
