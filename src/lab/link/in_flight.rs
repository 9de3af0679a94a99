//! The datagrams in flight, ordered by arrival.

use crate::protocol::MAX_WRAPPED;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The most datagrams in flight, which bounds the memory that a simulated flood takes.
const MAX_IN_FLIGHT: usize = 1 << 16;

/// A queue of datagrams by time of arrival, each with a tag. Buffers are reused, and nothing is allocated once the
/// greatest number in flight has been seen.
#[derive(Debug)]
pub(crate) struct InFlight<T> {
    /// Time, order of insertion, slot. The order of insertion makes equal times deterministic.
    order: BinaryHeap<Reverse<(u64, u64, u32)>>,
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
    inserted: u64,
}

#[derive(Debug)]
struct Slot<T> {
    tag: T,
    bytes: Vec<u8>,
}

/// Keeps the room: a copied network takes no memory later either.
impl<T: Copy> Clone for Slot<T> {
    fn clone(&self) -> Self {
        let mut bytes = Vec::with_capacity(self.bytes.capacity());
        bytes.extend_from_slice(&self.bytes);
        Self { tag: self.tag, bytes }
    }
}

impl<T: Copy> Clone for InFlight<T> {
    fn clone(&self) -> Self {
        let (mut order, mut free) =
            (BinaryHeap::with_capacity(self.order.capacity()), Vec::with_capacity(self.free.capacity()));
        order.extend(self.order.iter().copied());
        free.extend_from_slice(&self.free);
        Self { order, slots: self.slots.clone(), free, inserted: self.inserted }
    }
}

impl<T: Copy> InFlight<T> {
    pub(crate) fn new() -> Self {
        Self { order: BinaryHeap::new(), slots: Vec::new(), free: Vec::new(), inserted: 0 }
    }

    /// Allocates the memory for `count` datagrams in flight at once.
    pub(crate) fn reserve(&mut self, count: usize, tag: T) {
        let count = count.min(MAX_IN_FLIGHT);
        self.order.reserve(count.saturating_sub(self.order.len()));
        self.free.reserve(count.saturating_sub(self.free.len()));
        while self.slots.len() < count {
            self.free.push(self.slots.len() as u32);
            self.slots.push(Slot { tag, bytes: Vec::with_capacity(MAX_WRAPPED) });
        }
    }

    /// Adds a copy of `datagram`, and returns its bytes, to be corrupted; `None` if too many are in flight.
    pub(crate) fn push(&mut self, at: u64, tag: T, datagram: &[u8]) -> Option<&mut Vec<u8>> {
        if self.free.is_empty() {
            self.reserve((self.slots.len() * 2).max(16), tag);
        }
        let index = self.free.pop()?;
        self.schedule(at, index);
        let slot = &mut self.slots[index as usize];
        slot.tag = tag;
        slot.bytes.clear();
        slot.bytes.extend_from_slice(datagram);
        Some(&mut slot.bytes)
    }

    #[inline]
    pub(crate) fn next_at(&self) -> Option<u64> {
        self.order.peek().map(|Reverse((at, ..))| *at)
    }

    /// The arrival time and the tag of the next datagram, if it has arrived by `now`.
    #[inline]
    pub(crate) fn peek(&self, now: u64) -> Option<(u64, T)> {
        let Reverse((at, _, index)) = *self.order.peek()?;
        (at <= now).then(|| (at, self.slots[index as usize].tag))
    }

    /// Removes the next datagram. Its bytes stay readable until the next change.
    pub(crate) fn pop(&mut self) -> Option<&[u8]> {
        let Reverse((_, _, index)) = self.order.pop()?;
        self.free.push(index);
        Some(&self.slots[index as usize].bytes)
    }

    /// Reschedules the next datagram to `at`, behind all that arrive then already, with another tag.
    pub(crate) fn postpone(&mut self, at: u64, tag: T) {
        if let Some(Reverse((_, _, index))) = self.order.pop() {
            self.slots[index as usize].tag = tag;
            self.schedule(at, index);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    fn schedule(&mut self, at: u64, index: u32) {
        self.order.push(Reverse((at, self.inserted, index)));
        self.inserted += 1;
    }
}
