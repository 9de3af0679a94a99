//! The file in `docs/vectors/replay.txt` is the one that the recorder writes, and is read as its comments say.

use rebout::replay::{End, Header, MatchEvent, Outcome, Recording, StreamRecorder, Tail, Winner};
use rebout::{Buttons, Frame, FrameRate, Input, Inputs, Player};

const VECTORS: &str = include_str!("../../docs/vectors/replay.txt");

/// The bytes of the file; text after a semicolon is for the reader.
fn vector() -> Vec<u8> {
    let block = VECTORS.split("[replay]\n").nth(1).expect("a block of bytes");
    let words = block.lines().flat_map(|line| line.split(';').next().unwrap().split_whitespace());
    words.map(|byte| u8::from_str_radix(byte, 16).unwrap_or_else(|_| panic!("{byte:?} is no byte"))).collect()
}

fn header() -> Header {
    Header {
        game_id: 0x6475_656C,
        content_hash: 0x0102,
        recorded_at_secs: 1_800_000_000,
        frame_rate: Some(FrameRate::hz(60)),
        axes: 2,
        delay_frames: [Some(2), None],
        names: ["Ada".to_owned(), "Bob".to_owned()],
        ..Header::new(999)
    }
}

const DELAY: MatchEvent = MatchEvent::Delay { player: Player::One, delay_frames: 3 };
const END: End =
    End { outcome: Outcome::Agreed { checksum: 0x41B7_3DB7 }, winner: Winner::Player(Player::One) };

fn inputs(frame: u32) -> Inputs {
    let one = Input::from(Buttons(1)).with_axis(0, if frame >= 10 { -127 } else { 0 });
    let two = Buttons(if frame <= 60 { 0x0108 } else { 0 });
    Inputs([one, two.into()])
}

#[test]
fn recorder_writes_the_file_of_the_vectors() {
    let mut recorder = StreamRecorder::new(&header(), Vec::new()).unwrap();
    recorder.checksum(Frame(0), 0xA54E_A31A);
    for frame in 0..62 {
        if frame == 40 {
            recorder.event(DELAY);
        }
        recorder.record(Frame(frame), inputs(frame)).unwrap();
    }
    let file = recorder.finish(END).unwrap();
    assert!(file == vector(), "written:\n{file:02X?}\nin the file:\n{:02X?}", vector());
}

#[test]
fn file_of_the_vectors_is_read_as_it_says() {
    let recording = Recording::open(vector()).unwrap();
    assert_eq!((recording.header(), recording.frames(), recording.tail()), (&header(), 62, Tail::Whole));
    assert!(recording.inputs().eq((0..62).map(inputs)));
    assert!(recording.checksums().eq([(Frame(0), 0xA54E_A31A)]));
    assert!(recording.events().eq([(Frame(40), DELAY)]));
    assert_eq!(recording.end(), Some(END));
}
