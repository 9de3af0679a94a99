//! The errors of reading and making an invite.

use std::fmt;
use std::net::SocketAddr;

use super::MAX_ADDRESSES_PER_FAMILY;
use crate::shown;

/// The reason why a text is no invite that can be used, in words for the player who pasted it.
///
/// Characters are counted from 1 after `rebout:2:`, without spaces and line breaks. No message repeats a character of the
/// key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InviteError {
    /// The text does not begin like an invite.
    NotAnInvite,
    /// The invite was made by a version that this one cannot read.
    Version {
        /// The version in the text.
        version: u16,
    },
    /// A character that is not allowed in an invite.
    Character {
        /// The character.
        character: char,
        /// Its place.
        at: usize,
    },
    /// The end is missing.
    TooShort {
        /// The number of characters found.
        characters: usize,
        /// The least number of characters that an invite with this beginning has.
        needed: usize,
    },
    /// More characters than any invite has.
    TooLong {
        /// The most characters that an invite has.
        max: usize,
    },
    /// The checksum is wrong.
    Checksum {
        /// The single mistake that explains it.
        mistake: Mistake,
    },
    /// The checksum is right, but the content does not follow the format.
    Malformed {
        /// The rule that it breaks.
        rule: &'static str,
    },
    /// An address that cannot be joined.
    Address {
        /// The address.
        addr: SocketAddr,
        /// Why not.
        obstacle: &'static str,
    },
    /// More addresses of one family than an invite holds.
    TooManyAddresses,
    /// Neither an address nor a rendezvous, or only parts of a later version.
    NoWay {
        /// The first part that this version does not know.
        unknown: Option<u8>,
    },
    /// A part of a later version that must not be ignored.
    Critical {
        /// Its kind.
        kind: u8,
    },
}

/// The mistake that explains a wrong checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// More than one character is wrong, or one is missing.
    Unknown,
    /// This character is wrong.
    Character(usize),
    /// This character and the next are swapped.
    Swapped(usize),
}

impl fmt::Display for InviteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.about("invite", "rebout:2:", f)
    }
}

impl InviteError {
    /// Writes the error about a text that is called `noun` and begins with `scheme`.
    pub(crate) fn about(&self, noun: &str, scheme: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAnInvite => write!(f, "not an {noun}: it begins with {scheme} and characters follow"),
            Self::Version { version } => {
                write!(
                    f,
                    "an {noun} of version {version}; this program reads version 2: one of the two is out of date"
                )
            }
            Self::Character { character, at } => {
                let character = shown(character.encode_utf8(&mut [0; 4])).to_string();
                write!(f, "character {at} of the {noun} is '{character}', which is not allowed")
            }
            Self::TooShort { characters, needed } => {
                write!(f, "the {noun} is cut off: it has {characters} of at least {needed} characters")
            }
            Self::TooLong { max } => write!(f, "the {noun} is too long: none has more than {max} characters"),
            Self::Checksum { mistake: Mistake::Unknown } => {
                write!(f, "the {noun} has a typing error: its checksum is wrong")
            }
            Self::Checksum { mistake: Mistake::Character(at) } => {
                write!(f, "the {noun} has a typing error: character {at} seems to be wrong")
            }
            Self::Checksum { mistake: Mistake::Swapped(at) } => {
                write!(f, "the {noun} has a typing error: characters {at} and {} seem to be swapped", at + 1)
            }
            Self::Malformed { rule } => write!(f, "the {noun} is malformed: {rule}"),
            Self::Address { addr, obstacle } => write!(f, "{addr} cannot be joined: {obstacle}"),
            Self::TooManyAddresses => {
                write!(
                    f,
                    "an {noun} holds at most {MAX_ADDRESSES_PER_FAMILY} addresses of IPv4 and as many of IPv6"
                )
            }
            Self::NoWay { unknown: Some(kind) } => {
                write!(
                    f,
                    "the {noun} needs a newer version: its only way to the host is part {kind}, unknown here"
                )
            }
            Self::Critical { kind } => {
                write!(
                    f,
                    "the {noun} needs a newer version: its part {kind} is unknown here and must not be ignored"
                )
            }
            Self::NoWay { unknown: None } => write!(f, "the {noun} has no address to join"),
        }
    }
}

impl std::error::Error for InviteError {}
