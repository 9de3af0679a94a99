//! The menus by their acts alone: every page, every way back, and what the program is asked to do.

use std::path::PathBuf;

use duel::menu::{App, Guests, Page, Report, Request};
use duel::pad_keys::PadBindings;
use duel::replay_list::Entry;
use duel::settings::{BotLink, Keyset, Settings};
use duel::training::{Drill, Guard, Stance};
use games::duel::bot::Level;
use stage::characters::wrapped;
use stage::menu::{Act, Edit, Field, Grid, Item, Layout, Menu, MenuEvent, Note, Value, drive};
use stage::pads::{PadButton, PadState};
use stage::sound::Levels;
use stage::{InputState, Key, Stroke, Surface, Touch, TouchAct, at};

pub(crate) fn app() -> App {
    App::new(Settings::default(), Page::Title)
}

/// Goes down to the item of this label and picks it.
pub(crate) fn pick(app: &mut App, label: &str) -> Option<Request> {
    choose(app, label);
    app.act(&Act::Confirm)
}

pub(crate) fn choose(app: &mut App, label: &str) {
    let count = app.menu().expect("a page").items.len();
    for _ in 0..=count {
        if app.menu().and_then(Menu::item).is_some_and(|item| item.label == label) {
            return;
        }
        assert_eq!(app.act(&Act::Down), None);
    }
    panic!("no {label:?} on {:?}", app.page());
}

fn value(app: &App, label: &str) -> Value {
    let items = &app.menu().expect("a page").items;
    items.iter().find(|item| item.label == label).unwrap_or_else(|| panic!("no {label:?}")).value.clone()
}

pub(crate) fn entry(name: &str) -> Entry {
    let names = ["Ann".to_owned(), "Ben".to_owned()];
    Entry {
        path: PathBuf::from(name),
        name: None,
        at_secs: 0,
        names,
        seconds: 61,
        result: "Ann won".to_owned(),
    }
}

#[test]
fn every_page_is_reached_from_the_title_and_left_again() {
    let pages = [
        ("Versus bot", Page::Versus),
        ("Two players", Page::Local),
        ("Host a match", Page::Host),
        ("Join a match", Page::Join),
        ("Watch a match", Page::Join),
        ("Training", Page::Training),
        ("Replays", Page::Replays),
        ("How to play", Page::Help),
        ("Settings", Page::Settings),
    ];
    let mut app = app();
    for (label, page) in pages {
        for by_item in [false, true] {
            assert_eq!(pick(&mut app, label), None);
            assert_eq!(app.page(), page);
            assert_eq!(if by_item { pick(&mut app, "Back") } else { app.act(&Act::Back) }, None);
            assert_eq!(app.page(), Page::Title, "from {label}");
            assert_eq!(app.menu().and_then(Menu::item).expect("chosen").label, label, "the place is kept");
        }
    }
    pick(&mut app, "Settings");
    for (label, page) in
        [("Keys", Page::Keys), ("Sound", Page::Sound), ("Colours", Page::Colours), ("Link", Page::Link)]
    {
        pick(&mut app, label);
        assert_eq!(app.page(), page);
        app.act(&Act::Back);
        assert_eq!(app.page(), Page::Settings);
    }
}

#[test]
fn nothing_but_quit_ends_the_program() {
    let mut app = app();
    for _ in 0..5 {
        assert_eq!(app.act(&Act::Back), None);
    }
    assert_eq!(
        app.menu().and_then(Menu::item).expect("chosen").label,
        "Quit",
        "Esc goes there and no further"
    );
    assert_eq!(app.act(&Act::Confirm), Some(Request::Quit));
}

