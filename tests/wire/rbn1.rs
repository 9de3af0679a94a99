//! RBN1 from outside: the rules of the document as a second opinion, every length, every flag, every count.

use proptest::prelude::*;
use rebout::wire::WireFrame;
use rebout::wire::rbn1::{
    Checksum, Flags, InputDecodeError, InputEncodeError, InputHeader, InputPacket, LossCounts, TimeSync,
};
use rebout::{Buttons, Input};

/// Every set of flags that two machines can have agreed on; bit 0 needs no agreement.
const AGREEMENTS: [u8; 8] = [1, 3, 5, 7, 9, 11, 13, 15];

fn flags(bits: u8) -> Flags {
    let all = [Flags::CHECKSUM, Flags::TIME, Flags::LOSS, Flags::AXES];
    let set = all.into_iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1);
    set.map(|(_, flag)| flag).reduce(Flags::and).expect("at least the checksum")
}

/// The rules, said a second time in the words of the document.
fn rule_broken(datagram: &[u8], agreed: u8) -> Option<&'static str> {
    let len = datagram.len();
    if len < 15 {
        return Some("rbn1-too-short");
    }
    if datagram[..4] != *b"RBN1" {
        return Some("rbn1-magic");
    }
    if datagram[4] != 1 {
        return Some("rbn1-version");
    }
    let set = datagram[5];
    if set & !agreed != 0 {
        return Some("rbn1-flags");
    }
    let count = usize::from(datagram[10]);
    if !(1..=32).contains(&count) {
        return Some("rbn1-count");
    }
    let [sum, time, loss, wide] = [0, 1, 2, 3].map(|bit| usize::from(set >> bit & 1));
    let at_axes = 15 + 8 * sum + 6 * time + 4 * loss;
    let mut axes = 0;
    if wide == 1 {
        let Some(&found) = datagram.get(at_axes) else { return Some("rbn1-length") };
        if !(1..=6).contains(&found) {
            return Some("rbn1-axes");
        }
        axes = usize::from(found);
    }
    if len != at_axes + wide + count * (2 + axes) {
        return Some("rbn1-length");
    }
    let at_mark = 15 + 8 * sum;
    (time == 1 && datagram[at_mark..at_mark + 2] == [0, 0]).then_some("rbn1-mark")
}

fn verdict(datagram: &[u8], agreed: u8) -> Option<&'static str> {
    InputPacket::decode(datagram, flags(agreed)).err().map(|error| error.rule())
}

/// Judges every length up to `longest` with flags and counts, and returns how many packets were accepted.
fn judge(agreed: u8, longest: usize, fill: u8) -> u32 {
    let mut bytes = [fill; 300];
    bytes[..5].copy_from_slice(b"RBN1\x01");
    let mut accepted = 0;
    for len in 0..=longest {
        // Beyond the known flags and the counts around their limits all are alike.
        for set in (0..=32).chain([0x40, 0x80, 0xFF]) {
            for count in (0..=34).chain([64, 128, 255]) {
                (bytes[5], bytes[10]) = (set, count);
                let got = verdict(&bytes[..len], agreed);
                let expected = rule_broken(&bytes[..len], agreed);
                assert_eq!(got, expected, "length {len}, flags {set}, count {count}, agreed {agreed}");
                accepted += u32::from(got.is_none());
            }
        }
    }
    accepted
}

#[test]
fn without_extensions_packets_are_judged_as_in_version_1() {
    // With and without a checksum, one length for each of 32 counts.
    assert_eq!(judge(1, 128, 0x5A), 64);
}

#[test]
fn every_length_flags_and_count_is_judged_by_the_agreement() {
    for agreed in AGREEMENTS {
        // The number of axes is what every byte is filled with: for each of the flags one length for each of 32 counts.
        for axes in [1, 6] {
            assert_eq!(judge(agreed, 300, axes), 32 << agreed.count_ones());
        }
        for axes in [0, 7, 255] {
            let narrow = agreed & !8;
            let marked = if axes == 0 { narrow & !2 } else { narrow };
            assert_eq!(judge(agreed, 300, axes), 32 << marked.count_ones(), "{axes} axes, agreed {agreed}");
        }
    }
}

