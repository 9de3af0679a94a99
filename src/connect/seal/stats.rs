//! Why a sealed link drops datagrams, and how often.

use crate::channel::refusal::refusals;

refusals! {
    /// Why a sealed link dropped a datagram. It changed nothing but a counter.
    SealRefusal:
    /// A packet of a bare link.
    Bare = "a packet of a bare link",
    /// No packet of a sealed link.
    NoPacket = "no packet of a sealed link",
    /// A REQUEST or INIT of another version.
    OtherVersion = "another version of the sealed handshake",
    /// A REQUEST, RETRY or INIT whose mac does not fit: its sender does not have the invite.
    BadMac = "mac of another key",
    /// A REQUEST, RETRY, INIT or RESP that nobody waits for here.
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
    refused: [u64; SealRefusal::ALL.len()],
}

impl SealStats {
    pub(super) fn refuse(&mut self, refusal: SealRefusal) {
        self.refused[refusal as usize] += 1;
    }

    /// How many datagrams were dropped for this reason.
    #[must_use]
    pub fn refused(&self, refusal: SealRefusal) -> u64 {
        self.refused[refusal as usize]
    }

    /// How many datagrams were dropped in all.
    #[must_use]
    pub fn refused_total(&self) -> u64 {
        self.refused.iter().sum()
    }

    /// The reasons for which something was dropped, and how often.
    pub fn refusals(&self) -> impl Iterator<Item = (SealRefusal, u64)> {
        let all = SealRefusal::ALL.iter().map(|refusal| (*refusal, self.refused(*refusal)));
        all.filter(|(_, count)| *count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_counted_by_reason() {
        let mut stats = SealStats::default();
        assert_eq!((stats.refusals().count(), stats.refused_total()), (0, 0));
        for refusal in [SealRefusal::BadTag, SealRefusal::Bare, SealRefusal::BadTag] {
            stats.refuse(refusal);
        }
        let refusals: Vec<_> = stats.refusals().collect();
        assert_eq!(refusals, [(SealRefusal::Bare, 1), (SealRefusal::BadTag, 2)]);
        assert_eq!((stats.refused(SealRefusal::BadTag), stats.refused_total()), (2, 3));
    }
}
