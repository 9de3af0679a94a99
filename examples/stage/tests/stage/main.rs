//! The parts of the stage that need neither a device nor a screen.

mod background_task;
mod characters;
mod hostile;
mod mixer;
mod pads;
