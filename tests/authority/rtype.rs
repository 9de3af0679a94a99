//! R-Type alone: resends and their end, the budget of updates, the own player's corrections, NACKs.

use crate::lab::{FRAME, Lab, bad_link, client_addr, ms, server_addr};
use rebout::authority::{
    Body, Client, ClientConfig, ClientEvent, Command, LeftWhy, OverReason, RtypeWire, Server, ServerConfig,
    ServerEvent, Stage,
};
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::sim::{EntryKind, Recording};
use rebout::wire::rtype::{InputFlags, RtypeHeader, RtypePacket, RtypePayload};
use rebout::{Frame, Protocol};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

fn lab(seed: u64, link: LinkConfig) -> Lab<RtypeWire> {
    Lab::speaking(RtypeWire, seed, link)
}

/// In every third frame something is spawned, and what was spawned 40 frames ago is hit and removed.
fn churn(stage: &mut Stage<'_>) {
    let Frame(frame) = stage.frame();
    if !frame.is_multiple_of(3) || !(120..=1_200).contains(&frame) {
        return;
    }
    let kind = (frame / 3 % 250) as u8;
    let old: Vec<u8> = stage
        .entities()
        .filter(|(_, it, _)| *it != 7 && *it == kind.wrapping_sub(13))
        .map(|(id, ..)| id)
        .collect();
    for id in old {
        stage.hit(id, kind);
        assert!(stage.remove(id));
    }
    if kind != 7 && frame <= 1_100 {
        stage.spawn(kind, Body::at(f32::from(kind), 30.0)).expect("an id");
    }
}

#[test]
fn records_arrive_once_and_in_order_on_a_bad_link() {
    let worst = LinkConfig {
        loss: Chance::percent(30),
        duplicate: Chance::percent(20),
        jitter: ms(60),
        ..LinkConfig::new(ms(20))
    };
    let mut delivered = 0;
    for seed in 1..=10 {
        let mut lab = lab(seed, worst);
        lab.server_mut().field.extra.push((0, churn));
        let client = lab.client(ms(200));
        lab.run_until(ms(23_000));
        let node = lab.client_at(client);
        assert_eq!(node.client.over(), None, "seed {seed}");
        let (mut spawns, mut ends, mut hits) = (BTreeMap::new(), 0, 0);
        let mut there = BTreeMap::new();
        for event in &node.events {
            match event {
                ClientEvent::Spawned { id, kind, .. } if *kind != 7 => {
                    *spawns.entry(*kind).or_insert(0) += 1;
                    assert_eq!(there.insert(*id, *kind), None, "seed {seed}: {id} was spawned twice");
                }
                ClientEvent::Gone { id, .. } => {
                    ends += 1;
                    assert!(there.remove(id).is_some(), "seed {seed}: {id} was not there");
                }
                ClientEvent::Hit { .. } => hits += 1,
                _ => {}
            }
        }
        // Frames 120 to 1100, every third, without the kind of players: each kind has come once or twice.
        let spawned: usize = spawns.values().sum();
        let truth = lab.server().server.entities().filter(|(_, kind, _)| *kind != 7).count();
        assert_eq!(there.len(), truth, "seed {seed}");
        assert_eq!((spawned - truth, hits), (ends, ends), "seed {seed}");
        assert!(ends > 250, "seed {seed}: {ends}");
        delivered += spawned + ends + hits;
    }
    println!("{delivered} reliable packets over 30 % loss both ways, 20 % twice, reordered: each acted once");
}

#[test]
fn five_unanswered_resends_end_a_connection_in_600_ms() {
    let mut lab = lab(1, LinkConfig::new(ms(20)));
    lab.world.network_mut().record(Recording::Full);
    let client = lab.client(ms(200));
    lab.server_mut().field.extra.push((200, |stage| stage.hit(1, 9)));
    lab.run_until(ms(3_000));
    let id = lab.client_at(client).client.id().expect("a seat");
    lab.world.stop(client);
    lab.run_until(ms(6_000));
    let left: Vec<_> = lab.server().events.iter().filter(|e| matches!(e, ServerEvent::Left { .. })).collect();
    assert_eq!(left, [&ServerEvent::Left { id, why: LeftWhy::Unanswered }]);
    assert_eq!(LeftWhy::Unanswered.to_string(), "does not answer any more");
    let sent = |entry: &&rebout::lab::sim::Entry| entry.kind == EntryKind::Sent && entry.datagram[0] == 0x40;
    let entries = lab.world.network().transcript().entries();
    let copies: Vec<Duration> = entries.iter().filter(sent).map(|entry| entry.at).collect();
    assert_eq!(copies.len(), 6, "one and five more: {copies:?}");
    for (n, at) in copies.iter().enumerate() {
        let late = *at - copies[0] - ms(100) * n as u32;
        assert!(late <= FRAME, "copy {n} was {late:?} late");
    }
    let gone = entries
        .iter()
        .find(|entry| entry.kind == EntryKind::Sent && entry.datagram[0] == 0x13)
        .expect("it is told that it was removed");
    assert!((ms(600)..ms(620)).contains(&(gone.at - copies[0])), "{:?}", gone.at - copies[0]);
}

