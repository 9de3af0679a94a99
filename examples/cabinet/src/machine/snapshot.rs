//! A snapshot of a core: its save state, and its memory under the names and addresses that a debugger knows.

use rebout::{Fields, Visitor};

use crate::ffi::Region;

/// The state of a machine in one frame.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    pub(super) frame: u32,
    pub(super) regions: Vec<Memory>,
    pub(super) state: Vec<u8>,
}

/// Bytes that are named by their addresses.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    name: String,
    base: u32,
    pub(super) bytes: Vec<u8>,
}

impl Snapshot {
    pub(super) fn of(regions: &[Region]) -> Self {
        let memory =
            |region: &Region| Memory { name: region.name.clone(), base: region.base, bytes: Vec::new() };
        Self { frame: 0, regions: regions.iter().map(memory).collect(), state: Vec::new() }
    }

    /// The bytes of the save state.
    pub fn state(&self) -> &[u8] {
        &self.state
    }
}

impl Fields for Memory {
    fn visit<V: Visitor>(&self, visitor: &mut V) {
        visitor.addressed(self.base, &self.bytes);
    }
}

/// The save state, named by its offsets.
struct Whole<'a>(&'a Vec<u8>);

impl Fields for Whole<'_> {
    fn visit<V: Visitor>(&self, visitor: &mut V) {
        visitor.addressed(0, self.0);
    }
}

impl Fields for Snapshot {
    fn visit<V: Visitor>(&self, visitor: &mut V) {
        visitor.field("frame", &self.frame);
        for memory in &self.regions {
            visitor.field(&memory.name, memory);
        }
        visitor.field("state", &Whole(&self.state));
    }
}
