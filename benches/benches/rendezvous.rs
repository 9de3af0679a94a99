//! Instructions of each request to a rendezvous server, counted by `valgrind --tool=callgrind`, and the memory of a room.
//!
//! `cargo bench --bench rendezvous` runs itself under valgrind, which counts only inside the function `measured`: what a
//! driver calls for one datagram and the datagrams that it causes. The clients are the library's own and are not counted.

use rebout::lab::rendezvous::{JoinRequest, Registration, RendezvousEvent};
use rebout::rendezvous::{RendezvousConfig, RendezvousServer};
use rebout::{MAX_DATAGRAM, Protocol, Randomness};
use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::net::SocketAddr;
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The requests that are counted, with what a player does by them.
const KINDS: [(&str, &str); 4] = [
    ("register", "a host opens a room (a cookie and a signature)"),
    ("refresh", "a host keeps its room open (a cookie and a signature)"),
    ("ask", "a joiner asks for a ticket (a cookie and a grant)"),
    ("meet", "a joiner's INIT to the host, and the RESP back"),
];

const COUNTED: u32 = 200;
const ROOMS: u32 = 20_000;

/// Bytes that are allocated now.
static LIVE: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size(), Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn server_addr() -> SocketAddr {
    SocketAddr::from(([192, 0, 2, 1], 3479))
}

/// The address of player `n`, each in a network of its own.
fn addr(n: u32) -> SocketAddr {
    let [_, high, low, last] = n.to_be_bytes();
    SocketAddr::from(([20 + high, low, last, 7], 7000))
}

/// One datagram of a client, and those that the server sends because of it.
#[inline(never)]
fn measured(server: &mut RendezvousServer, now: Duration, from: SocketAddr, datagram: &[u8]) -> Sent {
    serve(server, now, from, datagram)
}

type Sent = [Option<(SocketAddr, usize, [u8; MAX_DATAGRAM])>; 2];

#[inline(always)]
fn serve(server: &mut RendezvousServer, now: Duration, from: SocketAddr, datagram: &[u8]) -> Sent {
    server.handle_datagram(now, from, datagram);
    let mut sent = [None, None];
    for place in &mut sent {
        let mut buf = [0; MAX_DATAGRAM];
        *place = server.poll_transmit(now, &mut buf).map(|(to, len)| (to, len, buf));
    }
    sent
}

/// A server and the players at it.
struct Town {
    server: RendezvousServer,
    now: Duration,
    counted: &'static str,
    hosts: Vec<Registration>,
    /// The time that the server has taken.
    taken: Duration,
}

impl Town {
    fn new(counted: &'static str) -> Self {
        let config = RendezvousConfig { max_rooms: 1_000_000, ..RendezvousConfig::default() };
        let server = RendezvousServer::new(config, Randomness::System).expect("random bytes");
        Self { server, now: Duration::from_secs(1), counted, hosts: Vec::new(), taken: Duration::ZERO }
    }

    fn hand(&mut self, kind: &str, from: SocketAddr, datagram: &[u8]) -> Sent {
        let began = Instant::now();
        let sent = if kind == self.counted {
            measured(&mut self.server, self.now, from, datagram)
        } else {
            serve(&mut self.server, self.now, from, datagram)
        };
        self.taken += began.elapsed();
        sent
    }

    /// Lets host `n` register: for the first time, or again.
    fn register(&mut self, n: u32, kind: &str) {
        self.now += Duration::from_millis(1);
        if self.hosts.len() <= n as usize {
            let mut secret = [7; 32];
            secret[..4].copy_from_slice(&n.to_be_bytes());
            let host = Registration::new(server_addr(), &secret, Randomness::System).expect("random bytes");
            self.hosts.push(host);
        }
        let mut buf = [0; MAX_DATAGRAM];
        self.hosts[n as usize].set_ticket(7);
        self.hosts[n as usize].refresh();
        while let Some((_, len)) = self.hosts[n as usize].poll_transmit(self.now, &mut buf) {
            for (to, len, answer) in self.hand(kind, addr(n), &buf[..len]).into_iter().flatten() {
                assert_eq!(to, addr(n));
                self.hosts[n as usize].handle_datagram(self.now, server_addr(), &answer[..len]);
            }
        }
        let event = self.hosts[n as usize].poll_event();
        assert!(matches!(event, Some(RendezvousEvent::Registered { .. })), "{event:?}");
    }

