//! Escapes in the text files of a bundle.

use crate::game::text::{is_disruptive, push_escape};

/// A text with `\u{..}` for every character that separates the parts of a line, or that would play with a terminal.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_disruptive(c) || matches!(c, '\\' | '=' | '#') {
            push_escape(&mut out, c);
        } else {
            out.push(c);
        }
    }
    out
}

/// Reads what [`escaped`] wrote.
pub(super) fn unescaped(text: &str) -> Result<String, &'static str> {
    const RULE: &str = "'\\u{..}' after a backslash";
    let mut out = String::with_capacity(text.len());
    let mut parts = text.split('\\');
    out.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let (digits, rest) = part.strip_prefix("u{").and_then(|part| part.split_once('}')).ok_or(RULE)?;
        let code = if digits.len() <= 6 { u32::from_str_radix(digits, 16).ok() } else { None };
        out.push(code.and_then(char::from_u32).ok_or(RULE)?);
        out.push_str(rest);
    }
    Ok(out)
}
