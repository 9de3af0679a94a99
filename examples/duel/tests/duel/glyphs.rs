//! The letters of the window: drawn within their cells, each unlike the others, and far beyond ASCII.

use stage::glyphs::{Style, write};
use stage::{Canvas, Color, Point, at, rgb};

/// Notes the strokes that are drawn.
#[derive(Default)]
struct Strokes(Vec<(Point, Point)>);

impl Canvas for Strokes {
    fn width(&self) -> f32 {
        100.0
    }
    fn height(&self) -> f32 {
        100.0
    }
    fn gradient(&mut self, _: Point, _: f32, _: f32, _: Color, _: Color) {}
    fn disc(&mut self, center: Point, _: f32, _: Color) {
        self.0.push((center, center));
    }
    fn capsule(&mut self, from: Point, to: Point, _: [f32; 2], _: Color) {
        self.0.push((from, to));
    }
    fn polygon(&mut self, _: &[Point], _: Color) {}
}

#[test]
fn every_letter_is_drawn_within_its_cell_and_unlike_the_others() {
    let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!?.,:;-+/%()[]'_=<>*#@\"$&~^{}|\\";
    let mut drawn = Vec::new();
    for letter in letters.chars() {
        let mut strokes = Strokes::default();
        write(&mut strokes, &letter.to_string(), at(0.0, 0.0), Style::new(1.0, 1.0, rgb(0)));
        assert!(!strokes.0.is_empty(), "{letter} is empty");
        for (from, to) in &strokes.0 {
            for point in [from, to] {
                assert!(
                    (0.0..=4.0).contains(&point.x) && (0.0..=7.0).contains(&point.y),
                    "{letter}: {point:?}"
                );
            }
        }
        let shape = format!("{:?}", strokes.0);
        assert!(!drawn.contains(&shape), "{letter} looks like another");
        drawn.push(shape);
    }
}

/// The strokes of a letter, as text to compare.
fn drawn(letter: char, cased: bool) -> String {
    let mut strokes = Strokes::default();
    let style = Style { cased, ..Style::new(1.0, 1.0, rgb(0)) };
    write(&mut strokes, &letter.to_string(), at(0.0, 0.0), style);
    for (from, to) in &strokes.0 {
        for point in [from, to] {
            let is_within = (0.0..=4.0).contains(&point.x) && (0.0..=7.0).contains(&point.y);
            assert!(is_within, "{letter}: {point:?}");
        }
    }
    format!("{:?}", strokes.0)
}

#[test]
fn every_letter_of_western_names_is_drawn_with_its_mark() {
    let unknown = drawn('\u{16A0}', false);
    let latin = ('\u{C0}'..='\u{17F}').filter(|letter| letter.is_alphabetic());
    for letter in latin.chain("ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩάώБГДЖЗИЙЛПФЦЧШЩЪЫЬЭЮЯЁЇЄ".chars())
    {
        assert_ne!(drawn(letter, false), unknown, "{letter} is a box");
    }
    for (letter, base) in "ÀÉÎÕÜÅÇÑØŁŐŽŞĄĞŐ".chars().zip("AEIOUACNOLOZSAGO".chars()) {
        let [marked, plain] = [letter, base].map(|letter| drawn(letter, false));
        assert_ne!(marked, plain, "{letter} looks like {base}");
    }
    let accents: Vec<_> = "AÀÁÂÃÄÅĀĂĄ".chars().map(|letter| drawn(letter, false)).collect();
    for (index, shape) in accents.iter().enumerate() {
        assert!(!accents[..index].contains(shape), "two accents look alike");
    }
    assert_eq!(drawn('é', false), drawn('É', false), "small letters are capitals");
}

#[test]
fn lowercase_letters_are_drawn_small_on_request() {
    for letter in 'a'..='z' {
        assert_ne!(drawn(letter, true), drawn(letter, false), "{letter}");
    }
    assert_eq!(drawn('A', true), drawn('A', false));
    assert!(
        drawn('ë', true).starts_with(drawn('e', true).trim_end_matches(']')),
        "a small e with its accent"
    );
    assert_ne!(drawn('ë', true), drawn('é', true));
}

/// The strokes of a text, as text to compare.
fn drawn_text(text: &str) -> String {
    let mut strokes = Strokes::default();
    write(&mut strokes, text, at(0.0, 0.0), Style::new(1.0, 1.0, rgb(0)));
    format!("{:?}", strokes.0)
}

#[test]
fn combining_marks_are_drawn_and_invisible_characters_are_not() {
    for (apart, whole) in [("e\u{308}x", "ëx"), ("C\u{327}", "Ç"), ("a\u{30A}", "å"), ("a\u{302}b", "âb")]
    {
        assert_eq!(drawn_text(apart), drawn_text(whole), "{whole}");
    }
    assert_eq!(drawn_text("a\u{200B}b\u{202E}c"), drawn_text("abc"));
    assert_eq!(drawn_text("e\u{5B0}x"), drawn_text("ex"), "a mark that is not known takes no room");
}

#[test]
fn wide_character_takes_the_room_of_two() {
    use stage::glyphs::width;
    assert!((width("東x", 1.0) - width("abx", 1.0)).abs() < 0.01);
    let beside = drawn_text("東x").replace(&drawn_text("東")[1..drawn_text("東").len() - 1], "");
    assert!(beside.contains("x: 12.0"), "the next letter begins behind it: {beside}");
}
