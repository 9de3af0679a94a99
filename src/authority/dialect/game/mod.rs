//! The dialect of GAME: nine types of packets, and the messages that its RELIABLE_EVENTs carry between these roles.

pub(crate) mod client_link;
mod connection;
mod message;
pub(crate) mod responder;
pub(crate) mod server_link;