#[test]
fn pages_make_their_requests() {
    let mut app = app();
    pick(&mut app, "Versus bot");
    choose(&mut app, "Level");
    app.act(&Act::Right);
    choose(&mut app, "Link");
    app.act(&Act::Left);
    assert_eq!((app.settings.level, app.settings.link), (Level::Hard, BotLink::Good));
    assert_eq!(pick(&mut app, "Fight"), Some(Request::Fight));
    assert!(app.take_changed() && !app.take_changed());
    app.act(&Act::Back);
    pick(&mut app, "Two players");
    assert_eq!(pick(&mut app, "Fight"), Some(Request::Local));
    app.act(&Act::Back);
    pick(&mut app, "Host a match");
    choose(&mut app, "Guests");
    app.act(&Act::Confirm);
    assert_eq!(app.guests, Guests::Asked);
    assert_eq!(pick(&mut app, "Wait for a guest"), Some(Request::Host));
    app.act(&Act::Back);
    pick(&mut app, "Training");
    for label in ["Dummy", "Blocks", "Inputs"] {
        choose(&mut app, label);
        app.act(&Act::Confirm);
    }
    let drill = Drill { stance: Stance::Crouch, guard: Guard::Always, inputs: false, ..Drill::default() };
    assert_eq!(app.settings.drill, drill);
    assert_eq!(pick(&mut app, "Train"), Some(Request::Train));
    app.act(&Act::Back);
    pick(&mut app, "Replays");
    app.set_replays(vec![entry("new"), entry("old")]);
    app.act(&Act::Down);
    app.act(&Act::Up);
    assert_eq!(app.act(&Act::Down), None);
    assert_eq!(app.act(&Act::Confirm), None);
    assert_eq!(pick(&mut app, "Play"), Some(Request::Watch(PathBuf::from("old"))));
}

#[test]
fn host_is_joined_by_what_was_typed_or_pasted() {
    let mut app = app();
    pick(&mut app, "Join a match");
    assert_eq!(app.act(&Act::Confirm), None, "nothing was typed");
    assert!(app.menu().expect("a page").notes[0].is_warning);
    "192.168.1.5 ".chars().for_each(|character| drop(app.act(&Act::Type(character))));
    app.act(&Act::Edit(Edit::Erase));
    app.act(&Act::Type('7'));
    assert_eq!(app.act(&Act::Confirm), Some(Request::Join("192.168.1.7".to_owned())));
    // A paste replaces the old address, from wherever the player is on the page. An invite may be torn into lines.
    choose(&mut app, "Back");
    app.act(&Act::Paste("  rebout:2:AAAA\n   BBBB \n".to_owned()));
    assert_eq!(app.act(&Act::Confirm), Some(Request::Join("rebout:2:AAAABBBB".to_owned())));
}

#[test]
fn lost_match_is_told_and_can_be_tried_again() {
    let mut app = app();
    pick(&mut app, "Join a match");
    app.act(&Act::Paste("host".to_owned()));
    let join = Request::Join("host".to_owned());
    let report = Report {
        title: "Match ended".to_owned(),
        lines: vec![Note::warning("The connection to Ann was lost.")],
        again: Some(("Try again".to_owned(), join.clone())),
    };
    for _ in 0..2 {
        app.came_back(Some(report.clone()));
        assert_eq!(app.page(), Page::Result);
        assert_eq!(app.menu().expect("a page").notes, report.lines);
        assert_eq!(pick(&mut app, "Try again"), Some(join.clone()));
    }
    app.came_back(Some(report));
    app.act(&Act::Back);
    assert_eq!(
        (app.page(), value(&app, "Host").text()),
        (Page::Join, "host"),
        "one result is shown, not three"
    );
    app.came_back(None);
    assert_eq!(app.page(), Page::Join);
    app.came_back(Some(Report::default()));
    assert_eq!(pick(&mut app, "Main menu"), None);
    assert_eq!(app.page(), Page::Title);
    app.act(&Act::Back);
    assert_eq!(app.page(), Page::Title, "nothing is left behind the title");
}

