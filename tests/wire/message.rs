//! Messages: golden bytes each way, every length, every range; and the dispatch on the magic.

use proptest::prelude::*;
use rebout::lab::wire::message::{
    Challenge, DecodeError, EncodeError, Extensions, FirstStateAck, FirstStatePart, ForeignHello, HELLO_LEN,
    Hello, Kind, Leaving, LeavingWhy, MAX_AUTOPSY, MAX_LEN, MAX_USER, Message, Offer, Ordered, Pause,
    PauseStep, Refuse, RefuseField, Resume, Resync,
};
use rebout::wire::Packet;
use rebout::wire::WireFrame;
use rebout::wire::control::{ControlHeader, ControlPacket, ControlPayload};
use rebout::wire::rbn1::Flags;
use rebout::{FrameRate, MAX_DATAGRAM, Player};

/// Shorter HELLOs are of no version.
const MIN_HELLO_LEN: usize = 108;
const NONCE: u64 = 0x0102_0304_0506_0708;
const NONCE_BYTES: [u8; 8] = [1, 2, 3, 4, 5, 6, 7, 8];
const HELLO: Hello<'static> = Hello {
    nonce: NONCE,
    cookie: 0x1112_1314_1516_1718,
    game_id: 0x2122_2324_2526_2728,
    content_hash: 0x3132_3334_3536_3738,
    frame_rate: FrameRate::hz(60),
    delay_frames: 2,
    window_frames: 8,
    round_trip: 0x0191,
    axes: 4,
    pads: 1,
    first_state_limit: 0x0042_0000,
    capabilities: Extensions(0x4142_4344),
    user_data: b"ryu",
};
const OFFER: Offer<'static> = Offer {
    nonce: NONCE,
    first_frame: WireFrame(0x1000_0000),
    seed: 0x2000_0001,
    seat: Player::Two,
    delay_frames: 3,
    window_frames: 7,
    round_trip: 0x0192,
    cadence_frames: 0x011E,
    capabilities: Extensions(0x4142_4344),
    token: 0x5152_5354_5556_5758,
    first_state_len: 0x0061_6263,
    first_state_hash: 0x7172_7374_7576_7778,
    user_data: b"ken",
};

fn hello_bytes() -> Vec<u8> {
    let mut bytes = vec![1, 0, 3];
    bytes.extend(NONCE_BYTES);
    bytes.extend([0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18]);
    bytes.extend([0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28]);
    bytes.extend([0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38]);
    bytes.extend([0, 0, 0, 60, 0, 0, 0, 1, 2, 8, 1, 0x91, 4, 1, 0, 0x42, 0, 0, 0x41, 0x42, 0x43, 0x44, 3]);
    bytes.extend(b"ryu");
    bytes.resize(122, 0);
    bytes
}

fn offer_bytes() -> Vec<u8> {
    let mut bytes = vec![3];
    bytes.extend(NONCE_BYTES);
    bytes.extend([0x10, 0, 0, 0, 0x20, 0, 0, 1, 2, 3, 7, 0x01, 0x92, 0x01, 0x1E, 0x41, 0x42, 0x43, 0x44]);
    bytes.extend([0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0, 0x61, 0x62, 0x63]);
    bytes.extend([0x71, 0x72, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 3]);
    bytes.extend(b"ken");
    bytes
}

