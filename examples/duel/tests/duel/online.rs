//! The duel as players run it: two processes over UDP with bots at the controls, and the match of two bots.
//!
//! Nothing here depends on how fast the machine is: a match is a number of frames, and what came out of it is held
//! against its recording.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use games::duel::{Duel, FULL_HEALTH, Phase};
use rebout::replay::{Recording, Replay, play};
use rebout::{Player, checksum};
use support::program::example;

/// Far enough that a test which reaches it has failed.
pub(crate) const NEVER: Duration = Duration::from_secs(60);

/// A round is decided within 60 seconds on its clock, whatever happens in it: that is, before this frame.
const ONE_ROUND: &str = "3800";
/// Fast, so that a match is short.
const FRAME_RATE: &str = "960";
/// Two bots are half as fast, so that a round trip of 10 ms is not longer than their window.
const BOTS_FRAME_RATE: &str = "480";

/// The duel on a machine without a display.
pub(crate) fn duel() -> Command {
    let mut command = Command::new(example("duel", &["duel"]));
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").stdin(Stdio::null());
    // The settings of whoever runs the tests are none of theirs.
    command.env("XDG_CONFIG_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/no-settings"));
    command
}

/// A folder for the recordings of one test; gone when this is dropped.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let name = format!("duel-{name}-{}", std::process::id());
        Self(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // There is none if nothing was recorded.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A player's process; gone when this is dropped.
pub(crate) struct Side {
    name: &'static str,
    process: Child,
    lines: Receiver<String>,
    pub(crate) said: Vec<String>,
}

impl Side {
    pub(crate) fn start(name: &'static str, args: &[&str], record: &Path) -> Self {
        let mut process = duel()
            .args(args)
            .args(["--name", name, "--bot", "--view", "none", "--frame-rate", FRAME_RATE, "--record"])
            .arg(record)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the example is built");
        let out = process.stdout.take().expect("a pipe");
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { name, process, lines, said: Vec::new() }
    }

    /// Waits for a line that has this in it, and answers what follows.
    pub(crate) fn expect(&mut self, part: &str) -> String {
        loop {
            let Ok(line) = self.lines.recv_timeout(NEVER) else {
                panic!("{} never said {part:?}, but {:#?}", self.name, self.said);
            };
            self.said.push(line.clone());
            if let Some((_, rest)) = line.split_once(part) {
                return rest.trim().to_owned();
            }
        }
    }

    /// Types a line.
    pub(crate) fn types(&mut self, text: &str) {
        let typed = self.process.stdin.as_mut().expect("a pipe");
        writeln!(typed, "{text}").expect("it reads");
    }

    pub(crate) fn has_said(&self, part: &str) -> bool {
        self.said.iter().any(|line| line.contains(part))
    }

    /// Waits for the process to end by itself, and answers its exit code.
    pub(crate) fn exit_code(&mut self) -> Option<i32> {
        while let Ok(line) = self.lines.recv_timeout(NEVER) {
            self.said.push(line);
        }
        self.process.wait().expect("it was started").code()
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The invite that a host has printed, alone on a line and in the command for the other player.
pub(crate) fn invite_of(host: &mut Side) -> String {
    let invite = host.expect("duel join ");
    assert!(invite.starts_with("rebout:2:") && host.said.contains(&invite), "{:#?}", host.said);
    invite
}

/// A host and a joiner that have found each other by invite.
fn match_of(record: &Path, more: &[&str]) -> [Side; 2] {
    let mut args = vec!["host", "--port", "0", "--level", "hard"];
    args.extend(more);
    let mut host = Side::start("Ann", &args, &record.join("host"));
    let invite = invite_of(&mut host);
    let mut args = vec!["join", &invite, "--level", "normal"];
    args.extend(more);
    let mut joiner = Side::start("Ben", &args, &record.join("join"));
    host.expect("Ann on the left against Ben");
    joiner.expect("Ben on the right against Ann");
    [host, joiner]
}

fn read(path: &str) -> Replay {
    let file = std::fs::read(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let recording = Recording::open(file).unwrap_or_else(|error| panic!("{path}: {error}"));
    let compared = recording.verify(&mut Duel::new(recording.header().seed));
    assert!(compared.as_ref().is_ok_and(|compared| *compared > 0), "{path}: {compared:?}");
    recording.to_replay()
}

/// The contents of a recording: the rounds that were decided, the blows that landed, and the last checksum.
struct Seen {
    rounds: Vec<String>,
    blows: [u32; 2],
    checksum: String,
}

fn watch(replay: &Replay) -> Seen {
    let mut seen = Seen { rounds: Vec::new(), blows: [0; 2], checksum: String::new() };
    let mut health = [FULL_HEALTH; 2];
    play(replay, &mut Duel::new(replay.seed), |_, duel| {
        for player in Player::BOTH {
            let now = duel.fighter(player).health;
            seen.blows[player.index()] += u32::from(now < health[player.index()]);
            health[player.index()] = now;
        }
        if let Phase::RoundOver { winner, .. } = duel.phase
            && duel.since == 0
        {
            let words = winner.map_or("a draw", |player| ["Ann wins", "Ben wins"][player.index()]);
            seen.rounds.push(format!("Round {}: {words}", duel.round));
        }
        seen.checksum = format!("{:08X}", checksum(duel));
    });
    seen
}

#[test]
fn host_and_joiner_fight_and_agree_on_every_frame() {
    let folder = Folder::new("agree");
    let mut sides = match_of(&folder.0, &["--frames", ONE_ROUND]);
    let codes = sides.each_mut().map(Side::exit_code);
    let said = sides.each_ref().map(|side| side.said.join("\n"));
    assert_eq!(codes, [Some(0); 2], "{said:#?}");

    let replays = sides.each_ref().map(|side| {
        assert!(side.has_said("Both machines agree on every frame."), "{said:#?}");
        let file =
            side.said.iter().find_map(|line| line.strip_prefix("Recorded to ")).expect("the file's name");
        read(file)
    });
    assert_eq!(replays[0], replays[1], "one match, two recordings");
    assert_eq!(replays[0].inputs.len().to_string(), ONE_ROUND);

    let seen = watch(&replays[0]);
    assert!(seen.blows.iter().all(|blows| *blows > 0), "blows taken: {:?}", seen.blows);
    assert!(!seen.rounds.is_empty(), "no round was decided");
    for side in &sides {
        assert!(side.has_said(&format!("{ONE_ROUND} frames, checksum {}", seen.checksum)), "{said:#?}");
        for round in &seen.rounds {
            assert!(side.has_said(round), "{round:?} is not in {said:#?}");
        }
    }
}

/// Leaves a match as Ctrl+C does.
#[cfg(unix)]
fn interrupt(side: &Side) {
    let kill = format!("kill -INT {}", side.process.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().expect("a shell").success());
}

#[cfg(unix)]
#[test]
fn lost_peer_is_waited_for_until_the_player_leaves() {
    let folder = Folder::new("alone");
    let mut sides = match_of(&folder.0, &[]);
    let [host, joiner] = &mut sides;
    joiner.expect("Round 1 begins");
    joiner.process.kill().expect("it runs");
    host.expect("waiting for Ben, ");
    assert!(host.has_said("s: Esc to leave"), "{:#?}", host.said);
    interrupt(host);
    assert_eq!(host.exit_code(), Some(0), "{:#?}", host.said);
    assert!(host.has_said("You left"), "{:#?}", host.said);
    let file = host.said.iter().find_map(|line| line.strip_prefix("Recorded to ")).expect("the file's name");
    let seen = watch(&read(file));
    assert!(host.has_said(&format!("checksum {}", seen.checksum)), "{:#?}", host.said);
    // Whoever was killed has recorded up to then.
    let killed = duel::replay_list::list(&folder.0.join("join"), 2);
    assert!(killed.len() == 1 && killed[0].result == "cut off", "{killed:?}");
}

#[cfg(unix)]
#[test]
fn signal_to_stop_leaves_and_tells_the_peer_at_once() {
    let folder = Folder::new("stop");
    let mut sides = match_of(&folder.0, &[]);
    let [host, joiner] = &mut sides;
    host.expect("Round 1 begins");
    interrupt(host);
    assert_eq!(host.exit_code(), Some(0), "{:#?}", host.said);
    assert!(host.has_said("You left and forfeit the match: Ben wins."), "{:#?}", host.said);
    assert_eq!(joiner.exit_code(), Some(3), "{:#?}", joiner.said);
    assert!(joiner.has_said("Ann left and forfeits the match: Ben wins."), "{:#?}", joiner.said);
}

#[test]
fn full_and_incompatible_hosts_are_named_as_such() {
    let folder = Folder::new("refused");
    let mut host = Side::start("Ann", &["host", "--port", "0", "--frames", "77"], &folder.0);
    let invite = invite_of(&mut host);
    let refused = |args: &[&str]| {
        let mut command = duel();
        command.args(["join", &invite, "--view", "none", "--record", "off", "--frame-rate", FRAME_RATE]);
        let Output { status, stderr, .. } = command.args(args).output().expect("the example is built");
        assert_eq!(status.code(), Some(1));
        String::from_utf8(stderr).expect("words")
    };
    let words = refused(&[]);
    assert!(words.contains("The host has another version of the game, or other rules"), "{words}");
    host.expect("The guest at ");
    assert!(host.has_said("was refused: it has another version of the game, or other rules."));
    drop(host);

    let sides = match_of(&folder.0, &[]);
    let invite = sides[0].said.iter().find(|line| line.starts_with("rebout:2:")).expect("said");
    let mut third = Side::start("Cid", &["join", invite], &folder.0);
    // The error output is for the player; here the code is enough.
    assert_eq!(third.exit_code(), Some(1), "{:#?}", third.said);
    drop(sides);
}

/// A value of a flat JSON object, as it is written there.
fn value<'a>(json: &'a str, key: &str) -> &'a str {
    let (_, rest) = json.split_once(&format!("\"{key}\":")).unwrap_or_else(|| panic!("no {key} in {json}"));
    let end = if let Some(text) = rest.strip_prefix('"') {
        text.find('"').expect("the end of a string") + 2
    } else {
        rest.find([',', '}']).expect("the end of a value")
    };
    rest[..end].trim_matches('"')
}

fn bots(record: &Path, args: &[&str]) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } = duel()
        .args(["bots", "--json", "--seed", "5", "--frame-rate", BOTS_FRAME_RATE, "--rtt", "10", "--record"])
        .arg(record)
        .args(args)
        .output()
        .expect("the example is built");
    assert!(stderr.is_empty(), "{}", String::from_utf8_lossy(&stderr));
    (status.code(), String::from_utf8(stdout).expect("JSON is text"))
}

