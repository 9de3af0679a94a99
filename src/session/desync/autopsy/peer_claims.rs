//! The claims of the peer: every note that it has sent in an autopsy, within bounds.

use super::evidence::{Claim, MAX_FRAMES, Traces};
use super::exchange::{received_leaf, received_mark};
use crate::game::fields::leaves::{MAX_DEPTH, MAX_LEAVES, MAX_PARTS, Part, Sums, TABLE_SUMS};
use crate::game::marks::{MAX_MARKS, Mark};
use crate::wire::autopsy::Note;
use crate::{Frame, OwnedLeaf};

/// The notes that the peer has sent, taken apart. The peer may be a phase ahead, so they are kept until ours needs them.
#[derive(Clone, Debug, Default)]
pub(crate) struct PeerClaims {
    claim: Option<Claim>,
    traces: Traces,
    /// The frame of its state, and how many leaves that has.
    examined: Option<(Frame, u32)>,
    /// The marks of its step into that frame; the last one is the end of the step.
    marks: Vec<Mark>,
    marks_complete: bool,
    /// The notes about its state, and those about the value of a mark after them.
    of_state: ValueNotes,
    of_phase: ValueNotes,
}

/// The notes about one value.
#[derive(Clone, Debug, Default)]
struct ValueNotes {
    tables: Vec<(Part, Box<Sums>)>,
    leaves: Vec<OwnedLeaf>,
    /// Whether the last of the leaves is here.
    complete: bool,
}

/// The notes of the peer that a report is made of.
pub(crate) struct PeerNotes {
    pub(crate) traces: Traces,
    pub(crate) leaves: Vec<OwnedLeaf>,
    pub(crate) marks: Vec<Mark>,
    pub(crate) phase_leaves: Vec<OwnedLeaf>,
}

impl PeerClaims {
    /// The claims that begin with this START.
    pub(crate) fn new(claim: Claim) -> Self {
        Self { claim: Some(claim), ..Self::default() }
    }

    /// Takes in a note after START; `false` if it is refused. A second START is.
    pub(crate) fn take(&mut self, note: Note<'_>) -> bool {
        match note {
            _ if self.claim.is_none() => return false,
            Note::Start { .. } | Note::Mended { .. } => return false,
            Note::Trace { resimulated, more, first, values } => {
                let Traces { recorded, resimulated: again } = &mut self.traces;
                let trace = if resimulated { again } else { recorded };
                if trace.complete || trace.values.len() + values.len() > MAX_FRAMES as usize + 1 {
                    return false;
                }
                if trace.values.is_empty() {
                    trace.first = first;
                }
                trace.values.extend(values.iter());
                trace.complete = !more;
            }
            Note::State { frame, leaves } => {
                self.examined.get_or_insert((frame, leaves));
            }
            Note::Table { levels, prefix, sums } => {
                let part = Part { levels, prefix };
                let notes = self.current();
                if notes.tables.len() < MAX_DEPTH * MAX_PARTS && notes.table(part).is_none() {
                    let mut table = Box::new([0; TABLE_SUMS]);
                    table.iter_mut().zip(sums.iter()).for_each(|(slot, sum)| *slot = sum);
                    notes.tables.push((part, table));
                }
            }
            Note::Leaves { more, leaves } => {
                let notes = self.current();
                if notes.complete || notes.leaves.len() + leaves.iter().count() > MAX_LEAVES {
                    return false;
                }
                notes.leaves.extend(leaves.iter().map(received_leaf));
                notes.complete = !more;
            }
            Note::Phases { more, marks } => {
                // Beside the marks of the game there is the end of the step.
                let is_too_much = self.marks.len() + marks.iter().count() > MAX_MARKS + 1;
                if self.examined.is_none() || self.marks_complete || is_too_much {
                    return false;
                }
                self.marks.extend(marks.iter().map(received_mark));
                self.marks_complete = !more;
            }
        }
        true
    }

    /// The notes that a table or a leaf belongs to: about the state, and after its last leaf about a mark.
    fn current(&mut self) -> &mut ValueNotes {
        if self.of_state.complete && self.marks_complete { &mut self.of_phase } else { &mut self.of_state }
    }

