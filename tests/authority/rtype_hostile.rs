//! The hostile suite on R-Type, whose only secret is a sequence number of 16 bits.

use crate::flood::Flood;
use crate::lab::{Lab, SERVER, client_addr, ms, server_addr};
use rebout::Protocol;
use rebout::authority::{RtypeWire, ServerEvent};
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::sim::{EntryKind, Recording};
use std::net::SocketAddr;
use std::time::Duration;
use support::{heap, repeats};

/// Datagrams of a forger who knows the next number of the connection, or guesses it, and names packet `named`.
fn rows(sequence: u16, named: u16, id: u8) -> Vec<(&'static str, Vec<u8>)> {
    let [s0, s1] = sequence.to_be_bytes();
    let [n0, n1] = named.to_be_bytes();
    let of = |opcode: u8, flags: u8, payload: &[u8]| [&[opcode, flags, s0, s1][..], payload].concat();
    vec![
        ("empty", Vec::new()),
        ("one byte", vec![0x31]),
        ("a cut header", vec![0x50, 0, s0]),
        ("zeros", vec![0; 256]),
        ("longer than 256", vec![0x50; 257]),
        ("as long as a datagram can be", vec![0x31; 1_200]),
        ("GAME", b"GAME\0\0\0\0\0\0\0\0\x01\0\0".to_vec()),
        ("opcode 0", of(0, 0, &[])),
        ("opcode FF", of(0xFF, 1, &[1, 2, 3])),
        ("reserved flags", of(0x50, 0x80, &[])),
        ("an ACK that asks for an ACK", of(0x01, 1, &[n0, n1])),
        ("an ACK of nothing", of(0x01, 0, &[n0 ^ 0x40, n1])),
        ("an ACK", of(0x01, 0, &[n0, n1])),
        ("a NACK", of(0x02, 0, &[n0, n1])),
        ("a NACK of nothing", of(0x02, 0, &[n0 ^ 0x40, n1])),
        ("a NACK that asks for an ACK", of(0x02, 1, &[n0, n1])),
        ("a WELCOME", of(0x11, 1, &[9, 0, 0, 0, 1])),
        ("PLAYER_LEAVE", of(0x12, 1, &[])),
        ("PLAYER_LEFT", of(0x13, 1, &[id])),
        ("PLAYER_LEFT of nobody", of(0x13, 1, &[200])),
        ("an input", of(0x20, 0, &[0x05])),
        ("an input that asks for an ACK", of(0x20, 1, &[0x05])),
        ("an input with reserved bits", of(0x20, 0, &[0xFF])),
        ("a cut input", of(0x20, 0, &[])),
        ("a SPAWN of an id beyond all", of(0x30, 1, &[0xFF, 0xFF, 1, 0, 1, 0, 1])),
        ("a SPAWN of the own ship", of(0x30, 1, &[0, id, 1, 0, 1, 0, 1])),
        ("an update of nobody", of(0x31, 0, &[0x03, 0x10, 0x01, 0x90, 0, 0x50])),
        ("an update of the own ship", of(0x31, 0, &[0, id, 0, 1, 0, 1])),
        ("a DESTROY of nobody", of(0x32, 1, &[0xFF, 0xFE])),
        ("a HIT", of(0x40, 1, &[0, id, 255])),
        ("HEARTBEAT", of(0x50, 0, &[])),
    ]
}

const PHASES: [(&str, u64); 4] = [("empty", 100), ("asking", 220), ("proving", 282), ("playing", 3_000)];

fn lab(seed: u64) -> Lab<RtypeWire> {
    let mut lab = Lab::speaking(RtypeWire, seed, LinkConfig::new(ms(30)));
    let _ = [lab.client(ms(200)), lab.client(ms(200))];
    lab
}

fn left(lab: &Lab<RtypeWire>) -> usize {
    lab.server().events.iter().filter(|event| matches!(event, ServerEvent::Left { .. })).count()
}

fn refused(lab: &Lab<RtypeWire>, victim: usize) -> u64 {
    match victim {
        SERVER => lab.server().server.stats().refused.total(),
        client => lab.client_at(client).client.stats().refused.total(),
    }
}

/// How far the own players are from where the server has them, once everybody stands still.
fn apart(lab: &Lab<RtypeWire>) -> f32 {
    let distance = |at: usize| {
        let client = &lab.client_at(at).client;
        let truth = client.id().and_then(|id| lab.server().server.body(id).copied());
        client.predicted().zip(truth).map_or(f32::MAX, |(body, truth)| body.distance(&truth))
    };
    distance(1).max(distance(2))
}

