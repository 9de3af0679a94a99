//! The dialect of GAME: nine types of packets, and the messages that its RELIABLE_EVENTs carry between these roles.

pub(crate) mod client_link;
mod connection;
pub(crate) mod gate;
mod message;
pub(crate) mod server_link;
