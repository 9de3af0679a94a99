//! RPLK version 2: a recorded match is read back with everything told about it, and a file that was cut or damaged opens
//! up to its last whole chunk, never with a wrong frame.

use games::duel::Duel;
use games::duel::bot::Level;
use games::duel::script::{Fight, fight};
use games::playground::PLAY;
use proptest::prelude::*;
use rebout::lab::link::LinkConfig;
use rebout::lab::{Setup, SimMatch};
use rebout::replay::{
    End, Header, HeaderError, MatchEvent, Outcome, ReadError, RecordError, Recording, Replay, StreamRecorder,
    Tail, VerifyError, Winner, WriteError,
};
use rebout::{Buttons, Config, Event, FirstState, Frame, FrameRate, Input, Inputs, Player, Reason, checksum};
use std::io::{self, Write};
use std::sync::OnceLock;
use std::time::Duration;

const END: End =
    End { outcome: Outcome::Agreed { checksum: 0x1234_5678 }, winner: Winner::Player(Player::Two) };

/// Fixed fields, two names, CRC.
const HEADER_LEN: usize = 54 + 3 + 7 + 4;

fn header() -> Header {
    Header {
        game_id: 0x6475_656C,
        content_hash: 77,
        recorded_at_secs: 1_800_000_000,
        frame_rate: Some(FrameRate::hz(60)),
        delay_frames: [Some(2), None],
        names: ["Ada".to_owned(), "Łukasz".to_owned()],
        ..Header::new(999)
    }
}

/// A match of two bots, with checksums, events and the end.
fn recorded(frames: u32) -> (Vec<u8>, Vec<Inputs>) {
    recorded_at(Level::Easy, frames)
}

fn recorded_at(level: Level, frames: u32) -> (Vec<u8>, Vec<Inputs>) {
    let mut fight = Fight::new(999, level);
    let mut recorder = StreamRecorder::new(&header(), Vec::new()).unwrap();
    let mut inputs = Vec::new();
    for frame in 0..frames {
        if recorder.is_checksum_due() {
            recorder.checksum(Frame(frame), checksum(&fight.duel));
        }
        if frame == 100 {
            recorder.event(MatchEvent::Delay { player: Player::One, delay_frames: 3 });
            recorder.event(MatchEvent::Mark(7));
        }
        inputs.push(fight.step());
        recorder.record(Frame(frame), inputs[frame as usize]).unwrap();
    }
    (recorder.finish(END).unwrap(), inputs)
}

#[test]
fn recorded_match_is_read_back_with_everything_told_about_it() {
    let (file, inputs) = recorded(250);
    let recording = Recording::open(file).unwrap();
    assert_eq!((recording.version(), recording.frames(), recording.tail()), (2, 250, Tail::Whole));
    assert_eq!((recording.header(), recording.end()), (&header(), Some(END)));
    assert_eq!(recording.inputs().collect::<Vec<_>>(), inputs);
    let frames: Vec<u32> = recording.checksums().map(|(frame, _)| frame.0).collect();
    assert_eq!(frames, [0, 60, 120, 180, 240]);
    let delay = MatchEvent::Delay { player: Player::One, delay_frames: 3 };
    let events: Vec<_> = recording.events().collect();
    assert_eq!(events, [(Frame(100), delay), (Frame(100), MatchEvent::Mark(7))]);
    assert_eq!(recording.verify(&mut Duel::new(999)), Ok(5));
    assert_eq!(recording.to_replay(), Replay { seed: 999, inputs, ..Replay::default() });
}

#[test]
fn file_cut_at_any_byte_opens_up_to_its_last_whole_chunk() {
    let (file, inputs) = recorded(250);
    let mut opened_frames = 0;
    for len in 0..file.len() {
        let Ok(recording) = Recording::open(file[..len].to_vec()) else {
            assert!(len < HEADER_LEN, "{len} bytes are more than the header");
            continue;
        };
        assert!(len >= HEADER_LEN);
        let frames = recording.frames();
        assert!(recording.tail() != Tail::Whole && recording.end().is_none(), "{len}: {}", recording.tail());
        assert!(frames >= opened_frames && (frames.is_multiple_of(60) || frames == 250), "{len}: {frames}");
        assert!(recording.inputs().eq(inputs[..frames as usize].iter().copied()), "{len}");
        match recording.tail() {
            Tail::Cut { bytes } => assert!(bytes > 0 && bytes < len),
            tail => assert_eq!(tail, Tail::Open),
        }
        opened_frames = frames;
    }
    assert_eq!(opened_frames, 240, "the last chunk has the end in it");
}

