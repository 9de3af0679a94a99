//! `Pages`: a flat memory of which a save or a restore copies the changed pages alone.

use crate::game::fields::Visitor;
use crate::{Fields, Save, StateError};
use core::fmt;
use core::ops::{Deref, Range};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The size of a page. Smaller ones copy less beside what was written, and cost a comparison each.
const PAGE_BYTES: usize = 1024;

/// The version that is given out next. One counter for all memories of the process: no version ever stands for two
/// contents, even where a snapshot of one memory is restored into another.
static NEXT_VERSION: AtomicU64 = AtomicU64::new(1);

fn new_version() -> u64 {
    NEXT_VERSION.fetch_add(1, Relaxed)
}

/// The memory of a machine: an emulator's core, an interpreter, a world in one block.
///
/// It is read as a slice of bytes. Everything that writes says where, and that page gets a new version. A save or a restore
/// copies the pages whose versions differ, a kibibyte each, and compares one number for each other: a machine with a
/// mebibyte of memory that writes a few pages a frame saves it in a few microseconds.
///
/// Versions are no part of the state: a restored page has the version that it was saved with, and the next write gives it one
/// that no page has had before. The checksum is that of the bytes.
///
/// ```
/// use rebout::{Cues, Game, Inputs, Pages, Player, Save, StateError, fields};
///
/// struct Core { memory: Pages, counter: u16 }          // and a picture, which is no part of the state
///
/// #[derive(Clone)]
/// struct CoreState { memory: Pages, counter: u16 }
/// fields!(CoreState { memory, counter });
///
/// impl Save for Core {
///     type Snapshot = CoreState;
///     fn snapshot(&self) -> CoreState {
///         CoreState { memory: self.memory.clone(), counter: self.counter }
///     }
///     fn save(&self, slot: &mut CoreState) -> Result<(), StateError> {
///         self.memory.save(&mut slot.memory)?;
///         slot.counter = self.counter;
///         Ok(())
///     }
///     fn restore(&mut self, snapshot: &CoreState) -> Result<(), StateError> {
///         self.memory.restore(&snapshot.memory)?;
///         self.counter = snapshot.counter;
///         Ok(())
///     }
/// }
///
/// impl Game for Core {
///     fn step(&mut self, inputs: Inputs, _: &mut Cues) {
///         self.counter = self.counter.wrapping_mul(5).wrapping_add(1);
///         let at = usize::from(self.counter);
///         let sum = self.memory[at].wrapping_add(inputs[Player::One].buttons().0 as u8);
///         self.memory.set(at, sum);
///     }
/// }
///
/// let mut core = Core { memory: Pages::new(1 << 16), counter: 0 };
/// let before = core.snapshot();
/// core.step(Inputs::default(), &mut Cues::new());
/// core.memory.write(4, b"score");
/// assert_eq!(&core.memory[..10], b"\0\0\0\0score\0");
/// core.restore(&before)?;                              // copies two pages of 64
/// assert_eq!(core.memory, before.memory);
/// # Ok::<(), StateError>(())
/// ```
pub struct Pages {
    bytes: Vec<u8>,
    /// The version of each page. Two pages of one number with equal versions have equal contents.
    versions: Vec<u64>,
    /// The version of the pages that are written from now on. Replaced by every copy, also of a borrowed memory, because
    /// a page that is written after a copy differs from it.
    writing: AtomicU64,
}

impl Pages {
    /// A memory of this many zeros.
    #[must_use]
    pub fn new(len: usize) -> Self {
        Self::from(vec![0; len])
    }

    /// Writes a byte.
    ///
    /// # Panics
    /// If `at` is outside the memory, as for a slice.
    #[inline]
    pub fn set(&mut self, at: usize, byte: u8) {
        self.bytes[at] = byte;
        self.versions[at / PAGE_BYTES] = *self.writing.get_mut();
    }

    /// Writes bytes from `at` on.
    ///
    /// # Panics
    /// If they are not all inside the memory, as for a slice.
    #[inline]
    pub fn write(&mut self, at: usize, bytes: &[u8]) {
        self.slice_mut(at..at + bytes.len()).copy_from_slice(bytes);
    }

