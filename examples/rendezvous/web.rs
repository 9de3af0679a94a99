//! The rendezvous over WebSocket, for pages in a browser: a binary message is a datagram.
//!
//! Every client has an address of its own, as one over TLS has, and the rooms are those of the UDP socket. Nothing here blocks, and a
//! client that breaks a rule loses its own socket alone.

use rebout::Protocol;
use rebout::rendezvous::{RendezvousServer, stream_addr};
use std::cell::Cell;
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::rc::Rc;
use std::time::{Duration, Instant};
use tungstenite::handshake::server::{Callback, ErrorResponse, Request, Response, ServerHandshake};
use tungstenite::handshake::{HandshakeError, MidHandshake};
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Bytes, Error, Message, WebSocket};

/// The lengths of a datagram of the rendezvous, and more than the longest.
const LENGTHS: std::ops::RangeInclusive<usize> = 2..=512;
/// The most clients of one source: an IPv4 address, or a /64 of IPv6.
const MAX_PER_SOURCE: usize = 16;
/// The most clients that are accepted in a second.
const MAX_ACCEPTED_A_SECOND: u32 = 200;
/// A client has this long for its handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);
/// The most messages of a client in a second, pings among them. A page sends a few.
const MAX_A_SECOND: u32 = 64;
/// The most unsent bytes of a client: one that does not read loses datagrams, and then its socket.
const MAX_UNSENT: usize = 4_096;
/// A client is looked at so often while it has something to say, and after `QUIET_AFTER` without a message.
const LOOK: Duration = Duration::from_millis(5);
const LOOK_AT_QUIET: Duration = Duration::from_millis(50);
const QUIET_AFTER: Duration = Duration::from_secs(2);

#[derive(clap::Args)]
pub(crate) struct WebArgs {
    /// Also accept pages in a browser at this TCP address, over WebSocket without TLS. A page on https needs a reverse proxy with a
    /// certificate in front of it.
    #[arg(long, value_name = "ADDRESS")]
    web: Option<SocketAddr>,
    /// A reverse proxy is in front of --web: the last address in X-Forwarded-For is the client's.
    #[arg(long, requires = "web")]
    web_behind_proxy: bool,
    /// The maximum number of clients over WebSocket.
    #[arg(long, default_value_t = 512)]
    max_web: usize,
    /// Close a client over WebSocket after so many seconds without a datagram.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    web_idle: u64,
}

impl WebArgs {
    /// Listens, if that was asked for.
    pub(crate) fn listen(&self) -> Result<Option<Web>, String> {
        let Some(addr) = self.web else { return Ok(None) };
        let listening = TcpListener::bind(addr).and_then(|listener| {
            listener.set_nonblocking(true)?;
            Ok((listener.local_addr()?, listener))
        });
        let (addr, listener) =
            listening.map_err(|error| format!("cannot accept WebSocket on {addr}: {error}"))?;
        let (is_proxied, max) = (self.web_behind_proxy, self.max_web);
        let idle = Duration::from_secs(self.web_idle);
        let (clients, second) = (Vec::new(), (Instant::now(), 0));
        Ok(Some(Web { listener, addr, is_proxied, max, idle, clients, second, stats: WebStats::default() }))
    }
}

/// What happened at this door.
#[derive(Clone, Copy, Default)]
pub(crate) struct WebStats {
    /// Clients whose handshake was done.
    pub(crate) opened: u64,
    /// Clients that were not accepted, because there are too many.
    pub(crate) turned_away: u64,
    /// Clients whose socket was closed because they broke a rule.
    pub(crate) broken: u64,
    /// Datagrams that a client did not read in time.
    pub(crate) unread: u64,
}

/// The door for pages.
pub(crate) struct Web {
    listener: TcpListener,
    addr: SocketAddr,
    is_proxied: bool,
    max: usize,
    idle: Duration,
    clients: Vec<Client>,
    /// The second in which clients are counted, and their number.
    second: (Instant, u32),
    stats: WebStats,
}

struct Client {
    socket: Socket,
    /// The address under which the server knows it, once the handshake is done, and the one of the TCP connection.
    addr: Option<SocketAddr>,
    tcp: SocketAddr,
    source: IpAddr,
    forwarded: Rc<Cell<Option<IpAddr>>>,
    since: Instant,
    heard_at: Instant,
    look_at: Instant,
    /// The second in which messages are counted, and their number.
    second: (Instant, u32),
}

type Handshake = MidHandshake<ServerHandshake<TcpStream, Forwarded>>;

enum Socket {
    /// The handshake, which is taken out while it goes on.
    Opening(Option<Box<Handshake>>),
    Open(Box<WebSocket<TcpStream>>),
}

