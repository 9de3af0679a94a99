//! What a session tells the game.

use crate::wire::message::MAX_USER;
use crate::{Autopsy, Buttons, Frame};
use core::fmt;
use core::time::Duration;

/// Something that the game, or the player, should know.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// Nothing has come from the other side for a while. The match is over at `disconnect_at` if that stays so.
    Interrupted {
        /// On the clock of the calls to the session.
        disconnect_at: Duration,
    },
    /// It has come back.
    Resumed,
    /// The machines disagree about the state of a frame. Told once.
    Desync(Desync),
    /// What the two machines found out about a desync. Told once.
    Autopsy(Box<Autopsy>),
    /// The other side sent another input for a frame that was confirmed; it was refused. Told once.
    InputConflict {
        /// The frame.
        frame: Frame,
        /// What is confirmed.
        confirmed: Buttons,
        /// What was refused.
        refused: Buttons,
    },
    /// A message of the game's own, from the other side.
    Message(Box<[u8]>),
    /// The other side's input delay is another now.
    PeerDelay {
        /// What it is.
        delay_frames: u8,
    },
    /// The match was played to its end. The last event.
    Ended(Verdict),
    /// The match is over before its end. The last event.
    Disconnected {
        /// Why.
        reason: Reason,
    },
}

/// Two checksums that should be the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Desync {
    /// The frame whose state differs.
    pub frame: Frame,
    /// The checksum on this machine.
    pub ours: u32,
    /// The checksum on the other.
    pub theirs: u32,
    /// The newest frame before it whose states were the same, if any was compared.
    pub last_match: Option<Frame>,
}

/// How a match ended that was played to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Both machines have the same last state.
    Agreed {
        /// The frame of that state.
        frame: Frame,
        /// Its checksum.
        checksum: u32,
    },
    /// The machines have different last states, or one of them is not finished where the other is.
    Differs {
        /// The frame of the last state here.
        frame: Frame,
        /// Its checksum.
        ours: u32,
        /// The checksum of the last state there.
        theirs: u32,
    },
    /// The other side was gone before it could say.
    Unconfirmed {
        /// The frame of the last state here.
        frame: Frame,
        /// Its checksum.
        checksum: u32,
    },
}

/// Why a match is over before its end, in terms that a player can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The other player left.
    Left,
    /// This player left.
    LeftHere,
    /// Nothing came from the other side for too long.
    TimedOut,
    /// Packets came, but the other side's game stood still for too long.
    NoProgress,
    /// The other player's program was started anew.
    Restarted,
    /// The machines disagreed about the state, and the config says to stop then.
    Desync,
    /// The other side broke the rules of the protocol.
    ProtocolViolation,
    /// The match has run for as many frames as can be numbered: over a year.
    FrameLimit,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Left => "the other player left",
            Self::LeftHere => "you left",
            Self::TimedOut => "the connection to the other player was lost",
            Self::NoProgress => "the other player's game stood still for too long",
            Self::Restarted => "the other player started anew",
            Self::Desync => "the two machines no longer agree about the match",
            Self::ProtocolViolation => "the other player's program broke the rules of the protocol",
            Self::FrameLimit => "the match has reached its last frame",
        })
    }
}

/// Why a message was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SendError {
    /// It does not fit a packet.
    TooLong {
        /// Its length.
        len: usize,
    },
    /// Too many are under way; the other side has to acknowledge some first.
    QueueFull,
    /// The match is over: nobody listens any more.
    Over,
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { len } => write!(f, "a message of {len} bytes is more than {MAX_USER}"),
            Self::QueueFull => f.write_str("too many messages are under way"),
            Self::Over => f.write_str("the match is over"),
        }
    }
}

impl core::error::Error for SendError {}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Agreed { frame, checksum } => write!(f, "agreed: frame {frame}, {checksum:08X}"),
            Self::Differs { frame, ours, theirs } => {
                write!(f, "differs: frame {frame}, {ours:08X} here and {theirs:08X} there")
            }
            Self::Unconfirmed { frame, checksum } => {
                write!(f, "unconfirmed: frame {frame}, {checksum:08X} here")
            }
        }
    }
}