/// Every kind, with the bytes it must have.
fn golden() -> Vec<(Message<'static>, Vec<u8>)> {
    let mut foreign = vec![1, 0x7F, 0xFF];
    foreign.extend(NONCE_BYTES);
    foreign.extend([0, 0, 0, 0, 0, 0, 0, 9]);
    foreign.resize(122, 0);
    let challenge = [&[2][..], &NONCE_BYTES, &[0, 0, 0, 0, 0, 0, 0, 9]].concat();
    let refuse =
        [&[4][..], &NONCE_BYTES, &[3, 0, 0, 0, 0, 0, 0, 0, 0xAA, 0, 0, 0, 0, 0, 0, 0, 0xBB]].concat();
    let ordered = |body| Message::Ordered { number: 0x0102, body };
    vec![
        (Message::Hello(HELLO), hello_bytes()),
        (Message::ForeignHello(ForeignHello { version: 0x7FFF, nonce: NONCE, cookie: 9 }), foreign),
        (Message::Challenge(Challenge { nonce: NONCE, cookie: 9 }), challenge),
        (Message::Offer(OFFER), offer_bytes()),
        (
            Message::Refuse(Refuse {
                nonce: NONCE,
                field: RefuseField::ContentHash,
                ours: 0xAA,
                theirs: 0xBB,
            }),
            refuse,
        ),
        (
            Message::Report {
                sent: 0x0203_0405,
                received: 0x0A0B_0C0D,
                newest_frame: WireFrame(0x1A1B_1C1D),
            },
            vec![5, 2, 3, 4, 5, 0x0A, 0x0B, 0x0C, 0x0D, 0x1A, 0x1B, 0x1C, 0x1D],
        ),
        (
            Message::Resync(Resync { token: NONCE, expected: 0x0102, asks: true }),
            [&[6][..], &NONCE_BYTES, &[1, 2, 1]].concat(),
        ),
        (
            Message::Leaving(Leaving { token: NONCE, end: WireFrame(0x0A0B_0C0D), why: LeavingWhy::GaveUp }),
            [&[7][..], &NONCE_BYTES, &[0x0A, 0x0B, 0x0C, 0x0D, 2]].concat(),
        ),
        (
            Message::FirstState(FirstStatePart { token: NONCE, number: 0x0102, bytes: b"nes" }),
            [&[8][..], &NONCE_BYTES, b"\x01\x02nes"].concat(),
        ),
        (
            Message::FirstStateAck(FirstStateAck {
                token: NONCE,
                is_damaged: true,
                missing: 0x0102,
                beyond: [0x85; 64],
            }),
            [&[9][..], &NONCE_BYTES, &[1, 1, 2], &[0x85; 64]].concat(),
        ),
        (
            ordered(Ordered::Verdict {
                frame: WireFrame(0x0A0B_0C0D),
                checksum: 0x41B7_3DB7,
                finished: true,
            }),
            vec![16, 1, 2, 0x0A, 0x0B, 0x0C, 0x0D, 0x41, 0xB7, 0x3D, 0xB7, 1],
        ),
        (ordered(Ordered::User(b"gg")), vec![17, 1, 2, b'g', b'g']),
        (ordered(Ordered::User(b"")), vec![17, 1, 2]),
        (
            ordered(Ordered::Delay { from_frame: WireFrame(0x0A0B_0C0D), delay_frames: 30 }),
            vec![18, 1, 2, 0x0A, 0x0B, 0x0C, 0x0D, 30],
        ),
        (
            Message::Resume(Resume { token: NONCE, frame: WireFrame(0x0A0B_0C0D), left_millis: 0x0BB8 }),
            [&[10][..], &NONCE_BYTES, &[0x0A, 0x0B, 0x0C, 0x0D, 0x0B, 0xB8]].concat(),
        ),
        (
            ordered(Ordered::Pause(Pause {
                step: PauseStep::Agrees,
                frame: WireFrame(0x0A0B_0C0D),
                limit_secs: 0x003C,
            })),
            vec![21, 1, 2, 2, 0x0A, 0x0B, 0x0C, 0x0D, 0, 0x3C],
        ),
        (ordered(Ordered::Autopsy(&[0xFF, 0])), vec![32, 1, 2, 0xFF, 0]),
    ]
}

fn refusal(bytes: &[u8]) -> DecodeError {
    Message::decode(bytes).unwrap_err()
}

fn changed(mut bytes: Vec<u8>, at: usize, to: &[u8]) -> Vec<u8> {
    bytes[at..at + to.len()].copy_from_slice(to);
    bytes
}

