//! Every block of `docs/vectors/match.txt` and `docs/vectors/rtype.txt` has the bytes that the code sends, and every hash of
//! `docs/vectors/simhash.txt` is the one that the code computes.

use core::time::Duration;
use rebout::lab::wire::message::{
    FirstStateAck, FirstStatePart, Leaving, LeavingWhy, Message, Ordered, Pause, PauseStep, Refuse,
    RefuseField, Resume, Resync,
};
use rebout::wire::Packet;
use rebout::wire::WireFrame;
use rebout::wire::control::{ControlHeader, ControlPacket, ControlPayload};
use rebout::wire::rbn1::{Checksum, Flags, InputHeader, InputPacket};
use rebout::wire::rtype::{InputFlags, RtypeHeader, RtypePacket, RtypePayload};
use rebout::{
    Buttons, Config, Cues, Game, Inputs, Lobby, MAX_DATAGRAM, Player, Protocol, Session, SimHash, checksum,
    fields,
};
use std::collections::BTreeMap;
use std::net::SocketAddr;

const VECTORS: [&str; 2] =
    [include_str!("../../docs/vectors/match.txt"), include_str!("../../docs/vectors/rtype.txt")];

/// The head of a log is held by `tests/session/resumption.rs`.
const HELD_ELSEWHERE: &str = "rejoin-log-head";

/// The blocks of the files by name, each with its lines.
fn blocks() -> BTreeMap<String, Vec<String>> {
    let parts = VECTORS.iter().flat_map(|file| file.split("\n\n"));
    let blocks = parts.filter_map(|part| part.strip_prefix('[')?.split_once("]\n"));
    blocks.map(|(name, body)| (name.to_owned(), body.lines().map(str::to_owned).collect())).collect()
}

/// Bytes in hex; what comes after a semicolon is for the reader.
fn bytes_of(lines: &[String]) -> Vec<u8> {
    let bytes = lines.iter().flat_map(|line| line.split(';').next().unwrap().split_whitespace());
    bytes.map(|byte| u8::from_str_radix(byte, 16).unwrap_or_else(|_| panic!("{byte:?} is no byte"))).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.chunks(16).map(|line| line.iter().map(|b| format!("{b:02X} ")).collect::<String>() + "\n").collect()
}

// The match of the vectors: Ada hosts at 192.0.2.1:7001, Bob joins from 192.0.2.2:7002, ten milliseconds away.

#[derive(Clone, Copy)]
struct Count {
    at: u32,
}
fields!(Count { at });

impl Game for Count {
    fn step(&mut self, inputs: Inputs, _: &mut Cues) {
        self.at += u32::from(inputs[Player::One].buttons().0 + inputs[Player::Two].buttons().0);
    }

    fn finished(&self) -> bool {
        self.at >= 40
    }
}

// There are two of these.
#[allow(clippy::large_enum_variant)]
enum Machine {
    Lobby(Option<Lobby>),
    Match(Session<Count>, Count),
}

impl Machine {
    fn protocol(&mut self) -> &mut dyn Protocol {
        match self {
            Self::Lobby(lobby) => lobby.as_mut().expect("not started yet"),
            Self::Match(session, _) => session,
        }
    }

    /// Starts the match when there is one, and plays what is due.
    fn turn(&mut self, now: Duration, buttons: Buttons) {
        if let Self::Lobby(lobby) = self
            && lobby.as_ref().unwrap().agreed().unwrap().is_some()
        {
            let game = Count { at: 0 };
            *self = Self::Match(lobby.take().unwrap().start(now, &game).unwrap(), game);
        }
        if let Self::Match(session, game) = self {
            while session.frame_due(now) {
                session.advance(now, game, buttons);
            }
        }
    }
}

fn addrs() -> [SocketAddr; 2] {
    [([192, 0, 2, 1], 7001).into(), ([192, 0, 2, 2], 7002).into()]
}

fn config(entropy: u64, delay_frames: u8, user_data: &[u8]) -> Config {
    Config::new(0x6475_656C).with(|config| {
        config.game.content_hash = 0x0123_4567_89AB_CDEF;
        config.rollback.delay_frames = Some(delay_frames);
        config.lobby.seed = Some(42);
        config.lobby.user_data = user_data.to_vec();
        config.lobby.entropy = Some(entropy);
    })
}