/// Two players; one datagram comes in one phase; they play on for two seconds, and stand still for two more. Returns how many
/// left, how far the players are from the truth, how many datagrams were refused, and how many bytes the heap grew.
fn judge(victim: usize, from: SocketAddr, at: u64, datagram: &[u8]) -> (usize, f32, u64, i64) {
    let mut lab = lab(1);
    lab.run_until(ms(at));
    let (before, now, heap) = (refused(&lab, victim), lab.world.local_now(victim), heap::live());
    match victim {
        SERVER => lab.server_mut().server.handle_datagram(now, from, datagram),
        client => lab.client_mut(client).client.handle_datagram(now, from, datagram),
    }
    let (grown, refused) = (heap::live() - heap, refused(&lab, victim) - before);
    lab.run_until(ms(at.max(500) + 2_000));
    for client in [1, 2] {
        lab.client_mut(client).input_source = |_, _| rebout::authority::Command::NEUTRAL;
    }
    lab.run_until(ms(at.max(500) + 4_000));
    (left(&lab), apart(&lab), refused, grown)
}

#[test]
fn single_datagram_of_a_blind_forger_changes_nothing() {
    let mut judged = 0;
    for (phase, at) in PHASES {
        for victim in [SERVER, 1] {
            let peer = if victim == SERVER { client_addr(1) } else { server_addr() };
            for from in [peer, SocketAddr::from(([192, 0, 2, 9], 9))] {
                for (name, datagram) in rows(40_000, 50_000, 1) {
                    let (left, apart, refused, grown) = judge(victim, from, at, &datagram);
                    let what = format!("{name} to {victim} from {from} when {phase}");
                    // A client that has asked takes the first WELCOME, because nothing in it names the HELLO. It asks
                    // again half a second later, when nobody has taken its proof.
                    let is_taken = name == "a WELCOME" && phase == "asking" && victim == 1 && from == peer;
                    assert_eq!((left, refused), (0, u64::from(!is_taken)), "{what}");
                    assert!(apart <= 1.0, "{what}: {apart} units apart");
                    assert!(grown <= 0, "{what}: {grown} bytes");
                    judged += 1;
                }
            }
        }
    }
    println!("{judged} single datagrams: each refused, none changed anything");
}

#[test]
fn forger_who_knows_the_numbers_ends_nothing() {
    for victim in [SERVER, 1] {
        let mut recorded = lab(1);
        recorded.world.network_mut().record(Recording::Full);
        recorded.run_until(ms(3_000));
        let (peer, own) = match victim {
            SERVER => (client_addr(1), server_addr()),
            _ => (server_addr(), client_addr(1)),
        };
        let entries = recorded.world.network().transcript().entries();
        let newest = |from, to| {
            let delivered = entries.iter().rev().filter(|entry| entry.kind == EntryKind::Delivered);
            let last =
                delivered.into_iter().find(|entry| (entry.from, entry.to) == (from, to)).expect("they talk");
            u16::from_be_bytes([last.datagram[2], last.datagram[3]])
        };
        let (sequence, named) = (newest(peer, own).wrapping_add(1), newest(own, peer));
        let id = recorded.client_at(1).client.id().expect("a seat");
        for (name, datagram) in rows(sequence, named, id) {
            let (left, apart, _, grown) = judge(victim, peer, 3_000, &datagram);
            assert_eq!(left, 0, "{name} to {victim}");
            assert!(apart <= 1.0, "{name} to {victim}: {apart} units apart");
            assert!(grown <= 0, "{name} to {victim}: {grown} bytes");
        }
    }
}

/// Honest players, of whom none loses a seat while `attack` is called every 10 ms for two seconds.
fn attacked(lab: &mut Lab<RtypeWire>, mut attack: impl FnMut(&mut Lab<RtypeWire>, Duration)) {
    for n in 0..200 {
        lab.run_until(ms(3_000 + 10 * n));
        let now = lab.world.local_now(SERVER);
        attack(lab, now);
    }
    for client in [1, 2] {
        lab.client_mut(client).input_source = |_, _| rebout::authority::Command::NEUTRAL;
    }
    lab.run_until(ms(8_000));
    assert_eq!((lab.server().server.clients(), left(lab)), (2, 0));
    assert!(apart(lab) <= 1.0, "{} units apart", apart(lab));
}

