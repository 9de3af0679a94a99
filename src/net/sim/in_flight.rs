//! The datagrams under way, ordered by arrival.

use crate::MAX_DATAGRAM;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// More than this is not kept under way: a flood must not eat the memory of the machine that simulates it.
const MAX_IN_FLIGHT: usize = 1 << 16;

/// Datagrams that wait for their time, each with a tag. Buffers are kept and used again, so that nothing is
/// allocated once the greatest number under way has been seen.
#[derive(Debug)]
pub(crate) struct InFlight<T> {
    /// Time, then order of insertion: equal times are resolved the same way in every run.
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

impl<T: Copy> InFlight<T> {
    pub(crate) fn new() -> Self {
        Self { order: BinaryHeap::new(), slots: Vec::new(), free: Vec::new(), inserted: 0 }
    }

    /// Takes the memory for `count` datagrams under way at once.
    pub(crate) fn reserve(&mut self, count: usize, tag: T) {
        let count = count.min(MAX_IN_FLIGHT);
        self.order.reserve(count.saturating_sub(self.order.len()));
        self.free.reserve(count.saturating_sub(self.free.len()));
        while self.slots.len() < count {
            self.free.push(self.slots.len() as u32);
            self.slots.push(Slot { tag, bytes: Vec::with_capacity(MAX_DATAGRAM) });
        }
    }

    /// Puts a copy of `datagram` under way and gives it back to be damaged; `None` when too many are.
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

    /// When the next one arrives and its tag, if it has arrived by `now`.
    #[inline]
    pub(crate) fn peek(&self, now: u64) -> Option<(u64, T)> {
        let Reverse((at, _, index)) = *self.order.peek()?;
        (at <= now).then(|| (at, self.slots[index as usize].tag))
    }

    /// Takes the next one out. Its buffer stays readable until the next change.
    pub(crate) fn pop(&mut self) -> Option<&[u8]> {
        let Reverse((_, _, index)) = self.order.pop()?;
        self.free.push(index);
        Some(&self.slots[index as usize].bytes)
    }

    /// Makes the next one arrive at `at` instead, behind all that already arrive then.
    pub(crate) fn postpone(&mut self, at: u64) {
        if let Some(Reverse((_, _, index))) = self.order.pop() {
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
