//! Seeking in a recording of the duel: the steps of the longest seek, and its time beside that of playing the match.
//!
//! `cargo bench --bench replay`. The steps and the ratio say something; the times are those of the machine.

use games::duel::Duel;
use games::duel::bot::Level;
use games::duel::script::Fight;
use rebout::replay::{End, Header, Outcome, Playback, Recording, StreamRecorder, Winner};
use rebout::{Frame, FrameRate, checksum};
use std::hint::black_box;
use std::time::{Duration, Instant};

const SEED: u32 = 4;
/// Ten minutes.
const FRAMES: u32 = 36_000;
const RUNS: usize = 21;

fn recorded() -> Recording {
    let mut recorder =
        StreamRecorder::new(&Header { frame_rate: Some(FrameRate::hz(60)), ..Header::new(SEED) }, Vec::new())
            .expect("memory does not fail");
    let mut fight = Fight::new(SEED, Level::Easy);
    for frame in (0..FRAMES).map(Frame) {
        if recorder.is_checksum_due() {
            recorder.checksum(frame, checksum(&fight.duel));
        }
        recorder.record(frame, fight.step()).expect("in order");
    }
    let end = End { outcome: Outcome::Local, winner: Winner::Undecided };
    Recording::open(recorder.finish(end).expect("memory does not fail")).expect("just written")
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn main() {
    let recording = recorded();
    let mut playback = Playback::new(Duel::new(SEED), recording.clone());
    playback.load(u32::MAX, |_, _| {});
    // From the end back to each frame, so that nothing is nearer than a snapshot.
    let (mut longest, mut worst) = (0, Frame::ZERO);
    for frame in (0..FRAMES).map(Frame) {
        playback.seek(Frame(FRAMES));
        let steps = playback.seek(frame);
        if steps >= longest {
            (longest, worst) = (steps, frame);
        }
        // `cargo test --benches` only asks whether it runs.
        if frame.0 == 600 && !std::env::args().any(|arg| arg == "--bench") {
            break;
        }
    }
    let mut ratios = Vec::new();
    let (mut seeks, mut loads) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        playback.seek(Frame(FRAMES));
        let seek = timed(|| {
            black_box(playback.seek(worst));
        });
        let mut whole = Playback::new(Duel::new(SEED), recording.clone());
        let load = timed(|| {
            black_box(whole.load(u32::MAX, |_, _| {}));
        });
        ratios.push(load.as_secs_f64() / seek.as_secs_f64());
        seeks.push(seek);
        loads.push(load);
    }
    ratios.sort_by(f64::total_cmp);
    seeks.sort();
    loads.sort();
    println!("the longest seek in {FRAMES} frames resimulates {longest} steps, to frame {worst}");
    println!("loading the match / that seek, median of {RUNS}: {:.0}", ratios[RUNS / 2]);
    println!("here the seek takes {:?} and loading {:?}", seeks[RUNS / 2], loads[RUNS / 2]);
}
