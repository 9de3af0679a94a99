//! The UDP driver: runs a [`Protocol`] on one UDP socket and the monotonic clock, with mio and socket2.

use super::sleep::{NAP, Woken, sleep};
use super::socket::{DatagramSocket, RECEIVE_BYTES, Received};
use crate::{MAX_DATAGRAM, Protocol};
use mio::{Events, Interest, Poll, Token};
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

pub use super::socket::{UdpOptions, UdpStats};

/// The most datagrams received in one poll: thirty times as many as a peer sends in a frame, and still less than a
/// millisecond of work when somebody floods the port.
const RECEIVES_A_POLL: usize = 256;
/// The most datagrams sent in one poll, against a protocol that never stops sending.
const SENDS_A_POLL: usize = 256;

/// A driver that runs a [`Protocol`] on one UDP socket, with a monotonic clock.
///
/// - A game that lets the driver sleep: [`run_until`](Self::run_until) the next frame is due, then advance, then
///   [`flush`](Self::flush).
/// - An engine that owns the loop: [`poll`](Self::poll) once in every turn, which never blocks.
/// - At the end: [`close`](Self::close), which delivers the last messages.
///
/// All three take any [`Protocol`], and the same driver may serve one after the other (a lobby, then its session).
/// Times are those of [`now`](Self::now). Errors of single datagrams are counted in [`stats`](Self::stats) and
/// treated as packet loss. A returned error means that the socket or the poller itself is broken.
///
/// ```
/// use rebout::net::udp::UdpDriver;
///
/// let udp = UdpDriver::bind("127.0.0.1:0".parse().unwrap())?;
/// assert_ne!(udp.local_addr().port(), 0);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct UdpDriver {
    socket: DatagramSocket,
    poll: Poll,
    events: Events,
    epoch: Instant,
    /// Whether receiving stopped with more datagrams waiting. The poller is edge-triggered and does not report them
    /// again.
    more: bool,
    inbox: Box<[u8; RECEIVE_BYTES]>,
    outbox: Box<[u8; MAX_DATAGRAM]>,
}

impl UdpDriver {
    /// Binds a socket. Port 0 lets the system choose; `[::]` serves IPv6 and IPv4 with one socket, or IPv4 alone where
    /// there is no IPv6; any other address serves its own family.
    ///
    /// # Errors
    /// If the system cannot bind the address, most often [`AddrInUse`](io::ErrorKind::AddrInUse).
    pub fn bind(addr: SocketAddr) -> io::Result<Self> {
        let mut socket = DatagramSocket::bind(addr)?;
        let poll = Poll::new()?;
        poll.registry().register(&mut socket.mio, Token(0), Interest::READABLE)?;
        Ok(Self {
            socket,
            poll,
            events: Events::with_capacity(4),
            epoch: Instant::now(),
            // The poller may not report a datagram that arrived before the registration.
            more: true,
            inbox: Box::new([0; RECEIVE_BYTES]),
            outbox: Box::new([0; MAX_DATAGRAM]),
        })
    }

    // Commands.

    /// Receives and sends until `deadline`, or until the protocol [wants attention](Protocol::wants_attention), and
    /// sleeps in between. Also after the deadline it receives and sends once before it returns.
    ///
    /// # Errors
    /// A broken socket or poller.
    pub fn run_until<P: Protocol>(&mut self, protocol: &mut P, deadline: Duration) -> io::Result<()> {
        self.pump(protocol, deadline, P::wants_attention)
    }

    /// Receives waiting datagrams, up to a bound, and sends those that are due. Never blocks.
    ///
    /// # Errors
    /// A broken socket.
    pub fn poll<P: Protocol>(&mut self, protocol: &mut P) -> io::Result<()> {
        self.receive(protocol)?;
        self.transmit(protocol);
        Ok(())
    }

    /// Sends the datagrams that are due, without receiving. Never blocks.
    ///
    /// # Errors
    /// None at present; datagrams that cannot be sent are counted.
    pub fn flush<P: Protocol>(&mut self, protocol: &mut P) -> io::Result<()> {
        self.transmit(protocol);
        Ok(())
    }

    /// Receives and sends for at most `linger`, until the protocol has nothing left to deliver
    /// ([`Protocol::lingers`]). Returns whether everything was delivered. The driver can still be used afterwards.
    ///
    /// # Errors
    /// A broken socket or poller.
    pub fn close<P: Protocol>(&mut self, protocol: &mut P, linger: Duration) -> io::Result<bool> {
        let deadline = self.now().saturating_add(linger);
        self.pump(protocol, deadline, |protocol, _| !protocol.lingers())?;
        Ok(!protocol.lingers())
    }

    // Getters.

    /// The time since the driver was made, on a monotonic clock.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.epoch.elapsed()
    }

    /// The address that the socket is bound to.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.socket.local_addr()
    }

    /// The socket options that the operating system granted.
    #[must_use]
    pub fn options(&self) -> &UdpOptions {
        self.socket.options()
    }

    /// The statistics of the socket so far.
    #[must_use]
    pub fn stats(&self) -> &UdpStats {
        &self.socket.stats
    }

    // Internal.

    fn pump<P: Protocol>(
        &mut self,
        protocol: &mut P,
        deadline: Duration,
        done: impl Fn(&P, Duration) -> bool,
    ) -> io::Result<()> {
        loop {
            self.receive(protocol)?;
            let served = self.now();
            self.transmit(protocol);
            let now = self.now();
            if now >= deadline || done(protocol, now) {
                return Ok(());
            }
            if !self.more {
                let until = match protocol.poll_timeout() {
                    None => deadline,
                    // A timeout that stays in the past after it was served must not become a busy loop.
                    Some(at) if at <= served => now + NAP,
                    Some(at) => at,
                };
                self.sleep(until.min(deadline).saturating_sub(now))?;
            }
        }
    }

    fn sleep(&mut self, time: Duration) -> io::Result<()> {
        let woken = sleep(&mut self.poll, &mut self.events, time)?;
        self.socket.stats.interrupted += u64::from(woken == Woken::Interrupted);
        Ok(())
    }

    fn receive<P: Protocol>(&mut self, protocol: &mut P) -> io::Result<()> {
        self.more = false;
        for _ in 0..RECEIVES_A_POLL {
            match self.socket.receive(&mut self.inbox)? {
                Received::Datagram(from, len) => {
                    let now = self.epoch.elapsed();
                    protocol.handle_datagram(now, from, &self.inbox[..len]);
                }
                Received::Nothing => {}
                Received::Empty => return Ok(()),
            }
        }
        self.more = true;
        self.socket.stats.cut_short += 1;
        Ok(())
    }

    fn transmit<P: Protocol>(&mut self, protocol: &mut P) {
        for _ in 0..SENDS_A_POLL {
            let now = self.epoch.elapsed();
            let Some((to, len)) = protocol.poll_transmit(now, &mut self.outbox[..]) else { return };
            self.socket.send(to, &self.outbox[..len]);
        }
    }
}