#[test]
fn of_several_broken_rules_the_first_is_named() {
    let mut bytes = [0; 290];
    let all = |bytes: &[u8]| verdict(bytes, 15);
    assert_eq!(all(&bytes[..14]), Some("rbn1-too-short"));
    assert_eq!(all(&bytes), Some("rbn1-magic"));
    bytes[..4].copy_from_slice(b"RBN1");
    bytes[5] = 0xFE;
    assert_eq!(all(&bytes), Some("rbn1-version"));
    bytes[4] = 1;
    assert_eq!(all(&bytes), Some("rbn1-flags"));
    bytes[5] = 15;
    assert_eq!(all(&bytes), Some("rbn1-count"));
    bytes[10] = 32;
    assert_eq!(all(&bytes), Some("rbn1-axes"));
    bytes[33] = 5;
    assert_eq!(all(&bytes), Some("rbn1-length"));
    bytes[33] = 6;
    assert_eq!(all(&bytes), Some("rbn1-mark"));
    bytes[23] = 1;
    assert_eq!(all(&bytes), None);
    assert_eq!(all(&bytes[..33]), Some("rbn1-length"), "it ends before its axes block");
    bytes[5] = 1;
    assert_eq!(verdict(&bytes[..87], 1), None);
}

#[test]
fn every_reason_quotes_the_bad_value() {
    let reasons = [
        (InputDecodeError::TooShort { len: 14 }, "14"),
        (InputDecodeError::Magic { magic: *b"RBN2" }, "52, 42, 4E, 32"),
        (InputDecodeError::Version { version: 9 }, "9"),
        (InputDecodeError::Flags { flags: 0x82, allowed: Flags::VERSION_1 }, "0x82"),
        (InputDecodeError::Flags { flags: 0x82, allowed: Flags::ALL }, "the agreed 0x0f"),
        (InputDecodeError::Count { count: 33 }, "33"),
        (InputDecodeError::Axes { axes: 7 }, "7"),
        (InputDecodeError::Length { len: 18, expected: 17 }, "18"),
        (InputDecodeError::Mark, "0"),
    ];
    for (error, value) in reasons {
        assert!(error.to_string().contains(value), "{error}");
    }
}

#[test]
fn values_that_would_be_refused_are_not_written() {
    let mut buf = [0xA5; InputPacket::MAX_LEN];
    let seven = InputHeader { axes: 7, ..InputHeader::default() };
    let unmarked =
        InputHeader { time: Some(TimeSync { mark: 0, echo: 1, held: 1 }), ..InputHeader::default() };
    for header in [seven, unmarked] {
        assert!(matches!(
            InputPacket::encode(&header, [Buttons(1)], &mut buf),
            Err(InputEncodeError::Refused(InputDecodeError::Axes { axes: 7 } | InputDecodeError::Mark))
        ));
    }
    let wide = InputHeader { axes: 6, ..InputHeader::default() };
    assert!(InputPacket::encode(&wide, [Buttons(1)], &mut buf[..23]).is_err(), "24 bytes");
    assert_eq!(buf, [0xA5; InputPacket::MAX_LEN]);
    assert_eq!(InputPacket::encode(&wide, [Buttons(1)], &mut buf), Ok(24));
}

/// A packet with every block, byte for byte.
#[test]
fn packet_with_every_block_has_the_pinned_bytes() {
    let header = InputHeader {
        start_frame: WireFrame(0x1234_5678),
        ack_frame: WireFrame(0x90AB_CDEF),
        checksum: Some(Checksum { frame: WireFrame(0x0102_0304), value: 0x41B7_3DB7 }),
        time: Some(TimeSync { mark: 0xA1B2, echo: 0xC3D4, held: 0x0102 }),
        loss: Some(LossCounts { sent: 0x1122, received: 0x3344 }),
        axes: 2,
    };
    let input = Input::from(Buttons(0x8001)).with_axis(0, -127).with_axis(1, 64).with_axis(2, 9);
    let mut buf = [0; InputPacket::MAX_LEN];
    let len = InputPacket::encode(&header, [input], &mut buf).unwrap();
    #[rustfmt::skip]
    assert_eq!(buf[..len], [
        b'R', b'B', b'N', b'1', 1, 15, 0x78, 0x56, 0x34, 0x12, 1, 0xEF, 0xCD, 0xAB, 0x90,
        0x04, 0x03, 0x02, 0x01, 0xB7, 0x3D, 0xB7, 0x41,
        0xB2, 0xA1, 0xD4, 0xC3, 0x02, 0x01,
        0x22, 0x11, 0x44, 0x33,
        2,
        0x01, 0x80, 0x81, 0x40,
    ]);
    let packet = InputPacket::decode(&buf[..len], Flags::ALL).unwrap();
    assert_eq!((packet.header(), packet.input(0)), (header, Some(input.with_axes_up_to(2))));
    assert_eq!(packet.input(1), None);
    assert_eq!(packet.input(usize::MAX), None);
}

