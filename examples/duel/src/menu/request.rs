//! What the menus ask of the program, and what came of it.

use std::path::PathBuf;

use stage::menu::Note;

/// Something that the program is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// A match against the bot.
    Fight,
    /// A match of two at this keyboard.
    Local,
    /// Waits for a guest.
    Host,
    /// Joins the host of an invite or an address.
    Join(String),
    /// Goes back into the match of a file that was kept.
    Rejoin(PathBuf),
    Train,
    /// Plays a recorded match.
    Watch(PathBuf),
    NameReplay(PathBuf, String),
    DeleteReplay(PathBuf),
    Quit,
}

/// How a match went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub title: String,
    pub lines: Vec<Note>,
    /// The words for doing the same again, and the request.
    pub again: Option<(String, Request)>,
}
