//! The feature `tracing`: a subscriber is told of refused datagrams, handshake steps, stalls, rollbacks and rate changes, of paths and
//! of the rooms of a rendezvous.

#[cfg(feature = "nat")]
mod nat;

use core::fmt::Debug;
use games::faulty::{Fault, Faulty};
use games::playground::{PLAY, Playground};
use rebout::authority::{Body, Client, ClientConfig, Command, GameWire, Server, ServerConfig, Stage, World};
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::wire::message::{Message, Ordered};
use rebout::lab::{HOST, JOINER, Play, Setup, SimMatch, addresses, every_fourth, forge};
use rebout::{Buttons, MAX_DATAGRAM, Protocol, Refusal};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Once;
use std::time::Duration;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// One event of the subscriber: its text and its fields, all as text.
#[derive(Clone, Debug)]
struct TraceEvent {
    level: Level,
    target: String,
    fields: BTreeMap<&'static str, String>,
}

impl TraceEvent {
    fn text(&self) -> &str {
        &self.fields["message"]
    }
}

thread_local! {
    /// The events of this test. A simulated match runs in the thread of its test.
    static TOLD: RefCell<Vec<TraceEvent>> = const { RefCell::new(Vec::new()) };
}

/// Keeps every event, and has no use for spans.
struct Collector;

impl Subscriber for Collector {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields(BTreeMap::new());
        event.record(&mut fields);
        let (level, target) = (*event.metadata().level(), event.metadata().target().to_owned());
        // The ICE library has events of its own.
        if !target.starts_with("rebout") {
            return;
        }
        TOLD.with_borrow_mut(|told| told.push(TraceEvent { level, target, fields: fields.0 }));
    }
}

struct Fields(BTreeMap<&'static str, String>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
}

/// Runs `play` and returns the events that it caused.
fn traced(play: impl FnOnce()) -> Vec<TraceEvent> {
    static SUBSCRIBED: Once = Once::new();
    SUBSCRIBED.call_once(|| {
        tracing::subscriber::set_global_default(Collector).expect("there is no other subscriber");
    });
    TOLD.take();
    play();
    let told = TOLD.take();
    for event in &told {
        assert_eq!(event.target, "rebout", "{event:?}");
    }
    told
}

/// The values of `field` in all events with this text, in order.
fn values<'a>(told: &'a [TraceEvent], text: &str, field: &str) -> Vec<&'a str> {
    told.iter().filter(|told| told.text() == text).map(|told| &*told.fields[field]).collect()
}

fn sim_match(loss_percent: u32) -> SimMatch<Playground> {
    let mut link = LinkConfig::new(Duration::from_millis(50));
    link.loss = Chance::percent(loss_percent);
    SimMatch::new(Setup::new(5, link), PLAY)
}

#[test]
fn handshake_steps_are_told_in_order() {
    let told = traced(|| assert!(sim_match(0).run_until_frame(10)));
    let [host, joiner] = addresses().map(|addr| addr.to_string());
    let steps = |peer: &String| -> Vec<&str> {
        let steps = told.iter().filter(|told| told.text() == "handshake" && told.fields["peer"] == *peer);
        steps.map(|told| &*told.fields["step"]).collect()
    };
    assert_eq!(steps(&joiner), ["guest proven", "offered", "agreed"], "of the host, about the joiner");
    assert_eq!(steps(&host), ["challenged", "offer received", "agreed"], "of the joiner, about the host");
}

/// The steps of all handshakes, with the peer that they are about.
fn steps(told: &[TraceEvent]) -> Vec<(&str, &str)> {
    let steps = told.iter().filter(|told| told.text() == "handshake");
    steps.map(|told| (&*told.fields["step"], &*told.fields["peer"])).collect()
}

#[test]
fn refused_joiner_is_told_by_whom() {
    let told = traced(|| {
        let mut setup = Setup::new(5, LinkConfig::new(Duration::from_millis(50)));
        setup.configs[JOINER].game.id += 1;
        let mut sim = SimMatch::new(setup, PLAY);
        assert!(sim.step_until(Duration::from_secs(5), |sim| sim.machine(JOINER).error.is_some()));
    });
    let [host, _] = addresses().map(|addr| addr.to_string());
    assert_eq!(steps(&told), [("challenged", &*host), ("refused by the host", &host)]);
}

