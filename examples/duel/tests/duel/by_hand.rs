//! A meeting by hand: the pages with the two texts, and the answer on its way into the program.

use duel::art::sheet::Sheet;
use duel::play::{Admits, Pasting, Role};
use rebout::{ConnectOptions, Connection};
use stage::{Key, Stroke};

/// An answer to an offer, as the program of the other player writes it.
fn answer() -> String {
    let here = || ConnectOptions::new().bind("127.0.0.1:0".parse().expect("an address"));
    let host = Connection::host(&here().manual_signalling()).expect("a host");
    Connection::join(&here(), host.share()).expect("a guest").share().to_owned()
}

fn characters(text: &str) -> Vec<Stroke> {
    text.chars().map(Stroke::Character).collect()
}

#[test]
fn pasted_answer_is_taken_without_surrounding_text() {
    let (mut pasting, answer) = (Pasting::default(), answer());
    let (one, two) = answer.split_at(50);
    let pasted = Stroke::Paste(format!(" ▀▀ {one} ▀\n▀ {two}\u{200B} ▄"));
    assert_eq!(pasting.take(&[pasted]), Some(answer));
    assert!(!pasting.is_open());
}

#[test]
fn typed_answer_is_taken_at_its_last_character() {
    let (mut pasting, answer) = (Pasting::default(), answer());
    let (most, last) = answer.split_at(answer.len() - 1);
    assert_eq!(pasting.take(&characters(most)), None);
    assert!(pasting.is_open(), "its characters are no keys");
    assert_eq!(pasting.take(&characters(last)), Some(answer));
    assert!(!pasting.is_open());
}

#[test]
fn enter_explains_a_partial_answer_and_keys_begin_none() {
    let mut pasting = Pasting::default();
    assert_eq!(pasting.take(&characters("cmwasd reb")), None);
    assert!(pasting.is_open());
    assert_eq!(pasting.take(&characters("x")), None);
    assert!(!pasting.is_open(), "no answer goes on like that");
    pasting.take(&characters("rebout-answer:1:AB"));
    assert_eq!(pasting.take(&[Stroke::Key(Key::Enter)]).as_deref(), Some("rebout-answer:1:AB"));
    assert_eq!(pasting.take(&characters("CD")), None);
    assert_eq!(
        pasting.take(&[Stroke::Key(Key::Enter)]).as_deref(),
        Some("rebout-answer:1:ABCD"),
        "torn apart"
    );
    pasting.clear();
    assert!(!pasting.is_open());
}

#[test]
fn no_character_of_the_texts_is_cut_in_any_terminal() {
    let text = |name: &str, characters: usize| format!("{name}:1:{}", "ABCDEFGH".repeat(characters / 8));
    let (offer, answer) = (text("rebout-offer", 408), text("rebout-answer", 536));
    let host = Role::Host {
        addresses: Vec::new(),
        port: 7_000,
        admits: Admits::ByHand { rendezvous: None },
        spectators: None,
    }
    .panel(&offer);
    let mut guest = Role::Join.panel(&answer);
    guest.lines.push(("now".to_owned(), "waiting for the other player's text".to_owned()));
    for (panel, text) in [(host, offer), (guest, answer)] {
        for (columns, rows) in [(60, 18), (60, 20), (80, 24), (120, 20), (160, 50)] {
            let sheet = Sheet::of(&panel, columns, rows);
            let shown: String =
                sheet.lines.iter().take(sheet.room()).map(|(_, line)| line.as_str()).collect();
            assert!(shown.contains(&text), "{columns} x {rows}: {:#?}", sheet.lines);
            assert!(sheet.lines.len() <= sheet.room(), "{columns} x {rows}");
        }
    }
}
