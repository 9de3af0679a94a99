//! The error of a game that could not save or restore its state.

use core::fmt;

/// Why a game could not save or restore its state, in the game's own words.
///
/// The match is then over on both machines. The text stays on this one ([`Event::StateFailed`](crate::Event::StateFailed)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateError(Box<str>);

impl StateError {
    /// An error with this text, such as "the core refused to serialize 320 KiB".
    #[cold]
    pub fn new(text: impl Into<Box<str>>) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for StateError {}
