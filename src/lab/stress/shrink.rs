//! Makes a failure small: as few frames and as few impairments as it still happens with.

use super::case::{Case, extras};
use super::outcome::{Keep, Outcome, Trouble};

/// Plays a match.
pub(super) type Player<'a> = &'a dyn Fn(&Case, Keep) -> Outcome;

/// A smaller match that fails in the same way.
pub(super) struct Shrunk {
    pub(super) case: Case,
    pub(super) outcome: Outcome,
}

/// Shrinks until taking away any one impairment, or a tenth of the frames, makes the failure go away.
pub(super) fn shrink(play: Player<'_>, case: &Case, outcome: Outcome) -> Shrunk {
    let mut shrunk = Shrunk { case: case.clone(), outcome };
    if matches!(shrunk.outcome.trouble, Some(Trouble::Vacuous { .. })) {
        // Less of a match that proves nothing proves nothing either.
        return shrunk;
    }
    loop {
        let fewer_frames = shrunk.fewer_frames(play);
        if !shrunk.fewer_impairments(play) && !fewer_frames {
            return shrunk;
        }
    }
}

impl Shrunk {
    fn attempt(&mut self, play: Player<'_>, case: Case) -> bool {
        let outcome = play(&case, Keep { inputs: true, ..Keep::default() });
        let same = outcome.failed() && manner(&outcome) == manner(&self.outcome);
        if same {
            (self.case, self.outcome) = (case, outcome);
        }
        same
    }

    /// First by half, then by a tenth at a time.
    fn fewer_frames(&mut self, play: Player<'_>) -> bool {
        let before = self.case.frames;
        for part in [2, 10] {
            loop {
                let frames = self.case.frames - self.case.frames.div_ceil(part);
                if frames == 0 || !self.attempt(play, Case { frames, ..self.case.clone() }) {
                    break;
                }
            }
        }
        self.case.frames < before
    }

    fn fewer_impairments(&mut self, play: Player<'_>) -> bool {
        let before = self.case.without.len();
        for extra in extras() {
            if self.case.has(extra) {
                self.attempt(play, self.case.without(extra));
            }
        }
        let mut tried: Vec<&str> = Vec::new();
        // The list of simpler links changes with every step, and is therefore made again.
        while let Some((name, _)) = self.case.link.simpler().find(|(name, _)| !tried.contains(name)) {
            tried.push(name);
            self.attempt(play, self.case.without(name));
        }
        self.case.without.len() > before
    }
}

/// In what way a match failed: what kind of trouble, and what the autopsy says of it. A smaller match that fails in
/// another way is another failure.
fn manner(outcome: &Outcome) -> (Option<u8>, Option<(&str, Option<&str>)>) {
    let told = outcome
        .autopsy()
        .map(|autopsy| (autopsy.verdict.name(), autopsy.fields.first().map(|field| field.path.as_str())));
    (outcome.trouble.as_ref().map(Trouble::kind), told)
}
