//! The habits of a bot, which a player can learn and use.
//!
//! A habit is a plan that comes to mind in a situation and seems better than it is. Foresight still weighs it, and
//! leaves it only where it sees a greater loss.
//!
//! | situation | habit | answer |
//! |---|---|---|
//! | the first moments of a round | the same opening every time, by the bot's seed | have the counter ready |
//! | it gets up with the other near | guards low, and every second time the rising strike | throw; guard and punish |
//! | it was swept, and stands in reach again | guards low for two thirds of a second | throw it, or jump in |
//! | the other gets up in front of it | throw and sweep in turns | break the throw, guard the sweep low |

use rebout::Player;

use super::super::fighter::RISE_FRAMES;
use super::super::moves::Move;
use super::super::{Action, Duel, ROUND_SECONDS};
use super::plan::Plan;
use super::senses::View;

/// The first moments of a round.
const OPENING_FRAMES: u16 = 24;
const OPENINGS: [Plan; 4] =
    [Plan::Strike { attack: Move::Fireball, after: 0 }, Plan::JumpIn, Plan::Advance, Plan::Retreat];
/// Within this distance of the other the bot gets up with a strike.
const WAKE_UP_GAP: i32 = 80;
/// How long it guards low after a sweep, and how near the other must be for that.
const WARY_FRAMES: u8 = 40;
const WARY_GAP: i32 = 100;

/// The habits, and how far each of them has come.
#[derive(Clone, Debug)]
pub(super) struct Habits {
    opening: Plan,
    /// How often the bot has been knocked down, and the other.
    falls: [u32; 2],
    last: [Option<Action>; 2],
    /// Frames on its feet for which it still expects another sweep.
    wary: u8,
}

impl Habits {
    /// `temper` picks what differs between bots.
    pub(super) fn new(temper: u32) -> Self {
        let opening = OPENINGS[temper as usize % OPENINGS.len()];
        Self { opening, falls: [0; 2], last: [None; 2], wary: 0 }
    }

    /// Takes in one seen frame.
    pub(super) fn observe(&mut self, seen: &Duel, me: Player) {
        let own = seen.fighter(me);
        if own.is_free() {
            self.wary = self.wary.saturating_sub(1);
        } else if own.action == Action::Launched
            && seen.fighter(me.other()).action == Action::Attack(Move::CrouchHeavy)
        {
            self.wary = WARY_FRAMES;
        }
        for (n, player) in [me, me.other()].into_iter().enumerate() {
            let action = seen.fighter(player).action;
            if self.last[n] == Some(action) {
                continue;
            }
            self.last[n] = Some(action);
            if action == Action::Down {
                self.falls[n] += 1;
            }
        }
    }

    /// The plan that comes to mind, if this is a situation for one, and how many points it seems better than it is.
    /// `fondness` is the level's.
    pub(super) fn urge(&self, present: &Duel, me: Player, fondness: i32) -> Option<(Plan, i32)> {
        let fought = (ROUND_SECONDS * 60).saturating_sub(present.clock);
        if fought < OPENING_FRAMES {
            // Nothing threatens yet, and the opening is made up beforehand.
            Some((self.opening, fondness * 3))
        } else {
            self.reflex(&View::of(present, me)).map(|plan| (plan, fondness))
        }
    }

    fn reflex(&self, view: &View<'_>) -> Option<Plan> {
        if view.own.action == Action::Rise {
            (view.gap < WAKE_UP_GAP).then(|| self.get_up())
        } else if matches!(view.foe.action, Action::Down | Action::Rise) {
            let attack = if self.falls[1].is_multiple_of(2) { Move::CrouchHeavy } else { Move::Throw };
            meet(attack, view)
        } else {
            (self.wary > 0 && view.gap < WARY_GAP).then_some(Plan::Guard { low: true })
        }
    }

    fn get_up(&self) -> Plan {
        if self.falls[0].is_multiple_of(2) {
            Plan::Strike { attack: Move::Rising, after: 0 }
        } else {
            Plan::Guard { low: true }
        }
    }
}

/// Walks up to a fighter that lies, and times a move for the very frame in which it is on its feet.
fn meet(attack: Move, view: &View<'_>) -> Option<Plan> {
    let data = view.own.data(attack);
    if view.gap > i32::from(data.reach.far) {
        return Some(Plan::Advance);
    }
    if view.foe.action == Action::Down {
        return Some(Plan::Guard { low: true });
    }
    let left = RISE_FRAMES.saturating_sub(view.foe.since);
    (left + 1 >= data.startup).then(|| Plan::Strike { attack, after: left + 1 - data.startup })
}
