//! R-Type packets: golden bytes each way, every length, every opcode, arbitrary bytes.

use proptest::prelude::*;
use rebout::wire::rtype::{
    InputFlags, Opcode, RtypeDecodeError, RtypeEncodeError, RtypeHeader, RtypePacket, RtypePayload,
};

/// One packet of every opcode, with the bytes it must have.
fn golden() -> Vec<(RtypePacket<'static>, Vec<u8>)> {
    let packet =
        |asks_ack, sequence, payload| RtypePacket { header: RtypeHeader { asks_ack, sequence }, payload };
    vec![
        (packet(false, 1, RtypePayload::Ack(0x1234)), vec![0x01, 0, 0, 1, 0x12, 0x34]),
        (packet(false, 2, RtypePayload::Nack(0xFFFF)), vec![0x02, 0, 0, 2, 0xFF, 0xFF]),
        (
            packet(true, 3, RtypePayload::Hello { version: 1, name: "Zoë" }),
            vec![0x10, 1, 0, 3, 1, b'Z', b'o', 0xC3, 0xAB],
        ),
        (
            packet(true, 0xFFFF, RtypePayload::Welcome { player_id: 2, seed: 0x0A0B_0C0D }),
            vec![0x11, 1, 0xFF, 0xFF, 2, 0x0A, 0x0B, 0x0C, 0x0D],
        ),
        (packet(true, 5, RtypePayload::PlayerLeave), vec![0x12, 1, 0, 5]),
        (packet(true, 6, RtypePayload::PlayerLeft { player_id: 7 }), vec![0x13, 1, 0, 6, 7]),
        (packet(false, 7, RtypePayload::Input(InputFlags(0x1F))), vec![0x20, 0, 0, 7, 0x1F]),
        (
            packet(true, 8, RtypePayload::EntitySpawn { id: 0x0102, kind: 9, x: 400, y: 80 }),
            vec![0x30, 1, 0, 8, 1, 2, 9, 1, 0x90, 0, 0x50],
        ),
        // The example of the format's description.
        (
            packet(false, 0x125A, RtypePayload::EntityUpdate { id: 0x0310, x: 400, y: 80 }),
            vec![0x31, 0, 0x12, 0x5A, 0x03, 0x10, 0x01, 0x90, 0, 0x50],
        ),
        (packet(true, 10, RtypePayload::EntityDestroy { id: 0xFFFE }), vec![0x32, 1, 0, 10, 0xFF, 0xFE]),
        (packet(true, 11, RtypePayload::HitEvent { id: 3, damage: 200 }), vec![0x40, 1, 0, 11, 0, 3, 200]),
        (packet(false, 12, RtypePayload::Heartbeat), vec![0x50, 0, 0, 12]),
    ]
}

#[test]
fn every_packet_is_written_with_its_golden_bytes() {
    for (packet, bytes) in golden() {
        let mut buf = [0xA5; 300];
        let len = RtypePacket::encode(packet.header, &packet.payload, &mut buf).unwrap();
        assert_eq!(&buf[..len], bytes, "{packet:?}");
        assert!(buf[len..].iter().all(|&byte| byte == 0xA5), "{packet:?} wrote past its end");
    }
}

#[test]
fn every_packet_is_read_from_its_golden_bytes() {
    let golden = golden();
    for (packet, bytes) in &golden {
        assert_eq!(RtypePacket::decode(bytes), Ok(*packet));
        let opcode = packet.payload.opcode();
        assert_eq!(opcode as u8, bytes[0]);
        assert_eq!(opcode.is_reliable(), packet.header.asks_ack, "{opcode}");
    }
    let opcodes: Vec<Opcode> = golden.iter().map(|(packet, _)| packet.payload.opcode()).collect();
    assert_eq!(opcodes, Opcode::ALL);
}

/// Whether a datagram of `len` bytes can be one of this opcode, if all its bytes after the header are 0.
fn length_fits(opcode: u8, len: usize) -> bool {
    match opcode {
        0x01 | 0x02 | 0x32 => len == 6,
        0x10 => (6..=5 + RtypePacket::MAX_NAME).contains(&len),
        0x11 => len == 9,
        0x12 | 0x50 => len == 4,
        0x13 | 0x20 => len == 5,
        0x30 => len == 11,
        0x31 => len == 10,
        0x40 => len == 7,
        _ => false,
    }
}

