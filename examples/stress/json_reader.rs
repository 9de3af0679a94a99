//! As much of JSON as reports are made of: objects, lists, numbers, texts, truth values and null.

use std::iter::Peekable;
use std::str::Chars;

/// The deepest nesting that is read; a report has four levels.
const MAX_DEPTH: u32 = 16;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Reads one value, behind which nothing follows.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut reader = Reader { rest: text.chars().peekable(), depth: 0 };
        let value = reader.value()?;
        match reader.next() {
            None => Ok(value),
            Some(character) => Err(format!("{character:?} follows the value")),
        }
    }

    /// The value of this name.
    pub(crate) fn get(&self, name: &str) -> Result<&Self, String> {
        let Self::Object(pairs) = self else { return Err(format!("no object to have {name:?}")) };
        let found = pairs.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value).ok_or_else(|| format!("{name:?} is missing"))
    }

    /// The whole number of this name.
    pub(crate) fn count(&self, name: &str) -> Result<u64, String> {
        self.get(name)?.as_count().ok_or_else(|| format!("{name:?} is no whole number"))
    }

    pub(crate) fn as_count(&self) -> Option<u64> {
        match self {
            Self::Number(number) if *number >= 0.0 && *number < 9e15 && number.fract() < f64::EPSILON => {
                Some(*number as u64)
            }
            _ => None,
        }
    }

    /// The list of this name.
    pub(crate) fn list(&self, name: &str) -> Result<&[Self], String> {
        match self.get(name)? {
            Self::List(list) => Ok(list),
            _ => Err(format!("{name:?} is no list")),
        }
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
    depth: u32,
}

impl Reader<'_> {
    /// The next character that is not white space.
    fn next(&mut self) -> Option<char> {
        self.rest.by_ref().find(|character| !character.is_ascii_whitespace())
    }

    fn peek(&mut self) -> Option<char> {
        while self.rest.next_if(char::is_ascii_whitespace).is_some() {}
        self.rest.peek().copied()
    }

    fn expect(&mut self, wanted: char) -> Result<(), String> {
        match self.next() {
            Some(found) if found == wanted => Ok(()),
            Some(found) => Err(format!("{found:?} instead of {wanted:?}")),
            None => Err(format!("it ends where {wanted:?} should be")),
        }
    }

    fn value(&mut self) -> Result<Json, String> {
        match self.peek().ok_or("it ends where a value should be")? {
            '"' => self.text().map(Json::Text),
            '[' => self.items(['[', ']'], Self::value).map(Json::List),
            '{' => self.items(['{', '}'], Self::pair).map(Json::Object),
            _ => self.word(),
        }
    }

    fn pair(&mut self) -> Result<(String, Json), String> {
        let name = self.text()?;
        self.expect(':')?;
        Ok((name, self.value()?))
    }

    fn items<T>(
        &mut self,
        [open, close]: [char; 2],
        item: impl Fn(&mut Self) -> Result<T, String>,
    ) -> Result<Vec<T>, String> {
        self.expect(open)?;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("it is nested too deeply".to_owned());
        }
        let mut items = Vec::new();
        while self.peek() != Some(close) {
            if !items.is_empty() {
                self.expect(',')?;
            }
            items.push(item(self)?);
        }
        self.depth -= 1;
        self.expect(close)?;
        Ok(items)
    }

    fn text(&mut self) -> Result<String, String> {
        self.expect('"')?;
        let mut text = String::new();
        loop {
            match self.rest.next().ok_or("it ends inside a text")? {
                '"' => return Ok(text),
                '\\' => text.push(self.escaped()?),
                character => text.push(character),
            }
        }
    }

    fn escaped(&mut self) -> Result<char, String> {
        Ok(match self.rest.next().ok_or("it ends inside a text")? {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let hex: String = self.rest.by_ref().take(4).collect();
                let code = u32::from_str_radix(&hex, 16).ok().and_then(char::from_u32);
                code.ok_or_else(|| format!("\\u{hex} is no character"))?
            }
            character @ ('"' | '\\' | '/') => character,
            other => return Err(format!("\\{other} is no escape")),
        })
    }

    /// A number, a truth value or null.
    fn word(&mut self) -> Result<Json, String> {
        let mut word = String::new();
        while let Some(character) =
            self.rest.next_if(|character| character.is_ascii_alphanumeric() || "+-.".contains(*character))
        {
            word.push(character);
        }
        match word.as_str() {
            "null" => Ok(Json::Null),
            "true" => Ok(Json::Bool(true)),
            "false" => Ok(Json::Bool(false)),
            number => number.parse().map(Json::Number).map_err(|_| format!("{number:?} is no value")),
        }
    }
}
