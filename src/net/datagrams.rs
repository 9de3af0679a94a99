//! The interface between a driver and its transport: anything that carries datagrams, with a clock.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

/// The length of the buffer that a driver receives into. It is longer than [`MAX_DATAGRAM`](crate::MAX_DATAGRAM), which
/// shows datagrams that are too long as such instead of truncating them to a valid length.
pub(crate) const RECEIVE_BYTES: usize = 2_048;

/// A transport: carries datagrams between addresses, unreliably, and has the clock that they are timed by.
///
/// [`Driver`](super::Driver) runs a [`Protocol`](crate::Protocol) on any of them. `net::udp::Udp` is the one for UDP,
/// [`Memory`](super::Memory) the one inside a process, and `docs/TRANSPORTS.md` writes one for TCP and says what the
/// networks of platforms and browsers need. Datagrams may be lost, doubled, delayed and reordered; a datagram of up to
/// [`MAX_DATAGRAM`](crate::MAX_DATAGRAM) bytes arrives whole or not at all.
pub trait Datagrams {
    /// The time now, on a clock that never runs backwards. A driver reads it once for each batch of datagrams.
    fn now(&self) -> Duration;

    /// Receives one datagram into `buf`, truncated if it is longer. Never blocks.
    ///
    /// # Errors
    /// The transport is broken. An error of a single datagram is [`Received::Nothing`].
    fn recv(&mut self, buf: &mut [u8]) -> io::Result<Received>;

    /// Sends one datagram. Never blocks; a datagram that cannot be sent is lost, like one that is lost on its way.
    fn send(&mut self, to: SocketAddr, datagram: &[u8]);

    /// Sleeps until a datagram has arrived, at most for this long. It may return earlier: the driver looks at the clock
    /// and waits again.
    ///
    /// The time is a length and not a point, because that is what operating systems wait for.
    ///
    /// # Errors
    /// The transport is broken.
    fn wait(&mut self, at_most: Duration) -> io::Result<()>;

    /// Whether a datagram may be waiting, by the last [`wait`](Self::wait). A transport that knows that none is saves the driver
    /// a call of [`recv`](Self::recv); its next `wait` must then end at once for one that has come in between.
    fn may_receive(&self) -> bool {
        true
    }
}

/// The result of one attempt to receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// A datagram: its [canonical](crate::canonical) source address, and its length in the buffer.
    Datagram(SocketAddr, usize),
    /// An error of one datagram, after which the next attempt may succeed.
    Nothing,
    /// No datagram is waiting.
    Empty,
}