    /// A range of the memory to be written. All its pages count as changed.
    ///
    /// # Panics
    /// If the range is not inside the memory, as for a slice.
    #[inline]
    pub fn slice_mut(&mut self, range: Range<usize>) -> &mut [u8] {
        let slice = &mut self.bytes[range.clone()];
        if !slice.is_empty() {
            let pages = range.start / PAGE_BYTES..=(range.end - 1) / PAGE_BYTES;
            self.versions[pages].fill(*self.writing.get_mut());
        }
        slice
    }

    /// Makes this memory equal to `other`, by the pages that differ.
    fn copy_from(&mut self, other: &Self) {
        if self.bytes.len() == other.bytes.len() {
            let pages = self.bytes.chunks_mut(PAGE_BYTES).zip(other.bytes.chunks(PAGE_BYTES));
            for ((page, copied), (version, new)) in pages.zip(self.versions.iter_mut().zip(&other.versions)) {
                if version != new {
                    page.copy_from_slice(copied);
                    *version = *new;
                }
            }
        } else {
            self.bytes.clone_from(&other.bytes);
            self.versions.clone_from(&other.versions);
        }
        self.write_anew();
        other.write_anew();
    }

    /// Gives the pages that are written from now on another version.
    fn write_anew(&self) {
        self.writing.store(new_version(), Relaxed);
    }
}

impl From<Vec<u8>> for Pages {
    /// A memory with these contents.
    fn from(bytes: Vec<u8>) -> Self {
        let version = new_version();
        let versions = vec![version; bytes.len().div_ceil(PAGE_BYTES)];
        Self { bytes, versions, writing: AtomicU64::new(new_version()) }
    }
}

impl Save for Pages {
    type Snapshot = Self;

    fn snapshot(&self) -> Self {
        self.clone()
    }

    fn save(&self, slot: &mut Self) -> Result<(), StateError> {
        slot.copy_from(self);
        Ok(())
    }

    fn restore(&mut self, snapshot: &Self) -> Result<(), StateError> {
        self.copy_from(snapshot);
        Ok(())
    }
}

/// The bytes, as a slice of them.
impl Fields for Pages {
    #[inline]
    fn visit<V: Visitor>(&self, visitor: &mut V) {
        self.bytes.visit(visitor);
    }
}

impl Clone for Pages {
    fn clone(&self) -> Self {
        self.write_anew();
        let writing = AtomicU64::new(new_version());
        Self { bytes: self.bytes.clone(), versions: self.versions.clone(), writing }
    }
}

impl Deref for Pages {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl PartialEq for Pages {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl Eq for Pages {}

impl fmt::Debug for Pages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pages").field("len", &self.bytes.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checksum;
    use proptest::prelude::*;

    /// The pages that a copy would touch.
    fn differing(one: &Pages, two: &Pages) -> Vec<usize> {
        (0..one.versions.len()).filter(|at| one.versions[*at] != two.versions[*at]).collect()
    }

    #[test]
    fn write_changes_the_versions_of_its_pages_alone() {
        let mut memory = Pages::new(5 * PAGE_BYTES + 1);
        let before = memory.snapshot();
        assert!(differing(&memory, &before).is_empty());
        memory.set(PAGE_BYTES, 0);
        memory.write(3 * PAGE_BYTES - 1, &[1, 2]);
        memory.write(7, &[]);
        memory.slice_mut(5 * PAGE_BYTES + 1..5 * PAGE_BYTES + 1);
        assert_eq!(differing(&memory, &before), [1, 2, 3]);
        memory.slice_mut(5 * PAGE_BYTES..5 * PAGE_BYTES + 1)[0] = 9;
        assert_eq!(differing(&memory, &before), [1, 2, 3, 5]);
        memory.restore(&before).unwrap();
        assert!(differing(&memory, &before).is_empty() && memory.iter().all(|byte| *byte == 0));
    }

    #[test]
    fn page_written_after_a_restore_gets_a_new_version() {
        let mut memory = Pages::new(PAGE_BYTES);
        let start = memory.snapshot();
        let mut slot = memory.snapshot();
        for value in 1..4 {
            memory.restore(&start).unwrap();
            memory.set(0, value);
            memory.save(&mut slot).unwrap();
            assert_eq!(slot[0], value);
        }
    }

