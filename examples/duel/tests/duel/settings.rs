//! The file of the settings: what is written is read, what is bad is named and kept.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use duel::keys::Bindings;
use duel::pad_keys::PadBindings;
use duel::settings::{BotLink, Settings, Store, config_folder};
use duel::training::{Drill, Guard, Stance, Throws, WakeUp};
use games::duel::Character;
use games::duel::bot::Level;
use stage::Key;
use stage::pads::PadButton;
use stage::sound::Levels;

use crate::online::{Folder, duel};

fn other() -> Settings {
    let mut keys = Bindings::ALONE;
    keys.bind(3, Key::Char(',')).expect("free");
    let mut pad = PadBindings::USUAL;
    pad.bind(7, PadButton::R2).expect("free");
    Settings {
        name: "Ann = Bo #1".to_owned(),
        pads: [PadBindings::USUAL, pad],
        levels: Levels { effects_percent: 100, music_percent: 0, muted: true },
        keys: [keys, Bindings::RIGHT_HALF, Bindings::LEFT_HALF],
        outfits: [4, 2],
        delay_frames: Some(3),
        window_frames: 12,
        rendezvous: "play.example.org:3480".to_owned(),
        port: 0,
        told_releases: true,
        level: Level::Easy,
        link: BotLink::Bad,
        drill: Drill {
            fighters: [Character::Rai, Character::Rai],
            stance: Stance::Jump,
            throws: Throws::Thrown,
            wake_up: WakeUp::Rising,
            guard: Guard::AfterHit,
            boxes: false,
            frames: false,
            inputs: false,
        },
    }
}

fn file_of(folder: &Path) -> PathBuf {
    folder.join("settings.conf")
}

#[test]
fn settings_are_read_as_they_were_written() {
    for settings in [Settings::default(), other()] {
        assert_eq!(Settings::read(&settings.write()), Ok(settings));
    }
    assert_eq!(Settings::read("# nothing\n\n"), Ok(Settings::default()));
    assert_eq!(Settings::read("  link.port=7001 ").expect("good").port, 7001);
}

#[test]
fn every_key_that_can_be_bound_is_read_back() {
    let can_be_bound = |character: &char| !character.is_ascii_uppercase() && *character != 'm';
    let characters = (' '..='~').chain("äßñéøжλ".chars()).filter(can_be_bound);
    for key in characters.map(Key::Char).chain([Key::Left, Key::Tab, Key::Backspace, Key::Enter]) {
        let mut settings = Settings::default();
        settings.keys[0].bind(4, key).expect("not reserved");
        assert_eq!(Settings::read(&settings.write()), Ok(settings), "{key}");
    }
}

#[test]
fn bad_line_is_named() {
    for (text, line, words) in [
        ("link.port = 7000\nport = 1", 2, "no setting is called 'port'"),
        ("\n\nname", 3, "'name' is not 'name = value'"),
        ("link.port = 65536", 1, "link.port: '65536' is no number from 0 to 65535"),
        ("link.window = 23", 1, "no number from 0 to 22"),
        ("link.delay = 20\nlink.window = 11", 2, "more than 30 frames together"),
        ("link.delay = 25", 1, "no number from 0 to 24, or auto"),
        ("bot.level = brutal", 1, "'brutal' is none of easy, normal, hard"),
        ("colour.two = mauve", 1, "is none of white, blue"),
        ("keys.alone = a,a,w,s,j,k,l,i,enter", 1, "'a' is given twice"),
        ("pad.one = left,right,up,down,west,north,south,select,start", 1, "'select' pauses"),
        ("pad.two = left,right", 1, "2 buttons given"),
        ("sound.music = 101", 1, "no number from 0 to 100"),
        ("name = \u{202e}Eve", 1, "marks of direction"),
        ("name = Ann\nname = Ben", 2, "name is set twice"),
    ] {
        let error = Settings::read(text).expect_err(text);
        assert!(error.line == line && error.reason.contains(words), "{text:?}: {error}");
    }
}

