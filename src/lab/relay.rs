//! A UDP relay that behaves like a bad link, to test a game against a distant peer on one machine.

use super::link::{InFlight, Link, LinkConfig, LinkStats, nanos};
use crate::canonical;
use crate::net::datagrams::{RECEIVE_BYTES, Received};
use crate::net::sleep::sleep;
use crate::net::socket::DatagramSocket;
use mio::{Events, Poll, Token, Waker};
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const FRONT: Token = Token(0);
const BACK: Token = Token(1);
const WAKE: Token = Token(2);
/// The most datagrams received from one socket before the other gets its turn.
const RECEIVES_A_TURN: usize = 256;

/// A relay between a client and a fixed target.
///
/// The client is the last sender to [`addr`](Self::addr). The target sees a second address of the relay, where
/// datagrams from anyone else are ignored. The relay runs in a thread of its own, which ends when it is dropped.
///
/// ```
/// use rebout::lab::relay::Relay;
/// use rebout::lab::link::{Chance, LinkConfig};
/// use std::time::Duration;
///
/// let target = "127.0.0.1:7000".parse().unwrap();
/// let link = LinkConfig { loss: Chance::percent(3), ..LinkConfig::new(Duration::from_millis(40)) };
/// let relay = Relay::start("127.0.0.1:0".parse().unwrap(), target, link, 1)?;
/// let handle = relay.handle();
/// handle.set(LinkConfig::new(Duration::from_millis(100))); // from any thread, while it runs
/// assert_eq!(handle.configs()[0].latency, Duration::from_millis(100));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Relay {
    addr: SocketAddr,
    handle: RelayHandle,
    thread: Option<JoinHandle<()>>,
}

/// Changes the links of a [`Relay`] while it runs. Cheap to clone.
#[derive(Clone, Debug)]
pub struct RelayHandle {
    shared: Arc<Mutex<Shared>>,
    waker: Arc<Waker>,
}

#[derive(Debug)]
struct Shared {
    /// The links from the client to the target, and back.
    links: [Link; 2],
    stop: bool,
    error: Option<ErrorKind>,
}

impl Relay {
    /// Starts a relay at `addr` (port 0 lets the system choose) with the same link both ways.
    ///
    /// # Errors
    /// If a socket cannot be bound or a thread cannot be started.
    pub fn start(addr: SocketAddr, target: SocketAddr, config: LinkConfig, seed: u64) -> io::Result<Self> {
        let mut front = DatagramSocket::bind(addr)?;
        let mut back = DatagramSocket::bind(source_for(target))?;
        let poll = Poll::new()?;
        front.watch(&poll, FRONT)?;
        back.watch(&poll, BACK)?;
        let waker = Arc::new(Waker::new(poll.registry(), WAKE)?);
        let links = [Link::new(config, seed), Link::new(config, !seed)];
        let shared = Arc::new(Mutex::new(Shared { links, stop: false, error: None }));
        let handle = RelayHandle { shared, waker };
        let addr = front.local_addr();
        let mut engine = Engine {
            sockets: [front, back],
            target: canonical(target),
            client: None,
            in_flight: InFlight::new(),
            poll,
            events: Events::with_capacity(4),
            epoch: Instant::now(),
            handle: handle.clone(),
            inbox: Box::new([0; RECEIVE_BYTES]),
        };
        let thread = std::thread::Builder::new().name("rebout-relay".into()).spawn(move || {
            if let Err(error) = engine.run() {
                engine.handle.lock().error = Some(error.kind());
            }
        })?;
        Ok(Self { addr, handle, thread: Some(thread) })
    }

    /// The address to which the client sends.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// A handle to change the links with.
    #[must_use]
    pub fn handle(&self) -> RelayHandle {
        self.handle.clone()
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.handle.lock().stop = true;
        let woken = self.handle.waker.wake().is_ok();
        if let Some(thread) = self.thread.take().filter(|_| woken) {
            // A panic of the thread has been reported already.
            let _ = thread.join();
        }
    }
}

