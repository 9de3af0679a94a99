//! The layout of rendezvous packets: golden bytes both ways, exact lengths, and every refusal by its name.

use proptest::prelude::*;
use rebout::lab::wire::rendezvous::{
    ASK_LEN, Answer, Ask, Cookie, DecodeError, Deliver, Denial, GRANT_LEN, Grant, MAX_LEN, Outcome, Packet,
    Post, REGISTER_LEN, Register, Reply, SIGNAL_LEN, TurnGrant, decode, encode, request_nonce, signed_text,
};
use std::net::SocketAddr;

const NONCE: u64 = 0x1122_3344_5566_7788;
const COOKIE: u64 = 0xC1C2_C3C4_C5C6_C7C8;
const GUEST: u64 = 0xD1D2_D3D4_D5D6_D7D8;
const TICKET: u64 = 0x7172_7374_7576_7778;

fn bytes(packet: &Packet<'_>) -> Vec<u8> {
    let mut buf = [0xFF; MAX_LEN];
    let len = encode(packet, &mut buf).unwrap();
    buf[..len].to_vec()
}

fn signal(first: u8, len: usize) -> Vec<u8> {
    [vec![first], vec![0x55; len - 1]].concat()
}

fn turn(server: &str) -> TurnGrant {
    TurnGrant {
        server: server.parse().unwrap(),
        expiry: 0x6553_F100,
        valid_secs: 600,
        id: [1, 2, 3, 4, 5, 6],
        password: [9; 20],
    }
}

/// Each packet with its golden bytes.
fn golden<'a>(init: &'a [u8], resp: &'a [u8]) -> Vec<(Packet<'a>, Vec<u8>)> {
    let request = |first: u8| [&[first, 1][..], &NONCE.to_be_bytes(), &COOKIE.to_be_bytes()].concat();
    let (nonce, cookie, ticket, guest) = (NONCE, COOKIE, TICKET, GUEST);
    let [n, c, t, g] = [nonce, cookie, ticket, guest].map(u64::to_be_bytes);
    let register = Register { nonce, cookie, key: [3; 32], ticket, signature: [4; 64] };
    let observed: SocketAddr = "192.0.2.7:7000".parse().unwrap();
    let mapped = [&[0; 10][..], &[0xFF, 0xFF, 192, 0, 2, 7, 0x1B, 0x58]].concat();
    let turned = turn("[2001:db8::9]:3478");
    let relay = [&[0x20, 1, 0x0D, 0xB8][..], &[0; 11], &[9, 0x0D, 0x96], &[0x65, 0x53, 0xF1, 0], &[2, 0x58]];
    let relay = [relay.concat(), vec![1, 2, 3, 4, 5, 6], vec![9; 20]].concat();
    let grant = |turn| Packet::Grant(Grant { nonce, observed, ticket, turn });
    let reply = |outcome| Packet::Reply(Reply { nonce, outcome });
    vec![
        (Packet::Register(register), [&request(0xE8)[..], &[3; 32], &t, &[4; 64]].concat()),
        (
            Packet::Ask(Ask { nonce, cookie, room: [5; 16] }),
            [&request(0xE9)[..], &[5; 16], &[0; 54]].concat(),
        ),
        (
            Packet::Post(Post { nonce, cookie, room: [5; 16], signal: init }),
            [&request(0xEA)[..], &[5; 16], init].concat(),
        ),
        (Packet::Answer(Answer { guest, signal: resp }), [&[0xEB, 1][..], &g, resp].concat()),
        (Packet::Cookie(Cookie { nonce, cookie, observed }), [&[0xEC][..], &n, &c, &mapped].concat()),
        (grant(None), [&[0xED][..], &n, &mapped, &t, &[0; 50]].concat()),
        (grant(Some(turned)), [&[0xED][..], &n, &mapped, &t, &relay].concat()),
        (Packet::Deliver(Deliver { nonce, guest, signal: init }), [&[0xEE][..], &n, &g, init].concat()),
        (reply(Outcome::Posted), [&[0xEF][..], &n, &[0]].concat()),
        (reply(Outcome::Answered(resp)), [&[0xEF][..], &n, &[1], resp].concat()),
        (reply(Outcome::Refused(Denial::Full)), [&[0xEF][..], &n, &[2]].concat()),
        (reply(Outcome::Refused(Denial::Signature)), [&[0xEF][..], &n, &[3]].concat()),
        (reply(Outcome::Refused(Denial::Version)), [&[0xEF][..], &n, &[4]].concat()),
        (reply(Outcome::Refused(Denial::Busy)), [&[0xEF][..], &n, &[5]].concat()),
        (reply(Outcome::Refused(Denial::Held)), [&[0xEF][..], &n, &[6]].concat()),
    ]
}

