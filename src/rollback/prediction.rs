//! The prediction of inputs that are not confirmed yet.

use crate::Buttons;

/// The policy that predicts a missing input.
///
/// It affects how often a rollback happens and never correctness: every policy leads to the same settled states.
#[derive(Clone, Copy, Debug, Default)]
pub enum Prediction {
    /// Repeats the last confirmed input. It is right for most frames, because people hold a button far longer than a
    /// frame.
    #[default]
    RepeatLast,
    /// Predicts no buttons.
    Neutral,
    /// Calls a function with the last confirmed input and the distance of the predicted frame from it (1 or more).
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
