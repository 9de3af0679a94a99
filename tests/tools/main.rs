//! The tools as programs: what they print, what they refuse, and how they end.

mod arena;
#[cfg(unix)]
mod autopsy;
mod command_line;
mod inspect;
mod playground;
mod program;
#[cfg(all(feature = "nat", unix))]
mod rendezvous;
mod rendezvous_web;
mod replay;
mod spectate;
mod stress;
mod tail;
