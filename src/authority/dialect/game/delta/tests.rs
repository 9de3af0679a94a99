//! The server's end and the client's end of delta snapshots, with datagrams in between that are lost, late, cut or forged.

use super::{Baselines, History, Holdings, KEPT, MAX_AGE, Unread};
use crate::authority::ids::Ids;
use crate::authority::{Body, Shown, Sight};
use crate::wire::control::ControlHeader;
use crate::{Frame, Rng};

/// The room of a payload in the largest datagram of a snapshot.
const ROOM: usize = 1_179 - 15;

/// A server with entities that walk, and one client.
struct Pair {
    history: History,
    holdings: Holdings,
    baselines: Baselines,
    frame: u32,
    sequence: u16,
    bodies: Vec<Shown>,
    rng: Rng,
    sight: fn(u8) -> Sight,
}

/// A packet on its way: its sequence number and its payload.
type Packet = (u16, Vec<u8>);

impl Pair {
    fn new(entities: u16) -> Self {
        let mut baselines = Baselines::new();
        baselines.set_frame_rate(60);
        let mut holdings = Holdings::new();
        holdings.ask();
        let body = |id: u16| Body::at(f32::from(id) * 0.37, f32::from(id) * 0.11);
        Self {
            history: History::new(60),
            holdings,
            baselines,
            // The count of frames wraps on the way.
            frame: u32::MAX - 600,
            sequence: 65_000,
            bodies: (1..=entities).map(|id| Shown { id, body: body(id) }).collect(),
            rng: Rng::new(u32::from(entities) + 1).expect("a seed"),
            sight: |_| Sight::Near,
        }
    }

    /// Steps three frames, in which some entities turn and some are hurt, and broadcasts.
    fn broadcast(&mut self) -> Vec<Packet> {
        for _ in 0..3 {
            self.frame = self.frame.wrapping_add(1);
            for Shown { body, .. } in &mut self.bodies {
                if self.rng.below(24) == 0 {
                    let mut way = || (self.rng.below(5) as f32 - 2.0) * 7.3;
                    (body.velocity_x, body.velocity_y) = (way(), way());
                    body.health -= 0.01;
                }
                body.x = (body.x + body.velocity_x / 60.0).clamp(0.0, 78.0);
                body.y = (body.y + body.velocity_y / 60.0).clamp(0.0, 22.0);
            }
        }
        self.history.push(Frame(self.frame), &self.bodies);
        self.holdings.plan(&mut self.history, self.sight);
        self.packets()
    }

    fn packets(&mut self) -> Vec<Packet> {
        let (mut packets, mut payload) = (Vec::new(), [0; ROOM]);
        while let Some((len, written)) =
            self.holdings.write(&self.history, packets.is_empty(), 7, &mut payload)
        {
            self.sequence = self.sequence.wrapping_add(1);
            self.holdings.sent(self.sequence, written);
            packets.push((self.sequence, payload[..len].to_vec()));
        }
        packets
    }

    /// Hands a packet to the client, which keeps it if it can be read.
    fn read(&mut self, payload: &[u8]) -> Result<(Frame, Vec<Shown>), Unread> {
        let mut shown = Vec::new();
        let (frame, applied) = self.baselines.read(payload, &mut shown)?;
        assert_eq!(applied, 7);
        self.baselines.keep(frame, &shown);
        Ok((frame, shown))
    }

    fn acknowledge(&mut self, sequence: u16, ack_bits: u32) {
        self.holdings.acknowledged(ControlHeader { sequence: 0, ack: sequence, ack_bits });
    }

    /// A broadcast that arrives and is acknowledged.
    fn delivered(&mut self) -> usize {
        let packets = self.broadcast();
        for (sequence, payload) in &packets {
            self.read(payload).expect("a packet");
            self.acknowledge(*sequence, 0);
        }
        packets.iter().map(|(_, payload)| payload.len()).sum()
    }
}

/// The age of the first section of a payload.
fn first_age(payload: &[u8]) -> u16 {
    u16::from_be_bytes([payload[8], payload[9]])
}