#[test]
fn no_flipped_bit_gives_a_wrong_frame() {
    let (file, inputs) = recorded(250);
    let whole = Recording::open(file.clone()).unwrap();
    let (checksums, events): (Vec<_>, Vec<_>) = (whole.checksums().collect(), whole.events().collect());
    let mut opened = 0;
    for at in 0..file.len() {
        for bit in 0..8 {
            let mut damaged = file.clone();
            damaged[at] ^= 1 << bit;
            let Ok(recording) = Recording::open(damaged) else { continue };
            opened += 1;
            assert_eq!(recording.header(), whole.header(), "byte {at}, bit {bit}");
            assert!(recording.tail() != Tail::Whole && recording.end().is_none(), "byte {at}, bit {bit}");
            let frames = recording.frames() as usize;
            assert!(frames < 250 && recording.inputs().eq(inputs[..frames].iter().copied()));
            assert!(recording.checksums().eq(checksums.iter().copied().take(recording.checksums().count())));
            assert!(recording.events().eq(events.iter().copied().take(recording.events().count())));
        }
    }
    assert_eq!(opened, 8 * (file.len() - HEADER_LEN), "a damaged header is refused, and nothing else");
}

#[test]
fn chunks_of_another_file_or_another_place_are_not_taken() {
    let (file, _) = recorded(250);
    let chunk_at = |wanted: usize| {
        let mut at = usize::from(u16::from_le_bytes([file[6], file[7]]));
        for _ in 0..wanted {
            at += 6 + usize::from(u16::from_le_bytes([file[at], file[at + 1]]));
        }
        at
    };
    let [first, second, third] = [0, 1, 2].map(chunk_at);
    let repeated = [&file[..second], &file[first..]].concat();
    let skipped = [&file[..first], &file[second..]].concat();
    let swapped = [&file[..first], &file[second..third], &file[first..second], &file[third..]].concat();
    for (name, bytes, frames, offset) in
        [("repeated", repeated, 60, second), ("skipped", skipped, 0, first), ("swapped", swapped, 0, first)]
    {
        let recording = Recording::open(bytes).unwrap();
        assert_eq!((recording.frames(), recording.tail()), (frames, Tail::Damaged { offset }), "{name}");
    }
    let longer = Recording::open([&file[..], &[1, 2, 3]].concat()).unwrap();
    assert_eq!((longer.frames(), longer.tail()), (250, Tail::Damaged { offset: file.len() }));
}

#[test]
fn ten_minutes_of_bots_are_under_40_kib() {
    for level in [Level::Easy, Level::Normal, Level::Hard] {
        let (file, inputs) = recorded_at(level, 36_000);
        let mut version_1 = Vec::new();
        Replay { seed: 999, inputs, ..Replay::default() }.write(&mut version_1).unwrap();
        assert!(file.len() < 40 * 1024, "{level:?}: {} bytes", file.len());
        assert_eq!(version_1.len(), 144_032);
        println!("{level:?}: {} bytes in version 2, {} in version 1", file.len(), version_1.len());
    }
}

#[test]
fn state_that_differs_is_named_by_its_frame() {
    let (file, mut inputs) = recorded(250);
    let recording = Recording::open(file).unwrap();
    let mut other = Duel::new(999);
    other.fighters[0].health -= 1;
    assert!(matches!(recording.verify(&mut other), Err(VerifyError::Checksum { frame: Frame(0), .. })));

    inputs[130..170].fill(Inputs::from([Buttons(1), Buttons(0)]));
    let mut recorder = StreamRecorder::new(&header(), Vec::new()).unwrap();
    let mut checksums = recording.checksums().peekable();
    for (frame, inputs) in (0..).map(Frame).zip(inputs) {
        while let Some((frame, checksum)) = checksums.next_if(|(due, _)| *due <= frame) {
            recorder.checksum(frame, checksum);
        }
        recorder.record(frame, inputs).unwrap();
    }
    let changed = Recording::open(recorder.finish(END).unwrap()).unwrap();
    let error = changed.verify(&mut Duel::new(999)).unwrap_err();
    assert!(matches!(error, VerifyError::Checksum { frame: Frame(180), .. }), "{error}");
}

