//! The own player ahead of the server: its predicted body, its corrections, and how it is drawn.

use super::PredictionStats;
use super::smoothing::Smoothing;
use crate::authority::world::{Body, Command, World};

/// The predicted body after the last step and before it, and how much of the last correction is still to be shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Own {
    predicted: Option<Body>,
    before: Body,
    smoothing: Smoothing,
    stats: PredictionStats,
}

impl Own {
    /// Takes a step with a command as it is sent. Returns the body after it; `None` if there is none yet.
    pub(super) fn step(&mut self, world: &impl World, command: Command) -> Option<Body> {
        self.smoothing.step();
        let body = self.predicted.as_mut()?;
        self.before = *body;
        world.walk(body, command.limited());
        Some(*body)
    }

    /// Notes that a prediction was compared with a snapshot.
    pub(super) fn compared(&mut self, is_exact: bool) {
        self.stats.compared += 1;
        self.stats.exact += u64::from(is_exact);
    }

    /// Takes over a corrected body, and the one a step before it, after this many inputs were replayed.
    pub(super) fn correct(&mut self, before: Body, body: Body, replayed: u64) {
        self.stats.replayed += replayed;
        self.before = before;
        if let Some(shown) = self.predicted.replace(body) {
            let correction = shown.distance(&body).ceil() as u32;
            self.stats.max_correction = self.stats.max_correction.max(correction);
            self.smoothing.show_away(&shown, &body);
        }
    }

    /// Corrects the place of the body.
    pub(super) fn shift(&mut self, dx: f32, dy: f32) {
        let shifted = |body: Body| Body { x: body.x + dx, y: body.y + dy, ..body };
        if let Some(predicted) = self.predicted {
            self.correct(shifted(self.before), shifted(predicted), 0);
        }
    }

    /// The predicted body, without smoothing.
    pub(super) fn predicted(&self) -> Option<&Body> {
        self.predicted.as_ref()
    }

    /// The body to draw at part `between` of the way from the last step but one to the last.
    pub(super) fn drawn(&self, between: f32) -> Option<Body> {
        Some(self.smoothing.drawn(&self.before, self.predicted.as_ref()?, between))
    }

    pub(super) fn stats(&self) -> PredictionStats {
        self.stats
    }
}
