//! `bundle.txt`: the facts that reading a bundle back needs, a `name: value` line each, in a fixed order.

use super::error::BundleError;
use super::escape::{escaped, unescaped};
use crate::{AutopsyVerdict, FieldDifference, Frame, PhaseDifference, Player};
use core::fmt::{Display, Write};
use core::str::Lines;

/// The name of the file.
pub(super) const FILE: &str = "bundle.txt";

/// The format of a bundle.
pub(crate) const FORMAT: u32 = 3;

/// Everything about a bundle that is neither in its states nor in its replay, and the two facts that tie them together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) game: String,
    pub(super) seed: u32,
    pub(super) frames: u32,
    pub(super) local: Player,
    pub(super) last_match: Option<Frame>,
    pub(super) first_divergence: Frame,
    pub(super) exact: bool,
    pub(super) complete: bool,
    pub(super) verdict: AutopsyVerdict,
    pub(super) phase: Option<PhaseDifference>,
    pub(super) inputs_from: Frame,
    pub(super) inputs: u32,
    pub(super) not_compared: Vec<String>,
}

impl Facts {
    pub(super) fn render(&self) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let mut line = |name: &str, value: &dyn Display| {
            let _ = writeln!(out, "{name}: {value}");
        };
        line("format", &FORMAT);
        line("game", &escaped(&self.game));
        line("seed", &self.seed);
        line("frames", &self.frames);
        line("local", &(self.local.index() + 1));
        match self.last_match {
            Some(frame) => line("last_match", &frame),
            None => line("last_match", &"none"),
        }
        line("first_divergence", &self.first_divergence);
        line("exact", &self.exact);
        line("complete", &self.complete);
        line("verdict", &self.verdict.name());
        match &self.phase {
            None => line("phase", &"none"),
            Some(PhaseDifference { index, after, one, two, fields }) => {
                line("phase", index);
                line("phase_after", &optional(after));
                line("phase_one", &optional(one));
                line("phase_two", &optional(two));
                line("phase_fields", &fields.len());
                for FieldDifference { path, one, two } in fields {
                    // A tab is escaped in the texts themselves.
                    let (path, one, two) = (escaped(path), optional(one), optional(two));
                    line("phase_field", &format_args!("{path}\t{one}\t{two}"));
                }
            }
        }
        line("inputs_from", &self.inputs_from);
        line("inputs", &self.inputs);
        let not_compared: Vec<String> = self.not_compared.iter().map(|name| named(name)).collect();
        line("not_compared", &not_compared.join("\t"));
        out
    }

    /// Reads what [`render`](Self::render) wrote, and nothing else.
    pub(super) fn parse(text: &str) -> Result<Self, BundleError> {
        let mut lines = Reader { lines: text.lines(), line: 0 };
        let format = lines.value("format", "'format: ' and a number", number)?;
        if format != FORMAT {
            return Err(BundleError::Format { format });
        }
        let facts = Self {
            game: lines.value("game", "'game: ' and a name", |name| unescaped(name).ok())?,
            seed: lines.value("seed", "'seed: ' and a number", number)?,
            frames: lines.value("frames", "'frames: ' and a number", number)?,
            local: lines.value("local", "'local: ' and 1 or 2", player)?,
            last_match: lines.value("last_match", "'last_match: ' and a number or none", |value| {
                if value == "none" { Some(None) } else { Some(Some(Frame(number(value)?))) }
            })?,
            first_divergence: Frame(lines.value(
                "first_divergence",
                "'first_divergence: ' and a number",
                number,
            )?),
            exact: lines.value("exact", "'exact: ' and true or false", flag)?,
            complete: lines.value("complete", "'complete: ' and true or false", flag)?,
            verdict: lines.value(
                "verdict",
                "'verdict: ' and player-one, player-two, both, step, start or unknown",
                |name| AutopsyVerdict::ALL.into_iter().find(|verdict| verdict.name() == name),
            )?,
            phase: lines.phase()?,
            inputs_from: Frame(lines.value("inputs_from", "'inputs_from: ' and a number", number)?),
            inputs: lines.value("inputs", "'inputs: ' and a number", number)?,
            not_compared: lines.value("not_compared", "'not_compared: ' and names after '='", names)?,
        };
        lines.end().map(|()| facts)
    }
}

