//! RBN1 against the whole space of its small fields, and against arbitrary bytes.

use proptest::prelude::*;
use rebout::Buttons;
use rebout::wire::WireFrame;
use rebout::wire::rbn1::{self, Checksum, DecodeError, Header};

/// The six rules, said a second time in the words of the document.
fn rule_broken(datagram: &[u8]) -> Option<&'static str> {
    if datagram.len() < 15 {
        return Some("rbn1-too-short");
    }
    if !datagram.starts_with(&[0x52, 0x42, 0x4E, 0x31]) {
        return Some("rbn1-magic");
    }
    if datagram[4] != 1 {
        return Some("rbn1-version");
    }
    if !matches!(datagram[5], 0 | 1) {
        return Some("rbn1-flags");
    }
    if datagram[10] < 1 || datagram[10] > 32 {
        return Some("rbn1-count");
    }
    let header = if datagram[5] == 1 { 23 } else { 15 };
    if datagram.len() != header + 2 * usize::from(datagram[10]) { Some("rbn1-length") } else { None }
}

fn verdict(datagram: &[u8]) -> Option<&'static str> {
    rbn1::decode(datagram).err().map(|error| error.rule())
}

#[test]
fn every_length_flags_and_count_is_judged_by_the_six_rules() {
    let mut accepted = 0;
    let mut bytes = [0x5A; 128];
    bytes[..5].copy_from_slice(b"RBN1\x01");
    for len in 0..=128 {
        for flags in 0..=255 {
            for count in 0..=255 {
                bytes[5] = flags;
                bytes[10] = count;
                let got = verdict(&bytes[..len]);
                assert_eq!(got, rule_broken(&bytes[..len]), "length {len}, flags {flags}, count {count}");
                accepted += u32::from(got.is_none());
            }
        }
    }
    // For either flag, one length for each of 32 counts.
    assert_eq!(accepted, 64);
}

#[test]
fn of_several_broken_rules_the_first_is_named() {
    let mut bytes = [0; 128];
    assert_eq!(verdict(&bytes[..14]), Some("rbn1-too-short"));
    assert_eq!(verdict(&bytes), Some("rbn1-magic"));
    bytes[..4].copy_from_slice(b"RBN1");
    bytes[5] = 0xFE;
    assert_eq!(verdict(&bytes), Some("rbn1-version"));
    bytes[4] = 1;
    assert_eq!(verdict(&bytes), Some("rbn1-flags"));
    bytes[5] = 1;
    assert_eq!(verdict(&bytes), Some("rbn1-count"));
    bytes[10] = 32;
    assert_eq!(verdict(&bytes), Some("rbn1-length"));
    assert_eq!(verdict(&bytes[..87]), None);
}

#[test]
fn every_reason_quotes_the_bad_value() {
    let reasons = [
        (DecodeError::TooShort { len: 14 }, "14"),
        (DecodeError::Magic { magic: *b"RBN2" }, "52, 42, 4E, 32"),
        (DecodeError::Version { version: 9 }, "9"),
        (DecodeError::Flags { flags: 0x82 }, "0x82"),
        (DecodeError::Count { count: 33 }, "33"),
        (DecodeError::Length { len: 18, expected: 17 }, "18"),
    ];
    for (error, value) in reasons {
        assert!(error.to_string().contains(value), "{error}");
    }
}

fn header() -> impl Strategy<Value = Header> {
    let checksum = proptest::option::of((any::<u32>(), any::<u32>()));
    (any::<u32>(), any::<u32>(), checksum).prop_map(|(start_frame, ack_frame, checksum)| Header {
        start_frame: WireFrame(start_frame),
        ack_frame: WireFrame(ack_frame),
        checksum: checksum.map(|(frame, value)| Checksum { frame: WireFrame(frame), value }),
    })
}

proptest! {
    #[test]
    fn what_is_encoded_decodes_to_the_same(
        header in header(),
        inputs in proptest::collection::vec(any::<u16>().prop_map(Buttons), 1..=32),
    ) {
        let mut buf = [0xA5; rbn1::MAX_LEN];
        let len = rbn1::encode(&header, inputs.iter().copied(), &mut buf).unwrap();
        let packet = rbn1::decode(&buf[..len]).unwrap();
        prop_assert_eq!(*packet.header(), header);
        prop_assert_eq!(packet.inputs().collect::<Vec<_>>(), inputs);
    }

    #[test]
    fn what_decodes_is_encoded_to_the_same_bytes(
        flags in 0u8..=1, count in 1u8..=32, noise in proptest::array::uniform32(any::<u8>()),
    ) {
        let mut bytes: Vec<u8> = noise.iter().cycle().copied().take(87).collect();
        bytes[..4].copy_from_slice(b"RBN1");
        bytes[4] = 1;
        bytes[5] = flags;
        bytes[10] = count;
        bytes.truncate(if flags == 1 { 23 } else { 15 } + 2 * usize::from(count));
        let packet = rbn1::decode(&bytes).unwrap();
        let mut buf = [0xA5; rbn1::MAX_LEN];
        let len = rbn1::encode(packet.header(), packet.inputs(), &mut buf).unwrap();
        prop_assert_eq!(&buf[..len], &bytes[..]);
    }

    #[test]
    fn arbitrary_bytes_are_judged_and_never_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..200), genuine in any::<bool>(),
    ) {
        let mut bytes = bytes;
        if genuine && bytes.len() >= 5 {
            bytes[..5].copy_from_slice(b"RBN1\x01");
        }
        prop_assert_eq!(verdict(&bytes), rule_broken(&bytes));
        if let Ok(packet) = rbn1::decode(&bytes) {
            prop_assert_eq!(packet.inputs().count(), packet.count());
        }
    }
}
