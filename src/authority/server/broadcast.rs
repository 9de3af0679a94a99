//! The broadcast: the entities of a frame, and the datagrams that each connection chooses from.

use super::replicated::Replicated;
use crate::Frame;
use crate::authority::dialect::ServerEnd;
use crate::authority::record::Shown;

/// The most entities a second that a client is sent where each is a packet of its own.
const MAX_UPDATES_A_SECOND: u16 = 300;

/// The last broadcast. The same memory serves every one.
#[derive(Debug)]
pub(super) struct Broadcast<L: ServerEnd> {
    entities: Vec<Shown>,
    prepared: L::Prepared,
    every_frames: u32,
    budget: usize,
}

impl<L: ServerEnd> Broadcast<L> {
    pub(super) fn new(frame_rate: u16, broadcast_rate: u16) -> Self {
        Self {
            entities: Vec::with_capacity(256),
            prepared: L::nothing_prepared(frame_rate),
            every_frames: u32::from(frame_rate / broadcast_rate),
            budget: usize::from((MAX_UPDATES_A_SECOND / broadcast_rate).max(1)),
        }
    }

    /// Whether a frame is broadcast.
    pub(super) fn is_due(&self, frame: Frame) -> bool {
        frame.0.is_multiple_of(self.every_frames)
    }

    /// Prepares the broadcast of a frame. Returns the number of bodies that were left out because they are not finite.
    pub(super) fn prepare(&mut self, frame: Frame, replicated: &Replicated) -> u64 {
        let mut not_finite = 0;
        self.entities.clear();
        for (id, _, _, body) in replicated.entities().iter() {
            if body.is_finite() {
                self.entities.push(Shown { id: id.into(), body: *body });
            } else {
                not_finite += 1;
            }
        }
        L::prepare_broadcast(frame, &self.entities, replicated.shots_at(frame), &mut self.prepared);
        not_finite
    }

    pub(super) fn prepared(&self) -> &L::Prepared {
        &self.prepared
    }

    pub(super) fn prepared_mut(&mut self) -> &mut L::Prepared {
        &mut self.prepared
    }

    /// The most entities that a client is sent where each is a packet of its own.
    pub(super) fn budget(&self) -> usize {
        self.budget
    }
}
