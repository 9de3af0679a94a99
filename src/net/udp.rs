//! The transport on UDP: one socket and the monotonic clock, with mio and socket2.

use super::datagrams::{Datagrams, Received};
use super::driver::Driver;
use super::sleep::{Woken, sleep};
use super::socket::DatagramSocket;
use mio::{Events, Poll, Token};
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

pub use super::socket::{UdpOptions, UdpStats};

const SOCKET: Token = Token(0);

/// A [`Driver`] on one UDP socket, with a monotonic clock. Errors of single datagrams are counted in
/// [`stats`](Self::stats) and treated as packet loss.
///
/// ```
/// use rebout::net::udp::UdpDriver;
///
/// let udp = UdpDriver::bind("127.0.0.1:0".parse().unwrap())?;
/// assert_ne!(udp.local_addr().port(), 0);
/// # Ok::<(), std::io::Error>(())
/// ```
pub type UdpDriver = Driver<Udp>;

/// One UDP socket, and the clock since it was bound: the transport of a [`UdpDriver`].
#[derive(Debug)]
pub struct Udp {
    socket: DatagramSocket,
    /// Whether the poller watches the socket. It does from the first wait on: a loop that never waits does not pay for a
    /// poller that is told of every datagram.
    watched: bool,
    poll: Poll,
    events: Events,
    epoch: Instant,
}

impl Udp {
    fn bind(addr: SocketAddr) -> io::Result<Self> {
        let socket = DatagramSocket::bind(addr)?;
        let (poll, events) = (Poll::new()?, Events::with_capacity(4));
        Ok(Self { socket, watched: false, poll, events, epoch: Instant::now() })
    }

    fn rebind(&mut self, addr: SocketAddr) -> io::Result<()> {
        let before = std::mem::replace(&mut self.socket, DatagramSocket::bind(addr)?);
        self.socket.replace(before, &self.poll);
        self.watched = false;
        Ok(())
    }
}

impl Datagrams for Udp {
    fn now(&self) -> Duration {
        self.epoch.elapsed()
    }

    fn recv(&mut self, buf: &mut [u8]) -> io::Result<Received> {
        self.socket.receive(buf)
    }

    fn send(&mut self, to: SocketAddr, datagram: &[u8]) {
        self.socket.send(to, datagram);
    }

    fn wait(&mut self, at_most: Duration) -> io::Result<()> {
        if !self.watched {
            // A datagram that is there already is told at once.
            self.socket.watch(&self.poll, SOCKET)?;
            self.watched = true;
        }
        if sleep(&mut self.poll, &mut self.events, at_most)? == Woken::Interrupted {
            self.socket.interrupted();
        }
        Ok(())
    }
}

impl Driver<Udp> {
    /// Binds a socket. Port 0 lets the system choose; `[::]` serves IPv6 and IPv4 with one socket, or IPv4 alone where
    /// there is no IPv6; any other address serves its own family.
    ///
    /// # Errors
    /// If the system cannot bind the address, most often [`AddrInUse`](io::ErrorKind::AddrInUse).
    pub fn bind(addr: SocketAddr) -> io::Result<Self> {
        Udp::bind(addr).map(Self::new)
    }

    /// Replaces the socket by a new one at `addr`, for a machine that has changed networks. The clock and the statistics
    /// go on; datagrams that wait at the old socket are lost.
    ///
    /// The old socket is still open while the new one is bound: port 0, or another port than before, always works.
    ///
    /// # Errors
    /// As [`bind`](Self::bind); the old socket then stays in use.
    pub fn rebind(&mut self, addr: SocketAddr) -> io::Result<()> {
        self.transport_mut().rebind(addr)
    }

    /// The address that the socket is bound to.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.transport().socket.local_addr()
    }

    /// The socket options that the operating system granted.
    #[must_use]
    pub fn options(&self) -> &UdpOptions {
        self.transport().socket.options()
    }

    /// The statistics of the driver's sockets so far.
    #[must_use]
    pub fn stats(&self) -> UdpStats {
        UdpStats { cut_short: self.cut_short(), ..self.transport().socket.stats() }
    }
}