    /// Lets a joiner find host `n`.
    fn join(&mut self, n: u32) {
        self.now += Duration::from_secs(1);
        let from = addr(1_000_000 + n);
        let room = self.hosts[n as usize].room();
        let mut joiner = JoinRequest::new(server_addr(), room, Randomness::System).expect("random bytes");
        let (mut buf, mut kind) = ([0; MAX_DATAGRAM], "ask");
        loop {
            while let Some((_, len)) = joiner.poll_transmit(self.now, &mut buf) {
                for (to, len, answer) in self.hand(kind, from, &buf[..len]).into_iter().flatten() {
                    if to == from {
                        joiner.handle_datagram(self.now, server_addr(), &answer[..len]);
                    } else {
                        self.hosts[n as usize].handle_datagram(self.now, server_addr(), &answer[..len]);
                    }
                }
            }
            match joiner.poll_event() {
                Some(RendezvousEvent::Ticket { .. }) => {
                    kind = "meet";
                    assert!(joiner.post(&[0xE2; 333]));
                }
                Some(RendezvousEvent::Answered { .. }) => return,
                None => self.answer(n, &mut joiner),
                Some(event) => panic!("{event:?}"),
            }
        }
    }

    /// Lets host `n` answer the INIT that was delivered.
    fn answer(&mut self, n: u32, joiner: &mut JoinRequest) {
        let Some(RendezvousEvent::Delivered { guest, .. }) = self.hosts[n as usize].poll_event() else {
            panic!("nothing was delivered");
        };
        assert!(self.hosts[n as usize].answer(guest, &[0xE3; 309]));
        let mut buf = [0; MAX_DATAGRAM];
        let (_, len) = self.hosts[n as usize].poll_transmit(self.now, &mut buf).expect("an ANSWER");
        for (_, len, reply) in self.hand("meet", addr(n), &buf[..len]).into_iter().flatten() {
            joiner.handle_datagram(self.now, server_addr(), &reply[..len]);
        }
    }
}

/// Plays each request once for each of `players`.
fn play(counted: &'static str, players: u32) {
    let mut town = Town::new(counted);
    (0..players).for_each(|n| town.register(n, "register"));
    town.now += Duration::from_secs(10);
    (0..players).for_each(|n| town.register(n, "refresh"));
    for n in 0..players {
        town.register(n, "before");
        town.join(n);
    }
    black_box(&town.server);
}

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    if let Some("--count") = args.next().as_deref() {
        let name = args.next().unwrap_or_default();
        let kind = KINDS.iter().find(|(kind, _)| *kind == name).expect("a kind of the table");
        play(kind.0, COUNTED);
        return ExitCode::SUCCESS;
    }
    if Command::new("valgrind").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err()
    {
        println!("rendezvous: not counted, because valgrind is not installed");
    } else {
        for (kind, words) in KINDS {
            println!("{:>9} instructions: {words}", callgrind(kind) / u64::from(COUNTED));
        }
    }
    let (bytes, taken) = rooms();
    println!("{bytes:>9} bytes: a room, of {ROOMS}");
    println!(
        "{:>9} registrations a second, by the clock of this machine",
        (f64::from(ROOMS) / taken.as_secs_f64()) as u64
    );
    ExitCode::SUCCESS
}

/// The memory of one room among many, and the time that the server took to open them all.
fn rooms() -> (usize, Duration) {
    let mut town = Town::new("nothing");
    (0..ROOMS).for_each(|n| town.register(n, "register"));
    let (rooms, before) = (town.server.rooms(), LIVE.load(Ordering::Relaxed));
    assert_eq!(rooms, ROOMS as usize);
    drop(town.server);
    ((before - LIVE.load(Ordering::Relaxed)) / rooms, town.taken)
}

fn callgrind(kind: &str) -> u64 {
    let program = std::env::current_exe().expect("this program");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=*measured*"])
        .arg(program)
        .args(["--count", kind])
        .output()
        .expect("valgrind runs");
    let text = String::from_utf8_lossy(&output.stderr);
    let collected = text.lines().find_map(|line| line.split("Collected :").nth(1));
    collected.and_then(|count| count.trim().parse().ok()).unwrap_or_else(|| panic!("valgrind said: {text}"))
}
