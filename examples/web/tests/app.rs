//! The page without a browser: its clock is set by the test.

use std::cell::Cell;
use std::time::Duration;

use web::app::App;
use web::frames::Frames;
use web::input::{Input, KeyAct};
use web::json;

thread_local! {
    static NOW: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

fn now() -> Duration {
    NOW.get()
}

/// Lets the page run for a time, with so many turns a second.
fn run(app: &mut App, time: Duration, turns_a_second: u32) {
    let end = now() + time;
    while now() < end {
        NOW.set(now() + Duration::from_secs(1) / turns_a_second);
        app.turn();
    }
}

/// A number of the page's facts.
fn fact(app: &App, name: &str) -> u32 {
    let facts = app.facts();
    let (_, rest) = facts.split_once(&format!("\"{name}\":")).unwrap_or_else(|| panic!("{name} in {facts}"));
    rest.split([',', '}']).next().unwrap().parse().unwrap()
}

#[test]
fn displays_of_every_rate_step_sixty_frames_a_second() {
    for turns in [30, 40, 60, 75, 120, 144, 240] {
        let mut app = App::new(now, 1);
        app.fight_bot();
        run(&mut app, Duration::from_secs(1), turns);
        let before = fact(&app, "frame");
        run(&mut app, Duration::from_secs(10), turns);
        let frames = fact(&app, "frame") - before;
        assert!((597..=603).contains(&frames), "{frames} frames in 10 s at {turns} turns a second");
        assert_eq!(fact(&app, "stalls"), 0, "at {turns} turns a second");
    }
}

#[test]
fn menu_leaves_out_frames_after_a_rest() {
    let mut frames = Frames::start(Duration::ZERO);
    assert!(frames.take_due(Duration::ZERO));
    assert!(!frames.take_due(Duration::from_millis(16)));
    let late = Duration::from_secs(60);
    let due = std::iter::from_fn(|| frames.take_due(late).then_some(())).count();
    assert_eq!(due, 1);
}

#[test]
fn hidden_page_pauses_the_bot_and_enter_goes_on() {
    let mut app = App::new(now, 1);
    app.fight_bot();
    run(&mut app, Duration::from_secs(2), 60);
    app.input.note_unseen();
    run(&mut app, Duration::from_millis(100), 60);
    let paused = fact(&app, "frame");
    run(&mut app, Duration::from_secs(120), 40);
    assert_eq!(fact(&app, "frame"), paused);
    app.input.key("Enter", "Enter", KeyAct::Down);
    run(&mut app, Duration::from_secs(2), 60);
    assert!(fact(&app, "frame") > paused + 60, "{}", app.facts());
}

#[test]
fn files_that_are_no_replay_get_a_sentence() {
    let mut app = App::new(now, 1);
    for file in [Vec::new(), vec![0; 3], vec![0xFF; 4_096]] {
        app.open_replay(file);
        assert!(app.facts().contains("this is no replay"), "{}", app.facts());
    }
}

#[test]
fn picture_is_painted_once_for_a_frame() {
    let mut app = App::new(now, 1);
    assert!(app.paint(960.0, 540.0).is_some());
    assert!(app.paint(960.0, 540.0).is_none());
    run(&mut app, Duration::from_millis(20), 60);
    assert!(app.paint(960.0, 540.0).is_some());
    assert!(app.paint(480.0, 270.0).is_some(), "another size");
}

#[test]
fn letters_count_by_label_or_by_place() {
    let mut input = Input::default();
    assert!(input.key("D", "KeyD", KeyAct::Down));
    assert!(input.key("ф", "KeyA", KeyAct::Down));
    assert!(!input.key("Dead", "Quote", KeyAct::Down));
    assert_eq!(input.take().held, [stage::Key::Char('d'), stage::Key::Char('a')]);
    input.release_all();
    assert!(input.take().held.is_empty());
}

#[test]
fn json_escapes_quotes_and_controls() {
    assert_eq!(json::string("a\"\\\n\u{1b}ä"), "\"a\\\"\\\\\\u000a\\u001bä\"");
}