#[test]
fn forged_hellos_take_no_memory_and_no_seat() {
    let mut lab = lab(2);
    let mut flood = Flood::default();
    attacked(&mut lab, |lab, now| {
        flood.wave(lab, now, 100, |n| {
            let [s0, s1] = n.to_be_bytes();
            vec![0x10, 1, s0, s1, 1, b'x']
        });
    });
    let Flood { asked, answered, bytes_in, bytes_out, grown } = flood;
    println!("{asked} forged HELLOs, {answered} answers, {bytes_in} bytes in, {bytes_out} out");
    assert_eq!((asked, grown), (repeats(1_000_000), 0));
    assert!(
        answered <= 2 * asked && bytes_out <= 15 * asked as usize,
        "an ACK and a WELCOME, and never twice"
    );
    assert_eq!(lab.server().events.len(), 2);
}

#[test]
fn blind_proofs_from_many_addresses_take_no_seat() {
    let mut lab = lab(3);
    let mut sent = 0_u32;
    for n in 0..200 {
        lab.run_until(ms(3_000 + 10 * n));
        let now = lab.world.local_now(SERVER);
        for n in 0..1_000_u16 {
            sent += 1;
            let spoofed = SocketAddr::from(((0x0B00_0000 + sent).to_be_bytes(), 7));
            let [n0, n1] = n.wrapping_mul(37).to_be_bytes();
            lab.server_mut().server.handle_datagram(now, spoofed, &[1, 0, 0, 9, n0, n1]);
        }
    }
    let joined = lab.server().events.iter().filter(|event| matches!(event, ServerEvent::Joined { .. }));
    let seated = joined.count() - 2;
    println!("{sent} blind proofs took {seated} seats");
    assert_eq!((seated, lab.server().server.clients()), (0, 2));
}

#[test]
fn flood_from_a_stranger_changes_no_match() {
    let mut lab = lab(4);
    let flooder = SocketAddr::from(([192, 0, 2, 7], 7));
    let rows = rows(1, 1, 1);
    let (mut sent, mut answered, mut buf) = (0, 0, [0; 1_200]);
    attacked(&mut lab, |lab, now| {
        let server = &mut lab.server_mut().server;
        for (_, datagram) in rows.iter().cycle().take(3_000) {
            server.handle_datagram(now, flooder, datagram);
            sent += 1;
        }
        while let Some((to, _)) = server.poll_transmit(now, &mut buf) {
            answered += u32::from(to == flooder);
        }
    });
    assert_eq!(answered, 0, "only a HELLO is answered");
    assert!(lab.server().server.stats().refused.total() >= sent);
}

/// A tenth of the guesses of GAME's test: a number of 16 bits is all that there is to guess.
#[test]
fn blind_guesses_from_a_players_address_end_nothing() {
    let mut lab = lab(7);
    let (mut guess, mut taken) = (0x1234_5678_u32, 0);
    attacked(&mut lab, |lab, now| {
        let server = &mut lab.server_mut().server;
        for _ in 0..500 {
            guess = guess.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let [s0, s1] = ((guess >> 16) as u16).to_be_bytes();
            let before = server.stats().refused.total();
            let datagram = match guess & 0x300 {
                0 => vec![0x12, 1, s0, s1],
                0x100 => vec![0x99, 0, s0, s1],
                0x200 => vec![0x01, 0, s0, s1, (guess >> 8) as u8, guess as u8],
                _ => vec![0x20, 0, s0, s1, 0x09],
            };
            server.handle_datagram(now, client_addr(1), &datagram);
            taken += server.stats().refused.total().abs_diff(before + 1);
        }
    });
    println!("100,000 blind guesses: {taken} taken, nobody left");
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
        let mut lab = Lab::speaking(RtypeWire, seed, link);
        let _ = [lab.client(ms(200)), lab.client(ms(300))];
        lab.run_until(ms(20_000));
        assert!(lab.server().server.stats().refused.total() > 20);
        let newcomer = lab.client(ms(20_100));
        lab.world.network_mut().set_links(SERVER, newcomer, LinkConfig::new(ms(30)));
        lab.run_until(ms(24_000));
        served += usize::from(lab.client_at(newcomer).client.predicted().is_some());
    }
    assert_eq!(served, 20);
}

#[test]
fn sequence_numbers_wrap_without_effect() {
    // 60 packets a second: 65,536 of them take 18 minutes, and three times as many a server's.
    let mut lab = lab(6);
    for client in [1, 2] {
        lab.client_mut(client).keeps = false;
    }
    lab.server_mut().keeps_history = false;
    lab.run_until(Duration::from_secs(60 * 19));
    assert!(lab.client_at(1).client.stats().datagrams_out > 66_000);
    assert_eq!((lab.server().server.stats().refused.total(), left(&lab)), (0, 0));
    let stats = lab.client_at(1).client.stats().prediction;
    assert!(stats.exact * 1_000 > stats.compared * 999, "{stats:?}");
}