#[test]
fn silent_ends_of_a_handshake_are_told() {
    let [host, joiner] = addresses().map(|addr| addr.to_string());
    // The joiner hears nothing after the challenge, and the host nothing after its offer.
    let told = traced(|| {
        let mut sim = sim_match(0);
        sim.eavesdrop();
        assert!(sim.step_until(Duration::from_secs(5), |sim| !sim.said_by(HOST, "OFFER").is_empty()));
        sim.inject(HOST, SocketAddr::from(([203, 0, 113, 9], 9)), b"junk");
        let now = sim.world.now();
        sim.world.network_mut().cut_both(HOST, JOINER, now, now + Duration::from_secs(60));
        sim.run_for(Duration::from_secs(40));
    });
    let steps = steps(&told);
    assert!(steps.contains(&("guest gone", &joiner)), "{steps:?}");
    assert!(steps.contains(&("timed out", &host)), "{steps:?}");
    assert_eq!(values(&told, "datagram refused", "from")[0], "203.0.113.9:9");
}

#[test]
fn received_first_state_is_told() {
    let told = traced(|| {
        let mut setup = Setup::new(5, LinkConfig::new(Duration::from_millis(50)));
        setup.configs[HOST].lobby.first_state = vec![7; 5_000].into();
        setup.configs[JOINER].lobby.first_state_limit = 5_000;
        assert!(SimMatch::new(setup, PLAY).run_until_frame(10));
    });
    let [host, _] = addresses().map(|addr| addr.to_string());
    assert!(steps(&told).contains(&("first state received", &host)), "{told:?}");
}

#[test]
fn desync_is_told_by_both_machines() {
    let told = traced(|| {
        let play = Play { build: |seed| Faulty::new(seed).expect("a seed"), script: every_fourth };
        let mut sim = SimMatch::new(Setup::new(1, LinkConfig::new(Duration::from_millis(50))), play);
        sim.machine_mut(HOST).tamper = Some(|game, _| game.fault = Fault::Step { into: 100 });
        sim.run_for(Duration::from_secs(5));
    });
    let of = |field| values(&told, "desync", field);
    assert_eq!(of("frame").len(), 2, "{told:?}");
    assert_eq!(of("frame")[0], of("frame")[1]);
    assert_eq!([of("ours")[0], of("theirs")[0]], [of("theirs")[1], of("ours")[1]]);
    assert!(told.iter().all(|event| event.text() != "desync" || event.level == Level::WARN));
}

