//! The programs of `examples`, built by their Makefile: plain, under valgrind, and with the sanitizers. Where a tool is missing the test
//! says so and is skipped.

use crate::counters::Counters;
use crate::replays::folder;
use rebout::{Finish, Now, Online, Options, Verdict};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Matches of these tests stay on this machine.
const LOOPBACK: &str = "127.0.0.1:0";

/// Whether a tool is here. Says so if not.
fn has(tool: &str) -> bool {
    let found =
        Command::new(tool).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    if !found {
        eprintln!("skipped: no {tool}");
    }
    found
}

/// The folder of the shared library that belongs to this test.
fn library() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().to_owned()
}

/// Builds the programs with more flags; the folder that they are in, or `None` without the tools.
fn built(name: &str, flags: &str) -> Option<PathBuf> {
    if !["make", "cc", "c++", "pkg-config"].into_iter().all(has) {
        return None;
    }
    let (root, out, library) = (Path::new(env!("CARGO_MANIFEST_DIR")), folder(name), library());
    let pc = format!(
        "Name: rebout\nDescription: for the tests\nVersion: {}\nCflags: -I{}\nLibs: -L{lib} -lrebout_c -Wl,-rpath,{lib}\n",
        env!("CARGO_PKG_VERSION"),
        root.join("include").display(),
        lib = library.display()
    );
    std::fs::write(out.join("rebout.pc"), pc).unwrap();
    let mut make = Command::new("make");
    make.arg("-C").arg(root.join("examples")).arg(format!("OUT={}", out.display()));
    make.arg(format!("CFLAGS=-O1 -g -DFRAMES=180 {flags}")).env("PKG_CONFIG_PATH", &out);
    let made = make.output().unwrap();
    assert!(
        made.status.success(),
        "{}{}",
        String::from_utf8_lossy(&made.stdout),
        String::from_utf8_lossy(&made.stderr)
    );
    Some(out)
}

/// A command that runs a program, under another one if there is a prefix.
fn command(prefix: &[&str], program: &Path) -> Command {
    let mut command = match prefix {
        [] => Command::new(program),
        [tool, args @ ..] => {
            let mut command = Command::new(tool);
            command.args(args).arg(program);
            command
        }
    };
    // Cargo's own path may lead to an older library beside.
    command.env("LD_LIBRARY_PATH", library());
    command
}

/// Starts a host; the process, the rest of its output, and its invite.
fn host(mut command: Command) -> (Child, BufReader<std::process::ChildStdout>, String) {
    let mut child = command.arg("host").env("DUEL_BIND", LOOPBACK).stdout(Stdio::piped()).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    let invite = line.strip_prefix("invite ").unwrap_or_else(|| panic!("{line}")).trim().to_owned();
    (child, output, invite)
}

/// The exit code of a host whose guest is gone. One that waits on for a guest is killed after a while.
fn ended(child: &mut Child) -> i32 {
    for _ in 0..600 {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code().unwrap_or(-1);
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    -1
}

/// Plays the duel of two processes; the output and the exit code of each.
fn duel(prefix: &[&str], out: &Path, env: &[(&str, &str)]) -> [(String, i32); 2] {
    let program = out.join("duel");
    let mut first = command(prefix, &program);
    first.envs(env.iter().copied());
    let (mut hosting, mut output, invite) = host(first);
    let mut second = command(prefix, &program);
    let joined =
        second.envs(env.iter().copied()).env("DUEL_BIND", LOOPBACK).args(["join", &invite]).output().unwrap();
    let hosted = ended(&mut hosting);
    let mut rest = String::new();
    output.read_to_string(&mut rest).unwrap();
    let text =
        String::from_utf8_lossy(&joined.stdout).into_owned() + &String::from_utf8_lossy(&joined.stderr);
    [(rest, hosted), (text, joined.status.code().unwrap_or(-1))]
}

/// Runs all programs and looks at what they say.
fn check(prefix: &[&str], out: &Path) {
    let [(host, host_code), (join, join_code)] = duel(prefix, out, &[]);
    assert_eq!((host_code, join_code), (0, 0), "{host}\n{join}");
    assert!(host.contains("frame 180") && host == join, "{host}\n{join}");
    let run = |program: &str, args: &[&str]| {
        let output = command(prefix, &out.join(program)).args(args).env("ENGINE_BOT", "1").output().unwrap();
        let text =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        (text, output.status.code())
    };
    let (text, code) = run("hpp", &[]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("is neither an invite") && text.contains("60 to 30 in frame 60"), "{text}");
    let (text, code) = run("rejoin", &[out.to_str().unwrap()]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("frame 180, ") && text.contains("spectator: frame 180, "), "{text}");
    assert!(!text.contains(" 0 checksums") && !text.contains("; 0 watched"), "{text}");
    let (text, code) = run("engine", &[]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("The match is over."), "{text}");
}

#[test]
fn c_programs_agree_and_compile_without_warnings() {
    let Some(out) = built("plain", "") else { return };
    check(&[], &out);
    let stress = |fault: Option<&str>| {
        let mut program = command(&[], &out.join("stress"));
        fault.map(|fault| program.env("STRESS_FAULT", fault));
        let output = program.arg("60000").output().unwrap();
        (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code())
    };
    let (text, code) = stress(None);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("the same states every time") && text.contains("hostile"), "{text}");
    let (text, code) = stress(Some("1"));
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("sync test: frame") && text.contains("counters[1]: "), "{text}");
    assert!(text.contains("FAILED on link") && text.contains("shrunk: link = "), "{text}");
    std::fs::remove_dir_all(out).unwrap();
}

