//! A field for a line of text.

use crate::characters;

/// An edit of a field besides typing and pasting, as line editors have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Ctrl-A: the next character, paste or erasure replaces all of the text.
    SelectAll,
    /// Home
    Start,
    /// End, Ctrl-E
    End,
    /// Backspace
    Erase,
    /// Delete
    Delete,
    /// Ctrl-W: erases back to the start of the word.
    EraseWord,
    /// Ctrl-U: erases back to the start of the line.
    EraseToStart,
    /// Ctrl-K: deletes up to the end of the line.
    DeleteToEnd,
}

/// A line of text that is typed, edited and pasted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Field {
    text: String,
    /// Byte index of the character behind the cursor.
    cursor: usize,
    is_selected: bool,
    max: usize,
    keeps_spaces: bool,
}

/// The part of a field that fits on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldView<'a> {
    pub text: &'a str,
    /// Cells before the cursor.
    pub cursor: usize,
    /// All of the text is selected.
    pub is_selected: bool,
}

impl Field {
    /// A field of at most `max` characters.
    pub fn new(text: &str, max: usize) -> Self {
        let mut field = Self { max, keeps_spaces: true, ..Self::default() };
        field.insert(text);
        field
    }

    /// The same field for one word: without the spaces that a copied address or invite has at its ends and where it was
    /// torn apart, and without the blocks of a picture beside it.
    #[must_use]
    pub fn without_spaces(mut self) -> Self {
        self.keeps_spaces = false;
        self.text.retain(characters::is_of_a_word);
        self.cursor = self.text.len();
        self
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// The part of the text around the cursor that fits into `room` cells.
    pub fn view(&self, room: usize) -> FieldView<'_> {
        let (before, after) = self.text.split_at(self.cursor);
        let before = characters::tail(before, room);
        let start = self.cursor - before.len();
        let cursor = characters::width(before);
        let shown = before.len() + characters::head(after, room - cursor).len();
        FieldView { text: &self.text[start..start + shown], cursor, is_selected: self.is_selected }
    }

    pub(super) fn push(&mut self, character: char) -> bool {
        let character = if character.is_whitespace() { ' ' } else { character };
        let is_taken = !character.is_control() && (self.keeps_spaces || characters::is_of_a_word(character));
        if is_taken {
            self.erase_selected();
        }
        let is_taken = is_taken && self.text.chars().count() < self.max;
        if is_taken {
            self.text.insert(self.cursor, character);
            self.cursor += character.len_utf8();
        }
        is_taken
    }

    /// Inserts a text, or replaces the field by it where the field holds one word: half of an invite before another
    /// one is never wanted.
    pub(super) fn paste(&mut self, text: &str) -> bool {
        let before = self.text.clone();
        self.is_selected |= !self.keeps_spaces && !text.trim().is_empty();
        self.insert(text.trim());
        self.text != before
    }

    /// Moves the cursor by one character; a selection ends at the end it moves to.
    pub(super) fn step(&mut self, is_right: bool) -> bool {
        if std::mem::take(&mut self.is_selected) {
            self.cursor = if is_right { self.text.len() } else { 0 };
        } else {
            self.cursor = if is_right { self.next() } else { self.previous() };
        }
        false
    }

    /// Carries out an edit; `true` if the text has changed.
    pub(super) fn edit(&mut self, edit: Edit) -> bool {
        let start = match edit {
            Edit::SelectAll => {
                self.is_selected = !self.text.is_empty();
                self.cursor = self.text.len();
                return false;
            }
            Edit::Start | Edit::End => {
                self.is_selected = false;
                self.cursor = if edit == Edit::Start { 0 } else { self.text.len() };
                return false;
            }
            _ if self.is_selected => return self.erase_selected(),
            Edit::Erase => self.previous(),
            Edit::EraseWord => self.word_start(),
            Edit::EraseToStart => 0,
            Edit::Delete => {
                let end = self.next();
                return self.remove(self.cursor, end);
            }
            Edit::DeleteToEnd => return self.remove(self.cursor, self.text.len()),
        };
        self.remove(start, self.cursor)
    }

    fn insert(&mut self, text: &str) {
        for character in text.chars() {
            self.push(character);
        }
    }

    fn erase_selected(&mut self) -> bool {
        std::mem::take(&mut self.is_selected) && self.remove(0, self.text.len())
    }

    fn remove(&mut self, start: usize, end: usize) -> bool {
        self.text.replace_range(start..end, "");
        self.cursor = start;
        start < end
    }

    /// The start of the character before the cursor, with the marks on it.
    fn previous(&self) -> usize {
        let mut before = self.text[..self.cursor].char_indices().rev();
        before.find(|(_, character)| characters::cells(*character) > 0).map_or(0, |(at, _)| at)
    }

    /// The end of the character behind the cursor, with the marks on it.
    fn next(&self) -> usize {
        let after = &self.text[self.cursor..];
        let mut starts = after.char_indices().skip(1);
        let end = starts.find(|(_, character)| characters::cells(*character) > 0);
        self.cursor + end.map_or(after.len(), |(at, _)| at)
    }

    fn word_start(&self) -> usize {
        let before = self.text[..self.cursor].trim_end();
        before.rfind(' ').map_or(0, |space| space + 1)
    }
}