#[test]
fn every_kind_is_written_with_its_golden_bytes() {
    for (message, bytes) in golden() {
        let mut buf = [0xA5; 256];
        let len = message.encode(&mut buf).unwrap();
        assert_eq!(&buf[..len], bytes, "{message:?}");
        assert!(buf[len..].iter().all(|&byte| byte == 0xA5), "{message:?} wrote past its end");
    }
}

#[test]
fn every_kind_is_read_from_its_golden_bytes() {
    for (message, bytes) in golden() {
        assert_eq!(Message::decode(&bytes), Ok(message));
        assert_eq!(message.kind() as u8, bytes[0]);
    }
}

#[test]
fn every_kind_takes_exactly_its_own_lengths() {
    for kind in 0..=255_u8 {
        let user_data_lens: &[u8] = if kind == 3 { &[0, 3, 64] } else { &[0] };
        for &user_data_len in user_data_lens {
            for len in 1..=1_110_usize {
                // Fields that are in order, whatever the length.
                let mut bytes = match kind {
                    1 => hello_bytes(),
                    3 => offer_bytes(),
                    4 => changed(vec![0; 26], 9, &[1]),
                    7 => vec![1; 14],
                    21 => vec![1; 10],
                    _ => vec![0; 3],
                };
                bytes[0] = kind;
                if kind == 3 {
                    bytes[48] = user_data_len;
                }
                bytes.resize(len, if kind == 2 { 1 } else { 0 });
                let fits = match kind {
                    1 => len == 122,
                    2 => len == 17,
                    3 => len == 49 + usize::from(user_data_len),
                    4 => len == 26,
                    5 => len == 13,
                    6 => len == 12,
                    7 => len == 14,
                    8 => (12..=1_035).contains(&len),
                    9 => len == 76,
                    10 => len == 15,
                    16 => len == 12,
                    17 => (3..=1_027).contains(&len),
                    18 => len == 8,
                    21 => len == 10,
                    32 => (3..=1_103).contains(&len),
                    _ => false,
                };
                assert_eq!(Message::decode(&bytes).is_ok(), fits, "kind {kind}, length {len}");
            }
        }
    }
}

