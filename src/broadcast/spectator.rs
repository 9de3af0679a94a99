//! Receiving and verifying a broadcast.

use super::assembly::{Assembly, MAX_LOG};
use super::signing::{BroadcastKey, is_signed};
use crate::channel::bucket::Bucket;
use crate::protocol::Protocol;
use crate::protocol::time::{Span, Time};
use crate::wire::broadcast::{
    Bye, Head, Status, ToSpectator, UNKNOWN_MILLIS, encode_ack, encode_leave, encode_watch,
};
use core::fmt;
use core::time::Duration;
use std::net::SocketAddr;

/// A broadcast is asked again after this long without an answer.
const ASK_AFTER: Span = Span::from_millis(500);
/// A broadcast that is silent for this long is given up, and so is one whose bytes do not come although it has announced them.
const SILENT_AFTER: Span = Span::from_secs(10);
/// A broadcast that falls silent in the middle of a match is asked for this long: the program of its player may come back.
const ASKED_FOR: Span = Span::from_secs(150);
/// The longest wait of arrived bytes for their acknowledgement, and the most datagrams that wait.
const ACK_WITHIN: Span = Span::from_millis(10);
const ACK_AFTER: u32 = 4;
/// An acknowledgement is sent at least this often.
const ALIVE_AFTER: Span = Span::from_secs(1);
/// The most signatures in a second that are checked.
const MAX_SIGNATURES: u32 = 40;

/// The state of a [`Spectator`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Watching {
    /// Asks a broadcast, and has no answer yet.
    Asking,
    /// There is no match to see yet.
    Waiting {
        /// When the first frames will come, on the clock of the calls, if the broadcast knows.
        until: Option<Duration>,
    },
    /// Receives a match.
    Receiving,
    /// The broadcast has fallen silent in the middle of a match. It is asked for two and a half minutes: the program of its player may
    /// come back.
    Silent,
    /// The whole match is here.
    Complete,
    /// The broadcast has sent this spectator away, and there is no other one to ask.
    Refused(Bye),
    /// A broadcast sent bytes that its source has not signed, and there is no other one to ask.
    Forged,
    /// No broadcast answers, or sends the bytes that it has announced.
    Lost,
}

impl Watching {
    /// Whether nothing more will come.
    #[must_use]
    pub fn is_over(self) -> bool {
        matches!(self, Self::Refused(_) | Self::Forged | Self::Lost)
    }
}

impl fmt::Display for Watching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Asking => f.write_str("asking the broadcast"),
            Self::Waiting { .. } => f.write_str("waiting for the match"),
            Self::Receiving => f.write_str("receiving the match"),
            Self::Silent => f.write_str("the broadcast is silent, and is asked again"),
            Self::Complete => f.write_str("the match is over"),
            Self::Refused(bye) => write!(f, "{bye}"),
            Self::Forged => f.write_str("the broadcast sent a match that its source has not signed"),
            Self::Lost => f.write_str("the broadcast does not answer"),
        }
    }
}

/// The receiver of a broadcast, which verifies every byte by the source's signature.
///
/// [`bytes`](Self::bytes) is the match so far, as the file that its source records. Nothing that is not signed is ever in it,
/// wherever it came from. Hand new bytes to a [`Viewer`](crate::replay::Viewer) to see them, to a file to keep them, and to a
/// [`Broadcast`](super::Broadcast) to pass them on.
#[derive(Debug)]
pub struct Spectator {
    key: BroadcastKey,
    parents: Parents,
    state: Watching,
    log: Option<Assembly>,
    status: Status,
    /// Signatures that were found wrong.
    forged: u64,
    signatures: Bucket,
    timers: Timers,
    /// How long the broadcast was silent on earlier connections to it.
    silent_before: Span,
    is_leaving: bool,
}

/// The broadcasts to ask, one after the other.
#[derive(Debug)]
struct Parents {
    addrs: Vec<SocketAddr>,
    at: usize,
}

