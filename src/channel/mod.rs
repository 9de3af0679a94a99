//! The parts that every protocol on datagrams needs. A session, an encrypted link, a rendezvous and an authority server
//! share them.
//!
//! | file | |
//! |---|---|
//! | `sequence`, `reliable` | sequence numbers and acks; messages that are sent until they are acknowledged |
//! | `window` | the replay window of whole numbers, of which a packet has the low bits |
//! | `congestion` | how many parts of a transfer may be under way |
//! | `probes`, `rtt` | values that the other side repeats, and the round trip that their answers measure |
//! | `listening`, `silence` | the time that was spent listening, and how long the other side was silent in it |
//! | `window` | counters that are taken once |
//! | `cookie`, `keyed_hash`, `entropy` | proof that a peer receives at its address, and the random numbers for it |
//! | `source`, `bucket` | the source of a datagram, as limits count it; a limit on a rate |
//! | `refusal` | why a datagram was dropped |

// A page has no broadcast.
#[cfg(any(test, feature = "nat", all(feature = "seal", not(target_family = "wasm"))))]
pub(crate) mod bucket;
pub(crate) mod congestion;
pub(crate) mod cookie;
pub(crate) mod entropy;
pub(crate) mod keyed_hash;
pub(crate) mod listening;
pub(crate) mod probes;
pub(crate) mod refusal;
pub(crate) mod reliable;
pub(crate) mod rtt;
pub(crate) mod sequence;
pub(crate) mod silence;
#[cfg(any(test, feature = "authority", feature = "seal"))]
pub(crate) mod source;
#[cfg(any(test, feature = "authority", feature = "seal"))]
pub(crate) mod window;
