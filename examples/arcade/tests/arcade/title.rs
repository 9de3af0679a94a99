//! The title by its acts alone.

use arcade::title::{Deed, Title};
use stage::menu::{Act, Menu};

fn pick(title: &mut Title, label: &str) -> Option<Deed> {
    while title.menu().item().is_none_or(|item| item.label != label) {
        assert_eq!(title.act(&Act::Down), None);
    }
    title.act(&Act::Confirm)
}

fn warned(menu: &Menu) -> bool {
    menu.notes.iter().any(|note| note.is_warning)
}

#[test]
fn the_title_starts_a_server_with_bots_joins_another_and_quits() {
    let mut title = Title::new(1);
    assert_eq!(title.act(&Act::Confirm), Some(Deed::Play { bots: 1 }));
    title.act(&Act::Down);
    title.act(&Act::Right);
    assert_eq!(pick(&mut title, "Play"), Some(Deed::Play { bots: 2 }));
    assert_eq!(pick(&mut title, "Join"), None);
    assert!(warned(title.menu()), "nothing was typed");
    title.act(&Act::Up);
    title.act(&Act::Paste(" 192.168.1.5\n".to_owned()));
    assert!(!warned(title.menu()));
    let usual = "192.168.1.5:7200".parse().expect("an address");
    assert_eq!(title.act(&Act::Confirm), Some(Deed::Join(usual)));
    for letter in ":77x".chars() {
        title.act(&Act::Type(letter));
    }
    assert_eq!(pick(&mut title, "Join"), None);
    assert!(warned(title.menu()));
    assert_eq!(title.act(&Act::Back), None);
    assert_eq!(title.act(&Act::Confirm), Some(Deed::Quit), "Esc goes to Quit and no further");
}

#[test]
fn the_end_of_a_game_is_told_on_the_title() {
    let mut title = Title::new(0);
    title.tell(Some("the server is gone".to_owned()));
    assert_eq!(title.menu().notes[0].text, "the server is gone");
    title.tell(None);
    assert!(!warned(title.menu()));
}
