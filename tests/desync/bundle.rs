//! A desync as a folder: everything comes back, every broken file is refused, and a re-run says who is right.

use games::faulty::{Fault, Faulty};
use games::faulty::{recorded, step_differs};
use games::playground::Playground;
use rebout::lab::bundle::{json, page};
use rebout::net::folder::{self, FolderError};
use rebout::{AutopsyVerdict, Bundle, BundleError, Buttons, Frame, Player};
use std::collections::BTreeMap;
use std::path::PathBuf;

fn bundles() -> [Bundle; 2] {
    recorded(step_differs)
        .map(|(autopsy, replay)| Bundle::new("playground", autopsy, replay).expect("it fits"))
}

type Files = Vec<(String, Vec<u8>)>;

fn files(bundle: &Bundle) -> Files {
    bundle.files().unwrap().into_iter().map(|(name, bytes)| (name.to_owned(), bytes)).collect()
}

fn with(files: &Files, name: &str, change: impl Fn(String) -> String) -> Files {
    let mut files = files.clone();
    let (_, bytes) = files.iter_mut().find(|(known, _)| known == name).expect("the file");
    let text = String::from_utf8(bytes.clone()).expect("a text");
    let changed = change(text.clone());
    assert_ne!(changed, text, "{name} was not changed");
    *bytes = changed.into_bytes();
    files
}

/// A folder of this test's own, gone when the test is over.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn bundle_comes_back_from_the_disk_as_it_was() {
    let folder = Folder::new("bundle");
    for bundle in bundles() {
        folder::write(&folder.0, &bundle.files().unwrap()).unwrap();
        let again = Bundle::read(&folder::read(&folder.0, &Bundle::FILES).unwrap()).unwrap();
        assert_eq!(again, bundle);
        assert_eq!(again.autopsy().verdict, AutopsyVerdict::StepDiffers);
        assert_eq!(again.replay().inputs.len(), 430);
    }
}

#[test]
fn both_machines_write_the_same_states_and_inputs() {
    let [one, two] = bundles().map(|bundle| files(&bundle));
    for name in ["state_one.txt", "state_two.txt", "inputs.rplk"] {
        let find = |files: &Files| files.iter().find(|(known, _)| known == name).unwrap().1.clone();
        assert_eq!(find(&one), find(&two), "{name}");
    }
}

#[test]
fn clean_rerun_tells_which_machine_was_wrong() {
    let replay_of = |bundle: &Bundle| Playground::new(bundle.replay().seed).unwrap();
    let [bundle, _] = bundles();
    let rerun = bundle.rerun(&mut replay_of(&bundle)).unwrap();
    assert_eq!(rerun.first_divergence.0, Frame(100));
    assert_eq!(rerun.last_match.map(|(frame, _)| frame), Some(Frame(90)));
    assert_eq!((rerun.matches(Player::One), rerun.matches(Player::Two)), (Some(true), Some(false)));
    let [difference] = &rerun.differs[1][..] else { panic!("{rerun:?}") };
    assert_eq!(difference.path, "fighters[1].hp");

    // A re-run with the faulty step matches the faulty machine.
    let mut faulty = Faulty {
        inner: replay_of(&bundle),
        fault: Fault::Step { into: 100 },
        steps: 0,
        last: u32::MAX,
        newest: 0,
        barrier_every: None,
    };
    let rerun = bundle.rerun(&mut faulty).unwrap();
    assert_eq!((rerun.matches(Player::One), rerun.matches(Player::Two)), (Some(false), Some(true)));
}

