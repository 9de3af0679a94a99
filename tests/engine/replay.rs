//! Replay files: a written match is read back, a broken file is refused with the reason, and a match plays again.

use games::playground::Playground;
use proptest::prelude::*;
use rebout::replay::{
    HEADER_LEN, MAX_FRAMES, RecordError, Recorder, Replay, VerifyError, WriteError, play, verify,
};
use rebout::rollback::{EngineConfig, Rollback};
use rebout::{Buttons, Frame, Inputs, Player, checksum};
use std::io::{self, Read};

/// The published file: seed 999, frames (1, 8) and (0, 2).
const GOLDEN: [u8; 40] = [
    0x52, 0x50, 0x4c, 0x4b, 0x01, 0x00, 0x20, 0x00, 0xe7, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02,
    0x00, 0x00, 0x00, 0x18, 0x3f, 0xed, 0x77, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00,
    0x08, 0x00, 0x00, 0x00, 0x02, 0x00,
];

fn golden() -> Replay {
    let inputs = vec![Inputs::from([Buttons(1), Buttons(8)]), Inputs::from([Buttons(0), Buttons(2)])];
    Replay { seed: 999, inputs, ..Replay::default() }
}

fn written(replay: &Replay) -> Vec<u8> {
    let mut file = Vec::new();
    replay.write(&mut file).unwrap();
    file
}

/// Why a file is refused; the same from memory and from a reader.
fn refusal(file: &[u8]) -> String {
    let decoded = Replay::decode(file).unwrap_err().to_string();
    assert_eq!(Replay::read(&mut &*file).unwrap_err().to_string(), decoded);
    decoded
}

fn golden_with(at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut file = GOLDEN.to_vec();
    file[at..at + bytes.len()].copy_from_slice(bytes);
    file
}

#[test]
fn published_file_is_read_and_written_byte_for_byte() {
    assert_eq!(Replay::decode(&GOLDEN).unwrap(), golden());
    assert_eq!(Replay::read(&mut &GOLDEN[..]).unwrap(), golden());
    assert_eq!(written(&golden()), GOLDEN);
}

#[test]
fn every_rule_that_a_header_breaks_is_named_with_the_bad_value() {
    for (at, bytes, reason) in [
        (0, &b"RPLX"[..], r#"magic: "RPLX" is not "RPLK""#),
        (0, b"\x00\xff\"\n", r#"magic: "\x00\xff\"\n" is not "RPLK""#),
        (4, &[2], "version: 2 is not 1"),
        (5, &[0x80], "flags: 0x80 is not 0"),
        (6, &[31, 0], "header size: 31 is not 32"),
        (6, &[0, 32], "header size: 8192 is not 32"),
        (8, &[0; 4], "seed: 0 is no seed"),
        (12, &[1, 0, 0, 0], "start frame: 1 is not 0"),
        (16, &[1, 0, 0, 1], "frame count: 16777217 is more than 16777216"),
        (16, &[0xff; 4], "frame count: 4294967295 is more than 16777216"),
        (24, &[1], "reserved bytes: [01, 00, 00, 00, 00, 00, 00, 00] are not all 0"),
        (31, &[9], "reserved bytes: [00, 00, 00, 00, 00, 00, 00, 09] are not all 0"),
        (16, &[3, 0, 0, 0], "length: 40 bytes, but the header asks for 44"),
        (16, &[1, 0, 0, 0], "length: more than the 36 bytes that the header asks for"),
        (20, &[0x19], "crc: the header says 77ED3F19, the contents have 77ED3F18"),
    ] {
        assert_eq!(refusal(&golden_with(at, bytes)), reason);
    }
}

#[test]
fn every_byte_of_the_header_matters_but_the_seed() {
    for at in 0..HEADER_LEN {
        for bit in 0..8 {
            let mut file = GOLDEN;
            file[at] ^= 1 << bit;
            let seed = (8..12).contains(&at);
            assert_eq!(Replay::decode(&file).is_ok(), seed, "byte {at}, bit {bit}");
        }
    }
}

#[test]
fn changed_bit_of_the_contents_is_noticed() {
    for at in HEADER_LEN..GOLDEN.len() {
        for bit in 0..8 {
            let mut file = GOLDEN;
            file[at] ^= 1 << bit;
            assert!(refusal(&file).starts_with("crc: the header says 77ED3F18, the contents have "));
        }
    }
}

#[test]
fn file_of_any_other_length_is_refused() {
    for len in 0..HEADER_LEN {
        assert_eq!(refusal(&GOLDEN[..len]), format!("length: {len} bytes are too few for the header of 32"));
    }
    for len in HEADER_LEN..GOLDEN.len() {
        assert_eq!(refusal(&GOLDEN[..len]), format!("length: {len} bytes, but the header asks for 40"));
    }
    let longer = [&GOLDEN[..], &[0; 5]].concat();
    assert_eq!(refusal(&longer), "length: more than the 40 bytes that the header asks for");
}

/// Gives a byte at a time, and is interrupted before each.
struct Dribble<'a> {
    bytes: &'a [u8],
    interrupt: bool,
}

impl Read for Dribble<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.interrupt = !self.interrupt;
        if self.interrupt {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let len = buf.len().min(1);
        self.bytes.read(&mut buf[..len])
    }
}

