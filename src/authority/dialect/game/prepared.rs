//! A prepared broadcast: SNAPSHOTs for the clients that know the format alone, and the history that DELTAs are made from.

use super::delta::History;
use crate::authority::dialect::Parts;
use crate::authority::{Body, Shown};
use crate::wire::control::{ControlHeader, ControlPacket, ControlPayload, EntityState, Entries, Snapshot};
use crate::{Frame, MAX_DATAGRAM};

/// The most entities in one SNAPSHOT.
const ENTITIES_A_DATAGRAM: usize = 55;

/// The length of a SNAPSHOT with the most entities and the four bytes after them: as much as an encrypted packet carries.
pub(super) const MAX_SNAPSHOT: usize = ControlPacket::HEADER_LEN + 5 + 21 * ENTITIES_A_DATAGRAM + 4;

const NO_ENTITY: EntityState =
    EntityState { id: 0, x: 0.0, y: 0.0, velocity_x: 0.0, velocity_y: 0.0, health: 0.0 };

/// The last broadcast in both forms.
#[derive(Debug)]
pub(crate) struct Prepared {
    frame: Frame,
    shown: Vec<Shown>,
    /// Made when the first client needs them.
    snapshots: Parts,
    history: History,
}

impl Prepared {
    pub(super) fn new(frame_rate: u16) -> Self {
        Self {
            frame: Frame::ZERO,
            shown: Vec::with_capacity(256),
            snapshots: Parts::new(),
            history: History::new(frame_rate),
        }
    }

    pub(super) fn prepare(&mut self, frame: Frame, shown: &[Shown]) {
        self.frame = frame;
        self.shown.clear();
        self.shown.extend_from_slice(shown);
        self.snapshots.clear();
        self.history.push(frame, shown);
    }

    pub(super) fn history(&self) -> &History {
        &self.history
    }

    pub(super) fn history_mut(&mut self) -> &mut History {
        &mut self.history
    }

    /// The number of SNAPSHOTs. They are the same for all clients except for their numbers.
    pub(super) fn snapshots(&mut self) -> usize {
        let mut from = 0;
        // A world without entities is a snapshot too: it says that the server is there.
        while self.snapshots.len() == 0 || (from > 0 && from < self.shown.len()) {
            let part = &self.shown[from..self.shown.len().min(from + ENTITIES_A_DATAGRAM)];
            let mut entities = [NO_ENTITY; ENTITIES_A_DATAGRAM];
            for (entity, Shown { id, body }) in entities.iter_mut().zip(part) {
                let Body { x, y, velocity_x, velocity_y, health } = *body;
                *entity = EntityState { id: *id as u8, x, y, velocity_x, velocity_y, health };
            }
            let entities = Entries::from(&entities[..part.len()]);
            let snapshot = Snapshot { tick: self.frame.0, entities, last_input: Some(0) };
            let mut buf = [0; MAX_DATAGRAM];
            let payload = ControlPayload::Snapshot(snapshot);
            let Ok(len) = ControlPacket::encode(&ControlHeader::default(), &payload, &mut buf) else { break };
            self.snapshots.push(&buf[..len]);
            from += ENTITIES_A_DATAGRAM;
        }
        self.snapshots.len()
    }

    pub(super) fn snapshot(&self, at: usize) -> Option<&[u8]> {
        self.snapshots.get(at)
    }

    /// Copies a SNAPSHOT, with the numbers of a connection and its last input.
    pub(super) fn copy(
        snapshot: &[u8],
        buf: &mut [u8],
        applied: u32,
        header: impl FnOnce() -> ControlHeader,
    ) -> Option<usize> {
        let datagram = buf.get_mut(..snapshot.len())?;
        datagram.copy_from_slice(snapshot);
        let ControlHeader { sequence, ack, ack_bits } = header();
        datagram.get_mut(4..6)?.copy_from_slice(&sequence.to_be_bytes());
        datagram.get_mut(6..8)?.copy_from_slice(&ack.to_be_bytes());
        datagram.get_mut(8..12)?.copy_from_slice(&ack_bits.to_be_bytes());
        *datagram.last_chunk_mut()? = applied.to_be_bytes();
        Some(snapshot.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapshots_hold_55_entities_and_an_empty_world_has_one() {
        let mut prepared = Prepared::new(60);
        let body = Body::at(1.0, 2.0);
        for (entities, datagrams) in [(0, 1), (1, 1), (55, 1), (56, 2), (110, 2), (111, 3)] {
            let shown: Vec<_> = (0..entities).map(|id| Shown { id, body }).collect();
            prepared.prepare(Frame(9), &shown);
            assert_eq!([(); 2].map(|()| prepared.snapshots()), [datagrams; 2], "{entities} entities");
        }
        assert_eq!(prepared.snapshot(0).map(<[u8]>::len), Some(MAX_SNAPSHOT));
    }
}