    /// Its START.
    pub(crate) fn claim(&self) -> Option<Claim> {
        self.claim
    }

    pub(crate) fn traces(&self) -> &Traces {
        &self.traces
    }

    /// The frame of its state, and how many leaves that has.
    pub(crate) fn examined(&self) -> Option<(Frame, u32)> {
        self.examined
    }

    /// The marks of its step, if it has sent the last of them.
    pub(crate) fn marks(&self) -> Option<&[Mark]> {
        self.marks_complete.then_some(&self.marks)
    }

    /// Whether it has sent the last of its leaves: of the marked value, or of the state.
    pub(crate) fn are_leaves_complete(&self, of_phase: bool) -> bool {
        self.notes(of_phase).complete
    }

    fn notes(&self, of_phase: bool) -> &ValueNotes {
        if of_phase { &self.of_phase } else { &self.of_state }
    }

    /// Everything that a report is made of. Marks that are not complete say nothing.
    pub(crate) fn into_notes(self) -> PeerNotes {
        PeerNotes {
            traces: self.traces,
            leaves: self.of_state.leaves,
            marks: if self.marks_complete { self.marks } else { Vec::new() },
            phase_leaves: self.of_phase.leaves,
        }
    }

    /// Whether the peer has sent a TRACE after its START.
    pub(crate) fn has_traces(&self) -> bool {
        [&self.traces.recorded, &self.traces.resimulated]
            .into_iter()
            .any(|trace| trace.complete || !trace.values.is_empty())
    }

    /// Its table of a part, if it has told that: of the marked value, or of the state.
    pub(crate) fn table(&self, of_phase: bool, part: Part) -> Option<&Sums> {
        self.notes(of_phase).table(part)
    }
}

impl ValueNotes {
    fn table(&self, part: Part) -> Option<&Sums> {
        self.tables.iter().find(|(known, _)| *known == part).map(|(_, sums)| &**sums)
    }
}

#[cfg(test)]
mod tests {
    use super::super::exchange::Exchange;
    use super::*;
    use crate::wire::autopsy::{self, Buffer};
    use crate::wire::message::MAX_AUTOPSY;

    fn begun() -> PeerClaims {
        PeerClaims::new(Claim::new(Frame(60), Some(Frame(30))))
    }

    /// Takes in a note that is written like this.
    fn takes(claims: &mut PeerClaims, write: impl FnOnce(&mut Buffer) -> usize) -> bool {
        let mut buf = [0; MAX_AUTOPSY];
        let len = write(&mut buf);
        claims.take(autopsy::decode(&buf[..len]).expect("well formed"))
    }

    #[test]
    fn nothing_is_taken_without_a_start() {
        assert!(!takes(&mut PeerClaims::default(), |buf| autopsy::write_state(Frame(60), 1, buf)));
    }

    #[test]
    fn complete_trace_is_not_continued() {
        let mut theirs = begun();
        for (more, first, taken) in [(true, 31, true), (false, 33, true), (false, 35, false)] {
            let write = |buf: &mut Buffer| autopsy::write_trace(false, more, Frame(first), &[1, 2], buf);
            assert_eq!(takes(&mut theirs, write), taken, "from {first}");
        }
        assert_eq!((theirs.traces.recorded.first, theirs.traces.recorded.values.len()), (Frame(31), 4));
        assert!(!theirs.traces.are_complete(), "the resimulated one is missing");
    }

    #[test]
    fn trace_has_as_many_values_as_frames_are_compared() {
        let mut theirs = begun();
        let values = [0; autopsy::MAX_TRACE_VALUES];
        let mut taken = 0;
        while takes(&mut theirs, |buf| autopsy::write_trace(true, true, Frame(taken), &values[..100], buf)) {
            taken += 100;
        }
        assert_eq!(taken, 600);
        assert!(takes(&mut theirs, |buf| autopsy::write_trace(true, true, Frame(600), &[1], buf)));
        assert!(!takes(&mut theirs, |buf| autopsy::write_trace(true, false, Frame(601), &[1], buf)));
    }

