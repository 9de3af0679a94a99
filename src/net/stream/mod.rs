//! Streams beside the UDP socket: TCP connections with TLS that carry datagrams of servers, for networks that let out no UDP.
//!
//! A stream looks like datagrams from and to an [address of its own](crate::protocol::stream_addr). The first datagram to such an address
//! opens the stream; one of a single byte opens it and is not sent. A side that connects is told by a [`Notice`] when a stream
//! has opened or ended. Nothing here blocks: a datagram that does not fit into the buffer of its stream is lost.
//!
//! | file | |
//! |---|---|
//! | `frames` | where a datagram ends |
//! | `session` | one stream, with its buffers |
//! | `tls` | certificates and names |

mod frames;
mod session;
mod tls;

pub(crate) use tls::Trust;

use super::datagrams::Received;
use crate::protocol::stream_addr::{Notice, stream_addr, tcp_addr};
use frames::Framing;
use mio::event::Event;
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Registry, Token};
use session::{SEND_BUFFER_BYTES, Session};
use socket2::{Domain, Protocol, Socket, Type};
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::time::Duration;
use tls::Identity;

const LISTENER: Token = Token(1);
/// The token of the first session.
const FIRST: usize = 2;

/// The most streams that this side opens: to the rendezvous and the relay, and as many to those that take their place.
const MAX_OPENED: usize = 4;
/// The most notices that wait for the protocol.
const MAX_NOTICES: usize = 64;
/// The most streams of one source at a listener: an IPv4 address, or a /64 of IPv6.
const MAX_PER_SOURCE: usize = 16;
/// The most handshakes that a listener begins in a second: each costs a signature.
const MAX_ACCEPTED_A_SECOND: u32 = 200;
/// A stream that is not open after this long is given up: by the side that connects, and by the one that listens.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(8);
const ACCEPT_TIMEOUT: Duration = Duration::from_secs(5);
/// A stream is closed after this long without a datagram: to the other side if this one has opened it, else from the other side.
/// Bytes that complete no datagram do not count.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);
/// Unsent bytes of this age mean that the network is gone.
const STUCK_TIMEOUT: Duration = Duration::from_secs(5);
/// How often timeouts are looked at.
const SWEEP: Duration = Duration::from_millis(250);
/// A server is connected to again after this long, doubling up to the second with each failure.
const FIRST_RETRY: Duration = Duration::from_millis(500);
const MAX_RETRY: Duration = Duration::from_secs(16);

/// The streams of a transport.
#[derive(Debug)]
pub(crate) struct Streams {
    registry: Registry,
    trust: Option<Trust>,
    listener: Option<Listener>,
    slots: Vec<Option<Slot>>,
    places: BTreeMap<SocketAddr, usize>,
    /// The slots that may have something to read.
    ready: VecDeque<usize>,
    notices: VecDeque<(SocketAddr, Notice)>,
    retries: Vec<Retry>,
    sweep_at: Duration,
    dropped: u64,
}

struct Slot {
    addr: SocketAddr,
    session: Session,
    is_ready: bool,
    /// Whether this side has connected.
    is_own: bool,
}

/// When a server that a stream has failed to may be tried again.
#[derive(Debug)]
struct Retry {
    addr: SocketAddr,
    at: Duration,
    wait: Duration,
}

#[derive(Debug)]
struct Listener {
    tcp: TcpListener,
    identity: Identity,
    max_streams: usize,
    is_ready: bool,
    /// The second in which handshakes are counted, and their number.
    second: u64,
    accepted: u32,
}

impl std::fmt::Debug for Slot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Slot").field("addr", &self.addr).finish_non_exhaustive()
    }
}

impl Streams {
    pub(crate) fn new(poll: &Poll) -> io::Result<Self> {
        Ok(Self {
            registry: poll.registry().try_clone()?,
            trust: None,
            listener: None,
            slots: Vec::new(),
            places: BTreeMap::new(),
            ready: VecDeque::new(),
            notices: VecDeque::new(),
            retries: Vec::new(),
            sweep_at: Duration::ZERO,
            dropped: 0,
        })
    }

    /// Lets streams be opened to servers that this trusts.
    pub(crate) fn trust(&mut self, trust: Trust) {
        self.trust = Some(trust);
    }

    /// Accepts streams at `addr`. Returns the address that it is bound to.
    pub(crate) fn listen(
        &mut self,
        addr: SocketAddr,
        certificate: &Path,
        key: &Path,
        max_streams: usize,
    ) -> io::Result<SocketAddr> {
        let identity = Identity::read(certificate, key)?;
        let socket = Socket::new(Domain::for_address(addr), Type::STREAM, Some(Protocol::TCP))?;
        if addr.is_ipv6() {
            let _ = socket.set_only_v6(!addr.ip().is_unspecified());
        }
        // A server that is started again takes its port although streams of the last one linger.
        #[cfg(unix)]
        socket.set_reuse_address(true)?;
        socket.set_nonblocking(true)?;
        socket.bind(&addr.into())?;
        socket.listen(1_024)?;
        let mut tcp = TcpListener::from_std(socket.into());
        self.registry.register(&mut tcp, LISTENER, Interest::READABLE)?;
        let local = tcp.local_addr()?;
        self.listener = Some(Listener { tcp, identity, max_streams, is_ready: true, second: 0, accepted: 0 });
        Ok(local)
    }

