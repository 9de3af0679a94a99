//! Datagrams that nobody honest sends: they are counted, they take no memory, and whoever plays goes on playing.

use crate::flood::Flood;
use crate::lab::{Lab, SERVER, client_addr, ms, server_addr};
use rebout::authority::ServerEvent;
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::sim::{EntryKind, Recording};
use rebout::{Protocol, Refusal};
use std::net::SocketAddr;
use std::time::Duration;
use support::{heap, repeats};

/// A GAME packet, with numbers of choice.
fn packet(sequence: u16, ack: u16, kind: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = b"GAME".to_vec();
    bytes.extend_from_slice(&sequence.to_be_bytes());
    bytes.extend_from_slice(&ack.to_be_bytes());
    bytes.extend_from_slice(&[0; 4]);
    bytes.push(kind);
    bytes.extend_from_slice(&(payload.len() as u16).to_be_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

fn input(number: u32, x: f32, y: f32) -> Vec<u8> {
    let mut bytes = number.to_be_bytes().to_vec();
    bytes.extend_from_slice(&x.to_be_bytes());
    bytes.extend_from_slice(&y.to_be_bytes());
    bytes.push(0);
    bytes
}

fn snapshot(tick: u32, id: u8, x: f32) -> Vec<u8> {
    let mut bytes = tick.to_be_bytes().to_vec();
    bytes.extend_from_slice(&[1, id]);
    for value in [x, 0.0, 0.0, 0.0, 1.0] {
        bytes.extend_from_slice(&value.to_be_bytes());
    }
    bytes
}

/// Datagrams of a forger who knows the numbers of the connection, or guesses them.
fn rows(sequence: u16, ack: u16, id: u8) -> Vec<(&'static str, Vec<u8>)> {
    let (nan, infinite) = (f32::NAN, f32::INFINITY);
    let of = |kind: u8, payload: &[u8]| packet(sequence, ack, kind, payload);
    let mut cut = of(9, &[]);
    cut.pop();
    let mut longer = of(9, &[]);
    longer.push(0);
    let mut two_inputs = vec![2];
    two_inputs.extend(input(1, 0.5, 0.5));
    two_inputs.extend(input(u32::MAX, 0.5, 0.5));
    vec![
        ("empty", Vec::new()),
        ("one byte", vec![0x47]),
        ("zeros", vec![0; 1_200]),
        ("a cut header", cut),
        ("a byte too many", longer),
        ("type 0", of(0, &[])),
        ("type 10", of(10, &[])),
        ("RBN1", b"RBN1\x01\0\0\0\0\0\x01\0\0\0\0\0\0".to_vec()),
        ("CONNECT_ACK", of(2, &[9])),
        ("CONNECT_ACK of nobody", of(2, &[0])),
        ("an input that is not a number", of(4, &input(5, nan, 0.0))),
        ("an infinite input", of(4, &input(5, 0.0, -infinite))),
        ("a move of 1.5", of(4, &input(5, 1.5, 0.0))),
        ("no inputs", of(4, &[0])),
        ("a count that lies", of(4, &[7, 1, 2, 3])),
        ("an input far ahead", of(4, &input(u32::MAX / 2, 0.3, 0.1))),
        ("inputs long past and far ahead", of(4, &two_inputs)),
        ("a snapshot", of(5, &snapshot(900_000, id, 5.0))),
        ("a snapshot that is not finite", of(5, &snapshot(5, id, nan))),
        ("a snapshot with a count that lies", of(5, &[0, 0, 0, 1, 200])),
        ("a ping that is not a number", of(6, &f64::NAN.to_be_bytes())),
        ("a ping", of(6, &1.0_f64.to_be_bytes())),
        ("a pong that nobody asked for", of(7, &1.0_f64.to_be_bytes())),
        ("an event of nobody's", of(8, &[99, 1, 2, 3])),
        ("an empty event", of(8, &[])),
        ("TICKS", of(8, &[2, 0x7F, 0, 0, 0])),
        ("TERMS with a rate of 0", of(8, &[1, 1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 1])),
        ("an event far ahead in the order", of(8, &[3, 0x70, 0, 2, 1, 0, 0, 0, 9])),
        ("DISCONNECT", of(3, &[])),
        ("HEARTBEAT", of(9, &[])),
    ]
}

/// Phases in which something arrives, as times of the run: nobody is there, asking, proving, playing.
const PHASES: [(&str, u64); 4] = [("empty", 100), ("asking", 220), ("proving", 260), ("playing", 3_000)];

struct Judged {
    left: usize,
    wrong: usize,
    over: bool,
    refused: u64,
    grown: i64,
}

/// Two players; one datagram comes in one phase; then they play on for three seconds.
fn judge(victim: usize, from: SocketAddr, at: u64, datagram: &[u8]) -> Judged {
    let mut lab = Lab::new(1, LinkConfig::new(ms(30)));
    let clients = [lab.client(ms(200)), lab.client(ms(200))];
    lab.run_until(ms(at));
    let refused = |lab: &Lab| match victim {
        SERVER => lab.server().server.stats().refused.total(),
        client => lab.client_at(client).client.stats().refused.total(),
    };
    let before = refused(&lab);
    let now = lab.world.local_now(victim);
    let heap = heap::live();
    match victim {
        SERVER => lab.server_mut().server.handle_datagram(now, from, datagram),
        client => lab.client_mut(client).client.handle_datagram(now, from, datagram),
    }
    let grown = heap::live() - heap;
    let refused = refused(&lab) - before;
    lab.run_until(ms(at.max(500) + 3_500));
    let left = lab.server().events.iter().filter(|event| matches!(event, ServerEvent::Left { .. })).count();
    let (mut wrong, mut over) = (0, false);
    for client in clients {
        let node = lab.client_at(client);
        over |= node.client.over().is_some() || node.client.predicted().is_none();
        let Some(id) = node.client.id() else { continue };
        let last = node.predicted.len().saturating_sub(60);
        // In the last second before the server's present all is as if nothing had happened.
        let predicted = node.predicted[last..].iter();
        wrong += predicted
            .filter(|(frame, body)| lab.server().body(*frame, id).is_some_and(|truth| truth != *body))
            .count();
    }
    Judged { left, wrong, over, refused, grown }
}

#[test]
fn single_datagram_of_a_blind_forger_changes_nothing() {
    let mut judged = 0;
    for (phase, at) in PHASES {
        for victim in [SERVER, 1] {
            let peer = if victim == SERVER { client_addr(1) } else { server_addr() };
            for from in [peer, SocketAddr::from(([192, 0, 2, 9], 9))] {
                // Numbers far from those of the connection.
                for (name, datagram) in rows(40_000, 50_000, 1) {
                    let Judged { left, wrong, over, refused, grown } = judge(victim, from, at, &datagram);
                    let what = format!("{name} to {victim} from {from} when {phase}");
                    assert_eq!((left, wrong, over), (0, 0, false), "{what}");
                    assert_eq!(refused, 1, "{what}");
                    assert!(grown <= 0, "{what}: {grown} bytes");
                    judged += 1;
                }
            }
        }
    }
    println!(
        "{judged} single datagrams of strangers and blind forgers: each counted once, none changed anything"
    );
}

/// The numbers that the next datagram from `from` to `to` would have.
fn next_numbers(lab: &Lab, from: SocketAddr, to: SocketAddr) -> (u16, u16) {
    let entries = lab.world.network().transcript().entries().iter().rev();
    let last = entries
        .filter(|entry| entry.kind == EntryKind::Delivered)
        .find(|entry| (entry.from, entry.to) == (from, to))
        .expect("they talk");
    let number = |at: usize| u16::from_be_bytes([last.datagram[at], last.datagram[at + 1]]);
    (number(4).wrapping_add(1), number(6))
}

#[test]
fn forger_who_knows_the_numbers_ends_nothing() {
    let mut judged = 0;
    for victim in [SERVER, 1] {
        let mut lab = Lab::new(1, LinkConfig::new(ms(30)));
        lab.world.network_mut().record(Recording::Full);
        let _ = [lab.client(ms(200)), lab.client(ms(200))];
        lab.run_until(ms(3_000));
        let (peer, own) = match victim {
            SERVER => (client_addr(1), server_addr()),
            _ => (server_addr(), client_addr(1)),
        };
        let (sequence, ack) = next_numbers(&lab, peer, own);
        let id = lab.client_at(1).client.id().expect("a seat");
        for (name, datagram) in rows(sequence, ack, id) {
            let Judged { left, wrong, over, grown, .. } = judge(victim, peer, 3_000, &datagram);
            let what = format!("{name} to {victim}");
            assert_eq!((left, wrong, over), (0, 0, false), "{what}");
            assert!(grown <= 0, "{what}: {grown} bytes");
            judged += 1;
        }
    }
    println!("{judged} datagrams with the right numbers: nobody lost a seat");
}

/// Honest players, of whom none is late or loses a seat while `attack` is called every 10 ms for two seconds.
fn attacked(lab: &mut Lab, mut attack: impl FnMut(&mut Lab, Duration)) {
    let clients = [1, 2];
    lab.run_until(ms(3_000));
    let stats = |lab: &Lab| {
        clients.map(|at| {
            let id = lab.client_at(at).client.id().expect("a seat");
            lab.server().server.input_stats(id).expect("a seat")
        })
    };
    let before = stats(lab);
    for n in 0..200 {
        lab.run_until(ms(3_000 + 10 * n));
        let now = lab.world.local_now(SERVER);
        attack(lab, now);
    }
    lab.run_until(ms(6_000));
    for (after, before) in stats(lab).into_iter().zip(before) {
        assert_eq!((after.held, after.neutral), (before.held, before.neutral), "an honest player was harmed");
        assert!(after.applied - before.applied > 175);
    }
}

fn two_players(seed: u64) -> Lab {
    let mut lab = Lab::new(seed, LinkConfig::new(ms(30)));
    let _ = [lab.client(ms(200)), lab.client(ms(200))];
    lab
}

#[test]
fn spoofed_joins_take_no_memory_no_seat_and_amplify_nothing() {
    let mut lab = two_players(2);
    let mut flood = Flood::default();
    attacked(&mut lab, |lab, now| flood.wave(lab, now, 256, |n| packet(n, 0, 1, &[])));
    let Flood { asked, answered, bytes_in, bytes_out, grown } = flood;
    println!("{asked} spoofed joins, {answered} answers, {bytes_in} bytes in, {bytes_out} out");
    assert_eq!((asked, grown), (repeats(1_000_000), 0));
    assert!(
        answered <= asked && bytes_out * 15 <= bytes_in * 16,
        "one byte more than a request, and never twice"
    );
    assert_eq!(lab.server().server.clients(), 2);
    assert_eq!(lab.server().events.len(), 2);
}

#[test]
fn blind_proofs_from_many_addresses_take_no_seat() {
    let mut lab = two_players(3);
    let mut sent = 0_u32;
    attacked(&mut lab, |lab, now| {
        let server = &mut lab.server_mut().server;
        for n in 0..1_000_u16 {
            sent += 1;
            let spoofed = SocketAddr::from(((0x0B00_0000 + sent).to_be_bytes(), 7));
            server.handle_datagram(now, spoofed, &packet(n, n.wrapping_mul(37), 9, &[]));
        }
    });
    let seated =
        lab.server().events.iter().filter(|event| matches!(event, ServerEvent::Joined { .. })).count() - 2;
    println!("{sent} blind proofs took {seated} seats");
    assert_eq!((seated, lab.server().server.clients()), (0, 2));
}

#[test]
fn flood_from_a_seated_address_changes_no_other_match() {
    let mut lab = two_players(4);
    lab.world.network_mut().record(Recording::Full);
    let flooder = SocketAddr::from(([192, 0, 2, 7], 7));
    let mut refused = 0;
    let rows = rows(1, 1, 1);
    attacked(&mut lab, |lab, now| {
        let server = &mut lab.server_mut().server;
        for _ in 0..100 {
            for (_, datagram) in &rows {
                server.handle_datagram(now, flooder, datagram);
                refused += 1;
            }
        }
    });
    assert!(lab.server().server.stats().refused.total() >= refused);
}

#[test]
fn acknowledgements_of_nothing_are_refused() {
    let mut lab = two_players(5);
    lab.world.network_mut().record(Recording::Full);
    lab.run_until(ms(3_000));
    let (sequence, ack) = next_numbers(&lab, client_addr(1), server_addr());
    let now = lab.world.local_now(SERVER);
    let server = &mut lab.server_mut().server;
    let before = server.stats().refused.of(Refusal::AckUnsent);
    for ahead in [3_u16, 100, 10_000, 40_000] {
        server.handle_datagram(now, client_addr(1), &packet(sequence, ack.wrapping_add(ahead), 9, &[]));
    }
    assert_eq!(server.stats().refused.of(Refusal::AckUnsent) - before, 4);
}

#[test]
fn sequence_numbers_wrap_without_effect() {
    // 62 packets a second: 65,536 of them take 18 minutes.
    let mut lab = Lab::new(6, LinkConfig::new(ms(30)));
    let client = lab.client(ms(200));
    lab.client_mut(client).keeps = false;
    lab.server_mut().keeps_history = false;
    lab.run_until(ms(10_000));
    let id = lab.client_at(client).client.id().unwrap();
    let before = lab.server().server.input_stats(id).unwrap();
    lab.run_until(Duration::from_secs(60 * 19));
    let after = lab.server().server.input_stats(id).unwrap();
    assert!(lab.client_at(client).client.stats().datagrams_out > 66_000);
    assert_eq!((after.held, after.neutral), (before.held, before.neutral));
    assert_eq!(lab.server().server.stats().refused.total(), 0);
}

#[test]
fn damaged_traffic_never_panics_or_stops_the_service() {
    let mut served = 0;
    for seed in 1..=20 {
        let link = LinkConfig {
            corrupt: Chance::percent(30),
            truncate: Chance::percent(10),
            duplicate: Chance::percent(20),
            jitter: ms(40),
            ..LinkConfig::new(ms(30))
        };
        let mut lab = Lab::new(seed, link);
        let _ = [lab.client(ms(200)), lab.client(ms(300))];
        lab.run_until(ms(20_000));
        assert!(lab.server().server.stats().refused.total() > 100);
        // Somebody may have lost a seat to a damaged datagram; the server serves whoever comes now.
        let newcomer = lab.client(ms(20_100));
        lab.world.network_mut().set_links(SERVER, newcomer, LinkConfig::new(ms(30)));
        lab.run_until(ms(24_000));
        served += usize::from(lab.client_at(newcomer).client.predicted().is_some());
    }
    assert_eq!(served, 20);
}

#[test]
fn blind_guesses_from_a_players_address_end_nothing() {
    let mut lab = two_players(7);
    lab.run_until(ms(3_000));
    let id = lab.client_at(1).client.id().expect("a seat");
    let before = lab.server().server.input_stats(id).expect("a seat");
    let (mut guess, mut taken) = (0x1234_5678_u32, 0);
    for n in 0..200 {
        lab.run_until(ms(3_000 + 10 * n));
        let now = lab.world.local_now(SERVER);
        let server = &mut lab.server_mut().server;
        for _ in 0..repeats(5_000) {
            guess = guess.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let (sequence, ack) = ((guess >> 16) as u16, (guess.wrapping_mul(0x9E37_79B9) >> 16) as u16);
            let refused = server.stats().refused.total();
            let kind = if guess & 0x100 == 0 { 3 } else { 4 };
            let payload = if kind == 3 { Vec::new() } else { input(guess, 0.1, 0.1) };
            server.handle_datagram(now, client_addr(1), &packet(sequence, ack, kind, &payload));
            taken += u64::from(server.stats().refused.total() == refused);
        }
    }
    lab.run_until(ms(7_000));
    let after = lab.server().server.input_stats(id).expect("the seat is kept");
    let late = after.held + after.neutral - before.held - before.neutral;
    println!("{} blind guesses: {taken} taken, {late} inputs late, nobody left", repeats(1_000_000));
    assert!(taken < 20 && late < 60 * (taken + 1), "{taken} taken, {late} late");
    assert_eq!(lab.server().server.clients(), 2);
}
