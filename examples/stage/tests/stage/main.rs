//! The parts of the stage that need neither a device nor a screen.

mod errand;
mod hostile;
mod mixer;
mod pads;