#[test]
fn refusals_name_the_rule_and_the_bad_value() {
    let cases = [
        (refusal(&[]), "message-empty", "0 bytes"),
        (refusal(&[11]), "message-kind", "kind 11"),
        (refusal(&[&[6; 11][..], &[2]].concat()), "message-flag", "RESYNC is 2"),
        (refusal(&[&[7; 13][..], &[0xFF]].concat()), "message-leaving", "reason 255"),
        (refusal(&[&[16; 11][..], &[9]].concat()), "message-flag", "VERDICT is 9"),
        (refusal(&changed(offer_bytes(), 22, &[2, 89])), "message-cadence", "601"),
        (refusal(&[21, 0, 0, 0, 0, 0, 0, 0, 0, 0]), "message-pause", "unknown step 0"),
        (refusal(&[21, 0, 0, 4, 0, 0, 0, 0, 0, 0]), "message-pause", "unknown step 4"),
        (refusal(&[18, 0, 0]), "message-length", "DELAY cannot have 3 bytes"),
        (refusal(&changed(hello_bytes(), 57, &[65])), "message-user-data", "65"),
        (refusal(&changed(hello_bytes(), 121, &[0xEE])), "message-padding", "0xee"),
        (refusal(&changed(hello_bytes(), 57, &[2])), "message-padding", "0x75"),
        (refusal(&changed(hello_bytes(), 38, &[0])), "message-frame-rate", "rate of 0 "),
        (refusal(&changed(hello_bytes(), 42, &[0])), "message-frame-rate", "60/0"),
        (refusal(&changed(hello_bytes(), 42, &[2])), "message-frame-rate", "60/2"),
        (refusal(&changed(hello_bytes(), 42, &[61])), "message-frame-rate", "60/61"),
        (refusal(&changed(hello_bytes(), 37, &[0xFF, 0xFF])), "message-frame-rate", "65535"),
        (refusal(&changed(hello_bytes(), 37, &[3, 0xE9])), "message-frame-rate", "1001"),
        (refusal(&changed(hello_bytes(), 43, &[9, 22])), "message-window-and-delay", "22 and a delay of 9"),
        (refusal(&changed(hello_bytes(), 43, &[255, 255])), "message-window-and-delay", "255"),
        (refusal(&changed(hello_bytes(), 47, &[7])), "message-axes", "7 axes"),
        (refusal(&changed(hello_bytes(), 47, &[0, 0])), "message-pads", "0 pads"),
        (refusal(&changed(hello_bytes(), 47, &[0, 5])), "message-pads", "5 pads"),
        (refusal(&changed(hello_bytes(), 48, &[2])), "message-pads", "2 pads together with 4 axes"),
        (refusal(&[&[2][..], &NONCE_BYTES, &[0; 8]].concat()), "message-cookie", "0"),
        (refusal(&changed(offer_bytes(), 9, &[0; 4])), "message-first-frame", "first frame 0"),
        (refusal(&changed(offer_bytes(), 9, &[0x80, 0, 0, 1])), "message-first-frame", "2147483649"),
        (refusal(&changed(offer_bytes(), 13, &[0; 4])), "message-seed", "seed of 0"),
        (refusal(&changed(offer_bytes(), 17, &[0])), "message-seat", "seat 0"),
        (refusal(&changed(offer_bytes(), 17, &[3])), "message-seat", "seat 3"),
        (refusal(&changed(offer_bytes(), 18, &[10, 21])), "message-window-and-delay", "10"),
        (refusal(&changed(offer_bytes(), 22, &[0, 0])), "message-cadence", "0"),
        (refusal(&changed(offer_bytes(), 48, &[65])), "message-user-data", "65"),
        (refusal(&changed(offer_bytes(), 48, &[4])), "message-length", "52"),
        (refusal(&changed(vec![4; 26], 9, &[0])), "message-refuse-field", "field 0"),
        (refusal(&changed(vec![4; 26], 9, &[10])), "message-refuse-field", "field 10"),
        (refusal(&[18, 0, 0, 0, 0, 0, 0, 31]), "message-delay", "31"),
        (refusal(&vec![17; 1_028]), "message-too-long", "1025"),
        (refusal(&vec![32; 1_104]), "message-too-long", "1101"),
    ];
    for (error, rule, reason) in cases {
        assert_eq!(error.rule(), rule, "{error}");
        assert!(error.to_string().contains(reason), "{error}");
    }
}

#[test]
fn ends_of_the_first_frame_range_are_taken() {
    for first_frame in [1_u32, 1 << 31] {
        let bytes = changed(offer_bytes(), 9, &first_frame.to_be_bytes());
        assert!(
            matches!(Message::decode(&bytes), Ok(Message::Offer(offer)) if offer.first_frame == WireFrame(first_frame))
        );
    }
}

#[test]
fn hello_of_another_version_shows_its_version() {
    for len in [MIN_HELLO_LEN, HELLO_LEN, HELLO_LEN + 1, 1_185] {
        let mut bytes = hello_bytes();
        bytes[2] = 4;
        bytes[19..].fill(0xFF);
        bytes.resize(len, 0xFF);
        let foreign = ForeignHello { version: 4, nonce: HELLO.nonce, cookie: HELLO.cookie };
        assert_eq!(Message::decode(&bytes), Ok(Message::ForeignHello(foreign)));
        let short = DecodeError::Length { kind: Kind::Hello, len: MIN_HELLO_LEN - 1 };
        assert_eq!(Message::decode(&bytes[..MIN_HELLO_LEN - 1]), Err(short));
    }
}

