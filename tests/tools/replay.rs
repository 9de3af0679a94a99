//! The replay tool as a program: what it prints, converts and refuses, and a recording that survives its process.

use crate::program::{is_harmless, program};
use rebout::replay::{End, Header, Outcome, Recording, Replay, StreamRecorder, Tail, Winner};
use rebout::{Buttons, Frame, FrameRate, Input, Inputs};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use support::program::Running;
use support::repeats;

fn run<I: AsRef<OsStr>>(args: impl IntoIterator<Item = I>) -> Output {
    Command::new(program("replay")).args(args).output().unwrap()
}

fn succeeds(args: &[&str]) -> String {
    let output = run(args);
    assert!(output.status.success(), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// One line on standard error and nothing on standard output.
fn fails(code: i32, args: &[&str]) -> String {
    let output = run(args);
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(code), 0), "{args:?}: {err}");
    assert!(err.lines().count() == 1 && is_harmless(&err), "{err}");
    err.trim_end().to_owned()
}

/// A directory of its own, gone when the test is.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("rebout-{}-replay-{name}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        Self(dir)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn recorded(scratch: &Scratch, frames: &str) -> String {
    let file = scratch.file("match.rplk");
    let out = succeeds(&["record", &file, "--frames", frames, "--seed", "5", "--rate", "1000000"]);
    assert!(out.starts_with("begin\nend\nplayed "), "{out}");
    file
}

fn end() -> End {
    End { outcome: Outcome::Local, winner: Winner::Draw }
}

