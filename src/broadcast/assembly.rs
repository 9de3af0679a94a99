//! The bytes of a log at a spectator: those that have arrived, and those that the source has signed.

use super::signing::LogHash;
use crate::wire::broadcast::{Head, MAX_RANGES, MatchId};
use core::ops::Range;

/// The longest log that is taken.
pub(super) const MAX_LOG: u32 = 64 << 20;
/// Bytes after the first that is missing are taken up to this distance, twice what a broadcast has under way: memory follows what
/// has come, and not what is announced.
const REACH: u32 = 512 * 1024;

/// The log of one match so far. No byte beyond the newest signed length is taken.
#[derive(Debug)]
pub(super) struct Assembly {
    of: MatchId,
    bytes: Vec<u8>,
    /// Every byte before this one is here.
    next: u32,
    /// The ranges after it that are here.
    beyond: Vec<Range<u32>>,
    /// The bytes that are proven, their hash, and the statement that proves them.
    hash: LogHash,
    proven: Option<Head>,
    /// The statement that the bytes are compared with next, and the newest one. Both are signed.
    target: Head,
    newest: Head,
}

/// Bytes are not those that the source has signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Forged;

impl Assembly {
    /// A log of which the source has signed this statement.
    pub(super) fn new(head: Head) -> Self {
        Self {
            of: head.of,
            bytes: Vec::new(),
            next: 0,
            beyond: Vec::with_capacity(MAX_RANGES + 1),
            hash: LogHash::new(head.of),
            proven: None,
            target: head,
            newest: head,
        }
    }

    pub(super) fn of(&self) -> MatchId {
        self.of
    }

    /// The newest statement of the source.
    pub(super) fn newest(&self) -> &Head {
        &self.newest
    }

    /// The proven bytes, and their proof.
    pub(super) fn proven(&self) -> Option<(Head, &[u8])> {
        self.proven.map(|head| (head, &self.bytes[..head.len as usize]))
    }

    fn proven_len(&self) -> u32 {
        self.proven.map_or(0, |head| head.len)
    }

    /// Takes in a later statement about the same match, whose signature is right.
    pub(super) fn state(&mut self, head: Head) {
        if head.len > self.newest.len || (head.is_last && head.len == self.newest.len) {
            self.newest = head;
            if self.target.len <= self.proven_len() {
                self.target = head;
            }
        }
    }

    /// Takes in bytes; how many of them are new.
    pub(super) fn take(&mut self, offset: u32, bytes: &[u8]) -> Option<u32> {
        let limit = self.newest.len.min(self.next.saturating_add(REACH));
        let end = offset.checked_add(bytes.len() as u32).filter(|end| *end <= limit)?;
        if end <= self.next || self.beyond.iter().any(|range| range.start <= offset && end <= range.end) {
            return Some(0);
        }
        let start = offset.max(self.next);
        if start > self.next && self.beyond.len() == MAX_RANGES {
            return None;
        }
        if self.bytes.len() < end as usize {
            self.bytes.resize(end as usize, 0);
        }
        self.bytes[start as usize..end as usize].copy_from_slice(&bytes[(start - offset) as usize..]);
        self.join(start..end);
        Some(end - start)
    }

    /// Notes that a range is here.
    fn join(&mut self, mut new: Range<u32>) {
        self.beyond.retain(|range| {
            let touches = range.start <= new.end && new.start <= range.end;
            if touches {
                new = range.start.min(new.start)..range.end.max(new.end);
            }
            !touches
        });
        if new.start <= self.next {
            self.next = new.end;
        } else {
            let at = self.beyond.partition_point(|range| range.start < new.start);
            self.beyond.insert(at, new);
        }
    }

    /// Compares the bytes with the source's statements, as far as they are here. Returns whether more is proven.
    ///
    /// # Errors
    /// If they are not what the source has signed: everything that is not proven is dropped.
    pub(super) fn prove(&mut self) -> Result<bool, Forged> {
        let before = self.proven_len();
        while self.target.len > self.proven_len() && self.next >= self.target.len {
            let mut hash = self.hash.clone();
            hash.update(&self.bytes[self.proven_len() as usize..self.target.len as usize]);
            if hash.value() != self.target.hash {
                self.drop_unproven();
                return Err(Forged);
            }
            (self.hash, self.proven) = (hash, Some(self.target));
            self.target = self.newest;
        }
        if let Some(proven) = &mut self.proven
            && proven.len == self.newest.len
            && self.newest.hash == proven.hash
        {
            // The same bytes, and perhaps that they are the last.
            *proven = self.newest;
        }
        Ok(self.proven_len() > before)
    }

