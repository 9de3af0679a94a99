//! How a server treats the room of a host, and what the host was told of it.

use super::event::RendezvousEvent;
use crate::protocol::time::{Span, Time};
use crate::wire::rendezvous::Denial;
use std::collections::VecDeque;
use std::net::SocketAddr;

/// A server forgets a room this long after its last registration.
const ROOM_FOR: Span = Span::from_secs(60);
/// The most events that wait for the owner.
const MAX_EVENTS: usize = 32;

/// How the server has treated the room, and the events that wait for the owner.
#[derive(Debug)]
pub(super) struct Standing {
    is_silent: bool,
    /// The newest refusal since the last grant.
    denied: Option<Denial>,
    lapses_at: Time,
    /// Whether the contest of this exchange was told.
    told_contest: bool,
    events: VecDeque<RendezvousEvent>,
}

impl Standing {
    pub(super) fn new() -> Self {
        let (is_silent, told_contest) = (false, false);
        Self { is_silent, denied: None, lapses_at: Time::NEVER, told_contest, events: VecDeque::new() }
    }

    /// A new exchange begins.
    pub(super) fn begin(&mut self) {
        self.told_contest = false;
    }

    pub(super) fn granted(&mut self, now: Time, event: RendezvousEvent) {
        (self.is_silent, self.denied) = (false, None);
        self.lapses_at = now + ROOM_FOR;
        self.tell(event);
    }

    /// The server still has the room.
    pub(super) fn kept(&mut self, event: RendezvousEvent) {
        self.tell(event);
    }

    pub(super) fn refused(&mut self, denial: Denial) {
        self.is_silent = false;
        if self.denied.replace(denial) != Some(denial) {
            self.tell(RendezvousEvent::Refused(denial));
        }
    }

    /// The server answers nothing.
    pub(super) fn silent(&mut self) {
        if !core::mem::replace(&mut self.is_silent, true) {
            self.tell(RendezvousEvent::ServerSilent);
        }
    }

    /// Notices that the server has forgotten the room.
    pub(super) fn run(&mut self, now: Time) {
        if self.lapses_at <= now {
            self.lapses_at = Time::NEVER;
            self.tell(RendezvousEvent::Lapsed { why: self.denied });
        }
    }

    /// When the server forgets the room.
    pub(super) fn deadline(&self) -> Time {
        self.lapses_at
    }

    /// Tells of a contest, the address that is signed and another one, once in each exchange.
    pub(super) fn contested(&mut self, contest: Option<(SocketAddr, SocketAddr)>) {
        if let Some((signed, other)) = contest
            && !core::mem::replace(&mut self.told_contest, true)
        {
            self.tell(RendezvousEvent::Contested { signed, other });
        }
    }

    /// Tells of a guest. `false` if too many events wait.
    pub(super) fn delivered(&mut self, guest: u64, signal: &[u8]) -> bool {
        let has_room = self.events.len() < MAX_EVENTS;
        self.tell(RendezvousEvent::Delivered { guest, signal: signal.to_vec() });
        has_room
    }

    pub(super) fn poll_event(&mut self) -> Option<RendezvousEvent> {
        self.events.pop_front()
    }

    fn tell(&mut self, event: RendezvousEvent) {
        if self.events.len() < MAX_EVENTS {
            self.events.push_back(event);
        }
    }
}
