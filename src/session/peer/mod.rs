//! One remote machine: handshake, acknowledgements and reliable messages, round trip, loss, frame lead.

pub(crate) mod arrivals;
pub(crate) mod desk;
mod farewell;
pub(crate) mod lead;
pub(crate) mod link;
pub(crate) mod marks;
pub(crate) mod rate;
mod resync;
