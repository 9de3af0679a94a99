//! The exchange of notes with the peer: ours are cut into messages, and the peer's are counted.

use super::evidence::{Claim, Trace};
use crate::game::fields::leaves::{MAX_LEAVES, Part, Sums, legible};
use crate::game::marks::{MAX_MARK_NAME, Mark};
use crate::wire::autopsy::{self, Buffer, LeafWords, MAX_TRACE_VALUES, Note};
use crate::wire::message::MAX_AUTOPSY;
use crate::{Frame, OwnedLeaf};
use std::collections::VecDeque;

/// The most notes that are listened to, which is more than an honest peer sends. Leaves take the most messages: with the
/// longest texts only two fit into one. They come twice, of the state and of a phase.
const MAX_NOTES: u32 = 80 + MAX_LEAVES as u32;

/// Notes to send, and how many have come.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exchange {
    outgoing: VecDeque<Vec<u8>>,
    heard: u32,
}

impl Exchange {
    /// Reads a note of the peer; `None` if it is malformed or one too many.
    pub(crate) fn hear<'a>(&mut self, payload: &'a [u8]) -> Option<Note<'a>> {
        self.heard = self.heard.saturating_add(1);
        if self.heard > MAX_NOTES { None } else { autopsy::decode(payload) }
    }

    /// Counts from 0 again, for the next autopsy.
    pub(crate) fn listen_anew(&mut self) {
        self.heard = 0;
    }

    /// The next message to send.
    pub(crate) fn next_message(&mut self) -> Option<Vec<u8>> {
        self.outgoing.pop_front()
    }

    #[inline]
    pub(crate) fn has_messages(&self) -> bool {
        !self.outgoing.is_empty()
    }

    fn queue(&mut self, write: impl FnOnce(&mut Buffer) -> usize) {
        let mut buf = [0; MAX_AUTOPSY];
        let len = write(&mut buf);
        self.outgoing.push_back(buf[..len].to_vec());
    }

    pub(crate) fn start(&mut self, claim: Claim) {
        self.queue(|buf| autopsy::write_start(claim.frame(), claim.last_match(), buf));
    }

    pub(crate) fn mended(&mut self, frame: Frame) {
        self.queue(|buf| autopsy::write_mended(frame, buf));
    }

    /// Queues as many messages as the trace needs, and at least one.
    pub(crate) fn trace(&mut self, resimulated: bool, trace: &Trace) {
        let (mut first, mut rest) = (trace.first, &trace.values[..]);
        loop {
            let (values, left) = rest.split_at(rest.len().min(MAX_TRACE_VALUES));
            self.queue(|buf| autopsy::write_trace(resimulated, !left.is_empty(), first, values, buf));
            (first, rest) = (first.plus(values.len() as u32), left);
            if rest.is_empty() {
                return;
            }
        }
    }

    pub(crate) fn state(&mut self, frame: Frame, leaves: u32) {
        self.queue(|buf| autopsy::write_state(frame, leaves, buf));
    }

    pub(crate) fn table(&mut self, part: Part, sums: &Sums) {
        self.queue(|buf| autopsy::write_table(part.levels, part.prefix, sums, buf));
    }

    /// Queues as many messages as the leaves need, and at least one.
    pub(crate) fn leaves(&mut self, leaves: &[OwnedLeaf]) {
        let sent = leaves.iter().map(|OwnedLeaf { path, words, shown }| autopsy::Leaf {
            path,
            words: LeafWords::new(words),
            shown,
        });
        let mut rest = sent.peekable();
        loop {
            self.queue(|buf| autopsy::write_leaves(&mut rest, buf));
            if rest.peek().is_none() {
                return;
            }
        }
    }

    /// Queues as many messages as the marks need, and at least one.
    pub(crate) fn phases(&mut self, marks: &[Mark]) {
        let sent = marks.iter().map(|mark| autopsy::Mark {
            name: &mark.name,
            checksum: mark.checksum,
            leaves: mark.leaves,
        });
        let mut rest = sent.peekable();
        loop {
            self.queue(|buf| autopsy::write_phases(&mut rest, buf));
            if rest.peek().is_none() {
                return;
            }
        }
    }
}

/// A leaf that the peer told of.
pub(crate) fn received_leaf(leaf: autopsy::Leaf<'_>) -> OwnedLeaf {
    OwnedLeaf::new(leaf.path, leaf.words.as_slice(), leaf.shown)
}

/// A mark that the peer told of.
pub(crate) fn received_mark(mark: autopsy::Mark<'_>) -> Mark {
    Mark { name: legible(mark.name, MAX_MARK_NAME), checksum: mark.checksum, leaves: mark.leaves }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_trace_is_cut_into_messages_in_order() {
        let mut exchange = Exchange::default();
        let values: Vec<u32> = (0..600).collect();
        exchange.trace(true, &Trace { first: Frame(9), values, complete: true });
        let mut notes = Vec::new();
        while let Some(message) = exchange.next_message() {
            let Some(Note::Trace { resimulated: true, more, first, values }) = autopsy::decode(&message)
            else {
                panic!("{message:?}")
            };
            notes.push((more, first, values.iter().collect::<Vec<_>>()));
        }
        assert_eq!(notes.len(), 3);
        assert_eq!((notes[0].0, notes[0].1, notes[0].2.len()), (true, Frame(9), 256));
        assert_eq!(notes[2], (false, Frame(521), (512..600).collect()));
        exchange.trace(false, &Trace::default());
        assert_eq!(exchange.next_message(), Some(vec![2, 0, 0, 0, 0, 0, 0]), "an empty trace is told too");
    }

    #[test]
    fn notes_beyond_the_most_an_honest_peer_sends_are_not_read() {
        let mut exchange = Exchange::default();
        let note = [3, 0, 0, 0, 1, 0, 0, 0, 2];
        assert!((0..MAX_NOTES).all(|_| exchange.hear(&note).is_some()));
        assert!((0..10).all(|_| exchange.hear(&note).is_none()));
    }

    #[test]
    fn control_characters_of_a_received_leaf_are_replaced() {
        let mut exchange = Exchange::default();
        let leaf =
            OwnedLeaf { path: "a\u{1b}[2J".into(), words: vec![1], shown: "b\nc\u{202e}\u{2028}".into() };
        exchange.leaves(&[leaf]);
        let message = exchange.next_message().unwrap();
        let Some(Note::Leaves { leaves, .. }) = autopsy::decode(&message) else { panic!() };
        let received: Vec<OwnedLeaf> = leaves.iter().map(received_leaf).collect();
        assert_eq!(received[0].path, "a\u{FFFD}[2J");
        assert_eq!(received[0].shown, "b\u{FFFD}c\u{FFFD}\u{FFFD}");
    }
}