#[test]
fn both_versions_convert_there_and_back_to_the_same_bytes() {
    let mut version_1 = Vec::new();
    Replay { seed: 5, inputs: fight(5, Level::Normal, 700), ..Replay::default() }
        .write(&mut version_1)
        .unwrap();
    let opened = Recording::open(version_1.clone()).unwrap();
    assert_eq!((opened.version(), opened.frames(), opened.tail()), (1, 700, Tail::Whole));
    assert_eq!((opened.checksums().count(), opened.events().count(), opened.end()), (0, 0, None));
    let version_2 = opened.write_version_2(opened.header(), Frame(u32::MAX), Vec::new()).unwrap();
    let again = Recording::open(version_2).unwrap();
    assert_eq!((again.version(), again.frames(), again.tail()), (2, 700, Tail::Open));
    let mut back = Vec::new();
    again.write_version_1(&mut back).unwrap();
    assert_eq!(back, version_1);

    let (file, _) = recorded(250);
    let recording = Recording::open(file.clone()).unwrap();
    let copy = recording.write_version_2(recording.header(), Frame(u32::MAX), Vec::new()).unwrap();
    let copy = Recording::open(copy).unwrap();
    assert!(copy.inputs().eq(recording.inputs()) && copy.checksums().eq(recording.checksums()));
    assert!(copy.events().eq(recording.events()) && copy.end() == recording.end());
}

#[test]
fn axes_are_recorded_and_refused_by_version_1() {
    let stick = |frame: u32| {
        let input =
            Input::from(Buttons(frame as u16)).with_axis(0, frame as i8).with_axis(1, -(frame as i8 / 2));
        Inputs::from([input, Input::NEUTRAL.with_axis(1, i8::MIN)])
    };
    let mut recorder = StreamRecorder::new(&Header { axes: 2, ..Header::new(1) }, Vec::new()).unwrap();
    (0..200).for_each(|frame| recorder.record(Frame(frame), stick(frame)).unwrap());
    let beyond = Input::NEUTRAL.with_axis(2, 1);
    for beyond in [[beyond, Input::NEUTRAL], [Input::NEUTRAL, beyond]] {
        let refused = recorder.record(Frame(200), Inputs::from(beyond)).unwrap_err();
        assert_eq!(refused, RecordError::Input { frame: Frame(200), axes: 2, pads: 1 });
    }
    let recording = Recording::open(recorder.finish(END).unwrap()).unwrap();
    assert!(recording.inputs().eq((0..200).map(stick)));
    let error = recording.write_version_1(&mut Vec::new()).unwrap_err();
    assert!(matches!(error, WriteError::Axes { frame: Frame(0) }), "{error}");
}

#[test]
fn first_state_is_in_version_2_and_refused_by_version_1() {
    let first_state = FirstState::from((0..100_000_u32).map(|at| (at ^ at >> 8) as u8).collect::<Vec<_>>());
    let header = Header { first_state: first_state.clone(), ..header() };
    let mut recorder = StreamRecorder::new(&header, Vec::new()).unwrap();
    let inputs = |frame: u32| Inputs::from([Buttons(frame as u16), Buttons(0)]);
    (0..200).for_each(|frame| recorder.record(Frame(frame), inputs(frame)).unwrap());
    let file = recorder.finish(END).unwrap();
    let recording = Recording::open(file.clone()).unwrap();
    assert_eq!((recording.tail(), recording.header()), (Tail::Whole, &header));
    assert!(recording.inputs().eq((0..200).map(inputs)));
    assert_eq!(recording.to_replay().first_state, first_state);
    // A copy with another header keeps it, because the states follow from it.
    let anonymous = Header::new(999);
    let copy = recording.write_version_2(&anonymous, Frame(100), Vec::new()).unwrap();
    assert_eq!(Recording::open(copy).unwrap().header().first_state, first_state);
    for refused in [recording.write_version_1(&mut Vec::new()), recording.to_replay().write(&mut Vec::new())]
    {
        assert!(matches!(refused, Err(WriteError::FirstState)));
    }
    // Cut or damaged, its frames would lead to other states.
    let start = usize::from(u16::from_le_bytes([file[6], file[7]]));
    let states = start..start + 100_000;
    for cut in [states.start, states.start + 50_000, states.end - 1] {
        assert!(matches!(Recording::open(file[..cut].to_vec()), Err(ReadError::FirstState { .. })), "{cut}");
    }
    assert_eq!(Recording::open(file[..states.end].to_vec()).unwrap().frames(), 0);
    for at in [states.start, states.end - 1] {
        let mut damaged = file.clone();
        damaged[at] ^= 0x10;
        assert!(matches!(Recording::open(damaged), Err(ReadError::FirstStateHash { .. })), "{at}");
    }
}

