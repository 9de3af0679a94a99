//! Recording into a file allocates nothing, on either thread; an open file takes no more memory than it has bytes.

use crate::counted;
use games::duel::Duel;
use games::duel::bot::Level;
use games::duel::script::fight;
use rebout::net::append::FileAppender;
use rebout::replay::{End, Header, MAX_FRAMES, MatchEvent, Outcome, Recording, StreamRecorder, Tail, Winner};
use rebout::{Cues, Frame, FrameRate, Game, Inputs, checksum};
use std::fs::File;
use std::time::Duration;

const END: End = End { outcome: Outcome::Local, winner: Winner::Undecided };

pub(crate) fn all() {
    a_match_recorded_into_a_file();
    a_small_file_of_a_long_match();
    println!("recording into a file and opening one allocate nothing more: ok");
}

fn a_match_recorded_into_a_file() {
    let path = std::env::temp_dir().join(format!("rebout-{}-alloc.rplk", std::process::id()));
    let appender = FileAppender::new(File::create(&path).unwrap()).unwrap();
    let mut recorder = StreamRecorder::new(&Header::new(3), appender).unwrap();
    // The bots think before, because their thoughts may take memory.
    let inputs = fight(3, Level::Easy, 3_700);
    let (mut duel, mut cues) = (Duel::new(3), Cues::new());
    let mut play = |frames: core::ops::Range<u32>| {
        for frame in frames {
            if recorder.is_checksum_due() {
                recorder.checksum(Frame(frame), checksum(&duel));
            }
            recorder.event(MatchEvent::Mark(1));
            recorder.record(Frame(frame), inputs[frame as usize]).unwrap();
            cues.clear();
            duel.step(inputs[frame as usize], &mut cues);
            if frame % 600 == 0 {
                // The thread appends meanwhile, and is counted too.
                std::thread::sleep(Duration::from_millis(250));
            }
        }
        recorder.take_error().map(|error| error.to_string())
    };
    play(0..100);
    let (calls, bytes, error) = counted(|| play(100..3_700));
    assert_eq!((calls, bytes, error), (0, 0, None));
    recorder.finish(END).unwrap().finish().unwrap();
    let recording = Recording::open(std::fs::read(&path).unwrap()).unwrap();
    assert_eq!((recording.frames(), recording.tail()), (3_700, Tail::Whole));
    std::fs::remove_file(path).unwrap();
}

fn a_small_file_of_a_long_match() {
    let mut recorder =
        StreamRecorder::new(&Header { frame_rate: Some(FrameRate::hz(1_000)), ..Header::new(3) }, Vec::new())
            .unwrap();
    (0..MAX_FRAMES).for_each(|frame| recorder.record(Frame(frame), Inputs::default()).unwrap());
    let file = recorder.finish(END).unwrap();
    assert!(file.len() < 200_000, "{} bytes", file.len());
    // The places at which reading can begin, whatever the file says.
    const MAX_BYTES: u64 = 100_000;
    let (_, bytes, recording) = counted(|| Recording::open(file).unwrap());
    assert!(bytes < MAX_BYTES, "{bytes} bytes beside the file");
    let (calls, _, frames) = counted(|| recording.inputs().count());
    assert_eq!((calls, frames), (0, MAX_FRAMES as usize));
}