    /// Drops the bytes that are not proven, to ask somebody else for them.
    pub(super) fn drop_unproven(&mut self) {
        self.next = self.proven_len();
        self.bytes.truncate(self.next as usize);
        self.beyond.clear();
        self.target = self.newest;
    }

    /// Every byte before this one is here, and the ranges after it that are.
    pub(super) fn here(&self) -> (u32, &[Range<u32>]) {
        (self.next, &self.beyond)
    }

    /// Whether bytes are missing up to the newest statement.
    pub(super) fn is_behind(&self) -> bool {
        self.next < self.newest.len
    }
}

#[cfg(test)]
mod tests {
    use super::super::signing::SigningKey;
    use super::*;

    fn log(len: usize) -> Vec<u8> {
        (0..len).map(|at| (at ^ at >> 8) as u8).collect()
    }

    fn head(key: &SigningKey, bytes: &[u8]) -> Head {
        let mut hash = LogHash::new(key.match_id(1));
        hash.update(bytes);
        key.sign(key.match_id(1), false, bytes.len() as u32, hash.value())
    }

    #[test]
    fn pieces_in_any_order_are_joined_and_proven() {
        let (key, log) = (SigningKey::new(&[7; 32]), log(5_000));
        let mut assembly = Assembly::new(head(&key, &log));
        for (offset, taken) in [(3_000, 1_000), (1_000, 1_000), (2_500, 500), (4_000, 1_000), (2_500, 0)] {
            let end = (offset + 1_000).min(5_000);
            assert_eq!(assembly.take(offset as u32, &log[offset..end]).map(|new| new > 0), Some(taken > 0));
            assert_eq!(assembly.prove(), Ok(false));
        }
        assert_eq!(assembly.here(), (0, &[1_000..2_000, 2_500..5_000][..]));
        assembly.take(0, &log[..1_000]);
        assert_eq!(assembly.prove(), Ok(false));
        assembly.take(1_900, &log[1_900..2_600]);
        assert_eq!(assembly.here(), (5_000, &[][..]));
        assert_eq!(assembly.prove(), Ok(true));
        assert_eq!(assembly.proven().unwrap().1, log);
    }

    #[test]
    fn flipped_byte_drops_everything_that_is_not_proven() {
        let (key, log) = (SigningKey::new(&[7; 32]), log(3_000));
        let mut assembly = Assembly::new(head(&key, &log[..1_000]));
        assembly.take(0, &log[..1_000]);
        assert_eq!(assembly.prove(), Ok(true));
        assembly.state(head(&key, &log));
        let mut forged = log.clone();
        forged[2_999] ^= 1;
        assembly.take(1_000, &forged[1_000..]);
        assert_eq!(assembly.prove(), Err(Forged));
        assert_eq!(assembly.here(), (1_000, &[][..]));
        assembly.take(1_000, &log[1_000..]);
        assert_eq!(assembly.prove(), Ok(true));
        assert_eq!(assembly.proven().unwrap().1, log);
    }

    #[test]
    fn bytes_beyond_the_signed_length_take_no_memory() {
        let key = SigningKey::new(&[7; 32]);
        let mut assembly = Assembly::new(head(&key, &log(100)));
        for offset in [0, 1, 100, u32::MAX - 100, u32::MAX] {
            assert_eq!(assembly.take(offset, &[0; 101]), None);
        }
        assert_eq!(assembly.bytes.capacity(), 0);
        assert_eq!(assembly.take(50, &[0; 50]), Some(50));
    }

    #[test]
    fn scattered_bytes_take_a_bounded_number_of_ranges() {
        let key = SigningKey::new(&[7; 32]);
        let mut assembly = Assembly::new(head(&key, &log(10_000)));
        let taken = (0..1_000).filter(|at| assembly.take(1 + at * 3, &[0]).is_some()).count();
        assert_eq!((taken, assembly.here().1.len()), (MAX_RANGES, MAX_RANGES));
    }

    #[test]
    fn slow_spectator_proves_each_statement_that_it_reaches() {
        let (key, log) = (SigningKey::new(&[7; 32]), log(4_000));
        let mut assembly = Assembly::new(head(&key, &log[..1_000]));
        // Three more statements come before the bytes of the first.
        for len in [2_000, 3_000, 4_000] {
            assembly.state(head(&key, &log[..len]));
        }
        assembly.take(0, &log[..1_500]);
        assert_eq!(assembly.prove(), Ok(true));
        assert_eq!(assembly.proven().unwrap().0.len, 1_000);
        assembly.take(1_500, &log[1_500..]);
        assert_eq!(assembly.prove(), Ok(true));
        assert_eq!(assembly.proven().unwrap().0.len, 4_000);
    }
}
