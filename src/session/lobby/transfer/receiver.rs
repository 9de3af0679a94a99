//! The joiner's side of a transfer.

use super::{Progress, range};
use crate::channel::refusal::Refusal;
use crate::protocol::time::{Span, Time};
use crate::session::first_state::FirstState;
use crate::wire::message::{FirstStateAck, FirstStatePart, REACH};
use std::collections::VecDeque;

/// The longest wait of an arrived part for its acknowledgement, and the most parts that wait.
const ACK_WITHIN: Span = Span::from_millis(5);
const ACK_AFTER_PARTS: u32 = 4;

/// Collects a first state. Memory is taken as parts arrive, and never more than the length that was agreed on.
#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    token: u64,
    len: u32,
    hash: u64,
    bytes: Vec<u8>,
    received: u32,
    progressed_at: Time,
    /// Every part before this one is here.
    first: u16,
    /// Whether the parts from `first` on are here, up to the last that is.
    here: VecDeque<bool>,
    /// When an acknowledgement is due, and for how many parts.
    ack_at: Time,
    unacknowledged: u32,
}

/// A transfer of which every part is here.
#[derive(Clone, Debug)]
pub(crate) enum Complete {
    /// The bytes have the hash that was agreed on.
    Intact(FirstState),
    /// They have another.
    Damaged,
}

impl Receiver {
    /// Begins a transfer of `len` bytes with this hash; it is asked for at once.
    pub(crate) fn new(now: Time, token: u64, len: u32, hash: u64) -> Self {
        Self {
            token,
            len,
            hash,
            bytes: Vec::new(),
            received: 0,
            progressed_at: now,
            first: 0,
            here: VecDeque::new(),
            ack_at: now,
            unacknowledged: 0,
        }
    }

    /// How much is here.
    pub(crate) fn progress(&self) -> Progress {
        Progress { bytes: self.received, of: self.len, since: Some(self.progressed_at.into()) }
    }

    /// Takes in a part; the first state if it was the last one.
    pub(crate) fn take(&mut self, now: Time, part: &FirstStatePart<'_>) -> Result<Option<Complete>, Refusal> {
        if part.token != self.token {
            return Err(Refusal::WrongToken);
        }
        // A part beyond the end would have no bytes.
        let range = range(part.number, self.len);
        if part.bytes.len() != range.len() {
            return Err(Refusal::FirstState);
        }
        let offset = part.number.checked_sub(self.first).map(usize::from);
        if offset.is_none_or(|offset| self.here.get(offset) == Some(&true)) {
            // Its acknowledgement was lost.
            self.ack_at = self.ack_at.min(now + ACK_WITHIN);
            return Err(Refusal::FirstState);
        }
        let Some(offset) = offset.filter(|offset| *offset <= usize::from(REACH)) else {
            return Err(Refusal::FirstState);
        };
        self.reserve(range.end);
        self.bytes.resize(self.bytes.len().max(range.end), 0);
        self.received += range.len() as u32;
        self.progressed_at = now;
        self.bytes[range].copy_from_slice(part.bytes);
        self.here.resize(self.here.len().max(offset + 1), false);
        self.here[offset] = true;
        while self.here.front() == Some(&true) {
            self.here.pop_front();
            self.first += 1;
        }
        self.unacknowledged += 1;
        let wait = if self.unacknowledged >= ACK_AFTER_PARTS { Span::ZERO } else { ACK_WITHIN };
        self.ack_at = self.ack_at.min(now + wait);
        if self.received < self.len {
            return Ok(None);
        }
        let state = FirstState::from(core::mem::take(&mut self.bytes));
        let is_intact = state.hash() == self.hash;
        Ok(Some(if is_intact { Complete::Intact(state) } else { Complete::Damaged }))
    }

    /// Makes room up to `end`, for at most twice as much as is here and never for more than the whole.
    fn reserve(&mut self, end: usize) {
        if end > self.bytes.capacity() {
            let room = end.max(2 * self.bytes.len()).min(self.len as usize);
            self.bytes.reserve_exact(room - self.bytes.len());
        }
    }

    /// The bytes that are reserved.
    #[cfg(test)]
    pub(super) fn room(&self) -> usize {
        self.bytes.capacity()
    }

    /// When the next acknowledgement is due; it asks for the first state as long as nothing has arrived.
    pub(crate) fn ack_at(&self) -> Time {
        self.ack_at
    }

    /// The acknowledgement to send now.
    pub(crate) fn acknowledge(&mut self) -> FirstStateAck {
        (self.ack_at, self.unacknowledged) = (Time::NEVER, 0);
        // A transfer that is whole and intact needs no acknowledgement: CONNECT_REQ follows.
        let is_damaged = self.received == self.len;
        let mut ack = FirstStateAck {
            token: self.token,
            is_damaged,
            missing: self.first,
            beyond: [0; REACH as usize / 8],
        };
        for bit in self.here.iter().skip(1).enumerate().filter_map(|(bit, here)| here.then_some(bit)) {
            ack.beyond[bit / 8] |= 1 << (bit % 8);
        }
        ack
    }
}