#[derive(Debug)]
struct Timers {
    ask_at: Time,
    ack_at: Time,
    unacknowledged: u32,
    heard_at: Time,
    progressed_at: Time,
}

impl Spectator {
    /// Asks the broadcast at `parent` for the match of the source that has this key.
    #[must_use]
    pub fn new(now: Duration, key: BroadcastKey, parent: SocketAddr) -> Self {
        Self {
            key,
            parents: Parents { addrs: vec![parent], at: 0 },
            state: Watching::Asking,
            log: None,
            status: Status::default(),
            forged: 0,
            signatures: Bucket::per_second(MAX_SIGNATURES),
            timers: Timers::new(now.into()),
            silent_before: Span::ZERO,
            is_leaving: false,
        }
    }

    // Commands.

    /// Adds a broadcast that is asked when the others have failed. It goes on where the last one ended.
    pub fn add_parent(&mut self, now: Duration, parent: SocketAddr) {
        self.parents.addrs.push(parent);
        if self.state.is_over() {
            self.ask_next(now.into(), self.state);
        }
    }

    /// Asks the broadcast at `parent` instead of all others, on a clock that may be another one. It goes on where the last one ended.
    pub fn move_to(&mut self, now: Duration, parent: SocketAddr) {
        if let Some(log) = &mut self.log {
            log.drop_unproven();
        }
        self.parents = Parents { addrs: vec![parent], at: 0 };
        (self.state, self.timers) = (Watching::Asking, Timers::new(now.into()));
        self.silent_before = Span::ZERO;
        self.signatures = Bucket::per_second(MAX_SIGNATURES);
    }

    /// Asks the same broadcast on a new connection to it, on whose clock it is `now`: the program there may be another one.
    #[cfg(feature = "udp")]
    pub(crate) fn ask_anew(&mut self, before: Duration, now: Duration, parent: SocketAddr) {
        let silent = self.silent_before + Time::from(before).since(self.timers.heard_at);
        self.move_to(now, parent);
        self.silent_before = silent;
    }

    /// Leaves. The broadcast is told by the next datagram.
    pub fn leave(&mut self) {
        self.is_leaving = true;
    }

    // Getters.

    /// The state.
    #[must_use]
    pub fn state(&self) -> Watching {
        self.state
    }

    /// The number of the match that is received, which counts up from 1 for each source; 0 before the first. When it changes,
    /// [`bytes`](Self::bytes) begin again.
    #[must_use]
    pub fn match_number(&self) -> u32 {
        self.log.as_ref().map_or(0, |log| log.of().number)
    }

