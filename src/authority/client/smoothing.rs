//! A correction of the own player, of which less and less is shown over the next frames.

use crate::authority::world::Body;

/// The most frames over which a correction is shown.
const SHOWN_OVER: u8 = 6;

/// How much of the last corrections is still to be shown.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Smoothing {
    offset: (f32, f32),
    frames: u8,
}

impl Smoothing {
    /// A frame has passed.
    pub(super) fn step(&mut self) {
        self.frames = self.frames.saturating_sub(1);
    }

    /// Goes on showing `shown` in place of `corrected`, less and less of it over the next frames.
    pub(super) fn show_away(&mut self, shown: &Body, corrected: &Body) {
        let (x, y) = self.offset();
        self.offset = (shown.x + x - corrected.x, shown.y + y - corrected.y);
        self.frames = SHOWN_OVER;
    }

    fn offset(&self) -> (f32, f32) {
        let part = f32::from(self.frames) / f32::from(SHOWN_OVER);
        (self.offset.0 * part, self.offset.1 * part)
    }

    /// The body to draw at part `between` of the way from `before` to `predicted`.
    pub(super) fn drawn(&self, before: &Body, predicted: &Body, between: f32) -> Body {
        let mut body = before.towards(predicted, between);
        body.health = predicted.health;
        let (x, y) = self.offset();
        (body.x, body.y) = (body.x + x, body.y + y);
        body
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn second_correction_begins_where_the_first_one_is_shown() {
        let mut smoothing = Smoothing::default();
        let drawn = |smoothing: &Smoothing, x| {
            smoothing.drawn(&Body::at(x, 0.0), &Body::at(x, 0.0), 1.0).x.round() as i32
        };
        smoothing.show_away(&Body::at(10.0, 0.0), &Body::at(4.0, 0.0));
        (0..3).for_each(|_| smoothing.step());
        assert_eq!(drawn(&smoothing, 4.0), 7);
        smoothing.show_away(&Body::at(4.0, 0.0), &Body::at(1.0, 0.0));
        assert_eq!(drawn(&smoothing, 1.0), 7);
        (0..9).for_each(|_| smoothing.step());
        assert_eq!(drawn(&smoothing, 1.0), 1);
    }

    #[test]
    fn health_is_the_predicted_one() {
        let predicted = Body { health: 0.5, ..Body::at(2.0, 0.0) };
        let drawn = Smoothing::default().drawn(&Body::at(0.0, 0.0), &predicted, 0.5);
        assert_eq!(drawn, Body { x: 1.0, ..predicted });
    }
}