    /// Datagrams that were lost because they did not fit into the buffer of their stream, or had none.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Closes all streams that this side has opened: the network has changed.
    pub(crate) fn reset(&mut self) {
        for at in 0..self.slots.len() {
            if self.slots[at].as_ref().is_some_and(|slot| slot.is_own) {
                self.end(at, Notice::Closed, Duration::ZERO);
            }
        }
        self.retries.clear();
    }

    /// Sends a datagram to a stream's address, and opens the stream if need be.
    pub(crate) fn send(&mut self, now: Duration, to: SocketAddr, datagram: &[u8]) {
        let Some(at) = self.places.get(&to).copied().or_else(|| self.connect(now, to, datagram)) else {
            self.dropped += 1;
            return;
        };
        let Some(slot) = &mut self.slots[at] else { return };
        slot.session.used_at = now;
        if datagram.len() < 2 {
            if slot.is_own && slot.session.is_open() {
                self.tell(to, Notice::Opened);
            }
            return;
        }
        match slot.session.send(now, datagram) {
            Ok(is_sent) => self.dropped += u64::from(!is_sent),
            Err(notice) => self.end(at, notice, now),
        }
    }

    /// Takes the events of a poller.
    pub(crate) fn note(&mut self, events: &Events) {
        events.iter().for_each(|event| self.note_one(event));
    }

    fn note_one(&mut self, event: &Event) {
        if event.token() == LISTENER {
            if let Some(listener) = &mut self.listener {
                listener.is_ready = true;
            }
        } else if let Some(at) = event.token().0.checked_sub(FIRST) {
            self.make_ready(at);
        }
    }

    fn make_ready(&mut self, at: usize) {
        if let Some(Some(slot)) = self.slots.get_mut(at)
            && !slot.is_ready
        {
            slot.is_ready = true;
            self.ready.push_back(at);
        }
    }

    /// Receives one datagram or notice. Asks the poller once if nothing is known to be there.
    pub(crate) fn receive(
        &mut self,
        now: Duration,
        poll: &mut Poll,
        events: &mut Events,
        buf: &mut [u8],
    ) -> Received {
        if self.ready.is_empty() && self.notices.is_empty() {
            // Nothing that fails here fails for good: the events come again with the next call.
            if poll.poll(events, Some(Duration::ZERO)).is_ok() {
                self.note(events);
            }
            self.accept(now);
            if now >= self.sweep_at {
                self.sweep_at = now + SWEEP;
                self.sweep(now);
            }
        }
        if let Some((addr, notice)) = self.notices.pop_front() {
            buf[0] = notice as u8;
            return Received::Datagram(addr, 1);
        }
        let Some(at) = self.ready.pop_front() else { return Received::Empty };
        let Some(slot) = self.slots.get_mut(at).and_then(Option::as_mut) else { return Received::Nothing };
        match slot.step(now, buf) {
            Step::Datagram(len) => {
                // After the others, so that one stream cannot keep them waiting.
                self.ready.push_back(at);
                Received::Datagram(slot.addr, len)
            }
            Step::More => {
                self.ready.push_back(at);
                Received::Nothing
            }
            Step::Opened => {
                self.ready.push_back(at);
                let (addr, is_own) = (slot.addr, slot.is_own);
                if is_own {
                    self.tell(addr, Notice::Opened);
                    self.retries.retain(|retry| retry.addr != addr);
                }
                Received::Nothing
            }
            Step::Done => {
                slot.is_ready = false;
                Received::Nothing
            }
            Step::Ended(notice) => {
                self.end(at, notice, now);
                Received::Nothing
            }
        }
    }

    // Internal.

    /// Opens a stream. `None` if none may be opened now.
    fn connect(&mut self, now: Duration, to: SocketAddr, datagram: &[u8]) -> Option<usize> {
        let (trust, tcp) = self.trust.as_ref().zip(tcp_addr(to))?;
        let opened = self.slots.iter().flatten().filter(|slot| slot.is_own).count();
        if opened >= MAX_OPENED || self.retries.iter().any(|retry| retry.addr == to && now < retry.at) {
            return None;
        }
        let framing = Framing::of(datagram.first().copied().unwrap_or_default());
        let opened = connecting(tcp).and_then(|tcp| Ok((tcp, trust.session(framing)?)));
        match opened {
            Ok((tcp, tls)) => self.add(now, to, Session::new(tcp, tls, framing, now), true),
            Err(_) => {
                self.fail(now, to);
                self.tell(to, Notice::Unreachable);
                None
            }
        }
    }

