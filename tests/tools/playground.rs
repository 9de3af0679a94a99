//! The playground as a program: what it prints, what it refuses, and how it ends.

use crate::program::{is_harmless, program};
use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

fn run<I: AsRef<OsStr>>(args: impl IntoIterator<Item = I>) -> Output {
    Command::new(program("playground")).args(args).output().unwrap()
}

fn succeeds(args: &[&str]) -> (String, String) {
    let output = run(args);
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{args:?}: {err}");
    (out, err)
}

/// Exit code 2, nothing on standard output, and one line on standard error, which it answers.
fn refused<I: AsRef<OsStr>>(args: impl IntoIterator<Item = I>) -> String {
    let output = run(args);
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(output.stdout.is_empty());
    assert_eq!((err.lines().count(), err.ends_with('\n')), (1, true), "{err}");
    err.trim_end().to_owned()
}

/// A file in a directory of its own, gone when the test is.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("rebout-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        Self(dir)
    }

    fn file(&self) -> String {
        self.0.join("match.rplk").to_str().unwrap().to_owned()
    }

    fn recorded(name: &str, seed: &str, frames: &str) -> Self {
        let scratch = Self::new(name);
        succeeds(&["record", &scratch.file(), "--seed", seed, "--frames", frames]);
        scratch
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn golden_prints_the_published_checksum() {
    assert_eq!(succeeds(&["golden"]).0, "1000 41B73DB7\n");
}

#[test]
fn play_prints_frame_zero_every_nth_and_the_last() {
    let scratch = Scratch::recorded("every", "3", "250");
    let (out, err) = succeeds(&["play", &scratch.file(), "--every", "100"]);
    let frames: Vec<&str> = out.lines().map(|line| line.split_once(' ').unwrap().0).collect();
    assert_eq!(frames, ["0", "100", "200", "250"]);
    for line in out.lines() {
        let digits = line.split_once(' ').unwrap().1;
        assert!(
            digits.len() == 8 && digits.bytes().all(|b| b.is_ascii_digit() || (b'A'..=b'F').contains(&b)),
            "{line}"
        );
    }
    assert_eq!(err, "");
    assert_eq!(succeeds(&["play", "--every", "125", &scratch.file()]).0.lines().count(), 3);
}

#[test]
fn play_with_late_inputs_prints_the_same_and_says_what_it_cost() {
    let scratch = Scratch::recorded("lag", "4", "700");
    let (direct, _) = succeeds(&["play", &scratch.file(), "--every", "7"]);
    for lag in 0..=8_u64 {
        let (late, err) = succeeds(&["play", &scratch.file(), "--every", "7", "--lag", &lag.to_string()]);
        assert_eq!(late, direct, "lag {lag}");
        let numbers: Vec<u64> = err.split(' ').filter_map(|word| word.parse().ok()).collect();
        let [rollbacks, resimulated] = numbers[..] else { panic!("{err}") };
        assert_eq!(err, format!("{rollbacks} rollbacks, {resimulated} resimulated frames\n"));
        assert!(if lag == 0 { rollbacks == 0 } else { rollbacks > 50 }, "{err}");
        assert!(resimulated <= rollbacks * lag && resimulated + 8 * lag >= rollbacks * lag, "{err}");
    }
    assert_eq!(
        refused(["play", &scratch.file(), "--every", "7", "--lag", "9"]),
        "playground: --lag 9 is more than the window of 8 frames"
    );
}

#[test]
fn synctest_fails_a_match_that_proves_nothing() {
    let scratch = Scratch::recorded("synctest", "5", "300");
    let (out, _) = succeeds(&["synctest", &scratch.file(), "--depth", "7"]);
    assert!(out.starts_with("passed: 300 frames, "), "{out}");

    let empty = Scratch::recorded("proves-nothing", "5", "0");
    let output = run(["synctest", &empty.file(), "--depth", "7"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(output.stderr, b"playground: nothing proved: no input changed in 0 frames\n");
}

#[test]
fn record_writes_the_same_file_for_the_same_seed() {
    let [a, b, c] = [("a", "9"), ("b", "9"), ("c", "10")].map(|(name, seed)| {
        let scratch = Scratch::recorded(name, seed, "100");
        std::fs::read(scratch.file()).unwrap()
    });
    assert_eq!(a.len(), 32 + 100 * 4);
    assert_eq!(a, b);
    assert_ne!(a[32..], c[32..]);
}

#[test]
fn empty_match_has_one_state() {
    let scratch = Scratch::recorded("empty", "1", "0");
    assert_eq!(succeeds(&["play", &scratch.file(), "--every", "10"]).0, "0 A54EA31A\n");
    assert_eq!(succeeds(&["play", &scratch.file(), "--every", "10", "--lag", "8"]).0, "0 A54EA31A\n");
}

#[test]
fn bad_arguments_are_refused_with_a_reason() {
    let scratch = Scratch::recorded("arguments", "1", "10");
    let file = &*scratch.file();
    for (args, reason) in [
        (&[][..], "a command is missing"),
        (&["fly"], "no such command: \"fly\""),
        (&["golden", "1"], "\"1\" is too much"),
        (&["play"], "--every is missing"),
        (&["play", file], "--every is missing"),
        (&["play", "--every", "1"], "a file is missing"),
        (&["play", file, "--every"], "--every needs a number"),
        (&["play", file, "--every", "0"], "--every \"0\" is not a number from 1 to"),
        (&["play", file, "--every", "-3"], "--every \"-3\" is not a number"),
        (&["play", file, "--every", "4294967296"], "--every \"4294967296\" is not a number"),
        (&["play", file, "--every", "1", "--lag", "x"], "--lag \"x\" is not a number from 0 to"),
        (&["play", file, "--every", "1", "--speed", "2"], "\"--speed\" is too much"),
        (&["play", file, file, "--every", "1"], "is too much"),
        (&["synctest", file], "--depth is missing"),
        (&["synctest", file, "--depth", "0"], "--depth \"0\" is not a number from 1 to 128"),
        (
            &["synctest", file, "--depth", "4000000000"],
            "--depth \"4000000000\" is not a number from 1 to 128",
        ),
        (&["record", file, "--frames", "5"], "--seed is missing"),
        (&["record", file, "--frames", "5", "--seed", "0"], "--seed \"0\" is not a number from 1 to"),
        (&["record", file, "--frames", "16777217", "--seed", "1"], "--frames \"16777217\" is not a number"),
        (
            &["record", "/no/such/place", "--frames", "5", "--seed", "1"],
            "\"/no/such/place\": cannot be written",
        ),
    ] {
        let said = refused(args);
        assert!(said.contains(reason), "{args:?}: {said}");
    }
}

#[test]
fn bad_files_are_refused_with_a_reason() {
    let scratch = Scratch::recorded("files", "1", "10");
    let good = std::fs::read(scratch.file()).unwrap();
    let check = |bytes: &[u8], reason: &str| {
        std::fs::write(scratch.file(), bytes).unwrap();
        for command in [
            &["play", "--every", "1"][..],
            &["play", "--every", "1", "--lag", "2"],
            &["synctest", "--depth", "3"],
        ] {
            let said = refused(command.iter().copied().chain([&*scratch.file()]));
            assert!(said.contains(reason), "{said}");
        }
    };
    check(b"", "length: 0 bytes are too few");
    check(b"not a replay at all, but long enough to be one", "magic: \"not \" is not \"RPLK\"");
    check(&good[..good.len() - 1], "length: 71 bytes, but the header asks for 72");
    let mut flipped = good.clone();
    flipped[40] ^= 1;
    check(&flipped, "crc: the header says ");
    assert!(refused(["play", "--every", "1", "/no/such/file"]).contains("No such file"));
    assert!(refused(["play", "--every", "1", scratch.0.to_str().unwrap()]).contains("cannot be read"));
}

#[test]
fn hostile_file_is_shown_escaped() {
    let scratch = Scratch::new("hostile");
    let path = scratch.0.join("\u{1b}[2J\u{202e}klpr.rplk");
    std::fs::write(&path, b"\x1b[2J and more than a header of bytes").unwrap();
    let said = refused(["play".as_ref(), "--every".as_ref(), "1".as_ref(), path.as_os_str()]);
    assert!(is_harmless(&said), "{said:?}");
    assert!(said.contains(r#"magic: "\x1b[2J" is not "RPLK""#), "{said:?}");
    let said = refused(["\u{1b}[2J\u{202e}"]);
    assert!(is_harmless(&said), "{said:?}");
}

#[cfg(unix)]
#[test]
fn arguments_that_are_not_text_are_refused() {
    use std::os::unix::ffi::OsStrExt;
    let odd = OsStr::from_bytes(b"\xff\xfe");
    assert!(refused([odd]).contains("no such command"));
    assert!(refused(["play".as_ref(), "--every".as_ref(), odd]).contains("is not a number"));
    assert!(refused(["play".as_ref(), "--every".as_ref(), "1".as_ref(), odd]).contains("No such file"));
}

#[test]
fn closed_pipe_ends_the_program_quietly() {
    // More output than a pipe holds, so that the program is still writing when the reader leaves.
    let scratch = Scratch::recorded("pipe", "1", "20000");
    let mut child = Command::new(program("playground"))
        .args(["play", &scratch.file(), "--every", "1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::with_capacity(16, child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "0 A54EA31A\n");
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(output.stderr, b"");
}