#[test]
fn every_opcode_takes_exactly_its_own_lengths_from_0_to_300() {
    let mut accepted = 0;
    for opcode in 0..=255 {
        for len in 0..=300 {
            let mut bytes = vec![0; len];
            bytes.iter_mut().take(1).for_each(|byte| *byte = opcode);
            let got = RtypePacket::decode(&bytes);
            assert_eq!(got.is_ok(), length_fits(opcode, len), "opcode {opcode:#04x}, length {len}: {got:?}");
            let rule = got.err().map(|error| error.rule());
            match len {
                0..4 => assert_eq!(rule, Some("rtype-too-short")),
                4..=RtypePacket::MAX_LEN if rule.is_some() => {
                    let known = Opcode::ALL.iter().any(|known| *known as u8 == opcode);
                    assert_eq!(rule, Some(if known { "rtype-payload-length" } else { "rtype-opcode" }));
                }
                4..=RtypePacket::MAX_LEN => accepted += 1,
                _ => assert_eq!(rule, Some("rtype-too-long")),
            }
        }
    }
    assert_eq!(accepted, 11 + RtypePacket::MAX_NAME);
}

#[test]
fn reserved_flags_and_an_ack_that_asks_for_an_ack_are_refused() {
    for (packet, bytes) in golden() {
        for flags in 0..=255_u8 {
            let mut bytes = bytes.clone();
            bytes[1] = flags;
            let opcode = packet.payload.opcode();
            let never = matches!(opcode, Opcode::Ack | Opcode::Nack | Opcode::Heartbeat);
            let expected = match flags {
                0 => Ok(false),
                1 if never => Err(RtypeDecodeError::AsksAck { opcode }),
                1 => Ok(true),
                _ => Err(RtypeDecodeError::Flags { flags }),
            };
            assert_eq!(
                RtypePacket::decode(&bytes).map(|packet| packet.header.asks_ack),
                expected,
                "{opcode}"
            );
        }
    }
}

#[test]
fn reserved_input_bits_are_refused() {
    for bits in 0..=255 {
        let bytes = [0x20, 0, 0, 1, bits];
        let decoded = RtypePacket::decode(&bytes).map(|packet| packet.payload);
        let expected = if bits < 0x20 {
            Ok(RtypePayload::Input(InputFlags(bits)))
        } else {
            Err(RtypeDecodeError::Input { bits })
        };
        assert_eq!(decoded, expected);
    }
}

#[test]
fn refusals_name_the_rule_and_the_bad_value() {
    let cases = [
        (vec![0x31, 0], "rtype-too-short", "2 bytes are less than a header of 4"),
        (vec![0x31; 257], "rtype-too-long", "257 bytes are more than 256"),
        (vec![0x47, 0x41, 0x4D, 0x45], "rtype-opcode", "unknown opcode 0x47"),
        (vec![0x50, 0x82, 0, 1], "rtype-flags", "flags of 0x82 have reserved bits"),
        (vec![0x01, 1, 0, 1, 0, 0], "rtype-asks-ack", "ACK must not request an ACK"),
        (vec![0x10, 1, 0, 1, 1], "rtype-payload-length", "HELLO cannot have a payload of 1 bytes"),
        (vec![0x10, 1, 0, 1, 1, b'a', 0xFF], "rtype-name", "the name is not UTF-8 after 1 bytes"),
        (vec![0x20, 0, 0, 1, 0x80], "rtype-input", "an input of 0x80 has reserved bits"),
    ];
    for (bytes, rule, reason) in cases {
        let error = RtypePacket::decode(&bytes).unwrap_err();
        assert_eq!((error.rule(), error.to_string().as_str()), (rule, reason));
    }
}

