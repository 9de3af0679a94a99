//! The driver: runs a [`Protocol`] on a transport, [`Datagrams`].

use super::datagrams::{Datagrams, RECEIVE_BYTES, Received};
use crate::Protocol;
use crate::protocol::MAX_WRAPPED;
use std::io;
use std::time::Duration;

/// The most datagrams received in one poll: thirty times as many as a peer sends in a frame, and still less than a
/// millisecond of work when somebody floods the port.
const RECEIVES_A_POLL: usize = 256;
/// The most datagrams sent in one poll, against a protocol that never stops sending.
const SENDS_A_POLL: usize = 256;
/// The wait for a protocol whose timeout stays in the past after it was served, which must not become a busy loop.
const NAP: Duration = Duration::from_micros(250);

/// A driver that runs a [`Protocol`] on a transport, with the transport's clock.
///
/// - A game that lets the driver sleep: [`run_until`](Self::run_until) the next frame is due, then advance, then
///   [`flush`](Self::flush).
/// - An engine that owns the loop: [`poll`](Self::poll) once in every turn, which never blocks.
/// - At the end: [`close`](Self::close), which delivers the last messages.
///
/// All three take any [`Protocol`], and the same driver may serve one after the other (a lobby, then its session).
/// Times are those of [`now`](Self::now), which is read once for a batch of datagrams. A returned error means that the
/// transport itself is broken; single datagrams that fail are packet loss.
///
/// ```
/// use rebout::net::{Driver, Memory};
/// use std::time::Duration;
///
/// let [here, there] = Memory::pair(|| Duration::ZERO).map(Driver::new);  // the clock is the game's
/// assert_ne!(here.transport().local_addr(), there.transport().local_addr());
/// ```
#[derive(Debug)]
pub struct Driver<D> {
    transport: D,
    cut_short: u64,
    inbox: Box<[u8; RECEIVE_BYTES]>,
    outbox: Box<[u8; MAX_WRAPPED]>,
}

impl<D: Datagrams> Driver<D> {
    /// A driver on this transport.
    #[must_use]
    pub fn new(transport: D) -> Self {
        Self {
            transport,
            cut_short: 0,
            inbox: Box::new([0; RECEIVE_BYTES]),
            outbox: Box::new([0; MAX_WRAPPED]),
        }
    }

    // Commands.

    /// Receives and sends until `deadline`, or until the protocol [wants attention](Protocol::wants_attention), and
    /// sleeps in between. Also after the deadline it receives and sends once before it returns. Returns the time.
    ///
    /// # Errors
    /// A broken transport.
    pub fn run_until<P: Protocol>(&mut self, protocol: &mut P, deadline: Duration) -> io::Result<Duration> {
        self.pump(protocol, deadline, P::wants_attention)
    }

    /// Receives waiting datagrams, up to a bound, and sends those that are due. Never blocks. Returns the time.
    ///
    /// # Errors
    /// A broken transport.
    pub fn poll<P: Protocol>(&mut self, protocol: &mut P) -> io::Result<Duration> {
        let now = self.now();
        self.receive(now, protocol)?;
        self.transmit(now, protocol);
        Ok(now)
    }

    /// Sends the datagrams that are due, without receiving. Never blocks.
    ///
    /// # Errors
    /// None at present; datagrams that cannot be sent are lost.
    pub fn flush<P: Protocol>(&mut self, protocol: &mut P) -> io::Result<()> {
        self.transmit(self.now(), protocol);
        Ok(())
    }

    /// Receives and sends for at most `linger`, until the protocol has nothing left to deliver
    /// ([`Protocol::lingers`]). Returns whether everything was delivered. The driver can still be used afterwards.
    ///
    /// # Errors
    /// A broken transport.
    pub fn close<P: Protocol>(&mut self, protocol: &mut P, linger: Duration) -> io::Result<bool> {
        let deadline = self.now().saturating_add(linger);
        self.pump(protocol, deadline, |protocol, _| !protocol.lingers())?;
        Ok(!protocol.lingers())
    }

    // Getters.

    /// The time now, on the transport's clock. [`run_until`](Self::run_until) and [`poll`](Self::poll) return it too.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.transport.now()
    }

    /// The transport.
    #[must_use]
    pub fn transport(&self) -> &D {
        &self.transport
    }

    /// The transport, to be acted on.
    pub fn transport_mut(&mut self) -> &mut D {
        &mut self.transport
    }

    /// The number of polls that stopped at their bound of datagrams with more to receive.
    #[must_use]
    pub fn cut_short(&self) -> u64 {
        self.cut_short
    }

    // Internal.

    fn pump<P: Protocol>(
        &mut self,
        protocol: &mut P,
        deadline: Duration,
        done: impl Fn(&P, Duration) -> bool,
    ) -> io::Result<Duration> {
        let mut is_first = true;
        loop {
            let now = self.now();
            // A transport without datagrams is looked at anyway if there will be no wait that tells of one.
            let receives =
                self.transport.may_receive() || is_first && (now >= deadline || done(protocol, now));
            let more = receives && self.receive(now, protocol)?;
            is_first = false;
            self.transmit(now, protocol);
            if now >= deadline || done(protocol, now) {
                return Ok(now);
            }
            // A poller that reports a change and not a state says nothing of datagrams that were left behind.
            if !more {
                let until = match protocol.poll_timeout() {
                    None => deadline,
                    Some(at) if at <= now => now + NAP,
                    Some(at) => at,
                };
                self.transport.wait(until.min(deadline).saturating_sub(now))?;
            }
        }
    }

    /// Hands over waiting datagrams; returns whether it stopped at its bound.
    fn receive<P: Protocol>(&mut self, now: Duration, protocol: &mut P) -> io::Result<bool> {
        for _ in 0..RECEIVES_A_POLL {
            match self.transport.recv(&mut self.inbox[..])? {
                Received::Datagram(from, len) => protocol.handle_datagram(now, from, &self.inbox[..len]),
                Received::Nothing => {}
                Received::Empty => return Ok(false),
            }
        }
        self.cut_short += 1;
        Ok(true)
    }

    fn transmit<P: Protocol>(&mut self, now: Duration, protocol: &mut P) {
        for _ in 0..SENDS_A_POLL {
            let Some((to, len)) = protocol.poll_transmit(now, &mut self.outbox[..]) else { return };
            self.transport.send(to, &self.outbox[..len]);
        }
    }
}