#[test]
fn client_gives_up_600_ms_after_its_first_hello() {
    let mut lab = lab(2, LinkConfig { loss: Chance::ALWAYS, ..LinkConfig::new(ms(20)) });
    let client = lab.client(ms(200));
    lab.run_until(ms(790));
    assert_eq!(lab.client_at(client).client.over(), None);
    lab.run_until(ms(860));
    assert_eq!(lab.client_at(client).client.over(), Some(OverReason::NoAnswer));
}

#[test]
fn updates_are_at_most_300_a_second_with_the_own_ship_in_all() {
    let mut lab = lab(3, LinkConfig::new(ms(20)));
    lab.world.network_mut().record(Recording::Full);
    lab.server_mut().field.extra.push((1, |stage| {
        for n in 0..64_u8 {
            stage.spawn(100 + n, Body::at(f32::from(n), 5.0)).expect("an id");
        }
    }));
    lab.server_mut().field.extra.push((0, |stage| {
        let ids: Vec<u8> = stage.entities().filter(|(_, kind, _)| *kind >= 100).map(|(id, ..)| id).collect();
        for id in ids {
            stage.body_mut(id).expect("a body").x += 1.0;
        }
    }));
    let client = lab.client(ms(200));
    // It walks all the time.
    lab.client_mut(client).input_source =
        |_, call| Command::new(if call / 200 % 2 == 0 { 1.0 } else { -1.0 }, 0.0, 0);
    lab.run_until(ms(12_000));
    let own = u16::from(lab.client_at(client).client.id().expect("a seat"));
    let mut by_id: BTreeMap<u16, Vec<Duration>> = BTreeMap::new();
    for entry in lab.world.network().transcript().entries() {
        if entry.kind == EntryKind::Sent
            && (ms(2_000)..ms(12_000)).contains(&entry.at)
            && let Ok(RtypePayload::EntityUpdate { id, .. }) =
                RtypePacket::decode(&entry.datagram).map(|packet| packet.payload)
        {
            by_id.entry(id).or_default().push(entry.at);
        }
    }
    let total: usize = by_id.values().map(Vec::len).sum();
    assert_eq!(total, 3_000, "fifteen in each of twenty broadcasts a second");
    assert!((190..=200).contains(&by_id[&own].len()), "{} of the own ship", by_id[&own].len());
    let gaps = by_id.values().flat_map(|at| at.windows(2).map(|pair| pair[1] - pair[0]));
    let longest = gaps.max().expect("updates");
    println!("64 moving entities: 300 updates a second, each at least every {longest:?}");
    assert_eq!(by_id.len(), 65);
    assert!(longest <= ms(255), "{longest:?}");
}

#[test]
fn local_corrections_are_small_and_others_are_drawn_near() {
    let (mut worst, mut compared, mut exact, mut off) = (0, 0, 0, 0.0_f32);
    for seed in 1..=10 {
        let mut lab = lab(seed, bad_link());
        let (one, _) = (lab.client(ms(200)), lab.client(ms(300)));
        lab.run_until(ms(30_000));
        let node = lab.client_at(one);
        let stats = node.client.stats().prediction;
        worst = worst.max(stats.max_correction);
        (compared, exact) = (compared + stats.compared, exact + stats.exact);
        let Frame(last) = lab.server().server.frame();
        for picture in &node.pictures[node.pictures.len() - 60..] {
            // The picture of the last second shows a place of the last second and a half.
            let places = (last - 150..last).filter_map(|frame| lab.server().body(Frame(frame), picture.id));
            off = off.max(places.map(|body| body.distance(&picture.body)).fold(f32::MAX, f32::min));
        }
    }
    println!(
        "{exact} of {compared} updates of the own player corrected nothing; the others at most {worst} units"
    );
    println!("others were drawn within {off:.2} units of where they had been");
    assert!(worst <= 4 && exact * 100 > compared * 95, "{worst}, {exact} of {compared}");
    assert!(off < 2.0, "{off}");
}

/// A server that is driven by bytes, as a client that knows the format alone would.
struct Bytes {
    server: Server<RtypeWire>,
    field: crate::lab::Field,
    now: Duration,
    sequence: u16,
}

