//! The driver on mio and socket2: runs a [`Protocol`] on one UDP socket and the machine's clock.

use super::sleep::{NAP, Woken, sleep};
use super::socket::{DatagramSocket, RECEIVE_BYTES, Received};
use crate::{MAX_DATAGRAM, Protocol};
use mio::{Events, Interest, Poll, Token};
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

pub use super::socket::{UdpOptions, UdpStats};

/// Datagrams taken in one go. Thirty times what a peer sends in a frame's wait, and still under a millisecond when
/// somebody floods the port.
const RECEIVES_A_POLL: usize = 256;
/// Datagrams sent in one go; a protocol that has more than this to say at once never stops.
const SENDS_A_POLL: usize = 256;
/// One UDP socket, a clock and a place to sleep.
///
/// - A game that lets the driver sleep: [`run_until`](Self::run_until) the next frame is due, then advance, then
///   [`flush`](Self::flush).
/// - An engine that owns the loop: [`poll`](Self::poll) once in every turn, which never blocks.
/// - At the end: [`close`](Self::close), so that the last word gets through.
///
/// All three take any [`Protocol`], and the same driver may serve one after the other (a lobby, then its session).
/// Times are those of [`now`](Self::now). What goes wrong with single datagrams is counted in [`stats`](Self::stats) and
/// survived: to a protocol it is loss. An error means that the socket or the poller itself is broken.
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
    /// Receiving stopped with more to come. The poller tells of changes only, so it would not tell of this.
    more: bool,
    inbox: Box<[u8; RECEIVE_BYTES]>,
    outbox: Box<[u8; MAX_DATAGRAM]>,
}

impl UdpDriver {
    /// Binds a socket. Port 0 lets the system choose; `[::]` serves IPv6 and IPv4 with one socket, or IPv4 alone where
    /// there is no IPv6; any other address serves its own family.
    ///
    /// # Errors
    /// What the system says, above all [`AddrInUse`](io::ErrorKind::AddrInUse).
    pub fn bind(addr: SocketAddr) -> io::Result<Self> {
        let mut socket = DatagramSocket::bind(addr)?;
        let poll = Poll::new()?;
        poll.registry().register(&mut socket.mio, Token(0), Interest::READABLE)?;
        Ok(Self {
            socket,
            poll,
            events: Events::with_capacity(4),
            epoch: Instant::now(),
            // A datagram that came before the registration may not be told of.
            more: true,
            inbox: Box::new([0; RECEIVE_BYTES]),
            outbox: Box::new([0; MAX_DATAGRAM]),
        })
    }

    // Commands.

    /// Moves packets until `deadline`, or until the protocol [wants attention](Protocol::wants_attention). Sleeps in
    /// between; takes in all that has come and sends all that is ready before it returns, however late it is.
    ///
    /// # Errors
    /// A broken socket or poller.
    pub fn run_until<P: Protocol>(&mut self, protocol: &mut P, deadline: Duration) -> io::Result<()> {
        self.pump(protocol, deadline, P::wants_attention)
    }

    /// Takes in what has come, up to a bound, and sends what is ready. Never blocks.
    ///
    /// # Errors
    /// A broken socket.
    pub fn poll<P: Protocol>(&mut self, protocol: &mut P) -> io::Result<()> {
        self.receive(protocol)?;
        self.transmit(protocol);
        Ok(())
    }

    /// Sends what is ready, and takes nothing in. Never blocks.
    ///
    /// # Errors
    /// None at present; what cannot be sent is counted.
    pub fn flush<P: Protocol>(&mut self, protocol: &mut P) -> io::Result<()> {
        self.transmit(protocol);
        Ok(())
    }

    /// Moves packets for at most `linger`, until the protocol has nothing left to deliver
    /// ([`Protocol::lingers`]). Answers whether it has not. The driver can still be used afterwards.
    ///
    /// # Errors
    /// A broken socket or poller.
    pub fn close<P: Protocol>(&mut self, protocol: &mut P, linger: Duration) -> io::Result<bool> {
        let deadline = self.now().saturating_add(linger);
        self.pump(protocol, deadline, |protocol, _| !protocol.lingers())?;
        Ok(!protocol.lingers())
    }

    // Getters.

    /// The time since the driver was made. Never runs backwards, and knows nothing of the wall clock.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.epoch.elapsed()
    }

    /// The address that the socket is bound to.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.socket.local_addr()
    }

    /// What the operating system granted.
    #[must_use]
    pub fn options(&self) -> &UdpOptions {
        self.socket.options()
    }

    /// What was sent, received and survived so far.
    #[must_use]
    pub fn stats(&self) -> &UdpStats {
        &self.socket.stats
    }

    // Inside.

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
                    // It was served and has not moved: it must not turn sleep into a busy loop.
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