#[test]
fn refused_datagram_is_logged_with_address_and_reason() {
    let stranger = SocketAddr::from(([203, 0, 113, 9], 9));
    let [_, joiner] = addresses();
    let mut refused = 0;
    let told = traced(|| {
        let mut sim = sim_match(0);
        sim.eavesdrop();
        assert!(sim.run_until_frame(100));
        let knows = forge::Knows::of(&sim, HOST);
        let mut version = forge::inputs(knows.known, knows.sent - 1, &[Buttons(1)]);
        version[4] = 9;
        let conflict = Buttons(!knows.newest.buttons().0);
        let junk = Message::Ordered { number: knows.first_number, body: Ordered::Autopsy(b"\xFFjunk") };
        sim.inject(HOST, stranger, b"GET / HTTP/1.1\r\n");
        sim.inject(HOST, joiner, &version);
        sim.inject(HOST, joiner, &forge::inputs(knows.known - 1, knows.sent - 1, &[conflict]));
        sim.inject(HOST, joiner, &forge::raw(knows.header, 8, &[99]));
        sim.inject(HOST, joiner, &forge::message(knows.header, &junk));
        sim.inject(JOINER, stranger, &forge::inputs(knows.known, knows.sent - 1, &[Buttons(1)]));
        assert!(sim.run_until_frame(200));
        let refusals = sim.machine(HOST).refused();
        for refusal in [Refusal::NoPacket, Refusal::MalformedInput, Refusal::InputConflict] {
            assert_eq!(refusals.of(refusal), 1, "{refusal}");
        }
        assert_eq!(refusals.of(Refusal::MalformedMessage), 2, "no kind 99, and an autopsy that is none");
        refused = refusals.total() + sim.machine(JOINER).refused().total();
    });
    assert_eq!(values(&told, "datagram refused", "from").len() as u64, refused, "told and counted");
    // The seventh is the ack of the forged AUTOPSY: the joiner never sent that packet.
    let of = |field| values(&told, "datagram refused", field)[..6].to_vec();
    let (stranger, joiner) = (stranger.to_string(), joiner.to_string());
    assert_eq!(of("from"), [&*stranger, &joiner, &joiner, &joiner, &joiner, &stranger]);
    assert_eq!(
        of("reason"),
        [
            "no packet",
            "malformed input packet",
            "conflicting input",
            "malformed message",
            "malformed message",
            "from a stranger"
        ]
    );
    let details = of("detail");
    assert_eq!(details[0], "no format begins with [47, 45, 54, 20]");
    assert_eq!(details[1], "version 9 is not 1");
    assert!(details[2].starts_with("frame ") && details[2].contains("is confirmed as 0x"), "{details:?}");
    assert_eq!(details[3], "unknown message kind 99");
    assert_eq!(details[4], "the notes of an AUTOPSY");
}

#[test]
fn stalls_rollbacks_and_silence_are_told() {
    let mut rollbacks = [0_u64; 2];
    let told = traced(|| {
        let mut sim = sim_match(0);
        assert!(sim.run_until_frame(100));
        let now = sim.world.now();
        sim.world.network_mut().cut_both(0, 1, now, now + Duration::from_secs(1));
        assert!(sim.run_until_frame(300));
        rollbacks = [HOST, JOINER].map(|id| sim.machine(id).stats().rollback.rollbacks);
    });
    let stalled = values(&told, "stalled", "frame");
    assert!(!stalled.is_empty());
    assert_eq!(stalled.len(), values(&told, "stall over", "frame").len(), "each stall ends once");
    let depths = values(&told, "rolled back", "frames");
    assert_eq!(depths.len() as u64, rollbacks[0] + rollbacks[1], "each rollback once");
    assert!(depths.iter().all(|frames| (1..=8).contains(&frames.parse::<u32>().unwrap())));
    assert_eq!(values(&told, "silence", "change"), ["interrupted", "interrupted", "resumed", "resumed"]);
}

#[test]
fn end_of_a_match_is_told_on_both_machines() {
    let told = traced(|| {
        let mut sim = sim_match(0);
        assert!(sim.run_until_frame(100));
        sim.machine_mut(JOINER).leave_at = Some(Duration::ZERO);
        assert!(sim.run_until(Duration::from_secs(5), |sim| sim.machine(HOST).ended()));
    });
    assert_eq!(values(&told, "match over", "how"), ["you left", "the other player left"]);
}

#[test]
fn changes_of_the_send_rate_are_told() {
    let told = traced(|| assert!(sim_match(15).run_until_frame(1_200)));
    let on = values(&told, "second copy of input packets", "on");
    assert!(on.starts_with(&["true"]), "{on:?}");
    let loss = values(&told, "second copy of input packets", "loss_permille")[0];
    assert!((50..400).contains(&loss.parse::<u32>().unwrap()), "{loss}");
}

#[test]
fn match_without_trouble_is_told_below_warnings() {
    let told = traced(|| assert!(sim_match(2).run_until_frame(600)));
    assert!(!told.is_empty());
    for event in &told {
        assert!(event.level > Level::WARN, "{event:?}");
    }
    assert!(values(&told, "desync", "frame").is_empty());
}

/// Players who stand.
struct Still;