#[test]
fn every_body_arrives_exactly_whatever_is_lost_or_late() {
    for (entities, lost_percent) in [(8, 0), (64, 30), (255, 30), (255, 60)] {
        let mut pair = Pair::new(entities);
        let mut truth = std::collections::BTreeMap::new();
        // Packets and acks that arrive in a broadcast to come; some twice.
        let mut down: Vec<(u32, Packet)> = Vec::new();
        let mut up: Vec<(u32, u16)> = Vec::new();
        let (mut read, mut unread) = (0, 0);
        for now in 0..400_u32 {
            let packets = pair.broadcast();
            truth.insert(pair.frame, pair.bodies.clone());
            for packet in packets {
                assert!(packet.1.len() <= ROOM);
                for _ in 0..1 + pair.rng.below(2) {
                    if pair.rng.below(100) >= lost_percent {
                        down.push((now + pair.rng.below(6), packet.clone()));
                    }
                }
            }
            for (_, (sequence, payload)) in down.extract_if(.., |(at, _)| *at <= now).collect::<Vec<_>>() {
                let Ok((Frame(frame), shown)) = pair.read(&payload) else {
                    unread += 1;
                    continue;
                };
                read += 1;
                let known = &truth[&frame];
                assert!(shown.iter().all(|body| known.contains(body)), "frame {frame}");
                if pair.rng.below(100) >= lost_percent {
                    up.push((now + pair.rng.below(6), sequence));
                }
            }
            for (_, sequence) in up.extract_if(.., |(at, _)| *at <= now).collect::<Vec<_>>() {
                pair.acknowledge(sequence, 0);
            }
        }
        assert!(unread == 0 && read > 150, "{entities} entities: {unread} unread, {read} read");
    }
}

#[test]
fn delta_is_small_and_a_first_one_is_whole() {
    let mut pair = Pair::new(64);
    let whole = pair.delivered();
    let delta = (0..20).map(|_| pair.delivered()).max().unwrap();
    assert!(whole > 64 * 6 && delta < whole / 3, "{whole} and then {delta} bytes");
}

#[test]
fn forged_ack_of_a_lost_packet_is_healed_by_asking_again() {
    let mut pair = Pair::new(8);
    pair.delivered();
    let lost = pair.broadcast();
    pair.acknowledge(lost[0].0, 0);
    let before = pair.baselines.clone();
    let next = pair.broadcast();
    assert_eq!(first_age(&next[0].1), 3);
    assert_eq!(pair.read(&next[0].1), Err(Unread::NoBaseline));
    assert_eq!(format!("{before:?}"), format!("{:?}", pair.baselines), "nothing was taken over");
    pair.holdings.ask();
    pair.acknowledge(next[0].0, u32::MAX);
    let whole = pair.broadcast();
    assert_eq!(first_age(&whole[0].1), 0, "acks of earlier packets count no more");
    assert!(pair.read(&whole[0].1).is_ok());
}

#[test]
fn delta_request_after_the_plan_yields_current_bodies() {
    let mut pair = Pair::new(8);
    (0..40).for_each(|_| {
        pair.delivered();
    });
    pair.bodies.iter_mut().for_each(|shown| shown.body.x += 1.0);
    pair.history.push(Frame(pair.frame.wrapping_add(3)), &pair.bodies);
    pair.holdings.plan(&mut pair.history, |_| Sight::Near);
    pair.holdings.ask();
    for (_, payload) in pair.packets() {
        let shown = pair.read(&payload).expect("a packet").1;
        assert!(shown.iter().all(|shown| pair.bodies.contains(shown)), "{shown:?}");
    }
    let next = pair.broadcast();
    assert_eq!((first_age(&next[0].1), pair.read(&next[0].1).unwrap().1.len()), (0, 8));
}

#[test]
fn acks_of_packets_never_sent_are_no_baseline() {
    let mut pair = Pair::new(8);
    let sent = pair.broadcast();
    for (ack, bits) in [(sent[0].0.wrapping_add(1), 0), (sent[0].0.wrapping_sub(1), u32::MAX), (0, u32::MAX)]
    {
        pair.acknowledge(ack, bits);
        assert_eq!(first_age(&pair.broadcast()[0].1), 0, "{ack}");
    }
}

#[test]
fn client_that_acknowledges_nothing_gets_whole_snapshots_again() {
    let mut pair = Pair::new(64);
    pair.delivered();
    let ages: Vec<u16> = (0..=MAX_AGE).map(|_| first_age(&pair.broadcast()[0].1)).collect();
    let expected: Vec<u16> = (1..=MAX_AGE as u16).map(|age| age * 3).chain([0]).collect();
    assert_eq!(ages, expected);
    // An ack that comes when another broadcast has taken the place is no ack of that one.
    let mut pair = Pair::new(8);
    let late = pair.broadcast();
    (0..=KEPT).for_each(|_| {
        pair.broadcast();
    });
    pair.acknowledge(late[0].0, 0);
    assert_eq!(first_age(&pair.broadcast()[0].1), 0);
}

/// A payload of frame 100 with these sections.
fn payload(sections: &[u8]) -> Vec<u8> {
    [&[0, 0, 0, 100, 0, 0, 0, 7][..], sections].concat()
}

/// A client that has entities 3 and 4 of frame 97.
fn knows_two() -> Pair {
    let mut pair = Pair::new(0);
    let body = Body::at(1.0, 2.0);
    pair.baselines.keep(Frame(97), &[3, 4].map(|id| Shown { id, body }));
    pair
}

