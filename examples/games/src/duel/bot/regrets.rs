//! Regrets: a plan that was answered with a blow is liked less for a while.
//!
//! Guesses about the other can be wrong in the same way again and again; a bot that is hit out of the same move twice
//! must not try it a third time.

use rebout::Player;

use super::super::{Action, Duel};
use super::plan::Plan;

/// How many plans can be regretted at a time.
const KEPT: usize = 6;
/// The worst that a plan can seem worse than it is, in times of one regret.
const MAX_TIMES: i32 = 4;
/// Frames in which a regret loses a point.
const FADING_FRAMES: u32 = 12;

/// The plans that went wrong lately.
#[derive(Clone, Debug)]
pub(super) struct Regrets {
    /// The points of one regret.
    points: i32,
    kept: [(Plan, i32); KEPT],
    /// The last plan that took a risk.
    risk: Option<Plan>,
    hurt: bool,
}

impl Regrets {
    pub(super) fn new(points: i32) -> Self {
        Self { points, kept: [(Plan::Wait, 0); KEPT], risk: None, hurt: false }
    }

    /// Remembers a plan that is about to be carried out.
    pub(super) fn dare(&mut self, plan: Plan) {
        if matches!(plan, Plan::Strike { .. } | Plan::JumpIn | Plan::JumpUp | Plan::JumpBack) {
            self.risk = Some(plan);
        }
    }

    /// Takes in one seen frame.
    pub(super) fn observe(&mut self, seen: &Duel, me: Player) {
        if seen.age.is_multiple_of(FADING_FRAMES) {
            self.kept.iter_mut().for_each(|(_, points)| *points = (*points - 1).max(0));
        }
        let hurt = matches!(seen.fighter(me).action, Action::Hit | Action::Launched | Action::Held);
        if hurt
            && !self.hurt
            && let Some(plan) = self.risk.take()
        {
            self.regret(plan);
        }
        self.hurt = hurt;
    }

    fn regret(&mut self, plan: Plan) {
        let at = self.kept.iter().position(|(of, _)| of.is_like(plan));
        let least = (0..KEPT).min_by_key(|at| self.kept[*at].1).unwrap_or(0);
        let slot = &mut self.kept[at.unwrap_or(least)];
        let before = if at.is_some() { slot.1 } else { 0 };
        *slot = (plan, (before + self.points).min(self.points * MAX_TIMES));
    }

    /// How much worse `plan` seems than foresight says.
    pub(super) fn about(&self, plan: Plan) -> i32 {
        self.kept.iter().find(|(of, _)| of.is_like(plan)).map_or(0, |(_, points)| *points)
    }
}
