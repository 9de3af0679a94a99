//! The events that a session tells the game.

use crate::wire::message::MAX_USER;
use crate::{Autopsy, Frame, Input, Player, StateError};
use core::fmt;
use core::time::Duration;

/// An event of a match that the game or the player should know of.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// No new frame has come from the peer for a while: nothing is heard of it, or it cannot hear this machine. Both machines
    /// wait for each other, and the match goes on at the same frame. It is over at `disconnect_at` if no frame comes. Show the
    /// player who is awaited, for how long, and how to [leave](crate::Session::leave).
    Interrupted {
        /// The time of the disconnect, on the clock of the calls to the session.
        disconnect_at: Duration,
    },
    /// Frames come from the peer again.
    Resumed,
    /// The machines disagree about the state of a frame. Told once; under [`OnDesync::Stop`](crate::OnDesync::Stop) again
    /// after one that was void.
    Desync(Desync),
    /// The report of the two machines about a desync. Told once for each desync.
    Autopsy(Box<Autopsy>),
    /// The live state of a machine had gone wrong, and both machines have stepped the confirmed inputs again, without cues
    /// ([`OnDesync::Mend`](crate::OnDesync::Mend)). Told at most once in a match; the next desync ends it.
    Mended {
        /// The last frame whose states were the same: the frame that was restored.
        from: Frame,
        /// The frame up to which this machine stepped again. Its states after it are right.
        to: Frame,
    },
    /// The program of `player` was started anew and has come back into the match, which goes on at `frame` after a countdown.
    Rejoined {
        /// The player whose program was gone.
        player: Player,
        /// The frame that is stepped next on both machines.
        frame: Frame,
    },
    /// The peer sent a different input for a confirmed frame, which was refused. Told once.
    InputConflict {
        /// The frame.
        frame: Frame,
        /// The confirmed input.
        confirmed: Input,
        /// The refused input.
        refused: Input,
    },
    /// A message of the game's own, from the peer.
    Message(Box<[u8]>),
    /// The peer has changed its input delay.
    PeerDelay {
        /// The new delay.
        delay_frames: u8,
    },
    /// The session has changed the input delay of this machine, because the link has changed:
    /// [`added_delay_frames`](crate::RollbackConfig::added_delay_frames).
    DelayChanged {
        /// The new delay.
        delay_frames: u8,
    },
    /// The frames of the other machine come slower than agreed, from a slow machine or over a slow connection, and this one
    /// follows them.
    PeerSlow {
        /// The rate of the match now, in thousandths of the agreed one.
        rate_permille: u16,
    },
    /// The match runs at the agreed rate again.
    PeerRecovered,
    /// The peer's inputs have come later for some seconds than its control packets explain. It may hold them back to see
    /// ours first. Told again only after they were in time.
    InputsLate {
        /// [`Stats::input_excess`](crate::Stats::input_excess).
        excess: Duration,
    },
    /// The game could not save or restore a state on this machine, in its own words. The match is over for both.
    StateFailed(StateError),
    /// The match is paused: both machines stand at one frame. [`Session::paused`](crate::Session::paused) has the limit.
    Paused {
        /// The player who paused.
        by: Player,
    },
    /// A player has ended the pause, and a countdown runs on both machines.
    Resuming {
        /// Its end, on the clock of the calls to the session.
        at: Duration,
    },
    /// The pause is over.
    PauseEnded,
    /// The other machine did not agree to the pause that this one asked for: there were enough.
    PauseRefused,
    /// The game of this machine reads two clocks: the times that it gives to [`advance`](crate::Session::advance) differ
    /// from those that it gives to the calls of [`Protocol`](crate::Protocol). The match cannot keep its rate until that is
    /// mended in the program. Told once; `docs/EMBEDDING.md`, section 13, has the cause.
    ClockMistake {
        /// The difference.
        offset: Duration,
        /// Whether the times of `advance` are the later ones.
        is_ahead: bool,
    },
    /// A rollback over the whole window takes longer than a frame on this machine: the frame after it comes late, and so do
    /// its inputs. Told once, after some rollbacks, if there is a [stopwatch](crate::RollbackConfig::stopwatch).
    SlowRollback {
        /// How long such a rollback takes, as [`Stats::costs`](crate::Stats::costs) has its parts.
        takes: Duration,
        /// The greatest window with which a rollback fits into a frame, for the next match.
        window_frames: u8,
        /// The input delay with which that window is enough on this link. [`set_delay`](crate::Session::set_delay) makes
        /// rollbacks shorter at once.
        delay_frames: u8,
    },
    /// The match was played to its end. No event follows.
    Ended(Verdict),
    /// The match is over before its end. No event follows.
    Disconnected {
        /// The reason.
        reason: Reason,
    },
}

