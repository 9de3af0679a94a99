//! One remote machine: handshake, acknowledgements and reliable messages, round trip, loss, frame lead.

pub(crate) mod arrivals;
pub(crate) mod cookie;
pub(crate) mod desk;
pub(crate) mod entropy;
mod farewell;
pub(crate) mod keyed_hash;
pub(crate) mod lead;
pub(crate) mod link;
pub(crate) mod marks;
pub(crate) mod rate;
pub(crate) mod refusal;
pub(crate) mod reliable;
mod resync;
pub(crate) mod rtt;
pub(crate) mod sequence;
pub(crate) mod silence;
#[cfg(any(test, feature = "authority", feature = "seal"))]
pub(crate) mod source;
