//! The lab: a simulated network for tests and measurements.

pub mod sim;
