//! Flaws of a simulated match.

use crate::{Event, Frame, Player};
use std::fmt;

/// A frame that came out differently from the direct simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Divergence {
    /// The frame.
    pub frame: Frame,
    /// Whose.
    pub player: Player,
    /// Whether it was given other inputs, or came to another state on the same inputs.
    pub inputs_differ: bool,
}

/// A reason to distrust a run: it went wrong, or it proved nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Flaw {
    /// The machines came to different states.
    Diverged(Divergence),
    /// A machine reported that they do.
    Reported(Event),
    /// The match was over before the run was.
    Over(Option<Event>),
    /// It proved nothing: the machines never met, or never confirmed a frame.
    NoMatch,
    /// It proved nothing: no input was predicted wrongly, so nothing was mended.
    NoMisprediction,
    /// It proved nothing: the inputs hardly changed the state.
    NoInfluence {
        /// After how many frames it was another than with nobody playing.
        frames: u64,
    },
}

impl Flaw {
    /// Whether the machines, or what they say of each other, differ.
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
