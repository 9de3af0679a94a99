//! The state of a search for a path and its outcome, in words for a player.

use crate::connect::rendezvous::Denial;
use crate::protocol::time::Span;
use core::fmt;
use core::time::Duration;
use std::net::SocketAddr;

/// How far two machines are on the way to each other. `Display` says it to a player.
///
/// ```
/// use rebout::lab::nat::Progress;
/// use std::time::Duration;
///
/// let relayed = Progress::ThroughRelay { longer: Some(Duration::from_millis(12)) };
/// assert_eq!(relayed.to_string(), "through the relay, at most 12 ms longer");
/// assert!(relayed.is_connected());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// The rendezvous has not answered yet.
    Asking {
        /// The rendezvous.
        server: SocketAddr,
    },
    /// The players send each other their texts.
    Manual,
    /// A host is registered, and waits for a guest.
    Waiting,
    /// The relay is asked for an address.
    Gathering,
    /// The rendezvous was asked to bring the host the guest's signal.
    Offering,
    /// Paths to the other machine are tried.
    Trying {
        /// The number of its addresses that are tried.
        addresses: usize,
        /// Whether a relay of either side is among the ways.
        relay: bool,
    },
    /// The machines are connected without a relay.
    Direct,
    /// The machines are connected through a relay.
    ThroughRelay {
        /// The most that the detour can cost, if the relay's distance is known.
        longer: Option<Duration>,
    },
    /// There is no path, or no more.
    NoWay {
        /// The reason.
        why: NoWay,
    },
}

/// Why there is no path. `Display` says what to ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoWay {
    /// The rendezvous does not answer.
    RendezvousSilent {
        /// The rendezvous.
        server: SocketAddr,
    },
    /// The rendezvous refuses.
    Denied {
        /// The reason.
        why: Denial,
    },
    /// Somebody forges packets of the rendezvous to get a host's room.
    Contested,
    /// The rendezvous answers, the host does not.
    HostSilent,
    /// No path between the machines works.
    NoPath {
        /// Whether a relay was among the ways.
        relay: bool,
    },
    /// The match went through the relay, and that does not answer any more.
    RelayLost,
}

impl Progress {
    /// Whether there is a path.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        matches!(self, Self::Direct | Self::ThroughRelay { .. })
    }

    /// One word for programs: `direct`, `relayed`, `none`, or `searching`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::ThroughRelay { .. } => "relayed",
            Self::NoWay { .. } => "none",
            _ => "searching",
        }
    }
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Asking { server } => write!(f, "asking the rendezvous at {server}"),
            Self::Manual => f.write_str("waiting for the other player's text"),
            Self::Waiting => f.write_str("registered at the rendezvous, waiting for the other player"),
            Self::Gathering => f.write_str("asking the relay for an address"),
            Self::Offering => f.write_str("sending an offer to the host through the rendezvous"),
            Self::Trying { addresses, relay } => {
                let (s, relay) =
                    (if *addresses == 1 { "" } else { "es" }, if *relay { " and the relay" } else { "" });
                write!(f, "trying {addresses} address{s} of the other machine{relay}")
            }
            Self::Direct => f.write_str("direct"),
            Self::ThroughRelay { longer: None } => f.write_str("through the relay"),
            Self::ThroughRelay { longer: Some(longer) } => {
                write!(f, "through the relay, at most {} ms longer", longer.as_millis())
            }
            Self::NoWay { why } => why.fmt(f),
        }
    }
}

impl fmt::Display for NoWay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RendezvousSilent { server } => write!(
                f,
                "The rendezvous at {server} does not answer. Ask whoever runs it, or check that UDP is not blocked here."
            ),
            Self::Denied { why } => {
                write!(f, "The rendezvous refused the connection: {why}. Ask whoever runs it, or try another one.")
            }
            Self::Contested => f.write_str(
                "Somebody is forging packets of the rendezvous to claim this room, and guests may not find it. Use \
                 another network, or send an invite with the address of this machine.",
            ),
            Self::HostSilent => f.write_str(
                "The host does not answer at the rendezvous. Ask the host whether it still waits, and for a new invite.",
            ),
            Self::NoPath { relay: false } => f.write_str(
                "No path between the two routers was found, and there is no relay. Ask for a rendezvous with a relay, \
                 or forward a UDP port on one of the routers.",
            ),
            Self::NoPath { relay: true } => f.write_str(
                "No path to the other machine was found, not even through the relay. Ask whoever runs the relay \
                 whether it works, and check that UDP is not blocked.",
            ),
            Self::RelayLost => f.write_str(
                "The relay that carried the match does not answer any more. Ask whoever runs it, or try again.",
            ),
        }
    }
}

/// The most that the way through a relay can be longer than a direct one, with the round trips of the whole way and of
/// the part up to the relay: a detour costs at most twice its shorter leg. In whole milliseconds, rounded up, because it is
/// told as a bound. `None` for measurements that contradict each other.
pub(super) fn detour(whole: Span, to_relay: Span) -> Option<Duration> {
    let shorter = to_relay.min(whole.checked_sub(to_relay)?);
    Some(Duration::from_millis((shorter * 2).nanos().div_ceil(1_000_000)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_detour_is_at_most_twice_its_shorter_leg() {
        let ms = Span::from_millis;
        let longest = |whole, to_relay| detour(whole, to_relay).map(|longer| longer.as_millis());
        assert_eq!(longest(ms(60), ms(6)), Some(12), "a relay beside us");
        assert_eq!(longest(ms(60), ms(54)), Some(12), "a relay beside the peer");
        assert_eq!(longest(ms(60), ms(30)), Some(60), "a relay that may lie in another direction");
        assert_eq!(longest(ms(60), Span::from_micros(1_001)), Some(3), "a bound is rounded up");
        assert_eq!(longest(ms(60), ms(70)), None, "measurements that contradict each other");
    }

    #[test]
    fn what_to_ask_for_is_said_where_there_is_no_way() {
        let server = "192.0.2.1:7400".parse().unwrap();
        let all = [
            NoWay::RendezvousSilent { server },
            NoWay::Denied { why: Denial::Full },
            NoWay::HostSilent,
            NoWay::NoPath { relay: false },
            NoWay::NoPath { relay: true },
            NoWay::RelayLost,
        ];
        for why in all {
            let progress = Progress::NoWay { why };
            assert!(progress.to_string().contains("Ask"), "{progress}");
            assert_eq!((progress.name(), progress.is_connected()), ("none", false));
        }
        let full = NoWay::Denied { why: Denial::Full }.to_string();
        assert!(full.starts_with("The rendezvous refused the connection: it has no free room. "), "{full}");
        assert!(NoWay::Contested.to_string().contains("Use another network"));
    }
}