/// A desync: two checksums of the same frame that differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Desync {
    /// The frame whose state differs.
    pub frame: Frame,
    /// The checksum on this machine.
    pub ours: u32,
    /// The checksum on the peer.
    pub theirs: u32,
    /// The newest earlier frame whose checksums were equal, if any were compared.
    pub last_match: Option<Frame>,
}

/// The outcome of a match that was played to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// Both machines have the same last state.
    Agreed {
        /// The frame of the last state.
        frame: Frame,
        /// The checksum of the last state.
        checksum: u32,
    },
    /// The machines have different last states, or one of them is not finished where the other is.
    Differs {
        /// The frame of the last state on this machine.
        frame: Frame,
        /// The checksum of the last state on this machine.
        ours: u32,
        /// The checksum of the last state on the peer.
        theirs: u32,
    },
    /// The peer was gone before its verdict arrived.
    Unconfirmed {
        /// The frame of the last state on this machine.
        frame: Frame,
        /// The checksum of the last state on this machine.
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
    /// No packet came from the peer for too long.
    TimedOut,
    /// Packets came from the peer, but no new frame for too long.
    NoProgress,
    /// New frames came, but far too slowly for too long.
    TooSlow,
    /// The other side heard nothing new of this machine for too long, and gave up on it. Nobody left.
    GaveUp,
    /// The other player's program was restarted.
    Restarted,
    /// The machines desynced, and the config of one of them says to stop then. Both are told so.
    Desync,
    /// Two checksums of one player's machine were void: neither machine's resimulation gives them. That machine is
    /// faulty, or it lies. It is this one if the player is the [local](crate::Session::local) one.
    VoidChecksums {
        /// The player at that machine.
        of: Player,
    },
    /// The checksums differed, and the peer did not send its notes for the autopsy within ten seconds.
    NotesWithheld,
    /// The peer's inputs were older than [`Timeouts::max_input_age`](crate::Timeouts::max_input_age) for some seconds.
    InputsHeldBack,
    /// The other machine's game could not save or restore a state. That is its claim, which cannot be checked: a game that
    /// counts forfeits should count it as one.
    StateFailed,
    /// This machine's game could not save or restore a state: [`Event::StateFailed`] has its own words.
    StateFailedHere,
    /// A player paused for longer than the other one allowed, and that one left, which is no forfeit. [`Session::paused`](crate::Session::paused) still says
    /// who paused.
    PausedTooLong,
    /// The game of this machine reads two clocks, and the match stood still or ran too slowly: see
    /// [`Event::ClockMistake`].
    ClockMistake,
    /// The peer broke the rules of the protocol.
    ProtocolViolation,
    /// The match has reached the last frame number, after more than a year.
    FrameLimit,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Left => "the other player left",
            Self::LeftHere => "you left",
            Self::TimedOut => "the connection to the other player was lost",
            Self::NoProgress => "the other player's game stood still for too long",
            Self::TooSlow => {
                "the other player's frames came too slowly: a slow machine, or a slow connection"
            }
            Self::GaveUp => "the other player's machine heard nothing of yours and gave up",
            Self::Restarted => "the other player started anew",
            Self::Desync => "the two machines no longer agree about the match",
            Self::VoidChecksums { of: Player::One } => {
                "player one's machine claimed states that the inputs do not give"
            }
            Self::VoidChecksums { of: Player::Two } => {
                "player two's machine claimed states that the inputs do not give"
            }
            Self::NotesWithheld => "the other player's machine did not help to find out why the two differ",
            Self::InputsHeldBack => "the other player's inputs came too late for too long",
            Self::StateFailed => "the other player's game could not save or restore its state",
            Self::StateFailedHere => "this machine's game could not save or restore its state",
            Self::PausedTooLong => "the match was paused for too long",
            Self::ClockMistake => "the game at this machine reads two different clocks",
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