/// Every datagram of the match, in order: when, from whom, what.
fn transcript() -> Vec<(Duration, usize, Vec<u8>)> {
    let latency = Duration::from_millis(10);
    let host = Lobby::host(config(1, 2, b"Ada")).unwrap();
    let join = Lobby::join(config(2, 1, b"Bob"), addrs()[0]).unwrap();
    let mut machines = [Machine::Lobby(Some(host)), Machine::Lobby(Some(join))];
    let mut sent: Vec<(Duration, usize, Vec<u8>)> = Vec::new();
    let mut arrived = 0;
    let mut buf = [0; MAX_DATAGRAM];
    for millis in 1..600 {
        let now = Duration::from_millis(millis);
        while let Some((at, from, bytes)) = sent.get(arrived)
            && *at + latency <= now
        {
            machines[1 - from].protocol().handle_datagram(now, addrs()[*from], bytes);
            arrived += 1;
        }
        for (at, machine) in machines.iter_mut().enumerate() {
            machine.turn(now, Buttons([1, 2][at]));
            while let Some((_, len)) = machine.protocol().poll_transmit(now, &mut buf) {
                sent.push((now, at, buf[..len].to_vec()));
            }
        }
    }
    sent
}

/// The datagrams of the match that are vectors, by the name of their block.
fn shown() -> BTreeMap<String, Vec<u8>> {
    let sent = transcript();
    let mut shown = BTreeMap::new();
    let mut keep = |name: &str, wanted: &dyn Fn(&Packet<'_>) -> bool, from: usize, skip: usize| {
        let found = sent
            .iter()
            .filter(|(_, by, bytes)| *by == from && wanted(&Packet::decode(bytes, Flags::ALL).unwrap()))
            .nth(skip);
        shown.insert(name.to_owned(), found.unwrap_or_else(|| panic!("no {name}")).2.clone());
    };
    let kind = |kind: u8| move |packet: &Packet<'_>| matches!(packet, Packet::Game(p) if p.payload.packet_type() as u8 == kind);
    let message = |byte: u8| move |packet: &Packet<'_>| matches!(packet, Packet::Game(p) if matches!(p.payload, ControlPayload::ReliableEvent(m) if m[0] == byte));
    keep("hello", &message(1), 1, 0);
    keep("challenge", &message(2), 0, 0);
    keep("hello-with-cookie", &message(1), 1, 1);
    keep("offer", &message(3), 0, 0);
    keep("connect-req", &kind(1), 1, 0);
    keep("connect-ack", &kind(2), 0, 0);
    keep("ping", &kind(6), 0, 0);
    keep("pong", &kind(7), 1, 0);
    keep("inputs", &|packet| matches!(packet, Packet::Rbn1(_)), 1, 0);
    keep("inputs-later", &|packet| matches!(packet, Packet::Rbn1(p) if p.checksum().is_none()), 0, 0);
    keep("verdict", &message(16), 0, 0);
    shown
}

/// The packets of R-Type.
fn rtype_packets() -> [(&'static str, bool, u16, RtypePayload<'static>); 12] {
    [
        ("hello", true, 0x2000, RtypePayload::Hello { version: RtypePacket::VERSION, name: "Ada" }),
        ("ack", false, 0x7A30, RtypePayload::Ack(0x2000)),
        ("welcome", true, 0x7A31, RtypePayload::Welcome { player_id: 3, seed: 42 }),
        ("nack", false, 0, RtypePayload::Nack(0x2000)),
        ("input", false, 0x2002, RtypePayload::Input(InputFlags::new(1, -1, true))),
        ("spawn", true, 0x7A32, RtypePayload::EntitySpawn { id: 255, kind: 2, x: 640, y: 100 }),
        ("update", false, 0x125A, RtypePayload::EntityUpdate { id: 0x0310, x: 400, y: 80 }),
        ("destroy", true, 0x7A40, RtypePayload::EntityDestroy { id: 255 }),
        ("hit", true, 0x7A41, RtypePayload::HitEvent { id: 3, damage: 1 }),
        ("heartbeat", false, 0x7A42, RtypePayload::Heartbeat),
        ("leave", true, 0x2100, RtypePayload::PlayerLeave),
        ("left", true, 0x7B00, RtypePayload::PlayerLeft { player_id: 3 }),
    ]
}

/// The note PHASES with a phase and the end of the step.
const PHASES: &[u8] = b"\x06\0\x03hit\x01\x02\x03\x04\0\0\0\x07\0\0\0\0\x09\0\0\0\x18";

