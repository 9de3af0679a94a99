//! Why a sealed link drops datagrams, and how often.

use crate::channel::refusal::refusals;

refusals! {
    /// Why a sealed link dropped a datagram. It changed nothing but a counter.
    SealRefusal, SealRefusals:
    /// A packet of a bare link.
    Bare = "a packet of a bare link",
    /// No packet of a sealed link.
    NoPacket = "no packet of a sealed link",
    /// A REQUEST or INIT of another version.
    OtherVersion = "another version of the sealed handshake",
    /// A REQUEST, RETRY or INIT whose mac does not fit: its sender does not have the invite.
    BadMac = "mac of another key",
    /// An unexpected REQUEST, RETRY, INIT or RESP.
    Unexpected = "a handshake that nobody waits for",
    /// An INIT whose cookie is not ours, has expired or was used. It is answered by a RETRY.
    BadCookie = "bad cookie",
    /// An INIT or RESP that does not fit its key.
    BadHandshake = "a handshake that does not fit its key",
    /// An INIT beyond what is worked off. It may be repeated.
    Limited = "too many handshakes",
    /// DATA or a control packet of no connection.
    UnknownIndex = "of no connection",
    /// DATA or a control packet whose counter was seen, or is too old to tell.
    Replayed = "seen before, or too old",
    /// DATA or a control packet whose tag does not fit.
    BadTag = "tag of another key",
    /// DATA of a guest in a role that is not served here, such as a spectator's without a broadcast.
    Unserved = "of a role that is not served",
    /// A proof of a player's key that does not fit, or a packet of a peer that has to prove another key first.
    Unproven = "of a player that is not let in",
    /// A control packet that is authentic and makes no sense.
    OutOfPlace = "out of place",
}

/// The counts of a sealed link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SealStats {
    /// Diffie-Hellman handshakes that a host has worked off, be their INIT authentic or not.
    pub handshakes: u64,
    /// Connections that came to be, on either side.
    pub connections: u64,
    /// Datagrams that were dropped, by reason.
    pub refused: SealRefusals,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_counted_by_reason() {
        let mut stats = SealStats::default();
        assert_eq!((stats.refused.iter().count(), stats.refused.total()), (0, 0));
        for refusal in [SealRefusal::BadTag, SealRefusal::Bare, SealRefusal::BadTag] {
            stats.refused.count(refusal);
        }
        let refusals: Vec<_> = stats.refused.iter().collect();
        assert_eq!(refusals, [(SealRefusal::Bare, 1), (SealRefusal::BadTag, 2)]);
        assert_eq!((stats.refused.of(SealRefusal::BadTag), stats.refused.total()), (2, 3));
    }
}
