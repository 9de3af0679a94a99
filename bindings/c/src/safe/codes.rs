//! The numbers of the interface. New ones are added at the end, and none is used again.

use rebout::replay::Viewing;
use rebout::{Advanced, CueChange, Reason, Watching};

/// The answer of a function.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Done.
    Ok = 0,
    /// An argument is NULL that must not be. Nothing was changed.
    Null = 1,
    /// An argument is not valid; `rebout_error` says why. Nothing was changed.
    Invalid = 2,
    /// The call does not belong here: there is no match, or it has begun already. Nothing was changed.
    Phase = 3,
    /// It was tried and did not work; `rebout_error` says why, in a text that can be shown to a player.
    Failed = 4,
    /// The transport is broken. The match is over.
    Transport = 5,
    /// Another call on this handle has not returned: a second thread, a call from a callback, or a callback that was left by `longjmp`.
    Busy = 6,
    /// A callback or the library panicked. Only `rebout_error` and `rebout_free` still work on the handle.
    Panicked = 7,
    /// The library was built without this part.
    Unsupported = 8,
    /// A buffer of the caller is too small; the needed size was told.
    TooSmall = 9,
    /// Too many messages are under way, or too many datagrams wait: try again later.
    Full = 10,
}

/// The next thing to do.
#[repr(u32)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NowCode {
    /// There is nothing to do: draw.
    #[default]
    Idle = 0,
    /// The other machine is not there yet: show `text`.
    Connecting = 1,
    /// A guest asks to play, and the options say to ask: `text` is its name. Call `rebout_answer`.
    Guest = 2,
    /// Both have agreed. Build the game from `seed`, and from `bytes` if there are any, and call `rebout_start`.
    Begin = 3,
    /// A frame is due: read the input, and call `rebout_advance`.
    Frame = 4,
    /// Something happened in the match: `event`.
    Event = 5,
    /// `text` is for the player or a log.
    Notice = 6,
    /// The match is over, or there will be none: `finish`. `text` is for the player.
    Finished = 7,
}

/// An event of a match.
#[repr(u32)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EventCode {
    /// No event.
    #[default]
    None = 0,
    /// No new frame has come for a while. The match is over at `time_nanos` if none comes.
    Interrupted = 1,
    /// Frames come again.
    Resumed = 2,
    /// The states of `frame` differ: checksums `ours` and `theirs`.
    Desync = 3,
    /// `text` is the report about a desync: which region differs, since which frame, and why.
    Autopsy = 4,
    /// The peer sent another input for the confirmed `frame`; it was refused.
    InputConflict = 5,
    /// `bytes` are a message of the other game. They may be anything.
    Message = 6,
    /// The peer has changed its input delay to `delay_frames`.
    PeerDelay = 7,
    /// The session has changed the input delay of this machine to `delay_frames`.
    DelayChanged = 8,
    /// The frames of the peer come at `rate_permille` of the agreed rate.
    PeerSlow = 9,
    /// The match runs at the agreed rate again.
    PeerRecovered = 10,
    /// The peer's inputs come `time_nanos` later than its other packets explain.
    InputsLate = 11,
    /// A state could not be saved or restored here; `text` says why. The match is over for both.
    StateFailed = 12,
    /// The match is paused by the player in `seat`.
    Paused = 13,
    /// The match goes on at `time_nanos`.
    Resuming = 14,
    /// The pause is over.
    PauseEnded = 15,
    /// The other machine did not agree to the pause.
    PauseRefused = 16,
    /// The times of `rebout_set_time` do not fit together; they differ by `time_nanos`.
    ClockMistake = 17,
    /// A rollback over the whole window takes `time_nanos`, longer than a frame. `window_frames` fit into one, and `delay_frames` are
    /// enough with that window.
    SlowRollback = 18,
    /// An event that has no number yet. `text` describes it.
    Other = 19,
    /// The live state of a machine had gone wrong, and both have stepped the confirmed inputs again: `frame` is the restored one, and states
    /// are right from `to_frame` on.
    Mended = 20,
}

/// How a match ended.
#[repr(u32)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FinishCode {
    /// It has not.
    #[default]
    None = 0,
    /// It was played to its end: see `verdict`.
    Played = 1,
    /// It was over before its end, or was left: see `reason`.
    Ended = 2,
    /// The host refused, or the two machines do not fit.
    Refused = 3,
    /// The other machine was not reached.
    Unreached = 4,
    /// This machine came back, but the match cannot go on.
    NotResumed = 5,
}

/// The verdict about a match that was played to its end.
#[repr(u32)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VerdictCode {
    /// No verdict.
    #[default]
    None = 0,
    /// Both machines have the last state of `frame` with the checksum `ours`: the result counts.
    Agreed = 1,
    /// The machines have different last states: `ours` and `theirs`.
    Differs = 2,
    /// The peer was gone before its verdict came.
    Unconfirmed = 3,
    /// The match was played at one machine.
    Local = 4,
}

