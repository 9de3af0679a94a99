//! The testimony of the peer: everything that it has told in an autopsy, within bounds.

use super::evidence::{Claim, MAX_FRAMES, Traces};
use super::leaves::{MAX_DEPTH, MAX_LEAVES, MAX_PARTS, OwnedLeaf, Part, Sums};
use crate::Frame;
use crate::wire::autopsy::{Note, TABLE_SUMS};

/// The notes that the peer has sent, taken apart. The peer may be a phase ahead, so they are kept until ours needs them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Testimony {
    pub(crate) claim: Option<Claim>,
    pub(crate) traces: Traces,
    /// The frame of its state, and how many leaves that has.
    pub(crate) subject: Option<(Frame, u32)>,
    tables: Vec<(Part, Box<Sums>)>,
    pub(crate) leaves: Vec<OwnedLeaf>,
    pub(crate) leaves_complete: bool,
}

impl Testimony {
    /// The testimony that begins with this START.
    pub(crate) fn new(claim: Claim) -> Self {
        Self { claim: Some(claim), ..Self::default() }
    }

    /// Takes in a note after START; `false` if it is refused. A second START is.
    pub(crate) fn take(&mut self, note: Note<'_>) -> bool {
        match note {
            _ if self.claim.is_none() => return false,
            Note::Start { .. } => return false,
            Note::Trace { resimulated, more, first, values } => {
                let Traces { lived, resimulated: again } = &mut self.traces;
                let trace = if resimulated { again } else { lived };
                if trace.complete || trace.values.len() + values.len() > MAX_FRAMES as usize + 1 {
                    return false;
                }
                if trace.values.is_empty() {
                    trace.first = first;
                }
                trace.values.extend(values.iter());
                trace.complete = !more;
            }
            Note::Subject { frame, leaves } => {
                self.subject.get_or_insert((frame, leaves));
            }
            Note::Table { levels, prefix, sums } => {
                let part = Part { levels, prefix };
                if self.tables.len() < MAX_DEPTH * MAX_PARTS && self.table(part).is_none() {
                    let mut table = Box::new([0; TABLE_SUMS]);
                    table.iter_mut().zip(sums.iter()).for_each(|(slot, sum)| *slot = sum);
                    self.tables.push((part, table));
                }
            }
            Note::Leaves { more, leaves } => {
                if self.leaves_complete || self.leaves.len() + leaves.iter().count() > MAX_LEAVES {
                    return false;
                }
                self.leaves.extend(leaves.iter().map(OwnedLeaf::received));
                self.leaves_complete = !more;
            }
        }
        true
    }

    /// Whether the peer has sent a TRACE after its START.
    pub(crate) fn has_traces(&self) -> bool {
        [&self.traces.lived, &self.traces.resimulated]
            .into_iter()
            .any(|trace| trace.complete || !trace.values.is_empty())
    }

    /// Its table of a part, if it has told that.
    pub(crate) fn table(&self, part: Part) -> Option<&Sums> {
        self.tables.iter().find(|(known, _)| *known == part).map(|(_, sums)| &**sums)
    }
}
