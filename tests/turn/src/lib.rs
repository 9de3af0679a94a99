//! A TURN server in the simulated network: the state machine of `turn-server-proto`, and an endpoint for each of its ports.

use core::time::Duration;
use rebout::Protocol;
use ring::hmac;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::rc::Rc;
use turn_client_proto::stun::Instant;
use turn_client_proto::types::TransportType;
use turn_client_proto::types::stun::{AddressFamily, attribute::Username, message::Message};
use turn_server_proto::api::{Transmit, TurnServerApi, TurnServerPollRet};
use turn_server_proto::server::TurnServer;

/// The secret that passwords are made of, at first.
pub const SECRET: &[u8] = b"north";

const ALLOCATE: [u8; 2] = [0x00, 0x03];
const ALLOCATED: [u8; 2] = [0x01, 0x03];

struct Shared {
    server: TurnServer,
    listen: SocketAddr,
    /// The ports that may still be given away.
    free: VecDeque<SocketAddr>,
    out: VecDeque<(SocketAddr, SocketAddr, Vec<u8>)>,
    /// The answers that made an allocation, for requests that come again: the state machine would refuse those.
    made: Vec<(SocketAddr, Vec<u8>)>,
    users: Vec<String>,
    /// The secret that passwords are made of.
    secret: &'static [u8],
    dead: bool,
    allocated: usize,
}

/// The server; its ports share it.
#[derive(Clone)]
pub struct RelayServer {
    shared: Rc<RefCell<Shared>>,
    addrs: Rc<[SocketAddr]>,
}

/// One address of the server.
#[derive(Clone)]
pub struct Port {
    shared: Rc<RefCell<Shared>>,
    addr: SocketAddr,
    polled: Duration,
}

fn instant(now: Duration) -> Instant {
    Instant::from_nanos(now.as_nanos() as i64)
}

impl RelayServer {
    pub fn new(listen: SocketAddr, ports: u16) -> Self {
        let server = TurnServer::new(TransportType::Udp, listen, "town".to_owned());
        let relayed: VecDeque<_> = (0..ports).map(|n| SocketAddr::new(listen.ip(), 50_000 + n)).collect();
        let addrs = core::iter::once(listen).chain(relayed.iter().copied()).collect();
        let shared = Shared {
            server,
            listen,
            free: relayed,
            out: VecDeque::new(),
            made: Vec::new(),
            users: Vec::new(),
            secret: SECRET,
            dead: false,
            allocated: 0,
        };
        Self { shared: Rc::new(RefCell::new(shared)), addrs }
    }

    /// The addresses, that of the server itself first.
    pub fn ports(&self) -> impl Iterator<Item = Port> + '_ {
        self.addrs.iter().map(|addr| Port {
            shared: Rc::clone(&self.shared),
            addr: *addr,
            polled: Duration::ZERO,
        })
    }

    /// The server answers nothing any more.
    pub fn kill(&self) {
        self.shared.borrow_mut().dead = true;
    }

    /// The server loses everything that it knows, its ports included, and has this secret.
    pub fn restart(&self, secret: &'static [u8]) {
        let shared = &mut *self.shared.borrow_mut();
        shared.server = TurnServer::new(TransportType::Udp, shared.listen, "town".to_owned());
        (shared.secret, shared.users) = (secret, Vec::new());
        shared.out.clear();
        shared.dead = false;
    }

    /// The next allocation gets this address, which is not one of the server.
    pub fn claim(&self, addr: SocketAddr) {
        self.shared.borrow_mut().free.push_front(addr);
    }

    /// How many allocations there ever were.
    pub fn allocated(&self) -> usize {
        self.shared.borrow().allocated
    }
}

/// The password of a user in coturn's scheme.
fn password(secret: &[u8], user: &str) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, secret);
    let tag = hmac::sign(&key, user.as_bytes());
    let mut text = String::new();
    for chunk in tag.as_ref().chunks(3) {
        let at = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for (place, shift) in [18, 12, 6, 0].into_iter().enumerate() {
            let character = ALPHABET[(bits >> shift & 63) as usize];
            text.push(if place <= chunk.len() { character.into() } else { '=' });
        }
    }
    text
}

