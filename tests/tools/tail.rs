//! `replay tail` as a program: it follows a file while another process writes it.

use crate::program::{is_harmless, program};
use rebout::replay::Recording;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use support::program::Running;

/// A directory of its own, gone when the test is.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("rebout-{}-tail-{name}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        Self(dir)
    }

    fn file(&self) -> String {
        self.0.join("match.rplk").to_str().unwrap().to_owned()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn replay(args: &[&str]) -> Command {
    let mut command = Command::new(program("replay"));
    command.args(args);
    command
}

/// A process that records a match of this many frames, once it has written some of them.
fn recording(file: &str, frames: &str) -> Running {
    let recorder =
        Running::start(&mut replay(&["record", file, "--frames", frames, "--seed", "5", "--rate", "240"]));
    let began = Instant::now();
    while std::fs::read(file).ok().and_then(|bytes| Recording::open(bytes).ok()).is_none() {
        assert!(began.elapsed() < Duration::from_secs(20), "nothing is recorded");
        std::thread::sleep(Duration::from_millis(5));
    }
    recorder
}

#[test]
fn tail_follows_a_file_to_its_end() {
    let scratch = Scratch::new("follows");
    let file = scratch.file();
    let recorder = recording(&file, "900");
    let tail = Running::start(&mut replay(&["tail", &file]));
    let (text, code, errors) = tail.end();
    assert_eq!((code, errors.as_str()), (Some(0), ""), "{text}");
    assert_eq!(recorder.end().1, Some(0));
    assert!(is_harmless(&text));
    let lines: Vec<&str> = text.lines().collect();
    let newest: Vec<u32> =
        lines.iter().filter_map(|line| line.split(' ').nth(3)?.trim_end_matches(',').parse().ok()).collect();
    assert!(newest.windows(2).all(|pair| pair[0] <= pair[1]), "{text}");
    assert!(
        newest.first() < Some(&900) && newest.last() == Some(&900),
        "it grew while it was followed: {text}"
    );
    let checksums = Recording::open(std::fs::read(&file).unwrap()).unwrap().checksums().count();
    let last = lines[lines.len() - 2];
    assert!(
        last.starts_with("frame 900 of 900, Ended, ") && last.ends_with(&format!(" {checksums} checksums")),
        "{text}"
    );
    assert!(lines[lines.len() - 1].starts_with("end           "), "{text}");
}

#[test]
fn tail_says_that_a_file_stopped_or_is_damaged() {
    let scratch = Scratch::new("stopped");
    let file = scratch.file();
    let mut recorder = recording(&file, "100000");
    recorder.kill();
    drop(recorder);
    let (_, code, errors) = Running::start(&mut replay(&["tail", &file, "--patience", "1"])).end();
    assert_eq!(code, Some(1), "{errors}");
    assert!(errors.starts_with("replay: ") && errors.contains("no new frame for 1s"), "{errors}");
    // A byte in the middle is another one: the running CRC does not fit.
    let whole = Running::start(&mut replay(&["record", &file, "--frames", "900", "--rate", "1000000"]));
    assert_eq!(whole.end().1, Some(0));
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let tail = Running::start(&mut replay(&["tail", &file, "--patience", "20"]));
    let (_, code, errors) = tail.end();
    assert_eq!(code, Some(1), "{errors}");
    assert!(errors.contains("damaged at byte "), "{errors}");
    let (_, code, errors) = Running::start(&mut replay(&["tail", "/nowhere/match.rplk"])).end();
    assert_eq!(code, Some(2));
    assert!(errors.starts_with("replay: /nowhere/match.rplk: ") && errors.lines().count() == 1, "{errors}");
}

#[test]
fn tail_ends_when_nobody_reads_it() {
    let scratch = Scratch::new("closed");
    let file = scratch.file();
    let _recorder = recording(&file, "100000");
    let mut tail = replay(&["tail", &file]);
    let mut tail = tail.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(tail.stdout.take());
    let output = tail.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap().as_str()), (Some(0), ""));
}