    /// The match so far, as the file that its source records: the bytes that are signed.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.proven().map_or(&[], |(_, bytes)| bytes)
    }

    /// The number of spectators of the broadcast that is asked, as it says.
    #[must_use]
    pub fn spectators(&self) -> u16 {
        self.status.spectators
    }

    /// The age at which a frame leaves its source, as the broadcast says.
    #[must_use]
    pub fn delay(&self) -> Duration {
        Duration::from_millis(self.status.delay_millis.into())
    }

    /// How often a broadcast sent something that its source has not signed.
    #[must_use]
    pub fn forged(&self) -> u64 {
        self.forged
    }

    /// The broadcast that is asked now.
    #[must_use]
    pub fn parent(&self) -> SocketAddr {
        self.parents.addrs[self.parents.at]
    }

    /// The proven bytes with their proof.
    pub(super) fn proven(&self) -> Option<(Head, &[u8])> {
        self.log.as_ref()?.proven()
    }

    // Internal.

    /// Gives up a broadcast, and asks the next one. After the last one `state` is the end.
    fn ask_next(&mut self, now: Time, state: Watching) {
        if let Some(log) = &mut self.log {
            log.drop_unproven();
        }
        if self.parents.at + 1 < self.parents.addrs.len() {
            self.parents.at += 1;
            self.state = Watching::Asking;
            self.timers = Timers::new(now);
        } else {
            self.state = state;
        }
    }

    fn forgery(&mut self, now: Time) {
        self.forged += 1;
        self.ask_next(now, Watching::Forged);
    }

    fn handle(&mut self, now: Time, packet: &[u8]) -> Option<()> {
        match ToSpectator::decode(packet).ok()? {
            ToSpectator::Head(head, status) => self.handle_head(now, head, status)?,
            ToSpectator::Data { number, offset, bytes } => {
                let log = self.log.as_mut().filter(|log| log.of().number == number)?;
                let new = log.take(offset, bytes)?;
                if new > 0 {
                    self.timers.progressed_at = now;
                }
                self.timers.arrived(now);
                self.prove(now);
            }
            ToSpectator::Wait { millis, status } => {
                // A match that is received goes on, though its broadcast may have to wait for its own source.
                self.status = status;
                if matches!(self.state, Watching::Asking | Watching::Silent | Watching::Waiting { .. }) {
                    let until = (millis != UNKNOWN_MILLIS)
                        .then(|| Duration::from(now) + Duration::from_millis(millis.into()));
                    self.state = Watching::Waiting { until };
                    (self.timers.ask_at, self.timers.progressed_at) = (Time::NEVER, now);
                    self.timers.ack_at = self.timers.ack_at.min(now + ALIVE_AFTER);
                }
            }
            ToSpectator::Bye(bye) => self.ask_next(now, Watching::Refused(bye)),
        }
        Some(())
    }

    fn handle_head(&mut self, now: Time, head: Head, status: Status) -> Option<()> {
        let known = self.log.as_ref().map(Assembly::newest);
        if known != Some(&head) {
            if !self.signatures.take(now) {
                return None;
            }
            if !is_signed(&head, &self.key) {
                self.forgery(now);
                return None;
            }
        }
        let number = self.match_number();
        // A source that signs more than anybody can play, and an earlier match: an old packet, or an old recording of one.
        if head.len > MAX_LOG || head.of.number < number {
            return None;
        }
        match &mut self.log {
            Some(log) if log.of() == head.of => log.state(head),
            // The source numbers its matches, and signs no two of them with one number.
            log => *log = Some(Assembly::new(head)),
        }
        self.status = status;
        if !matches!(self.state, Watching::Receiving | Watching::Complete) || head.of.number > number {
            self.timers.progressed_at = now;
        }
        self.state = Watching::Receiving;
        self.timers.ask_at = Time::NEVER;
        self.timers.ack_at = now;
        self.prove(now);
        Some(())
    }

    /// Compares the bytes with the signed hashes.
    fn prove(&mut self, now: Time) {
        let Some(log) = &mut self.log else { return };
        match log.prove() {
            Ok(_) => {
                let is_whole = log.proven().is_some_and(|(head, _)| head.is_last);
                if is_whole {
                    self.state = Watching::Complete;
                }
                if !log.is_behind() {
                    self.timers.progressed_at = now;
                }
            }
            Err(_) => self.forgery(now),
        }
    }

    /// Gives up a broadcast that is silent, or does not send the bytes that it has announced. The last one is asked again if it had a
    /// match that is not over.
    fn check(&mut self, now: Time) {
        let silent_for = now.since(self.timers.heard_at);
        if silent_for > SILENT_AFTER && self.may_come_back() {
            if self.state != Watching::Silent {
                (self.state, self.timers.ask_at, self.timers.ack_at) = (Watching::Silent, now, Time::NEVER);
            }
            if self.silent_before + silent_for > ASKED_FOR {
                self.ask_next(now, Watching::Lost);
            }
            return;
        }
        let is_stuck = self.is_behind() && now.since(self.timers.progressed_at) > SILENT_AFTER;
        if silent_for > SILENT_AFTER || is_stuck {
            self.ask_next(now, Watching::Lost);
        }
    }

    fn is_behind(&self) -> bool {
        self.log.as_ref().is_some_and(Assembly::is_behind)
    }

    /// Whether the broadcast has fallen silent in the middle of a match and is asked for again.
    pub(crate) fn asks_again(&self) -> bool {
        self.state == Watching::Silent
    }

    /// Whether the broadcast that is silent may come back: there is no other one, and it had a match that is not over.
    fn may_come_back(&self) -> bool {
        let is_last = self.parents.at + 1 == self.parents.addrs.len();
        is_last && self.log.is_some() && self.state != Watching::Complete
    }

    fn watch(&self, buf: &mut [u8]) -> Option<usize> {
        let (id, len) = self.proven().map_or(([0; 16], 0), |(head, _)| (head.of.id, head.len));
        encode_watch(&id, len, buf)
    }
}

