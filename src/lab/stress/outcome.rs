//! The outcome of a match: its figures, and its failure if it has one.

use super::sample::Sample;
use crate::rollback::MAX_WINDOW;
use crate::{Autopsy, Frame, Inputs, Player};
use std::fmt;
use std::time::Duration;

/// The records of a match besides its figures.
#[derive(Clone, Copy, Debug, Default)]
pub struct Keep {
    /// Samples of every frame, for the plots of the page.
    pub sample: bool,
    /// The inputs, for a replay.
    pub inputs: bool,
}

/// The failure of a match.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trouble {
    /// A machine came to another state than the true inputs lead to.
    Diverged {
        /// The first frame whose state differs.
        frame: Frame,
        /// The player at the machine that differs.
        player: Player,
        /// Whether its inputs differ already.
        inputs_differ: bool,
        /// Whether a machine reported it.
        reported: bool,
    },
    /// A machine reported a difference where there was none.
    FalseAlarm {
        /// The frame that was reported.
        frame: Frame,
    },
    /// The match did not come to its end.
    Unfinished {
        /// The reason.
        how: String,
    },
    /// A rule of a [`Condition`](super::Condition) was broken.
    Violated {
        /// The rule that was broken.
        what: String,
    },
    /// The match proved nothing.
    Vacuous {
        /// The reason.
        why: &'static str,
    },
}

impl Trouble {
    /// Troubles of one kind count as the same while a failure is shrunk.
    pub(super) fn kind(&self) -> u8 {
        match self {
            Self::Diverged { reported: true, .. } => 0,
            Self::Diverged { reported: false, .. } => 1,
            Self::FalseAlarm { .. } => 2,
            Self::Unfinished { .. } => 3,
            Self::Vacuous { .. } => 4,
            Self::Violated { .. } => 5,
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Diverged { frame, player, inputs_differ, reported } => {
                let what = if *inputs_differ { "was given other inputs" } else { "came to another state" };
                let told = if *reported { "reported" } else { "NOT reported by either machine" };
                write!(f, "the machine of {player} {what} in frame {frame}; {told}")
            }
            Self::FalseAlarm { frame } => {
                write!(f, "a difference in frame {frame} was reported, and there is none")
            }
            Self::Unfinished { how } => write!(f, "the match did not come to its end: {how}"),
            Self::Violated { what } => f.write_str(what),
            Self::Vacuous { why } => write!(f, "vacuous: {why}"),
        }
    }
}

/// The figures of one match or many, of both machines together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Figures {
    /// Frames stepped, each once, by both machines.
    pub frames: u64,
    /// Frames that were due and had to wait for the other side.
    pub stalled: u64,
    /// Rollbacks.
    pub rollbacks: u64,
    /// Frames stepped again.
    pub resimulated: u64,
    /// Rollbacks by the number of frames that they went back.
    pub depths: [u64; MAX_WINDOW as usize + 1],
    /// Bytes sent, without the headers of UDP and IP.
    pub bytes: u64,
    /// Virtual time that machines have played for.
    pub played: Duration,
    /// Datagrams refused.
    pub refused: u64,
    /// Checksums compared.
    pub checksums: u64,
}

impl Figures {
    pub(super) fn add(&mut self, other: &Self) {
        self.frames += other.frames;
        self.stalled += other.stalled;
        self.rollbacks += other.rollbacks;
        self.resimulated += other.resimulated;
        self.depths.iter_mut().zip(other.depths).for_each(|(sum, count)| *sum += count);
        self.bytes += other.bytes;
        self.played += other.played;
        self.refused += other.refused;
        self.checksums += other.checksums;
    }
}

/// The outcome of a match and its rematch.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Outcome {
    /// The figures of both matches.
    pub figures: Figures,
    /// The failure.
    pub trouble: Option<Trouble>,
    /// Whether the failure is that of the rematch.
    pub in_rematch: bool,
    /// The link flips bits, and a divergence that was reported is no failure there; or it is too narrow to roam on, and the match said
    /// that it is too slow.
    pub excused: bool,
    /// The first frame that was reported as different.
    pub desync: Option<Frame>,
    /// The autopsies of the host and of the joiner.
    pub autopsies: [Option<Box<Autopsy>>; 2],
    /// The samples of the host and of the joiner, if they were to be kept.
    pub samples: [Sample; 2],
    /// The seed of the game in the match that failed, or in the first one.
    pub game_seed: u32,
    /// The true inputs of that match, if they were to be kept.
    pub inputs: Vec<Inputs>,
}

impl Outcome {
    /// Whether the outcome makes the whole run a failure.
    #[must_use]
    pub fn failed(&self) -> bool {
        self.trouble.is_some() && !self.excused
    }

    /// Whether the machines differed, or one said that they do.
    #[must_use]
    pub fn diverged(&self) -> bool {
        matches!(self.trouble, Some(Trouble::Diverged { .. } | Trouble::FalseAlarm { .. }))
    }

    /// The first autopsy of the two machines.
    #[must_use]
    pub fn autopsy(&self) -> Option<&Autopsy> {
        self.autopsies.iter().flatten().next().map(|autopsy| &**autopsy)
    }
}