#[test]
fn planted_fault_in_c_is_named_on_both_machines() {
    let Some(out) = built("fault", "") else { return };
    let folders = ["bundles", "records"].map(|name| out.join(name).display().to_string());
    let env =
        [("DUEL_FAULT", "1"), ("DUEL_BUNDLES", folders[0].as_str()), ("DUEL_RECORD", folders[1].as_str())];
    for (text, code) in duel(&[], &out, &env) {
        assert_eq!(code, 1, "{text}");
        assert!(
            text.contains("counters[0]: ") && text.contains("The report about the desync is in"),
            "{text}"
        );
    }
    let count = |folder: &str| std::fs::read_dir(folder).unwrap().count();
    assert_eq!((count(&folders[0]), count(&folders[1])), (2, 2), "a bundle and a recording of each machine");
    std::fs::remove_dir_all(out).unwrap();
}

#[test]
fn c_programs_are_clean_under_valgrind() {
    if !has("valgrind") {
        return;
    }
    let Some(out) = built("valgrind", "") else { return };
    let leaks = "--errors-for-leak-kinds=definite,indirect";
    check(
        &[
            "valgrind",
            "-q",
            "--error-exitcode=99",
            "--leak-check=full",
            "--show-leak-kinds=definite,indirect",
            leaks,
        ],
        &out,
    );
    std::fs::remove_dir_all(out).unwrap();
}

#[test]
fn c_programs_are_clean_with_sanitizers() {
    let flags = "-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer";
    let probe = folder("probe").join("probe.c");
    std::fs::write(&probe, "int main(void) { return 0; }").unwrap();
    let mut cc = Command::new("cc");
    let compiles = cc.args(flags.split(' ')).arg(&probe).arg("-o").arg(probe.with_extension("out")).output();
    if !compiles.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: no sanitizers");
        return;
    }
    let Some(out) = built("sanitizers", flags) else { return };
    check(&[], &out);
    std::fs::remove_dir_all(out).unwrap();
}

#[test]
fn game_in_c_agrees_with_the_same_fields_in_rust() {
    let Some(out) = built("rust", "") else { return };
    let (mut child, mut output, invite) = host(command(&[], &out.join("duel")));
    let mut online = {
        let connect = rebout::ConnectOptions::new().bind(LOOPBACK.parse().unwrap());
        Online::join(Options::new(0x6475_656C, 0).name("Ben").connect(connect), &invite).unwrap()
    };
    let mut game = Counters::default();
    let finish = loop {
        match online.wait().unwrap() {
            Now::Begin { seed, .. } => {
                game = Counters::new(seed);
                online.start(&game);
            }
            Now::Frame => {
                let buttons = game.bot(1);
                online.advance(&mut game, buttons);
            }
            Now::Event(event) => assert!(!format!("{event:?}").contains("Desync"), "{event:?}"),
            Now::Finished(finish) => break finish,
            _ => {}
        }
    };
    let Finish::Played(Verdict::Agreed { frame, checksum, .. }) = finish else { panic!("{finish}") };
    let stats = online.stats().unwrap();
    assert!(stats.checksums_compared >= 5, "{}", stats.checksums_compared);
    online.close().unwrap();
    let mut text = String::new();
    output.read_to_string(&mut text).unwrap();
    assert!(child.wait().unwrap().success(), "{text}");
    assert!(text.contains(&format!("frame {frame}, {checksum:08X}")), "{text}");
    std::fs::remove_dir_all(out).unwrap();
}