#[test]
fn encoding_refuses_what_decoding_would_refuse() {
    let mut buf = [0; 300];
    let asks = RtypeHeader { asks_ack: true, sequence: 0 };
    let mut refused =
        |header, payload: RtypePayload<'_>| RtypePacket::encode(header, &payload, &mut buf).unwrap_err();
    for payload in [RtypePayload::Ack(1), RtypePayload::Nack(1), RtypePayload::Heartbeat] {
        assert_eq!(refused(asks, payload), RtypeEncodeError::AsksAck { opcode: payload.opcode() });
    }
    assert_eq!(
        refused(asks, RtypePayload::Hello { version: 1, name: "" }),
        RtypeEncodeError::Name { len: 0 }
    );
    let long = "é".repeat(17);
    assert_eq!(
        refused(asks, RtypePayload::Hello { version: 1, name: &long }),
        RtypeEncodeError::Name { len: 34 }
    );
    assert_eq!(
        refused(RtypeHeader::default(), RtypePayload::Input(InputFlags(0x20))),
        RtypeEncodeError::Input { bits: 0x20 }
    );
}

#[test]
fn every_buffer_that_is_too_small_is_refused() {
    for (packet, bytes) in golden() {
        for room in 0..bytes.len() {
            let result = RtypePacket::encode(packet.header, &packet.payload, &mut vec![0; room]);
            assert_eq!(result, Err(RtypeEncodeError::Room { len: bytes.len(), room }), "{packet:?}");
        }
    }
}

#[test]
fn refused_datagram_is_answered_unless_it_is_a_nack() {
    assert_eq!(RtypePacket::refused_sequence(&[0x99, 0xFF, 0x12, 0x34, 5]), Some(0x1234));
    assert_eq!(RtypePacket::refused_sequence(&[0x01, 1, 0x12, 0x34]), Some(0x1234));
    assert_eq!(RtypePacket::refused_sequence(&[0x02, 1, 0x12, 0x34]), None, "a NACK");
    assert_eq!(RtypePacket::refused_sequence(&[0x99, 0, 0x12]), None, "no number");
}

proptest! {
    #[test]
    fn every_payload_survives_a_round_trip(
        which in 0..12_usize, asks in any::<bool>(), sequence in any::<u16>(), id in any::<u16>(),
        x in any::<u16>(), y in any::<u16>(), byte in any::<u8>(), seed in any::<u32>(), name in "\\PC{1,8}",
    ) {
        let payload = [
            RtypePayload::Ack(id),
            RtypePayload::Nack(id),
            RtypePayload::Hello { version: byte, name: &name },
            RtypePayload::Welcome { player_id: byte, seed },
            RtypePayload::PlayerLeave,
            RtypePayload::PlayerLeft { player_id: byte },
            RtypePayload::Input(InputFlags(byte & 0x1F)),
            RtypePayload::EntitySpawn { id, kind: byte, x, y },
            RtypePayload::EntityUpdate { id, x, y },
            RtypePayload::EntityDestroy { id },
            RtypePayload::HitEvent { id, damage: byte },
            RtypePayload::Heartbeat,
        ][which];
        let header = RtypeHeader { asks_ack: asks && payload.opcode().may_ask_ack(), sequence };
        let mut buf = [0xA5; RtypePacket::MAX_LEN];
        let len = RtypePacket::encode(header, &payload, &mut buf).unwrap();
        prop_assert_eq!(RtypePacket::decode(&buf[..len]), Ok(RtypePacket { header, payload }));
    }

    #[test]
    fn arbitrary_bytes_never_panic_and_reencode_the_same(
        bytes in proptest::collection::vec(any::<u8>(), 0..60), at in 0..13_usize, flag in 0..3_u8,
    ) {
        let mut bytes = bytes;
        if let (Some(opcode), true) = (Opcode::ALL.get(at), bytes.len() >= 2) {
            (bytes[0], bytes[1]) = (*opcode as u8, flag);
        }
        match RtypePacket::decode(&bytes) {
            Ok(packet) => {
                let mut buf = [0xA5; RtypePacket::MAX_LEN];
                let len = RtypePacket::encode(packet.header, &packet.payload, &mut buf).unwrap();
                prop_assert_eq!(&buf[..len], &bytes[..]);
            }
            Err(error) => prop_assert!(error.rule().starts_with("rtype-") && !error.to_string().is_empty()),
        }
    }
}
