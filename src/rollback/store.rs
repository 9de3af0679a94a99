//! The snapshots of an engine, by its saving policy.

use super::snapshots::Snapshots;
use super::sparse::SparseSnapshots;
use crate::Frame;

/// The snapshots of the last frames: of every one, or of few.
#[derive(Clone, Debug)]
pub(super) enum Store<S> {
    Every(Snapshots<S>),
    Sparse(SparseSnapshots<S>),
}

impl<S> Store<S> {
    pub(super) fn clear(&mut self) {
        match self {
            Self::Every(snapshots) => snapshots.restart(Frame::ZERO),
            Self::Sparse(snapshots) => snapshots.clear(),
        }
    }

    #[inline]
    pub(super) fn get(&self, frame: Frame) -> Option<&S> {
        match self {
            Self::Every(snapshots) => snapshots.get(frame),
            Self::Sparse(snapshots) => snapshots.get(frame),
        }
    }

    #[inline]
    pub(super) fn release(&mut self, frame: Frame) -> Option<&mut S> {
        match self {
            Self::Every(snapshots) => snapshots.release(frame),
            Self::Sparse(snapshots) => snapshots.release(frame),
        }
    }

    /// The snapshot to restore for a rollback to `frame`: that of the frame itself, or the nearest before it.
    #[inline]
    pub(super) fn nearest(&self, frame: Frame) -> Option<(Frame, &S)> {
        match self {
            Self::Every(snapshots) => snapshots.get(frame).map(|snapshot| (frame, snapshot)),
            Self::Sparse(snapshots) => snapshots.nearest(frame),
        }
    }

    /// Drops the snapshots after `frame`, which are wrong, unless they are about to be overwritten anyway.
    #[inline]
    pub(super) fn roll_back(&mut self, frame: Frame) {
        if let Self::Sparse(snapshots) = self {
            snapshots.truncate_after(frame);
        }
    }

    /// The slot for the last state of a match. Frames after it are dropped. `settled` is as for the claim of a sparse store.
    pub(super) fn claim_last(&mut self, frame: Frame, settled: Frame) -> Option<&mut S> {
        match self {
            Self::Every(snapshots) => {
                snapshots.truncate_after(frame);
                snapshots.claim(frame)
            }
            Self::Sparse(snapshots) => {
                snapshots.truncate_after(frame);
                snapshots.claim(frame, settled)
            }
        }
    }
}
