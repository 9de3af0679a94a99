//! Characters as terminals lay them out: how many cells each takes, and the part of a text that fits into some.
//!
//! The window uses the same measure for its own characters, so that a menu has one layout on both.

use unicode_width::UnicodeWidthChar;

/// Marks that a character keeps, such as a vowel and a tone. A name is read with two, and more would grow over other
/// rows.
pub(crate) const MAX_MARKS: usize = 2;

/// The cells of a character: two for Chinese, Japanese, Korean and emoji, none for a mark on the character before it
/// and for what is never seen.
pub fn cells(character: char) -> usize {
    // A control character is shown as a question mark.
    if is_invisible(character) { 0 } else { character.width().unwrap_or(1).min(2) }
}

/// The cells of a text.
pub fn width(text: &str) -> usize {
    text.chars().map(cells).sum()
}

/// The beginning of a text that fits into `room` cells, with the marks of its last character.
pub fn head(text: &str, room: usize) -> &str {
    let mut used = 0;
    let end = text.char_indices().find_map(|(at, character)| {
        used += cells(character);
        (used > room).then_some(at)
    });
    &text[..end.unwrap_or(text.len())]
}

/// The end of a text that fits into `room` cells. It begins with a whole character.
pub fn tail(text: &str, room: usize) -> &str {
    let mut rest = text;
    while width(rest) > room {
        let mut characters = rest.chars();
        characters.next();
        rest = characters.as_str().trim_start_matches(|character| cells(character) == 0);
    }
    rest
}

/// The lines of `text` with at most `room` cells each. Words stay whole, unless one alone is longer than a line.
pub fn wrapped(text: &str, room: usize) -> Vec<String> {
    // A wide character needs two.
    let room = room.max(2);
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        if let Some(line) = lines.last_mut().filter(|line| width(line) + 1 + width(word) <= room) {
            line.push(' ');
            line.push_str(word);
            continue;
        }
        let mut rest = word;
        loop {
            let piece = head(rest, room);
            lines.push(piece.to_owned());
            rest = &rest[piece.len()..];
            if rest.is_empty() {
                break;
            }
        }
    }
    lines
}

/// A text with spaces behind it up to `room` cells.
pub fn padded(text: &str, room: usize) -> String {
    format!("{text}{}", " ".repeat(room.saturating_sub(width(text))))
}

/// A text with as many spaces on either side as `room` cells leave.
pub fn centered(text: &str, room: usize) -> String {
    let free = room.saturating_sub(width(text));
    padded(&format!("{}{text}", " ".repeat(free / 2)), room)
}

/// Whether a character is a mark on the one before it.
pub(crate) fn is_mark(character: char) -> bool {
    !is_invisible(character) && character.width() == Some(0)
}

/// Whether a character is never seen: joiners, selectors of a variant, fillers, tags, and marks of direction, which are
/// what Unicode calls ignorable by default. Two names that differ in them alone look the same.
pub fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}'
        | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}'
        | '\u{FFF0}'..='\u{FFF8}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}'
        | '\u{E0000}'..='\u{E0FFF}')
}

/// A text without what is never seen, and without marks that no character carries.
pub fn visible(text: &str) -> String {
    let mut seen = String::new();
    let mut free_marks = 0;
    for character in text.chars().filter(|character| !is_invisible(*character)) {
        if is_mark(character) {
            if free_marks == 0 {
                continue;
            }
            free_marks -= 1;
        } else {
            free_marks = MAX_MARKS;
        }
        seen.push(character);
    }
    seen
}

/// One word that was copied from a screen: without spaces, without what is never seen, and without the blocks of the
/// picture beside it.
pub fn copied(text: &str) -> String {
    text.chars().filter(|character| is_of_a_word(*character)).collect()
}

pub(crate) fn is_of_a_word(character: char) -> bool {
    !character.is_whitespace() && !is_invisible(character) && !is_block(character)
}

/// Whether a character is one of the blocks that pictures are made of.
pub(crate) const fn is_block(character: char) -> bool {
    matches!(character, '\u{2580}'..='\u{259F}')
}
