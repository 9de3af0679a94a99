//! Matches of two programs on this machine, with pads that nobody holds.

use std::path::Path;
use std::process::Command;

use support::program::Running;

use crate::tools::{Folder, nes_core};

const FRAMES: &str = "240";

/// A host and the two invites that it prints: to play, and to watch.
fn host(folder: &Folder, core: &Path, rom: &Path, more: &[&str]) -> (Running, String, String) {
    let mut command = folder.cabinet();
    command.arg("host").arg(core).arg(rom).args(["--bot", "--view", "none", "--frames", FRAMES]).args(more);
    let mut host = Running::start(&mut command);
    let mut after = |words: &str| loop {
        let line = host.line();
        assert!(!line.is_empty(), "the host ends without {words}");
        if let Some(rest) = line.strip_prefix(words) {
            return rest.to_owned();
        }
    };
    let (join, watch) = (after("cabinet join "), after("cabinet watch "));
    (host, join, watch)
}

fn join(folder: &Folder, invite: &str, core: &Path, rom: &Path, more: &[&str]) -> Command {
    let mut command = folder.cabinet();
    command.arg("join").arg(invite).arg(core).arg(rom).args(["--bot", "--view", "none"]).args(more);
    command
}

/// The line with the last frame and its checksum.
fn last(text: &str) -> String {
    let line = text.lines().find(|line| line.starts_with("frame "));
    line.unwrap_or_else(|| panic!("no last frame: {text}")).to_owned()
}

/// Plays a match of two programs over a bad link; what each has printed.
fn played(folder: &Folder, core: &Path, rom: &Path, more: &[&str]) -> [String; 2] {
    let (host, invite, _) = host(folder, core, rom, more);
    let more: Vec<&str> = more.iter().copied().chain(["--latency", "30", "--loss", "3"]).collect();
    let joined = Running::start(&mut join(folder, &invite, core, rom, &more)).end();
    let hosted = host.end();
    [hosted, joined].map(|(text, code, error)| {
        assert!(text.contains("Both machines agree on every frame."), "{text}{error}");
        assert_eq!(code, Some(0), "{text}{error}");
        text
    })
}

#[test]
fn match_over_a_bad_link_agrees_and_its_recording_is_verified() {
    let folder = Folder::new("match");
    let rom = folder.file("rom.bin", &[7; 64]);
    // Fresh cores that differ: the match is played from the host's first state.
    let Some(core) = folder.tally("tally", &["FAULT_FRESH"]) else { return };
    let records = folder.path().join("records");
    let texts = played(&folder, &core, &rom, &["--record", records.to_str().unwrap()]);
    assert_eq!(last(&texts[0]), last(&texts[1]));
    assert!(last(&texts[0]).starts_with(&format!("frame {FRAMES}, ")), "{}", texts[0]);
    let is_recording = |path: &std::path::PathBuf| path.extension().is_some_and(|kind| kind == "rplk");
    let files = std::fs::read_dir(&records).unwrap().map(|entry| entry.unwrap().path());
    let file = files.into_iter().find(is_recording).expect("a recording");
    let mut replay = folder.cabinet();
    replay.arg("replay").arg(&file).arg(&core).arg(&rom).args(["--view", "none"]);
    let (text, code) = crate::tools::run(&mut replay);
    assert_eq!((last(&text), code), (last(&texts[0]), Some(0)), "{text}");
    assert!(text.contains("checksums are those of the players"), "{text}");
    // The recording knows its ROM.
    let other = folder.file("other.bin", &[8; 64]);
    let mut replay = folder.cabinet();
    replay.arg("replay").arg(&file).arg(&core).arg(&other).args(["--view", "none"]);
    let (text, code) = crate::tools::run(&mut replay);
    assert!(
        text.contains("You have another ROM: other.bin") && text.contains("the host has rom.bin"),
        "{text}"
    );
    assert_eq!(code, Some(2));
}

#[test]
fn two_pads_at_each_machine_agree_with_look_ahead() {
    let folder = Folder::new("pads");
    let rom = folder.file("rom.bin", &[7; 64]);
    let Some(core) = folder.tally("tally", &[]) else { return };
    let texts = played(&folder, &core, &rom, &["--players", "4", "--look-ahead", "2"]);
    assert_eq!(last(&texts[0]), last(&texts[1]));
}

#[test]
fn each_part_that_differs_is_named_to_the_joiner() {
    let folder = Folder::new("differs");
    let (rom, other) = (folder.file("rom.bin", &[7; 64]), folder.file("other.bin", &[8; 64]));
    let Some(core) = folder.tally("tally", &[]) else { return };
    let newer = folder.tally("newer", &["VERSION=\"1.1\""]).expect("it was built before");
    for (core_here, rom_here, more, sentence) in [
        (&core, &other, &[][..], "You have another ROM: other.bin"),
        (&newer, &rom, &[], "You have another version of the core: 1.1."),
        (&core, &rom, &["--option", "tally_step=2"], "You have other options: "),
        (&core, &rom, &["--without", "x"], "You have other options: "),
    ] {
        let (mut host, invite, _) = host(&folder, &core, &rom, &[]);
        let (text, code, error) =
            Running::start(&mut join(&folder, &invite, core_here, rom_here, more)).end();
        assert!(text.contains(sentence) && code == Some(1), "{sentence}: {text}{error}");
        folder.kill(&mut host);
    }
}