fn header() -> impl Strategy<Value = InputHeader> {
    let option = proptest::option::of::<(proptest::num::u32::Any, proptest::num::u32::Any)>;
    let pair = || option((any::<u32>(), any::<u32>()));
    let time = proptest::option::of((1_u16.., any::<u16>(), any::<u16>()));
    let loss = proptest::option::of((any::<u16>(), any::<u16>()));
    let frames = (any::<u32>(), any::<u32>());
    (frames, pair(), time, loss, 0_u8..=6).prop_map(|((start, ack), checksum, time, loss, axes)| {
        InputHeader {
            start_frame: WireFrame(start),
            ack_frame: WireFrame(ack),
            checksum: checksum.map(|(frame, value)| Checksum { frame: WireFrame(frame), value }),
            time: time.map(|(mark, echo, held)| TimeSync { mark, echo, held }),
            loss: loss.map(|(sent, received)| LossCounts { sent, received }),
            axes,
        }
    })
}

fn input() -> impl Strategy<Value = Input> {
    (any::<u16>(), proptest::array::uniform6(any::<i8>())).prop_map(|(buttons, axes)| {
        let input = Input::from(Buttons(buttons));
        axes.into_iter().enumerate().fold(input, |input, (axis, value)| input.with_axis(axis, value))
    })
}

proptest! {
    #[test]
    fn encoded_packet_decodes_to_the_same_value(
        header in header(),
        inputs in proptest::collection::vec(input(), 1..=32),
    ) {
        let mut buf = [0xA5; InputPacket::MAX_LEN];
        let len = InputPacket::encode(&header, inputs.iter().copied(), &mut buf).unwrap();
        let packet = InputPacket::decode(&buf[..len], Flags::ALL).unwrap();
        prop_assert_eq!(packet.header(), header);
        let sent: Vec<Input> = inputs.iter().map(|input| input.with_axes_up_to(header.axes)).collect();
        prop_assert_eq!(packet.inputs().collect::<Vec<_>>(), sent);
    }

    #[test]
    fn decoded_packet_encodes_to_the_same_bytes(
        set in 0_u8..=15, count in 1_u8..=32, axes in 1_u8..=6, noise in proptest::array::uniform32(any::<u8>()),
    ) {
        let mut bytes: Vec<u8> = noise.iter().cycle().copied().take(290).collect();
        bytes[..4].copy_from_slice(b"RBN1");
        (bytes[4], bytes[5], bytes[10]) = (1, set, count);
        let [sum, time, loss, wide] = [0, 1, 2, 3].map(|bit| usize::from(set >> bit & 1));
        let at_axes = 15 + 8 * sum + 6 * time + 4 * loss;
        if time == 1 {
            bytes[15 + 8 * sum] |= 1;
        }
        if wide == 1 {
            bytes[at_axes] = axes;
        }
        bytes.truncate(at_axes + wide + usize::from(count) * (2 + wide * usize::from(axes)));
        let packet = InputPacket::decode(&bytes, Flags::ALL).unwrap();
        let mut buf = [0xA5; InputPacket::MAX_LEN];
        let len = InputPacket::encode(&packet.header(), packet.inputs(), &mut buf).unwrap();
        prop_assert_eq!(&buf[..len], &bytes[..]);
    }

    #[test]
    fn arbitrary_bytes_are_judged_and_never_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..300), genuine in any::<bool>(), agreed in 0_usize..8,
    ) {
        let (mut bytes, agreed) = (bytes, AGREEMENTS[agreed]);
        if genuine && bytes.len() >= 6 {
            bytes[..5].copy_from_slice(b"RBN1\x01");
            bytes[5] &= 15;
        }
        prop_assert_eq!(verdict(&bytes, agreed), rule_broken(&bytes, agreed));
        if let Ok(packet) = InputPacket::decode(&bytes, Flags::ALL) {
            prop_assert_eq!(packet.inputs().count(), packet.count());
        }
    }
}
