//! The events that a session reports to the game.

use crate::wire::message::MAX_USER;
use crate::{Autopsy, Frame, Input, Player, StateError};
use core::fmt;
use core::time::Duration;

/// An event of a match, for the game or the player.
///
/// ```
/// use rebout::{Event, shown};
///
/// /// A line for the player, if there is one.
/// fn line(event: &Event) -> Option<String> {
///     Some(match event {
///         Event::Interrupted { .. } => "Waiting for the other player ...".to_owned(),
///         Event::Resumed => "The other player is back.".to_owned(),
///         Event::Message(bytes) => shown(&String::from_utf8_lossy(bytes)).into_owned(),
///         Event::Autopsy(report) => report.to_string(),           // also for a log
///         _ => return None,
///     })
/// }
///
/// assert_eq!(line(&Event::Message(b"hello".as_slice().into())).as_deref(), Some("hello"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// No new frame has arrived from the peer for a while. Both machines wait, and the match continues at the same frame. It ends at
    /// `disconnect_at` if no frame arrives. Show the player a countdown, and a way to [leave](crate::Session::leave).
    Interrupted {
        /// The time of the disconnect, on the clock of the calls to the session.
        disconnect_at: Duration,
    },
    /// Frames arrive from the peer again.
    Resumed,
    /// The machines disagree about the state of a frame. Reported once; with [`OnDesync::Stop`](crate::OnDesync::Stop) again
    /// after a void checksum.
    Desync(Desync),
    /// The report of the two machines about a desync, once for each desync.
    Autopsy(Box<Autopsy>),
    /// A machine's live state was damaged, and both machines have resimulated the confirmed inputs, without cues
    /// ([`OnDesync::Mend`](crate::OnDesync::Mend)). Reported at most once a match; the next desync ends it.
    Mended {
        /// The last frame whose states were the same: the frame that was restored.
        from: Frame,
        /// The frame up to which this machine resimulated. Its states are right from there on.
        to: Frame,
    },
    /// The program of `player` was restarted and is back in the match, which continues at `frame` after a countdown.
    Rejoined {
        /// The player whose program was gone.
        player: Player,
        /// The frame that is stepped next on both machines.
        frame: Frame,
    },
    /// The peer sent a second, different input for a confirmed frame. It was refused; the first one counts. Reported once.
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
    /// The peer's frames arrive slower than agreed, from a slow machine or over a slow connection, and this machine slows down with
    /// them.
    PeerSlow {
        /// The rate of the match now, in thousandths of the agreed one.
        rate_permille: u16,
    },
    /// The match runs at the agreed rate again.
    PeerRecovered,
    /// For some seconds the peer's inputs have arrived later than its control packets explain. It may hold them back to see ours
    /// first. Reported again only after they were in time.
    InputsLate {
        /// [`Stats::input_excess`](crate::Stats::input_excess).
        excess: Duration,
    },
    /// The game could not save or restore a state on this machine, in its own words. The match is over for both.
    StateFailed(StateError),
    /// The match is paused: both machines have stopped at one frame. [`Session::paused`](crate::Session::paused) has the limit.
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
    /// The other machine refused a pause, because this player has used up its pauses.
    PauseRefused,
    /// The game of this machine reads two clocks: the times that it gives to [`advance`](crate::Session::advance) differ
    /// from those that it gives to the calls of [`Protocol`](crate::Protocol). The match cannot keep its rate with such a program.
    /// Reported once; `docs/ENGINES.md`, section 5, has the cause.
    ClockMistake {
        /// The difference.
        offset: Duration,
        /// Whether the times of `advance` are the later ones.
        is_ahead: bool,
    },
    /// A rollback over the whole window takes longer than a frame on this machine: the frame after it comes late, and so do
    /// its inputs. Reported once, after some rollbacks, if there is a [stopwatch](crate::RollbackConfig::stopwatch).
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
    /// The match has ended early. No event follows.
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
        /// Whether this machine came back into the match without its recording, and resumed from the other machine's log, which nothing
        /// here confirms.
        from_their_log: bool,
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

/// Why a match has ended early. `Display` is a text for the player.
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
    /// The other machine received nothing new from this one for too long and gave up. Neither player left.
    GaveUp,
    /// The other player's program was restarted.
    Restarted,
    /// The machines desynced, and the config of one of them ends the match at a desync. Both report it.
    Desync,
    /// Two checksums of one player's machine were void: neither machine's resimulation yields them. That machine is
    /// faulty or cheats. It is this one if the player is the [local](crate::Session::local) one.
    VoidChecksums {
        /// The player at that machine.
        of: Player,
    },
    /// The checksums differed, and the peer did not send its notes for the autopsy within ten seconds.
    NotesWithheld,
    /// The peer's inputs were older than [`Timeouts::max_input_age`](crate::Timeouts::max_input_age) for some seconds.
    InputsHeldBack,
    /// The other machine's game could not save or restore a state. This cannot be verified: a game that counts forfeits
    /// should count it as one.
    StateFailed,
    /// This machine's game could not save or restore a state: [`Event::StateFailed`] has its error message.
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
            Self::NoProgress => "the other player's game stopped for too long",
            Self::TooSlow => {
                "the other player's frames came too slowly: a slow machine, or a slow connection"
            }
            Self::GaveUp => "the other player's machine received nothing from yours and gave up",
            Self::Restarted => "the other player restarted the game",
            Self::Desync => "the two machines disagree about the match (desync)",
            Self::VoidChecksums { of: Player::One } => {
                "player one's machine sent checksums that do not follow from the inputs"
            }
            Self::VoidChecksums { of: Player::Two } => {
                "player two's machine sent checksums that do not follow from the inputs"
            }
            Self::NotesWithheld => "the other player's machine did not answer when asked about a desync",
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

/// Why a message was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SendError {
    /// It does not fit a packet.
    TooLong {
        /// Its length.
        len: usize,
    },
    /// Too many are in flight; the other side has to acknowledge some first.
    QueueFull,
    /// The match is over.
    Over,
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { len } => write!(f, "a message of {len} bytes is more than {MAX_USER}"),
            Self::QueueFull => f.write_str("too many messages are in flight"),
            Self::Over => f.write_str("the match is over"),
        }
    }
}

impl core::error::Error for SendError {}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Agreed { frame, checksum, from_their_log } => {
                let how = if *from_their_log { ", resumed from the other machine's log" } else { "" };
                write!(f, "agreed: frame {frame}, {checksum:08X}{how}")
            }
            Self::Differs { frame, ours, theirs } => {
                write!(f, "differs: frame {frame}, {ours:08X} here and {theirs:08X} there")
            }
            Self::Unconfirmed { frame, checksum } => {
                write!(f, "unconfirmed: frame {frame}, {checksum:08X} here")
            }
        }
    }
}