impl Bytes {
    fn new(max_clients: u8) -> Self {
        let mut config = ServerConfig::new(9);
        (config.seed, config.max_clients) = (42, max_clients);
        let server = Server::new(config).expect("a config");
        Self { server, field: crate::lab::Field::default(), now: ms(1_000), sequence: 700 }
    }

    fn from() -> SocketAddr {
        client_addr(1)
    }

    fn send(&mut self, asks_ack: bool, payload: &RtypePayload<'_>) -> u16 {
        let mut buf = [0; 256];
        let sequence = self.sequence;
        self.sequence += 1;
        let len =
            RtypePacket::encode(RtypeHeader { asks_ack, sequence }, payload, &mut buf).expect("a packet");
        self.server.handle_datagram(self.now, Self::from(), &buf[..len]);
        sequence
    }

    /// Everything that the server sends now.
    fn answers(&mut self) -> Vec<Vec<u8>> {
        let (mut buf, mut sent) = ([0; 1_200], Vec::new());
        while let Some((to, len)) = self.server.poll_transmit(self.now, &mut buf) {
            assert_eq!(to, Self::from());
            sent.push(buf[..len].to_vec());
        }
        sent
    }

    /// Steps frames and acknowledges whatever asks for it; returns what came.
    fn play(&mut self, frames: u32, input: InputFlags, acknowledges: bool) -> Vec<Vec<u8>> {
        let mut all = Vec::new();
        for _ in 0..frames {
            self.now += FRAME;
            self.send(false, &RtypePayload::Input(input));
            self.server.advance(self.now, &mut self.field);
            for bytes in self.answers() {
                let header = RtypePacket::decode(&bytes).expect("a packet").header;
                if header.asks_ack && acknowledges {
                    self.send(false, &RtypePayload::Ack(header.sequence));
                }
                all.push(bytes);
            }
        }
        all
    }

    /// Says HELLO and acknowledges the WELCOME; returns the id.
    fn join(&mut self) -> u8 {
        let hello = self.send(true, &RtypePayload::Hello { version: 1, name: "Ada" });
        let answers = self.answers();
        let answers: Vec<_> =
            answers.iter().map(|bytes| RtypePacket::decode(bytes).expect("a packet")).collect();
        assert_eq!(answers[0].payload, RtypePayload::Ack(hello));
        let RtypePayload::Welcome { player_id, seed: 42 } = answers[1].payload else { panic!("{answers:?}") };
        assert!(answers.len() == 2 && answers[1].header.asks_ack);
        let welcome = answers[1].header.sequence;
        self.send(false, &RtypePayload::Ack(welcome));
        player_id
    }
}

#[test]
fn client_written_from_the_document_plays() {
    let mut bytes = Bytes::new(2);
    let id = bytes.join();
    let came = bytes.play(60, InputFlags::RIGHT, true);
    let spawn =
        came.iter().map(|bytes| RtypePacket::decode(bytes).unwrap().payload).find_map(
            |payload| match payload {
                RtypePayload::EntitySpawn { id, x, y, .. } => Some((id, x, y)),
                _ => None,
            },
        );
    let (ship, x, y) = spawn.expect("its ship is spawned");
    assert_eq!(ship, u16::from(id), "a ship's entity id is its player id");
    let last =
        came.iter().rev().map(|bytes| RtypePacket::decode(bytes).unwrap().payload).find_map(|payload| {
            match payload {
                RtypePayload::EntityUpdate { id, x, y } if id == ship => Some((x, y)),
                _ => None,
            }
        });
    let (moved_x, moved_y) = last.expect("updates of its ship");
    assert!((10..=12).contains(&(moved_x - x)) && moved_y == y, "12 units a second: {x} to {moved_x}");
    // Up and down together are neutral.
    let before = *bytes.server.body(id).expect("a body");
    bytes.play(30, InputFlags(0x03), true);
    let after = *bytes.server.body(id).expect("a body");
    assert!((after.y - before.y).abs() < 1e-6 && (after.x - before.x) < 1.0, "{before:?} {after:?}");
    let leave = bytes.send(true, &RtypePayload::PlayerLeave);
    let acked = bytes
        .answers()
        .iter()
        .any(|bytes| RtypePacket::decode(bytes).unwrap().payload == RtypePayload::Ack(leave));
    assert!(acked);
    for _ in 0..40 {
        bytes.now += FRAME;
        bytes.server.advance(bytes.now, &mut bytes.field);
    }
    assert_eq!(bytes.server.clients(), 0);
}

