//! The clean re-run of a bundle: plays its inputs again and compares the state that comes out with both machines'.

use super::Bundle;
use crate::session::desync::by_path;
use crate::{Cues, Difference, Fields, Frame, Game, OwnedLeaf, Player, StateError, checksum, walk};

/// The outcome of a clean run of a bundle's inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rerun {
    /// The checksum of the last matching frame, and which that is.
    pub last_match: Option<(Frame, u32)>,
    /// The checksum of the first diverging frame, and which that is.
    pub first_divergence: (Frame, u32),
    /// The fields of the state recorded on each player's machine that differ from the re-run: left as recorded, right as
    /// re-run.
    pub differs: [Vec<Difference>; 2],
    /// How many leaves were recorded on each player's machine, and so compared.
    pub compared: [usize; 2],
}

impl Rerun {
    /// Whether the re-run gives the state recorded on a player's machine; `None` if none was recorded.
    #[must_use]
    pub fn matches(&self, player: Player) -> Option<bool> {
        (self.compared[player.index()] > 0).then(|| self.differs[player.index()].is_empty())
    }
}

impl Bundle {
    /// Steps `game`, which is in its first state and made from the seed of the [replay](Self::replay), up to the
    /// first diverging frame.
    ///
    /// # Errors
    /// If the game could not save a state.
    pub fn rerun<G: Game>(&self, game: &mut G) -> Result<Rerun, StateError> {
        let (autopsy, mut cues) = (self.autopsy(), Cues::unseen());
        let end = autopsy.first_divergence;
        let mut slot = game.snapshot();
        let mut last_match = None;
        let mut frame = Frame::ZERO;
        // A bundle whose replay does not reach this far is not made, and not read.
        for inputs in self.replay().inputs.iter().take(end.0 as usize) {
            if autopsy.last_match == Some(frame) {
                game.save(&mut slot)?;
                last_match = Some((frame, checksum(&slot)));
            }
            cues.clear();
            game.step(*inputs, &mut cues);
            frame = frame.next();
        }
        game.save(&mut slot)?;
        let [one, two] = &autopsy.states;
        Ok(Rerun {
            last_match,
            first_divergence: (frame, checksum(&slot)),
            differs: [differences(one, &slot), differences(two, &slot)],
            compared: [one.len(), two.len()],
        })
    }
}

/// The recorded leaves that differ from those of `state`.
fn differences<S: Fields>(recorded: &[OwnedLeaf], state: &S) -> Vec<Difference> {
    let paths = by_path(recorded);
    let mut found: Vec<Option<OwnedLeaf>> = vec![None; recorded.len()];
    walk(state, |leaf| {
        let now = OwnedLeaf::of(leaf);
        if let Some(at) = paths.get(now.path.as_str()) {
            found[*at] = Some(now);
        }
    });
    let pairs = recorded.iter().zip(found);
    pairs
        .filter(|(then, now)| now.as_ref().is_none_or(|now| now.words != then.words))
        .map(|(then, now)| Difference {
            path: then.path.clone(),
            left: Some(then.shown.clone()),
            right: now.map(|now| now.shown),
        })
        .collect()
}