#[test]
fn button_gets_the_next_key_and_a_taken_key_is_swapped() {
    let mut app = app();
    pick(&mut app, "Settings");
    pick(&mut app, "Keys");
    pick(&mut app, "light");
    assert!(app.is_binding());
    assert_eq!(app.act(&Act::Down), None);
    assert_eq!(value(&app, "light"), Value::Shown("press a key".to_owned()), "no act moves on meanwhile");
    app.bind(Key::Char('k'));
    let keys = |app: &App| ["light", "heavy"].map(|label| value(app, label));
    let shown = |keys: [&str; 2]| keys.map(|key| Value::Shown(key.to_owned()));
    assert_eq!(keys(&app), shown(["k", "j"]));
    pick(&mut app, "heavy");
    app.bind(Key::Escape);
    assert!(!app.is_binding());
    pick(&mut app, "heavy");
    app.bind(Key::F(1));
    assert!(app.menu().expect("a page").notes[0].text.contains("belongs to the game"));
    assert_eq!(keys(&app), shown(["k", "j"]));
    pick(&mut app, "The usual ones");
    assert_eq!(keys(&app), shown(["j", "k"]));
    // A key of both at one keyboard is told, and they do not fight with it.
    app.act(&Act::Back);
    app.act(&Act::Back);
    app.settings.keys[Keyset::Left as usize].bind(0, Key::Left).expect("free");
    pick(&mut app, "Two players");
    assert!(app.menu().expect("a page").notes.iter().any(|note| note.is_warning));
    assert_eq!(pick(&mut app, "Keys"), None);
    assert_eq!(app.page(), Page::Keys);
    assert!(app.menu().expect("a page").notes[0].text.contains("'left' is a key of both"));
}

#[test]
fn gamepad_is_bound_by_its_buttons_for_each_player() {
    let mut app = app();
    pick(&mut app, "Settings");
    pick(&mut app, "Keys");
    (0..4).for_each(|_| drop(app.act(&Act::Right)));
    assert_eq!(value(&app, "Player").number(), 4, "gamepad two");
    pick(&mut app, "throw");
    app.bind(Key::Char('x'));
    assert!(app.is_binding(), "a key is no button of a gamepad");
    app.bind_pad(PadButton::R1);
    assert!(!app.is_binding());
    assert_eq!(value(&app, "throw"), Value::Shown("r1".to_owned()));
    assert_eq!((&app.settings.pads[0], app.settings.pads[1].0[7]), (&PadBindings::USUAL, PadButton::R1));
    pick(&mut app, "light");
    app.bind_pad(PadButton::Select);
    assert!(app.menu().expect("a page").notes[0].text.contains("'select' pauses"));
    pick(&mut app, "light");
    app.bind(Key::Escape);
    assert!(!app.is_binding());
    pick(&mut app, "The usual ones");
    assert_eq!(app.settings.pads[1], PadBindings::USUAL);
}

#[test]
fn gamepad_walks_through_a_menu() {
    let presses = vec![PadButton::Down, PadButton::South];
    let pad = PadState { presses, ..PadState::default() };
    let mut app = app();
    let done = drive(&InputState { pads: vec![pad], ..InputState::default() }, &mut app, App::menu, App::act);
    assert_eq!((done, app.page()), (None, Page::Local));
}

#[test]
fn volumes_are_sliders() {
    let mut app = app();
    pick(&mut app, "Settings");
    pick(&mut app, "Sound");
    app.act(&Act::Right);
    app.act(&Act::Down);
    app.act(&Act::Left);
    pick(&mut app, "Mute");
    let levels = app.settings.levels;
    assert_eq!((levels.effects_percent, levels.music_percent, levels.muted), (85, 55, true));
}

#[test]
fn mute_in_a_match_is_kept_and_seen_on_the_page_of_the_sound() {
    let mut app = app();
    app.set_levels(Levels { muted: false, ..app.settings.levels });
    assert!(!app.take_changed(), "nothing to write");
    app.set_levels(Levels { muted: true, ..app.settings.levels });
    assert!(app.take_changed() && app.settings.levels.muted);
    pick(&mut app, "Settings");
    pick(&mut app, "Sound");
    assert_eq!(value(&app, "Mute"), Value::switch(true));
}

#[test]
fn dates_of_the_replays_are_in_one_column() {
    let mut app = app();
    let results = ["left", "Ann won"].map(str::to_owned);
    app.set_replays(results.map(|result| Entry { result, ..entry("a") }).into());
    pick(&mut app, "Replays");
    let items = &app.menu().expect("a page").items;
    assert_eq!(items[0].label.chars().count(), items[1].label.chars().count());
}