    #[test]
    fn first_state_and_first_table_of_a_part_count() {
        let mut theirs = begun();
        for value in [7, 8] {
            assert!(takes(&mut theirs, |buf| autopsy::write_state(Frame(value), value, buf)));
            assert!(takes(&mut theirs, |buf| autopsy::write_table(1, 5, &[value; TABLE_SUMS], buf)));
        }
        assert_eq!(theirs.examined, Some((Frame(7), 7)));
        assert_eq!(theirs.table(false, Part { levels: 1, prefix: 5 }), Some(&[7; TABLE_SUMS]));
        assert_eq!(theirs.table(false, Part { levels: 2, prefix: 5 }), None);
    }

    /// Takes in leaves in as many messages as they need; whether every one was taken.
    fn takes_leaves(claims: &mut PeerClaims, count: usize) -> bool {
        let leaf = OwnedLeaf { path: "hp".into(), words: vec![1], shown: "1".into() };
        let mut exchange = Exchange::default();
        exchange.leaves(&vec![leaf; count]);
        core::iter::from_fn(|| exchange.next_message())
            .all(|message| claims.take(autopsy::decode(&message).expect("well formed")))
    }

    #[test]
    fn leaves_are_taken_once_and_up_to_a_bound() {
        let mut theirs = begun();
        assert!(takes_leaves(&mut theirs, 256));
        assert!(!takes_leaves(&mut theirs, 0), "they were complete");
        assert_eq!((theirs.of_state.leaves.len(), theirs.are_leaves_complete(false)), (256, true));
        let mut greedy = begun();
        assert!(!takes_leaves(&mut greedy, 257) && !greedy.are_leaves_complete(false));
    }

    /// Takes in as many marks, after the last of which there are `more`.
    fn takes_phases(claims: &mut PeerClaims, more: bool, count: usize) -> bool {
        let mark = [1, b'x', 0, 0, 0, 1, 0, 0, 0, 1];
        let note = [vec![6, u8::from(more)], mark.repeat(count)].concat();
        claims.take(autopsy::decode(&note).expect("well formed"))
    }

    #[test]
    fn phases_are_taken_after_the_state_and_once() {
        let mut theirs = begun();
        assert!(!takes_phases(&mut theirs, false, 1), "before the state");
        assert!(takes(&mut theirs, |buf| autopsy::write_state(Frame(60), 1, buf)));
        assert!(takes_phases(&mut theirs, true, 100) && theirs.marks().is_none());
        assert!(!takes_phases(&mut theirs, false, 30), "one too many");
        assert!(takes_phases(&mut theirs, false, 29));
        assert_eq!(theirs.marks().map(<[Mark]>::len), Some(129));
        assert!(!takes_phases(&mut theirs, false, 0), "they were complete");
    }

    #[test]
    fn notes_after_the_leaves_are_about_a_phase() {
        let mut theirs = begun();
        assert!(takes(&mut theirs, |buf| autopsy::write_state(Frame(60), 1, buf)));
        assert!(takes_phases(&mut theirs, false, 2));
        for of_phase in [false, true] {
            let value = u32::from(of_phase);
            assert!(takes(&mut theirs, |buf| autopsy::write_table(0, 0, &[value; TABLE_SUMS], buf)));
            assert!(takes_leaves(&mut theirs, 1));
        }
        assert!(!takes_leaves(&mut theirs, 1), "both are complete");
        for of_phase in [false, true] {
            let table = theirs.table(of_phase, Part::ALL).expect("told");
            assert_eq!((table[0], theirs.are_leaves_complete(of_phase)), (u32::from(of_phase), true));
        }
        let notes = theirs.into_notes();
        assert_eq!((notes.leaves.len(), notes.phase_leaves.len(), notes.marks.len()), (1, 1, 2));
    }

    #[test]
    fn tables_are_kept_up_to_a_bound() {
        let mut theirs = begun();
        for prefix in 0..100 {
            assert!(takes(&mut theirs, |buf| autopsy::write_table(1, prefix, &[0; TABLE_SUMS], buf)));
        }
        assert_eq!(theirs.of_state.tables.len(), 24);
    }
}