#[test]
fn two_bots_agree_and_their_figures_can_be_read_by_programs() {
    let folder = Folder::new("bots");
    let (code, json) = bots(&folder.0, &["--frames", "900"]);
    assert_eq!(code, Some(0), "{json}");
    let number = |key: &str| value(&json, key).parse::<f64>().unwrap_or_else(|_| panic!("{key} in {json}"));
    assert_eq!((number("frames"), value(&json, "verdict"), number("desyncs")), (900.0, "agreed", 0.0));
    assert_eq!(value(&json, "link"), "sealed");
    assert!(number("rollbacks") > 0.0 && number("max_depth") > 0.0, "{json}");
    assert!((0.0..100.0).contains(&number("stalled_pct")), "{json}");
    assert!(number("rtt_ms") >= 10.0, "the link alone takes 10 ms: {json}");
    let seen = watch(&read(value(&json, "replay")));
    assert_eq!([value(&json, "checksum_one"), value(&json, "checksum_two")], [&seen.checksum; 2]);
    assert!(seen.blows.iter().any(|blows| *blows > 0), "{:?}", seen.blows);
}

#[test]
fn two_bots_on_a_bare_link_say_so() {
    let (code, json) = bots(Path::new("off"), &["--frames", "120", "--bare"]);
    assert_eq!((code, value(&json, "link"), value(&json, "verdict")), (Some(0), "bare", "agreed"), "{json}");
}

#[test]
fn changed_state_is_named_and_sets_the_exit_code() {
    let folder = Folder::new("desync");
    let (code, json) = bots(&folder.0, &["--frames", "400", "--desync", "200"]);
    assert_eq!(code, Some(1), "{json}");
    assert_eq!((value(&json, "verdict"), value(&json, "desyncs")), ("differs", "1"), "{json}");
    assert_ne!(value(&json, "checksum_one"), value(&json, "checksum_two"));
    assert!(value(&json, "first_field").starts_with("fighters[1].health: "), "{json}");
}

#[test]
fn without_a_display_and_without_a_terminal_it_says_what_to_do() {
    let Output { status, stdout, stderr } = duel().output().expect("the example is built");
    let words = String::from_utf8(stderr).expect("words");
    assert_eq!((status.code(), stdout.len()), (Some(2), 0), "{words}");
    assert!(words.contains("neither a display nor a terminal") && words.contains("duel bots"), "{words}");
    assert!(!words.contains("panicked"), "{words}");
}
