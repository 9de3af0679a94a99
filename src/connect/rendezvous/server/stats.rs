//! The counters of a rendezvous server.

use crate::protocol::texts;

macro_rules! refusals {
    ($($(#[$doc:meta])* $name:ident = $word:literal, $shown:literal,)*) => {
        texts! {
            /// Why a server did not do as it was asked.
            #[non_exhaustive]
            pub RoomRefusal: $($(#[$doc])* $name = $shown,)*
        }

        impl RoomRefusal {
            /// All of them.
            pub const ALL: [Self; [$($word),*].len()] = [$(Self::$name,)*];

            /// A short name, for a log.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }
        }
    };
}

refusals! {
    /// The datagram is no packet of a rendezvous.
    Malformed = "malformed", "it is no packet of a rendezvous",
    /// The packet is of another version.
    Version = "version", "it is of another version",
    /// The packet is one that only a server sends.
    Unexpected = "unexpected", "only a server sends it",
    /// The signature of a registration is not that of its key.
    Signature = "signature", "its signature is wrong",
    /// The registration is older than the one that the room has.
    Stale = "stale", "it is older than the registration that the room has",
    /// The server has as many rooms as it keeps, or as it keeps for one source or one network.
    Full = "full", "there is no free room",
    /// The source or its network has sent too many requests in this second, or the server has checked too many signatures.
    Busy = "busy", "too many requests in this second",
    /// The room is open at another address, which is asked whether it still answers.
    Held = "held", "another address has the room",
    /// The room has had too many guests in this second.
    Crowded = "crowded", "the room has too many guests",
    /// There is no such room. The joiner is answered like any other.
    NoRoom = "no_room", "there is no such room",
    /// The answer is not of the host of this guest, or the guest is forgotten.
    NoGuest = "no_guest", "it answers no guest of its sender",
    /// There was no space for an answer until the next datagram is sent.
    Overflow = "overflow", "too many answers wait to be sent",
}

/// The counters of a [`RendezvousServer`](super::RendezvousServer), since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RendezvousStats {
    /// Rooms that were opened.
    pub rooms_opened: u64,
    /// Registrations that kept a room open.
    pub refreshes: u64,
    /// Questions for a ticket that were answered.
    pub asks: u64,
    /// Signals that were handed to a host.
    pub delivered: u64,
    /// Signals that were handed to a guest.
    pub answered: u64,
    /// Cookies that were given.
    pub cookies: u64,
    /// Grants, to hosts and joiners.
    pub grants: u64,
    /// Signatures of registrations that were checked. Most of the server's work is in these.
    pub signatures: u64,
    /// STUN requests that were answered.
    pub bindings: u64,
    /// Bytes that came.
    pub bytes_received: u64,
    /// Bytes that were sent.
    pub bytes_sent: u64,
    refused: [u64; RoomRefusal::ALL.len()],
}

impl RendezvousStats {
    /// How often a request was refused for this reason.
    #[must_use]
    pub fn refused(&self, refusal: RoomRefusal) -> u64 {
        self.refused[refusal as usize]
    }

    pub(super) fn refuse(&mut self, refusal: RoomRefusal) {
        self.refused[refusal as usize] += 1;
    }
}
