//! Makes a failure small: as few frames and as few impairments as it still happens with.

use crate::cli::EXTRAS;
use crate::roster::Subject;
use crate::trial::{Case, Keep, Outcome, Trouble};

/// A smaller match that fails in the same way.
pub(crate) struct Shrunk {
    pub(crate) case: Case,
    /// The impairments that were taken away, by name.
    pub(crate) without: Vec<&'static str>,
    pub(crate) outcome: Outcome,
    /// How many matches it took.
    pub(crate) tries: u32,
}

/// Shrinks until taking away any one impairment, or a tenth of the frames, makes the failure go away.
pub(crate) fn shrink(subject: &Subject, case: &Case, outcome: Outcome) -> Shrunk {
    let mut shrunk = Shrunk { case: case.clone(), without: Vec::new(), outcome, tries: 0 };
    if matches!(shrunk.outcome.trouble, Some(Trouble::Vacuous { .. })) {
        // Less of a match that proves nothing proves nothing either.
        return shrunk;
    }
    loop {
        let fewer_frames = shrunk.fewer_frames(subject);
        if !shrunk.fewer_impairments(subject) && !fewer_frames {
            return shrunk;
        }
    }
}

impl Shrunk {
    fn attempt(&mut self, subject: &Subject, case: Case) -> bool {
        self.tries += 1;
        let outcome = subject.play(&case, Keep { inputs: true, ..Keep::default() });
        let same = outcome.failed() && manner(&outcome) == manner(&self.outcome);
        if same {
            (self.case, self.outcome) = (case, outcome);
        }
        same
    }

    /// First by half, then by a tenth at a time.
    fn fewer_frames(&mut self, subject: &Subject) -> bool {
        let before = self.case.frames;
        for part in [2, 10] {
            loop {
                let frames = self.case.frames - self.case.frames.div_ceil(part);
                if frames == 0 || !self.attempt(subject, Case { frames, ..self.case.clone() }) {
                    break;
                }
            }
        }
        self.case.frames < before
    }

    fn fewer_impairments(&mut self, subject: &Subject) -> bool {
        let before = self.without.len();
        for extra in EXTRAS {
            let mut case = self.case.clone();
            match extra {
                "variety" => case.variety = false,
                _ => case.rematch = false,
            }
            if case != self.case && self.attempt(subject, case) {
                self.without.push(extra);
            }
        }
        let mut tried: Vec<&str> = Vec::new();
        // The list of simpler links changes with every step, and is therefore made anew.
        while let Some((name, link)) = self.case.link.simpler().find(|(name, _)| !tried.contains(name)) {
            tried.push(name);
            if self.attempt(subject, Case { link, ..self.case.clone() }) {
                self.without.push(name);
            }
        }
        self.without.len() > before
    }
}

/// In what way a match failed: what kind of trouble, and what the autopsy says of it. A smaller match that fails in
/// another way is another failure.
fn manner(outcome: &Outcome) -> (Option<u8>, Option<(&str, Option<&str>)>) {
    let told = outcome
        .autopsies
        .iter()
        .flatten()
        .next()
        .map(|autopsy| (autopsy.verdict.name(), autopsy.fields.first().map(|field| field.path.as_str())));
    (outcome.trouble.as_ref().map(Trouble::kind), told)
}