#[test]
fn spectator_sees_the_match_of_the_players() {
    let folder = Folder::new("watch");
    let rom = folder.file("rom.bin", &[7; 64]);
    let Some(core) = folder.tally("tally", &["FAULT_FRESH"]) else { return };
    let (host, invite, watch) = host(&folder, &core, &rom, &[]);
    let mut command = folder.cabinet();
    command.arg("watch").arg(watch).arg(&core).arg(&rom).args(["--view", "none"]);
    let spectator = Running::start(&mut command);
    let (joined, ..) = Running::start(&mut join(&folder, &invite, &core, &rom, &[])).end();
    let (seen, code, error) = spectator.end();
    assert_eq!((last(&seen), code), (last(&joined), Some(0)), "{seen}{error}");
    host.end();
}

#[test]
fn match_at_one_machine_is_recorded_and_verified() {
    let folder = Folder::new("local");
    let rom = folder.file("rom.bin", &[7; 64]);
    let Some(core) = folder.tally("tally", &["FAULT_FRESH"]) else { return };
    let records = folder.path().join("records");
    let mut play = folder.cabinet();
    play.arg("play").arg(&core).arg(&rom).args(["--bot", "--view", "none", "--frames", "90", "--record"]);
    let (text, code) = crate::tools::run(play.arg(&records));
    let file = text.lines().find_map(|line| line.strip_prefix("recorded to ")).expect("a recording");
    assert_eq!(code, Some(0), "{text}");
    let mut replay = folder.cabinet();
    replay.arg("replay").arg(file).arg(&core).arg(&rom).args(["--view", "none"]);
    let (text, code) = crate::tools::run(&mut replay);
    assert!(last(&text).starts_with("frame 90, ") && code == Some(0), "{text}");
    let compared = text.lines().find_map(|line| line.strip_suffix(" checksums are those of the players"));
    assert!(compared.is_some_and(|count| count != "0"), "{text}");
}

#[test]
fn killed_player_comes_back_and_both_agree() {
    let folder = Folder::new("rejoin");
    let rom = folder.file("rom.bin", &[7; 64]);
    let Some(core) = folder.tally("tally", &["FAULT_FRESH"]) else { return };
    let folders = ["one", "two"].map(|name| folder.path().join(name));
    let [one, two] = folders.each_ref().map(|path| path.to_str().unwrap());
    let (mut rejoin, mut none) = (folder.cabinet(), folder.cabinet());
    for command in [&mut rejoin, &mut none] {
        command
            .arg("rejoin")
            .arg(two)
            .arg(&core)
            .arg(&rom)
            .args(["--bot", "--view", "none", "--record", two]);
    }
    let (text, code) = crate::tools::run(&mut none);
    assert!(text.contains("has no match of the last hour") && code == Some(2), "{text}");
    let (host, invite, _) = host(&folder, &core, &rom, &["--rejoin-in", one, "--record", one]);
    let mut joined =
        Running::start(&mut join(&folder, &invite, &core, &rom, &["--rejoin-in", two, "--record", two]));
    // The file is there once the match runs.
    let begun = std::time::Instant::now();
    while rebout::Options::unfinished_in(two).is_none() {
        assert!(begun.elapsed().as_secs() < 60, "no match begins");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    folder.kill(&mut joined);
    let (text, code, error) = Running::start(&mut rejoin).end();
    assert!(text.contains("Both machines agree on every frame.") && code == Some(0), "{text}{error}");
    let (hosted, code, error) = host.end();
    assert_eq!((last(&hosted), code), (last(&text), Some(0)), "{hosted}{error}");
}

#[test]
fn geometry_that_changes_is_no_trouble() {
    let folder = Folder::new("geometry");
    let rom = folder.file("rom.bin", &[7; 64]);
    let Some(core) = folder.tally("tally", &["FAULT_GEOMETRY"]) else { return };
    let texts = played(&folder, &core, &rom, &[]);
    assert_eq!(last(&texts[0]), last(&texts[1]));
}

#[test]
fn desync_names_the_address_in_memory() {
    let folder = Folder::new("desync");
    let rom = folder.file("rom.bin", &[7; 64]);
    let Some(core) = folder.tally("tally", &["FAULT_HIDDEN"]) else { return };
    let (host, invite, _) = host(&folder, &core, &rom, &["--delay", "0"]);
    let more = ["--delay", "0", "--latency", "40", "--seed", "3"];
    let (text, code, error) = Running::start(&mut join(&folder, &invite, &core, &rom, &more)).end();
    assert!(text.contains("wram[0x0]: ") && code == Some(3), "{text}{error}");
    host.end();
}

#[test]
fn nes_game_of_our_own_agrees_over_a_bad_link() {
    let folder = Folder::new("nes");
    let (Some(rom), Some(core)) = (folder.volley(), nes_core()) else { return };
    let texts = played(&folder, &core, &rom, &["--without", "x,y"]);
    assert_eq!(last(&texts[0]), last(&texts[1]));
}