fn opened(path: &str) -> Recording {
    Recording::open(std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn info_tells_what_the_file_tells() {
    let scratch = Scratch::new("info");
    let file = recorded(&scratch, "600");
    let out = succeeds(&["info", &file]);
    for line in [
        "version       2",
        "file          whole",
        "game          0x6475656c",
        "seed          5",
        "frames        600 (0:10)",
        "frame rate    60",
        "player one    Bot one, input delay not told",
        "checksums     10",
        "frame 0: mark 1",
        "end           undecided; at one machine",
    ] {
        assert!(out.lines().any(|found| found == line), "{line:?} is not in\n{out}");
    }
    let bytes = std::fs::read(&file).unwrap();
    std::fs::write(&file, &bytes[..bytes.len() - 1]).unwrap();
    assert!(succeeds(&["info", &file]).contains("file          cut off: the last "));
}

#[test]
fn verify_compares_and_names_the_first_frame_that_differs() {
    let scratch = Scratch::new("verify");
    let file = recorded(&scratch, "600");
    assert_eq!(succeeds(&["verify", &file]), "verified: 10 checksums in 600 frames\n");
    let other = Header { seed: 6, ..opened(&file).header().clone() };
    let changed = opened(&file).write_version_2(&other, Frame(u32::MAX), Vec::new()).unwrap();
    std::fs::write(&file, changed).unwrap();
    let said = fails(1, &["verify", &file]);
    assert!(said.contains("frame 0: checksum ") && said.ends_with("; no frame was alike"), "{said}");
    assert!(fails(1, &["verify", &file, "--game", "playground"]).contains("frame 0: checksum "));
}

#[test]
fn verify_refuses_what_proves_nothing() {
    let scratch = Scratch::new("nothing");
    let file = scratch.file("old.rplk");
    let mut bytes = Vec::new();
    Replay { seed: 1, inputs: vec![Inputs::default(); 10], ..Replay::default() }.write(&mut bytes).unwrap();
    std::fs::write(&file, bytes).unwrap();
    assert!(fails(2, &["verify", &file]).ends_with("does not tell its game: --game duel or playground"));
    assert!(
        fails(1, &["verify", &file, "--game", "duel"]).contains("nothing proved: no checksum was expected")
    );
}

#[test]
fn convert_there_and_back_gives_the_same_bytes() {
    let scratch = Scratch::new("convert");
    let [two, one, again, back] =
        ["match.rplk", "one.rplk", "again.rplk", "back.rplk"].map(|name| scratch.file(name));
    recorded(&scratch, "700");
    let out = succeeds(&["convert", &two, &one, "--to", "1"]);
    assert_eq!(out, "700 frames in 2832 bytes of version 1\n");
    succeeds(&["convert", &one, &again]);
    succeeds(&["convert", &again, &back, "--to", "1"]);
    assert_eq!(std::fs::read(&one).unwrap(), std::fs::read(&back).unwrap());
    assert!(opened(&again).inputs().eq(opened(&two).inputs()));

    succeeds(&["convert", &two, &again, "--anonymous"]);
    let (named, shared) = (opened(&two), opened(&again));
    assert_eq!(shared.header().names, ["", ""]);
    assert_eq!((shared.header().recorded_at_secs, shared.end()), (0, named.end()));
    assert!(shared.checksums().eq(named.checksums()) && shared.events().eq(named.events()));
}

#[test]
fn first_state_is_shown_kept_and_not_written_to_version_1() {
    let scratch = Scratch::new("first-state");
    let header = Header { first_state: vec![7; 70_000].into(), ..Header::new(1) };
    let mut recorder = StreamRecorder::new(&header, Vec::new()).unwrap();
    (0..120).for_each(|frame| recorder.record(Frame(frame), Inputs::default()).unwrap());
    let [from, to, cut] = ["state.rplk", "one.rplk", "cut.rplk"].map(|name| scratch.file(name));
    std::fs::write(&from, recorder.finish(end()).unwrap()).unwrap();
    assert!(succeeds(&["info", &from]).contains("\nfirst state   70000 bytes\n"));
    assert!(succeeds(&["export", &from]).contains(r#""first_state_bytes":70000"#));
    assert!(fails(2, &["convert", &from, &to, "--to", "1"]).contains("first state: the match has one"));
    assert!(!Path::new(&to).exists());
    succeeds(&["cut", &from, "10", "60", &cut]);
    let kept = Recording::open(std::fs::read(&cut).unwrap()).unwrap();
    assert_eq!((kept.frames(), &kept.header().first_state), (60, &header.first_state));
}

#[test]
fn axes_do_not_fit_version_1_and_nothing_is_written() {
    let scratch = Scratch::new("axes");
    let mut recorder = StreamRecorder::new(&Header { axes: 1, ..Header::new(1) }, Vec::new()).unwrap();
    recorder.record(Frame(0), Inputs::from([Input::NEUTRAL.with_axis(0, 5); 2])).unwrap();
    let end =
        rebout::replay::End { outcome: rebout::replay::Outcome::Local, winner: rebout::replay::Winner::Draw };
    let [from, to] = ["axes.rplk", "one.rplk"].map(|name| scratch.file(name));
    std::fs::write(&from, recorder.finish(end).unwrap()).unwrap();
    assert!(fails(2, &["convert", &from, &to, "--to", "1"]).contains("a second pad is used in frame 0"));
    assert!(!Path::new(&to).exists());
    assert!(succeeds(&["export", &from]).contains(r#""one":{"buttons":0,"axes":[5]}"#));
}

#[test]
fn cut_keeps_the_way_to_the_part_that_is_shown() {
    let scratch = Scratch::new("cut");
    let (file, part) = (recorded(&scratch, "600"), scratch.file("part.rplk"));
    succeeds(&["cut", &file, "200", "400", &part]);
    let cut = opened(&part);
    assert_eq!((cut.frames(), cut.header().start_frame, cut.end()), (400, Frame(200), None));
    assert!(cut.inputs().eq(opened(&file).inputs().take(400)));
    assert!(succeeds(&["verify", &part]).starts_with("verified: 7 checksums in 400 frames"));
    for (from, to) in [("200", "200"), ("300", "200"), ("0", "601")] {
        let said = fails(2, &["cut", &file, from, to, &part]);
        assert!(said.ends_with(&format!("frames {from} to {to} are not a part of its 600 frames")), "{said}");
    }
}

#[test]
fn export_prints_a_line_for_everything() {
    let scratch = Scratch::new("export");
    let file = recorded(&scratch, "130");
    let out = succeeds(&["export", &file]);
    let count =
        |kind: &str| out.lines().filter(|line| line.starts_with(&format!("{{\"type\":\"{kind}\""))).count();
    assert_eq!(["header", "frame", "checksum", "event", "end"].map(count), [1, 130, 3, 1, 1]);
    assert!(out.lines().all(|line| line.starts_with('{') && line.ends_with('}')));
    assert!(out.contains(r#""names":["Bot one","Bot two"]"#), "{out}");
    assert!(out.contains(r#"{"type":"event","frame":0,"event":"mark","mark":1}"#), "{out}");
    let end = r#"{"type":"end","frames":130,"winner":null,"outcome":"local","file":"whole"}"#;
    assert_eq!(out.lines().last(), Some(end));
}

#[test]
fn export_and_info_tell_pads_and_the_exact_rate() {
    let scratch = Scratch::new("pads");
    let header =
        Header { pads: 3, frame_rate: Some(FrameRate::ratio(39_375_000, 655_171)), ..Header::new(1) };
    let mut recorder = StreamRecorder::new(&header, Vec::new()).unwrap();
    let input = Input::from(Buttons(1)).with_pad(2, Buttons(0x8000));
    (0..601).for_each(|frame| recorder.record(Frame(frame), Inputs([input, Input::NEUTRAL])).unwrap());
    let path = scratch.file("pads.rplk");
    std::fs::write(&path, recorder.finish(end()).unwrap()).unwrap();
    let out = succeeds(&["export", &path]);
    assert!(out.contains(r#""frame_rate":[39375000,655171],"axes":0,"pads":3,"#), "{out}");
    assert!(out.contains(r#""one":{"pads":[1,0,32768]},"two":{"pads":[0,0,0]}"#), "{out}");
    let out = succeeds(&["info", &path]);
    assert!(
        out.contains("frame rate    39375000/655171 (60.0988)\naxes          0\npads          3\n"),
        "{out}"
    );
    assert!(out.contains("frames        601 (0:10)"), "{out}");
}

#[test]
fn export_refuses_more_frames_than_its_limit() {
    let scratch = Scratch::new("export-limit");
    let path = scratch.file("long.rplk");
    let header = Header { frame_rate: Some(FrameRate::hz(1_000)), ..Header::new(1) };
    let mut recorder = StreamRecorder::new(&header, Vec::new()).unwrap();
    let frames = 216_001;
    (0..frames).for_each(|frame| recorder.record(Frame(frame), Inputs::default()).unwrap());
    let file = recorder.finish(end()).unwrap();
    assert!(file.len() < 3_000, "{} bytes would print 20 MB", file.len());
    std::fs::write(&path, file).unwrap();
    let said = fails(2, &["export", &path]);
    assert!(said.ends_with("216001 frames are more than --max-frames 216000"), "{said}");
    let all = succeeds(&["export", &path, "--max-frames", "216001"]);
    assert_eq!(all.lines().count(), frames as usize + 2);
}

#[test]
fn bad_files_are_refused_in_one_line() {
    let scratch = Scratch::new("bad");
    let file = recorded(&scratch, "60");
    let good = std::fs::read(&file).unwrap();
    for (bytes, reason) in [
        (&b""[..], "length: 0 bytes are too few for the header of 32"),
        (b"not a replay at all", "magic: \"not \" is not \"RPLK\""),
        (&good[..40], "length: 40 bytes are too few for the header of 72"),
        (b"RPLK\x09", "version: 9 is not 1 or 2"),
    ] {
        std::fs::write(&file, bytes).unwrap();
        for command in ["info", "verify", "export"] {
            assert!(fails(2, &[command, &file]).ends_with(reason), "{command}: {reason}");
        }
    }
    assert!(fails(2, &["info", "/no/such/file"]).contains("No such file"));
    assert!(fails(2, &["convert", &file, "/no/such/place/x"]).contains("version: 9"));
    std::fs::write(&file, &good).unwrap();
    assert!(fails(2, &["convert", &file, "/no/such/place/x"]).contains("cannot be written"));
    assert!(fails(2, &["record", "/no/such/place/x"]).contains("No such file"));
}

#[test]
fn names_in_a_file_are_shown_escaped() {
    let scratch = Scratch::new("names");
    let file = scratch.file("evil.rplk");
    let header = Header { names: ["\u{1b}[2J\u{202e}".to_owned(), "\"\n".to_owned()], ..Header::new(1) };
    let mut recorder = StreamRecorder::new(&header, Vec::new()).unwrap();
    recorder.record(Frame(0), Inputs::from([Buttons(1); 2])).unwrap();
    std::fs::write(&file, recorder.finish(end()).unwrap()).unwrap();
    for command in ["info", "export"] {
        assert!(is_harmless(&succeeds(&[command, &file])), "{command}");
    }
}

/// A recording process that prints the number of each frame, killed when it is dropped.
struct Victim {
    running: Running,
    path: String,
}

impl Victim {
    fn start(path: String) -> Self {
        let args = ["record", &path, "--frames", "100000", "--progress"];
        let mut running = Running::start(Command::new(program("replay")).args(args));
        assert_eq!(running.line(), "begin");
        Self { running, path }
    }

    /// Kills the process without a warning; the frames that it had recorded, and those that are in its file.
    fn kill(mut self) -> (u32, Recording) {
        self.running.kill();
        let (printed, ..) = self.running.end();
        // The last line may be cut, the one before it is not.
        let recorded = printed.rsplit_once('\n').map_or(0, |(whole, _)| whole.lines().count() as u32);
        (recorded, opened(&self.path))
    }
}

/// Kills processes after random numbers of frames. Returns how many frames are missing at most, and the whole seconds in the files.
fn kill_at_random(scratch: &Scratch, chance: &mut rebout::Rng, processes: usize) -> (u32, u32) {
    let mut victims: Vec<_> = (0..processes)
        .map(|index| (chance.range(0, 150), Victim::start(scratch.file(&format!("{index}.rplk")))))
        .collect();
    victims.sort_by_key(|(frames, _)| *frames);
    let (mut most, mut whole_seconds) = (0, 0);
    for (frames, mut victim) in victims {
        (0..frames).for_each(|_| assert!(!victim.running.line().is_empty(), "it has ended by itself"));
        let (later, recording) = victim.kill();
        let recorded = frames as u32 + later;
        assert_ne!(recording.tail(), Tail::Whole);
        assert_eq!(recording.verify(&mut games::duel::Duel::new(1)).is_err(), recording.frames() == 0);
        most = most.max(recorded.saturating_sub(recording.frames()));
        whole_seconds += recording.frames() / 60;
    }
    (most, whole_seconds)
}

#[test]
fn killed_processes_leave_files_that_open() {
    // One and a half seconds of frames.
    const MAX_MISSING: u32 = 90;
    let scratch = Scratch::new("kill");
    let mut chance = rebout::Rng::new(std::process::id() | 1).unwrap();
    for _ in 0..repeats(4) {
        // The thread that writes needs a turn five times a second, which a busy machine may not give it in every attempt.
        let mut attempts = 0;
        let (most, whole_seconds) = loop {
            let found = kill_at_random(&scratch, &mut chance, 25);
            attempts += 1;
            if found.0 <= MAX_MISSING || attempts == 5 {
                break found;
            }
        };
        assert!(most <= MAX_MISSING, "{most} frames are missing in attempt {attempts}");
        assert!(whole_seconds > 3, "only {whole_seconds} seconds of frames were ever written");
        println!("at most {most} frames are missing");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn full_disk_ends_the_recording_and_not_the_match() {
    let scratch = Scratch::new("full");
    let (disk, kept) = (scratch.file("disk"), scratch.file("kept.rplk"));
    std::fs::create_dir(&disk).unwrap();
    // A tmpfs in a namespace of its own, which is gone with the process.
    let script = format!(
        "mount -t tmpfs -o size=16k none '{disk}' && echo mounted || exit 9
         '{}' record '{disk}/m.rplk' --frames 30000 --rate 15000
         code=$?; cp '{disk}/m.rplk' '{kept}' && exit $code",
        program("replay").display()
    );
    let output = Command::new("unshare").args(["--map-root-user", "--mount", "sh", "-c", &script]).output();
    let said = match &output {
        Ok(output) if output.stdout.starts_with(b"mounted") => String::from_utf8_lossy(&output.stdout),
        other => {
            println!("skipped: no tmpfs can be mounted here: {other:?}");
            return;
        }
    };
    assert!(said.contains("\nplayed 30000 frames, checksum "), "{said}");
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(err.contains("the recording ended before frame ") && err.contains("No space left"), "{err}");
    let recording = opened(&kept);
    assert!((6_000..29_000).contains(&recording.frames()), "{} frames", recording.frames());
    assert!(recording.verify(&mut games::duel::Duel::new(1)).is_ok());
}

#[cfg(target_os = "linux")]
#[test]
fn recording_makes_no_system_call_on_the_games_thread() {
    let scratch = Scratch::new("strace");
    let (file, log) = (scratch.file("match.rplk"), scratch.file("log"));
    let traced = Command::new("strace")
        .args(["-f", "-o", &log])
        .arg(program("replay"))
        .args(["record", &file, "--frames", "150"])
        .output();
    match traced {
        Ok(output) if output.status.success() => {}
        other => {
            println!("skipped: strace cannot be used here: {other:?}");
            return;
        }
    }
    let log = std::fs::read_to_string(log).unwrap();
    let game = log.split_whitespace().next().unwrap();
    let calls = log.lines().filter_map(|line| line.split_once(' ')).filter(|(thread, _)| *thread == game);
    let calls: Vec<&str> = calls
        .map(|(_, call)| call.trim_start())
        // The rest of a call that another thread's interrupted in the log.
        .filter(|call| !call.starts_with("<... "))
        .skip_while(|call| !call.starts_with("write(1, \"begin"))
        .skip(1)
        .take_while(|call| !call.starts_with("write(1, \"end"))
        .collect();
    // The sleep between two frames is the loop's own, and not the recorder's.
    let other = calls.iter().find(|call| !call.contains("nanosleep"));
    assert_eq!(other, None);
    // A frame that is late has none.
    assert!((1..=600).contains(&calls.len()), "{} sleeps in 150 frames", calls.len());
    let written = log.lines().filter(|line| line.contains("fdatasync(") && !line.starts_with(game)).count();
    assert!(written >= 2, "the other thread wrote {written} times");
}