/// Reads the address that a reverse proxy tells.
struct Forwarded(Rc<Cell<Option<IpAddr>>>);

impl Callback for Forwarded {
    fn on_request(self, request: &Request, response: Response) -> Result<Response, ErrorResponse> {
        let last = request.headers().get_all("x-forwarded-for").iter().next_back();
        let last = last.and_then(|value| value.to_str().ok()).and_then(|list| list.rsplit(',').next());
        self.0.set(last.and_then(|addr| addr.trim().parse().ok()));
        Ok(response)
    }
}

/// Why a client's socket is closed.
enum Ends {
    Left,
    Broken,
}

fn config() -> WebSocketConfig {
    let most = Some(*LENGTHS.end());
    let config = WebSocketConfig::default().max_message_size(most).max_frame_size(most);
    config.read_buffer_size(1_024).write_buffer_size(0).max_write_buffer_size(MAX_UNSENT)
}

/// Counts one more in this second. `false` if there are too many.
fn counts(now: Instant, second: &mut (Instant, u32), most: u32) -> bool {
    if now.duration_since(second.0) >= Duration::from_secs(1) {
        *second = (now, 0);
    }
    second.1 += 1;
    second.1 <= most
}

fn source(addr: IpAddr) -> IpAddr {
    match addr.to_canonical() {
        IpAddr::V6(ip) => IpAddr::from((ip.to_bits() >> 64 << 64).to_be_bytes()),
        v4 => v4,
    }
}

impl Web {
    pub(crate) fn addr(&self) -> SocketAddr {
        self.addr
    }

    pub(crate) fn stats(&self) -> WebStats {
        self.stats
    }

    /// How long the server may sleep: nothing wakes it for a client here.
    pub(crate) fn patience(&self, at_most: Duration) -> Duration {
        if self.clients.is_empty() { at_most.min(LOOK_AT_QUIET) } else { LOOK }
    }

    /// Accepts clients, goes on with handshakes, and hands each datagram to `take`.
    fn run(&mut self, mut take: impl FnMut(SocketAddr, &[u8])) {
        let now = Instant::now();
        self.accept(now);
        let Self { clients, stats, is_proxied, idle, .. } = self;
        clients.retain_mut(|client| {
            if now < client.look_at {
                return true;
            }
            let ends = if now >= client.heard_at + *idle {
                Err(Ends::Left)
            } else {
                client.run(now, *is_proxied, stats, &mut take)
            };
            client.look_at = now + if now < client.heard_at + QUIET_AFTER { LOOK } else { LOOK_AT_QUIET };
            stats.broken += u64::from(matches!(ends, Err(Ends::Broken)));
            ends.is_ok()
        });
    }

    fn accept(&mut self, now: Instant) {
        // A flood of connections keeps nobody else waiting.
        for _ in 0..MAX_PER_SOURCE {
            let Ok((stream, tcp)) = self.listener.accept() else { return };
            let source = source(tcp.ip());
            let of_source = self.clients.iter().filter(|client| client.source == source).count();
            let is_full = self.clients.len() >= self.max || (of_source >= MAX_PER_SOURCE && !self.is_proxied);
            let fits = !is_full && counts(now, &mut self.second, MAX_ACCEPTED_A_SECOND);
            if !fits || stream.set_nonblocking(true).is_err() {
                self.stats.turned_away += 1;
                continue;
            }
            let _ = stream.set_nodelay(true);
            let forwarded = Rc::new(Cell::new(None));
            let callback = Forwarded(Rc::clone(&forwarded));
            let socket = match tungstenite::accept_hdr_with_config(stream, callback, Some(config())) {
                Ok(socket) => Socket::Open(Box::new(socket)),
                Err(HandshakeError::Interrupted(opening)) => Socket::Opening(Some(Box::new(opening))),
                Err(HandshakeError::Failure(_)) => {
                    self.stats.broken += 1;
                    continue;
                }
            };
            let (since, heard_at, look_at, second) = (now, now, now, (now, 0));
            let addr = None;
            self.clients.push(Client {
                socket,
                addr,
                tcp,
                source,
                forwarded,
                since,
                heard_at,
                look_at,
                second,
            });
        }
    }

    /// Whether a source has a client here. Its address is no forged one then: TCP has proved it.
    fn has(&self, addr: IpAddr) -> bool {
        let wanted = source(addr);
        self.clients.iter().any(|client| client.addr.is_some() && client.source == wanted)
    }

