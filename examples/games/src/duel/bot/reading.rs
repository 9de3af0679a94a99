//! The bot's reading of the other: which actions it has seen at which distance.

use rebout::{Player, Rng};

use super::super::moves::Move;
use super::super::{Action, Duel, Fighter, Fx};
use super::foe_action::{FoeAction, Guess};
use super::senses::View;

/// The sum of the weights at one distance, about.
const TOTAL: u32 = 256;
/// A fighter that begins nothing for this long is idle, or on guard.
const IDLE_FRAMES: u16 = 18;
/// The weights before anything was seen, in the order of `FoeAction::ALL`: a guard and a pause are always likely.
const PRIOR: [u32; FoeAction::ALL.len()] = [56, 56, 16, 8, 20, 20, 20, 20, 16, 8, 16];
/// One guess in so many forgets what was seen: nobody does the same thing for ever.
const DOUBT: u32 = 4;

/// How often which action was seen, by distance.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    weights: [[u32; FoeAction::ALL.len()]; 3],
    learning: u32,
    last: Option<(Action, u16)>,
    ball: bool,
    quiet_frames: u16,
}

impl Reading {
    pub(super) fn new(learning: u32) -> Self {
        Self { weights: [PRIOR; 3], learning, last: None, ball: false, quiet_frames: 0 }
    }

    /// Takes in one seen frame. Answers whether the other has begun something.
    pub(super) fn observe(&mut self, seen: &Duel, me: Player) -> bool {
        let view = View::of(seen, me);
        let foe = view.foe;
        let fresh = self.last.is_none_or(|(action, since)| action != foe.action || foe.since < since);
        self.last = Some((foe.action, foe.since));
        let ball = foe.projectile.is_some();
        let new_ball = ball && !self.ball;
        self.ball = ball;
        self.quiet_frames = if foe.is_free() { self.quiet_frames + 1 } else { 0 };
        if let Some(action) = fresh.then(|| begun(foe, &view)).flatten() {
            self.count(action, zone(foe, view.gap));
        } else if self.quiet_frames >= IDLE_FRAMES {
            self.quiet_frames = 0;
            let guards = matches!(foe.action, Action::Guard | Action::Crouch);
            self.count(if guards { FoeAction::Guard } else { FoeAction::Idle }, zone(foe, view.gap));
        }
        new_ball || (fresh && !foe.is_free())
    }

    fn count(&mut self, action: FoeAction, zone: usize) {
        let weights = &mut self.weights[zone];
        for (weight, of) in weights.iter_mut().zip(FoeAction::ALL) {
            *weight -= *weight * self.learning / 100;
            if of == action {
                *weight += TOTAL * self.learning / 100;
            }
        }
    }

    /// A guess of what the other does next, drawn by what it has done at this distance.
    pub(super) fn guess(&self, foe: &Fighter, gap: i32, dice: &mut Rng) -> Guess {
        let weights = if dice.below(DOUBT) == 0 { &PRIOR } else { &self.weights[zone(foe, gap)] };
        let mut drawn = dice.below(weights.iter().sum::<u32>().max(1));
        let mut action = FoeAction::Idle;
        for (weight, of) in weights.iter().zip(FoeAction::ALL) {
            if drawn < *weight {
                action = of;
                break;
            }
            drawn -= weight;
        }
        // Half of what people do comes at once, the rest within a quarter of a second.
        let after = dice.below(32).saturating_sub(16);
        Guess { action, after, walks: dice.below(2) == 0 }
    }
}

/// Close enough for `foe` to throw, close enough to strike, or neither.
fn zone(foe: &Fighter, gap: i32) -> usize {
    let reaches = |attack: Move, more: i32| gap <= i32::from(foe.data(attack).reach.far) + more;
    if reaches(Move::Throw, 12) {
        0
    } else if reaches(Move::CrouchHeavy, 40) {
        1
    } else {
        2
    }
}

/// The action that a fighter has just begun.
fn begun(foe: &Fighter, view: &View<'_>) -> Option<FoeAction> {
    match foe.action {
        Action::Attack(Move::AirLight | Move::AirHeavy) => None,
        Action::Attack(attack) => Some(FoeAction::Press(button_of(attack))),
        Action::Block => Some(FoeAction::Guard),
        Action::Air => {
            let comes = foe.vx * (view.own.x - foe.x).signum() > Fx::ZERO;
            Some(if comes { FoeAction::JumpIn } else { FoeAction::JumpAway })
        }
        _ => None,
    }
}

/// The move that stands for the buttons of `attack`: a special is counted by its button, whoever makes it.
const fn button_of(attack: Move) -> Move {
    match attack {
        Move::Charge => Move::Fireball,
        Move::Heel => Move::Rising,
        attack => attack,
    }
}
