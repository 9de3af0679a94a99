//! A field for a line of text.

use crate::characters;

/// A line of text that is typed, erased and pasted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Field {
    text: String,
    max: usize,
    keeps_spaces: bool,
}

impl Field {
    /// A field of at most `max` characters.
    pub fn new(text: &str, max: usize) -> Self {
        let mut field = Self { text: String::new(), max, keeps_spaces: true };
        field.paste(text);
        field
    }

    /// The same field for one word: without the spaces that a copied address or invite has at its ends and where it was
    /// torn apart, and without the blocks of a picture beside it.
    #[must_use]
    pub fn without_spaces(mut self) -> Self {
        self.keeps_spaces = false;
        self.text.retain(characters::is_of_a_word);
        self
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// The end of the text that fits into `room` cells.
    pub fn tail(&self, room: usize) -> &str {
        characters::tail(&self.text, room)
    }

    pub(super) fn push(&mut self, character: char) -> bool {
        let character = if character.is_whitespace() { ' ' } else { character };
        let fits = self.text.chars().count() < self.max && !character.is_control();
        let is_taken = fits && (self.keeps_spaces || characters::is_of_a_word(character));
        if is_taken {
            self.text.push(character);
        }
        is_taken
    }

    pub(super) fn paste(&mut self, text: &str) -> bool {
        let mut is_changed = false;
        for character in text.trim().chars() {
            is_changed |= self.push(character);
        }
        is_changed
    }

    pub(super) fn erase(&mut self) -> bool {
        self.text.pop().is_some()
    }
}