#[test]
fn bad_port_and_bad_name_are_refused_and_not_kept() {
    let mut app = app();
    pick(&mut app, "Host a match");
    choose(&mut app, "UDP port");
    app.act(&Act::Type('0'));
    assert_eq!((app.settings.port, value(&app, "UDP port").text()), (7000, "70000"));
    assert!(app.menu().expect("a page").notes[0].is_warning);
    app.act(&Act::Edit(Edit::Erase));
    app.act(&Act::Edit(Edit::Erase));
    assert_eq!(app.settings.port, 700);
    assert!(app.menu().expect("a page").notes.is_empty());
    app.act(&Act::Back);
    pick(&mut app, "Settings");
    "Ann B\u{202e}".chars().for_each(|character| drop(app.act(&Act::Type(character))));
    assert_eq!(app.settings.name, "Ann B");
    assert!(app.menu().expect("a page").notes[0].text.contains("marks of direction"));
}

#[test]
fn delay_and_window_always_fit_together() {
    let mut app = app();
    pick(&mut app, "Settings");
    pick(&mut app, "Link");
    for _ in 0..30 {
        choose(&mut app, "Rollback window");
        app.act(&Act::Right);
        choose(&mut app, "Input delay");
        app.act(&Act::Right);
    }
    let settings = &app.settings;
    assert_eq!(settings.window_frames + settings.delay_frames.expect("a delay"), 30);
}

fn input(strokes: &[Stroke], touches: &[Touch]) -> InputState {
    InputState { strokes: strokes.to_vec(), touches: touches.to_vec(), ..InputState::default() }
}

/// The acts that the input makes on a menu that none of them changes.
fn acts(input: &InputState, menu: &Menu) -> Vec<Act> {
    let mut seen = (menu.clone(), Vec::new());
    let done = drive(
        input,
        &mut seen,
        |(menu, _)| Some(menu),
        |(_, acts), act| {
            acts.push(act.clone());
            None::<()>
        },
    );
    assert_eq!(done, None);
    seen.1
}

#[test]
fn each_stroke_meets_the_page_that_the_one_before_has_opened() {
    let mut app = app();
    choose(&mut app, "Join a match");
    let keys =
        [Stroke::Key(Key::Enter), Stroke::Character('w'), Stroke::Character('s'), Stroke::Key(Key::Enter)];
    let done = drive(&input(&keys, &[]), &mut app, App::menu, App::act);
    assert_eq!(done, Some(Request::Join("ws".to_owned())));
}

fn menu() -> Menu {
    let slider = Value::Slider { at: 50, max: 100, step: 10, unit: " %" };
    Menu::new(
        "Menu",
        vec![
            Item::pick("closed").open_if(false),
            Item::pick("first"),
            Item::new("choice", Value::choice(&["a", "b"], 0)),
            Item::new("slider", slider),
            Item::new("text", Value::Text(Field::new("", 3))),
        ],
    )
}

#[test]
fn keys_walk_through_a_menu_and_are_typed_into_a_field() {
    let mut menu = menu();
    let typed =
        [Stroke::Character('W'), Stroke::Character('s'), Stroke::Key(Key::Enter), Stroke::Character('x')];
    assert_eq!(acts(&input(&typed, &[]), &menu), [Act::Up, Act::Down, Act::Confirm]);
    menu.choose(4);
    let typed = [
        Stroke::Character('W'),
        Stroke::Character(' '),
        Stroke::Key(Key::Backspace),
        Stroke::Key(Key::Escape),
    ];
    assert_eq!(
        acts(&input(&typed, &[]), &menu),
        [Act::Type('W'), Act::Type(' '), Act::Edit(Edit::Erase), Act::Back]
    );
    for character in "abcd".chars() {
        menu.act(&Act::Type(character));
    }
    assert_eq!(menu.items[4].value.text(), "abc", "no longer than it may be");
}

