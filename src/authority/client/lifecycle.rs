//! The life of a connection: asking for a seat, proving that the answer came, playing, and the end.

use super::OverReason;
use crate::authority::config::ClientConfig;
use crate::channel::listening::Listening;
use crate::protocol::time::{Span, Time};

/// A DISCONNECT is believed after this long without a new snapshot: it is empty, so anybody could have written it.
const BELIEVED_AFTER: Span = Span::from_millis(500);

/// An answer that leads to nothing within this time was void: another client took the seat that it offered.
const PROOF_WITHIN: Span = Span::from_millis(500);

/// The phase of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Nobody has answered.
    Asking,
    /// There is an answer, which our next packet proves that we received.
    Proving {
        /// When we ask again, if the server is not heard of before.
        until: Time,
    },
    /// The server talks to us.
    Playing {
        since: Time,
    },
    Over(OverReason),
}

/// The phase, and the evidence that ends it.
#[derive(Debug)]
pub(super) struct Lifecycle {
    phase: Phase,
    id: Option<u8>,
    timeout: Span,
    join_timeout: Span,
    /// When the first of the requests that are not answered yet was sent.
    asking_since: Option<Time>,
    /// The time spent listening since the first call, and when the server was heard of in it.
    listening: Option<Listening>,
    heard_at: Time,
    /// When the server said that it ends the connection, and whether it said that we were kicked.
    said_leave: Option<Time>,
    bye: Option<bool>,
}

impl Lifecycle {
    pub(super) fn new(config: &ClientConfig) -> Self {
        Self {
            phase: Phase::Asking,
            id: None,
            timeout: Span::from(config.timeout),
            join_timeout: Span::from(config.join_timeout),
            asking_since: None,
            listening: None,
            heard_at: Time::ZERO,
            said_leave: None,
            bye: None,
        }
    }

    pub(super) fn phase(&self) -> Phase {
        self.phase
    }

    pub(super) fn id(&self) -> Option<u8> {
        self.id
    }

    /// The time of the last call.
    pub(super) fn advanced_at(&self) -> Option<Time> {
        self.listening.as_ref().map(Listening::called_at)
    }

    fn listened(&self) -> Time {
        self.listening.as_ref().map_or(Time::ZERO, Listening::now)
    }

    /// Lets time pass. Returns why the connection is over, if the server has been silent for too long or has left. Requests
    /// without an answer are given up after `answer_within`.
    pub(super) fn pass(&mut self, now: Time, answer_within: Option<Span>) -> Option<OverReason> {
        self.listening.get_or_insert(Listening::new(now)).pass(now);
        let listened = self.listened();
        match self.phase {
            Phase::Asking if self.is_unanswered(now, answer_within) => Some(OverReason::NoAnswer),
            Phase::Asking | Phase::Proving { .. } if listened.since(Time::ZERO) > self.join_timeout => {
                Some(OverReason::NoAnswer)
            }
            Phase::Playing { .. } if listened.since(self.heard_at) > self.timeout => Some(OverReason::Silent),
            Phase::Playing { .. } if self.said_leave.is_some_and(|at| now.since(at) > BELIEVED_AFTER) => {
                Some(match self.bye {
                    None => OverReason::Ended,
                    Some(true) => OverReason::Kicked,
                    Some(false) => OverReason::Shutdown,
                })
            }
            _ => None,
        }
    }

    fn is_unanswered(&self, now: Time, within: Option<Span>) -> bool {
        within.is_some_and(|within| self.asking_since.is_some_and(|since| now.since(since) >= within))
    }

    /// Begins to ask, again if an answer was void. `false` if the requests are not answered within `answer_within`: the next
    /// call of `pass` gives up.
    pub(super) fn ask(&mut self, now: Time, answer_within: Option<Span>) -> bool {
        self.phase = Phase::Asking;
        self.asking_since.get_or_insert(now);
        !self.is_unanswered(now, answer_within)
    }

    /// The requests before `since` did not leave the machine: there was no connection.
    pub(super) fn ask_since(&mut self, since: Option<Time>) {
        self.asking_since = since;
    }

    /// Notes that a packet of the server came.
    pub(super) fn heard(&mut self, now: Time) {
        self.heard_at = self.listened();
        if let Phase::Proving { until } = &mut self.phase {
            *until = (*until).max(now + PROOF_WITHIN);
        }
    }

    /// The request was answered, if not with a seat yet.
    pub(super) fn answered(&mut self) {
        self.asking_since = None;
    }

    /// The server offers a seat. `false` if that is known.
    pub(super) fn accepted(&mut self, now: Time, id: u8) -> bool {
        if self.phase != Phase::Asking {
            return false;
        }
        // An answer takes as long as the one to the request did.
        let waited = self.asking_since.map_or(Span::ZERO, |since| now.since(since));
        self.phase = Phase::Proving { until: now + PROOF_WITHIN + waited };
        (self.id, self.asking_since) = (Some(id), None);
        true
    }

    /// The server talks to us, so it has taken our proof. Returns our id if that is new.
    pub(super) fn seated(&mut self, now: Time) -> Option<u8> {
        let Phase::Proving { .. } = self.phase else { return None };
        self.phase = Phase::Playing { since: now };
        self.id
    }

    /// The server says that it ends the connection. Returns the reason if it is over with that.
    pub(super) fn told_to_leave(&mut self, now: Time) -> Option<OverReason> {
        if self.phase == Phase::Asking {
            return Some(OverReason::Full);
        }
        self.said_leave = self.said_leave.or(Some(now));
        None
    }

    /// The server has said why it will end the connection.
    pub(super) fn told_bye(&mut self, kicked: bool) {
        self.bye = Some(kicked);
    }

    /// The server shows its world: if it was said to leave, somebody else said that.
    pub(super) fn shown(&mut self) {
        self.said_leave = None;
    }

    pub(super) fn end(&mut self, reason: OverReason) {
        self.phase = Phase::Over(reason);
    }
}