#[test]
fn full_server_and_wrong_version_answer_hello_with_nack() {
    let mut bytes = Bytes::new(1);
    bytes.join();
    bytes.play(30, InputFlags(0), true);
    for (version, from) in [(1, client_addr(2)), (2, client_addr(3))] {
        let mut buf = [0; 64];
        let header = RtypeHeader { asks_ack: true, sequence: 0x1234 };
        let len =
            RtypePacket::encode(header, &RtypePayload::Hello { version, name: "Bob" }, &mut buf).unwrap();
        bytes.answers();
        bytes.server.handle_datagram(bytes.now, from, &buf[..len]);
        let (to, len) = bytes.server.poll_transmit(bytes.now, &mut buf).expect("an answer");
        let answer = RtypePacket::decode(&buf[..len]).unwrap();
        assert_eq!((to, answer.payload), (from, RtypePayload::Nack(0x1234)));
    }
}

#[test]
fn only_bad_packets_of_players_are_nacked() {
    let mut bytes = Bytes::new(2);
    bytes.join();
    bytes.play(30, InputFlags(0), true);
    let refused = |bytes: &mut Bytes, from, datagram: &[u8]| {
        let mut datagram = datagram.to_vec();
        if datagram.len() >= 4 {
            datagram[2..4].copy_from_slice(&bytes.sequence.to_be_bytes());
        }
        let before = bytes.server.stats().refused.total();
        bytes.server.handle_datagram(bytes.now, from, &datagram);
        assert_eq!(bytes.server.stats().refused.total(), before + 1, "{datagram:02X?}");
        let mut buf = [0; 1_200];
        std::iter::from_fn(|| {
            bytes.server.poll_transmit(bytes.now, &mut buf).map(|(_, len)| buf[..len].to_vec())
        })
        .map(|sent| match RtypePacket::decode(&sent).unwrap().payload {
            RtypePayload::Nack(of) => of,
            other => panic!("{other:?}"),
        })
        .collect::<Vec<u16>>()
    };
    let bad: [&[u8]; 5] = [
        &[0x99, 0, 0, 0],
        &[0x20, 0, 0, 0, 0xE0],
        &[0x20, 0, 0, 0],
        &[0x01, 1, 0, 0, 0, 0],
        &[0x50, 0x80, 0, 0],
    ];
    for datagram in bad {
        let sequence = bytes.sequence;
        assert_eq!(refused(&mut bytes, Bytes::from(), datagram), [sequence], "{datagram:02X?}");
        assert_eq!(refused(&mut bytes, client_addr(7), datagram), [0; 0], "from a stranger");
    }
    assert_eq!(refused(&mut bytes, Bytes::from(), &[0x02, 1, 0, 0, 0, 0]), [0; 0], "a NACK");
    assert_eq!(refused(&mut bytes, Bytes::from(), &[0x20, 0]), [0; 0], "no number");
}

#[test]
fn too_many_nacks_end_a_connection_on_either_side() {
    let mut bytes = Bytes::new(2);
    let id = bytes.join();
    let came = bytes.play(60, InputFlags(0), true);
    let named = RtypePacket::decode(came.last().expect("packets")).unwrap().header.sequence;
    for _ in 0..64 {
        bytes.send(false, &RtypePayload::Nack(named));
    }
    bytes.play(1, InputFlags(0), true);
    let events: Vec<_> = std::iter::from_fn(|| bytes.server.poll_event()).collect();
    assert!(events.contains(&ServerEvent::Left { id, why: LeftWhy::Rejected }), "{events:?}");

    // The client: a server that welcomes it and then rejects every input.
    let mut client = Client::join(ClientConfig::new(5), server_addr()).expect("a config");
    let (mut now, mut sequence, mut buf) = (ms(1_000), 100_u16, [0; 1_200]);
    let mut send = |client: &mut Client<RtypeWire>, now, asks_ack, payload: RtypePayload<'_>| {
        let mut out = [0; 64];
        let len = RtypePacket::encode(RtypeHeader { asks_ack, sequence }, &payload, &mut out).unwrap();
        sequence += 1;
        client.handle_datagram(now, server_addr(), &out[..len]);
    };
    for _ in 0..200 {
        now += FRAME;
        client.advance(now, &crate::lab::Field::default(), Command::NEUTRAL);
        while let Some((_, len)) = client.poll_transmit(now, &mut buf) {
            let packet = RtypePacket::decode(&buf[..len]).unwrap();
            match packet.payload {
                RtypePayload::Hello { name, .. } => {
                    assert_eq!(name, "player");
                    send(&mut client, now, true, RtypePayload::Welcome { player_id: 3, seed: 1 });
                    send(&mut client, now, true, RtypePayload::EntitySpawn { id: 3, kind: 0, x: 5, y: 5 });
                }
                RtypePayload::Input(_) => {
                    send(&mut client, now, false, RtypePayload::Nack(packet.header.sequence));
                }
                _ => {}
            }
        }
    }
    assert_eq!(client.over(), Some(OverReason::Rejected));
    assert!(OverReason::Rejected.to_string().starts_with("the server rejects"));
}