impl World for Still {
    fn walk(&self, _: &mut Body, _: Command) {}
    fn enter(&mut self, _: u8) -> (u8, Body) {
        (0, Body::default())
    }
    fn step(&mut self, _: &mut Stage<'_>) {}
}

/// A server of one seat and its clients, between which datagrams take no time.
struct Arcade {
    server: Server<GameWire>,
    clients: Vec<(SocketAddr, Client<GameWire>)>,
    now: Duration,
}

impl Arcade {
    const SERVER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 7_100);

    fn new() -> Self {
        let mut config = ServerConfig::new(1);
        config.max_clients = 1;
        let server = Server::new(config).expect("a config");
        Self { server, clients: Vec::new(), now: Duration::from_secs(1) }
    }

    fn join(&mut self, n: u8) -> SocketAddr {
        let addr = SocketAddr::from(([192, 0, 2, n], 9_000));
        let client = Client::join(ClientConfig::new(n.into()), Self::SERVER).expect("a config");
        self.clients.push((addr, client));
        addr
    }

    fn run(&mut self, frames: u32) {
        for _ in 0..frames {
            self.now += Duration::from_nanos(16_666_666);
            let (now, mut buf) = (self.now, [0; MAX_DATAGRAM]);
            for (addr, client) in &mut self.clients {
                client.advance(now, &Still, Command::NEUTRAL);
                while let Some((_, len)) = client.poll_transmit(now, &mut buf) {
                    self.server.handle_datagram(now, *addr, &buf[..len]);
                }
            }
            self.server.advance(now, &mut Still);
            while let Some((to, len)) = self.server.poll_transmit(now, &mut buf) {
                if let Some((_, client)) = self.clients.iter_mut().find(|(addr, _)| *addr == to) {
                    client.handle_datagram(now, Self::SERVER, &buf[..len]);
                }
            }
        }
    }
}

#[test]
fn seats_given_refused_and_lost_are_told() {
    let mut addresses = Vec::new();
    let told = traced(|| {
        let mut arcade = Arcade::new();
        addresses = vec![arcade.join(2)];
        arcade.run(60);
        addresses.push(arcade.join(3));
        arcade.run(60);
        let id = arcade.clients[0].1.id().expect("a seat");
        assert!(arcade.server.kick(arcade.now, &mut Still, id));
        arcade.run(60);
    });
    let [player, late] = [0, 1].map(|n| addresses[n].to_string());
    assert_eq!(values(&told, "seat given", "client"), [&*player]);
    assert_eq!(values(&told, "seat refused", "client"), [&*late]);
    assert_eq!(values(&told, "seat refused", "reason"), ["every seat is taken"]);
    assert_eq!(values(&told, "seat lost", "client"), [&*player]);
    assert_eq!(values(&told, "seat lost", "reason"), ["was kicked"]);
    assert_eq!(values(&told, "joined", "server"), ["192.0.2.1:7100"]);
    let ends = ["the server is full", "you were removed from the game by the server"];
    assert_eq!(values(&told, "connection over", "reason"), ends);
}

#[test]
fn refused_datagrams_of_a_client_are_told() {
    let told = traced(|| {
        let mut arcade = Arcade::new();
        arcade.join(2);
        arcade.run(60);
        let stranger = SocketAddr::from(([203, 0, 113, 9], 9));
        arcade.clients[0].1.handle_datagram(arcade.now, stranger, b"junk");
    });
    assert_eq!(values(&told, "datagram refused", "from"), ["203.0.113.9:9"]);
    assert_eq!(values(&told, "datagram refused", "detail"), ["at a client"]);
}

#[test]
fn wrong_proofs_over_the_limit_are_told_once_a_second() {
    let told = traced(|| {
        let mut arcade = Arcade::new();
        let from = SocketAddr::from(([192, 0, 2, 9], 9_000));
        for n in 0..200_u8 {
            let heartbeat = [b"GAME", &[0, n, 0, n, 0, 0, 0, 0, 9, 0, 0][..]].concat();
            arcade.server.handle_datagram(arcade.now, from, &heartbeat);
        }
    });
    assert_eq!(values(&told, "wrong proofs over the limit", "source").len(), 1);
    assert_eq!(values(&told, "datagram refused", "reason").len(), 200);
}