#[test]
fn bad_file_is_named_and_kept_aside() {
    let folder = Folder::new("settings-bad");
    std::fs::create_dir_all(&folder.0).expect("a folder");
    let bad = "name = Ann\nbot.level = brutal\n";
    std::fs::write(file_of(&folder.0), bad).expect("written");
    let mut store = Store::new(Some(folder.0.clone()));
    let (settings, trouble) = store.load();
    let trouble = trouble.expect("a message");
    assert_eq!(settings, Settings::default(), "not half of it");
    assert!(trouble.contains("settings.conf, line 2: bot.level: 'brutal'"), "{trouble}");
    assert_eq!(std::fs::read_to_string(file_of(&folder.0)).expect("there"), bad, "left as it is");
    // Only when new settings are written does it make room, under another name.
    for _ in 0..2 {
        assert_eq!(store.save(&other()), Ok(()));
    }
    assert_eq!(std::fs::read_to_string(folder.0.join("settings.bad-1")).expect("kept"), bad);
    assert_eq!(Store::new(Some(folder.0.clone())).load(), (other(), None));
    let files = std::fs::read_dir(&folder.0).expect("a folder").count();
    assert_eq!(files, 2, "no file in the making stays");
}

#[test]
fn files_that_are_none_are_named_and_nothing_is_lost() {
    let folder = Folder::new("settings-none");
    std::fs::create_dir_all(&folder.0).expect("a folder");
    let load = |bytes: &[u8]| {
        std::fs::write(file_of(&folder.0), bytes).expect("written");
        Store::new(Some(folder.0.clone())).load()
    };
    for (bytes, words) in
        [(&b"name = Ann\nname\xff"[..], "line 2: not text"), (&[b'#'; 70_000], "longer than 65536 bytes")]
    {
        let (settings, trouble) = load(bytes);
        assert_eq!(settings, Settings::default());
        assert!(trouble.as_ref().is_some_and(|text| text.contains(words)), "{trouble:?}");
    }
    std::fs::remove_file(file_of(&folder.0)).expect("there");
    std::fs::create_dir(file_of(&folder.0)).expect("a folder");
    let mut store = Store::new(Some(folder.0.clone()));
    assert!(store.load().1.is_some_and(|text| text.contains("not a file")));
    // A folder that cannot be made is said, and the old settings stay.
    let mut store = Store::new(Some(folder.0.join("settings.conf/x\0y")));
    assert!(store.save(&other()).is_err_and(|text| text.starts_with("the settings are not kept: ")));
    assert_eq!(Store::new(None).load(), (Settings::default(), None));
    assert_eq!(Store::new(None).save(&other()), Ok(()));
}

#[test]
fn folder_is_where_programs_of_this_system_keep_theirs() {
    let folder = |vars: &[(&str, &str)]| {
        config_folder(|name| {
            vars.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
        })
    };
    if cfg!(target_os = "linux") {
        let home = ("HOME", "/home/ann");
        assert_eq!(folder(&[home]), Some(PathBuf::from("/home/ann/.config/rebout/duel")));
        assert_eq!(
            folder(&[home, ("XDG_CONFIG_HOME", "/etc/ann")]),
            Some(PathBuf::from("/etc/ann/rebout/duel"))
        );
        assert_eq!(folder(&[home, ("XDG_CONFIG_HOME", "ann")]), folder(&[home]), "only a whole path counts");
    }
    assert_eq!(folder(&[]), None);
}

/// The program reads the settings of its home, and a bad file neither stops a match nor passes in silence.
#[test]
fn bad_file_is_said_and_the_match_is_played() {
    let folder = Folder::new("settings-said");
    let home = folder.0.join("rebout/duel");
    std::fs::create_dir_all(&home).expect("a folder");
    std::fs::write(file_of(&home), "link.window = many\n").expect("written");
    let done = duel()
        .env("XDG_CONFIG_HOME", &folder.0)
        .args(["demo", "--view", "none", "--frames", "30", "--rtt", "0", "--loss", "0", "--record", "off"])
        .output()
        .expect("the example is built");
    let words = String::from_utf8(done.stderr).expect("words");
    assert_eq!(done.status.code(), Some(0), "{words}");
    if cfg!(target_os = "linux") {
        assert!(words.contains("settings.conf, line 1: link.window: 'many' is no number"), "{words}");
    }
}

#[test]
fn help_gives_the_limit_of_window_and_delay() {
    use clap::CommandFactory;
    let help = duel::cli::Cli::command().render_long_help().to_string();
    let limit = format!("with the delay at most {}", rebout::Config::MAX_WINDOW_AND_DELAY);
    assert!(help.contains(&limit), "{help}");
}
