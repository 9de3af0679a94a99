//! One remote machine: handshake, acknowledgements and reliable messages, round trip, loss, frame lead.

pub(crate) mod cookie;
pub(crate) mod copies;
pub(crate) mod desk;
pub(crate) mod entropy;
pub(crate) mod lead;
pub(crate) mod link;
pub(crate) mod refusal;
pub(crate) mod reliable;
pub(crate) mod rtt;
pub(crate) mod sequence;
pub(crate) mod silence;

use core::hash::{Hash, Hasher};

/// SipHash-2-4: whoever does not know the key can neither foretell a value nor go back from one.
///
/// The standard library deprecates its keyed form in favour of hashers that choose their own key; here the key has to
/// be ours.
#[allow(deprecated)]
fn keyed_hash(key: (u64, u64), value: &impl Hash) -> u64 {
    let mut hasher = core::hash::SipHasher::new_with_keys(key.0, key.1);
    value.hash(&mut hasher);
    hasher.finish()
}
