//! The stress tester as a program: what it finds, what it prints, and how it ends.

use crate::program::program;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Output};

fn run<I: AsRef<OsStr>>(args: impl IntoIterator<Item = I>) -> Output {
    let dir = std::env::temp_dir();
    Command::new(program("stress")).args(args).current_dir(dir).output().unwrap()
}

fn stress(args: &str) -> (Option<i32>, String, String) {
    let output = run(args.split_whitespace());
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// A directory of its own, gone when the test is.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("rebout-stress-{}-{name}", std::process::id())))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// As much of JSON as the program prints.
#[derive(Clone, Debug, PartialEq)]
enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(BTreeMap<String, Json>),
}

impl Json {
    fn parse(text: &str) -> Self {
        let mut rest = text;
        let value = Self::value(&mut rest);
        assert_eq!(rest.trim(), "", "something follows the object");
        value
    }

    fn value(rest: &mut &str) -> Self {
        let literals = [("null", Self::Null), ("true", Self::Bool(true)), ("false", Self::Bool(false))];
        if let Some((word, value)) = literals.into_iter().find(|(word, _)| rest.starts_with(word)) {
            *rest = &rest[word.len()..];
            return value;
        }
        match rest.chars().next().expect("a value") {
            '"' => Self::Text(Self::text(rest)),
            '[' => Self::List(Self::items(rest, ['[', ']'], Self::value)),
            '{' => {
                let pairs = Self::items(rest, ['{', '}'], |rest| {
                    let name = Self::text(rest);
                    Self::expect(rest, ':');
                    (name, Self::value(rest))
                });
                let count = pairs.len();
                let object: BTreeMap<_, _> = pairs.into_iter().collect();
                assert_eq!(object.len(), count, "every name once");
                Self::Object(object)
            }
            _ => {
                let end = rest
                    .find(|c: char| !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e'))
                    .unwrap_or(rest.len());
                let (number, after) = rest.split_at(end);
                *rest = after;
                Self::Number(number.parse().unwrap_or_else(|_| panic!("no number: {number:?}")))
            }
        }
    }

    fn expect(rest: &mut &str, wanted: char) {
        *rest = rest.strip_prefix(wanted).unwrap_or_else(|| panic!("{wanted} expected: {rest}"));
    }

    fn items<T>(rest: &mut &str, [open, close]: [char; 2], item: impl Fn(&mut &str) -> T) -> Vec<T> {
        Self::expect(rest, open);
        let mut items = Vec::new();
        while !rest.starts_with(close) {
            if !items.is_empty() {
                Self::expect(rest, ',');
            }
            items.push(item(rest));
        }
        Self::expect(rest, close);
        items
    }

    fn text(rest: &mut &str) -> String {
        Self::expect(rest, '"');
        let is_end = |(at, byte): &(usize, u8)| *byte == b'"' && !rest[..*at].ends_with('\\');
        let (end, _) = rest.bytes().enumerate().find(is_end).expect("the end of a text");
        // Only line ends and quotes in the description of a failure are escaped.
        let text = rest[..end].replace("\\u000a", "\n").replace("\\\"", "\"");
        assert!(!text.contains('\\'), "nothing else that is printed needs escaping: {text}");
        *rest = &rest[end + 1..];
        text
    }

    fn get(&self, name: &str) -> &Self {
        let Self::Object(object) = self else { panic!("no object: {self:?}") };
        object.get(name).unwrap_or_else(|| panic!("no {name} in {object:?}"))
    }

    fn number(&self, name: &str) -> f64 {
        let Self::Number(number) = self.get(name) else { panic!("{name} is no number") };
        *number
    }

    /// A number that counts something.
    fn count(&self, name: &str) -> u64 {
        let number = self.number(name);
        assert!(number >= 0.0 && number.fract().abs() < f64::EPSILON, "{name} is {number}");
        number as u64
    }

    fn list(&self, name: &str) -> &[Self] {
        let Self::List(list) = self.get(name) else { panic!("{name} is no list") };
        list
    }
}

#[test]
fn matches_on_all_links_are_well_and_the_figures_add_up() {
    let (code, out, err) = stress("--matches 26 --frames 600 --json");
    assert_eq!(code, Some(0), "{out}{err}");
    let result = Json::parse(&out);
    assert_eq!(result.count("matches"), 26);
    assert_eq!((result.count("divergences"), result.count("vacuous")), (0, 0));
    assert!(result.number("frames_per_s") > 0.0);
    let links = result.list("links");
    assert_eq!(links.len(), 13);
    for (name, least) in [("matches", 2), ("frames", 2 * 2 * 900)] {
        assert!(links.iter().all(|link| link.count(name) >= least), "{name}: {links:?}");
        assert_eq!(result.count(name), links.iter().map(|link| link.count(name)).sum::<u64>());
    }
    let far = links.iter().find(|link| *link.get("link") == Json::Text("geostationary".to_owned())).unwrap();
    assert!(far.number("rollbacks") > 100.0 && far.number("depth_p99") >= far.number("depth_p50"));
    assert!(far.number("stalled_percent") > 30.0, "light alone needs longer than the window");
}

#[test]
fn other_games_are_well_too() {
    for game in ["swarm", "duel", "tilt"] {
        let (code, out, err) = stress(&format!("--game {game} --matches 13 --frames 500"));
        assert_eq!(code, Some(0), "{game}: {out}{err}");
        assert!(out.contains("0 diverged, 0 vacuous, 0 failed"), "{out}");
    }
}

#[test]
fn result_does_not_depend_on_how_many_threads_play() {
    let figures = |jobs: u32| {
        let (code, out, err) = stress(&format!("--matches 30 --frames 300 --seed 9 --json --jobs {jobs}"));
        assert_eq!(code, Some(0), "{err}");
        let Json::Object(mut object) = Json::parse(&out) else { panic!("{out}") };
        object.remove("frames_per_s").expect("a speed");
        object.remove("seconds").expect("a time");
        object
    };
    let one = figures(1);
    assert_eq!(one, figures(2));
    assert_eq!(one, figures(5));
}

#[test]
fn another_seed_plays_other_matches() {
    let frames = |seed: u32| stress(&format!("--link wifi --matches 2 --frames 300 --seed {seed}")).1;
    let rollbacks = |table: &str| table.lines().nth(1).unwrap().split_whitespace().nth(3).unwrap().to_owned();
    assert_ne!(rollbacks(&frames(1)), rollbacks(&frames(2)));
}

#[test]
fn run_that_proves_nothing_fails() {
    // Too short for a blow, and for a wrong prediction.
    let (code, out, err) = stress("--link clean --matches 3 --frames 10 --json");
    assert_eq!(code, Some(1), "{out}{err}");
    assert_eq!(Json::parse(&out).count("vacuous"), 3);
    assert!(
        err.contains("vacuous: ") && err.contains("--link clean --seed 1 --matches 1 --frames 10"),
        "{err}"
    );
}

#[test]
fn every_planted_mistake_is_caught_with_its_field_and_its_side() {
    let (code, out, err) = stress("--plant all --frames 900 --json");
    assert_eq!(code, Some(0), "{out}{err}");
    let result = Json::parse(&out);
    let planted = result.list("planted");
    assert!(planted.len() >= 12);
    for mistake in planted {
        assert_eq!(
            (mistake.get("caught"), mistake.get("right")),
            (&Json::Bool(true), &Json::Bool(true)),
            "{out}"
        );
        let Json::Text(by) = mistake.get("by") else { panic!("{mistake:?}") };
        assert!(by.contains("checksum") && by.contains("oracle"), "{mistake:?}");
        assert!(mistake.number("frames") <= 900.0);
    }
    let verdict = |name: &str| {
        let mistake =
            planted.iter().find(|mistake| *mistake.get("name") == Json::Text(name.to_owned())).unwrap();
        [mistake.get("field").clone(), mistake.get("side").clone()]
    };
    let text = |text: &str| Json::Text(text.to_owned());
    assert_eq!(verdict("hidden-cache"), [text("wind"), text("both")]);
    assert_eq!(verdict("touched-outside"), [text("shake"), text("player-one")]);
    assert_eq!(verdict("update-order"), [text("score[0]"), text("step")]);
    assert_eq!(verdict("unequal-start"), [text("fight.fighters[1].hp"), text("start")]);
}

#[test]
fn autopsy_finds_a_fault_despite_a_broken_restore() {
    for args in [
        // The state that differs was looked at through the restore that forgets the field.
        "--plant field-not-copied --link fibre --seed 5837671141798688312",
        // On one machine the resimulation from the last match gave the states that it had recorded.
        "--plant save-off-by-one --link bursty --seed 197558726815315921",
        "--plant save-off-by-one --link narrow --seed 14646652180046636950",
    ] {
        let (code, out, err) = stress(&format!("{args} --matches 1 --frames 600"));
        assert_eq!(code, Some(0), "{args}: {out}{err}");
    }
}

#[test]
fn failure_is_shrunk_and_can_be_seen_again_and_looked_into() {
    let scratch = Scratch::new("failure");
    let dir = scratch.0.to_str().unwrap();
    let (code, out, err) = stress(&format!(
        "--game global-state --link hostile --matches 4 --frames 900 --seed 3 --report {dir}"
    ));
    assert_eq!(code, Some(1), "{out}{err}");
    assert!(out.contains("4 diverged"), "{out}");
    assert!(err.contains("FAILED on link hostile, seed ") && err.contains("combo: "), "{err}");
    let command =
        err.lines().find_map(|line| line.trim().strip_prefix("shrunk: ")).expect("a shrunk command");
    let (_, args) = command.split_once(" -- ").unwrap();
    assert!(args.contains("--without ") && !args.contains("--frames 900"), "{args}");

    let (again, _, again_err) = stress(&format!("{args} --report {dir}/again"));
    assert_eq!(again, Some(1), "{again_err}");
    assert!(again_err.contains("combo: "), "{again_err}");
    // It was as small as it gets.
    assert!(!again_err.contains("shrunk: "), "{again_err}");

    let written = err.lines().find_map(|line| line.trim().strip_prefix("written to ")).expect("a bundle");
    let bundle = Command::new(program("stress").with_file_name("autopsy")).args([written]).output().unwrap();
    let report = String::from_utf8(bundle.stdout).unwrap();
    assert!(report.contains("combo: ") && report.contains("global-state"), "{report}");

    let page = std::fs::read_to_string(scratch.0.join("index.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("<code>combo</code>") && page.ends_with("</html>\n"));
    for outside in ["http://", "https://", "src=", "@import", "url("] {
        assert!(!page.contains(outside), "the page needs {outside}");
    }
}

#[test]
fn effects_of_flipped_bits_are_reported_and_no_failure() {
    let (code, out, err) = stress("--link corrupting --matches 6 --frames 900");
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(out.contains("of them excused, every one reported: on links that flip bits"), "{out}");
}

#[test]
fn sealed_link_with_flipped_bits_makes_no_match_diverge() {
    let (code, out, err) = stress("--link corrupting --matches 6 --frames 900 --sealed");
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(!out.contains("flip bits"), "nothing is to be reported: {out}");
}

#[test]
fn arguments_that_make_no_sense_are_refused_with_the_value() {
    for (args, wanted) in [
        ("--link moon", "'moon' for '--link"),
        ("--game chess", "'chess' for '--game"),
        ("--plant weeds", "'weeds' for '--plant"),
        ("--without gravity", "'gravity' for '--without"),
        ("--matches 0", "'0' is not from 1 to"),
        ("--jobs -1", "'-1'"),
        ("--seed -1", "'-1'"),
        ("--frames 99999999999", "'99999999999' is not from"),
        ("--shard 0/4", "the parts of 4 are numbered from 1 to 4"),
        ("--shard 5/4", "the parts of 4 are numbered from 1 to 4"),
        ("--shard 4", "two numbers with a slash between them"),
        ("--roaming", "--sealed"),
        ("--kills", "--sealed"),
        ("--spectators", "--sealed"),
        ("--drawn --plant all", "'--plant <PLANT>'"),
    ] {
        let (code, out, err) = stress(args);
        assert_eq!((code, &*out), (Some(2), ""), "{args}");
        assert!(err.contains(wanted), "{args}: {err}");
    }
}

/// Plays the shards of a run, and leaves their reports in `scratch`.
fn shards(scratch: &Scratch, args: &str, of: u32) -> Vec<PathBuf> {
    std::fs::create_dir_all(&scratch.0).unwrap();
    let play = |number: u32| {
        let output = run(format!("{args} --shard {number}/{of} --json").split_whitespace());
        let path = scratch.0.join(format!("{number}.json"));
        std::fs::write(&path, output.stdout).unwrap();
        path
    };
    (1..=of).map(play).collect()
}

fn merge(files: &[PathBuf]) -> (Option<i32>, String, String) {
    let args = [OsStr::new("--merge")].into_iter().chain(files.iter().map(AsRef::as_ref));
    let output = run(args);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn shards_of_a_run_merge_to_the_report_of_the_whole() {
    let scratch = Scratch::new("shards");
    let args = "--matches 14 --frames 300 --seed 9";
    let (code, whole, err) = stress(args);
    assert_eq!(code, Some(0), "{whole}{err}");
    // The parts are 4, 5 and 5 matches, none of them on all links.
    let mut files = shards(&scratch, args, 3);
    files.reverse();
    let (code, merged, err) = merge(&files);
    assert_eq!(code, Some(0), "{merged}{err}");
    let table = |text: &str| {
        text.lines().take_while(|line| !line.contains(" matches,")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(table(&merged), table(&whole));
    assert_eq!(table(&merged).len(), 1 + 13 + 1);
    assert!(merged.contains("14 matches, ") && merged.contains("3 shards, "), "{merged}");
}

#[test]
fn merge_refuses_shards_that_are_not_one_run() {
    let scratch = Scratch::new("not-one-run");
    let files = shards(&scratch, "--link lan --matches 3 --frames 60", 3);
    let refused = |files: &[PathBuf], wanted: &str| {
        let (code, out, err) = merge(files);
        assert_eq!((code, &*out), (Some(2), ""), "{err}");
        assert!(err.contains(wanted), "{err}");
    };
    refused(&files[..1], "missing shards: 2/3, 3/3");
    refused(&[&files[..], &files[2..]].concat(), "shard 3/3 is there more than once");
    let mixed = scratch.0.join("mixed.json");
    let (_, report, _) = stress("--link lan --matches 3 --frames 60 --seed 2 --shard 3/3 --json");
    std::fs::write(&mixed, report).unwrap();
    refused(&[files[0].clone(), files[1].clone(), mixed.clone()], "are parts of different runs");
    let (_, whole, _) = stress("--link lan --matches 1 --frames 60 --json");
    std::fs::write(&mixed, whole).unwrap();
    refused(std::slice::from_ref(&mixed), "the report of a whole run, and not of a shard");
    for text in ["", "{\"run\":", "[1,2]", "{\"shard\":[1,1],\"run\":{}}", &"[".repeat(100_000)] {
        std::fs::write(&mixed, text).unwrap();
        refused(std::slice::from_ref(&mixed), "mixed.json: ");
    }
    refused(&[scratch.0.join("none.json")], "none.json: ");
}

#[test]
fn failure_of_a_shard_is_told_by_the_merge() {
    let scratch = Scratch::new("failed-shard");
    let files = shards(&scratch, "--game global-state --link hostile --matches 2 --frames 600 --seed 3", 2);
    let (code, out, err) = merge(&files);
    assert_eq!(code, Some(1), "{out}{err}");
    assert!(out.contains("2 diverged") && err.contains("FAILED on link hostile, seed 3"), "{out}{err}");
}

#[test]
fn merge_names_links_that_no_shard_played() {
    let scratch = Scratch::new("unplayed");
    let files = shards(&scratch, "--matches 2 --frames 60", 4);
    let (code, out, _) = merge(&files);
    assert_eq!(code, Some(1), "{out}");
    assert!(out.contains("NOT PLAYED, the run was too short: ") && out.contains("2 matches"), "{out}");
}

/// The datagrams that were refused in a run of 13 matches of at least 15 s, to which 100 forged ones come in a second.
fn refused(report: &str) -> u64 {
    Json::parse(report).list("links").iter().map(|link| link.count("refused")).sum()
}

#[test]
fn roaming_and_hostile_sealed_matches_are_well() {
    for game in ["playground", "duel", "swarm", "tag", "tilt"] {
        let args = format!("--game {game} --matches 13 --frames 900 --without rematch --json");
        let (code, out, err) = stress(&format!("{args} --sealed --roaming --hostile"));
        assert_eq!(code, Some(0), "{game}: {out}{err}");
        assert!(refused(&out) > 13 * 15 * 90, "{game}: {out}");
    }
}

#[test]
fn strangers_change_nothing_in_bare_matches() {
    let (code, out, err) = stress("--matches 13 --frames 900 --hostile --json");
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(refused(&out) > 13 * 15 * 90, "{out}");
}

#[test]
fn every_condition_is_met() {
    for conditions in
        ["--pauses --barriers --first-states", "--sealed --spectators", "--sealed --kills --link wifi"]
    {
        let args = format!("--game tilt --matches 13 --frames 600 --without rematch {conditions}");
        let (code, out, err) = stress(&args);
        assert_eq!(code, Some(0), "{args}: {out}{err}");
    }
}

#[cfg(feature = "nat")]
#[test]
fn matches_through_relays_are_well() {
    let (code, out, err) =
        stress("--game tilt --matches 13 --frames 300 --without rematch --sealed --relayed");
    assert_eq!(code, Some(0), "{out}{err}");
    let (code, _, err) = stress("--sealed --relayed --kills");
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("--relayed and --kills do not go together"), "{err}");
}

/// Each match draws its game, its seal and its conditions from its seed: the shards of such a run merge like those of any other.
#[test]
fn run_of_all_games_with_drawn_conditions_merges() {
    let scratch = Scratch::new("drawn");
    let args = "--game all --matches 26 --frames 900 --without rematch --sealed --hostile --pauses --barriers \
                --first-states --kills --spectators --drawn";
    let (code, whole, err) = stress(args);
    assert_eq!(code, Some(0), "{whole}{err}");
    let (code, merged, err) = merge(&shards(&scratch, args, 3));
    assert_eq!(code, Some(0), "{merged}{err}");
    let table = |text: &str| text.lines().take(15).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(table(&merged), table(&whole));
}
