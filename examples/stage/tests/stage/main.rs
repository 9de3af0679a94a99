//! The parts of the stage that need neither a device nor a screen.

mod mixer;
mod pads;
