//! As much of JSON as a report needs: written by hand, read strictly, and never deeper or longer than allowed.

use core::fmt::{self, Write};

/// How deep values may be nested; a report has four levels.
const MOST_DEPTH: u8 = 8;

/// A value that was read. Numbers are whole and not negative: a report has no others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Number(u64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// Which rule of JSON was broken, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// Offset in bytes.
    pub at: usize,
    /// What was expected there.
    pub expected: &'static str,
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: expected {}", self.at, self.expected)
    }
}

impl core::error::Error for JsonError {}

/// Writes a text with its quotes; everything that could end it or play with a terminal is escaped.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => {
                // All of these are below U+10000, so one escape is enough. Writing to a text cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

impl Json {
    /// Reads exactly one value.
    pub(crate) fn parse(text: &str) -> Result<Self, JsonError> {
        let mut reader = Reader { text, at: 0 };
        let value = reader.value(0)?;
        reader.blank();
        if reader.at < text.len() {
            return Err(reader.expected("the end"));
        }
        Ok(value)
    }

    /// What an object has under this name.
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        let Self::Object(entries) = self else { return None };
        entries.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn expected(&self, expected: &'static str) -> JsonError {
        JsonError { at: self.at, expected }
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn blank(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
    }

    fn take(&mut self, token: &str) -> bool {
        let there = self.rest().starts_with(token);
        self.at += if there { token.len() } else { 0 };
        there
    }

    fn value(&mut self, depth: u8) -> Result<Json, JsonError> {
        self.blank();
        if depth > MOST_DEPTH {
            return Err(self.expected("no deeper nesting"));
        }
        match self.rest().bytes().next() {
            Some(b'"') => self.text().map(Json::Text),
            Some(b'0'..=b'9') => self.number().map(Json::Number),
            Some(b'[') => self.list(depth),
            Some(b'{') => self.object(depth),
            _ if self.take("null") => Ok(Json::Null),
            _ if self.take("true") => Ok(Json::Bool(true)),
            _ if self.take("false") => Ok(Json::Bool(false)),
            _ => Err(self.expected("a value")),
        }
    }

    fn number(&mut self) -> Result<u64, JsonError> {
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        let number = &self.rest()[..digits];
        let leading_zero = digits > 1 && number.starts_with('0');
        let number = number.parse().ok().filter(|_| !leading_zero);
        let number = number.ok_or_else(|| self.expected("a whole number below 2^64"))?;
        self.at += digits;
        if self.rest().starts_with(['.', 'e', 'E']) {
            return Err(self.expected("a whole number"));
        }
        Ok(number)
    }

    fn list(&mut self, depth: u8) -> Result<Json, JsonError> {
        self.at += 1;
        let mut items = Vec::new();
        self.blank();
        if self.take("]") {
            return Ok(Json::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.blank();
            if self.take("]") {
                return Ok(Json::List(items));
            }
            if !self.take(",") {
                return Err(self.expected("',' or ']'"));
            }
        }
    }

    fn object(&mut self, depth: u8) -> Result<Json, JsonError> {
        self.at += 1;
        let mut entries: Vec<(String, Json)> = Vec::new();
        self.blank();
        if self.take("}") {
            return Ok(Json::Object(entries));
        }
        loop {
            self.blank();
            let name = self.text()?;
            // A name that comes twice would be read differently by different programs.
            if entries.iter().any(|(known, _)| *known == name) || entries.len() == 64 {
                return Err(self.expected("at most 64 names, each once"));
            }
            self.blank();
            if !self.take(":") {
                return Err(self.expected("':'"));
            }
            let value = self.value(depth + 1)?;
            entries.push((name, value));
            self.blank();
            if self.take("}") {
                return Ok(Json::Object(entries));
            }
            if !self.take(",") {
                return Err(self.expected("',' or '}'"));
            }
        }
    }

    fn text(&mut self) -> Result<String, JsonError> {
        if !self.take("\"") {
            return Err(self.expected("'\"'"));
        }
        let mut text = String::new();
        loop {
            let Some(c) = self.rest().chars().next() else { return Err(self.expected("'\"'")) };
            match c {
                '"' => {
                    self.at += 1;
                    return Ok(text);
                }
                '\\' => text.push(self.escape()?),
                c if u32::from(c) < 0x20 => return Err(self.expected("no bare control character")),
                c => {
                    self.at += c.len_utf8();
                    text.push(c);
                }
            }
        }
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        for (token, c) in [
            ("\\\"", '"'),
            ("\\\\", '\\'),
            ("\\/", '/'),
            ("\\n", '\n'),
            ("\\r", '\r'),
            ("\\t", '\t'),
            ("\\b", '\u{8}'),
            ("\\f", '\u{c}'),
        ] {
            if self.take(token) {
                return Ok(c);
            }
        }
        let first = self.unit()?;
        let code = match first {
            0xD800..=0xDBFF => {
                let second = self.unit()?;
                if !(0xDC00..=0xDFFF).contains(&second) {
                    return Err(self.expected("the second half of a surrogate pair"));
                }
                0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00)
            }
            _ => first,
        };
        char::from_u32(code).ok_or_else(|| self.expected("no lone surrogate"))
    }

    /// `\uXXXX`
    fn unit(&mut self) -> Result<u32, JsonError> {
        let digits = self.rest().strip_prefix("\\u").and_then(|rest| rest.get(..4));
        let digits = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let unit = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let unit = unit.ok_or_else(|| self.expected("an escape"))?;
        self.at += 6;
        Ok(unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let nasty = "a\"b\\c\nd\u{1b}[2J\u{7f}\u{85}\u{2028}é\u{1F600}";
        let written = quoted(nasty);
        assert!(!written.contains(char::is_control), "{written:?}");
        assert_eq!(Json::parse(&written), Ok(Json::Text(nasty.to_owned())));
        let object = Json::parse(r#" {"a": [1, null, true], "b": {"c": "\ud83d\ude00\/"}} "#).unwrap();
        assert_eq!(object.get("a"), Some(&Json::List(vec![Json::Number(1), Json::Null, Json::Bool(true)])));
        let inner = object.get("b").and_then(|b| b.get("c"));
        assert_eq!(inner, Some(&Json::Text("\u{1F600}/".to_owned())));
    }

    #[test]
    fn what_is_not_json_is_refused_where_it_stops_being_it() {
        for (text, at) in [
            ("", 0),
            ("[1,]", 3),
            ("{\"a\":1,\"a\":2}", 10),
            ("01", 0),
            ("-1", 0),
            ("1.5", 1),
            ("\"\\ud800x\"", 7),
            ("\"\\x\"", 1),
            ("\"a", 2),
            ("nul", 0),
            ("1 2", 2),
            ("99999999999999999999", 0),
        ] {
            assert_eq!(Json::parse(text).map_err(|error| error.at), Err(at), "{text}");
        }
        let deep = "[".repeat(100_000);
        assert_eq!(Json::parse(&deep).unwrap_err().expected, "no deeper nesting");
    }
}
