//! Strings of JSON, for the facts that a page tells.

use core::fmt::Write;

/// A text as a string of JSON.
pub fn string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            // Writing to a string has no errors.
            control if control < ' ' => drop(write!(out, "\\u{:04x}", u32::from(control))),
            plain => out.push(plain),
        }
    }
    out.push('"');
    out
}
