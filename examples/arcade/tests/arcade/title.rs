//! The title by its acts alone.

use arcade::cli::Format;
use arcade::pause::{Company, Pause, PauseRequest};
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
fn title_starts_a_server_with_bots_joins_another_and_quits() {
    let mut title = Title::new(1, false, Format::Rtype);
    let play = |bots, wire| Some(Request::Play { bots, wire });
    assert_eq!(title.act(&Act::Confirm), play(1, Format::Rtype));
    title.act(&Act::Down);
    title.act(&Act::Right);
    assert_eq!(pick(&mut title, "Play"), play(2, Format::Rtype));
    title.act(&Act::Down);
    title.act(&Act::Down);
    title.act(&Act::Right);
    assert_eq!(pick(&mut title, "Play"), play(2, Format::Game));
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
fn end_of_a_game_is_told_on_the_title() {
    let mut title = Title::new(0, false, Format::Rtype);
    title.tell(Some("the server is gone".to_owned()));
    assert_eq!(title.menu().notes[0].text, "the server is gone");
    title.tell(None);
    assert!(!warned(title.menu()));
}

#[test]
fn bare_title_takes_an_address_instead_of_an_invite() {
    for (is_bare, joins) in [(true, true), (false, false)] {
        let mut title = Title::new(0, is_bare, Format::Rtype);
        title.act(&Act::Down);
        title.act(&Act::Down);
        title.act(&Act::Down);
        title.act(&Act::Paste(" 192.168.1.5\n".to_owned()));
        let request = title.act(&Act::Confirm);
        let usual = Target::read("192.168.1.5:7200", true).unwrap();
        assert_eq!(request, joins.then_some(Request::Join(usual)));
        assert_eq!(warned(title.menu()), !joins);
    }
}

#[test]
fn game_is_left_only_by_choice_and_its_volumes_are_set() {
    let levels = stage::sound::Levels::default();
    let mut pause = Pause::new(levels, Company::Alone);
    assert_eq!(pause.act(&Act::Back), Some(PauseRequest::Resume), "Esc again goes on");
    assert_eq!(pause.act(&Act::Confirm), Some(PauseRequest::Resume));
    pause.act(&Act::Down);
    let music_percent = levels.music_percent - 5;
    let quieter = stage::sound::Levels { music_percent, ..levels };
    assert_eq!(pause.act(&Act::Left), Some(PauseRequest::Levels(quieter)));
    pause.act(&Act::Up);
    pause.act(&Act::Up);
    assert_eq!(pause.act(&Act::Confirm), Some(PauseRequest::Leave));
    let hint = |company| Pause::new(levels, company).menu().items[4].hint.clone();
    assert!(
        hint(Company::Host).contains("for everybody") && hint(Company::Guest).contains("the others play on")
    );
    assert_eq!(Pause::new(levels, Company::Guest).menu().title, "The game goes on");
}
