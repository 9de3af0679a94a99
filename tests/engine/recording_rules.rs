//! The rules of the records of RPLK version 2, in chunks whose CRC is right, so that only the rules can refuse them.

use proptest::prelude::*;
use rebout::replay::{End, Header, Outcome, Recording, StreamRecorder, Tail, Winner};
use rebout::{Buttons, Frame, Inputs, Player};

/// A file of one axis whose chunks have these records.
fn file(chunks: &[&[u8]]) -> Vec<u8> {
    let mut file = Vec::new();
    StreamRecorder::new(&Header { axes: 1, ..Header::new(7) }, &mut file).unwrap();
    let mut crc = crc32fast::Hasher::new();
    crc.update(&file[..file.len() - 4]);
    for records in chunks {
        let len = (records.len() as u16).to_le_bytes();
        crc.update(&len);
        crc.update(records);
        file.extend(len);
        file.extend(*records);
        file.extend(crc.clone().finalize().to_le_bytes());
    }
    file
}

fn opened(chunks: &[&[u8]]) -> Recording {
    Recording::open(file(chunks)).unwrap()
}

/// Three frames: player one presses a button in frame 0, player two in frame 0 and moves its axis in frame 2.
const GOOD: &[u8] = &[1, 3, 3, 0, 5, 3, 0b010, 1, 2 << 2 | 3, 0b100, 0x80];

#[test]
fn record_that_keeps_every_rule_is_taken() {
    let recording = opened(&[GOOD, &[2, 3, 1, 2, 3, 4], &[3, 0, 5, 1, 0], &[4, 0, 5]]);
    assert_eq!((recording.tail(), recording.frames()), (Tail::Whole, 3));
    let before = Inputs::from([Buttons(5), Buttons(0x100)]);
    let mut after = before;
    after[Player::Two] = after[Player::Two].with_axis(0, i8::MIN);
    assert!(recording.inputs().eq([before, before, after]));
    assert!(recording.checksums().eq([(Frame(3), 0x0403_0201)]));
    assert_eq!(recording.end(), Some(End { outcome: Outcome::Local, winner: Winner::Undecided }));
}

#[test]
fn bad_record_ends_the_recording_before_its_chunk() {
    let first = file(&[]).len();
    let second = file(&[GOOD]).len();
    for (rule, records) in [
        ("an empty chunk", &[][..]),
        ("an unknown kind", &[0]),
        ("an unknown kind", &[5]),
        ("no frames", &[1, 0, 0]),
        ("more than 1,024 frames", &[1, 0x81, 0x08, 0]),
        ("more changes than two a frame", &[1, 1, 3, 0, 1, 1, 1, 0, 1]),
        ("a change of nothing", &[1, 1, 1, 2, 0]),
        ("the low buttons in the long form", &[1, 1, 1, 2, 1, 5]),
        ("an axis that the match does not have", &[1, 1, 1, 2, 0b1000, 1]),
        ("a change beyond the frames", &[1, 2, 1, 2 << 2, 1]),
        ("two changes of a player in a frame", &[1, 2, 2, 0, 1, 0, 2]),
        ("player two before player one", &[1, 2, 2, 1, 1, 0, 2]),
        ("a number in a long form", &[1, 0x83, 0x00, 0]),
        ("a change that is cut", &[1, 3, 1, 2, 0b11, 1]),
        ("a checksum of a frame to come", &[2, 4, 1, 2, 3, 4]),
        ("a checksum that is cut", &[2, 3, 1, 2, 3]),
        ("checksums of one frame", &[2, 2, 1, 2, 3, 4, 2, 2, 1, 2, 3, 4]),
        ("checksums out of order", &[2, 2, 1, 2, 3, 4, 2, 1, 1, 2, 3, 4]),
        ("an event of a frame to come", &[3, 4, 2]),
        ("an unknown event", &[3, 0, 6]),
        ("a player that does not exist", &[3, 0, 1, 2, 1]),
        ("an unknown winner", &[4, 4, 5]),
        ("an unknown outcome", &[4, 0, 6]),
        ("an unknown reason", &[4, 0, 4, 200]),
        ("a record after the end", &[4, 0, 5, 1, 1, 0]),
    ] {
        let recording = opened(&[GOOD, records]);
        let found = (recording.frames(), recording.tail(), recording.end());
        assert_eq!(found, (3, Tail::Damaged { offset: second }, None), "{rule}");
        assert_eq!((recording.inputs().count(), recording.checksums().count()), (3, 0), "{rule}");
    }
    let beyond = opened(&[&[4, 0, 5], GOOD]);
    let offset = first + 6 + 3;
    assert_eq!((beyond.frames(), beyond.tail()), (0, Tail::Damaged { offset }), "a chunk after the end");
}

#[test]
fn file_has_at_most_16_million_frames() {
    let full: Vec<&[u8]> = vec![&[1, 0x80, 0x08, 0]; 16_384];
    let recording = opened(&full);
    assert_eq!((recording.frames(), recording.tail()), (1 << 24, Tail::Open));
    let more = [&full[..], &[&[1, 1, 0]]].concat();
    let recording = opened(&more);
    assert_eq!(recording.frames(), 1 << 24);
    assert!(matches!(recording.tail(), Tail::Damaged { .. }));
}

/// Records that are often nearly right.
fn records() -> impl Strategy<Value = Vec<u8>> {
    let small = prop_oneof![6 => 0_u8..6, 2 => any::<u8>()];
    prop::collection::vec(small, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    #[test]
    fn records_of_any_bytes_never_panic_and_agree_with_themselves(
        chunks in prop::collection::vec(records(), 1..4),
        from in any::<u32>(),
    ) {
        let chunks: Vec<&[u8]> = std::iter::once(GOOD).chain(chunks.iter().map(Vec::as_slice)).collect();
        let recording = opened(&chunks);
        prop_assert!(recording.frames() >= 3);
        prop_assert_eq!(recording.inputs().count(), recording.frames() as usize);
        prop_assert!(recording.checksums().all(|(frame, _)| frame.0 <= recording.frames()));
        prop_assert!(recording.events().all(|(frame, _)| frame.0 <= recording.frames()));
        let until = Frame(from % (recording.frames() + 1));
        let copy = recording.write_version_2(recording.header(), until, Vec::new()).unwrap();
        let copy = Recording::open(copy).unwrap();
        prop_assert!(copy.inputs().eq(recording.inputs().take(until.0 as usize)));
    }
}