#[test]
fn stream_takes_each_frame_once_and_in_order() {
    let mut recorder = StreamRecorder::new(&Header::new(1), Vec::new()).unwrap();
    let inputs = Inputs::from([Buttons(1), Buttons(2)]);
    recorder.record(Frame(0), inputs).unwrap();
    let repeated = recorder.record(Frame(0), inputs).unwrap_err();
    assert_eq!(repeated, RecordError::Repeated { frame: Frame(0), next: Frame(1) });
    let missing = recorder.record(Frame(2), inputs).unwrap_err();
    assert_eq!(missing, RecordError::Missing { frame: Frame(2), next: Frame(1) });
    let recording = Recording::open(recorder.finish(END).unwrap()).unwrap();
    assert_eq!(recording.frames(), 1);
}

#[test]
fn events_of_a_session_are_kept() {
    let mut recorder = StreamRecorder::new(&Header::new(1), Vec::new()).unwrap();
    (0..90).for_each(|frame| recorder.record(Frame(frame), Inputs::default()).unwrap());
    for event in [
        Event::Interrupted { disconnect_at: core::time::Duration::ZERO },
        Event::Resumed,
        Event::PeerDelay { delay_frames: 4 },
        Event::DelayChanged { delay_frames: 5 },
        Event::PeerRecovered,
        Event::Disconnected { reason: Reason::TimedOut },
    ] {
        recorder.hear(Player::One, &event);
    }
    let outcome = recorder.outcome().unwrap();
    assert_eq!(outcome, Outcome::Disconnected(Reason::TimedOut));
    let end = End { outcome, winner: Winner::Draw };
    let recording = Recording::open(recorder.finish(end).unwrap()).unwrap();
    let [theirs, ours] = [(Player::Two, 4), (Player::One, 5)]
        .map(|(player, delay_frames)| MatchEvent::Delay { player, delay_frames });
    let told = [MatchEvent::Interrupted, MatchEvent::Resumed, theirs, ours].map(|event| (Frame(90), event));
    assert_eq!((recording.events().collect::<Vec<_>>(), recording.end()), (told.to_vec(), Some(end)));
}

#[test]
fn header_of_a_match_has_the_delay_of_each_seat() {
    let mut setup = Setup::new(3, LinkConfig::new(Duration::from_millis(20)));
    setup.configs[0].rollback.delay_frames = Some(1);
    setup.configs[1].rollback.delay_frames = Some(4);
    let mut sim = SimMatch::new(setup, PLAY);
    assert!(sim.run_until_frame(5));
    for (id, delay) in [(0, 1), (1, 4)] {
        let agreed = sim.machine(id).session().unwrap().agreed();
        let header = Header::of_match(&Config::new(0xB0), agreed);
        assert_eq!(header.delay_frames[agreed.seat.index()], Some(delay));
        assert_eq!(header.delay_frames[agreed.seat.other().index()], Some(5 - delay));
        assert_eq!((header.seed, header.game_id), (agreed.seed, 0xB0));
    }
}

#[test]
fn headers_that_cannot_be_read_again_are_not_written() {
    let fast = FrameRate::hz(65_535);
    let long = Header { names: ["x".repeat(65), String::new()], ..header() };
    let too_large = Header { first_state: vec![0; (4 << 20) + 1].into(), ..header() };
    for (bad, error) in [
        (Header { seed: 0, ..header() }, HeaderError::Seed),
        (Header { axes: 7, ..header() }, HeaderError::Axes { axes: 7 }),
        (Header { axes: 0, pads: 0, ..header() }, HeaderError::Pads { pads: 0, axes: 0 }),
        (Header { axes: 0, pads: 5, ..header() }, HeaderError::Pads { pads: 5, axes: 0 }),
        (Header { axes: 1, pads: 2, ..header() }, HeaderError::Pads { pads: 2, axes: 1 }),
        (Header { frame_rate: Some(fast), ..header() }, HeaderError::FrameRate { frame_rate: fast }),
        (Header { delay_frames: [None, Some(25)], ..header() }, HeaderError::Delay { delay_frames: 25 }),
        (long, HeaderError::Name { len: 65 }),
        (too_large, HeaderError::FirstState { len: (4 << 20) + 1 }),
    ] {
        let mut file = Vec::new();
        let refused = StreamRecorder::new(&bad, &mut file).map(|_| ());
        assert!(matches!(refused, Err(WriteError::Header(found)) if found == error), "{error}");
        assert!(file.is_empty());
    }
}

