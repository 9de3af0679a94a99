//! Tests of recordings: frames found by chunk, and copies in both versions.

use super::*;
use crate::{Buttons, FrameRate, Input};

const END: End = End { outcome: crate::replay::Outcome::Local, winner: crate::replay::Winner::Draw };

fn inputs_of(frame: u32) -> Inputs {
    Inputs::from([Buttons(frame as u16 + 1), Buttons((frame / 3) as u16)])
}

fn recorder(header: &Header, frames: u32) -> StreamRecorder<Vec<u8>> {
    let mut recorder = StreamRecorder::new(header, Vec::new()).unwrap();
    (0..frames).for_each(|frame| recorder.record(Frame(frame), inputs_of(frame)).unwrap());
    recorder
}

fn recording(header: &Header, frames: u32) -> Recording {
    Recording::open(recorder(header, frames).finish(END).unwrap()).unwrap()
}

#[test]
fn every_frame_is_found_in_a_file_of_many_chunks() {
    // One frame a second: a chunk for each frame. The places are thinned out twice.
    let frames = 2 * MAX_PLACES as u32 + 452;
    let recording = recording(&Header { frame_rate: Some(FrameRate::hz(1)), ..Header::new(7) }, frames);
    for frame in 0..frames {
        let mut cursor = recording.cursor(Frame(frame));
        assert_eq!(cursor.frame(), Frame(frame));
        assert_eq!(cursor.next(&recording), Some(inputs_of(frame)), "frame {frame}");
    }
    let Places { kept, every, .. } = &recording.places;
    assert!(kept.len() <= MAX_PLACES && *every == 4, "{} places", kept.len());
    assert!(kept.iter().enumerate().all(|(at, place)| place.frame.0 as usize == at * every));
}

#[test]
fn cursor_past_the_end_is_at_the_end_in_both_versions() {
    let second = recording(&Header::new(7), 90);
    let mut file = Vec::new();
    second.write_version_1(&mut file).unwrap();
    for recording in [second, Recording::open(file).unwrap()] {
        let mut cursor = recording.cursor(Frame(95));
        assert_eq!((cursor.frame(), cursor.next(&recording)), (Frame(90), None));
        let mut cursor = recording.cursor(Frame(89));
        assert_eq!(cursor.next(&recording), Some(inputs_of(89)));
    }
}

#[test]
fn copy_has_the_end_only_if_it_has_every_frame() {
    let recording = recording(&Header::new(7), 90);
    for (until, end) in [(89, None), (90, Some(END)), (91, Some(END))] {
        let file = recording.write_version_2(recording.header(), Frame(until), Vec::new()).unwrap();
        assert_eq!(Recording::open(file).unwrap().end(), end, "until {until}");
    }
}

#[test]
fn copy_keeps_the_events_of_a_match_without_frames() {
    let mut recorder = recorder(&Header::new(7), 0);
    recorder.event(MatchEvent::Mark(3));
    recorder.checksum(Frame::ZERO, 0xABCD);
    let recording = Recording::open(recorder.finish(END).unwrap()).unwrap();
    let copy = recording.write_version_2(recording.header(), Frame(1), Vec::new()).unwrap();
    let copy = Recording::open(copy).unwrap();
    assert!(copy.events().eq([(Frame::ZERO, MatchEvent::Mark(3))]));
    assert!(copy.checksums().eq([(Frame::ZERO, 0xABCD)]));
}

#[test]
fn copy_has_the_axes_of_the_recording() {
    let inputs = Inputs([Input::NEUTRAL, Input::NEUTRAL.with_axis(1, -7)]);
    let mut recorder = StreamRecorder::new(&Header { axes: 2, ..Header::new(7) }, Vec::new()).unwrap();
    recorder.record(Frame::ZERO, inputs).unwrap();
    let recording = Recording::open(recorder.finish(END).unwrap()).unwrap();
    let copy = recording.write_version_2(&Header::new(8), Frame(1), Vec::new()).unwrap();
    let copy = Recording::open(copy).unwrap();
    assert_eq!((copy.header().axes, copy.header().seed), (2, 8));
    assert!(copy.inputs().eq([inputs]));
}

#[test]
fn copy_has_the_pads_of_the_recording() {
    let inputs = Inputs([Input::NEUTRAL.with_pad(3, Buttons(0x8000)), Input::NEUTRAL]);
    let mut recorder = StreamRecorder::new(&Header { pads: 4, ..Header::new(7) }, Vec::new()).unwrap();
    recorder.record(Frame::ZERO, inputs).unwrap();
    let recording = Recording::open(recorder.finish(END).unwrap()).unwrap();
    let copy = recording.write_version_2(&Header::new(8), Frame(1), Vec::new()).unwrap();
    let copy = Recording::open(copy).unwrap();
    assert_eq!((copy.header().pads, copy.header().seed), (4, 8));
    assert!(copy.inputs().eq([inputs]));
}