    #[test]
    fn copy_and_original_never_share_a_version_for_two_contents() {
        let mut one = Pages::new(PAGE_BYTES);
        one.set(0, 1);
        let mut two = one.clone();
        one.set(0, 2);
        two.set(0, 3);
        one.restore(&two).unwrap();
        assert_eq!(one[0], 3);
        let mut slot = two.snapshot();
        slot.set(0, 4);
        two.restore(&slot).unwrap();
        slot.set(0, 5);
        two.restore(&slot).unwrap();
        assert_eq!(two[0], 5, "a snapshot that was written itself");
        let shorter = Pages::new(3);
        two.restore(&shorter).unwrap();
        assert_eq!((&two, two.versions.len()), (&shorter, 1));
    }

    #[test]
    fn checksum_is_that_of_the_bytes() {
        let bytes: Vec<u8> = (0..5_000_u32).map(|at| (at * 7) as u8).collect();
        assert_eq!(checksum(&Pages::from(bytes.clone())), checksum(&bytes));
    }

    /// Lengths around the ends of a page, and none at all.
    const LENGTHS: [usize; 6] = [0, 1, PAGE_BYTES - 1, PAGE_BYTES, PAGE_BYTES + 1, 3 * PAGE_BYTES + 7];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        /// Memories of any length, each of which may be saved to, restored from and exchanged with any other.
        #[test]
        fn any_memory_takes_the_image_of_any_other(
            moves in prop::collection::vec((0_u8..6, 0_usize..6, 0_usize..6, any::<usize>(), any::<u8>()), 1..200)
        ) {
            let mut pages = LENGTHS.map(Pages::new);
            let mut whole = LENGTHS.map(|len| vec![0_u8; len]);
            for (kind, one, two, at, byte) in moves {
                let len = whole[one].len();
                let from = if len == 0 { 0 } else { at % len };
                let copied = pages[two].clone();
                match kind {
                    0 => pages[one].restore(&copied).unwrap(),
                    1 => copied.save(&mut pages[one]).unwrap(),
                    2 => pages[one].clone_from(&copied),
                    3 => pages.swap(one, two),
                    4 if len > 0 => pages[one].set(from, byte),
                    _ => pages[one].write(from, &vec![byte; (len - from).min(1_500)]),
                }
                match kind {
                    0..=2 => whole[one] = whole[two].clone(),
                    3 => whole.swap(one, two),
                    4 if len > 0 => whole[one][from] = byte,
                    _ => whole[one][from..(from + 1_500).min(len)].fill(byte),
                }
                for (pages, whole) in pages.iter().zip(&whole) {
                    prop_assert_eq!(&**pages, &**whole);
                    prop_assert_eq!(pages.versions.len(), whole.len().div_ceil(PAGE_BYTES));
                }
            }
        }
    }

    proptest! {
        /// Against a memory that is copied whole.
        #[test]
        fn paged_saves_and_restores_equal_whole_copies(
            moves in prop::collection::vec((0_u8..4, 0_usize..4, 0_usize..5_000, any::<u8>()), 1..200)
        ) {
            let mut memory = Pages::new(5_000);
            let mut whole = vec![0_u8; 5_000];
            let mut slots = [(); 4].map(|()| (memory.snapshot(), whole.clone()));
            for (kind, slot, at, byte) in moves {
                let (pages, copy) = &mut slots[slot];
                match kind {
                    0 => {
                        memory.save(pages).unwrap();
                        copy.clone_from(&whole);
                    }
                    1 => {
                        memory.restore(pages).unwrap();
                        whole.clone_from(copy);
                    }
                    2 => {
                        memory.set(at, byte);
                        whole[at] = byte;
                    }
                    _ => {
                        let end = (at + 1_500).min(5_000);
                        memory.slice_mut(at..end).fill(byte);
                        whole[at..end].fill(byte);
                    }
                }
                prop_assert_eq!(&*memory, &*whole);
                prop_assert!(slots.iter().all(|(pages, copy)| **pages == **copy));
            }
        }
    }
}
