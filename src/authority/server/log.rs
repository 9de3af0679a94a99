//! The log of reliable records: one for all clients, each of which reads it at its own position.

use crate::authority::record::Record;
use std::collections::VecDeque;

/// The length of the log. A client that is further behind is removed.
const KEPT: usize = 1_024;

/// The recipients of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum To {
    All,
    Only(u8),
}

/// The last records. Their marks count from 1.
#[derive(Clone, Debug)]
pub(super) struct Log {
    records: VecDeque<(To, Record)>,
    /// The mark of the newest record.
    newest: u64,
}

impl Log {
    pub(super) fn new() -> Self {
        Self { records: VecDeque::with_capacity(KEPT), newest: 0 }
    }

    /// Appends a record, and returns its mark.
    pub(super) fn push(&mut self, to: To, record: Record) -> u64 {
        if self.records.len() == KEPT {
            self.records.pop_front();
        }
        self.records.push_back((to, record));
        self.newest += 1;
        self.newest
    }

    pub(super) fn newest(&self) -> u64 {
        self.newest
    }

    /// The records after `mark` that are for client `id`, each with its mark; `None` if some have been forgotten.
    pub(super) fn after(&self, mark: u64, id: u8) -> Option<impl Iterator<Item = (u64, &Record)>> {
        let behind = self.newest - mark;
        let skip = self.records.len().checked_sub(usize::try_from(behind).ok()?)?;
        let records = self.records.range(skip..).enumerate();
        Some(records.filter_map(move |(at, (to, record))| {
            (*to == To::All || *to == To::Only(id)).then_some((mark + 1 + at as u64, record))
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_reads_from_a_place_of_their_own() {
        let mut log = Log::new();
        log.push(To::All, Record::Hit { id: 1, damage: 0, frame: crate::Frame(0) });
        log.push(To::Only(7), Record::Hit { id: 2, damage: 0, frame: crate::Frame(0) });
        log.push(To::All, Record::Hit { id: 3, damage: 0, frame: crate::Frame(0) });
        let marks = |mark, id| log.after(mark, id).unwrap().map(|(mark, _)| mark).collect::<Vec<_>>();
        assert_eq!(
            (marks(0, 7), marks(0, 8), marks(1, 7), marks(3, 7)),
            (vec![1, 2, 3], vec![1, 3], vec![2, 3], vec![])
        );
    }

    #[test]
    fn log_has_no_records_for_a_client_too_far_behind() {
        let mut log = Log::new();
        for _ in 0..=KEPT {
            log.push(To::All, Record::Bye { kicked: false });
        }
        assert!(log.after(0, 1).is_none());
        assert_eq!(log.after(1, 1).unwrap().count(), KEPT);
    }
}
