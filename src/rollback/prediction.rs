//! What a player is believed to hold in a frame whose input is not here yet.

use crate::Buttons;

/// How a missing input is predicted.
///
/// The policy is a matter of taste and never of correctness: every policy ends in the same confirmed states.
#[derive(Clone, Copy, Debug, Default)]
pub enum Prediction {
    /// The player goes on holding what was last confirmed. Right for most frames: people hold a button far longer
    /// than a frame.
    #[default]
    RepeatLast,
    /// The player lets go of everything.
    Neutral,
    /// Whatever this says of the last confirmed input and how many frames after it the predicted frame is (1 or more).
    ///
    /// ```
    /// use rebout::{Buttons, Prediction};
    ///
    /// const DIRECTIONS: Buttons = Buttons(0x000f);
    /// // Directions are held; an attack is a tap.
    /// let policy = Prediction::Custom(|last, _ahead| last & DIRECTIONS);
    /// # let _ = policy;
    /// ```
    Custom(fn(last: Buttons, ahead: u32) -> Buttons),
}

impl Prediction {
    #[inline]
    pub(super) fn predict(self, last: Buttons, ahead: u32) -> Buttons {
        match self {
            Self::RepeatLast => last,
            Self::Neutral => Buttons::NONE,
            Self::Custom(policy) => policy(last, ahead),
        }
    }
}
