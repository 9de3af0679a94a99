//! Why there is no connection, as texts for a player.

use super::text;
use crate::connect::seal::SealError;
use core::fmt;
use core::time::Duration;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// Why there is no connection. `Display` is a text that can be shown to a player as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConnectError {
    /// A text that was pasted is no invite, offer, answer or address that can be used.
    Text {
        /// The reason.
        why: String,
    },
    /// The name of a machine has no address.
    Name {
        /// The name.
        name: String,
        /// The reason.
        why: String,
    },
    /// The options contradict each other, or need a feature that this program was built without.
    Options {
        /// The reason.
        why: &'static str,
    },
    /// The socket could not be opened.
    Socket {
        /// The address to bind.
        addr: SocketAddr,
        /// The reason.
        why: String,
    },
    /// A file of keys cannot be used.
    KeyFile {
        /// The file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// The certificate authorities that are to be trusted cannot be used.
    Trust {
        /// The reason.
        why: String,
    },
    /// The operating system has no random bytes.
    Randomness,
    /// The joiner got no answer.
    NoAnswer {
        /// The addresses that were asked.
        at: Vec<SocketAddr>,
        /// How long.
        after: Duration,
        /// The likely cause.
        advice: &'static str,
    },
    /// One of the machines plays with certain players only, and the other has not proven such a key.
    OtherPlayer {
        /// The reason.
        why: String,
    },
    /// The rendezvous or the search for a path has failed.
    NoPath {
        /// The reason.
        why: String,
    },
}

impl ConnectError {
    /// The name of a machine has no address.
    pub(super) fn name(name: &str, error: &io::Error) -> Self {
        Self::Name { name: name.to_owned(), why: error.to_string() }
    }

    /// The rendezvous has not brought the host, and neither have its addresses.
    pub(super) fn neither(why: &str, at: &[SocketAddr]) -> Self {
        Self::NoPath { why: format!("{why} The host did not answer at {} either.", text::list(at)) }
    }

    /// A file of keys cannot be used.
    pub(crate) fn key_file(path: &Path, error: &io::Error) -> Self {
        Self::KeyFile { path: path.to_owned(), why: error.to_string() }
    }
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text { why } | Self::NoPath { why } | Self::OtherPlayer { why } => f.write_str(why),
            Self::Name { name, why } => {
                let name = crate::shown(name);
                write!(
                    f,
                    "\"{name}\" was not found. Is it spelled right, and is this machine online? ({why})"
                )
            }
            Self::Options { why } => f.write_str(why),
            Self::Trust { why } => write!(f, "cannot use TLS: {}", crate::shown(why)),
            Self::Socket { addr, why } => write!(f, "cannot use UDP at {addr}: {why}"),
            Self::KeyFile { path, why } => {
                write!(f, "{}: {why}", crate::shown(&path.display().to_string()))
            }
            Self::Randomness => f.write_str("the operating system has no random bytes"),
            Self::NoAnswer { at, after, advice } => {
                let at =
                    if at.is_empty() { "by the host".to_owned() } else { format!("at {}", text::list(at)) };
                write!(f, "No answer {at} within {} s. {advice}", after.as_secs())
            }
        }
    }
}

impl core::error::Error for ConnectError {}

impl From<SealError> for ConnectError {
    fn from(error: SealError) -> Self {
        match error {
            SealError::NoRandomness => Self::Randomness,
            error => Self::Text { why: error.to_string() },
        }
    }
}
