//! The host's first state in a lobby: its parts, their acknowledgements, and how far it has come.

use super::transfer::Progress;
use super::{Lobby, LobbyError, Role};
use crate::channel::refusal::Refusal;
use crate::protocol::time::{Span, Time};
use crate::wire::control::ControlHeader;
use crate::wire::message::{FirstStateAck, FirstStatePart, Message};

/// How often the host is told at once that its first state was damaged: the joiner's lobby may end right after.
const DAMAGED_COPIES: u32 = 3;

impl Lobby {
    /// How much of the host's first state the joiner has, on both machines: `None` before it is offered, and without one.
    #[must_use]
    pub fn first_state_progress(&self) -> Option<Progress> {
        match &self.role {
            Role::Host(hosting) => hosting.progress(),
            Role::Join(joining) => joining.progress(),
            Role::Waiting | Role::Agreed(..) => None,
        }
    }

    /// Whether this machine waits for parts of the host's first state.
    pub(super) fn is_receiving(&self) -> bool {
        matches!(&self.role, Role::Join(joining) if joining.is_receiving())
    }

    /// How far the first state had come to the last guest that is gone: it left, or it was silent or took no part for
    /// [`Timeouts::lost_after`](crate::Timeouts::lost_after). The host waits for a guest again. Told once.
    pub fn take_stalled(&mut self) -> Option<Progress> {
        self.stalled.take()
    }

    /// Takes in a part of the host's first state, which is proven by its token.
    pub(super) fn part(&mut self, now: Time, part: &FirstStatePart<'_>) -> Result<(), Refusal> {
        let Role::Join(joining) = &mut self.role else { return Err(Refusal::OutOfPlace) };
        if self.error.is_some() {
            return Err(Refusal::OutOfPlace);
        }
        if let Some(damaged) = joining.part(now, part)? {
            let bytes = joining.progress().map_or(0, |progress| progress.of);
            self.error = Some(LobbyError::FirstStateDamaged { bytes });
            let host = joining.link().addr();
            for _ in 0..DAMAGED_COPIES {
                self.responder.answer(host, ControlHeader::default(), &Message::FirstStateAck(damaged));
            }
        }
        self.give_up_at = Some(now + Span::from(self.config.timeouts.join_timeout));
        Ok(())
    }

    /// Takes in the guest's acknowledgement of parts of our first state, which is proven by its token.
    pub(super) fn first_state_ack(&mut self, now: Time, ack: &FirstStateAck) -> Result<(), Refusal> {
        let Role::Host(hosting) = &mut self.role else { return Err(Refusal::OutOfPlace) };
        hosting.acknowledged(now, ack)?;
        if ack.is_damaged {
            let bytes = hosting.progress().map_or(0, |progress| progress.of);
            self.error = Some(LobbyError::FirstStateDamaged { bytes });
        }
        Ok(())
    }
}
