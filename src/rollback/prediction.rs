//! The prediction of inputs that are not confirmed yet.

use super::queue::InputQueue;
use crate::Input;

/// The policy that predicts a missing input.
///
/// It affects how often a rollback happens and never correctness: every policy leads to the same settled states.
#[derive(Clone, Copy, Debug, Default)]
pub enum Prediction {
    /// Repeats the last confirmed input. It is right for most frames, because people hold a button far longer than a
    /// frame.
    #[default]
    RepeatLast,
    /// Predicts no buttons, and every axis at rest.
    Neutral,
    /// Calls a function with the last four confirmed inputs, the newest first, and the distance of the predicted frame
    /// from the newest (1 or more).
    ///
    /// ```
    /// use rebout::{Buttons, Prediction};
    ///
    /// const DIRECTIONS: Buttons = Buttons(0x000f);
    /// // Directions are held; an attack is a tap.
    /// let policy = Prediction::Custom(|[last, ..], _ahead| last.with_buttons(last.buttons() & DIRECTIONS));
    /// # let _ = policy;
    /// ```
    Custom(fn(last: [Input; 4], ahead: u32) -> Input),
}

impl Prediction {
    #[inline]
    pub(super) fn predict(self, confirmed: &InputQueue, ahead: u32) -> Input {
        match self {
            Self::RepeatLast => confirmed.last(),
            Self::Neutral => Input::NEUTRAL,
            Self::Custom(policy) => policy(confirmed.recent_four(), ahead),
        }
    }
}