#[test]
fn no_answer_to_a_hello_is_longer_than_it() {
    let mut buf = [0; MAX_DATAGRAM];
    let user_data = [7; 64];
    let header = ControlHeader::default();
    let mut sent = |message: Message<'_>| message.encode_packet(&header, &mut buf).unwrap();
    let shortest = sent(Message::Hello(Hello { user_data: b"", ..HELLO }));
    assert_eq!(shortest, sent(Message::Hello(Hello { user_data: &user_data, ..HELLO })));
    assert!(sent(Message::Offer(Offer { user_data: &user_data, ..OFFER })) <= shortest);
    for (message, _) in golden().into_iter().filter(|(message, _)| (message.kind() as u8) < 5) {
        assert!(sent(message) <= shortest, "{message:?}");
    }
}

#[test]
fn encoding_refuses_what_decoding_would_refuse() {
    let mut buf = [0; MAX_DATAGRAM];
    let mut rule = |message: Message<'_>| match message.encode(&mut buf) {
        Err(EncodeError::Refused(error)) => error.rule(),
        other => panic!("{other:?}"),
    };
    let long = [0; MAX_DATAGRAM];
    assert_eq!(rule(Message::Hello(Hello { user_data: &long[..65], ..HELLO })), "message-user-data");
    assert_eq!(rule(Message::Hello(Hello { user_data: &long[..256], ..HELLO })), "message-user-data");
    assert_eq!(rule(Message::Hello(Hello { frame_rate: FrameRate::hz(0), ..HELLO })), "message-frame-rate");
    assert_eq!(rule(Message::Hello(Hello { pads: 2, ..HELLO })), "message-pads");
    assert_eq!(rule(Message::Hello(Hello { window_frames: 29, ..HELLO })), "message-window-and-delay");
    assert_eq!(rule(Message::Challenge(Challenge { nonce: 1, cookie: 0 })), "message-cookie");
    assert_eq!(rule(Message::Offer(Offer { seed: 0, ..OFFER })), "message-seed");
    assert_eq!(rule(Message::Offer(Offer { first_frame: WireFrame(0), ..OFFER })), "message-first-frame");
    assert_eq!(rule(Message::Offer(Offer { cadence_frames: 0, ..OFFER })), "message-cadence");
    assert_eq!(rule(Message::Offer(Offer { delay_frames: 24, ..OFFER })), "message-window-and-delay");
    assert_eq!(rule(Message::Offer(Offer { user_data: &long[..65], ..OFFER })), "message-user-data");
    let mut ordered = |body| rule(Message::Ordered { number: 0, body });
    assert_eq!(ordered(Ordered::User(&long[..MAX_USER + 1])), "message-too-long");
    assert_eq!(ordered(Ordered::Autopsy(&long[..MAX_AUTOPSY + 1])), "message-too-long");
    assert_eq!(ordered(Ordered::Delay { from_frame: WireFrame(0), delay_frames: 31 }), "message-delay");
    let own = ForeignHello { version: 3, nonce: 0, cookie: 0 };
    assert_eq!(Message::ForeignHello(own).encode(&mut buf), Err(EncodeError::OwnVersion));
}

#[test]
fn short_buffers_are_refused_with_the_length_needed() {
    let header = ControlHeader { sequence: 1, ack: 2, ack_bits: 3 };
    for (message, bytes) in golden() {
        for room in 0..bytes.len() {
            let error = EncodeError::Room { len: bytes.len(), room };
            assert_eq!(message.encode(&mut vec![0; room]), Err(error));
        }
        let len = bytes.len() + 15;
        for room in 0..len {
            let error = EncodeError::Room { len, room };
            assert_eq!(message.encode_packet(&header, &mut vec![0; room]), Err(error));
        }
        let mut exact = vec![0xA5; len];
        assert_eq!(message.encode_packet(&header, &mut exact), Ok(len));
        let packet = ControlPacket { header, payload: ControlPayload::ReliableEvent(&bytes) };
        assert_eq!(Packet::decode(&exact, Flags::ALL), Ok(Packet::Game(packet)));
    }
}

#[test]
fn longest_message_fits_a_datagram() {
    let mut buf = [0; MAX_DATAGRAM];
    let bytes = [1; MAX_AUTOPSY];
    let message = Message::Ordered { number: 0, body: Ordered::Autopsy(&bytes) };
    assert_eq!(message.encode_packet(&ControlHeader::default(), &mut buf), Ok(15 + MAX_LEN));
}