/// The answer to a STUN binding request: XOR-MAPPED-ADDRESS alone.
fn binding_answer(request: &[u8], from: SocketAddr) -> Vec<u8> {
    let SocketAddr::V4(from) = from else { panic!("the internet has IPv4 only") };
    let mut answer = vec![0x01, 0x01, 0x00, 0x0C];
    answer.extend(&request[4..20]);
    answer.extend([0x00, 0x20, 0x00, 0x08, 0x00, 0x01]);
    answer.extend((from.port() ^ 0x2112).to_be_bytes());
    answer.extend((from.ip().to_bits() ^ 0x2112_A442).to_be_bytes());
    answer
}

impl Shared {
    /// Learns of a user of the shared secret, as a server that computes passwords would.
    fn admit(&mut self, datagram: &[u8]) {
        let Ok(message) = Message::from_bytes(datagram) else { return };
        let Ok(user) = message.attribute::<Username>() else { return };
        let user = user.username().to_owned();
        if !self.users.contains(&user) {
            self.server.add_user(user.clone(), password(self.secret, &user));
            self.users.push(user);
        }
    }

    fn poll(&mut self, now: Duration) {
        for _ in 0..16 {
            let TurnServerPollRet::AllocateSocket {
                transport,
                listen_addr,
                client_addr,
                allocation_transport,
                family,
            } = self.server.poll(instant(now))
            else {
                break;
            };
            assert_eq!(family, AddressFamily::IPV4);
            let addr = self
                .free
                .pop_front()
                .ok_or(turn_server_proto::api::SocketAllocateError::InsufficientCapacity);
            self.allocated += usize::from(addr.is_ok());
            self.server.allocated_socket(
                transport,
                listen_addr,
                client_addr,
                allocation_transport,
                family,
                addr,
                instant(now),
            );
        }
        while let Some(sent) = self.server.poll_transmit(instant(now)) {
            if sent.data.starts_with(&ALLOCATED) {
                self.made.push((sent.to, sent.data.clone()));
            }
            self.out.push_back((sent.from, sent.to, sent.data));
        }
    }
}

impl Port {
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }
}

impl Protocol for Port {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        let mut shared = self.shared.borrow_mut();
        let shared = &mut *shared;
        if shared.dead {
            return;
        }
        if self.addr == shared.listen {
            shared.admit(datagram);
            // Its own answer to a STUN request goes to the wrong address.
            if datagram.starts_with(&[0x00, 0x01]) && datagram.len() >= 20 {
                shared.out.push_back((self.addr, from, binding_answer(datagram, from)));
                return;
            }
        }
        let is_repeated =
            |answer: &[u8]| datagram.starts_with(&ALLOCATE) && datagram.get(8..20) == answer.get(8..20);
        if let Some((to, answer)) = shared.made.iter().find(|(to, answer)| *to == from && is_repeated(answer))
        {
            shared.out.push_back((self.addr, *to, answer.clone()));
            return;
        }
        let transmit = Transmit::new(datagram, TransportType::Udp, from, self.addr);
        if let Some(answer) = shared.server.recv(transmit, instant(now)) {
            let answer = answer.build();
            shared.out.push_back((answer.from, answer.to, answer.data));
        }
        shared.poll(now);
    }

    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        self.polled = now;
        let mut shared = self.shared.borrow_mut();
        let own = shared.out.iter().position(|(from, _, _)| *from == self.addr)?;
        let (_, to, datagram) = shared.out.remove(own)?;
        buf[..datagram.len()].copy_from_slice(&datagram);
        Some((to, datagram.len()))
    }

    /// A datagram that arrives at one port may leave at another, which is asked often enough to notice.
    fn poll_timeout(&self) -> Option<Duration> {
        Some(self.polled + Duration::from_millis(2))
    }
}
