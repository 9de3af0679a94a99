//! A server with many clients beside renet 2.0: instructions and bytes of a frame, counted as in `counts.rs`.
//!
//! Every client sends its last four inputs in every frame; the server takes them in, moves everybody, and broadcasts the bodies
//! in every third frame. renet has no snapshots: its game writes the bodies into a message on the unreliable channel, as
//! GAME does it. Both count inside the server's calls alone. Sockets and encryption are in neither.

use super::counts::{count_own, valgrind};
use super::{Effort, Figures};
use rebout::authority::{Body, Client, ClientConfig, Command, GameWire, Server, ServerConfig, Stage, World};
use rebout::{MAX_DATAGRAM, Protocol};
use renet::{ConnectionConfig, DefaultChannel, RenetClient, RenetServer};
use std::net::SocketAddr;
use std::time::Duration;

const CLIENTS: [u8; 3] = [8, 64, 250];
const LIBRARIES: [&str; 3] = ["rebout", "rebout-whole", "renet"];
const FRAME: Duration = Duration::from_nanos(16_666_666);
const BROADCAST_FRAMES: u32 = 3;

/// The frames until everybody is in, and those of which bytes are counted.
const WARM_UP: u32 = 420;
const COUNTED: u32 = 600;

/// A direction that changes every 24 frames.
fn command(client: usize, frame: u32) -> Command {
    let turn = (u64::from(frame / 24) << 8 | client as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    Command::new((turn % 3) as f32 - 1.0, (turn / 3 % 3) as f32 - 1.0, 0)
}

struct Field;

impl World for Field {
    fn walk(&self, body: &mut Body, command: Command) {
        (body.velocity_x, body.velocity_y) = (command.x * 18.0, command.y * 18.0);
        body.x = (body.x + body.velocity_x / 60.0).clamp(0.0, 200.0);
        body.y = (body.y + body.velocity_y / 60.0).clamp(0.0, 200.0);
    }

    fn enter(&mut self, id: u8) -> (u8, Body) {
        (0, Body::at(f32::from(id) / 2.0, f32::from(id) / 3.0))
    }

    fn step(&mut self, _: &mut Stage<'_>) {}
}

/// A server and its clients, between which datagrams take no time.
trait Hall {
    /// Plays a frame, and returns the bytes that the server sent.
    fn frame(&mut self, frame: u32) -> usize;

    /// The number of clients that get snapshots.
    fn shown(&self) -> usize;
}

struct Ours {
    server: Server<GameWire>,
    clients: Vec<Client<GameWire>>,
    inbox: Vec<(SocketAddr, Vec<u8>)>,
    outbox: Vec<(SocketAddr, usize, [u8; MAX_DATAGRAM])>,
}

fn server_addr() -> SocketAddr {
    ([10, 0, 0, 1], 7000).into()
}

fn client_addr(n: usize) -> SocketAddr {
    ([10, 0, 1, n as u8], 9000).into()
}

impl Ours {
    fn new(clients: u8, deltas: bool) -> Self {
        let mut config = ServerConfig::new(1);
        config.max_clients = clients;
        let client = |n: u8| {
            let mut config = ClientConfig::new(n.into());
            config.delta_snapshots = deltas;
            Client::join(config, server_addr()).expect("a config")
        };
        let server = Server::new(config).expect("a config");
        let outbox = Vec::with_capacity(usize::from(clients) * 8);
        Self { server, clients: (0..clients).map(client).collect(), inbox: Vec::new(), outbox }
    }

    /// One frame of the server, with every call that a driver makes.
    #[inline(never)]
    fn counted_frame(&mut self, now: Duration) {
        for (from, datagram) in &self.inbox {
            self.server.handle_datagram(now, *from, datagram);
        }
        self.server.advance(now, &mut Field);
        let mut buf = [0; MAX_DATAGRAM];
        while let Some((to, len)) = self.server.poll_transmit(now, &mut buf) {
            self.outbox.push((to, len, buf));
        }
    }
}

impl Hall for Ours {
    fn frame(&mut self, frame: u32) -> usize {
        let (now, mut buf) = (FRAME * (frame + 60), [0; MAX_DATAGRAM]);
        self.inbox.clear();
        for (n, client) in self.clients.iter_mut().enumerate() {
            client.advance(now, &Field, command(n, frame));
            while client.poll_event().is_some() {}
            while let Some((_, len)) = client.poll_transmit(now, &mut buf) {
                self.inbox.push((client_addr(n), buf[..len].to_vec()));
            }
        }
        self.outbox.clear();
        self.counted_frame(now);
        while self.server.poll_event().is_some() {}
        for (to, len, datagram) in &self.outbox {
            let SocketAddr::V4(to) = to else { panic!("no client at {to}") };
            let n = usize::from(to.ip().octets()[3]);
            self.clients[n].handle_datagram(now, server_addr(), &datagram[..*len]);
        }
        self.outbox.iter().map(|(_, len, _)| len).sum()
    }

    fn shown(&self) -> usize {
        self.clients.iter().filter(|client| client.stats().snapshots > 50).count()
    }
}

struct Renet {
    server: RenetServer,
    clients: Vec<RenetClient>,
    bodies: Vec<Body>,
    inbox: Vec<(u64, Vec<u8>)>,
    outbox: Vec<(u64, Vec<u8>)>,
    snapshots: Vec<u32>,
}

impl Renet {
    fn new(clients: u8) -> Self {
        let mut server = RenetServer::new(ConnectionConfig::default());
        let client = |n: u8| {
            server.add_connection(n.into());
            let mut client = RenetClient::new(ConnectionConfig::default());
            client.set_connected();
            client
        };
        Self {
            clients: (0..clients).map(client).collect(),
            server,
            bodies: (0..clients).map(|id| Field.enter(id).1).collect(),
            inbox: Vec::new(),
            outbox: Vec::new(),
            snapshots: vec![0; clients.into()],
        }
    }

    /// One frame of the server, with every call that a game makes.
    #[inline(never)]
    fn counted_frame(&mut self, frame: u32) {
        self.server.update(FRAME);
        for (from, packet) in &self.inbox {
            self.server.process_packet_from(packet, *from).expect("a client");
        }
        for (n, body) in self.bodies.iter_mut().enumerate() {
            let mut newest = Command::NEUTRAL;
            while let Some(inputs) = self.server.receive_message(n as u64, DefaultChannel::Unreliable) {
                let float = |at: usize| {
                    f32::from_be_bytes([inputs[at], inputs[at + 1], inputs[at + 2], inputs[at + 3]])
                };
                newest = Command::new(float(inputs.len() - 9), float(inputs.len() - 5), 0);
            }
            Field.walk(body, newest);
        }
        if frame.is_multiple_of(BROADCAST_FRAMES) {
            let mut message = Vec::with_capacity(9 + 21 * self.bodies.len());
            message.extend(frame.to_be_bytes());
            for (n, Body { x, y, velocity_x, velocity_y, health }) in self.bodies.iter().enumerate() {
                message.push(n as u8);
                [x, y, velocity_x, velocity_y, health].iter().for_each(|v| message.extend(v.to_be_bytes()));
            }
            self.server.broadcast_message(DefaultChannel::Unreliable, message);
        }
        for n in 0..self.clients.len() as u64 {
            let packets = self.server.get_packets_to_send(n).expect("a client");
            self.outbox.extend(packets.into_iter().map(|packet| (n, packet)));
        }
    }
}

impl Hall for Renet {
    fn frame(&mut self, frame: u32) -> usize {
        self.inbox.clear();
        for (n, client) in self.clients.iter_mut().enumerate() {
            client.update(FRAME);
            let mut inputs = vec![4];
            for back in (0..4).rev() {
                let Command { x, y, actions } = command(n, frame.saturating_sub(back));
                inputs.extend(frame.saturating_sub(back).to_be_bytes());
                inputs.extend(x.to_be_bytes());
                inputs.extend(y.to_be_bytes());
                inputs.push(actions);
            }
            client.send_message(DefaultChannel::Unreliable, inputs);
            self.inbox.extend(client.get_packets_to_send().into_iter().map(|packet| (n as u64, packet)));
        }
        self.outbox.clear();
        self.counted_frame(frame);
        for (to, packet) in &self.outbox {
            let client = &mut self.clients[*to as usize];
            client.process_packet(packet);
            while client.receive_message(DefaultChannel::Unreliable).is_some() {
                self.snapshots[*to as usize] += 1;
            }
        }
        self.outbox.iter().map(|(_, packet)| packet.len()).sum()
    }

    fn shown(&self) -> usize {
        self.snapshots.iter().filter(|count| **count > 50).count()
    }
}

fn hall(library: &str, clients: u8) -> Box<dyn Hall> {
    match library {
        "renet" => Box::new(Renet::new(clients)),
        _ => Box::new(Ours::new(clients, library == "rebout")),
    }
}

/// Plays a load in the process that is counted.
pub(super) fn play(library: &str, clients: &str, frames: u32) {
    let mut hall = hall(library, clients.parse().expect("a number"));
    (0..frames).for_each(|frame| {
        hall.frame(frame);
    });
}

pub(crate) fn run(_: &mut Figures, _: Effort) {
    let is_counted = valgrind();
    println!("| clients | library | instructions a client and frame | bytes a second and client |");
    println!("|---|---|---|---|");
    for clients in CLIENTS {
        for library in LIBRARIES {
            let mut hall = hall(library, clients);
            (0..WARM_UP).for_each(|frame| {
                hall.frame(frame);
            });
            assert_eq!(hall.shown(), usize::from(clients), "everybody gets snapshots of {library}");
            let bytes: usize = (WARM_UP..WARM_UP + COUNTED).map(|frame| hall.frame(frame)).sum();
            let bytes = bytes * 60 / COUNTED as usize / usize::from(clients);
            // A large server takes minutes under valgrind, and says nothing new.
            let count = if is_counted && clients <= 64 {
                let count = count_own(&["server", library, &clients.to_string(), "-"]);
                format!("{:.0}", count / f64::from(clients))
            } else {
                "-".to_owned()
            };
            println!("| {clients} | {library} | {count} | {bytes} |");
        }
    }
    println!();
}
