//! The frames of a server: their numbers, when the next one is due, and the time spent listening between them.

use crate::Frame;
use crate::authority::config::ServerConfig;
use crate::channel::listening::Listening;
use crate::protocol::time::{Span, Time};

/// A server that was away for longer than this makes nothing up: the time in between never was.
const MAX_CATCH_UP: Span = Span::from_millis(250);

#[derive(Debug)]
pub(super) struct FrameClock {
    frame: Frame,
    frame_span: Span,
    next_at: Option<Time>,
    listening: Listening,
}

impl FrameClock {
    pub(super) fn new(config: &ServerConfig) -> Self {
        Self {
            frame: config.first_frame,
            frame_span: Span::from_secs(1) / u32::from(config.frame_rate),
            next_at: None,
            listening: Listening::new(Time::ZERO),
        }
    }

    /// Begins the next frame, and returns its number.
    pub(super) fn begin_frame(&mut self, now: Time) -> Frame {
        let due = self.next_at.unwrap_or(now);
        let due = if now.since(due) > MAX_CATCH_UP { now } else { due };
        self.next_at = Some(due + self.frame_span);
        self.listening.pass(now);
        self.frame = self.frame.next();
        self.frame
    }

    /// The frame that was stepped last.
    pub(super) fn frame(&self) -> Frame {
        self.frame
    }

    /// When the next frame is due.
    pub(super) fn next_at(&self) -> Time {
        self.next_at.unwrap_or(Time::ZERO)
    }

    /// The time spent listening up to the last frame.
    pub(super) fn listened(&self) -> Time {
        self.listening.now()
    }
}
