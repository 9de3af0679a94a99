//! A peer and a file that mean harm: nothing of them reaches the terminal as it is.

use std::net::{Ipv4Addr, SocketAddr};
use std::process::Output;
use std::time::Duration;

use duel::play::{Preferences, Rules};
use rebout::net::udp::UdpDriver;
use rebout::{Buttons, Cues, Fields, Game, Inputs, Lobby, Visitor, is_disruptive};

use crate::online::{Folder, NEVER, Side, duel};

/// A game that agrees with nobody, and whose fields have names and values that would play with a terminal.
#[derive(Clone, Copy, Debug)]
struct Rogue {
    age: u32,
}

/// A value that clears the screen, names the window and turns the rest of the line.
struct Evil(u32);

impl Fields for Evil {
    fn visit<V: Visitor>(&self, visitor: &mut V) {
        visitor.leaf(&[self.0], &"\u{1b}[2J\u{1b}]0;title\u{7}\u{202e}evil\r");
    }
}

impl Fields for Rogue {
    fn visit<V: Visitor>(&self, visitor: &mut V) {
        visitor.field("fighters[0].\u{1b}[1Ahealth\u{2028}", &Evil(self.age));
    }
}

impl Game for Rogue {
    fn step(&mut self, _: Inputs, _: &mut Cues) {
        self.age += 1;
    }
}

fn is_harmless(text: &str) -> bool {
    !text.chars().any(is_disruptive)
}

/// Hosts a match against the program as `Rogue`, under this name, and answers what the program said.
fn against_a_rogue(name: &str) -> Side {
    let folder = Folder::new(&format!("rogue-{}", name.len()));
    // The first call builds the program, which may take longer than anybody here waits for a guest.
    drop(duel());
    let mut udp = UdpDriver::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).expect("a socket");
    let preferences = Preferences {
        name: name.to_owned(),
        seed: Some(1),
        frame_rate: 960,
        window_frames: 8,
        delay_frames: None,
        rules: Rules::default(),
    };
    let mut lobby = Lobby::host(preferences.config()).expect("a good config");
    let address = udp.local_addr().to_string();
    let mut side = Side::start("Ann", &["join", &address, "--bare"], &folder.0);
    while lobby.agreed().expect("nobody minds").is_none() {
        let deadline = udp.now() + Duration::from_millis(5);
        udp.run_until(&mut lobby, deadline).expect("a socket");
        assert!(udp.now() < NEVER, "nobody came");
    }
    let mut rogue = Rogue { age: 0 };
    let mut session = lobby.start(udp.now(), &rogue).expect("agreed");
    while !session.ended() {
        let due = session.next_frame_at();
        udp.run_until(&mut session, due).expect("a socket");
        session.advance(udp.now(), &mut rogue, Buttons::NONE);
        udp.flush(&mut session).expect("a socket");
        assert!(udp.now() < NEVER, "it never ended");
    }
    udp.close(&mut session, Duration::from_secs(2)).expect("a socket");
    assert_eq!(side.exit_code(), Some(1), "{:#?}", side.said);
    side
}

#[test]
fn names_and_fields_of_a_hostile_peer_are_escaped() {
    let side = against_a_rogue("\u{202e}\u{1b}[2JEve\u{200f}\u{9b}1A");
    assert!(side.said.iter().all(|line| is_harmless(line)), "{:#?}", side.said);
    assert!(side.has_said("Ann on the right against [2JEve1A: "), "{:#?}", side.said);
    let field = "\u{fffd}[1Ahealth\u{fffd} is \u{fffd}[2J\u{fffd}]0;title\u{fffd}\u{fffd}evil\u{fffd} on ";
    assert!(side.has_said(field), "{:#?}", side.said);
}

#[test]
fn name_of_nothing_but_marks_is_no_name() {
    let side = against_a_rogue("\u{202e}\u{200f} \u{7}");
    assert!(side.has_said("Ann on the right against Nameless: "), "{:#?}", side.said);
}

#[test]
fn name_that_looks_like_the_own_player_is_no_name() {
    let side = against_a_rogue("Yo\u{200b}u\u{feff}");
    assert!(side.has_said("Ann on the right against Nameless: "), "{:#?}", side.said);
}

#[test]
fn file_with_a_hostile_name_is_named_harmlessly() {
    let Output { status, stdout, stderr } = duel()
        .args(["replay", "no\u{1b}[2Jsuch\u{202e}file", "--view", "none"])
        .output()
        .expect("the example is built");
    let words = String::from_utf8(stderr).expect("words");
    assert_eq!((status.code(), stdout.len()), (Some(1), 0), "{words}");
    assert!(words.starts_with(r"duel: no\u{1b}[2Jsuch\u{202e}file: "), "{words:?}");
    assert!(is_harmless(words.trim_end()), "{words:?}");
}

#[test]
fn command_line_refuses_direction_marks_in_a_name() {
    let Output { status, stderr, .. } =
        duel().args(["host", "--name", "\u{202e}Eve"]).output().expect("the example is built");
    let words = String::from_utf8(stderr).expect("words");
    assert_eq!(status.code(), Some(2), "{words}");
    assert!(words.contains(r"no marks of direction, this one has '\u{202e}'"), "{words:?}");
}

#[test]
fn peer_named_you_is_not_taken_for_the_player() {
    let side = against_a_rogue("YOU ");
    assert!(side.has_said("Ann on the right against Nameless: "), "{:#?}", side.said);
}
