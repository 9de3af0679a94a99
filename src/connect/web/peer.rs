//! The peer connection to one other machine, as the transport of a page has it.

use super::control::{ChannelCommand, IceServer};
use super::description::Description;
use super::signal::WebSignal;
use crate::protocol::time::{Span, Time};
use std::net::SocketAddr;

/// A peer connection that is not open after this long is made anew.
const OPENS_WITHIN: Span = Span::from_secs(15);
/// One that has failed is made anew after this long.
const AGAIN_AFTER: Span = Span::from_millis(500);
/// The first revision of a signal. A page names all its candidates at once.
const REVISION: u8 = 1;

/// One peer, with its peer connection.
#[derive(Debug)]
pub(super) struct WebPeer {
    /// The address under which the seal's protocol knows the peer, and that of its peer connection.
    pub(super) inner: SocketAddr,
    pub(super) addr: SocketAddr,
    /// The number under which a host answers its guest at the rendezvous.
    pub(super) number: Option<u64>,
    generation: u8,
    /// The revision of the other side's signal that has come.
    heard: u8,
    local: Option<Description>,
    has_theirs: bool,
    state: State,
    /// Whether our description has to be sent.
    owes_signal: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Opening(Time),
    Open,
    /// Since when it is closed.
    Closed(Time),
}

impl WebPeer {
    pub(super) fn new(now: Time, inner: SocketAddr, addr: SocketAddr) -> Self {
        Self {
            inner,
            addr,
            number: None,
            generation: 0,
            heard: 0,
            local: None,
            has_theirs: false,
            state: State::Opening(now),
            owes_signal: false,
        }
    }

    pub(super) fn is_first(&self) -> bool {
        self.generation == 0
    }

    pub(super) fn is_open(&self) -> bool {
        self.state == State::Open
    }

    /// Whether the other side's description is here.
    pub(super) fn has_theirs(&self) -> bool {
        self.has_theirs
    }

    /// Whether the peer connection has been tried for long enough to make room for another.
    pub(super) fn makes_room(&self, now: Time) -> bool {
        match self.state {
            State::Open => false,
            State::Opening(since) | State::Closed(since) => now >= since + OPENS_WITHIN,
        }
    }

    /// Makes a peer connection that offers.
    pub(super) fn offer(&mut self, now: Time, servers: &[IceServer]) -> ChannelCommand {
        self.begin(now);
        ChannelCommand::Open { servers: servers.to_vec(), offer: None }
    }

    /// Makes a peer connection that answers the offer in a signal.
    pub(super) fn answer(&mut self, now: Time, signal: WebSignal, servers: &[IceServer]) -> ChannelCommand {
        self.begin(now);
        (self.generation, self.heard, self.has_theirs) = (signal.generation, signal.revision, true);
        ChannelCommand::Open { servers: servers.to_vec(), offer: Some(signal.description) }
    }

    fn begin(&mut self, now: Time) {
        (self.local, self.has_theirs, self.heard) = (None, false, 0);
        (self.state, self.owes_signal) = (State::Opening(now), false);
    }

    /// Whether a joiner has to make its peer connection anew. If there are keys, it has the next number then.
    pub(super) fn fails(&mut self, now: Time, has_keys: bool) -> bool {
        let at = match self.state {
            State::Open => return false,
            // The host may come later.
            State::Opening(_) if !has_keys => return false,
            State::Opening(since) => since + OPENS_WITHIN,
            State::Closed(since) => since + AGAIN_AFTER,
        };
        let fails = now >= at;
        if fails && has_keys {
            self.generation = self.generation.wrapping_add(1);
        }
        fails
    }

    /// The transport has this side's description.
    pub(super) fn set_local(&mut self, description: Description) {
        (self.local, self.owes_signal) = (Some(description), true);
    }

    pub(super) fn set_open(&mut self) {
        self.state = State::Open;
    }

    pub(super) fn set_closed(&mut self, now: Time) {
        self.state = State::Closed(now);
    }

    /// Whether a signal begins a newer peer connection than this one.
    pub(super) fn is_newer(&self, signal: &WebSignal) -> bool {
        (1..128).contains(&signal.generation.wrapping_sub(self.generation))
    }

    /// Takes the answer to our offer. `None` if the signal is of another offer, or an answer was taken.
    pub(super) fn take_answer(&mut self, now: Time, signal: WebSignal) -> Option<ChannelCommand> {
        if signal.generation != self.generation {
            return None;
        }
        self.heard = self.heard.max(signal.revision);
        if !self.has_theirs {
            self.state = State::Opening(now);
        }
        let is_first = !core::mem::replace(&mut self.has_theirs, true);
        is_first.then_some(ChannelCommand::Answer(signal.description))
    }

    /// An offer has come again, because our answer to it was lost: it is sent again.
    pub(super) fn owe_again(&mut self, signal: &WebSignal) {
        if signal.generation == self.generation && self.local.is_some() && !self.is_open() {
            self.owes_signal = true;
        }
    }

    /// The signal that is to be sent, once.
    pub(super) fn take_owed(&mut self) -> Option<Vec<u8>> {
        core::mem::take(&mut self.owes_signal).then(|| self.signal())?
    }

    /// Our signal, if our description is there.
    pub(super) fn signal(&self) -> Option<Vec<u8>> {
        let description = self.local.clone()?;
        let (generation, heard) = (self.generation, self.heard);
        let (no_relay, wants_answer) = (false, false);
        Some(
            WebSignal { no_relay, wants_answer, generation, revision: REVISION, heard, description }.encode(),
        )
    }
}
