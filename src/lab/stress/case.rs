//! The matches of a run: each a function of its seed, its link and its length.

use super::conditions::{Condition, Conditions};
use crate::lab::link::LinkConfig;

/// What can be taken away from a match besides the impairments of its link and its conditions: `variety`, by which the two machines
/// differ in delay, window, saving policy and clock, and `rematch`, the second match in the same process.
const EXTRAS: [&str; 2] = ["variety", "rematch"];

/// The names of what can be taken away from a match besides the impairments of its link: `variety`, `rematch` and every [`Condition`].
pub fn extras() -> impl Iterator<Item = &'static str> {
    EXTRAS.into_iter().chain(Condition::ALL.into_iter().map(Condition::name))
}

/// A match to be played. Everything that comes of it is a function of this.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Case {
    /// The name of the link.
    pub link_name: &'static str,
    /// The link, without the impairments that were taken away.
    pub link: LinkConfig,
    /// The length of the match in frames.
    pub frames: u32,
    /// The seed of all randomness.
    pub seed: u64,
    /// Whether delays, windows, saving policies and clocks of the two machines differ, drawn from the seed.
    pub variety: bool,
    /// Whether a second, shorter match follows in the same process.
    pub rematch: bool,
    /// Whether the link is sealed.
    #[cfg(feature = "seal")]
    pub sealed: bool,
    /// What happens in the match.
    pub conditions: Conditions,
    /// The names of the impairments and [`extras`] that were taken away.
    pub without: Vec<String>,
}

impl Case {
    /// The same match without an impairment of its link, or without one of the [`extras`]. A name that the link does not
    /// have changes nothing but the list.
    #[must_use]
    pub fn without(&self, name: &str) -> Self {
        let mut case = self.clone();
        match name {
            "variety" => case.variety = false,
            "rematch" => case.rematch = false,
            name => {
                case.conditions = case.conditions.without(name);
                let simpler = self.link.simpler().find(|(impairment, _)| *impairment == name);
                case.link = simpler.map_or(self.link, |(_, simpler)| simpler);
            }
        }
        case.without.push(name.to_owned());
        case
    }

    /// Whether the match has this one of the [`extras`].
    pub(super) fn has(&self, extra: &str) -> bool {
        match extra {
            "variety" => self.variety,
            "rematch" => self.rematch,
            name => self.conditions.iter().any(|condition| condition.name() == name),
        }
    }
}

/// The plan of a run, from which its matches follow.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The links, which take turns.
    pub links: Vec<(&'static str, LinkConfig)>,
    /// The seed of all randomness. The first match has this seed itself.
    pub seed: u64,
    /// The length of a match in frames.
    pub match_frames: u32,
    /// The names of impairments and [`extras`] that are taken away from every match.
    pub without: Vec<String>,
    /// Whether the links are sealed.
    #[cfg(feature = "seal")]
    pub sealed: bool,
    /// What happens in the matches.
    pub conditions: Conditions,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            links: LinkConfig::presets().to_vec(),
            seed: 1,
            match_frames: 1_800,
            without: Vec::new(),
            #[cfg(feature = "seal")]
            sealed: false,
            conditions: Conditions::NONE,
        }
    }
}

impl Plan {
    /// The match with a number. Each has a seed of its own, and the first one that of the plan: any match can be played
    /// again alone. `None` if there are no links.
    #[must_use]
    pub fn case(&self, index: u32) -> Option<Case> {
        let (link_name, link) = *self.links.get(index as usize % self.links.len().max(1))?;
        let whole = Case {
            link_name,
            link,
            frames: self.match_frames,
            seed: match_seed(self.seed, index),
            variety: true,
            rematch: true,
            #[cfg(feature = "seal")]
            sealed: self.sealed,
            conditions: self.conditions,
            without: Vec::new(),
        };
        Some(self.without.iter().fold(whole, |case, name| case.without(name)))
    }

    /// The number of matches that make up a budget of frames, each counted as both machines step it.
    #[must_use]
    pub fn matches(&self, frames: u64) -> u32 {
        u32::try_from(frames.div_ceil(self.frames_each().max(1))).unwrap_or(u32::MAX).max(1)
    }

    /// The frames of a match and of the one that follows it, on both machines.
    pub(super) fn frames_each(&self) -> u64 {
        let rematch = !self.without.iter().any(|name| name == "rematch");
        let second = if rematch { rematch_frames(self.match_frames) } else { 0 };
        2 * (u64::from(self.match_frames) + u64::from(second))
    }
}

/// The length of the match that follows one of this many frames.
pub(super) fn rematch_frames(frames: u32) -> u32 {
    (frames / 4).max(300).min(frames)
}

fn match_seed(seed: u64, index: u32) -> u64 {
    if index == 0 {
        return seed;
    }
    let mut mixed = seed.wrapping_add(u64::from(index).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plan_gives_every_link_its_turn_and_every_match_its_seed() {
        let plan = Plan { seed: 7, ..Plan::default() };
        let cases: Vec<Case> = (0..26).filter_map(|index| plan.case(index)).collect();
        assert_eq!((cases.len(), cases[0].seed, cases[0].link_name), (26, 7, "clean"));
        for (at, case) in cases.iter().enumerate() {
            assert_eq!(case.link_name, cases[at % 13].link_name);
            assert!(!cases[..at].iter().any(|other| other.seed == case.seed));
        }
        assert_eq!(Plan { links: Vec::new(), ..plan }.case(0), None);
    }

    #[test]
    fn case_without_something_says_so() {
        let plan = Plan { links: vec![("wifi", LinkConfig::wifi())], ..Plan::default() };
        let case = plan.case(0).unwrap();
        let simple = case.without("variety").without("loss").without("rematch");
        assert_eq!((simple.variety, simple.rematch), (false, false));
        assert_eq!(simple.link.loss, crate::lab::link::Chance::NEVER);
        assert_eq!(simple.without, ["variety", "loss", "rematch"]);
        let same = Plan { without: simple.without.clone(), ..plan }.case(0);
        assert_eq!(same, Some(simple));
    }

    #[test]
    fn budget_counts_frames_of_both_machines_and_both_matches() {
        let plan = |match_frames, without: &[&str]| Plan {
            match_frames,
            without: without.iter().map(|name| (*name).to_owned()).collect(),
            ..Plan::default()
        };
        assert_eq!(plan(1_800, &[]).matches(45_000), 10);
        assert_eq!(plan(1_800, &["rematch"]).matches(36_001), 11);
        assert_eq!((plan(1_800, &[]).matches(0), plan(0, &[]).matches(7)), (1, 7));
    }
}