impl RelayHandle {
    /// Configures both directions, for datagrams sent from now on.
    pub fn set(&self, config: LinkConfig) {
        self.set_each(config, config);
    }

    /// Configures each direction: from the client to the target, and back.
    pub fn set_each(&self, to_target: LinkConfig, to_client: LinkConfig) {
        let mut shared = self.lock();
        shared.links[0].set_config(to_target);
        shared.links[1].set_config(to_client);
    }

    /// Cuts both directions, or restores them.
    pub fn set_down(&self, down: bool) {
        self.lock().links.iter_mut().for_each(|link| link.set_down(down));
    }

    /// The configuration of each direction: from the client to the target, and back.
    #[must_use]
    pub fn configs(&self) -> [LinkConfig; 2] {
        self.lock().links.each_ref().map(|link| *link.config())
    }

    /// The statistics of each direction: from the client to the target, and back.
    #[must_use]
    pub fn stats(&self) -> [LinkStats; 2] {
        self.lock().links.each_ref().map(|link| *link.stats())
    }

    /// The error of a broken socket that stopped the relay, if one did.
    #[must_use]
    pub fn error(&self) -> Option<ErrorKind> {
        self.lock().error
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        // A poisoned lock is usable: no change under it is ever left half done.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A source address that can reach `target`: loopback only, if the target is on this machine.
fn source_for(target: SocketAddr) -> SocketAddr {
    let ip: IpAddr = match target.ip() {
        IpAddr::V4(ip) if ip.is_loopback() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(ip) if ip.is_loopback() => Ipv6Addr::LOCALHOST.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    SocketAddr::new(ip, 0)
}

/// The state of the relay's thread. Direction 0 is received at the front socket and sent from the back, direction 1
/// the other way.
struct Engine {
    sockets: [DatagramSocket; 2],
    target: SocketAddr,
    client: Option<SocketAddr>,
    in_flight: InFlight<usize>,
    poll: Poll,
    events: Events,
    epoch: Instant,
    handle: RelayHandle,
    inbox: Box<[u8; RECEIVE_BYTES]>,
}

impl Engine {
    fn run(&mut self) -> io::Result<()> {
        loop {
            let more = self.receive(0)? | self.receive(1)?;
            self.forward();
            if self.handle.lock().stop {
                return Ok(());
            }
            if !more {
                self.sleep()?;
            }
        }
    }

    fn now(&self) -> u64 {
        nanos(self.epoch.elapsed())
    }

    /// Receives the datagrams of one direction; returns whether there may be more.
    fn receive(&mut self, direction: usize) -> io::Result<bool> {
        for _ in 0..RECEIVES_A_TURN {
            let (from, len) = match self.sockets[direction].receive(&mut self.inbox[..])? {
                Received::Datagram(from, len) => (from, len),
                Received::Nothing => continue,
                Received::Empty => return Ok(false),
            };
            match direction {
                0 => self.client = Some(from),
                // Not from the target.
                _ if from != self.target => continue,
                _ => {}
            }
            let now = self.now();
            let passage = self.handle.lock().links[direction].pass(now, len);
            for arrival in passage {
                if let Some(bytes) = self.in_flight.push(arrival.at_nanos(), direction, &self.inbox[..len]) {
                    arrival.damage(bytes);
                }
            }
        }
        Ok(true)
    }

    /// Sends the datagrams that are due.
    fn forward(&mut self) {
        let now = self.now();
        while let Some((_, direction)) = self.in_flight.peek(now) {
            let to = if direction == 0 { Some(self.target) } else { self.client };
            if let (Some(datagram), Some(to)) = (self.in_flight.pop(), to) {
                self.sockets[1 - direction].send(to, datagram);
            }
        }
    }

    fn sleep(&mut self) -> io::Result<()> {
        let until = self.in_flight.next_at().unwrap_or(u64::MAX);
        let time = Duration::from_nanos(until.saturating_sub(self.now()));
        sleep(&mut self.poll, &mut self.events, time).map(|_| ())
    }
}
