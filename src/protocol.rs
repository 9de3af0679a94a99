//! The seam between the state machines and the outside: bytes and time come in as arguments.

use std::net::SocketAddr;
use std::time::Duration;

/// A state machine that speaks over datagrams.
///
/// Everything that talks to a peer is one of these, and knows neither a socket nor a clock: the same
/// implementation runs on UDP ([`net::udp`](crate::net::udp)), in a simulated network
/// ([`net::sim`](crate::net::sim)) a thousand times faster than real time, or behind another `Protocol` that
/// wraps it.
///
/// The contract of a driver, in this order: hand over every datagram that is there
/// ([`handle_datagram`](Self::handle_datagram)); then call [`poll_transmit`](Self::poll_transmit) until it
/// answers `None`; then sleep until a datagram comes or [`poll_timeout`](Self::poll_timeout) is reached. `now`
/// never runs backwards. A bad datagram is counted and dropped; it is never an error to the caller.
pub trait Protocol {
    /// Takes in one datagram that came from `from`.
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]);

    /// Writes the next datagram to send into `buf`, and says for whom and how long it is.
    ///
    /// `buf` must hold at least [`MAX_DATAGRAM`] bytes. `None` says that there is nothing to send at `now`.
    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)>;

    /// When [`poll_transmit`](Self::poll_transmit) wants to be called again although nothing came in.
    fn poll_timeout(&self) -> Option<Duration>;

    /// Whether the owner of this machine should act at `now`, before the time it had meant to.
    ///
    /// A driver that sleeps until a deadline returns early when this says true: a stalled frame is due the moment
    /// its input arrives, not a frame later. Asked after every datagram that came in and after every timeout.
    fn wants_attention(&self, now: Duration) -> bool {
        let _ = now;
        false
    }

    /// Whether something still has to reach the other side before the socket may close.
    ///
    /// A driver that closes keeps moving packets while this says true, for as long as it was told to linger.
    fn lingers(&self) -> bool {
        false
    }
}

/// No datagram that is sent is longer than this: it passes every common path in one piece.
pub const MAX_DATAGRAM: usize = 1_200;

/// The address under which the same socket always appears: an IPv4 address inside IPv6 becomes plain IPv4, and a flow
/// label is left out. Addresses that a driver hands over are of this form.
///
/// ```
/// use rebout::canonical;
///
/// assert_eq!(canonical("[::ffff:192.0.2.7]:7000".parse().unwrap()), "192.0.2.7:7000".parse().unwrap());
/// ```
#[must_use]
pub fn canonical(addr: SocketAddr) -> SocketAddr {
    match addr {
        SocketAddr::V4(_) => addr,
        SocketAddr::V6(mut v6) => match v6.ip().to_ipv4_mapped() {
            Some(ip) => SocketAddr::from((ip, v6.port())),
            None => {
                v6.set_flowinfo(0);
                SocketAddr::V6(v6)
            }
        },
    }
}