#[test]
fn packets_are_their_golden_bytes_both_ways() {
    let (init, resp) = (signal(0xE2, 333), signal(0xE3, 309));
    for (packet, golden) in golden(&init, &resp) {
        assert_eq!(bytes(&packet), golden, "{packet:?}");
        assert_eq!(decode(&golden), Ok(packet));
        let is_request = golden[0] <= 0xEA;
        assert_eq!(request_nonce(&golden), is_request.then_some(NONCE));
        let mut small = vec![0; golden.len() - 1];
        assert_eq!(encode(&packet, &mut small), None, "a buffer that is too small gets no packet");
    }
}

/// A SIGNAL of a connection that exists travels in each place of a handshake; no other control packet does.
#[test]
fn sealed_signals_are_carried_and_other_control_packets_not() {
    let mut signal = signal(0xE7, 280);
    for kind in 0..=255 {
        signal[7] = kind;
        for (packet, golden) in golden(&signal, &signal) {
            let carries = golden.len() > 280;
            let expected = if !carries || kind == 7 { Ok(packet) } else { Err(DecodeError::Signal) };
            assert_eq!(decode(&golden), expected, "kind {kind}");
        }
    }
}

#[test]
fn answers_are_at_most_as_long_as_their_requests() {
    let (init, resp) = (signal(0xE2, 333), signal(0xE3, 309));
    let lens: Vec<usize> = golden(&init, &resp).iter().map(|(_, bytes)| bytes.len()).collect();
    let [register, ask, post, answer, cookie, grant, _, deliver, posted, answered, ..] = lens[..] else {
        panic!()
    };
    assert_eq!([register, ask, grant], [REGISTER_LEN, ASK_LEN, GRANT_LEN]);
    assert!(cookie < ask && grant < ask && grant < register && posted + cookie < register);
    assert!(deliver + posted <= post && answered <= answer);
}

#[test]
fn lengths_are_exact() {
    let (init, resp) = (signal(0xE2, 333), signal(0xE3, 309));
    for (packet, golden) in golden(&init, &resp) {
        let has_signal = golden.len() > 300;
        for len in 0..golden.len() {
            let cut = decode(&golden[..len]);
            // A shorter INIT or RESP is one too.
            assert!(cut != Ok(packet) && (has_signal || cut.is_err()), "{packet:?} cut to {len}");
        }
        let longer = [&golden[..], &[0; 400]].concat();
        assert_eq!(decode(&longer[..golden.len() + 1]).is_ok(), has_signal);
        assert_eq!(decode(&longer), Err(DecodeError::Length));
    }
}

#[test]
fn every_refusal_has_a_name() {
    let (init, resp) = (signal(0xE2, 333), signal(0xE3, 309));
    let packets = golden(&init, &resp);
    let changed = |index: usize, at: usize, byte: u8| {
        let mut bytes = packets[index].1.clone();
        bytes[at] = byte;
        decode(&bytes).unwrap_err()
    };
    let cookie_0 = [&[0xEC][..], &NONCE.to_be_bytes(), &[0; 26]].concat();
    let mut no_port = packets[6].1.clone();
    no_port[51..53].fill(0);
    let cases = [
        (decode(b"").unwrap_err(), "rendezvous-first"),
        (changed(0, 0, 0xE7), "rendezvous-first"),
        (changed(0, 0, 0xF0), "rendezvous-first"),
        (changed(0, 1, 2), "rendezvous-version"),
        (changed(3, 1, 0), "rendezvous-version"),
        (changed(1, 87, 1), "rendezvous-padding"),
        (changed(1, 34, 1), "rendezvous-padding"),
        (changed(2, 34, 0xE3), "rendezvous-signal"),
        (changed(3, 10, 0xE2), "rendezvous-signal"),
        (changed(7, 17, 0x52), "rendezvous-signal"),
        (changed(9, 10, 0xE2), "rendezvous-signal"),
        (changed(8, 9, 7), "rendezvous-outcome"),
        (changed(9, 9, 0), "rendezvous-length"),
        (decode(&cookie_0).unwrap_err(), "rendezvous-cookie"),
        (decode(&no_port).unwrap_err(), "rendezvous-turn"),
    ];
    for (error, rule) in cases {
        assert_eq!(error.rule(), rule, "{error}");
        assert!(!error.to_string().is_empty());
    }
}

#[test]
fn signature_covers_domain_cookie_ticket_and_address() {
    let text = signed_text(COOKIE, TICKET, "192.0.2.7:7000".parse().unwrap());
    assert_eq!(text[..13], *b"rebout room 1");
    assert_eq!(text[13..29], [COOKIE.to_be_bytes(), TICKET.to_be_bytes()].concat());
    assert_eq!(text[29..], [&[0; 10][..], &[0xFF, 0xFF, 192, 0, 2, 7, 0x1B, 0x58]].concat());
}