/// The lines of the file, in order.
struct Reader<'a> {
    lines: Lines<'a>,
    /// How many lines were read.
    line: usize,
}

impl Reader<'_> {
    /// The value of the next line, which has this name.
    fn value<T>(
        &mut self,
        name: &str,
        expected: &'static str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, BundleError> {
        self.line += 1;
        let value = self.lines.next().and_then(|line| line.strip_prefix(name)?.strip_prefix(": "));
        value.and_then(read).ok_or(BundleError::Line { file: FILE, line: self.line, expected })
    }

    /// The phase that differs, in several lines.
    fn phase(&mut self) -> Result<Option<PhaseDifference>, BundleError> {
        let index = self.value("phase", "'phase: ' and a number or none", |value| {
            if value == "none" { Some(None) } else { Some(Some(number(value)?)) }
        })?;
        let Some(index) = index else { return Ok(None) };
        let after = self.value("phase_after", "'phase_after: ' and a name after '=', or none", present)?;
        let one = self.value("phase_one", "'phase_one: ' and a name after '=', or none", present)?;
        let two = self.value("phase_two", "'phase_two: ' and a name after '=', or none", present)?;
        let count = self.value("phase_fields", "'phase_fields: ' and a number", number)?;
        let mut fields = Vec::new();
        for _ in 0..count {
            fields.push(self.value("phase_field", "'phase_field: ', a path and two values", |value| {
                let (path, sides) = value.split_once('\t')?;
                let (one, two) = sides.split_once('\t')?;
                let path = unescaped(path).ok()?;
                Some(FieldDifference { path, one: present(one)?, two: present(two)? })
            })?);
        }
        Ok(Some(PhaseDifference { index, after, one, two, fields }))
    }

    fn end(&mut self) -> Result<(), BundleError> {
        match self.lines.next() {
            None => Ok(()),
            Some(_) => Err(BundleError::Line { file: FILE, line: self.line + 1, expected: "no more lines" }),
        }
    }
}

/// A number as it is written: digits alone, and no zero before others.
fn number(text: &str) -> Option<u32> {
    let canonical = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    text.parse().ok().filter(|_| canonical)
}

/// A text that may be absent. An equals sign is escaped in the text itself.
fn optional(text: &Option<String>) -> String {
    text.as_ref().map_or_else(|| "none".to_owned(), |text| named(text))
}

fn named(text: &str) -> String {
    format!("={}", escaped(text))
}

/// Reads what [`optional`] wrote.
fn present(text: &str) -> Option<Option<String>> {
    match text.strip_prefix('=') {
        Some(text) => unescaped(text).ok().map(Some),
        None => (text == "none").then_some(None),
    }
}

