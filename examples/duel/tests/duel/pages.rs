//! Pages of the menus: one recorded match, the link, and the word about a terminal without key releases.

use std::path::PathBuf;

use duel::menu::{App, Page, Request};
use stage::menu::Act;

use crate::menus::{app, choose, entry, pick};

#[test]
fn replay_is_named_and_deleted_on_its_page() {
    let mut app = app();
    pick(&mut app, "Replays");
    app.set_replays(vec![entry("new"), entry("old")]);
    assert_eq!(app.act(&Act::Confirm), None);
    assert_eq!(app.page(), Page::Replay);
    choose(&mut app, "Name");
    "Final".chars().for_each(|character| drop(app.act(&Act::Type(character))));
    let named = Request::NameReplay(PathBuf::from("new"), "Final".to_owned());
    assert_eq!(app.act(&Act::Confirm), Some(named));
    assert_eq!(pick(&mut app, "Delete"), None, "the player is asked first");
    assert_eq!(pick(&mut app, "Delete it for good"), Some(Request::DeleteReplay(PathBuf::from("new"))));
    app.leave_replay();
    assert_eq!(app.page(), Page::Replays);
    app.act(&Act::Confirm);
    assert!(app.menu().expect("a page").items.iter().any(|item| item.label == "Delete"), "asked anew");
}

#[test]
fn terminal_without_releases_is_told_once() {
    let mut app = app();
    app.tell_of_releases();
    assert!(app.menu().expect("a page").notes[0].text.contains("released keys") && app.take_changed());
    let mut again = App::new(app.settings, Page::Title);
    again.tell_of_releases();
    assert!(again.menu().expect("a page").notes.is_empty() && !again.take_changed());
}

#[test]
fn rendezvous_is_set_on_the_page_of_the_link() {
    let mut app = app();
    pick(&mut app, "Settings");
    pick(&mut app, "Link");
    choose(&mut app, "Rendezvous");
    "play.example.org".chars().for_each(|character| drop(app.act(&Act::Type(character))));
    assert_eq!(app.settings.rendezvous, "play.example.org");
    app.act(&Act::Type('ë'));
    assert_eq!(app.settings.rendezvous, "play.example.org", "a name of a machine is plain");
    assert!(app.menu().expect("a page").notes[0].is_warning && app.take_changed());
}