impl Timers {
    fn new(now: Time) -> Self {
        Self { ask_at: now, ack_at: Time::NEVER, unacknowledged: 0, heard_at: now, progressed_at: now }
    }

    /// Bytes have come, and are to be acknowledged.
    fn arrived(&mut self, now: Time) {
        self.unacknowledged += 1;
        let wait = if self.unacknowledged >= ACK_AFTER { Span::ZERO } else { ACK_WITHIN };
        self.ack_at = self.ack_at.min(now + wait);
    }
}

impl Protocol for Spectator {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        let now = Time::from(now);
        if from == self.parent() && !self.state.is_over() && self.handle(now, datagram).is_some() {
            (self.timers.heard_at, self.silent_before) = (now, Span::ZERO);
        }
    }

    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        let now = Time::from(now);
        if self.state.is_over() {
            return None;
        }
        if core::mem::take(&mut self.is_leaving) {
            let len = encode_leave(buf)?;
            let parent = self.parent();
            self.state = Watching::Refused(Bye::Closed);
            return Some((parent, len));
        }
        self.check(now);
        if self.state.is_over() {
            return None;
        }
        if self.timers.ask_at <= now {
            self.timers.ask_at = now + ASK_AFTER;
            return Some((self.parent(), self.watch(buf)?));
        }
        if self.timers.ack_at > now {
            return None;
        }
        (self.timers.ack_at, self.timers.unacknowledged) = (now + ALIVE_AFTER, 0);
        let len = match &self.log {
            Some(log) => {
                let (next, beyond) = log.here();
                encode_ack(log.of().number, next, log.newest().len, beyond, buf)?
            }
            None => encode_ack(0, 0, 0, &[], buf)?,
        };
        Some((self.parent(), len))
    }

    fn poll_timeout(&self) -> Option<Duration> {
        if self.state.is_over() {
            return None;
        }
        if self.is_leaving {
            return Some(Duration::ZERO);
        }
        let is_asked_again = self.asks_again();
        let patience = if is_asked_again { ASKED_FOR - self.silent_before } else { SILENT_AFTER };
        let silent_at = self.timers.heard_at + patience + Span::from_millis(1);
        let stuck_at = self.timers.progressed_at + SILENT_AFTER + Span::from_millis(1);
        let is_stuck_too = self.is_behind() && !is_asked_again;
        let given_up_at = if is_stuck_too { silent_at.min(stuck_at) } else { silent_at };
        self.timers.ask_at.min(self.timers.ack_at).min(given_up_at).deadline()
    }

    fn lingers(&self) -> bool {
        self.is_leaving
    }

    fn opening(&mut self, now: Duration, peer: SocketAddr, buf: &mut [u8]) -> Option<usize> {
        let is_asking = peer == self.parent() && !self.state.is_over();
        if is_asking {
            self.timers.ask_at = Time::from(now) + ASK_AFTER;
        }
        is_asking.then(|| self.watch(buf)).flatten()
    }
}
