//! The next thing to do, in the numbers of C.

use super::codes::{EventCode, FinishCode, NowCode, ReasonCode, VerdictCode};
use super::input;
use rebout::{Event, Finish, FirstState, Now, Reason, Verdict};
use std::time::Duration;

/// The next thing to do. The fields that a kind does not name are 0 or empty.
#[derive(Clone, Debug, Default)]
pub struct Turn {
    /// What to do.
    pub now: NowCode,
    /// Of an event.
    pub event: EventCode,
    /// Of the end.
    pub finish: FinishCode,
    /// Of a match that was played to its end.
    pub verdict: VerdictCode,
    /// Of a match that was not.
    pub reason: ReasonCode,
    /// 0 for player one, 1 for player two.
    pub seat: u32,
    /// The seed of a match that begins.
    pub seed: u32,
    /// The frame of a desync, a conflict or the last state.
    pub frame: u32,
    /// The frame up to which a mended match was stepped again.
    pub to_frame: u32,
    /// Whether the match was resumed from the other machine's log alone.
    pub is_from_their_log: bool,
    /// The checksum here.
    pub ours: u32,
    /// The checksum on the peer.
    pub theirs: u32,
    /// An input delay.
    pub delay_frames: u32,
    /// A window.
    pub window_frames: u32,
    /// A rate in thousandths of the agreed one.
    pub rate_permille: u32,
    /// A point or a length of time.
    pub time_nanos: u64,
    /// The confirmed and the refused input of a conflict.
    pub inputs: [u64; 2],
    /// A text to show or to log.
    pub text: String,
    /// A first state, or a message.
    pub bytes: Bytes,
}

/// The bytes of a turn.
#[derive(Clone, Debug, Default)]
pub enum Bytes {
    /// None.
    #[default]
    None,
    /// The first state of a match that begins.
    FirstState(FirstState),
    /// A message of the other game.
    Message(Box<[u8]>),
}

impl Bytes {
    /// The bytes.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        match self {
            Self::None => &[],
            Self::FirstState(bytes) => bytes,
            Self::Message(bytes) => bytes,
        }
    }
}

/// A time in nanoseconds.
#[must_use]
pub fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl Turn {
    pub(super) fn of(now: NowCode) -> Self {
        Self { now, ..Self::default() }
    }

    pub(super) fn with_text(now: NowCode, text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::of(now) }
    }

    fn event(event: EventCode) -> Self {
        Self { event, ..Self::of(NowCode::Event) }
    }
}

impl From<Now> for Turn {
    #[inline]
    fn from(now: Now) -> Self {
        match now {
            Now::Frame => Self::of(NowCode::Frame),
            Now::Idle => Self::of(NowCode::Idle),
            Now::Connecting(text) => Self::with_text(NowCode::Connecting, text),
            Now::Notice(text) => Self::with_text(NowCode::Notice, text),
            Now::Guest { name, .. } => Self::with_text(NowCode::Guest, name),
            Now::Begin { seed, seat, first_state, .. } => Self {
                seed,
                seat: seat.index() as u32,
                bytes: Bytes::FirstState(first_state),
                ..Self::of(NowCode::Begin)
            },
            Now::Event(event) => event.into(),
            Now::Finished(finish) => finish.into(),
            other => Self::with_text(NowCode::Notice, format!("{other:?}")),
        }
    }
}

impl From<Finish> for Turn {
    fn from(finish: Finish) -> Self {
        let turn = Self::with_text(NowCode::Finished, finish.to_string());
        match finish {
            Finish::Played(verdict) => Self { finish: FinishCode::Played, ..turn.judged(verdict) },
            Finish::Ended(reason) => Self { finish: FinishCode::Ended, ..turn.ended(reason) },
            Finish::Refused(_) => Self { finish: FinishCode::Refused, ..turn },
            Finish::NotResumed(_) => Self { finish: FinishCode::NotResumed, ..turn },
            _ => Self { finish: FinishCode::Unreached, ..turn },
        }
    }
}

impl Turn {
    fn judged(self, verdict: Verdict) -> Self {
        let is_from_their_log = matches!(verdict, Verdict::Agreed { from_their_log: true, .. });
        let (verdict, frame, ours, theirs) = match verdict {
            Verdict::Agreed { frame, checksum, .. } => (VerdictCode::Agreed, frame, checksum, checksum),
            Verdict::Differs { frame, ours, theirs } => (VerdictCode::Differs, frame, ours, theirs),
            Verdict::Unconfirmed { frame, checksum } => (VerdictCode::Unconfirmed, frame, checksum, 0),
            _ => return self,
        };
        Self { verdict, frame: frame.0, ours, theirs, is_from_their_log, ..self }
    }

    pub(super) fn ended(self, reason: Reason) -> Self {
        let seat = if let Reason::VoidChecksums { of } = reason { of.index() as u32 } else { 0 };
        Self { reason: reason.into(), seat, ..self }
    }
}

impl From<Event> for Turn {
    fn from(event: Event) -> Self {
        let at = |code, time: Duration| Self { time_nanos: nanos(time), ..Self::event(code) };
        let delay = |code, frames: u8| Self { delay_frames: frames.into(), ..Self::event(code) };
        match event {
            Event::Interrupted { disconnect_at } => at(EventCode::Interrupted, disconnect_at),
            Event::Resumed => Self::event(EventCode::Resumed),
            Event::Desync(desync) => Self {
                frame: desync.frame.0,
                ours: desync.ours,
                theirs: desync.theirs,
                ..Self::event(EventCode::Desync)
            },
            Event::Autopsy(report) => Self { text: report.to_string(), ..Self::event(EventCode::Autopsy) },
            Event::InputConflict { frame, confirmed, refused } => Self {
                frame: frame.0,
                inputs: [confirmed, refused].map(input::to_bits),
                ..Self::event(EventCode::InputConflict)
            },
            Event::Message(bytes) => Self { bytes: Bytes::Message(bytes), ..Self::event(EventCode::Message) },
            Event::PeerDelay { delay_frames } => delay(EventCode::PeerDelay, delay_frames),
            Event::DelayChanged { delay_frames } => delay(EventCode::DelayChanged, delay_frames),
            Event::PeerSlow { rate_permille } => {
                Self { rate_permille: rate_permille.into(), ..Self::event(EventCode::PeerSlow) }
            }
            Event::PeerRecovered => Self::event(EventCode::PeerRecovered),
            Event::InputsLate { excess } => at(EventCode::InputsLate, excess),
            Event::StateFailed(error) => {
                Self { text: error.to_string(), ..Self::event(EventCode::StateFailed) }
            }
            Event::Paused { by } => Self { seat: by.index() as u32, ..Self::event(EventCode::Paused) },
            Event::Resuming { at: time } => at(EventCode::Resuming, time),
            Event::PauseEnded => Self::event(EventCode::PauseEnded),
            Event::PauseRefused => Self::event(EventCode::PauseRefused),
            Event::ClockMistake { offset, .. } => at(EventCode::ClockMistake, offset),
            Event::SlowRollback { takes, window_frames, delay_frames } => Self {
                window_frames: window_frames.into(),
                delay_frames: delay_frames.into(),
                ..at(EventCode::SlowRollback, takes)
            },
            Event::Mended { from, to } => {
                Self { frame: from.0, to_frame: to.0, ..Self::event(EventCode::Mended) }
            }
            other => Self { text: format!("{other:?}"), ..Self::event(EventCode::Other) },
        }
    }
}
