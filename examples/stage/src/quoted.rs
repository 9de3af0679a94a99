//! Text from outside in a message: quoted, and no longer than a message has room for.

/// The characters that are quoted.
const ROOM: usize = 60;

/// As much of a text as a message has room for, in quotes.
pub fn quoted(text: &str) -> String {
    match text.char_indices().nth(ROOM) {
        Some((end, _)) => format!("'{}...'", &text[..end]),
        None => format!("'{text}'"),
    }
}