#[test]
fn files_that_are_no_replay_are_refused_with_the_reason() {
    let (file, _) = recorded(10);
    let with = |at: usize, byte: u8| {
        let mut file = file.clone();
        file[at] = byte;
        Recording::open(file).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(with(0, b'X'), Err(r#"magic: "XPLK" is not "RPLK""#.to_owned()));
    assert_eq!(with(4, 3), Err("version: 3 is not 1 or 2".to_owned()));
    assert_eq!(with(6, 7), Err("header size: 7 is not that of fields and names".to_owned()));
    assert!(with(8, 0).unwrap_err().starts_with("crc: the header says "));
    for len in 0..file.len().min(50) {
        let error = Recording::open(file[..len].to_vec()).unwrap_err();
        assert!(matches!(error, ReadError::TooShort { .. }), "{len}: {error}");
    }
}

/// Takes some bytes, and fails then.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn writer_that_fails_is_told_once_and_the_match_goes_on() {
    let mut recorder = StreamRecorder::new(&Header::new(1), Full(150)).unwrap();
    let mut told = Vec::new();
    for frame in 0..3_000 {
        recorder.record(Frame(frame), Inputs::from([Buttons(frame as u16), Buttons(0)])).unwrap();
        told.extend(recorder.take_error().map(|error| (frame, error.kind())));
    }
    assert_eq!(told, [(59, io::ErrorKind::StorageFull)]);
    assert!(recorder.finish(END).is_err());
}

#[test]
fn chunk_may_end_with_its_only_change_or_have_none() {
    let inputs = |frame: u32| Inputs::from([Buttons(frame as u16 / 61), Buttons(1)]);
    let mut recorder = StreamRecorder::new(&Header::new(1), Vec::new()).unwrap();
    (0..1_000).for_each(|frame| recorder.record(Frame(frame), inputs(frame)).unwrap());
    let recording = Recording::open(recorder.finish(END).unwrap()).unwrap();
    assert_eq!(recording.frames(), 1_000);
    assert!(recording.inputs().eq((0..1_000).map(inputs)));
}

proptest! {
    #[test]
    fn any_inputs_are_read_as_they_were_recorded(
        runs in prop::collection::vec((1_u32..100, any::<[u64; 2]>(), any::<[bool; 2]>()), 0..60),
        axes in 0_u8..=6,
        frame_rate in 0_u32..=1_000,
    ) {
        let input = |bits: u64| {
            (0..6).fold(Input::from(Buttons(bits as u16)), |input, axis| {
                if axis < usize::from(axes) { input.with_axis(axis, (bits >> (16 + 8 * axis)) as i8) } else { input }
            })
        };
        // Each run changes the input of neither player, of one or of both.
        let (mut inputs, mut held) = (Vec::new(), Inputs::default());
        for (len, bits, changes) in runs {
            for player in Player::BOTH.into_iter().filter(|player| changes[player.index()]) {
                held[player] = input(bits[player.index()]);
            }
            inputs.extend(std::iter::repeat_n(held, len as usize));
        }
        let header = Header { axes, frame_rate: (frame_rate > 0).then_some(FrameRate::hz(frame_rate)), ..Header::new(3) };
        let mut recorder = StreamRecorder::new(&header, Vec::new()).unwrap();
        for (frame, inputs) in (0..).map(Frame).zip(&inputs) {
            recorder.record(frame, *inputs).unwrap();
        }
        let recording = Recording::open(recorder.finish(END).unwrap()).unwrap();
        prop_assert_eq!(recording.tail(), Tail::Whole);
        prop_assert!(recording.inputs().eq(inputs));
    }

    #[test]
    fn arbitrary_bytes_never_panic(
        start in 0_usize..=400,
        tail in prop::collection::vec(any::<u8>(), 0..100),
    ) {
        static MATCH: OnceLock<(Vec<u8>, Vec<Inputs>)> = OnceLock::new();
        let (file, inputs) = MATCH.get_or_init(|| recorded(130));
        let bytes = [&file[..start.min(file.len())], &tail[..]].concat();
        if let Ok(recording) = Recording::open(bytes) {
            prop_assert!(recording.inputs().eq(inputs[..recording.frames() as usize].iter().copied()));
        }
    }
}
