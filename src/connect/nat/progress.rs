//! The state of a search for a path and its outcome, in words for a player.

use crate::connect::rendezvous::Denial;
use crate::protocol::stream_addr::Notice;
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
/// let relayed = Progress::ThroughRelay { longer: Some(Duration::from_millis(12)), over_tls: false };
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
    /// A STUN server is asked for the address outside of this router, for the text to the other player.
    Mapping {
        /// The STUN server.
        server: SocketAddr,
    },
    /// A joiner's answer is written, and for a while no check of the host's machine has come. It goes on checking.
    Unheard,
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
        /// Whether this machine reaches the relay over TLS: a lost packet holds up those behind it.
        over_tls: bool,
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
    /// A server does not answer over UDP, and there is no stream to it either.
    NoStream {
        /// The server.
        server: SocketAddr,
        /// The reason.
        why: Notice,
    },
    /// The rendezvous refuses.
    Denied {
        /// The reason.
        why: Denial,
    },
    /// Packets of the rendezvous are forged to take over a host's room.
    Contested,
    /// The rendezvous answers, the host does not.
    HostSilent,
    /// No path between the machines works.
    NoPath {
        /// Why a relay did not help.
        relay: RelayOutcome,
        /// Whether the router of this player, and that of the other one, is known to use another port for each destination.
        symmetric: [bool; 2],
    },
    /// No path works between two machines that have exchanged texts, and this one does not know its address outside of the
    /// router.
    Unmapped {
        /// The STUN server that was asked and did not answer.
        server: Option<SocketAddr>,
    },
    /// The match went through the relay, and that does not answer any more.
    RelayLost,
}

