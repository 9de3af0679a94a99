//! The transport on UDP: one socket and the monotonic clock, with mio and socket2.

use super::datagrams::{Datagrams, Received};
use super::driver::Driver;
use super::sleep::{Woken, sleep};
use super::socket::DatagramSocket;
#[cfg(feature = "tls")]
use super::stream::{Streams, Trust};
#[cfg(feature = "tls")]
use crate::protocol::stream_addr::is_stream;
use mio::{Events, Poll, Token};
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

pub use super::socket::{UdpOptions, UdpStats};

const SOCKET: Token = Token(0);
/// Events that a poller reports at once where there are streams.
#[cfg(feature = "tls")]
const STREAM_EVENTS: usize = 256;

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
    /// Whether the poller watches the socket. It does from the first wait in the poller on: other loops do not pay for a poller
    /// that is told of every datagram.
    watched: bool,
    /// Whether the last wait found no datagram.
    is_empty: bool,
    /// Streams to and from servers, if there may be any.
    #[cfg(feature = "tls")]
    streams: Option<Box<Streams>>,
    poll: Poll,
    events: Events,
    epoch: Instant,
}

impl Udp {
    fn bind(addr: SocketAddr) -> io::Result<Self> {
        let socket = DatagramSocket::bind(addr)?;
        let (poll, events) = (Poll::new()?, Events::with_capacity(4));
        Ok(Self {
            socket,
            watched: false,
            is_empty: false,
            #[cfg(feature = "tls")]
            streams: None,
            poll,
            events,
            epoch: Instant::now(),
        })
    }

    /// Lets the clock jump, for tests of long waits.
    #[cfg(all(test, feature = "seal"))]
    pub(crate) fn skip(&mut self, time: Duration) {
        self.epoch -= time;
    }

    fn rebind(&mut self, addr: SocketAddr) -> io::Result<()> {
        let before = std::mem::replace(&mut self.socket, DatagramSocket::bind(addr)?);
        self.socket.replace(before, &self.poll);
        (self.watched, self.is_empty) = (false, false);
        #[cfg(feature = "tls")]
        if let Some(streams) = &mut self.streams {
            streams.reset();
        }
        Ok(())
    }

    fn sleep(&mut self, at_most: Duration) -> io::Result<Woken> {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        if !self.has_streams() {
            return self.socket.sleep(at_most);
        }
        if !self.watched {
            // A datagram that is there already is told at once.
            self.socket.watch(&self.poll, SOCKET)?;
            self.watched = true;
        }
        let woken = sleep(&mut self.poll, &mut self.events, at_most)?;
        #[cfg(feature = "tls")]
        if let Some(streams) = &mut self.streams {
            streams.note(&self.events);
        }
        Ok(woken)
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn has_streams(&self) -> bool {
        #[cfg(feature = "tls")]
        return self.streams.is_some();
        #[cfg(not(feature = "tls"))]
        false
    }

    #[cfg(feature = "tls")]
    fn streams(&mut self) -> io::Result<&mut Streams> {
        match &mut self.streams {
            Some(streams) => Ok(streams),
            none => {
                self.events = Events::with_capacity(STREAM_EVENTS);
                self.is_empty = false;
                Ok(none.insert(Box::new(Streams::new(&self.poll)?)))
            }
        }
    }
}

impl Datagrams for Udp {
    fn now(&self) -> Duration {
        self.epoch.elapsed()
    }

    fn recv(&mut self, buf: &mut [u8]) -> io::Result<Received> {
        let received = self.socket.receive(buf)?;
        #[cfg(feature = "tls")]
        return Ok(self.or_of_stream(received, buf));
        #[cfg(not(feature = "tls"))]
        Ok(received)
    }

    fn send(&mut self, to: SocketAddr, datagram: &[u8]) {
        #[cfg(feature = "tls")]
        if is_stream(to) {
            let now = self.now();
            if let Some(streams) = &mut self.streams {
                streams.send(now, to, datagram);
            }
            return;
        }
        self.socket.send(to, datagram);
    }

    fn wait(&mut self, at_most: Duration) -> io::Result<()> {
        let woken = self.sleep(at_most)?;
        self.is_empty = woken == Woken::Timeout;
        if woken == Woken::Interrupted {
            self.socket.interrupted();
        }
        Ok(())
    }

    #[inline]
    fn may_receive(&self) -> bool {
        !self.is_empty
    }
}

#[cfg(feature = "tls")]
impl Udp {
    /// The result of the socket, or that of the streams if the socket has nothing.
    #[inline]
    fn or_of_stream(&mut self, received: Received, buf: &mut [u8]) -> Received {
        match received {
            Received::Empty if self.streams.is_some() => self.receive_from_streams(buf),
            // Nobody has such an address, and a protocol would take the datagram for one of a stream.
            Received::Datagram(from, _) if is_stream(from) => Received::Nothing,
            received => received,
        }
    }

    #[cold]
    fn receive_from_streams(&mut self, buf: &mut [u8]) -> Received {
        let now = self.now();
        let Self { streams, poll, events, .. } = self;
        streams.as_mut().map_or(Received::Empty, |streams| streams.receive(now, poll, events, buf))
    }

    /// Datagrams that did not fit into the buffers of their streams.
    fn dropped(&self) -> u64 {
        self.streams.as_ref().map_or(0, |streams| streams.dropped())
    }

    /// Lets a protocol reach servers that this trusts over TLS, under the addresses of their streams.
    pub(crate) fn trust(&mut self, trust: Trust) -> io::Result<()> {
        self.streams()?.trust(trust);
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

    /// Accepts datagrams on TLS streams at `addr` too, for clients whose network lets out no UDP; `certificate` and `key` are PEM
    /// files. At most `max_streams` are open at once, and 16 of one IPv4 address or one /64 of IPv6. A protocol sees each stream as
    /// an address that no UDP client has. Returns the address that is listened on.
    ///
    /// # Errors
    /// If a file cannot be used, or the system cannot bind the address.
    #[cfg(feature = "tls")]
    pub fn listen_tls(
        &mut self,
        addr: SocketAddr,
        certificate: &std::path::Path,
        key: &std::path::Path,
        max_streams: usize,
    ) -> io::Result<SocketAddr> {
        self.transport_mut().streams()?.listen(addr, certificate, key, max_streams)
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
        let stats = UdpStats { cut_short: self.cut_short(), ..self.transport().socket.stats() };
        #[cfg(feature = "tls")]
        let stats = UdpStats { buffer_full: stats.buffer_full + self.transport().dropped(), ..stats };
        stats
    }
}

#[cfg(feature = "tls")]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::stream_addr::stream_addr;

    #[test]
    fn address_of_a_stream_is_none_of_udp() {
        let mut udp = UdpDriver::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let own = udp.local_addr();
        let transport = udp.transport_mut();
        let forged = Received::Datagram(stream_addr(own), 3);
        assert_eq!(transport.or_of_stream(forged, &mut [0; 3]), Received::Nothing);
        let usual = Received::Datagram(own, 3);
        assert_eq!(transport.or_of_stream(usual, &mut [0; 3]), usual);
        transport.send(stream_addr(own), &[1, 2, 3]);
        assert_eq!(udp.stats().sent, 0, "there are no streams");
    }
}