fn address() -> impl Strategy<Value = SocketAddr> {
    let v4 = (any::<[u8; 4]>(), any::<u16>()).prop_map(SocketAddr::from);
    let v6 = (any::<[u8; 16]>(), any::<u16>()).prop_map(|addr| rebout::canonical(SocketAddr::from(addr)));
    prop_oneof![v4, v6]
}

proptest! {
    #[test]
    fn any_grant_comes_back(
        nonce in any::<u64>(), observed in address(), ticket in any::<u64>(), server in address(),
        expiry in any::<u32>(), valid_secs in any::<u16>(), id in any::<[u8; 6]>(), password in any::<[u8; 20]>(),
        has_turn in any::<bool>(),
    ) {
        prop_assume!(server.port() != 0);
        let turn = has_turn.then_some(TurnGrant { server, expiry, valid_secs, id, password });
        let packet = Packet::Grant(Grant { nonce, observed, ticket, turn });
        let datagram = bytes(&packet);
        prop_assert_eq!(decode(&datagram), Ok(packet));
    }

    #[test]
    fn any_signal_comes_back(len in SIGNAL_LEN, nonce in any::<u64>(), fill in any::<u8>()) {
        let init = [vec![0xE2], vec![fill; len - 1]].concat();
        let packet = Packet::Deliver(Deliver { nonce, guest: GUEST, signal: &init });
        let datagram = bytes(&packet);
        prop_assert_eq!(decode(&datagram), Ok(packet));
    }

    /// Whatever decodes is written as the same bytes again: there is one form of each packet.
    #[test]
    fn decoding_never_panics_and_has_one_form(
        noise in proptest::collection::vec(any::<u8>(), 0..450), which in 0_usize..15, keep in 0_usize..450,
        genuine in any::<bool>(), at in any::<prop::sample::Index>(), byte in any::<u8>(),
    ) {
        let (init, resp) = (signal(0xE2, 333), signal(0xE3, 309));
        let mut datagram = noise;
        if genuine {
            datagram = golden(&init, &resp)[which].1.clone();
            let index = at.index(datagram.len());
            datagram[index] = byte;
            datagram.truncate(keep.max(1));
        } else if let Some(first) = datagram.first_mut() {
            *first = 0xE8 | *first & 7;
        }
        let _ = request_nonce(&datagram);
        if let Ok(packet) = decode(&datagram) {
            prop_assert_eq!(bytes(&packet), datagram);
        }
    }
}

const VECTORS: &str = include_str!("../../docs/vectors/rendezvous.txt");

/// A block of the file.
fn block(name: &str) -> Vec<u8> {
    let (_, rest) = VECTORS.split_once(&format!("[rendezvous-{name}]\n")).expect("the block is in the file");
    let lines = rest.split("\n\n").next().unwrap().lines().map(|line| line.split(';').next().unwrap());
    lines.flat_map(str::split_whitespace).map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

/// `tests/vectors.rs` computes these blocks without this crate.
#[test]
fn vectors_are_the_bytes_that_the_code_writes() {
    let [mut init, mut resp] = [[0; 53]; 2];
    (init[0], resp[0]) = (0xE2, 0xE3);
    let Ok(Packet::Register(register)) = decode(&block("register")) else { panic!() };
    let Ok(Packet::Ask(Ask { room, .. })) = decode(&block("ask")) else { panic!() };
    let Ok(Packet::Grant(Grant { turn: Some(granted), .. })) = decode(&block("grant")) else { panic!() };
    let (nonce, cookie, ticket, guest) = (NONCE, COOKIE, TICKET, GUEST);
    let observed = "192.0.2.7:7000".parse().unwrap();
    let id = [1, 2, 3, 4, 5, 0xFF];
    let turn =
        TurnGrant { expiry: 1_700_000_000, id, password: granted.password, ..turn("[2001:db8::9]:3478") };
    for (name, packet) in [
        ("register", Packet::Register(Register { nonce, cookie, ticket, ..register })),
        ("ask", Packet::Ask(Ask { nonce, cookie, room })),
        ("post", Packet::Post(Post { nonce, cookie, room, signal: &init })),
        ("answer", Packet::Answer(Answer { guest, signal: &resp })),
        ("cookie", Packet::Cookie(Cookie { nonce, cookie, observed })),
        ("grant", Packet::Grant(Grant { nonce, observed, ticket, turn: Some(turn) })),
        ("deliver", Packet::Deliver(Deliver { nonce, guest, signal: &init })),
        ("posted", Packet::Reply(Reply { nonce, outcome: Outcome::Posted })),
        ("answered", Packet::Reply(Reply { nonce, outcome: Outcome::Answered(&resp) })),
    ] {
        assert_eq!(bytes(&packet), block(name), "{name}");
    }
}
