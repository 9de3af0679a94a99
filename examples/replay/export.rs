//! A recording as JSON lines: the header, the frames, the checksums, the events and the end.

use crate::{Failure, open, refused};
use rebout::replay::{End, MatchEvent, Outcome, Winner};
use rebout::{Input, Inputs};
use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

pub(crate) fn export(path: &Path, max_frames: u32, out: &mut impl Write) -> Result<(), Failure> {
    let recording = &open(path)?;
    let frames = recording.frames();
    // A few bytes of the file can hold 1,024 frames. A part of the match would look like all of it.
    if frames > max_frames {
        return Err(refused(path, &format!("{frames} frames are more than --max-frames {max_frames}")));
    }
    let header = recording.header();
    let rate = header
        .frame_rate
        .map_or_else(|| "null".to_owned(), |rate| format!("[{},{}]", rate.numerator(), rate.denominator()));
    let delay = |delay: Option<u8>| delay.map_or("null".to_owned(), |delay| delay.to_string());
    writeln!(
        out,
        "{{\"type\":\"header\",\"version\":{},\"seed\":{},\"start_frame\":{},\"game_id\":\"{:x}\",\"content_hash\":\"{:x}\",\
         \"recorded_at_secs\":{},\"frame_rate\":{},\"axes\":{},\"pads\":{},\"first_state_bytes\":{},\"delay_frames\":[{},{}],\"names\":[{},{}]}}",
        recording.version(),
        header.seed,
        header.start_frame,
        header.game_id,
        header.content_hash,
        header.recorded_at_secs,
        rate,
        header.axes,
        header.pads,
        header.first_state.len(),
        delay(header.delay_frames[0]),
        delay(header.delay_frames[1]),
        quoted(&header.names[0]),
        quoted(&header.names[1]),
    )?;
    let (axes, pads) = (usize::from(header.axes), usize::from(header.pads));
    for (frame, Inputs([one, two])) in recording.inputs().enumerate() {
        let [one, two] = [one, two].map(|input| json_input(input, axes, pads));
        writeln!(out, "{{\"type\":\"frame\",\"frame\":{frame},\"one\":{one},\"two\":{two}}}")?;
    }
    for (frame, checksum) in recording.checksums() {
        writeln!(out, "{{\"type\":\"checksum\",\"frame\":{frame},\"checksum\":\"{checksum:08X}\"}}")?;
    }
    for (frame, event) in recording.events() {
        writeln!(out, "{{\"type\":\"event\",\"frame\":{frame},{}}}", json_event(event))?;
    }
    let end = recording.end().map_or("\"winner\":null,\"outcome\":null".to_owned(), json_end);
    let tail = quoted(&recording.tail().to_string());
    Ok(writeln!(out, "{{\"type\":\"end\",\"frames\":{frames},{end},\"file\":{tail}}}")?)
}

fn json_event(event: MatchEvent) -> String {
    match event {
        MatchEvent::Delay { player, delay_frames } => {
            let player = player.index() + 1;
            format!("\"event\":\"delay\",\"player\":{player},\"delay_frames\":{delay_frames}")
        }
        MatchEvent::Interrupted => "\"event\":\"interrupted\"".to_owned(),
        MatchEvent::Resumed => "\"event\":\"resumed\"".to_owned(),
        MatchEvent::Desync { ours, theirs } => {
            format!("\"event\":\"desync\",\"ours\":\"{ours:08X}\",\"theirs\":\"{theirs:08X}\"")
        }
        MatchEvent::Mark(mark) => format!("\"event\":\"mark\",\"mark\":{mark}"),
        other => format!("\"event\":{}", quoted(&format!("{other:?}"))),
    }
}

fn json_end(end: End) -> String {
    let winner = match end.winner {
        Winner::Player(player) => (player.index() + 1).to_string(),
        Winner::Draw => "\"draw\"".to_owned(),
        Winner::Undecided => "null".to_owned(),
    };
    let outcome = match end.outcome {
        Outcome::Agreed { checksum } => format!("\"agreed\",\"checksum\":\"{checksum:08X}\""),
        Outcome::Differs { ours, theirs } => {
            format!("\"differs\",\"ours\":\"{ours:08X}\",\"theirs\":\"{theirs:08X}\"")
        }
        Outcome::Unconfirmed { checksum } => format!("\"unconfirmed\",\"checksum\":\"{checksum:08X}\""),
        Outcome::Disconnected(reason) => {
            format!("\"disconnected\",\"reason\":{}", quoted(&reason.to_string()))
        }
        Outcome::Local => "\"local\"".to_owned(),
        other => quoted(&format!("{other:?}")),
    };
    format!("\"winner\":{winner},\"outcome\":{outcome}")
}

fn json_input(input: Input, axes: usize, pads: usize) -> String {
    if pads > 1 {
        let pads: Vec<String> = (0..pads).map(|pad| input.pad(pad).0.to_string()).collect();
        return format!("{{\"pads\":[{}]}}", pads.join(","));
    }
    let axes: Vec<String> = (0..axes).map(|axis| input.axis(axis).to_string()).collect();
    format!("{{\"buttons\":{},\"axes\":[{}]}}", input.buttons().0, axes.join(","))
}

/// A string of JSON, with everything but plain characters escaped: it may be read in a terminal.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            ' '..='~' => quoted.push(character),
            _ => character.encode_utf16(&mut [0; 2]).iter().for_each(|unit| {
                let _ = write!(quoted, "\\u{unit:04x}");
            }),
        }
    }
    quoted.push('"');
    quoted
}
