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
/// [`Memory`](super::Memory) the one inside a process, and `docs/TRANSPORTS.md` describes those for platforms and
/// browsers. Datagrams may be lost, duplicated, delayed and reordered; a datagram of up to
/// [`MAX_DATAGRAM`](crate::MAX_DATAGRAM) bytes arrives whole or not at all.
///
/// A transport over one TCP connection: every datagram is a 16-bit length and its bytes. It plays a match here:
///
/// ```
/// use rebout::net::{Datagrams, Driver, Received};
/// use rebout::{Buttons, Config, Cues, Event, Game, Inputs, Lobby, Player, Verdict, fields};
/// use std::io::{self, ErrorKind, Read, Write};
/// use std::net::{SocketAddr, TcpListener, TcpStream};
/// use std::time::{Duration, Instant};
///
/// /// Datagrams over one TCP connection.
/// struct Tcp {
///     stream: TcpStream,
///     peer: SocketAddr,
///     epoch: Instant,
///     incoming: Vec<u8>,
///     outgoing: Vec<u8>,
/// }
///
/// /// More than this unsent is a connection that stands still: newer datagrams are lost, as on a full link.
/// const MAX_UNSENT_BYTES: usize = 16 * 1024;
///
/// impl Tcp {
///     fn new(stream: TcpStream) -> io::Result<Self> {
///         stream.set_nodelay(true)?;                             // or the system waits for more to send
///         stream.set_nonblocking(true)?;
///         let peer = rebout::canonical(stream.peer_addr()?);
///         Ok(Self { stream, peer, epoch: Instant::now(), incoming: Vec::new(), outgoing: Vec::new() })
///     }
///
///     /// Writes as much as the system takes. A connection that is gone shows when it is read.
///     fn push(&mut self) {
///         while let Ok(count @ 1..) = self.stream.write(&self.outgoing) {
///             self.outgoing.drain(..count);
///         }
///     }
/// }
///
/// impl Datagrams for Tcp {
///     fn now(&self) -> Duration {
///         self.epoch.elapsed()
///     }
///
///     fn recv(&mut self, buf: &mut [u8]) -> io::Result<Received> {
///         self.push();
///         loop {
///             if let [high, low, rest @ ..] = &self.incoming[..] {
///                 let len = usize::from(u16::from_be_bytes([*high, *low]));
///                 if let Some(datagram) = rest.get(..len) {
///                     let kept = len.min(buf.len());
///                     buf[..kept].copy_from_slice(&datagram[..kept]);
///                     self.incoming.drain(..2 + len);
///                     return Ok(Received::Datagram(self.peer, kept));
///                 }
///             }
///             let mut chunk = [0; 2_048];                        // at most one datagram and a chunk are kept
///             match self.stream.read(&mut chunk) {
///                 Ok(0) => return Err(ErrorKind::ConnectionAborted.into()),
///                 Ok(count) => self.incoming.extend_from_slice(&chunk[..count]),
///                 Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(Received::Empty),
///                 Err(error) if error.kind() == ErrorKind::Interrupted => {}
///                 Err(error) => return Err(error),
///             }
///         }
///     }
///
///     fn send(&mut self, to: SocketAddr, datagram: &[u8]) {
///         let Ok(len) = u16::try_from(datagram.len()) else { return };
///         if to == self.peer && self.outgoing.len() < MAX_UNSENT_BYTES {
///             self.outgoing.extend_from_slice(&len.to_be_bytes());
///             self.outgoing.extend_from_slice(datagram);
///             self.push();
///         }
///     }
///
///     fn wait(&mut self, at_most: Duration) -> io::Result<()> {
///         // Unsent bytes are tried again soon. A time of zero would mean "for ever".
///         let most = if self.outgoing.is_empty() { Duration::MAX } else { Duration::from_millis(1) };
///         self.stream.set_read_timeout(Some(at_most.min(most).max(Duration::from_micros(1))))?;
///         self.stream.set_nonblocking(false)?;
///         let _ = self.stream.peek(&mut [0]);                    // errors show when it is read
///         self.stream.set_nonblocking(true)
///     }
/// }
///
/// /// Counts the frames in which each player pulls; over when one has pulled in 30.
/// #[derive(Clone, Copy)]
/// struct Tug { pulls: [u32; 2] }
/// fields!(Tug { pulls });
///
/// impl Game for Tug {
///     fn step(&mut self, inputs: Inputs, _: &mut Cues) {
///         for player in Player::BOTH {
///             self.pulls[player.index()] += u32::from(inputs[player].holds(Buttons(1)));
///         }
///     }
///     fn finished(&self) -> bool { self.pulls.iter().any(|pulls| *pulls >= 30) }
/// }
///
/// fn play(tcp: Tcp, mut lobby: Lobby) -> io::Result<Verdict> {
///     let mut driver = Driver::new(tcp);
///     while lobby.agreed().map_err(io::Error::other)?.is_none() {
///         let deadline = driver.now() + Duration::from_millis(16);
///         driver.run_until(&mut lobby, deadline)?;
///     }
///     let mut game = Tug { pulls: [0; 2] };
///     let mut session = lobby.start(driver.now(), &game).map_err(io::Error::other)?;
///     loop {
///         let due = session.next_frame_at();
///         let now = driver.run_until(&mut session, due)?;
///         let pulls = session.current().0 % (2 + session.local().index() as u32) == 0;
///         session.advance(now, &mut game, Buttons(u16::from(pulls)));
///         driver.flush(&mut session)?;
///         while let Some(event) = session.poll_event() {
///             if let Event::Ended(verdict) = event {
///                 driver.close(&mut session, Duration::from_secs(2)).ok();   // the peer may hang up first
///                 return Ok(verdict);
///             }
///         }
///     }
/// }
///
/// let listener = TcpListener::bind("127.0.0.1:0")?;
/// let there = Tcp::new(TcpStream::connect(listener.local_addr()?)?)?;
/// let here = Tcp::new(listener.accept()?.0)?;
/// let host = Lobby::host(Config::new(0x7475_67)).unwrap();
/// let join = Lobby::join(Config::new(0x7475_67), there.peer).unwrap();
/// let other = std::thread::spawn(move || play(there, join));
/// let verdict = play(here, host)?;
/// assert!(matches!(verdict, Verdict::Agreed { .. }));
/// assert_eq!(other.join().unwrap()?, verdict);
/// # Ok::<(), std::io::Error>(())
/// ```
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
    /// The time is a duration, because operating systems wait for durations.
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
