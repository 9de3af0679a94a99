//! The limits of a host, by the number of guests that it expects.

/// How much a host lets others make it do. All limits grow with one number, which the owner chooses, so that a host of a match
/// of two has no larger surface than such a match needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Limits {
    /// Guests that are expected besides the first.
    more: usize,
}

impl Limits {
    pub(super) fn of(guests: u8) -> Self {
        Self { more: usize::from(guests.saturating_sub(1)) }
    }

    /// Handshakes in any second.
    pub(super) fn handshakes(self) -> usize {
        16 + self.more / 4
    }

    /// Handshakes of one source in any second. All guests may be behind one router.
    pub(super) fn handshakes_of_source(self) -> usize {
        2 + self.more / 8
    }

    /// INITs that wait for their turn.
    pub(super) fn waiting(self) -> usize {
        32 + self.more
    }

    /// INITs of one source that wait for their turn.
    pub(super) fn waiting_of_source(self) -> usize {
        1 + self.more / 8
    }

    /// Guests that are only reached, and whose opening message is at the inner protocol.
    pub(super) fn reached(self) -> usize {
        1 + self.more
    }

    /// Confirmed guests that the inner protocol does not keep.
    pub(super) fn unkept(self) -> usize {
        8 + self.more
    }

    /// Packets of the link itself that wait to be sent.
    pub(super) fn packets(self) -> usize {
        24 + self.more
    }

    /// How many of those may be answers to strangers: a flood of answers keeps no packet of a connection back.
    pub(super) fn answers(self) -> usize {
        12 + self.more
    }

    /// Handshakes by signalling in any second.
    pub(super) fn signals(self) -> usize {
        4 + self.more / 8
    }

    /// Guests by signalling that have sent no DATA yet.
    pub(super) fn half_open_by_signal(self) -> usize {
        16 + self.more
    }

    /// Keys of INITs by signalling that are remembered while their ticket is good. More INITs are refused.
    pub(super) fn keys_by_signal(self) -> usize {
        128 + 2 * self.more
    }

    /// Signals that wait for their reader.
    pub(super) fn waiting_signals(self) -> usize {
        16 + self.more
    }
}
