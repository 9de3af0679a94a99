//! Counts of NAT traversal.

/// The counts of a [`NatTraversal`](super::NatTraversal) so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct NatStats {
    /// STUN messages, messages of a relay and of a rendezvous that were refused: forged, unexpected or malformed.
    pub refused: u64,
    /// Datagrams that came or were to go outside the relay, where only the relay is allowed.
    pub not_relayed: u64,
    /// Signals of peers that could not be read, came too often, or found no room.
    pub signals_refused: u64,
    /// Datagrams to the relay that did not fit or had no permission, and checks to machines that have had too many.
    pub unsent: u64,
    /// Searches for a path that were begun, the first of each peer included.
    pub searches: u64,
    /// Allocations on a relay that were made.
    pub allocations: u64,
    /// Bytes of checks, relay messages and rendezvous messages that were sent: everything besides the match.
    pub overhead_bytes: u64,
}
