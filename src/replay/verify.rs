//! Stepping a game through a replay.

use super::Replay;
use crate::{Cues, Frame, Game, Inputs, StateError, checksum};
use core::fmt;

/// Steps `game` through a replay, and passes every state to `look`: state 0 before the first step, then one after
/// each step.
///
/// The caller makes the game from [`Replay::seed`].
///
/// ```
/// use rebout::replay::{Replay, play};
/// use rebout::{Buttons, Cues, Game, Inputs, Player, fields};
///
/// #[derive(Clone, Copy)]
/// struct Count { at: u32 }
/// fields!(Count { at });
/// impl Game for Count {
///     fn step(&mut self, inputs: Inputs, _: &mut Cues) {
///         self.at += u32::from(inputs[Player::One].buttons().0);
///     }
/// }
///
/// let replay = Replay { seed: 40, inputs: vec![[Buttons(1), Buttons(0)].into(); 2], ..Replay::default() };
/// let mut seen = Vec::new();
/// play(&replay, &mut Count { at: replay.seed }, |frame, game| seen.push((frame.0, game.at)));
/// assert_eq!(seen, [(0, 40), (1, 41), (2, 42)]);
/// ```
pub fn play<G: Game>(replay: &Replay, game: &mut G, look: impl FnMut(Frame, &G)) {
    play_inputs(replay.inputs.iter().copied(), game, Cues::new(), look);
}

fn play_inputs<G: Game>(
    inputs: impl Iterator<Item = Inputs>,
    game: &mut G,
    mut cues: Cues,
    mut look: impl FnMut(Frame, &G),
) -> Frame {
    let mut frame = Frame::ZERO;
    look(frame, game);
    for inputs in inputs {
        cues.clear();
        game.step(inputs, &mut cues);
        frame = frame.next();
        look(frame, game);
    }
    frame
}

/// Plays a replay and compares its states with `expected` checksums, which must be in the order of their frames.
///
/// Returns how many were compared.
///
/// # Errors
/// The first checksum that differs; a state that the game could not save; an expected frame that the replay does not reach, or that is out of order; and an
/// empty list, because such a run proves nothing.
pub fn verify<G: Game>(
    replay: &Replay,
    game: &mut G,
    expected: impl IntoIterator<Item = (Frame, u32)>,
) -> Result<u32, VerifyError> {
    verify_inputs(replay.inputs.iter().copied(), game, expected)
}

pub(super) fn verify_inputs<G: Game>(
    inputs: impl Iterator<Item = Inputs>,
    game: &mut G,
    expected: impl IntoIterator<Item = (Frame, u32)>,
) -> Result<u32, VerifyError> {
    let mut expected = expected.into_iter().peekable();
    let mut slot = game.snapshot();
    let mut compared = 0;
    let mut failure = None;
    let end = play_inputs(inputs, game, Cues::unseen(), |frame, game| {
        while failure.is_none()
            && let Some((due, stated)) = expected.next_if(|(due, _)| *due <= frame)
        {
            if due < frame {
                failure = Some(VerifyError::Order { frame: due });
                break;
            }
            if let Err(error) = game.save(&mut slot) {
                failure = Some(VerifyError::State { frame, error });
                break;
            }
            let found = checksum(&slot);
            compared += 1;
            if found != stated {
                failure = Some(VerifyError::Checksum { frame, expected: stated, found });
            }
        }
    });
    match (failure, expected.next()) {
        (Some(failure), _) => Err(failure),
        (None, Some((frame, _))) => Err(VerifyError::BeyondEnd { frame, end }),
        (None, None) if compared == 0 => Err(VerifyError::Nothing),
        (None, None) => Ok(compared),
    }
}

/// Why a replay could not be verified.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VerifyError {
    /// The checksum of a state is not the expected one.
    Checksum {
        /// The frame of the state.
        frame: Frame,
        /// The expected checksum.
        expected: u32,
        /// The checksum of the state.
        found: u32,
    },
    /// A checksum is expected for a frame after the last one of the replay.
    BeyondEnd {
        /// The frame of the expected checksum.
        frame: Frame,
        /// The frame of the last state.
        end: Frame,
    },
    /// The expected checksums are not in the order of their frames.
    Order {
        /// The frame that comes after a later one.
        frame: Frame,
    },
    /// The game could not save or restore a state.
    State {
        /// The frame of the state.
        frame: Frame,
        /// The game's own words.
        error: StateError,
    },
    /// No checksum was expected, and nothing is proved.
    Nothing,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Checksum { frame, expected, found } => {
                write!(f, "frame {frame}: checksum {found:08X}, expected {expected:08X}")
            }
            Self::BeyondEnd { frame, end } => {
                write!(f, "frame {frame}: a checksum is expected, but the replay ends with frame {end}")
            }
            Self::Order { frame } => {
                write!(f, "frame {frame}: its checksum comes after that of a later frame")
            }
            Self::State { frame, error } => {
                write!(f, "frame {frame}: the game could not save or restore its state: {error}")
            }
            Self::Nothing => f.write_str("nothing proved: no checksum was expected"),
        }
    }
}

impl std::error::Error for VerifyError {}
