//! Spectators of a match, as programs.

use std::path::Path;
use std::process::{Child, Stdio};

use crate::online::{Side, duel, invite_of};

const FRAMES: [&str; 2] = ["--frames", "400"];

fn watch(invite: &str, more: &[&str]) -> Child {
    let mut command = duel();
    command
        .args(["watch", invite, "--view", "none"])
        .args(more)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.spawn().expect("the example is built")
}

/// Two bots, and the invite to watch them.
fn bots(more: &[&str]) -> ([Side; 2], String) {
    let host = [&["host", "--port", "0"], &FRAMES[..], more].concat();
    let mut ann = Side::start("Ann", &host, Path::new("off"));
    let invite = invite_of(&mut ann);
    let to_watch = ann.expect("duel watch ");
    let ben = Side::start("Ben", &["join", &invite, FRAMES[0], FRAMES[1]], Path::new("off"));
    ([ann, ben], to_watch)
}

#[test]
fn spectators_and_those_they_serve_see_the_end_of_a_match() {
    let (mut sides, invite) = bots(&[]);
    let mut first = watch(&invite, &["--serve", "0"]);
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(first.stdout.take().expect("a pipe")));
    let passed_on = lines
        .by_ref()
        .find_map(|line| line.expect("a line").strip_prefix("duel watch ").map(str::to_owned))
        .expect("an invite for others");
    let second = watch(&passed_on, &[]).wait_with_output().expect("it ends");
    let said: Vec<String> = lines.map(|line| line.expect("a line")).collect();
    assert_eq!(first.wait().expect("it ends").code(), Some(0), "{said:?}");
    let heard = String::from_utf8(second.stdout).expect("words");
    assert_eq!(second.status.code(), Some(0), "{heard}");
    assert_eq!(sides.each_mut().map(Side::exit_code), [Some(0); 2]);
    for said in [said.join("\n"), heard] {
        assert!(said.contains("watching Ann against Ben"), "{said}");
        assert!(said.contains("both machines agree on"), "{said}");
        assert!(said.contains("checksums are those of the players"), "{said}");
    }
}

#[test]
fn invite_to_play_is_none_to_watch() {
    let (_sides, invite) = bots(&[]);
    let joined = duel().args(["join", &invite, "--view", "none"]).output().expect("it ends");
    let words = String::from_utf8(joined.stderr).expect("words");
    assert!(words.contains("an invite to watch, and not to play"), "{words}");
}

#[test]
fn corner_of_a_player_tells_how_many_watch() {
    let mut net = duel::netgraph::NetGraph::default();
    net.round_trip_millis = Some(7.0);
    assert_eq!(net.corner().as_deref(), Some("7 ms · 0f"));
    net.watchers = 2;
    assert_eq!(net.corner().as_deref(), Some("2 watching · 7 ms · 0f"));
}
