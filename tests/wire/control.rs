//! GAME packets: golden bytes each way, every length, arbitrary bytes.

use core::num::NonZeroU8;

use proptest::prelude::*;
use rebout::wire::control::{
    ControlDecodeError, ControlEncodeError, ControlHeader, ControlPacket, ControlPayload, EntityState,
    Entries, PacketType, PlayerInput, Snapshot, ValueError,
};

const HEADER: ControlHeader = ControlHeader { sequence: 0x0102, ack: 0x0304, ack_bits: 0x8000_0001 };
const INPUTS: [PlayerInput; 2] = [
    PlayerInput { sequence: 7, move_x: 1.0, move_y: -0.5, actions: 0x81 },
    PlayerInput { sequence: 8, move_x: 0.0, move_y: -1.0, actions: 0 },
];
const ENTITIES: [EntityState; 1] =
    [EntityState { id: 9, x: 1.0, y: 2.0, velocity_x: -1.0, velocity_y: 0.5, health: 100.0 }];

const INPUT_7: [u8; 13] = [0, 0, 0, 7, 0x3F, 0x80, 0, 0, 0xBF, 0, 0, 0, 0x81];
const INPUT_8: [u8; 13] = [0, 0, 0, 8, 0, 0, 0, 0, 0xBF, 0x80, 0, 0, 0];
const ENTITY_9: [u8; 21] =
    [9, 0x3F, 0x80, 0, 0, 0x40, 0, 0, 0, 0xBF, 0x80, 0, 0, 0x3F, 0, 0, 0, 0x42, 0xC8, 0, 0];

