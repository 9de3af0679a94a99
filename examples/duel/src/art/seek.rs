//! The seek bar of a replay under a mouse.

use stage::{Surface, Touch, TouchAct, WINDOW_SIZE};

use super::graph::{NET_HEIGHT, NET_ROWS};

/// The share of the replay that a click on the seek bar asks for, from 0 to 1.
pub fn share_of(touch: &Touch, has_net: bool) -> Option<f32> {
    // The bar in the units of its surface: its ends, its middle, and how far beside it a click still counts.
    let (left, right, middle, slack) = match touch.surface {
        Surface::Canvas => {
            let bottom = WINDOW_SIZE.1 - if has_net { NET_HEIGHT } else { 0.0 };
            (40.0, WINDOW_SIZE.0 - 40.0, bottom - 54.0, 14.0)
        }
        Surface::Cells { columns, rows } => {
            let bottom = rows.saturating_sub(if has_net { NET_ROWS } else { 0 });
            (2.0, columns as f32 - 2.0, bottom as f32 - 1.5, 1.0)
        }
    };
    let is_on = touch.act == TouchAct::Press && (touch.place.y - middle).abs() <= slack;
    let share = (touch.place.x - left) / (right - left).max(1.0);
    // A click beside an end means the end.
    is_on.then(|| share.clamp(0.0, 1.0))
}