/// Why a match was over before its end.
#[repr(u32)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReasonCode {
    /// No reason.
    #[default]
    None = 0,
    /// The other player left.
    Left = 1,
    /// This player left.
    LeftHere = 2,
    /// No packet came for too long.
    TimedOut = 3,
    /// Packets came, but no new frame.
    NoProgress = 4,
    /// New frames came far too slowly.
    TooSlow = 5,
    /// The other side heard nothing new of this machine, and gave up.
    GaveUp = 6,
    /// The other player's program was restarted.
    Restarted = 7,
    /// The machines desynced, and the options of one say to stop then.
    Desync = 8,
    /// Two checksums of the machine of `seat` were void.
    VoidChecksums = 9,
    /// The peer did not send its notes about a desync.
    NotesWithheld = 10,
    /// The peer's inputs were too old for too long.
    InputsHeldBack = 11,
    /// The other machine's game could not save or restore a state.
    StateFailed = 12,
    /// This machine's game could not save or restore a state.
    StateFailedHere = 13,
    /// A pause was longer than the other player allowed.
    PausedTooLong = 14,
    /// The times of `rebout_set_time` do not fit together.
    ClockMistake = 15,
    /// The peer broke the rules of the protocol.
    ProtocolViolation = 16,
    /// The match has reached the last frame number.
    FrameLimit = 17,
    /// A reason of a newer library; the text describes it.
    Other = 18,
}

impl From<Reason> for ReasonCode {
    fn from(reason: Reason) -> Self {
        match reason {
            Reason::Left => Self::Left,
            Reason::LeftHere => Self::LeftHere,
            Reason::TimedOut => Self::TimedOut,
            Reason::NoProgress => Self::NoProgress,
            Reason::TooSlow => Self::TooSlow,
            Reason::GaveUp => Self::GaveUp,
            Reason::Restarted => Self::Restarted,
            Reason::Desync => Self::Desync,
            Reason::VoidChecksums { .. } => Self::VoidChecksums,
            Reason::NotesWithheld => Self::NotesWithheld,
            Reason::InputsHeldBack => Self::InputsHeldBack,
            Reason::StateFailed => Self::StateFailed,
            Reason::StateFailedHere => Self::StateFailedHere,
            Reason::PausedTooLong => Self::PausedTooLong,
            Reason::ClockMistake => Self::ClockMistake,
            Reason::ProtocolViolation => Self::ProtocolViolation,
            Reason::FrameLimit => Self::FrameLimit,
            _ => Self::Other,
        }
    }
}

/// The outcome of `rebout_advance`.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdvancedCode {
    /// It stepped a frame.
    Stepped = 0,
    /// The frame waits for the other side. Presses are kept, and the state may have been corrected: draw it.
    Stalled = 1,
    /// The match is paused.
    Paused = 2,
    /// No frame is due yet.
    NotDue = 3,
    /// The match is over.
    Ended = 4,
}

impl From<Advanced> for AdvancedCode {
    #[inline]
    fn from(advanced: Advanced) -> Self {
        match advanced {
            Advanced::Stepped => Self::Stepped,
            Advanced::Stalled => Self::Stalled,
            Advanced::Paused => Self::Paused,
            Advanced::NotDue => Self::NotDue,
            Advanced::Ended => Self::Ended,
        }
    }
}

/// A change to a cue.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeCode {
    /// The cue begins, `late_by` frames late if a rollback found it.
    Start = 0,
    /// The cue was mispredicted: fade the sound out.
    Cancel = 1,
    /// The cue is certain.
    Confirm = 2,
}

impl From<CueChange> for ChangeCode {
    fn from(change: CueChange) -> Self {
        match change {
            CueChange::Start { .. } => Self::Start,
            CueChange::Cancel => Self::Cancel,
            CueChange::Confirm => Self::Confirm,
        }
    }
}

/// What a spectator receives.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchingCode {
    /// It asks the broadcast, and has no answer yet.
    Asking = 0,
    /// There is no match to see yet.
    Waiting = 1,
    /// It receives a match.
    Receiving = 2,
    /// The whole match is here.
    Complete = 3,
    /// The broadcast has sent it away.
    Refused = 4,
    /// The broadcast sent bytes that its source has not signed.
    Forged = 5,
    /// No broadcast answers.
    Lost = 6,
}

impl From<Watching> for WatchingCode {
    fn from(state: Watching) -> Self {
        match state {
            // A broadcast that has fallen silent is asked again.
            Watching::Asking | Watching::Silent => Self::Asking,
            Watching::Waiting { .. } => Self::Waiting,
            Watching::Receiving => Self::Receiving,
            Watching::Complete => Self::Complete,
            Watching::Refused(_) => Self::Refused,
            Watching::Forged => Self::Forged,
            _ => Self::Lost,
        }
    }
}

/// What a spectator sees.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewingCode {
    /// Nothing yet.
    Nothing = 0,
    /// It steps through the frames that were there before, as fast as it may.
    CatchingUp = 1,
    /// New frames as they come, about a second late.
    Live = 2,
    /// Frames of the past at normal speed.
    Behind = 3,
    /// One frame.
    Paused = 4,
    /// The last frame of a match that is over.
    Ended = 5,
}

impl From<Viewing> for ViewingCode {
    fn from(state: Viewing) -> Self {
        match state {
            Viewing::CatchingUp => Self::CatchingUp,
            Viewing::Behind => Self::Behind,
            Viewing::Paused => Self::Paused,
            Viewing::Ended => Self::Ended,
            _ => Self::Live,
        }
    }
}
