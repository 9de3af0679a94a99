//! The tools, built and found.

use std::path::PathBuf;

/// All tools that are run here. They are built together.
pub(crate) const TOOLS: &[&str] = &[
    "arena",
    "autopsy",
    "embedding",
    "inspect",
    "netlab",
    "playground",
    #[cfg(feature = "nat")]
    "rendezvous",
    "replay",
    "siege",
    "soak",
    "spectate",
    "stress",
];

/// A tool, built if it is not.
pub(crate) fn program(name: &str) -> PathBuf {
    support::program::example(name, TOOLS)
}

/// Whether nothing in what a tool printed moves a cursor or turns the words around it.
pub(crate) fn is_harmless(text: &str) -> bool {
    !text.chars().any(|c| c != '\n' && rebout::is_disruptive(c))
}
