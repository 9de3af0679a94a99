//! Two machines that come to different states: how they notice, what the autopsy finds, what is written down.

mod addresses;
mod autopsy;
mod base;
mod board;
mod bundle;
mod claims;
mod detection;
mod evidence;
mod hostile;
mod large;
mod liar;
mod mending;
mod phases;
mod shapes;
mod spread;
mod stopping;
