//! Recorded matches: where they are kept, how they are listed and watched, and files that mean harm.

use std::path::{Path, PathBuf};
use std::process::Output;

use duel::art::seek::share_of;
use duel::picture::{Mark, Picture, ReplayView, Tone};
use duel::replay_list::{self, Entry};
use duel::scene::Scene;
use games::duel::Duel;
use games::duel::identity::GAME_ID;
use rebout::is_disruptive;
use rebout::replay::{End, Header, Outcome, Recording, StreamRecorder, Tail, Winner};
use rebout::{Buttons, Frame, Inputs, Player, Reason};
use stage::{Surface, Touch, TouchAct, at};

use crate::online::{Folder, duel};

fn run(data: &Path, args: &[&str]) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } =
        duel().args(args).env("XDG_DATA_HOME", data).output().expect("the example is built");
    (status.code(), String::from_utf8(stdout).unwrap() + &String::from_utf8(stderr).unwrap())
}

/// A short file of version 2.
fn file(header: &Header, end: Option<End>) -> Vec<u8> {
    let mut recorder = StreamRecorder::new(header, Vec::new()).unwrap();
    (0..90).for_each(|frame| recorder.record(Frame(frame), Inputs::from([Buttons(1); 2])).unwrap());
    match end {
        Some(end) => recorder.finish(end).unwrap(),
        None => {
            let mut file = recorder.finish(End { outcome: Outcome::Local, winner: Winner::Draw }).unwrap();
            file.pop();
            file
        }
    }
}

fn header(names: [&str; 2]) -> Header {
    let names = names.map(str::to_owned);
    Header {
        game_id: GAME_ID,
        frame_rate: Some(rebout::FrameRate::hz(60)),
        recorded_at_secs: 951_782_400,
        names,
        ..Header::new(3)
    }
}

#[cfg(target_os = "linux")]
#[test]
fn matches_are_recorded_by_default_listed_and_watched() {
    let folder = Folder::new("shelf");
    let empty = run(&folder.0, &["replays"]);
    assert!(empty.0 == Some(0) && empty.1.starts_with("No matches in "), "{empty:?}");
    let nothing = run(&folder.0, &["replay", "--view", "none"]);
    assert_eq!(nothing, (Some(1), "duel: no match has been recorded yet: name a file\n".to_owned()));

    let (code, said) =
        run(&folder.0, &["bots", "--frames", "500", "--frame-rate", "480", "--seed", "5", "--rtt", "10"]);
    assert_eq!(code, Some(0), "{said}");
    let path = said.lines().find_map(|line| line.strip_prefix("Recorded to ")).expect("the file's name");
    assert_eq!(Path::new(path).parent().unwrap(), folder.0.join("rebout/duel"));
    let recording = replay_list::open(Path::new(path)).unwrap();
    assert_eq!((recording.version(), recording.tail(), recording.frames()), (2, Tail::Whole, 500));
    assert!(matches!(recording.end().unwrap().outcome, Outcome::Agreed { .. }));
    assert!(recording.verify(&mut Duel::new(5)).unwrap() >= 1);

    let (_, list) = run(&folder.0, &["replays"]);
    let date = list.split("  ").next().unwrap();
    assert!(date.len() == 16 && date.starts_with("20"), "{list}");
    assert_eq!(list, format!("{date}  Bot one - Bot two  0:01  undecided  {path}\n"));

    // The newest match, to its end.
    let checksum = said.split("checksum ").nth(1).unwrap()[..8].to_owned();
    let (code, watched) = run(&folder.0, &["replay", "--view", "none"]);
    assert_eq!((code, watched), (Some(0), format!("Frame 500 of 500, checksum {checksum}\n")));
    let (_, checksums) = run(&folder.0, &["replay", path, "--every", "250"]);
    assert_eq!(checksums.lines().count(), 3);
    assert!(checksums.ends_with(&format!("frame 500: {checksum}\n")), "{checksums}");
}

