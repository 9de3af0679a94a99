//! Opponents of earlier matches: kept, known again, and joined again.

use duel::menu::{App, Guests, Page, Request};
use duel::opponents::{MAX_OPPONENTS, Opponent, Opponents};
use duel::settings::Settings;
use rebout::{ConnectOptions, PlayerKey};
use stage::menu::Act;
use std::path::PathBuf;

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("duel-opponents-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn opponent(number: u8, invite: Option<&str>) -> Opponent {
    let invite = invite.map(str::to_owned);
    Opponent { key: PlayerKey([number; 32]), name: format!("Player {number}"), invite }
}

#[test]
fn opponents_are_kept_the_last_one_first() {
    let folder = Folder::new("kept");
    let opponents = Opponents::new(Some(folder.0.clone()));
    assert!(opponents.list().is_empty() && opponents.only_known(ConnectOptions::new()).is_err());
    for number in 0..20 {
        opponents.remember(opponent(number, Some("rebout:2:ABC"))).unwrap();
    }
    assert_eq!(opponents.list().len(), MAX_OPPONENTS);
    assert_eq!(opponents.list()[0], opponent(19, Some("rebout:2:ABC")));
    // Met again as a host, with another name: the invite stays.
    let renamed = Opponent { name: "Zoë of the hills".to_owned(), ..opponent(10, None) };
    opponents.remember(renamed.clone()).unwrap();
    assert_eq!(opponents.list().len(), MAX_OPPONENTS);
    let known = opponents.known(renamed.key).unwrap();
    assert_eq!((known.name.as_str(), known.invite.as_deref()), ("Zoë of the hills", Some("rebout:2:ABC")));
    assert!(opponents.known(PlayerKey([77; 32])).is_none());
    assert!(opponents.only_known(ConnectOptions::new()).is_ok());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(folder.0.join("opponents")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "an invite is the right to join");
    }
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 1, "no half-written file is left");
}

#[test]
fn bad_lines_of_opponents_are_left_out() {
    let folder = Folder::new("bad");
    let opponents = Opponents::new(Some(folder.0.clone()));
    let good = "07".repeat(32);
    let bad =
        ["", "07 - Ann", &format!("{good} -"), &format!("{good} - "), &format!("{} - Ann", "0g".repeat(32))];
    let text = format!("{}\n{good} - Ben\n{good} \u{1b}[2J Eve\n", bad.join("\n"));
    std::fs::write(folder.0.join("opponents"), text).unwrap();
    let names: Vec<String> = opponents.list().into_iter().map(|one| one.name).collect();
    assert_eq!(names, ["Ben"]);
    std::fs::write(folder.0.join("opponents"), [0xFF; 9]).unwrap();
    assert!(opponents.list().is_empty());
}

#[test]
fn opponent_is_joined_again_with_one_key() {
    let mut app = App::new(Settings::default(), Page::Join);
    app.set_opponents(vec![opponent(1, None), opponent(2, Some("rebout:2:ABC"))]);
    let labels: Vec<String> = app.menu().unwrap().items.iter().map(|item| item.label.clone()).collect();
    assert_eq!(labels, ["Host", "Join", "Player 2 again", "Back"]);
    app.act(&Act::Down);
    app.act(&Act::Down);
    assert_eq!(app.act(&Act::Confirm), Some(Request::Join("rebout:2:ABC".to_owned())));
}

#[test]
fn host_for_recent_opponents_needs_some() {
    let mut app = App::new(Settings::default(), Page::Host);
    app.act(&Act::Down);
    (0..3).for_each(|_| drop(app.act(&Act::Right)));
    assert_eq!(app.guests, Guests::Known);
    assert!(!app.menu().unwrap().items[0].is_open(), "there is nobody yet");
    app.set_opponents(vec![opponent(1, None)]);
    app.act(&Act::Up);
    assert_eq!(app.act(&Act::Confirm), Some(Request::Host));
}
