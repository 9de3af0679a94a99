//! Stepping again what was lived.

use super::evidence::MOST_FRAMES;
use crate::desync::watch::Archive;
use crate::{Cues, Fields, Frame, Game, Inputs};

/// The inputs of the frames from `base` up to and without `target`, if all of them are kept.
pub(crate) fn inputs_between<S: Fields>(
    archive: &Archive<S>,
    base: Frame,
    target: Frame,
) -> Option<Vec<Inputs>> {
    if target.since(base) > MOST_FRAMES {
        return None;
    }
    base.until(target).map(|frame| archive.inputs(frame)).collect()
}

/// Steps from a snapshot on, with cues off, shows every state on the way, answers the last one, and leaves the game
/// as it was.
pub(crate) fn resimulate<G: Game>(
    game: &mut G,
    from: &G::Snapshot,
    inputs: &[Inputs],
    mut look: impl FnMut(&G::Snapshot),
) -> G::Snapshot {
    let as_it_was = game.snapshot();
    game.restore(from);
    let mut slot = game.snapshot();
    let mut cues = Cues::new();
    for inputs in inputs {
        cues.clear();
        game.step(*inputs, &mut cues);
        game.save(&mut slot);
        look(&slot);
    }
    game.restore(&as_it_was);
    slot
}