#[test]
fn datagram_is_judged_by_the_format_it_begins_as() {
    fn verdict(bytes: &[u8]) -> Result<Packet<'_>, (Option<&'static str>, &'static str)> {
        Packet::decode(bytes, Flags::ALL).map_err(|error| (error.format(), error.rule()))
    }
    assert_eq!(verdict(b""), Err((None, "too-short")));
    assert_eq!(verdict(b"RBN"), Err((None, "too-short")));
    assert_eq!(verdict(b"RBN1"), Err((Some("RBN1"), "rbn1-too-short")));
    assert_eq!(verdict(b"GAME"), Err((Some("GAME"), "game-too-short")));
    assert_eq!(verdict(&[0; 14]), Err((None, "too-short")));
    assert_eq!(verdict(&[0; 15]), Err((None, "magic")));
    assert_eq!(verdict(b"RBN2\x01\0\0\0\0\0\x01\0\0\0\0\0\0"), Err((None, "magic")));
    assert!(matches!(verdict(b"RBN1\x01\0\0\0\0\0\x01\0\0\0\0\0\0"), Ok(Packet::Rbn1(_))));
    assert!(matches!(verdict(b"GAME\0\0\0\0\0\0\0\0\x09\0\0"), Ok(Packet::Game(_))));
    assert_eq!(
        Packet::decode(&[0xAB; 15], Flags::ALL).unwrap_err().to_string(),
        "no format begins with [AB, AB, AB, AB]"
    );
}

proptest! {
    #[test]
    fn decoded_packets_encode_to_the_same_bytes(
        which in 0usize..11, noise in proptest::collection::vec((any::<usize>(), any::<u8>()), 0..4),
        cut in proptest::option::of(0usize..200),
    ) {
        let mut bytes = golden()[which].1.clone();
        for (at, byte) in noise {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        bytes.resize(cut.unwrap_or(bytes.len()), 0);
        match Message::decode(&bytes) {
            // Of another version nothing but the shared part is kept.
            Ok(Message::ForeignHello(hello)) => prop_assert_ne!(hello.version, 1),
            Ok(message) => {
                let mut buf = [0xA5; 256];
                let len = message.encode(&mut buf).unwrap();
                prop_assert_eq!(&buf[..len], &bytes[..]);
            }
            Err(error) => prop_assert!(error.rule().starts_with("message-")),
        }
    }

    #[test]
    fn hello_survives_a_round_trip(
        numbers in proptest::array::uniform4(any::<u64>()), rate in (1u32..=1_000, 1u32..=9), first_state_limit in any::<u32>(), capabilities in any::<u32>(), axes in 0u8..=6,
        delay_frames in 0u8..=30, round_trip in any::<u16>(), user_data in proptest::collection::vec(any::<u8>(), 0..=64),
    ) {
        let [nonce, cookie, game_id, content_hash] = numbers;
        let window_frames = 30 - delay_frames;
        let user_data = &user_data[..];
        let (frame_rate, pads) = (FrameRate::ratio(rate.0.max(rate.1), rate.1), if axes == 0 { 4 } else { 1 });
        let message = Message::Hello(Hello {
            nonce, cookie, game_id, content_hash, frame_rate, delay_frames, window_frames, round_trip, axes, pads, first_state_limit,
            user_data,
            capabilities: Extensions(capabilities),
        });
        let mut buf = [0xA5; HELLO_LEN];
        prop_assert_eq!(message.encode(&mut buf), Ok(HELLO_LEN));
        prop_assert_eq!(Message::decode(&buf), Ok(message));
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), kind in 0u8..40) {
        let mut bytes = bytes;
        if let Some(first) = bytes.first_mut() {
            *first = kind;
        }
        if let Err(error) = Message::decode(&bytes) {
            prop_assert!(!error.to_string().is_empty());
        }
        let _ = Packet::decode(&bytes, Flags::ALL);
    }
}
