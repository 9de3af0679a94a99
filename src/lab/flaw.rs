//! The flaws that a simulated match can have.

use crate::{Event, Frame, Player};
use std::fmt;

/// A frame that differs from the direct simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Divergence {
    /// The frame.
    pub frame: Frame,
    /// The player at the machine that differs.
    pub player: Player,
    /// Whether the inputs differ. Otherwise the state differs although the inputs are the same.
    pub inputs_differ: bool,
}

/// The reason why a run fails, or why it proved nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Flaw {
    /// A machine's inputs or states differ from the direct simulation.
    Diverged(Divergence),
    /// A machine reported a desync or an input conflict.
    Reported(Event),
    /// The match ended before the run did.
    Over(Option<Event>),
    /// The run proved nothing: the machines never met, or never confirmed a frame.
    NoMatch,
    /// The run proved nothing: no input was mispredicted, so there was no rollback.
    NoMisprediction,
    /// The run proved nothing: the inputs hardly changed the state.
    NoInfluence {
        /// The number of frames whose state differs from that of the same game with neutral inputs.
        frames: u64,
    },
}

impl Flaw {
    /// Whether the machines differ, or report that they do.
    pub fn is_divergence(&self) -> bool {
        matches!(self, Self::Diverged(_) | Self::Reported(_))
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Diverged(Divergence { frame, player, inputs_differ }) => {
                let what = if *inputs_differ { "the inputs" } else { "the state" };
                write!(
                    f,
                    "{what} of frame {frame} differ at the machine of {player} from the direct simulation"
                )
            }
            Self::Reported(event) => write!(f, "a machine reported {event:?}"),
            Self::Over(event) => write!(f, "the match was over early: {event:?}"),
            Self::NoMatch => f.write_str("there was no match"),
            Self::NoMisprediction => f.write_str("nothing was mispredicted on a link with latency"),
            Self::NoInfluence { frames } => write!(f, "inputs changed the state of {frames} frames only"),
        }
    }
}