fn datagram(kind: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x47, 0x41, 0x4D, 0x45, 1, 2, 3, 4, 0x80, 0, 0, 1, kind];
    bytes.extend(u16::try_from(payload.len()).unwrap().to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// Every form of every type, with the bytes it must have.
fn golden() -> Vec<(ControlPayload<'static>, Vec<u8>)> {
    let snapshot = |last_input| {
        ControlPayload::Snapshot(Snapshot {
            tick: 0x0A0B_0C0D,
            entities: Entries::from(&ENTITIES[..]),
            last_input,
        })
    };
    let tick = [0x0A, 0x0B, 0x0C, 0x0D];
    vec![
        (ControlPayload::ConnectReq, datagram(1, &[])),
        (ControlPayload::Delta(&[1, 2, 3]), datagram(10, &[1, 2, 3])),
        (ControlPayload::ConnectAck { client_id: NonZeroU8::new(2).unwrap() }, datagram(2, &[2])),
        (ControlPayload::Disconnect, datagram(3, &[])),
        (ControlPayload::Input(INPUTS[0]), datagram(4, &INPUT_7)),
        (ControlPayload::Inputs(Entries::from(&INPUTS[..1])), datagram(4, &[&[1][..], &INPUT_7].concat())),
        (
            ControlPayload::Inputs(Entries::from(&INPUTS[..])),
            datagram(4, &[&[2][..], &INPUT_7, &INPUT_8].concat()),
        ),
        (
            ControlPayload::Snapshot(Snapshot {
                tick: 0x0A0B_0C0D,
                entities: Entries::from(&[][..]),
                last_input: None,
            }),
            datagram(5, &[&tick[..], &[0]].concat()),
        ),
        (snapshot(None), datagram(5, &[&tick[..], &[1], &ENTITY_9].concat())),
        (snapshot(Some(7)), datagram(5, &[&tick[..], &[1], &ENTITY_9, &[0, 0, 0, 7]].concat())),
        (ControlPayload::Ping(0x3FF0_0000_0000_0001), datagram(6, &[0x3F, 0xF0, 0, 0, 0, 0, 0, 1])),
        (ControlPayload::Pong(0xBFF0_0000_0000_0002), datagram(7, &[0xBF, 0xF0, 0, 0, 0, 0, 0, 2])),
        (ControlPayload::ReliableEvent(b"hi"), datagram(8, b"hi")),
        (ControlPayload::ReliableEvent(b""), datagram(8, b"")),
        (ControlPayload::Heartbeat, datagram(9, &[])),
    ]
}

fn refusal(kind: u8, payload: &[u8]) -> ControlDecodeError {
    ControlPacket::decode(&datagram(kind, payload)).unwrap_err()
}

#[test]
fn every_form_is_written_with_its_golden_bytes() {
    for (payload, bytes) in golden() {
        let mut buf = [0xA5; 256];
        let len = ControlPacket::encode(&HEADER, &payload, &mut buf).unwrap();
        assert_eq!(&buf[..len], bytes, "{payload:?}");
        assert!(buf[len..].iter().all(|&byte| byte == 0xA5), "{payload:?} wrote past its end");
    }
}

#[test]
fn every_form_is_read_from_its_golden_bytes() {
    for (payload, bytes) in golden() {
        let packet = ControlPacket::decode(&bytes).unwrap();
        assert_eq!(packet.header, HEADER);
        assert_eq!(packet.payload, payload);
        assert_eq!(packet.payload.packet_type(), PacketType::ALL[usize::from(bytes[12]) - 1]);
    }
}

#[test]
fn every_cut_and_every_extension_of_a_packet_is_refused() {
    for (payload, bytes) in golden() {
        for len in 0..15 {
            assert_eq!(ControlPacket::decode(&bytes[..len]), Err(ControlDecodeError::TooShort { len }));
        }
        for len in 15..bytes.len() {
            let declared = u16::try_from(bytes.len() - 15).unwrap();
            let expected = ControlDecodeError::Length { declared, len: len - 15 };
            assert_eq!(ControlPacket::decode(&bytes[..len]), Err(expected), "{payload:?}");
        }
        let mut longer = bytes.clone();
        longer.push(0);
        assert!(
            matches!(ControlPacket::decode(&longer), Err(ControlDecodeError::Length { .. })),
            "{payload:?}"
        );
    }
}

/// Which payload lengths a type may have when the byte that counts records says `count`.
fn length_fits(kind: u8, count: usize, len: usize) -> bool {
    match kind {
        1 | 3 | 9 => len == 0,
        2 => len == 1,
        4 => len == 13 || (count > 0 && len == 1 + 13 * count),
        5 => len >= 5 && (len == 5 + 21 * count || len == 9 + 21 * count),
        6 | 7 => len == 8,
        8 | 10 => true,
        _ => false,
    }
}

#[test]
fn every_type_takes_exactly_its_own_payload_lengths() {
    let mut accepted = 0;
    for kind in 0..=255 {
        for count in 0..=12_u8 {
            for len in 0..=300 {
                // All bytes zero are valid numbers everywhere but in a client id.
                let mut payload = vec![0; len];
                let count_at = if kind == 5 { 4 } else { 0 };
                if (kind == 2 || kind == 4 || kind == 5) && len > count_at {
                    payload[count_at] = count.max(u8::from(kind == 2));
                }
                let got = ControlPacket::decode(&datagram(kind, &payload)).is_ok();
                assert_eq!(
                    got,
                    length_fits(kind, count.into(), len),
                    "type {kind}, count {count}, length {len}"
                );
                accepted += u32::from(got);
            }
        }
    }
    assert!(accepted > 0);
}

#[test]
fn refusals_name_the_rule_and_the_bad_value() {
    let input_with = |at: usize, bytes: [u8; 4]| {
        let mut input = INPUT_7;
        input[at..at + 4].copy_from_slice(&bytes);
        input
    };
    let nan = 0x7FC0_0000_u32;
    let cases = [
        (refusal(0, &[]), "game-type", "type 0"),
        (refusal(11, &[]), "game-type", "type 11"),
        (refusal(1, &[1]), "game-payload-length", "CONNECT_REQ cannot have a payload of 1 bytes"),
        (refusal(2, &[0]), "game-client-id", "client id 0"),
        (refusal(4, &[0]), "game-payload-length", "INPUT cannot have a payload of 1 bytes"),
        (refusal(4, &[&[2][..], &INPUT_7].concat()), "game-count", "count of 2 does not match the 14 bytes"),
        (refusal(5, &[0, 0, 0, 0, 2]), "game-count", "count of 2"),
        (refusal(4, &input_with(4, 1.5_f32.to_be_bytes())), "game-move", "move x is 1.5"),
        (refusal(4, &input_with(8, nan.to_be_bytes())), "game-not-finite", "move y is NaN (0x7fc00000)"),
        (refusal(6, &f64::INFINITY.to_be_bytes()), "game-not-finite", "the timestamp is inf"),
    ];
    for (error, rule, reason) in cases {
        assert_eq!(error.rule(), rule);
        assert!(error.to_string().contains(reason), "{error}");
    }
    let magic = ControlDecodeError::Magic { magic: *b"GAMF" };
    let mut bytes = datagram(1, &[]);
    bytes[3] = b'F';
    assert_eq!(ControlPacket::decode(&bytes), Err(magic));
    assert!(magic.to_string().contains("47, 41, 4D, 46"));
}

#[test]
fn every_float_of_every_record_must_be_finite() {
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for at in (1..21).step_by(4) {
            let mut entity = ENTITY_9;
            entity[at..at + 4].copy_from_slice(&bad.to_be_bytes());
            let payload = [&[0, 0, 0, 0, 2][..], &ENTITY_9, &entity].concat();
            assert_eq!(refusal(5, &payload).rule(), "game-not-finite", "{bad} at {at}");
        }
        for at in [4, 8] {
            let mut input = INPUT_8;
            input[at..at + 4].copy_from_slice(&bad.to_be_bytes());
            assert_eq!(refusal(4, &[&[2][..], &INPUT_7, &input].concat()).rule(), "game-not-finite");
        }
    }
}