fn flag(text: &str) -> Option<bool> {
    match text {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

/// Names of fields, a tab between two. A name that is known at run time only may have spaces, or be empty.
fn names(text: &str) -> Option<Vec<String>> {
    let names = text.split('\t').filter(|_| !text.is_empty());
    names.map(|name| present(name)?).collect()
}

fn player(text: &str) -> Option<Player> {
    Player::BOTH.into_iter().zip(["1", "2"]).find(|(_, name)| *name == text).map(|(player, _)| player)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn facts() -> Facts {
        Facts {
            game: "playground".into(),
            seed: 5,
            frames: 430,
            local: Player::Two,
            last_match: None,
            first_divergence: Frame(100),
            exact: true,
            complete: false,
            verdict: AutopsyVerdict::StepDiffers,
            phase: Some(PhaseDifference {
                index: 2,
                after: Some("player one".into()),
                one: Some("none".into()),
                two: None,
                fields: vec![FieldDifference { path: "at.x".into(), one: Some("=1\t".into()), two: None }],
            }),
            inputs_from: Frame(90),
            inputs: 30,
            not_compared: vec!["fighters[].sparks".into(), "drawn".into()],
        }
    }

    #[test]
    fn facts_are_read_back_and_verdicts_by_their_names() {
        for verdict in AutopsyVerdict::ALL {
            let facts =
                Facts { verdict, game: "a: b\\ \u{202e}".into(), last_match: Some(Frame(90)), ..facts() };
            assert_eq!(Facts::parse(&facts.render()).unwrap(), facts);
        }
        let text = facts().render();
        assert!(text.starts_with("format: 3\ngame: playground\nseed: 5\n"), "{text}");
        assert_eq!(Facts::parse(&text).unwrap(), facts());
        let mut phase = facts().phase.expect("a phase");
        let (one, two) = (Some("none".into()), Some(String::new()));
        phase.fields.push(FieldDifference { path: String::new(), one, two });
        for phase in [Some(phase), None] {
            let facts = Facts { phase, ..facts() };
            assert_eq!(Facts::parse(&facts.render()).unwrap(), facts);
        }
    }

    /// Names that are known at run time only may be any text.
    #[test]
    fn names_that_are_not_compared_may_have_spaces() {
        let names = ["video ram", "a\tb = c", "", "none", "fighters[].last hit"].map(str::to_owned);
        for not_compared in [names.to_vec(), vec![String::new()], Vec::new()] {
            let facts = Facts { not_compared, ..facts() };
            assert_eq!(Facts::parse(&facts.render()).unwrap(), facts);
        }
    }

    #[test]
    fn every_line_that_is_changed_missing_or_doubled_is_named() {
        let text = facts().render();
        let lines: Vec<&str> = text.lines().collect();
        let refused = |lines: &[&str]| Facts::parse(&lines.join("\n")).expect_err("it is broken").to_string();
        for at in 0..lines.len() {
            let named = format!("bundle.txt: line {}: expected ", at + 1);
            let mut broken = lines.clone();
            broken.remove(at);
            assert!(refused(&broken).starts_with(&named), "{}", refused(&broken));
            broken = lines.clone();
            let line = broken[at].replacen(": ", " = ", 1);
            broken[at] = &line;
            assert!(refused(&broken).starts_with(&named), "{}", refused(&broken));
        }
        let doubled = [&lines[..], &["inputs: 30"]].concat();
        assert_eq!(refused(&doubled), "bundle.txt: line 20: expected no more lines");
    }

    #[test]
    fn values_have_one_way_to_be_written() {
        for (from, to) in [
            ("seed: 5", "seed: 05"),
            ("seed: 5", "seed: +5"),
            ("seed: 5", "seed: "),
            ("seed: 5", "seed: 4294967296"),
            ("exact: true", "exact: True"),
            ("local: 2", "local: 3"),
            ("last_match: none", "last_match: None"),
            ("verdict: step", "verdict: aliens"),
            ("phase: 2", "phase: 02"),
            ("phase_two: none", "phase_two: None"),
            ("phase_fields: 1", "phase_fields: 2"),
            ("phase_fields: 1", "phase_fields: 4294967295"),
            ("at.x\t", "at.x "),
            ("game: playground", "game: \\x"),
            ("sparks\t=drawn", "sparks\t\t=drawn"),
            ("=drawn", "drawn"),
            ("=drawn", "none"),
            ("=drawn", "=\\x"),
        ] {
            let text = facts().render().replace(from, to);
            assert!(matches!(Facts::parse(&text), Err(BundleError::Line { .. })), "{to}");
        }
        let text = facts().render().replace("format: 3", "format: 2");
        assert_eq!(Facts::parse(&text).unwrap_err().to_string(), "bundle.txt: format 2 is not 3");
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(
            text in "(format: 3\n)?(game: .*\n)?([a-z_]*: [0-9a-z+]*\n|.*\n)*",
        ) {
            let _ = Facts::parse(&text);
        }
    }
}
