//! Numbers and tables as text, and text on a page.

use crate::shown;
use core::fmt::Write;

/// 1234567 as 1,234,567.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// Text as an HTML page shows it, in an element or an attribute: no markup, nothing that turns the words around it. Lines stay
/// lines.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for (at, line) in text.split('\n').enumerate() {
        html.push_str(if at > 0 { "\n" } else { "" });
        for c in shown(line).chars() {
            match c {
                '&' => html.push_str("&amp;"),
                '<' => html.push_str("&lt;"),
                '>' => html.push_str("&gt;"),
                '"' => html.push_str("&quot;"),
                '\'' => html.push_str("&#39;"),
                c => html.push(c),
            }
        }
    }
    html
}

/// A string of JSON in its quotes, with everything but plain letters escaped: it may be read in a terminal.
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut shown = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                shown.push('\\');
                shown.push(c);
            }
            ' '..='~' => shown.push(c),
            c => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| {
                let _ = write!(shown, "\\u{unit:04x}");
            }),
        }
    }
    shown.push('"');
    shown
}

/// Rows in columns of equal width. The first `left` columns lean left, the others right.
#[must_use]
pub fn columns(rows: &[Vec<String>], left: usize) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count)
        .map(|column| rows.iter().filter_map(|row| row.get(column)).map(String::len).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            if column > 0 {
                line.push_str("  ");
            }
            line += &if column < left { format!("{cell:<width$}") } else { format!("{cell:>width$}") };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_string_escapes_quotes_and_control_characters() {
        let text = "a\"b\\c\u{1b}[2J\u{7f}\u{9b}\u{202e}\u{1F600}";
        assert_eq!(quoted(text), r#""a\"b\\c\u001b[2J\u007f\u009b\u202e\ud83d\ude00""#);
    }

    #[test]
    fn text_on_the_page_escapes_markup_and_direction_marks() {
        let text = "<script>\"a\" & 'b'</script>\n\u{202e}\u{1b}[2J\r";
        let shown = r"&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;&lt;/script&gt;";
        assert_eq!(escaped(text), format!("{shown}\n{}", r"\u{202e}\u{1b}[2J\u{d}"));
    }
}
