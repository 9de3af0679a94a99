//! Plays the inputs of a bundle again, and says which machine's state comes out.

use super::Bundle;
use crate::desync::autopsy::OwnedLeaf;
use crate::{Cues, Difference, Fields, Frame, Game, Player, checksum, walk};
use rustc_hash::FxHashMap;

/// What a clean run of a bundle's inputs came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rerun {
    /// The checksum of the last matching frame, and which that is.
    pub last_match: Option<(Frame, u32)>,
    /// The checksum of the first diverging frame, and which that is.
    pub first_divergence: (Frame, u32),
    /// What the state recorded on each player's machine has otherwise in that frame: left what was recorded, right
    /// what came out now.
    pub differs: [Vec<Difference>; 2],
    /// How many leaves were recorded on each player's machine, and so compared.
    pub compared: [usize; 2],
}

impl Rerun {
    /// Whether what was recorded on a player's machine is what came out now; `None` if nothing was recorded.
    #[must_use]
    pub fn matches(&self, player: Player) -> Option<bool> {
        (self.compared[player.index()] > 0).then(|| self.differs[player.index()].is_empty())
    }
}

impl Bundle {
    /// Steps `game`, which is in its first state and made from the seed of the [replay](Self::replay), up to the
    /// first diverging frame.
    pub fn rerun<G: Game>(&self, game: &mut G) -> Rerun {
        let (autopsy, mut cues) = (self.autopsy(), Cues::new());
        let end = autopsy.first_divergence;
        let mut slot = game.snapshot();
        let mut last_match = None;
        let mut frame = Frame::ZERO;
        // A bundle whose replay does not reach this far is not made, and not read.
        for inputs in self.replay().inputs.iter().take(end.0 as usize) {
            if autopsy.last_match == Some(frame) {
                game.save(&mut slot);
                last_match = Some((frame, checksum(&slot)));
            }
            cues.clear();
            game.step(*inputs, &mut cues);
            frame = frame.next();
        }
        game.save(&mut slot);
        let [one, two] = &autopsy.states;
        Rerun {
            last_match,
            first_divergence: (frame, checksum(&slot)),
            differs: [differences(one, &slot), differences(two, &slot)],
            compared: [one.len(), two.len()],
        }
    }
}

/// The recorded leaves that are otherwise in `state`.
fn differences<S: Fields>(recorded: &[OwnedLeaf], state: &S) -> Vec<Difference> {
    let paths: FxHashMap<&str, usize> =
        recorded.iter().enumerate().map(|(at, leaf)| (leaf.path.as_str(), at)).collect();
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