    /// Sends a datagram to a client. `false` if the address is none of a client here.
    fn send(&mut self, to: SocketAddr, datagram: &[u8]) -> bool {
        let Some(client) = self.clients.iter_mut().find(|client| client.addr == Some(to)) else {
            return false;
        };
        if let Socket::Open(socket) = &mut client.socket {
            let message = Message::Binary(Bytes::copy_from_slice(datagram));
            let is_sent = match socket.send(message) {
                Ok(()) => true,
                Err(Error::Io(error)) => error.kind() == ErrorKind::WouldBlock,
                Err(_) => false,
            };
            self.stats.unread += u64::from(!is_sent);
        }
        true
    }
}

impl Client {
    fn run(
        &mut self,
        now: Instant,
        is_proxied: bool,
        stats: &mut WebStats,
        take: &mut impl FnMut(SocketAddr, &[u8]),
    ) -> Result<(), Ends> {
        if let Socket::Opening(opening) = &mut self.socket {
            if now >= self.since + HANDSHAKE_TIMEOUT {
                return Err(Ends::Broken);
            }
            match opening.take().ok_or(Ends::Broken)?.handshake() {
                Ok(socket) => self.socket = Socket::Open(Box::new(socket)),
                Err(HandshakeError::Interrupted(later)) => {
                    *opening = Some(Box::new(later));
                    return Ok(());
                }
                Err(HandshakeError::Failure(_)) => return Err(Ends::Broken),
            }
        }
        let Socket::Open(socket) = &mut self.socket else { return Ok(()) };
        let addr = *self.addr.get_or_insert_with(|| {
            stats.opened += 1;
            let forwarded = self.forwarded.get().filter(|_| is_proxied);
            self.source = source(forwarded.unwrap_or(self.tcp.ip()));
            stream_addr(SocketAddr::new(forwarded.unwrap_or(self.tcp.ip()), self.tcp.port()))
        });
        loop {
            let message = match socket.read() {
                Ok(message) => message,
                Err(Error::Io(error)) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(Error::ConnectionClosed | Error::AlreadyClosed | Error::Io(_)) => return Err(Ends::Left),
                Err(Error::Protocol(tungstenite::error::ProtocolError::ResetWithoutClosingHandshake)) => {
                    return Err(Ends::Left);
                }
                Err(_) => return Err(Ends::Broken),
            };
            if !counts(now, &mut self.second, MAX_A_SECOND) {
                return Err(Ends::Broken);
            }
            match message {
                Message::Binary(datagram) if LENGTHS.contains(&datagram.len()) => {
                    self.heard_at = now;
                    take(addr, &datagram);
                }
                Message::Ping(_) | Message::Pong(_) | Message::Close(_) => {}
                Message::Binary(_) | Message::Text(_) | Message::Frame(_) => return Err(Ends::Broken),
            }
        }
    }
}

/// The length of a STUN request without attributes, as browsers send it, and with one that makes it longer than its answer.
const SHORT_STUN: usize = 20;
const PADDED_STUN: usize = SHORT_STUN + 4 + 24;

/// A short STUN request with an attribute SOFTWARE, because the server amplifies none. `None` for every other datagram.
fn padded_stun(datagram: &[u8]) -> Option<[u8; PADDED_STUN]> {
    let short: &[u8; SHORT_STUN] = datagram.try_into().ok()?;
    if short[..4] != [0, 1, 0, 0] {
        return None;
    }
    let mut padded = [b' '; PADDED_STUN];
    padded[..SHORT_STUN].copy_from_slice(short);
    padded[3] = 28;
    padded[SHORT_STUN..SHORT_STUN + 4].copy_from_slice(&[0x80, 0x22, 0, 24]);
    Some(padded)
}

/// The server with both doors, as the driver of the UDP socket sees it.
pub(crate) struct Doors<'a> {
    pub(crate) server: &'a mut RendezvousServer,
    pub(crate) web: Option<&'a mut Web>,
}

impl Protocol for Doors<'_> {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        match padded_stun(datagram).filter(|_| self.web.as_ref().is_some_and(|web| web.has(from.ip()))) {
            Some(padded) => self.server.handle_datagram(now, from, &padded),
            None => self.server.handle_datagram(now, from, datagram),
        }
    }

    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        if let Some(web) = &mut self.web {
            web.run(|from, datagram| self.server.handle_datagram(now, from, datagram));
        }
        loop {
            let (to, len) = self.server.poll_transmit(now, buf)?;
            if !self.web.as_mut().is_some_and(|web| web.send(to, &buf[..len])) {
                return Some((to, len));
            }
        }
    }

    fn poll_timeout(&self) -> Option<Duration> {
        self.server.poll_timeout()
    }
}