#[test]
fn every_vector_is_what_the_code_sends() {
    let mut expected = shown();
    let mut put = |name: &str, bytes: &[u8]| expected.insert(name.to_owned(), bytes.to_vec());
    let mut buf = [0; MAX_DATAGRAM];
    let header = ControlHeader { sequence: 0x0102, ack: 0x8001, ack_bits: 0b101 };
    for (name, payload) in
        [("heartbeat", ControlPayload::Heartbeat), ("disconnect", ControlPayload::Disconnect)]
    {
        let len = ControlPacket::encode(&header, &payload, &mut buf).unwrap();
        put(name, &buf[..len]);
    }
    let refuse = Refuse {
        nonce: 0x1122_3344_5566_7788,
        field: RefuseField::FrameRate,
        ours: 60 << 32 | 1,
        theirs: 50 << 32 | 1,
    };
    for (name, message) in [
        ("refuse", Message::Refuse(refuse)),
        ("report", Message::Report { sent: 61, received: 58, newest_frame: WireFrame(0x0100_0039) }),
        ("resync", Message::Resync(Resync { token: 0x8C31_9A29_AFBF_E5A8, expected: 0xAFC1, asks: true })),
        (
            "leaving",
            Message::Leaving(Leaving {
                token: 0x8C31_9A29_AFBF_E5A8,
                end: WireFrame(0x0100_0050),
                why: LeavingWhy::Left,
            }),
        ),
        (
            "first-state",
            Message::FirstState(FirstStatePart {
                token: 0x8C31_9A29_AFBF_E5A8,
                number: 1,
                bytes: &[0x4E, 0x45, 0x53],
            }),
        ),
        (
            "first-state-ack",
            Message::FirstStateAck(FirstStateAck {
                token: 0x8C31_9A29_AFBF_E5A8,
                is_damaged: false,
                missing: 3,
                beyond: core::array::from_fn(|at| if at == 0 { 0b0000_0101 } else { 0 }),
            }),
        ),
        (
            "resume",
            Message::Resume(Resume {
                token: 0x8C31_9A29_AFBF_E5A8,
                frame: WireFrame(0x0100_0050),
                left_millis: 3_000,
            }),
        ),
        (
            "pause",
            Message::Ordered {
                number: 2,
                body: Ordered::Pause(Pause {
                    step: PauseStep::Asks,
                    frame: WireFrame(0x0100_0050),
                    limit_secs: 60,
                }),
            },
        ),
        ("user", Message::Ordered { number: 0, body: Ordered::User(b"gg") }),
        (
            "delay",
            Message::Ordered {
                number: 1,
                body: Ordered::Delay { from_frame: WireFrame(0x0100_0050), delay_frames: 3 },
            },
        ),
        ("autopsy-phases", Message::Ordered { number: 2, body: Ordered::Autopsy(PHASES) }),
        ("autopsy-mended", Message::Ordered { number: 3, body: Ordered::Autopsy(&[7, 0, 0, 0, 0x8D]) }),
    ] {
        let len = message.encode(&mut buf).unwrap();
        put(name, &buf[..len]);
    }
    let header = InputHeader {
        start_frame: WireFrame(0x0100_001E),
        ack_frame: WireFrame(0x0100_001C),
        checksum: Some(Checksum { frame: WireFrame(0x0100_001E), value: 0x41B7_3DB7 }),
        ..Default::default()
    };
    let len = InputPacket::encode(&header, [Buttons(1), Buttons(0x8009)], &mut buf).unwrap();
    put("rbn1", &buf[..len]);
    for (name, asks_ack, sequence, payload) in rtype_packets() {
        let len = RtypePacket::encode(RtypeHeader { asks_ack, sequence }, &payload, &mut buf).unwrap();
        put(&format!("rtype-{name}"), &buf[..len]);
    }

    let mut in_files: BTreeMap<String, Vec<u8>> =
        blocks().into_iter().map(|(name, lines)| (name, bytes_of(&lines))).collect();
    assert!(in_files.remove(HELD_ELSEWHERE).is_some());
    let wrong: String = expected
        .iter()
        .filter(|(name, bytes)| in_files.get(*name) != Some(*bytes))
        .map(|(name, bytes)| format!("[{name}]\n{}\n", hex(bytes)))
        .collect();
    assert!(wrong.is_empty(), "the files should have\n{wrong}");
    assert_eq!(in_files.len(), expected.len(), "a block is compared with nothing");
}

#[test]
fn every_hash_vector_is_what_the_code_computes() {
    let lines = include_str!("../../docs/vectors/simhash.txt").lines();
    let mut checked = 0;
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (words, hash) = line.split(';').next().unwrap().split_once("->").expect("words -> hash");
        let number = |text: &str| u32::from_str_radix(text, 16).expect("a word in hex");
        let expected = number(hash.trim());
        let mut simhash = SimHash::new();
        match words.trim().strip_prefix("bytes 00..") {
            Some(last) => simhash.numbers(&(0..=number(last)).map(|at| at as u8).collect::<Vec<_>>()),
            None => words.split_whitespace().for_each(|word| simhash.word(number(word))),
        }
        assert_eq!(simhash.finish(), expected, "{line}: {:08X}", simhash.finish());
        checked += 1;
    }
    assert_eq!(checked, 8, "lines of the file");
    assert_eq!(checksum(&(1_u8, 2_u32, -1_i16)), 0xA730_C52F, "the comments of the file");
    assert_eq!((checksum(&0x0123_4567_89AB_CDEF_u64), checksum(&Some(5_u32))), (0xE7CC_137B, 0xE874_18AB));
    let bytes: [u8; 100] = core::array::from_fn(|i| i as u8);
    let mut simhash = SimHash::new();
    simhash.numbers(&bytes);
    assert_eq!(checksum(&bytes), simhash.finish(), "a field of that many bytes is hashed like that");
}
