//! One remote machine: handshake, acknowledgements and reliable messages, round trip, loss, frame lead.

pub(crate) mod arrivals;
mod copies;
mod farewell;
mod gaps;
pub(crate) mod handshake_responder;
pub(crate) mod lead;
pub(crate) mod link;
pub(crate) mod marks;
mod owed;
pub(crate) mod rate;
mod resync;