    fn add(&mut self, now: Duration, addr: SocketAddr, mut session: Session, is_own: bool) -> Option<usize> {
        let at = self.slots.iter().position(Option::is_none).unwrap_or(self.slots.len());
        session.watch(&self.registry, Token(FIRST + at)).ok()?;
        let slot = Slot { addr, session, is_ready: false, is_own };
        if at == self.slots.len() {
            self.slots.push(Some(slot));
        } else {
            self.slots[at] = Some(slot);
        }
        if let Some(before) = self.places.insert(addr, at) {
            self.end(before, Notice::Closed, now);
            self.places.insert(addr, at);
        }
        self.make_ready(at);
        Some(at)
    }

    /// Accepts waiting connections, as many as may be.
    fn accept(&mut self, now: Duration) {
        loop {
            let Some(listener) = self.listener.as_mut().filter(|listener| listener.is_ready) else { return };
            let Ok((tcp, peer)) = listener.tcp.accept() else {
                listener.is_ready = false;
                return;
            };
            let addr = stream_addr(peer);
            let source = |addr: SocketAddr| match addr.ip() {
                IpAddr::V6(ip) => ip.to_bits() >> 64,
                IpAddr::V4(_) => 0,
            };
            let of_source = self.places.keys().filter(|one| source(**one) == source(addr)).count();
            if listener.second != now.as_secs() {
                (listener.second, listener.accepted) = (now.as_secs(), 0);
            }
            let is_full = self.places.len() >= listener.max_streams || of_source >= MAX_PER_SOURCE;
            if is_full || listener.accepted >= MAX_ACCEPTED_A_SECOND {
                continue;
            }
            listener.accepted += 1;
            if let Ok(tls) = listener.identity.session() {
                self.add(now, addr, Session::new(tcp, tls, Framing::Prefixed, now), false);
            }
        }
    }

    fn sweep(&mut self, now: Duration) {
        for at in 0..self.slots.len() {
            let Some(slot) = &self.slots[at] else { continue };
            let session = &slot.session;
            let (since, timeout) = match (session.is_open(), slot.is_own) {
                (false, true) => (session.since, CONNECT_TIMEOUT),
                (false, false) => (session.since, ACCEPT_TIMEOUT),
                (true, true) => (session.used_at, IDLE_TIMEOUT),
                (true, false) => (session.heard_at, IDLE_TIMEOUT),
            };
            let is_stuck = session.stuck_since().is_some_and(|since| now >= since + STUCK_TIMEOUT);
            if now >= since + timeout || (session.is_open() && is_stuck) {
                let notice = session.ended();
                self.end(at, notice, now);
            }
        }
    }

    fn end(&mut self, at: usize, notice: Notice, now: Duration) {
        let Some(slot) = self.slots.get_mut(at).and_then(Option::take) else { return };
        self.places.remove(&slot.addr);
        self.ready.retain(|ready| *ready != at);
        slot.session.close(&self.registry);
        if slot.is_own {
            self.fail(now, slot.addr);
            self.tell(slot.addr, notice);
        }
    }

    fn tell(&mut self, addr: SocketAddr, notice: Notice) {
        if self.notices.len() < MAX_NOTICES {
            self.notices.push_back((addr, notice));
        }
    }

    /// Delays the next attempt to connect.
    fn fail(&mut self, now: Duration, addr: SocketAddr) {
        let before = self.retries.iter().position(|retry| retry.addr == addr);
        let wait = match before.map(|at| self.retries.remove(at)) {
            Some(retry) => (retry.wait * 2).min(MAX_RETRY),
            None => FIRST_RETRY,
        };
        if self.retries.len() >= MAX_OPENED {
            self.retries.remove(0);
        }
        self.retries.push(Retry { addr, at: now + wait, wait });
    }
}

/// The outcome of one step of a stream.
enum Step {
    Datagram(usize),
    /// The handshake is done.
    Opened,
    /// Bytes came that complete no datagram.
    More,
    /// Nothing is there.
    Done,
    Ended(Notice),
}

impl Slot {
    /// Hands over a datagram, or reads once.
    fn step(&mut self, now: Duration, buf: &mut [u8]) -> Step {
        let session = &mut self.session;
        match session.take(buf) {
            Ok(Some(len)) => {
                session.heard_at = now;
                return Step::Datagram(len);
            }
            Ok(None) => {}
            Err(notice) => return Step::Ended(notice),
        }
        // A poller reports once that something can be sent.
        if let Err(notice) = session.flush(now) {
            return Step::Ended(notice);
        }
        match session.read(now) {
            Ok(_) if session.has_opened() => Step::Opened,
            Ok(true) => Step::More,
            Ok(false) => Step::Done,
            Err(notice) => Step::Ended(notice),
        }
    }
}

/// A TCP connection that is being made.
fn connecting(to: SocketAddr) -> io::Result<TcpStream> {
    let tcp = TcpStream::connect(to)?;
    #[cfg(unix)]
    {
        let options = socket2::SockRef::from(&tcp);
        let _ = options.set_send_buffer_size(SEND_BUFFER_BYTES);
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let _ = options.set_tcp_user_timeout(Some(STUCK_TIMEOUT));
    }
    Ok(tcp)
}

#[cfg(test)]
mod tests;
