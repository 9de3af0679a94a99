//! The facts of a bundle as JSON.

use crate::lab::text::quoted;
use crate::replay::bundle::FORMAT;
use crate::{Bundle, FieldDifference, PhaseDifference};
use core::fmt::{Display, Write};

/// A bundle as one JSON object, for other programs.
#[must_use]
pub fn json(bundle: &Bundle) -> String {
    let (autopsy, replay) = (bundle.autopsy(), bundle.replay());
    let mut out = String::from("{\n");
    // Writing to a string cannot fail.
    let mut line = |name: &str, value: &dyn Display| {
        let _ = writeln!(out, "  \"{name}\": {value},");
    };
    line("format", &FORMAT);
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
    match &autopsy.phase {
        None => line("phase", &"null"),
        Some(PhaseDifference { index, after, one, two, fields }) => {
            let (after, one, two, fields) = (value(after), value(one), value(two), array(fields));
            line(
                "phase",
                &format_args!(
                    "{{\"index\": {index}, \"after\": {after}, \"one\": {one}, \"two\": {two}, \"fields\": {fields}}}"
                ),
            );
        }
    }
    line("inputs_from", &autopsy.inputs.first().map_or(0, |(frame, _)| frame.0));
    line("inputs", &autopsy.inputs.len());
    let not_compared: Vec<String> = autopsy.not_compared.iter().map(|name| quoted(name)).collect();
    line("not_compared", &format_args!("[{}]", not_compared.join(", ")));
    let _ = write!(out, "  \"fields\": {}\n}}\n", array(&autopsy.fields));
    out
}

fn value(text: &Option<String>) -> String {
    text.as_deref().map_or("null".to_owned(), quoted)
}

/// The fields as an array, one a line.
fn array(fields: &[FieldDifference]) -> String {
    let mut out = String::from("[");
    for (at, field) in fields.iter().enumerate() {
        let (comma, path) = (if at == 0 { "" } else { "," }, quoted(&field.path));
        let (one, two) = (value(&field.one), value(&field.two));
        let _ = write!(out, "{comma}\n    {{\"path\": {path}, \"one\": {one}, \"two\": {two}}}");
    }
    out.push_str(if fields.is_empty() { "]" } else { "\n  ]" });
    out
}