#[test]
fn reader_may_give_a_byte_at_a_time() {
    assert_eq!(Replay::read(&mut Dribble { bytes: &GOLDEN, interrupt: false }).unwrap(), golden());
}

#[test]
fn reader_that_fails_says_why() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is gone"))
        }
    }
    assert_eq!(Replay::read(&mut Broken).unwrap_err().to_string(), "cannot be read: the disk is gone");
}

#[test]
fn reader_is_read_no_further_than_the_file_it_promises() {
    // An endless stream: one byte beyond the promised end is enough to refuse it.
    let mut endless = GOLDEN[..].chain(io::repeat(0));
    assert_eq!(
        Replay::read(&mut endless).unwrap_err().to_string(),
        "length: more than the 40 bytes that the header asks for"
    );
}

#[test]
fn writing_refuses_what_reading_would_refuse() {
    let mut file = Vec::new();
    let error = Replay { seed: 0, ..golden() }.write(&mut file).unwrap_err();
    assert!(matches!(error, WriteError::Seed), "{error}");
    let frames = MAX_FRAMES as usize + 1;
    let long = Replay { seed: 1, inputs: vec![Inputs::default(); frames], ..Replay::default() };
    assert_eq!(long.write(&mut file).unwrap_err().to_string(), "frame count: 16777217 is more than 16777216");
    assert!(file.is_empty());
}

proptest! {
    #[test]
    fn written_replay_is_read_back(
        seed in 1_u32..,
        buttons in prop::collection::vec(any::<[u16; 2]>(), 0..3000),
    ) {
        let replay = Replay { seed, inputs: buttons.iter().map(|b| Inputs::from(b.map(Buttons))).collect(), ..Replay::default() };
        let file = written(&replay);
        prop_assert_eq!(file.len(), HEADER_LEN + 4 * buttons.len());
        prop_assert_eq!(&Replay::decode(&file).unwrap(), &replay);
        prop_assert_eq!(&Replay::read(&mut &*file).unwrap(), &replay);
    }

    #[test]
    fn arbitrary_bytes_are_refused_and_never_panic(
        start in 0_usize..=40,
        tail in prop::collection::vec(any::<u8>(), 0..100),
    ) {
        let file = [&GOLDEN[..start], &tail[..]].concat();
        let from_memory = Replay::decode(&file);
        prop_assert_eq!(from_memory.is_ok(), file == GOLDEN);
        prop_assert_eq!(Replay::read(&mut &*file).is_ok(), file == GOLDEN);
    }
}

#[test]
fn match_with_late_inputs_is_recorded_as_it_was_in_the_end() {
    let (seed, inputs) = (7, games::playground::script::fight(7, 500).unwrap());
    let mut game = Playground::new(seed).unwrap();
    let mut engine = Rollback::new(EngineConfig::default(), &game);
    let mut recorder = Recorder::new(seed);
    for now in 0..inputs.len() + 5 {
        if let Some(inputs) = inputs.get(now) {
            engine.confirm(Player::One, Frame(now as u32), inputs[Player::One]).unwrap();
        }
        if let Some(late) = now.checked_sub(5) {
            engine.confirm(Player::Two, Frame(late as u32), inputs[late][Player::Two]).unwrap();
        }
        if now < inputs.len() {
            engine.advance(&mut game);
        } else {
            engine.mend(&mut game);
        }
        recorder.record_settled(&engine).unwrap();
    }
    assert!(engine.stats().rollbacks > 50);
    let replay = Replay::decode(&written(&recorder.finish())).unwrap();
    assert_eq!(replay, Replay { seed, inputs, ..Replay::default() });
    let mut again = Playground::new(replay.seed).unwrap();
    play(&replay, &mut again, |_, _| {});
    assert_eq!(again, game);
}

#[test]
fn recorder_that_missed_a_frame_keeps_the_frames_before_it() {
    let mut game = Playground::new(1).unwrap();
    let mut engine = Rollback::new(EngineConfig::default(), &game);
    let mut recorder = Recorder::with_capacity(1, 10);
    let mut outcomes = Vec::new();
    for frame in 0..4 {
        for player in Player::BOTH {
            engine.confirm(player, Frame(frame), Buttons(frame as u16)).unwrap();
        }
        engine.advance(&mut game);
        if frame != 2 {
            outcomes.push(recorder.record_settled(&engine));
        }
    }
    let missing = RecordError::Missing { frame: Frame(3), next: Frame(2) };
    assert_eq!(outcomes, [Ok(()), Ok(()), Err(missing)]);
    assert_eq!(recorder.replay().inputs, [Inputs::from([Buttons(0); 2]), Inputs::from([Buttons(1); 2])]);
    recorder.reset(5);
    assert_eq!(recorder.replay(), &Replay { seed: 5, inputs: Vec::new(), ..Replay::default() });
}

