//! `state_one.txt` and `state_two.txt`: a title, then a field a line, `fighters[1].hp = 75  # 0x0000004b`.

use super::escape::{escaped, unescaped};
use crate::OwnedLeaf;
use core::fmt::Write;

/// The path that is written for a state that is a single value, whose path is empty.
const WHOLE: &str = ".";

/// Writes a title and then a leaf a line.
pub(crate) fn render(title: &str, leaves: &[OwnedLeaf]) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(out, "# {}", escaped(title));
    for leaf in leaves {
        let path = match leaf.path.as_str() {
            "" => WHOLE.to_owned(),
            // A path that could be taken for the one of a single value.
            WHOLE => "\\u{2e}".to_owned(),
            path => escaped(path),
        };
        let _ = write!(out, "{path} = {}  # 0x", escaped(&leaf.shown));
        leaf.words.iter().rev().for_each(|word| {
            let _ = write!(out, "{word:08x}");
        });
        out.push('\n');
    }
    out
}

/// A line that is malformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BadLine {
    /// Its number, from 1.
    pub(crate) line: usize,
    pub(crate) expected: &'static str,
}

/// Reads what [`render`] wrote. Memory and time are in proportion to the text.
pub(crate) fn parse(text: &str) -> Result<Vec<OwnedLeaf>, BadLine> {
    let mut leaves = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if at == 0 {
            if !line.starts_with("# ") {
                return Err(BadLine { line: 1, expected: "a title after '# '" });
            }
            continue;
        }
        leaves.push(leaf(line).map_err(|expected| BadLine { line: at + 1, expected })?);
    }
    if text.is_empty() {
        return Err(BadLine { line: 1, expected: "a title after '# '" });
    }
    Ok(leaves)
}

fn leaf(line: &str) -> Result<OwnedLeaf, &'static str> {
    let (path, rest) = line.split_once(" = ").ok_or("' = ' after a path")?;
    let (shown, hex) = rest.rsplit_once("  # 0x").ok_or("'  # 0x' after a value")?;
    if hex.len() % 8 != 0 || hex.len() > 32 || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err("at most four words of eight hexadecimal digits");
    }
    let mut words = Vec::with_capacity(hex.len() / 8);
    for word in hex.as_bytes().as_chunks::<8>().0.iter().rev() {
        let word = core::str::from_utf8(word).ok().and_then(|word| u32::from_str_radix(word, 16).ok());
        words.push(word.ok_or("hexadecimal digits")?);
    }
    let path = if path == WHOLE { String::new() } else { unescaped(path)? };
    Ok(OwnedLeaf { path, words, shown: unescaped(shown)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn leaf_of(path: &str, words: &[u32], shown: &str) -> OwnedLeaf {
        OwnedLeaf { path: path.into(), words: words.into(), shown: shown.into() }
    }

    #[test]
    fn state_reads_like_a_list_of_fields() {
        let leaves = [
            leaf_of("fighters[1].hp", &[75], "75"),
            leaf_of("clock", &[7, 1], "4294967303"),
            leaf_of("", &[], ""),
        ];
        assert_eq!(
            render("player one, frame 100", &leaves),
            "# player one, frame 100\nfighters[1].hp = 75  # 0x0000004b\nclock = 4294967303  # 0x0000000100000007\n\
             . =   # 0x\n"
        );
    }

    proptest! {
        #[test]
        fn all_names_and_values_are_read_back(
            leaves in proptest::collection::vec((".*", proptest::collection::vec(any::<u32>(), 0..=4), ".*"), 0..8),
            odd in "[.=# \\\\u{}\n]{0,6}",
        ) {
            let mut all: Vec<OwnedLeaf> = leaves.iter().map(|(p, w, s)| leaf_of(p, w, s)).collect();
            all.push(leaf_of(&odd, &[1], &odd));
            let text = render(&odd, &all);
            prop_assert_eq!(text.lines().count(), all.len() + 1);
            prop_assert_eq!(parse(&text), Ok(all));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "(# \n)?([a=#\\\\u{}0x \n]|.)*") {
            let _ = parse(&text);
        }
    }

    #[test]
    fn malformed_line_is_named() {
        for (line, expected) in [
            ("hp 75", "' = ' after a path"),
            ("hp = 75", "'  # 0x' after a value"),
            ("hp = 75  # 0x4b", "at most four words of eight hexadecimal digits"),
            (&format!("hp = 75  # 0x{}", "0".repeat(40)), "at most four words of eight hexadecimal digits"),
            ("hp = \\n  # 0x0000004b", "'\\u{..}' after a backslash"),
            ("hp = \\u{0000041}  # 0x0000004b", "'\\u{..}' after a backslash"),
            ("hp = \\u{d800}  # 0x0000004b", "'\\u{..}' after a backslash"),
        ] {
            assert_eq!(parse(&format!("# t\n{line}\n")), Err(BadLine { line: 2, expected }), "{line}");
        }
        assert_eq!(parse("").unwrap_err().line, 1);
        assert_eq!(parse("hp = 75  # 0x0000004b\n").unwrap_err().line, 1);
    }
}