#[test]
fn moves_reach_from_minus_one_to_one_and_no_further() {
    for (value, fine) in
        [(1.0, true), (-1.0, true), (1.0_f32.next_up(), false), ((-1.0_f32).next_down(), false)]
    {
        let input = PlayerInput { move_y: value, ..INPUTS[0] };
        let mut buf = [0; 64];
        assert_eq!(
            ControlPacket::encode(&HEADER, &ControlPayload::Input(input), &mut buf).is_ok(),
            fine,
            "{value}"
        );
        let mut bytes = INPUT_7;
        bytes[8..12].copy_from_slice(&value.to_be_bytes());
        assert_eq!(ControlPacket::decode(&datagram(4, &bytes)).is_ok(), fine, "{value}");
    }
}

#[test]
fn encoding_refuses_what_decoding_would_refuse() {
    let mut buf = [0; 70_000];
    let mut refused =
        |payload: ControlPayload<'_>| ControlPacket::encode(&HEADER, &payload, &mut buf).unwrap_err();
    let count = |kind, count| ControlEncodeError::Count { kind, count };
    assert_eq!(refused(ControlPayload::Inputs(Entries::from(&[][..]))), count(PacketType::Input, 0));
    assert_eq!(
        refused(ControlPayload::Inputs(Entries::from(&[INPUTS[0]; 256][..]))),
        count(PacketType::Input, 256)
    );
    let bits = f64::NAN.to_bits();
    assert_eq!(
        refused(ControlPayload::Ping(bits)),
        ControlEncodeError::Value(ValueError::Timestamp { bits })
    );
    assert_eq!(
        refused(ControlPayload::ReliableEvent(&[0; 65_536])),
        ControlEncodeError::Payload { len: 65_536 }
    );
    let entities = [EntityState { health: f32::NAN, ..ENTITIES[0] }];
    let snapshot = Snapshot { tick: 0, entities: Entries::from(&entities[..]), last_input: None };
    assert!(matches!(
        refused(ControlPayload::Snapshot(snapshot)),
        ControlEncodeError::Value(ValueError::NotFinite { .. })
    ));
}

#[test]
fn every_buffer_that_is_too_small_is_refused() {
    for (payload, bytes) in golden() {
        for room in 0..bytes.len() {
            let result = ControlPacket::encode(&HEADER, &payload, &mut vec![0; room]);
            assert_eq!(result, Err(ControlEncodeError::Room { len: bytes.len(), room }), "{payload:?}");
        }
        let mut exact = vec![0xA5; bytes.len()];
        assert_eq!(ControlPacket::encode(&HEADER, &payload, &mut exact), Ok(bytes.len()));
        assert_eq!(exact, bytes);
    }
}

#[test]
fn ping_value_is_a_finite_number_whatever_the_random_bits() {
    for random in [0, 1, u64::MAX, f64::NAN.to_bits(), f64::NEG_INFINITY.to_bits(), 1 << 62] {
        assert!(f64::from_bits(ControlPacket::ping_value(random)).is_finite());
    }
    assert_eq!(ControlPacket::ping_value(0x8123_4567_89AB_CDEF), 0x8123_4567_89AB_CDEF);
}

proptest! {
    #[test]
    fn inputs_survive_a_round_trip(
        sequence in any::<u16>(), ack in any::<u16>(), ack_bits in any::<u32>(),
        inputs in proptest::collection::vec((any::<u32>(), -1.0f32..=1.0, -1.0f32..=1.0, any::<u8>()), 1..=255),
    ) {
        let header = ControlHeader { sequence, ack, ack_bits };
        let inputs: Vec<PlayerInput> = inputs
            .into_iter()
            .map(|(sequence, move_x, move_y, actions)| PlayerInput { sequence, move_x, move_y, actions })
            .collect();
        let payload = ControlPayload::Inputs(Entries::from(&inputs[..]));
        let mut buf = [0xA5; 4_000];
        let len = ControlPacket::encode(&header, &payload, &mut buf).unwrap();
        let packet = ControlPacket::decode(&buf[..len]).unwrap();
        prop_assert_eq!(packet.header, header);
        prop_assert_eq!(packet.payload, payload);
    }

    #[test]
    fn decoded_packets_encode_to_the_same_bytes(
        kind in 0u8..=11, payload in proptest::collection::vec(any::<u8>(), 0..120), count in 0u8..6,
        extra in 0usize..5, shape in any::<bool>(),
    ) {
        let mut payload = payload;
        if shape && kind == 4 {
            payload.resize(1 + 13 * usize::from(count), 0);
            payload[0] = count;
        }
        if shape && kind == 5 {
            payload.resize(5 + 21 * usize::from(count) + extra, 0);
            payload[4] = count;
        }
        let bytes = datagram(kind, &payload);
        if let Ok(packet) = ControlPacket::decode(&bytes) {
            let mut buf = [0xA5; 1_200];
            let len = ControlPacket::encode(&packet.header, &packet.payload, &mut buf).unwrap();
            prop_assert_eq!(&buf[..len], &bytes[..]);
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..100), genuine in any::<bool>()) {
        let mut bytes = bytes;
        if genuine && bytes.len() >= 4 {
            bytes[..4].copy_from_slice(b"GAME");
        }
        if let Err(error) = ControlPacket::decode(&bytes) {
            prop_assert!(error.rule().starts_with("game-") && !error.to_string().is_empty());
        }
    }
}
