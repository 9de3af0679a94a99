//! The title by its acts alone.

use arcade::play::Target;
use arcade::title::{Request, Title};
use rebout::Invite;
use stage::menu::{Act, Menu};

fn pick(title: &mut Title, label: &str) -> Option<Request> {
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
    let mut title = Title::new(1, false);
    assert_eq!(title.act(&Act::Confirm), Some(Request::Play { bots: 1 }));
    title.act(&Act::Down);
    title.act(&Act::Right);
    assert_eq!(pick(&mut title, "Play"), Some(Request::Play { bots: 2 }));
    assert_eq!(pick(&mut title, "Join"), None);
    assert!(warned(title.menu()), "nothing was typed");
    title.act(&Act::Up);
    let invite = Invite::new([7; 32], ["192.0.2.1:7200".parse().unwrap()]).unwrap().to_string();
    // Torn apart where it was copied.
    title.act(&Act::Paste(format!(" {}\n{}\n", &invite[..30], &invite[30..])));
    assert!(!warned(title.menu()));
    let target = Target::read(&invite, false).unwrap();
    assert_eq!(title.act(&Act::Confirm), Some(Request::Join(target)));
    for character in "77x".chars() {
        title.act(&Act::Type(character));
    }
    assert_eq!(pick(&mut title, "Join"), None);
    assert!(warned(title.menu()));
    assert_eq!(title.act(&Act::Back), None);
    assert_eq!(title.act(&Act::Confirm), Some(Request::Quit), "Esc goes to Quit and no further");
}

#[test]
fn the_end_of_a_game_is_told_on_the_title() {
    let mut title = Title::new(0, false);
    title.tell(Some("the server is gone".to_owned()));
    assert_eq!(title.menu().notes[0].text, "the server is gone");
    title.tell(None);
    assert!(!warned(title.menu()));
}

#[test]
fn bare_title_takes_an_address_instead_of_an_invite() {
    for (is_bare, joins) in [(true, true), (false, false)] {
        let mut title = Title::new(0, is_bare);
        title.act(&Act::Down);
        title.act(&Act::Down);
        title.act(&Act::Paste(" 192.168.1.5\n".to_owned()));
        let request = title.act(&Act::Confirm);
        let usual = Target::read("192.168.1.5:7200", true).unwrap();
        assert_eq!(request, joins.then_some(Request::Join(usual)));
        assert_eq!(warned(title.menu()), !joins);
    }
}
