//! Instructions a frame of a server, by the number of its clients, counted by `valgrind --tool=callgrind`: the same on a
//! busy machine as on an idle one.
//!
//! Each client sends its inputs in every frame; the server takes them in, steps, and sends every third frame a snapshot
//! of everybody to everybody. `cargo bench --bench authority` runs itself under valgrind, which counts only inside the
//! function `measured_frame`; two run lengths are subtracted, so that nothing of the start is in the figure.

use rebout::authority::{
    Body, Client, ClientConfig, Command as Held, GameWire, Server, ServerConfig, Stage, World,
};
use rebout::{MAX_DATAGRAM, Protocol};
use std::hint::black_box;
use std::net::SocketAddr;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

const SHORT: u32 = 300;
const LONG: u32 = 900;

const CLIENTS: [u8; 5] = [8, 16, 32, 64, 128];

/// A frame of 64 clients may cost at most this many times as much a client as one of 8: it is linear.
const LIMIT: f64 = 1.15;

struct Field;

impl World for Field {
    fn walk(&self, body: &mut Body, command: Held) {
        body.x += command.x;
    }

    fn enter(&mut self, id: u8) -> (u8, Body) {
        (0, Body::at(f32::from(id), 0.0))
    }

    fn step(&mut self, _: &mut Stage<'_>) {}
}

/// A server and its clients, between which datagrams take no time.
struct Hall {
    server: Server<GameWire>,
    clients: Vec<(SocketAddr, Client<GameWire>)>,
    inbox: Vec<(SocketAddr, Vec<u8>)>,
    outbox: Vec<(SocketAddr, usize, [u8; MAX_DATAGRAM])>,
    now: Duration,
    taken: Duration,
}

impl Hall {
    fn new(clients: u8) -> Self {
        let mut config = ServerConfig::new(1);
        config.max_clients = clients;
        let server_addr = SocketAddr::from(([10, 0, 0, 1], 7000));
        let client = |n: u8| {
            let addr = SocketAddr::from(([10, 0, 1, n], 9000));
            (addr, Client::join(ClientConfig::new(u64::from(n)), server_addr).expect("a config"))
        };
        let mut hall = Self {
            server: Server::new(config).expect("a config"),
            clients: (0..clients).map(client).collect(),
            inbox: Vec::new(),
            outbox: Vec::new(),
            now: Duration::from_secs(1),
            taken: Duration::ZERO,
        };
        (0..300).for_each(|_| hall.frame());
        assert_eq!(hall.server.clients(), usize::from(clients), "everybody has a seat");
        hall.taken = Duration::ZERO;
        hall
    }

    fn frame(&mut self) {
        self.now += Duration::from_nanos(16_666_666);
        let (now, mut buf) = (self.now, [0; MAX_DATAGRAM]);
        self.inbox.clear();
        for (addr, client) in &mut self.clients {
            client.advance(now, &Field, Held::new(0.5, 0.0, 0));
            while client.poll_event().is_some() {}
            while let Some((_, len)) = client.poll_transmit(now, &mut buf) {
                self.inbox.push((*addr, buf[..len].to_vec()));
            }
        }
        self.outbox.clear();
        self.outbox.reserve(self.clients.len() * 4);
        let began = Instant::now();
        measured_frame(&mut self.server, now, &self.inbox, &mut self.outbox);
        self.taken += began.elapsed();
        while self.server.poll_event().is_some() {}
        for (to, len, datagram) in &self.outbox {
            let client = self.clients.iter_mut().find(|(addr, _)| addr == to).expect("a client");
            client.1.handle_datagram(now, SocketAddr::from(([10, 0, 0, 1], 7000)), &datagram[..*len]);
        }
    }
}

/// One frame of the server, with every call that a driver makes.
#[inline(never)]
fn measured_frame(
    server: &mut Server<GameWire>,
    now: Duration,
    inbox: &[(SocketAddr, Vec<u8>)],
    outbox: &mut Vec<(SocketAddr, usize, [u8; MAX_DATAGRAM])>,
) {
    for (from, datagram) in inbox {
        server.handle_datagram(now, *from, datagram);
    }
    server.advance(now, &mut Field);
    let mut buf = [0; MAX_DATAGRAM];
    while let Some((to, len)) = server.poll_transmit(now, &mut buf) {
        outbox.push((to, len, buf));
    }
    black_box(server.poll_timeout());
}

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    if let Some("--count") = args.next().as_deref() {
        let mut number = || args.next().and_then(|text| text.parse::<u32>().ok()).expect("a number");
        let mut hall = Hall::new(number() as u8);
        (0..number()).for_each(|_| hall.frame());
        return ExitCode::SUCCESS;
    }
    if Command::new("valgrind").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err()
    {
        println!("authority: not counted, because valgrind is not installed");
        return ExitCode::SUCCESS;
    }
    println!("clients  instructions a frame  a client  microseconds a frame");
    let mut a_client = Vec::new();
    for clients in CLIENTS {
        let (short, long) = (callgrind(clients, SHORT), callgrind(clients, LONG));
        let count = (long - short) as f64 / f64::from(LONG - SHORT);
        let mut hall = Hall::new(clients);
        (0..LONG).for_each(|_| hall.frame());
        let micros = hall.taken.as_secs_f64() * 1e6 / f64::from(LONG);
        println!("{clients:>7}  {count:>20.0}  {:>8.0}  {micros:>20.1}", count / f64::from(clients));
        a_client.push(count / f64::from(clients));
    }
    let ratio = a_client[3] / a_client[0];
    println!("a client of 64 costs {ratio:.3} times a client of 8: at most {LIMIT}");
    if ratio <= LIMIT { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn callgrind(clients: u8, frames: u32) -> i64 {
    let program = std::env::current_exe().expect("this program");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=*measured_frame*"])
        .arg(program)
        .args(["--count", &clients.to_string(), &frames.to_string()])
        .output()
        .expect("valgrind runs");
    let text = String::from_utf8_lossy(&output.stderr);
    let collected = text.lines().find_map(|line| line.split("Collected :").nth(1));
    collected.and_then(|count| count.trim().parse().ok()).unwrap_or_else(|| panic!("valgrind said: {text}"))
}
