//! A server in the middle: it decides, clients predict themselves and interpolate the others.

mod client;
mod config;
mod dialect;
mod numbering;
mod record;
mod server;
mod world;

pub use client::{Client, ClientEvent, ClientStats, Drawing, PredictionStats, Reason, Seen};
pub use config::{ClientConfig, ConfigError, ServerConfig};
pub use record::{Course, MAX_TOLD, Terms, Told};
pub use server::{InputStats, LeftWhy, Server, ServerEvent, ServerStats, Shot, Stage};
pub use world::{Body, Command, World};
