//! What every tool answers: its help, its version, and a reader that closes the pipe.

use crate::program::{TOOLS, program};
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

/// What a tool prints for one argument, after it has ended well.
fn printed(tool: &str, arg: &str) -> String {
    let output = Command::new(program(tool)).arg(arg).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{tool} {arg}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_tool_has_a_help() {
    for tool in TOOLS {
        let help = printed(tool, "--help");
        assert!(help.to_lowercase().contains(&format!("usage: {tool}")), "{tool}: {help}");
    }
}

#[test]
fn every_tool_tells_its_version() {
    for tool in TOOLS {
        assert_eq!(printed(tool, "--version"), format!("{tool} {}\n", env!("CARGO_PKG_VERSION")));
    }
}

#[test]
fn every_error_begins_with_the_name_of_its_tool() {
    let errors: [(&str, &[&str]); 6] = [
        ("inspect", &["xyz"]),
        ("playground", &["fly"]),
        ("soak", &["--link", "wet string"]),
        ("stress", &["--matches", "many"]),
        ("netlab", &["--loss", "much"]),
        ("replay", &["sing"]),
    ];
    for (tool, args) in errors {
        let output = Command::new(program(tool)).args(args).stdin(Stdio::null()).output().unwrap();
        assert!(!output.status.success(), "{tool}: {output:?}");
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.starts_with(&format!("{tool}: ")), "{error}");
        assert!(!error.contains("in string") && !error.contains("literal"), "{error}");
    }
}

/// Starts a tool, reads its first line, and closes the pipe.
fn after_one_line(tool: &str, args: &[&str]) -> std::process::Child {
    let mut child = Command::new(program(tool))
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::with_capacity(1, child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_ne!(line, "");
    child
}

#[test]
fn closed_pipe_ends_a_tool_without_a_panic() {
    for (tool, args) in
        [("embedding", &["offline"][..]), ("soak", &["--frames", "20000", "--warm-up", "1000"])]
    {
        let mut child = after_one_line(tool, args);
        // A match against nobody would take its whole time.
        std::thread::sleep(std::time::Duration::from_millis(1_500));
        let _ = child.kill();
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{tool}");
    }
}

#[cfg(all(feature = "nat", unix))]
#[test]
fn closed_pipe_does_not_end_a_rendezvous() {
    let mut server = after_one_line("rendezvous", &["--bind", "127.0.0.1:0", "--report", "1"]);
    // Two reports that nobody reads.
    std::thread::sleep(std::time::Duration::from_millis(2_300));
    assert_eq!(server.try_wait().unwrap(), None, "the server has ended");
    server.kill().unwrap();
    let output = server.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
