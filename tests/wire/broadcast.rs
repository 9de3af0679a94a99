//! The packets of a broadcast: golden bytes both ways, exact lengths, and every refusal by its name.

use rebout::lab::wire::broadcast::{
    Bye, DecodeError, Head, MAX_RANGES, MatchId, PIECE_LEN, Status, ToBroadcast, ToSpectator, encode_ack,
    encode_leave, encode_watch,
};

const STATUS: Status = Status { spectators: 0x0102, delay_millis: 60_000 };

fn head() -> Head {
    let id = core::array::from_fn(|at| 0x31 + at as u8);
    let of = MatchId { id, number: 7 };
    Head { of, is_last: true, len: 0x0A0B, hash: [0xBB; 32], signature: [0xCC; 64] }
}

/// Encodes into a buffer in which an unwritten byte shows.
fn encoded(write: impl FnOnce(&mut [u8]) -> Option<usize>) -> Vec<u8> {
    let mut buf = vec![0xA5; 1_200];
    let len = write(&mut buf).unwrap();
    buf.truncate(len);
    buf
}

fn watch_bytes() -> Vec<u8> {
    [&[0x01, 1][..], &[0x77; 16], &[0, 0, 4, 0]].concat()
}

fn head_bytes() -> Vec<u8> {
    let id: Vec<u8> = (0x31..0x41).collect();
    [
        &[0x10, 1, 1, 2, 0, 0, 0xEA, 0x60][..],
        &id,
        &[0, 0, 0, 7, 1, 0, 0, 0x0A, 0x0B],
        &[0xBB; 32],
        &[0xCC; 64],
    ]
    .concat()
}

#[test]
fn packets_of_spectators_are_written_and_read() {
    let watch = encoded(|buf| encode_watch(&[0x77; 16], 1_024, buf));
    assert_eq!(watch, watch_bytes());
    assert_eq!(ToBroadcast::decode(&watch), Ok(ToBroadcast::Watch { id: [0x77; 16], len: 1_024 }));
    let ack = encoded(|buf| encode_ack(7, 100, 300, &[120..130, 140..200], buf));
    let golden = [
        &[0x02, 2, 0, 0, 0, 7, 0, 0, 0, 100, 0, 0, 1, 44][..],
        &[0, 0, 0, 120, 0, 0, 0, 130, 0, 0, 0, 140, 0, 0, 0, 200],
    ];
    assert_eq!(ack, golden.concat());
    let Ok(ToBroadcast::Ack(read)) = ToBroadcast::decode(&ack) else { panic!() };
    assert_eq!((read.number, read.next, read.head), (7, 100, 300));
    assert!(read.ranges().eq([120..130, 140..200]));
    let leave = encoded(encode_leave);
    assert_eq!((&leave[..], ToBroadcast::decode(&leave)), (&[0x03][..], Ok(ToBroadcast::Leave)));
}

#[test]
fn packets_of_broadcasts_are_written_and_read() {
    let data = ToSpectator::Data { number: 7, offset: 258, bytes: b"log" };
    let wait = ToSpectator::Wait { millis: 1_000, status: STATUS };
    for (packet, golden) in [
        (ToSpectator::Head(head(), STATUS), head_bytes()),
        (data, [&[0x11, 0, 0, 0, 7, 0, 0, 1, 2][..], b"log"].concat()),
        (wait, vec![0x12, 1, 1, 2, 0, 0, 0xEA, 0x60, 0, 0, 3, 0xE8]),
        (ToSpectator::Bye(Bye::TooSlow), vec![0x13, 3]),
    ] {
        assert_eq!(encoded(|buf| packet.encode(buf)), golden);
        assert_eq!(ToSpectator::decode(&golden), Ok(packet));
    }
    assert_eq!(ToSpectator::Head(head(), STATUS).encode(&mut [0; 128]), None, "too short a buffer");
}

#[test]
fn every_packet_has_an_exact_length() {
    let ack = encoded(|buf| encode_ack(7, 100, 300, &[120..130, 140..141], buf));
    for packet in [watch_bytes(), ack, vec![0x03]] {
        for len in 0..packet.len() {
            assert_eq!(ToBroadcast::decode(&packet[..len]), Err(DecodeError::Length), "{packet:x?} to {len}");
        }
        let longer = [&packet[..], &[0]].concat();
        assert_eq!(ToBroadcast::decode(&longer), Err(DecodeError::Length));
    }
    for packet in [head_bytes(), vec![0x12, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], vec![0x13, 1]] {
        for len in 0..packet.len() {
            assert_eq!(ToSpectator::decode(&packet[..len]), Err(DecodeError::Length), "{packet:x?} to {len}");
        }
        let longer = [&packet[..], &[0]].concat();
        assert_eq!(ToSpectator::decode(&longer), Err(DecodeError::Length));
    }
    let data = |len: usize| [&[0x11; 9][..], &vec![0; len]].concat();
    for (len, is_taken) in [(0, false), (1, true), (PIECE_LEN, true), (PIECE_LEN + 1, false)] {
        assert_eq!(ToSpectator::decode(&data(len)).is_ok(), is_taken, "{len}");
    }
}

#[test]
fn broken_rules_of_a_broadcast_have_names() {
    let changed = |mut packet: Vec<u8>, at: usize, byte: u8| {
        packet[at] = byte;
        packet
    };
    for (packet, rule) in [
        (changed(head_bytes(), 1, 2), "broadcast-version"),
        (changed(head_bytes(), 28, 3), "broadcast-value"),
        (changed(head_bytes(), 27, 0), "broadcast-value"),
        (vec![0x13, 0], "broadcast-value"),
        (vec![0x13, 6], "broadcast-value"),
        (watch_bytes(), "broadcast-kind"),
        (vec![], "broadcast-length"),
    ] {
        let error = ToSpectator::decode(&packet).unwrap_err();
        assert_eq!(error.rule(), rule, "{packet:x?}");
    }
    let mut short = head();
    short.len = 0;
    let packet = encoded(|buf| ToSpectator::Head(short, STATUS).encode(buf));
    assert_eq!(ToSpectator::decode(&packet), Err(DecodeError::Value), "a head of nothing");
    assert_eq!(ToBroadcast::decode(&head_bytes()), Err(DecodeError::Kind));
    assert_eq!(ToBroadcast::decode(&changed(watch_bytes(), 1, 2)), Err(DecodeError::Version));
    for ranges in [
        &[(100, 130)][..],
        &[(50, 60)],
        &[(120, 120)],
        &[(120, 110)],
        &[(120, 130), (130, 140)],
        &[(140, 150), (120, 130)],
    ] {
        let ranges: Vec<_> = ranges.iter().map(|(start, end)| *start..*end).collect();
        let ack = encoded(|buf| encode_ack(7, 100, 300, &ranges, buf));
        assert_eq!(ToBroadcast::decode(&ack), Err(DecodeError::Ranges), "{ranges:?}");
    }
    let many: Vec<_> = (0..MAX_RANGES as u32 + 9).map(|at| 10 + 2 * at..11 + 2 * at).collect();
    let ack = encoded(|buf| encode_ack(7, 0, 300, &many, buf));
    let Ok(ToBroadcast::Ack(ack)) = ToBroadcast::decode(&ack) else { panic!() };
    assert_eq!(ack.ranges().count(), MAX_RANGES, "no more are named");
}