#[test]
fn list_tells_names_date_length_and_result() {
    let folder = Folder::new("list");
    std::fs::create_dir_all(&folder.0).unwrap();
    let end = |outcome, winner| Some(End { outcome, winner });
    let early = |reason| end(Outcome::Disconnected(reason), Winner::Undecided);
    let agreed = Outcome::Agreed { checksum: 1 };
    let ann = Winner::Player(Player::One);
    for (name, end, result) in [
        ("a", end(agreed, ann), "Ann won"),
        ("b", end(agreed, Winner::Draw), "a draw"),
        ("c", end(Outcome::Differs { ours: 1, theirs: 2 }, ann), "desync"),
        ("d", early(Reason::Left), "left"),
        ("e", early(Reason::TimedOut), "connection lost"),
        ("f", end(Outcome::Local, Winner::Undecided), "undecided"),
        ("g", None, "cut off"),
        ("h", early(Reason::VoidChecksums { of: Player::One }), "Ann forfeited: wrong states"),
        ("i", early(Reason::NotesWithheld), "desync, unexplained"),
        ("j", early(Reason::InputsHeldBack), "inputs too late"),
    ] {
        let path = folder.0.join(format!("{name}.rplk"));
        std::fs::write(&path, file(&header(["Ann", ""]), end)).unwrap();
        let found = replay_list::list(&folder.0, 100).into_iter().find(|entry| entry.path == path).unwrap();
        assert_eq!(found.to_string(), format!("2000-02-29 00:00  Ann - Player two  0:01  {result}  {name}"));
    }
    std::fs::write(folder.0.join("noise.rplk"), b"not a replay").unwrap();
    let other = Header { game_id: 7, ..header(["Ann", "Ben"]) };
    std::fs::write(folder.0.join("other.rplk"), file(&other, None)).unwrap();
    assert_eq!((replay_list::list(&folder.0, 100).len(), replay_list::list(&folder.0, 3).len()), (10, 3));
    let error = replay_list::open(&folder.0.join("other.rplk")).unwrap_err();
    assert!(error.ends_with("a match of another game, 0x7"), "{error}");
    assert!(replay_list::open(&folder.0).unwrap_err().ends_with("not a file"));
}

#[test]
fn names_in_a_file_are_shown_short_and_harmless() {
    let evil = header(["\u{1b}[2J\u{202e}evil", "an endless name that goes on and on and on"]);
    let names = duel::viewer::names(&Recording::open(file(&evil, None)).unwrap());
    assert!(
        names.iter().all(|name| !name.contains(is_disruptive) && name.chars().count() <= 18),
        "{names:?}"
    );
    assert_eq!(names[0], "[2Jevil");
}

#[test]
fn entry_has_date_names_length_and_result() {
    let names = ["Ann".to_owned(), "Ben".to_owned()];
    let entry = Entry {
        path: PathBuf::new(),
        name: None,
        at_secs: 951_868_799,
        names,
        seconds: 61,
        result: "left".to_owned(),
    };
    assert_eq!(entry.to_string(), "2000-02-29 23:59  Ann - Ben  1:01  left");
}

#[cfg(not(any(windows, target_os = "macos")))]
#[test]
fn matches_are_kept_where_programs_keep_their_data() {
    let folder = |vars: &[(&str, &str)]| {
        replay_list::data_folder(|name| {
            vars.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into())
        })
    };
    assert_eq!(folder(&[("HOME", "/h/ann")]), Path::new("/h/ann/.local/share/rebout/duel"));
    let both = [("HOME", "/h/ann"), ("XDG_DATA_HOME", "/data")];
    assert_eq!(folder(&both), Path::new("/data/rebout/duel"));
    let relative = [("HOME", "/h/ann"), ("XDG_DATA_HOME", "here")];
    assert_eq!(folder(&relative), Path::new("/h/ann/.local/share/rebout/duel"));
    assert_eq!(folder(&[]), Path::new("replays"));
}