#[test]
fn baselines_that_are_not_here_are_refused() {
    let mut pair = knows_two();
    assert!(pair.read(&payload(&[0, 3, 0x42, 3, 4, 0])).is_ok());
    for (what, sections) in [
        ("a frame that never came", &[0, 4, 0x42, 3, 4, 0][..]),
        ("a frame of the future", &[0xFF, 0xFD, 0x42, 3, 4, 0]),
        ("the frame itself", &[0, 100, 0x42, 3, 4, 0]),
        ("an entity that was not in it", &[0, 3, 0x42, 3, 5, 0]),
        ("a second section", &[0, 3, 0x41, 3, 0, 0, 6, 0x41, 4, 0]),
    ] {
        assert_eq!(knows_two().read(&payload(sections)), Err(Unread::NoBaseline), "{what}");
    }
}

#[test]
fn malformed_deltas_are_refused() {
    for (what, sections) in [
        ("an entity twice", &[0, 3, 0x41, 3, 0, 0, 3, 0x41, 3, 0][..]),
        ("no entity", &[0, 3, 0x40]),
        ("no bodies", &[0, 3, 0x42, 3, 4]),
        ("entity 0", &[0, 0, 1, 1, 0]),
        ("bits behind the last body", &[0, 3, 0x42, 3, 4, 1]),
        ("a byte behind the last section", &[0, 3, 0x42, 3, 4, 0, 0]),
        ("more bodies than bytes", &[0, 0, 1, 0xFE, 0xFF]),
        ("a health that is not finite", &[0, 3, 0x41, 3, 0x97, 0x7F, 0x80, 0]),
    ] {
        assert_eq!(knows_two().read(&payload(sections)), Err(Unread::Malformed), "{what}");
    }
    for len in 0..8 {
        assert_eq!(knows_two().read(&payload(&[])[..len]), Err(Unread::Malformed), "{len} bytes");
    }
    assert!(knows_two().read(&payload(&[])).is_ok(), "a world without entities");
}

#[test]
fn damaged_deltas_never_panic_and_show_finite_bodies() {
    let mut pair = Pair::new(40);
    (0..5).for_each(|_| {
        pair.delivered();
    });
    let whole = pair.broadcast().remove(0).1;
    for len in 0..whole.len() {
        assert!(pair.baselines.read(&whole[..len], &mut Vec::new()).is_err() || len == 8, "cut to {len}");
    }
    let mut shown = Vec::with_capacity(256);
    for at in 0..whole.len() * 8 {
        let mut damaged = whole.clone();
        damaged[at / 8] ^= 1 << (at % 8);
        if pair.baselines.read(&damaged, &mut shown).is_ok() {
            assert!(shown.len() <= 255 && shown.iter().all(|shown| shown.body.is_finite()));
        }
    }
    for seed in 1..20_000 {
        let mut rng = Rng::new(seed).expect("a seed");
        let forged: Vec<u8> = (0..rng.below(80)).map(|_| rng.below(256) as u8).collect();
        if pair.baselines.read(&forged, &mut shown).is_ok() {
            assert!(shown.iter().all(|shown| shown.body.is_finite()));
        }
    }
    assert_eq!(shown.capacity(), 256, "no packet takes memory");
}

#[test]
fn snapshot_that_does_not_fit_goes_on_in_the_next_packet() {
    let mut pair = Pair::new(255);
    let packets = pair.broadcast();
    assert!(packets.len() > 2, "{} packets", packets.len());
    let mut seen = Vec::new();
    for (_, payload) in &packets {
        seen.extend(pair.read(payload).expect("a packet").1.iter().map(|shown| shown.id as u8));
    }
    assert_eq!(seen, (1..=255).collect::<Vec<u8>>());
    // One of them is acknowledged: the next broadcast has a baseline for its entities alone.
    pair.acknowledge(packets[1].0, 0);
    let next = pair.broadcast();
    assert_eq!(first_age(&next[0].1), 3);
    assert!(pair.read(&next[0].1).is_ok());
    // A buffer without room for one body takes none, and is not tried forever.
    pair.history.push(Frame(pair.frame.wrapping_add(3)), &pair.bodies);
    pair.holdings.plan(&mut pair.history, |_| Sight::Near);
    for room in 0..60 {
        let written = pair.holdings.write(&pair.history, true, 7, &mut [0; 60][..room]);
        assert!(written.is_none_or(|(len, _)| len <= room));
    }
}