#[test]
fn closed_items_are_passed_over_and_the_ends_are_joined() {
    let mut menu = menu();
    assert_eq!(menu.chosen(), 1);
    assert_eq!(menu.act(&Act::Up), None);
    assert_eq!(menu.chosen(), 4);
    menu.act(&Act::Down);
    assert_eq!(menu.chosen(), 1);
    assert_eq!(menu.act(&Act::Click { item: 0, share: 0.0 }), None);
    assert_eq!(menu.act(&Act::Point { item: 0 }), None);
    assert_eq!(menu.chosen(), 1);
}

#[test]
fn mouse_finds_the_items_where_they_are_drawn() {
    for surface in
        [Surface::Canvas, Surface::Cells { columns: 60, rows: 20 }, Surface::Cells { columns: 160, rows: 50 }]
    {
        let mut menu = menu();
        let grid = Grid::of(surface);
        let layout = Layout::of(&menu, grid);
        let row = |item: usize| {
            layout.lines().find(|(_, line)| **line == stage::menu::Line::Item(item)).expect("shown").0
        };
        let place = |column: usize, item: usize| {
            at((column as f32 + 0.5) * grid.cell.x, (row(item) as f32 + 0.5) * grid.cell.y)
        };
        let touch =
            |column: usize, item: usize, act: TouchAct| Touch { place: place(column, item), surface, act };
        let over = acts(&input(&[], &[touch(layout.left + 2, 2, TouchAct::Move)]), &menu);
        assert_eq!(over, [Act::Point { item: 2 }]);
        let clicks = acts(&input(&[], &[touch(layout.left + 2, 2, TouchAct::Press)]), &menu);
        assert_eq!(menu.act(&clicks[0]), Some(MenuEvent::Changed(2)));
        assert_eq!(menu.items[2].value.number(), 1);
        let end = layout.left + layout.values_at + 13;
        let clicks = acts(&input(&[], &[touch(end, 3, TouchAct::Press)]), &menu);
        assert_eq!(menu.act(&clicks[0]), Some(MenuEvent::Changed(3)));
        assert_eq!(menu.items[3].value.number(), 100);
        let above = Touch { place: at(place(layout.left + 2, 2).x, 0.0), surface, act: TouchAct::Press };
        assert!(acts(&input(&[], &[above]), &menu).is_empty(), "outside of the sheet");
    }
}

#[test]
fn every_page_fits_every_size_with_the_chosen_item_in_view() {
    let sizes = [(60, 18), (60, 20), (80, 24), (160, 50)];
    let grids = sizes.map(|(columns, rows)| Grid::terminal(columns, rows)).into_iter().chain([Grid::WINDOW]);
    for grid in grids {
        for page in [
            Page::Title,
            Page::Versus,
            Page::Local,
            Page::Host,
            Page::Join,
            Page::Training,
            Page::Replays,
            Page::Replay,
            Page::Help,
            Page::Settings,
            Page::Keys,
            Page::Sound,
            Page::Colours,
            Page::Link,
            Page::Result,
        ] {
            let mut app = App::new(Settings::default(), page);
            app.set_replays((0..200).map(|number| entry(&number.to_string())).collect());
            app.warn(
                "a warning of some length, as one about a file of settings that cannot be read would be",
            );
            for _ in 0..app.menu().expect("a page").items.len() {
                let menu = app.menu().expect("a page");
                let layout = Layout::of(menu, grid);
                let rows: Vec<_> = layout.lines().collect();
                let (last, _) = rows.last().expect("lines");
                let place = format!("{page:?} at {}x{}", grid.columns, grid.rows);
                assert!(*last < layout.top + layout.tall && layout.top + layout.tall <= grid.rows, "{place}");
                assert!(layout.left + layout.wide <= grid.columns, "{place}");
                let chosen = stage::menu::Line::Item(menu.chosen());
                assert!(rows.iter().any(|(_, line)| **line == chosen), "{place}: {:?}", menu.item());
                app.act(&Act::Down);
            }
        }
    }
}

#[test]
fn text_is_wrapped_at_words_and_a_longer_word_is_cut() {
    assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
    assert_eq!(wrapped("abcdefgh ij", 3), ["abc", "def", "gh", "ij"]);
    assert!(wrapped("  ", 5).is_empty());
}
