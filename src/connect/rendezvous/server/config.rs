//! The settings of a rendezvous server.

use core::fmt;
use core::time::Duration;
use std::net::SocketAddr;

/// A TURN server that accepts credentials of a shared secret (coturn: `use-auth-secret`, `static-auth-secret`).
#[derive(Clone, PartialEq, Eq)]
pub struct TurnService {
    /// The address, as players reach it.
    pub server: SocketAddr,
    /// The shared secret.
    pub secret: Vec<u8>,
}

/// Without the secret.
impl fmt::Debug for TurnService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TurnService").field("server", &self.server).finish_non_exhaustive()
    }
}

/// The settings of a [`RendezvousServer`](super::RendezvousServer). Every quota bounds memory or work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RendezvousConfig {
    /// The TURN server that players are sent to.
    pub turn: Option<TurnService>,
    /// The Unix time in seconds at which the clock of the calls shows zero, for the expiry of TURN credentials.
    pub unix_at_zero: u64,
    /// How long TURN credentials are valid, at most 18 hours.
    pub credentials_valid: Duration,
    /// The most rooms. Of a full server a network that has many of them loses one to a network that has few.
    pub max_rooms: usize,
    /// The most rooms of one source: an IPv4 address, or the /64 of an IPv6 address. A larger network (a /20 of IPv4, a /48
    /// of IPv6) has eight times as many.
    pub max_rooms_per_source: usize,
    /// The most guests that wait for an answer, in all rooms.
    pub max_guests: usize,
    /// The most signatures that are checked in a second, besides those that keep rooms open: one in 2 s for each room.
    pub max_signatures_per_second: u32,
    /// The most registrations, the most posts and the most STUN requests of one source in a second. A larger network has four times as many
    /// registrations. Registrations that keep a room open are not counted.
    pub max_requests_per_source: u8,
    /// Whether [`RendezvousServer::poll_meeting`](super::RendezvousServer::poll_meeting) tells who met whom.
    pub reports_meetings: bool,
}

impl Default for RendezvousConfig {
    /// For a small machine: some megabytes of memory, and a fraction of one processor under a flood of signatures.
    fn default() -> Self {
        Self {
            turn: None,
            unix_at_zero: 0,
            credentials_valid: Duration::from_secs(600),
            max_rooms: 10_000,
            max_rooms_per_source: 32,
            max_guests: 4_096,
            max_signatures_per_second: 2_000,
            max_requests_per_source: 16,
            reports_meetings: false,
        }
    }
}