/// Why a relay did not carry a match for which there is no path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RelayOutcome {
    /// The rendezvous names none, or there is no rendezvous.
    None,
    /// This player allows none.
    NotAllowedHere,
    /// The other player allows none.
    NotAllowedThere,
    /// The relay does not answer.
    Silent {
        /// The relay.
        server: SocketAddr,
        /// Why there is no stream to it, if one was tried.
        stream: Option<Notice>,
    },
    /// The relay has answered, and gives this machine no address: its secret is not that of the rendezvous, or a quota is
    /// used up.
    Refused {
        /// The relay.
        server: SocketAddr,
    },
    /// It was tried without success.
    Tried,
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
            Self::Mapping { server } => {
                write!(f, "asking the STUN server at {server} for the address of this router")
            }
            Self::Unheard => f.write_str(
                "no sign of the host's machine yet: the host has not pasted your answer, or no path between the two \
                 routers works. Ask the host which of the two it is.",
            ),
            Self::Waiting => f.write_str("registered at the rendezvous, waiting for the other player"),
            Self::Gathering => f.write_str("asking the relay for an address"),
            Self::Offering => f.write_str("sending an offer to the host through the rendezvous"),
            Self::Trying { addresses, relay } => {
                let (s, relay) =
                    (if *addresses == 1 { "" } else { "es" }, if *relay { " and the relay" } else { "" });
                write!(f, "trying {addresses} address{s} of the other machine{relay}")
            }
            Self::Direct => f.write_str("direct"),
            Self::ThroughRelay { longer, over_tls } => {
                f.write_str("through the relay")?;
                if *over_tls {
                    f.write_str(" over TLS, where a lost packet delays those behind it")?;
                }
                longer.map_or(Ok(()), |longer| write!(f, ", at most {} ms longer", longer.as_millis()))
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
                "The rendezvous at {server} does not answer. Ask its operator, or check that UDP is not blocked here."
            ),
            Self::NoStream { server, why } => {
                let ip = server.ip();
                write!(f, "The server at {ip} does not answer over UDP, and over TLS {why}. ")?;
                f.write_str(if why.is_about_certificate() {
                    "Ask its operator; a proxy in this network may also be intercepting connections."
                } else {
                    "Ask its operator, or use another network."
                })
            }
            Self::Denied { why } => {
                write!(f, "The rendezvous refused the connection: {why}. Ask its operator, or try another one.")
            }
            Self::Contested => f.write_str(
                "Packets of the rendezvous are being forged to claim this room, and guests may not find it. Use \
                 another network, or send an invite with the address of this machine.",
            ),
            Self::HostSilent => f.write_str(
                "The host does not answer at the rendezvous. Ask the host whether it still waits, and for a new invite.",
            ),
            Self::NoPath { relay, symmetric } => {
                f.write_str("No path between the two routers was found")?;
                match relay {
                    RelayOutcome::None => f.write_str(", and there is no relay. ")?,
                    RelayOutcome::NotAllowedHere => f.write_str(", and a relay is not allowed here. ")?,
                    RelayOutcome::NotAllowedThere => f.write_str(", and the other player allows no relay. ")?,
                    RelayOutcome::Silent { server, stream: None } => {
                        write!(f, ", and the relay at {server} does not answer. ")?;
                    }
                    RelayOutcome::Silent { server, stream: Some(why) } => {
                        write!(f, ", and the relay at {server} does not answer over UDP, and over TLS {why}. ")?;
                    }
                    RelayOutcome::Refused { server } => {
                        write!(f, ", and the relay at {server} refuses this machine. ")?;
                    }
                    RelayOutcome::Tried => f.write_str(", not even through the relay. ")?,
                }
                f.write_str(match symmetric {
                    [false, false] => "",
                    [true, false] => "This router uses another port for each destination, which needs a relay. ",
                    [false, true] => {
                        "The other player's router uses another port for each destination, which needs a relay. "
                    }
                    [true, true] => "Both routers use another port for each destination, which needs a relay. ",
                })?;
                f.write_str(match relay {
                    RelayOutcome::None => {
                        "Ask for a rendezvous with a relay, or forward a UDP port on one of the routers."
                    }
                    RelayOutcome::NotAllowedHere | RelayOutcome::NotAllowedThere => {
                        "Ask for a match with a relay, or forward a UDP port on one of the routers."
                    }
                    RelayOutcome::Silent { .. } => {
                        "Ask the operator of the relay whether it works, and check that UDP is not blocked."
                    }
                    RelayOutcome::Refused { .. } => {
                        "Ask its operator whether its secret is that of the rendezvous, and whether its quota is \
                         used up."
                    }
                    RelayOutcome::Tried => {
                        "Ask the operator of the relay whether it works, and check that UDP is not blocked."
                    }
                })
            }
            Self::Unmapped { server: None } => f.write_str(
                "No path between the two routers was found: this machine does not know its address outside of the \
                 router. Name a STUN server, forward a UDP port, or ask for a rendezvous.",
            ),
            Self::Unmapped { server: Some(server) } => write!(
                f,
                "No path between the two routers was found, and the STUN server at {server} has not told this machine \
                 its address outside of the router. Name another one, forward a UDP port, or ask for a rendezvous."
            ),
            Self::RelayLost => f.write_str(
                "The relay that carried the match does not answer any more. Ask its operator, or try again.",
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
    fn detour_is_at_most_twice_its_shorter_leg() {
        let ms = Span::from_millis;
        let longest = |whole, to_relay| detour(whole, to_relay).map(|longer| longer.as_millis());
        assert_eq!(longest(ms(60), ms(6)), Some(12), "a relay beside us");
        assert_eq!(longest(ms(60), ms(54)), Some(12), "a relay beside the peer");
        assert_eq!(longest(ms(60), ms(30)), Some(60), "a relay that may lie in another direction");
        assert_eq!(longest(ms(60), Span::from_micros(1_001)), Some(3), "a bound is rounded up");
        assert_eq!(longest(ms(60), ms(70)), None, "measurements that contradict each other");
    }

    #[test]
    fn missing_path_comes_with_advice() {
        let server = "192.0.2.1:7400".parse().unwrap();
        let all = [
            NoWay::RendezvousSilent { server },
            NoWay::NoStream { server, why: Notice::UnknownIssuer },
            NoWay::NoStream { server, why: Notice::Unreachable },
            NoWay::Denied { why: Denial::Full },
            NoWay::HostSilent,
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
        let unmapped = [None, Some(server)].map(|server| NoWay::Unmapped { server }.to_string());
        assert!(unmapped[0].contains("Name a STUN server") && unmapped[1].contains("at 192.0.2.1:7400"));
    }

    #[test]
    fn no_path_says_what_is_wrong_with_the_relay() {
        let server = "192.0.2.1:3478".parse().unwrap();
        for (relay, words) in [
            (RelayOutcome::None, "there is no relay. Ask for a rendezvous with a relay"),
            (RelayOutcome::NotAllowedHere, "a relay is not allowed here. Ask"),
            (RelayOutcome::NotAllowedThere, "the other player allows no relay. Ask"),
            (
                RelayOutcome::Silent { server, stream: None },
                "the relay at 192.0.2.1:3478 does not answer. Ask the operator",
            ),
            (
                RelayOutcome::Silent { server, stream: Some(Notice::WrongName) },
                "does not answer over UDP, and over TLS its certificate is for another name. Ask the operator",
            ),
            (RelayOutcome::Refused { server }, "refuses this machine. Ask its operator whether its secret"),
            (RelayOutcome::Tried, "not even through the relay. Ask the operator"),
        ] {
            let text = NoWay::NoPath { relay, symmetric: [false; 2] }.to_string();
            assert!(text.contains(words), "{text}");
            assert_eq!(text.contains("there is no relay"), relay == RelayOutcome::None);
        }
    }

    #[test]
    fn no_path_names_the_difficult_router() {
        let text = |symmetric| NoWay::NoPath { relay: RelayOutcome::None, symmetric }.to_string();
        assert!(text([true, false]).contains("relay. This router uses another port"));
        assert!(text([false, true]).contains("relay. The other player's router uses another port"));
        assert!(text([true, true]).contains("relay. Both routers use another port"));
        assert!(!text([false, false]).contains("port for each"));
    }
}