#[test]
fn marks_are_on_the_seek_bar_of_a_window_and_of_a_terminal() {
    let painted = |marks: Vec<Mark>| {
        let scene = Scene::new(&Duel::new(1), ["Ann".to_owned(), "Ben".to_owned()]);
        let replay_view =
            Some(ReplayView { frame: 10, frames: 1_000, paused: true, speed: 1.0, state: None, marks });
        let picture = Picture { replay_view, ..Picture::of(scene) };
        let (mut raster, mut window) = (stage::Raster::default(), stage::Pixels::default());
        raster.resize(160, 90);
        window.fit(960.0, 540.0);
        stage::Picture::paint_shapes(&picture, &mut raster);
        stage::Picture::paint(&picture, &mut window);
        (format!("{raster:?}"), window.bytes().to_vec())
    };
    let plain = painted(Vec::new());
    let at = |frame: u32, tone: Tone| painted(vec![Mark { frame, tone }]);
    for (one, other) in [
        (at(500, Tone::Calm), plain),
        (at(500, Tone::Calm), at(700, Tone::Calm)),
        (at(500, Tone::Calm), at(500, Tone::Alarm)),
    ] {
        assert!(one.0 != other.0 && one.1 != other.1);
    }
}

#[test]
fn replays_are_named_and_deleted_one_by_one() {
    let folder = Folder::new("named");
    std::fs::create_dir_all(&folder.0).unwrap();
    let [one, two] = ["20261118-200000", "20261118-200100"].map(|name| folder.0.join(format!("{name}.rplk")));
    let end = End { outcome: Outcome::Local, winner: Winner::Draw };
    for path in [&one, &two] {
        std::fs::write(path, file(&header(["Ann", "Bo"]), Some(end))).unwrap();
    }
    let names = || -> Vec<_> {
        let mut names: Vec<_> = replay_list::list(&folder.0, 9).into_iter().map(|entry| entry.name).collect();
        names.sort();
        names
    };
    assert_eq!(names(), [None, None], "a date is no name");
    for (bad, why) in
        [("", "letter"), ("12", "letter"), ("../x", "'.'"), ("a/b", "'/'"), (&"x".repeat(25), "24")]
    {
        let error = replay_list::rename(&one, bad).unwrap_err();
        assert!(error.contains(why) && one.exists(), "{bad:?}: {error}");
    }
    replay_list::rename(&one, " The Final ").unwrap();
    assert_eq!(names(), [None, Some("The Final".to_owned())]);
    assert!(
        replay_list::rename(&two, "The Final").unwrap_err().contains("another replay"),
        "nothing is replaced"
    );
    assert_eq!(names().len(), 2);
    let other = folder.0.join("notes.txt");
    std::fs::write(&other, "not a replay").unwrap();
    assert!(replay_list::delete(&other).is_err() && other.exists());
    replay_list::delete(&two).unwrap();
    assert_eq!(names(), [Some("The Final".to_owned())]);
}

#[test]
fn click_on_the_seek_bar_goes_to_its_share() {
    let click = |x: f32, y: f32, surface: Surface, has_net: bool| {
        share_of(&Touch { place: at(x, y), surface, act: TouchAct::Press }, has_net)
    };
    assert_eq!(click(480.0, 486.0, Surface::Canvas, false), Some(0.5));
    assert_eq!(click(0.0, 486.0, Surface::Canvas, false), Some(0.0));
    assert_eq!(click(480.0, 300.0, Surface::Canvas, false), None, "above the bar");
    assert_eq!(click(480.0, 486.0, Surface::Canvas, true), None, "the net graph is there");
    assert_eq!(click(480.0, 388.0, Surface::Canvas, true), Some(0.5));
    let cells = Surface::Cells { columns: 100, rows: 30 };
    assert_eq!(click(50.0, 28.5, cells, false), Some(0.5));
    assert_eq!(click(50.0, 23.5, cells, true), Some(0.5));
    assert_eq!(click(50.0, 10.5, cells, false), None);
    let moves = Touch { place: at(480.0, 486.0), surface: Surface::Canvas, act: TouchAct::Move };
    assert_eq!(share_of(&moves, false), None, "a pointer that passes seeks nothing");
}
