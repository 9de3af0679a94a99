//! The parts of the stage that need neither a device nor a screen.

mod background_task;
mod characters;
mod field;
mod hostile;
mod mixer;
mod pads;
mod stream;
