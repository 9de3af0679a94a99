//! The parts of the stage that need neither a device nor a screen.

mod errand;
mod hostile;
mod letters;
mod mixer;
mod pads;
