//! Characters that are wider or narrower than one cell: every row keeps its length, and nothing of a name moves
//! another.

use stage::characters::{centered, copied, head, padded, tail, visible, width, wrapped};
use stage::{Cells, Depth, rgb};

/// A cat, the family of three that joiners make one picture of, and a flag.
const EMOJI: [(&str, usize); 3] = [("🐱", 2), ("👨\u{200D}👩\u{200D}👧", 6), ("\u{1F1E9}\u{1F1EA}", 2)];

#[test]
fn wide_character_is_two_cells_and_a_mark_none() {
    assert_eq!(width("Ann"), 3);
    assert_eq!(width("東京"), 4);
    assert_eq!(width("한글"), 4);
    assert_eq!(width("Zoe\u{308}"), 3, "a mark that follows its character");
    assert_eq!(width("กี่"), 1, "a vowel and a tone over one character");
    assert_eq!(width("a\u{200B}b\u{FEFF}\u{202E}\u{3164}"), 2, "what is never seen");
    for (text, cells) in EMOJI {
        assert_eq!(width(text), cells, "{text}");
    }
}

#[test]
fn text_is_cut_between_characters_and_fits_its_room() {
    assert_eq!(head("東京都", 5), "東京");
    assert_eq!(head("Zoe\u{308}!", 3), "Zoe\u{308}", "a character keeps its mark");
    assert_eq!(tail("東京都", 5), "京都");
    assert_eq!(tail("ae\u{308}b", 1), "b");
    assert_eq!(padded("東", 4), "東  ");
    assert_eq!(centered("東", 5), " 東  ");
    assert_eq!(wrapped("東京都 ab", 5), ["東京", "都 ab"]);
    for room in 2..12 {
        let text = "a東 e\u{308}京🐱 bcdefgh 한글";
        let lines = wrapped(text, room);
        assert!(lines.iter().all(|line| width(line) <= room), "{room}: {lines:?}");
        let whole: String = lines.concat().split_whitespace().collect();
        assert_eq!(whole, text.split_whitespace().collect::<String>(), "{room}");
    }
}

#[test]
fn name_keeps_visible_characters_and_two_marks_on_each() {
    assert_eq!(visible("Yo\u{200B}u\u{FEFF}"), "You");
    assert_eq!(visible("\u{301}e\u{301}\u{302}\u{303}\u{304}x"), "e\u{301}\u{302}x");
    assert_eq!(visible("กี่"), "กี่");
}

#[test]
fn selected_word_is_read_without_the_picture_beside_it() {
    assert_eq!(copied("▀▀ rebout:2:AB \n ░▒█ CD\u{200B} ▄"), "rebout:2:ABCD");
}

fn cells(columns: usize) -> Cells {
    let mut cells = Cells::new(Depth::Full);
    cells.resize(columns, 2);
    cells
}

/// A terminal that knows the width of characters, as far as this test needs one: the characters of each cell of the
/// first row.
fn shown(bytes: &[u8], columns: usize, wide: usize) -> Vec<String> {
    let text = std::str::from_utf8(bytes).expect("UTF-8");
    let mut row = vec![String::from(" "); columns];
    let (mut at, mut line) = (0, 1);
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character == '\x1b' {
            let order: String =
                characters.by_ref().skip(1).take_while(|it| !it.is_ascii_alphabetic()).collect();
            if let Some((to_line, to_column)) = order.split_once(';')
                && let (Ok(to_line), Ok(to_column)) = (to_line.parse(), to_column.parse::<usize>())
            {
                (line, at) = (to_line, to_column - 1);
            }
            continue;
        }
        let step = if width(&character.to_string()) == 2 { wide } else { width(&character.to_string()) };
        if line == 1 && step > 0 {
            row[at] = character.to_string();
            (1..step).for_each(|rest| row[at + rest] = String::new());
        } else if line == 1 && at > 0 {
            row[at - 1].push(character);
        }
        at += step;
    }
    row
}

#[test]
fn row_with_wide_characters_is_as_long_as_any_other() {
    let mut cells = cells(12);
    cells.write(1, 0, "東e\u{308}京", rgb(0xFF_FF_FF), None);
    cells.write_ending(12, 0, "|", rgb(0xFF_FF_FF), None);
    assert_eq!(cells.text(0), " 東e\u{308}京     |");
    let row = shown(cells.changes(), 12, 2);
    assert_eq!(row, [" ", "東", "", "e\u{308}", "京", "", " ", " ", " ", " ", " ", "|"]);
    // A terminal that believes the characters to be narrow still has everything else in its place.
    let mut cells = self::cells(12);
    cells.write(0, 0, "xxxxxxxxxxxx", rgb(0xFF_FF_FF), None);
    cells.changes();
    cells.write(0, 0, "東京", rgb(0xFF_FF_FF), None);
    let mut row: Vec<String> = vec!["x".to_owned(); 12];
    for (old, new) in row.iter_mut().zip(shown(cells.changes(), 12, 1)).take(4) {
        *old = new;
    }
    assert_eq!(row.concat(), "東 京 xxxxxxxx");
}

#[test]
fn half_of_a_wide_character_is_never_left() {
    let paper = rgb(0xFF_FF_FF);
    for (column, text, row) in
        [(1, "a", " a京"), (2, "a", "東a "), (0, "a", "a 京"), (1, "都", " 都 "), (3, "ab", "東 a")]
    {
        let mut cells = cells(4);
        cells.write(0, 0, "東京", paper, None);
        cells.write(column, 0, text, paper, None);
        assert_eq!(cells.text(0), row, "{text} at {column}");
    }
    let mut cells = cells(4);
    cells.write(3, 0, "東", paper, None);
    cells.write(-1, 1, "東a", paper, None);
    assert_eq!([cells.text(0), cells.text(1)], ["    ", " a  "], "a character that half fits is left out");
}

#[test]
fn control_and_direction_characters_do_not_reach_the_terminal() {
    let mut cells = cells(30);
    cells.write(0, 0, "a\x1b[2Jb\u{202E}c\u{200F}d\u{2028}e\u{9B}f", rgb(0xFF_FF_FF), None);
    assert_eq!(cells.text(0).trim_end(), "a?[2Jbcd?e?f");
}
