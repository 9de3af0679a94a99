//! Replay files of both versions.

use crate::game_of_sums::Sums;
use crate::memory::within;
use rebout::replay::{
    End, Header, MatchEvent, Outcome, Playback, Recording, Replay, StreamRecorder, Tail, Winner,
};
use rebout::{Buttons, FirstState, Frame, Input, Inputs};

/// Files of more frames are opened and not gone through: a record of four bytes holds 1,024 of them.
const MAX_FRAMES: u32 = 4_096;

/// The first byte chooses whether checksums are set right, which a fuzzer does not find.
pub fn run(data: &[u8]) {
    let Some((choice, rest)) = data.split_first() else { return };
    let mut file = rest.to_vec();
    if choice & 1 == 1 {
        mend(&mut file);
    }
    check(&file);
}

pub(crate) fn check(file: &[u8]) {
    let copy = file.to_vec();
    // Twice the file, a place for each of its chunks, and the header.
    let opened = within(4 * file.len() + 128 * 1_024, || Recording::open(copy));
    let decoded = within(16 * file.len() + 1_024, || Replay::decode(file));
    assert_eq!(decoded.is_ok(), opened.as_ref().is_ok_and(|open| open.version() == 1));
    let recording = match opened {
        Err(error) => return assert!(!error.to_string().is_empty()),
        Ok(recording) => recording,
    };
    if recording.frames() > MAX_FRAMES {
        return;
    }
    let inputs: Vec<Inputs> = recording.inputs().collect();
    assert_eq!(inputs.len(), recording.frames() as usize);
    let checksums: Vec<_> = recording.checksums().collect();
    let events: Vec<_> = recording.events().collect();
    let is_whole = matches!(recording.tail(), Tail::Whole | Tail::Open);
    let whole = Replay::of_file(file);
    assert_eq!(whole.is_ok(), is_whole, "{:?}", recording.tail());
    if let Ok(decoded) = decoded {
        assert_eq!(decoded.inputs, inputs);
        assert_eq!(decoded.to_file().expect("decoded"), file);
    }
    // A copy has the same content.
    let until = Frame(recording.frames());
    let copy = recording.write_version_2(recording.header(), until, Vec::new()).expect("read");
    let copy = Recording::open(copy).expect("just written");
    assert!(copy.inputs().eq(inputs.iter().copied()) && copy.checksums().eq(checksums), "{copy:?}");
    assert!(copy.events().eq(events) && copy.end() == recording.end(), "{copy:?}");
    if recording.version() == 2 {
        assert_eq!(copy.header(), recording.header());
    }
    play(recording, &inputs);
}

/// Every frame is reached by seeking as by playing.
fn play(recording: Recording, inputs: &[Inputs]) {
    let frames = recording.frames();
    let first = Sums::until(u32::MAX, 1);
    let mut playback = Playback::with_snapshots(first, recording, 8);
    while !playback.load(1_000, |_, _| {}) {}
    let (mut states, mut game) = (vec![first], first);
    let replay = Replay { seed: 1, inputs: inputs.to_vec(), ..Replay::default() };
    rebout::replay::play(&replay, &mut game, |_, game| states.push(*game));
    states.dedup_by_key(|state| state.frame);
    for frame in [frames, 0, frames / 2, frames / 3, frames.saturating_add(9), 1] {
        playback.seek(Frame(frame));
        let at = playback.frame().0;
        assert_eq!(at, frame.min(frames));
        assert!(*playback.game() == states[at as usize], "frame {at}");
    }
}

fn put(file: &mut [u8], at: usize, bytes: &[u8]) {
    if let Some(place) = file.get_mut(at..at + bytes.len()) {
        place.copy_from_slice(bytes);
    }
}

/// Sets the lengths and checksums of a file right, as far as it can be read.
pub(crate) fn mend(file: &mut [u8]) {
    match file.get(4) {
        Some(1) if file.len() >= 32 => {
            let crc = crc32fast::hash(&file[32..]);
            put(file, 16, &((file.len() as u32 - 32) / 4).to_le_bytes());
            put(file, 20, &crc.to_le_bytes());
        }
        Some(2) if file.len() >= 58 => mend_chunks(file),
        _ => {}
    }
}

fn mend_chunks(file: &mut [u8]) {
    let number = |file: &[u8], at: usize| usize::from(u16::from_le_bytes([file[at], file[at + 1]]));
    let len = number(file, 6);
    if !(58..=file.len()).contains(&len) {
        return;
    }
    let mut at = len;
    if file[5] == 1 && len >= 70 {
        let state = (number(file, 54)).min(file.len() - len);
        put(file, 54, &(state as u32).to_le_bytes());
        let hash = FirstState::from(file[len..len + state].to_vec()).hash();
        put(file, 58, &hash.to_le_bytes());
        at += state;
    }
    let mut crc = crc32fast::Hasher::new();
    crc.update(&file[..len - 4]);
    put(file, len - 4, &crc.clone().finalize().to_le_bytes());
    while at + 2 <= file.len() {
        let end = at + 2 + number(file, at);
        if end + 4 > file.len() {
            return;
        }
        crc.update(&file[at..end]);
        put(file, end, &crc.clone().finalize().to_le_bytes());
        at = end + 4;
    }
}

fn recorded(header: &Header, frames: u32, input: impl Fn(u32) -> Input) -> Vec<u8> {
    let mut recorder = StreamRecorder::new(header, Vec::new()).expect("a header");
    for frame in 0..frames {
        recorder.record(Frame(frame), Inputs([input(frame), input(frame / 2)])).expect("the next frame");
        if frame % 40 == 7 {
            recorder.checksum(Frame(frame), frame);
            recorder.event(MatchEvent::Mark(frame as u16));
            recorder.event(MatchEvent::Interrupted);
        }
    }
    recorder.finish(End { outcome: Outcome::Agreed { checksum: 7 }, winner: Winner::Draw }).expect("memory")
}

pub(crate) fn version_1(frames: u32) -> Replay {
    let input = |frame: u32| Buttons((frame / 5) as u16);
    let inputs = (0..frames).map(|frame| [input(frame), input(frame + 3)].into()).collect();
    Replay { seed: 5, inputs, ..Replay::default() }
}

pub fn seeds() -> Vec<Vec<u8>> {
    let header = Header::new(7);
    let buttons = |frame: u32| Input::from(Buttons((frame / 9) as u16));
    let names = ["Ada".to_owned(), "Ben".to_owned()];
    let files = [
        version_1(20).to_file().expect("a replay"),
        recorded(&header, 150, buttons),
        recorded(&Header { axes: 3, names, ..header.clone() }, 70, |frame| {
            buttons(frame).with_axis(1, frame as i8)
        }),
        recorded(&Header { pads: 4, ..header.clone() }, 70, |frame| {
            buttons(frame).with_pad(2, Buttons(frame as u16))
        }),
        recorded(&Header { first_state: vec![3; 100].into(), ..header }, 20, buttons),
    ];
    files.iter().map(|file| [&[1][..], file].concat()).collect()
}
