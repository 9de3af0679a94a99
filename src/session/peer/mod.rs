//! One remote machine: handshake, acknowledgements and reliable messages, round trip, loss, frame lead.

pub(crate) mod arrivals;
mod copies;
pub(crate) mod desk;
mod farewell;
mod gaps;
pub(crate) mod lead;
pub(crate) mod link;
pub(crate) mod marks;
mod owed;
pub(crate) mod rate;
mod resync;
