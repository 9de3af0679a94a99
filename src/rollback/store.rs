//! The snapshots of an engine, by its saving policy.

use super::snapshots::Snapshots;
use super::sparse::SparseSnapshots;
use crate::Frame;

/// The snapshots of the last frames: of every one, or of few.
///
/// Under a sparse policy `every` has no slots and therefore holds no frame. It is asked first, so that small states, which are
/// saved in every frame, do not pay for the policy.
#[derive(Clone, Debug)]
pub(super) struct Store<S> {
    every: Snapshots<S>,
    sparse: Option<SparseSnapshots<S>>,
}

impl<S> Store<S> {
    pub(super) fn new(window: u32, cadence: u32, is_sparse: bool, make: impl FnMut() -> S) -> Self {
        if is_sparse {
            let sparse = SparseSnapshots::new(window, cadence, make);
            return Self {
                every: Snapshots::new(0, || unreachable!("no slot is made")),
                sparse: Some(sparse),
            };
        }
        // One snapshot for each frame of the window and the current one, and one for a settled frame that the caller has not
        // looked at yet.
        Self { every: Snapshots::new(window + 2, make), sparse: None }
    }

    pub(super) fn is_sparse(&self) -> bool {
        self.sparse.is_some()
    }

    pub(super) fn clear(&mut self) {
        self.every.restart(Frame::ZERO);
        if let Some(sparse) = &mut self.sparse {
            sparse.clear();
        }
    }

    /// Drops all snapshots, and returns the slot for that of `frame`, the oldest that can still be restored.
    pub(super) fn begin_at(&mut self, frame: Frame) -> Option<&mut S> {
        self.every.restart(frame);
        match &mut self.sparse {
            Some(sparse) => {
                sparse.drop_all();
                sparse.claim(frame, frame)
            }
            None => self.every.claim(frame),
        }
    }

    /// Drops all snapshots. The next one to be saved is that of `frame`.
    pub(super) fn drop_all(&mut self, frame: Frame) {
        self.every.restart(frame);
        if let Some(sparse) = &mut self.sparse {
            sparse.drop_all();
        }
    }

    /// The slot for the snapshot of `frame`, if every frame is saved: it is one that is held, or the next.
    #[inline]
    pub(super) fn claim(&mut self, frame: Frame) -> Option<&mut S> {
        self.every.claim(frame)
    }

    /// The slot for the snapshot of `frame`, if a sparse policy wants it.
    pub(super) fn claim_sparse(
        &mut self,
        frame: Frame,
        uncertain: Frame,
        settled: Frame,
        resimulating: bool,
    ) -> Option<&mut S> {
        let sparse = self.sparse.as_mut()?;
        if sparse.wants(frame, uncertain, resimulating) { sparse.claim(frame, settled) } else { None }
    }

    /// The slot for the last state of a match. Frames after it are dropped. `settled` is as for the claim of a sparse policy.
    pub(super) fn claim_last(&mut self, frame: Frame, settled: Frame) -> Option<&mut S> {
        self.truncate_after(frame);
        match &mut self.sparse {
            Some(sparse) => sparse.claim(frame, settled),
            None => self.every.claim(frame),
        }
    }

    #[inline]
    pub(super) fn get(&self, frame: Frame) -> Option<&S> {
        match self.every.get(frame) {
            None => self.sparse.as_ref()?.get(frame),
            held => held,
        }
    }

    /// Releases the snapshot of a frame, which the caller may swap. The frame reads as absent from now on.
    #[inline]
    pub(super) fn release(&mut self, frame: Frame) -> Option<&mut S> {
        match self.every.release(frame) {
            None => self.sparse.as_mut()?.release(frame),
            released => released,
        }
    }

    /// The snapshot to restore for a rollback to `frame`: that of the frame itself, or the nearest before it.
    #[inline]
    pub(super) fn nearest(&self, frame: Frame) -> Option<(Frame, &S)> {
        match self.every.get(frame) {
            None => self.sparse.as_ref()?.nearest(frame),
            Some(snapshot) => Some((frame, snapshot)),
        }
    }

    /// Drops every snapshot after `frame`.
    pub(super) fn truncate_after(&mut self, frame: Frame) {
        match &mut self.sparse {
            Some(sparse) => sparse.truncate_after(frame),
            None => self.every.truncate_after(frame),
        }
    }

    /// Lets no rollback begin at `frame` or before it, if a sparse policy would.
    pub(super) fn forget_bases_up_to(&mut self, frame: Frame) {
        if let Some(sparse) = &mut self.sparse {
            sparse.forget_bases_up_to(frame);
        }
    }

    /// Drops the snapshots after `frame`, which are wrong, unless they are about to be overwritten anyway.
    #[inline]
    pub(super) fn roll_back(&mut self, frame: Frame) {
        if let Some(sparse) = &mut self.sparse {
            sparse.truncate_after(frame);
        }
    }
}