#[test]
fn report_is_json_that_another_reader_understands() {
    let [bundle, _] = bundles();
    let facts = read_json(&json(&bundle));
    assert_eq!(facts["verdict"], "\"step\"");
    assert_eq!(facts["last_match"], "90");
    assert_eq!(facts["first_divergence"], "100");
    assert_eq!(facts["fields[0].path"], "\"fighters[1].hp\"");
    assert_eq!(facts["local"], "1");

    // A name that would break out of its quotes does not.
    let mut autopsy = bundle.autopsy().clone();
    let odd = "a\"},{\\\n\u{1b}\u{202e}".to_owned();
    let place = autopsy.states[0].iter().position(|leaf| leaf.path == "fighters[1].hp").expect("the field");
    autopsy.states[0][place].path.clone_from(&odd);
    autopsy.states[1].remove(place);
    (autopsy.fields[0].path, autopsy.fields[0].two) = (odd, None);
    let odd = Bundle::new("\"quoted\\", autopsy, bundle.replay().clone()).unwrap();
    let facts = read_json(&json(&odd));
    assert_eq!(facts["fields[0].path"], r#""a\"},{\\\u000a\u001b\u202e""#);
    assert_eq!(facts["fields[0].two"], "null");
    assert_eq!(Bundle::read(&odd.files().unwrap()).unwrap(), odd);
}

/// The report is for people, who may edit it without harm.
#[test]
fn bundle_is_read_from_its_facts_states_and_replay_alone() {
    let [bundle, _] = bundles();
    let edited = with(&files(&bundle), "report.txt", |_| "edited".to_owned());
    assert_eq!(Bundle::read(&edited).unwrap(), bundle);
}

/// Every value of a JSON text by its path, as it is written. Knows nothing of how the crate does it.
fn read_json(text: &str) -> BTreeMap<String, String> {
    fn blank(text: &mut &str) {
        *text = text.trim_start();
    }
    fn string(text: &mut &str) -> String {
        assert!(text.starts_with('"'), "a text at {text:.20}");
        let mut escaped = false;
        for (at, c) in text.char_indices().skip(1) {
            assert!(c as u32 >= 0x20, "a control character in a text");
            if c == '"' && !escaped {
                let (found, rest) = text.split_at(at + 1);
                *text = rest;
                return found.to_owned();
            }
            escaped = c == '\\' && !escaped;
        }
        panic!("a text without an end");
    }
    fn value(text: &mut &str, path: &str, facts: &mut BTreeMap<String, String>) {
        blank(text);
        match text.as_bytes()[0] {
            open @ (b'{' | b'[') => {
                let close = if open == b'{' { '}' } else { ']' };
                *text = &text[1..];
                blank(text);
                if let Some(rest) = text.strip_prefix(close) {
                    *text = rest;
                    return;
                }
                for index in 0.. {
                    blank(text);
                    let below = if open == b'{' {
                        let name = string(text);
                        blank(text);
                        *text = text.strip_prefix(':').expect("a colon");
                        let dot = if path.is_empty() { "" } else { "." };
                        format!("{path}{dot}{}", name.trim_matches('"'))
                    } else {
                        format!("{path}[{index}]")
                    };
                    value(text, &below, facts);
                    blank(text);
                    if let Some(rest) = text.strip_prefix(close) {
                        *text = rest;
                        return;
                    }
                    *text = text.strip_prefix(',').expect("a comma");
                }
            }
            b'"' => {
                let found = string(text);
                facts.insert(path.to_owned(), found);
            }
            _ => {
                let end = text.find([',', '}', ']', '\n']).expect("an end");
                let (found, rest) = text.split_at(end);
                assert!(
                    matches!(found, "null" | "true" | "false") || found.parse::<u64>().is_ok(),
                    "{found}"
                );
                facts.insert(path.to_owned(), found.to_owned());
                *text = rest;
            }
        }
    }
    let mut facts = BTreeMap::new();
    let mut rest = text;
    value(&mut rest, "", &mut facts);
    assert_eq!(rest.trim(), "");
    facts
}

#[test]
fn html_page_shows_match_fields_states_and_command() {
    let [bundle, _] = bundles();
    let html = page(&bundle, None);
    for part in [
        "<h1>Desync in playground</h1>",
        "<dt>last frame alike</dt><dd>90</dd>",
        "<dt>first frame that differs</dt><dd>100</dd>",
        "class=\"diverged\"",
        "<h2>Inputs of frames 90 to 99</h2>",
        "<tr class=\"differs\"><th><code>fighters[1].hp</code></th>",
        "cargo run --release --example autopsy -- FOLDER",
        "prefers-color-scheme: dark",
    ] {
        assert!(html.contains(part), "no {part} in {html}");
    }
    assert_eq!(html.matches("<tr class=\"differs\">").count(), bundle.autopsy().fields.len());
    for outside in ["http:", "https:", "<script", "<link", "src="] {
        assert!(!html.contains(outside), "the page needs {outside}");
    }

    // A name is text and no markup.
    let odd = Bundle::new("<b>", bundle.autopsy().clone(), bundle.replay().clone()).unwrap();
    let html = page(&odd, None);
    assert!(html.contains("<h1>Desync in &lt;b&gt;</h1>") && !html.contains("<b>"));
}

#[test]
fn every_broken_file_is_refused_with_its_reason() {
    let [bundle, _] = bundles();
    let good = files(&bundle);
    assert_eq!(Bundle::read(&good).unwrap(), bundle);
    let refused = |files: &Files| Bundle::read(files).expect_err("it is broken").to_string();

    for (name, _) in Bundle::FILES {
        let without: Files = good.iter().filter(|(known, _)| known != name).cloned().collect();
        assert_eq!(refused(&without), format!("{name} is missing"));
        let mut files = good.clone();
        let (_, bytes) = files.iter_mut().find(|(known, _)| known == name).unwrap();
        if name.ends_with("rplk") {
            bytes[40] ^= 1;
            assert!(refused(&files).starts_with("inputs.rplk: crc:"), "{}", refused(&files));
        } else {
            bytes.insert(3, 0xFF);
            assert_eq!(refused(&files), format!("{name}: byte 3 is not UTF-8"));
            let (_, bytes) = files.iter_mut().find(|(known, _)| known == name).unwrap();
            *bytes = vec![b' '; (1 << 20) + 1];
            assert_eq!(refused(&files), format!("{name}: 1048577 bytes are more than 1048576"));
        }
    }

    let facts = |from: &str, to: &str| refused(&with(&good, "bundle.txt", |text| text.replace(from, to)));
    assert_eq!(facts("format: 3", "format: 2"), "bundle.txt: format 2 is not 3");
    assert_eq!(facts("format: 3", "format 3"), "bundle.txt: line 1: expected 'format: ' and a number");
    assert_eq!(facts("seed: 5", "seed: 6"), "bundle.txt: seed is 6, but inputs.rplk has 5");
    assert_eq!(facts("frames: 430", "frames: 9"), "bundle.txt: frames is 9, but inputs.rplk has 430");
    assert_eq!(facts("local: 1", "local: 3"), "bundle.txt: line 5: expected 'local: ' and 1 or 2");
    assert_eq!(
        facts("verdict: step", "verdict: aliens"),
        "bundle.txt: line 10: expected 'verdict: ' and player-one, player-two, both, step, start or unknown"
    );
    assert_eq!(facts("exact: true", "exact: 1"), "bundle.txt: line 8: expected 'exact: ' and true or false");
    assert_eq!(
        facts("exact: true\n", ""),
        "bundle.txt: line 8: expected 'exact: ' and true or false",
        "a fact that is missing"
    );
    assert_eq!(
        facts("inputs_from: 90", "inputs_from: 420"),
        "bundle.txt: inputs of 30 frames from frame 420 on, but inputs.rplk has 430 frames"
    );
    assert_eq!(
        facts("inputs_from: 90", "inputs_from: 4294967295"),
        "bundle.txt: inputs of 30 frames from frame 4294967295 on, but inputs.rplk has 430 frames"
    );
    assert_eq!(
        facts("first_divergence: 100", "first_divergence: 431"),
        "the replay ends after 430 frames, before frame 431 that diverges"
    );
    assert_eq!(
        facts("first_divergence: 100", "first_divergence: 4294967296"),
        "bundle.txt: line 7: expected 'first_divergence: ' and a number"
    );
    assert_eq!(
        facts("game: playground", "game: \\u{a}"),
        "the name of a game is at most 64 bytes without control characters: \"\\n\""
    );
    assert_eq!(
        facts("inputs: 30", "inputs: 65537"),
        "bundle.txt: inputs of 65537 frames are more than 65536",
        "a replay of few bytes can have millions of frames"
    );
    let state = with(&good, "state_two.txt", |text| text.replace("rng = ", "rng : "));
    assert_eq!(refused(&state), "state_two.txt: line 25: expected ' = ' after a path");
}

#[test]
fn replay_of_another_match_makes_no_bundle() {
    let [(autopsy, replay), _] = recorded(step_differs);
    let mut short = replay.clone();
    short.inputs.truncate(99);
    assert!(matches!(
        Bundle::new("playground", autopsy.clone(), short),
        Err(BundleError::ShortReplay { frames: 99, first_divergence: Frame(100) })
    ));
    let mut other = replay.clone();
    other.inputs[95].0[0] = Buttons(0x8000).into();
    assert!(matches!(
        Bundle::new("playground", autopsy.clone(), other),
        Err(BundleError::OtherMatch { frame: Frame(95), .. })
    ));
    assert!(matches!(Bundle::new("a\nb", autopsy.clone(), replay.clone()), Err(BundleError::Name { .. })));
    let mut changed = autopsy;
    changed.fields.clear();
    assert!(matches!(Bundle::new("playground", changed, replay), Err(BundleError::OtherFields)));
}

#[test]
fn folder_holds_plain_names_and_is_read_to_a_limit() {
    let folder = Folder::new("plain");
    for name in ["../up", "a/b", "", "..", "c:\\d"] {
        let error = folder::write(&folder.0, &[("fine", b"x"), (name, b"x")]).expect_err(name);
        assert!(matches!(error, FolderError::Name { .. }), "{error}");
        assert!(!folder.0.exists(), "nothing was written");
        assert!(matches!(folder::read(&folder.0, &[(name, 9)]), Err(FolderError::Name { .. })));
    }
    folder::write(&folder.0, &[("a", vec![7_u8; 10]), ("b", vec![])]).unwrap();
    let read = folder::read(&folder.0, &[("b", 0), ("a", 10)]).unwrap();
    assert_eq!(read, [("b".to_owned(), vec![]), ("a".to_owned(), vec![7; 10])]);
    let error = folder::read(&folder.0, &[("a", 9)]).expect_err("too long");
    assert!(error.to_string().ends_with("a: longer than 9 bytes"), "{error}");
    assert!(matches!(folder::read(&folder.0, &[("c", 9)]), Err(FolderError::Io { .. })));
    std::fs::create_dir(folder.0.join("d")).unwrap();
    assert!(matches!(folder::read(&folder.0, &[("d", 9)]), Err(FolderError::NotAFile { .. })));
}
