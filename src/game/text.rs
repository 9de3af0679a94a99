//! Text from outside the program, made safe to show to a person.

use core::fmt::Write;
use std::borrow::Cow;

/// Text from outside with its control characters escaped: `\u{1b}[2J` for a sequence that would clear a terminal.
///
/// A peer or a bundle chooses the paths and values that it tells of. Shown as they are, they could move the cursor,
/// forge a line of a report, or reverse the order of what is read. Escaped are the control characters (C0, DEL and
/// C1, with ESC, tab and line feed among them), the separators of lines and paragraphs, and the marks that change the
/// direction of text. Everything else, a backslash too, stays as it is.
///
/// The `Display` of [`Autopsy`](crate::Autopsy) and [`FieldDifference`](crate::FieldDifference) does this already. A
/// program calls this function for what it prints by itself: their fields, a [message](crate::Event::Message), the
/// [`user_data`](crate::Agreed::user_data) of the peer.
///
/// ```
/// assert_eq!(rebout::shown("fighters[1].hp"), "fighters[1].hp");
/// assert_eq!(rebout::shown("hp\u{1b}[2J\n"), r"hp\u{1b}[2J\u{a}");
/// assert_eq!(rebout::shown("a\u{202e}b"), r"a\u{202e}b");
/// ```
#[must_use]
pub fn shown(text: &str) -> Cow<'_, str> {
    if !text.contains(is_disruptive) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_disruptive(c) {
            push_escape(&mut out, c);
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// The longest beginning of a text that fits into `max` bytes.
pub(crate) fn cut(text: &str, max: usize) -> &str {
    let fits = (0..=text.len().min(max)).rev().find(|end| text.is_char_boundary(*end));
    &text[..fits.unwrap_or(0)]
}

/// Whether a character changes how the text around it is shown, or where: one that [`shown`] escapes. A name is better
/// off without such characters than with escapes in their place:
///
/// ```
/// let name: String = "\u{202e}Ann\u{7}".chars().filter(|c| !rebout::is_disruptive(*c)).collect();
/// assert_eq!(name, "Ann");
/// ```
#[must_use]
pub fn is_disruptive(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{200e}' | '\u{200f}' // marks of direction
            | '\u{2028}' | '\u{2029}' // separators of lines and paragraphs
            | '\u{202a}'..='\u{202e}' // embeddings and overrides
            | '\u{2066}'..='\u{206f}') // isolates, and older controls of order and shape
}

/// Appends `\u{..}` for a character.
pub(crate) fn push_escape(out: &mut String, c: char) {
    // Writing to a string cannot fail.
    let _ = write!(out, "{}", c.escape_unicode());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_disruptive_character_is_escaped() {
        let ranges =
            [0..=0x1f, 0x7f..=0x9f, 0x61c..=0x61c, 0x200e..=0x200f, 0x2028..=0x202e, 0x2066..=0x2069];
        for code in ranges.into_iter().flatten() {
            let text = format!("a{}b", char::from_u32(code).unwrap());
            assert_eq!(shown(&text), format!("a\\u{{{code:x}}}b"));
        }
    }

    #[test]
    fn ordinary_text_is_borrowed_unchanged() {
        for text in ["", "fighters[1].hp", r"C:\games \u{1b}", "größe 価値 \u{1F600} قيمة", "\u{a0}\u{200b}"]
        {
            assert!(matches!(shown(text), Cow::Borrowed(same) if same == text), "{text:?}");
        }
    }

    #[test]
    fn shown_text_can_be_shown_again_without_a_change() {
        let once = shown("\u{1b}]0;title\u{7}\u{2066}x\u{2069}\r\n").into_owned();
        assert_eq!(shown(&once), once);
        assert!(!once.contains(is_disruptive));
    }
}