#[test]
fn far_entities_come_every_fourth_time_and_hidden_ones_never() {
    let mut pair = Pair::new(40);
    pair.sight = |id| match id {
        1..=10 => Sight::Near,
        11..=30 => Sight::Far,
        _ => Sight::Hidden,
    };
    let mut times = [0; 41];
    for _ in 0..24 {
        for (sequence, payload) in pair.broadcast() {
            for Shown { id, body } in pair.read(&payload).expect("a packet").1 {
                assert!(pair.bodies.contains(&Shown { id, body }));
                times[usize::from(id)] += 1;
            }
            pair.acknowledge(sequence, 0);
        }
    }
    assert!(times[1..=10].iter().all(|times| *times == 24), "{times:?}");
    // Until they are looked at for the first time they are shown.
    assert!(times[11..=30].iter().all(|times| (6..=9).contains(times)), "{times:?}");
    assert!(times[31..].iter().all(|times| *times <= 3), "{times:?}");
    pair.sight = |_| Sight::Near;
    (0..4).for_each(|_| {
        pair.delivered();
    });
    let shown: Ids = pair
        .broadcast()
        .iter()
        .flat_map(|(_, payload)| pair.read(payload).unwrap().1)
        .map(|shown| shown.id as u8)
        .collect();
    assert_eq!(shown, (1..=40).collect(), "all come back");
}

#[test]
fn clients_with_the_same_baselines_get_the_same_bytes() {
    let mut pair = Pair::new(30);
    pair.delivered();
    let mut other = pair.holdings.clone();
    let packets = pair.broadcast();
    other.plan(&mut pair.history, |_| Sight::Near);
    let mut payload = [0; ROOM];
    let (len, _) = other.write(&pair.history, true, 7, &mut payload).unwrap();
    assert_eq!(payload[..len], packets[0].1);
    // One that sees less gets bytes of its own, which can be read as well.
    other.plan(&mut pair.history, |id| if id == 9 { Sight::Hidden } else { Sight::Near });
    (0..4).for_each(|_| {
        pair.delivered();
    });
    other.ask();
    for _ in 0..4 {
        pair.broadcast();
        other.plan(&mut pair.history, |id| if id == 9 { Sight::Hidden } else { Sight::Near });
    }
    let (len, _) = other.write(&pair.history, true, 7, &mut payload).unwrap();
    let ids: Vec<u16> = pair.read(&payload[..len]).unwrap().1.iter().map(|shown| shown.id).collect();
    assert_eq!(ids, (1..=30).filter(|id| *id != 9).collect::<Vec<_>>());
}

/// The bytes of a block of the file.
fn vector(name: &str) -> Vec<u8> {
    let vectors = include_str!("../../../../../docs/vectors/deltas.txt");
    let (_, rest) = vectors.split_once(&format!("[{name}]\n")).expect("a block");
    let lines = rest.split("\n\n").next().unwrap().lines().map(|line| line.split(';').next().unwrap());
    lines.flat_map(str::split_whitespace).map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

#[test]
fn delta_vectors_are_what_the_code_writes() {
    let walks = Body { velocity_x: 18.0, ..Body::at(10.0, 5.0) };
    let (mut near, hurt) = (walks, Body { health: 0.5, ..Body::at(2.5, 7.0) });
    (0..3).for_each(|_| near.x += 18.0 * (1.0 / 60.0));
    let turned = Body { velocity_y: -18.0, y: 5.0 - 18.0 * (1.0 / 60.0), ..near };
    for (name, frame, bodies) in [
        ("delta-whole", 99, vec![(3, walks), (200, Body::at(2.5, 7.0))]),
        ("delta-next", 102, vec![(3, near), (200, hurt)]),
        ("delta-turned", 102, vec![(3, turned), (200, Body::at(2.5, 7.0)), (201, Body::at(0.0, 1.0))]),
    ] {
        let shown: Vec<Shown> = bodies.into_iter().map(|(id, body)| Shown { id, body }).collect();
        // Both of frame 102 have frame 99 as their baseline.
        let mut pair = Pair::new(0);
        if frame == 102 {
            pair.history.push(
                Frame(99),
                &[Shown { id: 3, body: walks }, Shown { id: 200, body: Body::at(2.5, 7.0) }],
            );
            pair.holdings.plan(&mut pair.history, |_| Sight::Near);
            let (sequence, payload) = pair.packets().remove(0);
            pair.read(&payload).unwrap();
            pair.acknowledge(sequence, 0);
        }
        pair.history.push(Frame(frame), &shown);
        pair.holdings.plan(&mut pair.history, |_| Sight::Near);
        let payload = pair.packets().remove(0).1;
        assert_eq!(pair.read(&payload).unwrap().1, shown);
        let hex: Vec<String> = payload.iter().map(|byte| format!("{byte:02X}")).collect();
        assert_eq!(vector(name), payload, "{name} should be {}", hex.join(" "));
    }
}
