//! Why a call failed: a status for the program, and a text for its developer or the player.

use super::codes::Status;
use std::fmt::Display;

/// The failure of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The answer of the function.
    pub status: Status,
    /// The text of `rebout_error`.
    pub text: String,
}

impl Fault {
    /// A failure with a text.
    pub fn new(status: Status, text: impl Display) -> Self {
        Self { status, text: text.to_string() }
    }

    /// An argument that is NULL.
    pub fn null(name: &str) -> Self {
        Self::new(Status::Null, format_args!("{name} is NULL"))
    }

    /// An argument that is not valid.
    pub fn invalid(text: impl Display) -> Self {
        Self::new(Status::Invalid, text)
    }

    /// A call that does not belong here, and where it does.
    pub fn phase(text: impl Display) -> Self {
        Self::new(Status::Phase, text)
    }

    /// Something that was tried and did not work.
    pub fn failed(text: impl Display) -> Self {
        Self::new(Status::Failed, text)
    }
}
