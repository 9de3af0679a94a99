//! REFUSE: the host's refusal of a joiner, and the field that differs.

use super::bytes::{Reader, Writer};
use super::message::{DecodeError, Kind};
use crate::FrameRate;
use core::fmt;

/// Length of every REFUSE.
pub(super) const REFUSE_LEN: usize = 26;

/// The host's refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refuse {
    /// The joiner's nonce.
    pub nonce: u64,
    /// The reason.
    pub field: RefuseField,
    /// The host's value of the field that differs; 0 if the reason is another one.
    pub ours: u64,
    /// The joiner's value of the field that differs; 0 if the reason is another one.
    pub theirs: u64,
}

/// The reason why a host refuses a joiner: the field that differs, or its own choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum RefuseField {
    /// Another version of the protocol.
    Version = 1,
    /// Another game.
    GameId = 2,
    /// Another build, or other characters, stage or rules.
    ContentHash = 3,
    /// Another frame rate.
    FrameRate = 4,
    /// The host is already in a match.
    Full = 5,
    /// The host's player declined.
    Declined = 6,
    /// Another number of axes.
    Axes = 7,
    /// Another number of pads.
    Pads = 8,
    /// The host's first state is longer than the joiner accepts.
    FirstState = 9,
}

impl RefuseField {
    /// All of them, in the order of their bytes.
    pub const ALL: [Self; 9] = [
        Self::Version,
        Self::GameId,
        Self::ContentHash,
        Self::FrameRate,
        Self::Full,
        Self::Declined,
        Self::Axes,
        Self::Pads,
        Self::FirstState,
    ];

    /// A value of this field in a REFUSE, for people.
    pub(crate) fn shown(self, value: u64) -> String {
        match self {
            Self::GameId | Self::ContentHash => format!("{value:#018x}"),
            Self::FrameRate => FrameRate::from_bits(value).to_string(),
            _ => value.to_string(),
        }
    }
}

impl fmt::Display for RefuseField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Version => "version",
            Self::GameId => "game id",
            Self::ContentHash => "content hash",
            Self::FrameRate => "frame rate",
            Self::Full => "full",
            Self::Declined => "declined",
            Self::Axes => "number of axes",
            Self::Pads => "number of pads",
            Self::FirstState => "length of the first state",
        })
    }
}

pub(super) fn read(payload: &[u8]) -> Result<Refuse, DecodeError> {
    let read = |mut reader: Reader<'_>| {
        reader.u8()?;
        let fields = (reader.u64()?, reader.u8()?, reader.u64()?, reader.u64()?);
        reader.end()?;
        Some(fields)
    };
    let (nonce, field, ours, theirs) =
        read(Reader(payload)).ok_or(DecodeError::Length { kind: Kind::Refuse, len: payload.len() })?;
    match RefuseField::ALL.into_iter().find(|known| *known as u8 == field) {
        Some(field) => Ok(Refuse { nonce, field, ours, theirs }),
        None => Err(DecodeError::RefuseField { field }),
    }
}

pub(super) fn put(writer: &mut Writer<'_>, refuse: &Refuse) {
    writer.u64(refuse.nonce);
    writer.u8(refuse.field as u8);
    writer.u64(refuse.ours);
    writer.u64(refuse.theirs);
}