#[test]
fn recorder_takes_each_frame_once_and_in_order() {
    let inputs = |frame: u32| Inputs::from([Buttons(frame as u16), Buttons(7)]);
    let mut recorder = Recorder::with_capacity(1, 10);
    let refused = recorder.record(Frame(1), inputs(1)).unwrap_err();
    assert_eq!(refused, RecordError::Missing { frame: Frame(1), next: Frame(0) }, "from the first frame on");
    (0..5).for_each(|frame| recorder.record(Frame(frame), inputs(frame)).unwrap());
    for (frame, reason) in [
        (
            4,
            "frame 4 is recorded already, the next is frame 5: \
             read the confirmed frames once after each advance, and not again after the last",
        ),
        (
            7,
            "frame 7 is not the next to record, frame 5 is: \
             read the confirmed frames after every advance, from the first on",
        ),
    ] {
        assert_eq!(recorder.record(Frame(frame), inputs(frame)).unwrap_err().to_string(), reason);
    }
    recorder.record(Frame(5), inputs(5)).unwrap();
    assert_eq!(recorder.replay().inputs, (0..6).map(inputs).collect::<Vec<_>>(), "nothing that was refused");
}

#[test]
fn settled_frames_that_are_recorded_twice_are_refused() {
    let mut game = Playground::new(1).unwrap();
    let mut engine = Rollback::new(EngineConfig::default(), &game);
    let mut recorder = Recorder::with_capacity(1, 10);
    for player in Player::BOTH {
        engine.confirm(player, Frame(0), Buttons(1)).unwrap();
    }
    engine.advance(&mut game);
    recorder.record_settled(&engine).unwrap();
    let again = recorder.record_settled(&engine);
    assert_eq!(again, Err(RecordError::Repeated { frame: Frame(0), next: Frame(1) }));
    assert_eq!(recorder.replay().inputs.len(), 1);
}

#[test]
fn recorder_takes_as_many_frames_as_a_file_may_have() {
    let mut recorder = Recorder::with_capacity(1, MAX_FRAMES);
    let inputs = Inputs::from([Buttons(1); 2]);
    (0..MAX_FRAMES).for_each(|frame| recorder.record(Frame(frame), inputs).unwrap());
    let refused = recorder.record(Frame(MAX_FRAMES), inputs).unwrap_err();
    assert_eq!(refused.to_string(), "the replay is full: it has 16777216 frames");
    assert_eq!(recorder.finish().write(&mut io::sink()).map_err(|error| error.to_string()), Ok(()));
}

fn scripted() -> Replay {
    Replay {
        seed: 1,
        inputs: (0..1000).map(games::playground::script::golden).collect(),
        ..Replay::default()
    }
}

#[test]
fn replay_is_verified_against_known_checksums() {
    let start = || Playground::new(1).unwrap();
    let known = [(Frame(0), 0xA54E_A31A), (Frame(1000), 0x41B7_3DB7)];
    assert_eq!(verify(&scripted(), &mut start(), known), Ok(2));

    let mut halfway = start();
    play(
        &Replay { seed: 1, inputs: scripted().inputs[..500].to_vec(), ..Replay::default() },
        &mut halfway,
        |_, _| {},
    );
    let found = checksum(&halfway);
    let error = verify(&scripted(), &mut start(), [(Frame(500), 5), (Frame(1000), 6)]).unwrap_err();
    assert_eq!(error, VerifyError::Checksum { frame: Frame(500), expected: 5, found });
    assert_eq!(error.to_string(), format!("frame 500: checksum {found:08X}, expected 00000005"));
}

#[test]
fn verification_that_proves_nothing_fails() {
    let run = |expected: &[(u32, u32)]| {
        let expected = expected.iter().map(|(frame, checksum)| (Frame(*frame), *checksum));
        verify(&scripted(), &mut Playground::new(1).unwrap(), expected)
    };
    assert_eq!(run(&[]), Err(VerifyError::Nothing));
    assert_eq!(
        run(&[(0, 0xA54E_A31A), (1001, 0)]),
        Err(VerifyError::BeyondEnd { frame: Frame(1001), end: Frame(1000) })
    );
    assert_eq!(run(&[(1000, 0x41B7_3DB7), (0, 0xA54E_A31A)]), Err(VerifyError::Order { frame: Frame(0) }));
}
