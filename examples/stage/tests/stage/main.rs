//! The parts of the stage that need neither a device nor a screen.

mod background_task;
mod hostile;
mod letters;
mod mixer;
mod pads;
