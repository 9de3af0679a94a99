//! `report.json`: the facts of a bundle for other programs. It is written and never read back.

use super::{Bundle, facts};
use crate::game::shown::is_disruptive;
use core::fmt::{Display, Write};

/// The report as one JSON object.
pub(super) fn report(bundle: &Bundle) -> String {
    let (autopsy, replay) = (bundle.autopsy(), bundle.replay());
    let value = |side: &Option<String>| side.as_deref().map_or("null".to_owned(), quoted);
    let mut out = String::from("{\n");
    // Writing to a string cannot fail.
    let mut line = |name: &str, value: &dyn Display| {
        let _ = writeln!(out, "  \"{name}\": {value},");
    };
    line("format", &facts::FORMAT);
    line("game", &quoted(bundle.game()));
    line("seed", &replay.seed);
    line("frames", &replay.inputs.len());
    line("local", &(autopsy.local.index() + 1));
    match autopsy.last_match {
        Some(frame) => line("last_match", &frame),
        None => line("last_match", &"null"),
    }
    line("first_divergence", &autopsy.first_divergence);
    line("exact", &autopsy.exact);
    line("complete", &autopsy.complete);
    line("verdict", &quoted(autopsy.verdict.name()));
    line("verdict_text", &quoted(&autopsy.verdict.to_string()));
    line("inputs_from", &autopsy.inputs.first().map_or(0, |(frame, _)| frame.0));
    line("inputs", &autopsy.inputs.len());
    let not_compared: Vec<String> = autopsy.not_compared.iter().map(|name| quoted(name)).collect();
    line("not_compared", &format_args!("[{}]", not_compared.join(", ")));
    out.push_str("  \"fields\": [");
    for (at, field) in autopsy.fields.iter().enumerate() {
        let (comma, path) = (if at == 0 { "" } else { "," }, quoted(&field.path));
        let (one, two) = (value(&field.one), value(&field.two));
        let _ = write!(out, "{comma}\n    {{\"path\": {path}, \"one\": {one}, \"two\": {two}}}");
    }
    out.push_str(if autopsy.fields.is_empty() { "]\n}\n" } else { "\n  ]\n}\n" });
    out
}

/// A text in quotes, with everything escaped that could end it or play with a terminal.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if is_disruptive(c) => {
                // All of these are below U+10000, so one escape is enough. Writing to a string cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_text_has_no_control_characters_and_no_bare_quotes() {
        assert_eq!(quoted("fighters[1].hp é \u{1F600}"), "\"fighters[1].hp é \u{1F600}\"");
        assert_eq!(
            quoted("a\"b\\c\nd\u{1b}[2J\u{7f}\u{85}\u{2028}\u{202e}"),
            r#""a\"b\\c\nd\u001b[2J\u007f\u0085\u2028\u202e""#
        );
    }
}
