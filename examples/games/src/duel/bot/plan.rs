//! The plans of a bot: a few frames of buttons each.

use rebout::Buttons;

use super::super::buttons::{DOWN, HEAVY, UP};
use super::super::fighter::RISE_FRAMES;
use super::super::moves::Move;
use super::super::{Action, Fighter, Fx};
use super::foe_action::{FALLING, guard, press, tap};
use super::senses::View;

/// Frames before the end of a stun from which the bot thinks of what comes after it: a press waits that long.
const AHEAD_OF_FREEDOM: u16 = 6;

/// The plan of the bot for a number of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    Wait,
    Advance,
    Retreat,
    Guard {
        low: bool,
    },
    /// One move, some frames from now.
    Strike {
        attack: Move,
        after: u16,
    },
    /// Forward, with a heavy on the way down.
    JumpIn,
    JumpUp,
    JumpBack,
}

/// The plans of a fighter that is free.
const FREE: [Plan; 18] = [
    Plan::Guard { low: true },
    Plan::Guard { low: false },
    Plan::Wait,
    Plan::Advance,
    Plan::Retreat,
    strike(Move::StandLight, 0),
    strike(Move::CrouchLight, 0),
    strike(Move::StandHeavy, 0),
    strike(Move::CrouchHeavy, 0),
    strike(Move::Fireball, 0),
    strike(Move::Throw, 0),
    strike(Move::Rising, 0),
    strike(Move::Rising, 4),
    strike(Move::Rising, 8),
    strike(Move::StandHeavy, 5),
    Plan::JumpIn,
    Plan::JumpUp,
    Plan::JumpBack,
];
const IN_THE_AIR: [Plan; 6] = [
    Plan::Wait,
    strike(Move::AirLight, 0),
    strike(Move::AirHeavy, 0),
    strike(Move::AirHeavy, 4),
    strike(Move::AirHeavy, 8),
    strike(Move::AirHeavy, 12),
];
const AFTER_LIGHT: [Plan; 5] = [
    Plan::Wait,
    strike(Move::StandHeavy, 0),
    strike(Move::CrouchHeavy, 0),
    strike(Move::Fireball, 0),
    strike(Move::Rising, 0),
];
const AFTER_HEAVY: [Plan; 3] = [Plan::Wait, strike(Move::Fireball, 0), strike(Move::Rising, 0)];

const fn strike(attack: Move, after: u16) -> Plan {
    Plan::Strike { attack, after }
}

impl Plan {
    /// The plans that `own` could begin now; none while it has no say. `touched` is the move that the bot has seen land.
    pub(super) fn choices(own: &Fighter, touched: Option<Move>) -> &'static [Self] {
        let left = match own.action {
            Action::Block | Action::Hit | Action::Land => u16::from(own.stun) + u16::from(own.hitstop),
            Action::Rise => RISE_FRAMES.saturating_sub(own.since),
            Action::Attack(attack) if !own.airborne() => {
                if touched == Some(attack) && own.data(attack).cancels {
                    return if attack.is_light() { &AFTER_LIGHT } else { &AFTER_HEAVY };
                }
                own.data(attack).total().saturating_sub(own.since) + u16::from(own.hitstop)
            }
            Action::Air if !own.air_spent => return &IN_THE_AIR,
            _ if own.is_free() => 0,
            _ => return &[],
        };
        if left <= AHEAD_OF_FREEDOM { &FREE } else { &[] }
    }

    /// Whether two plans differ in their timing only.
    pub(super) fn is_like(self, other: Self) -> bool {
        match (self, other) {
            (Self::Strike { attack, .. }, Self::Strike { attack: again, .. }) => attack == again,
            _ => self == other,
        }
    }

    /// How long the plan is followed before the bot thinks again.
    pub(super) const fn frames(self) -> u16 {
        match self {
            Self::Wait => 3,
            Self::Advance | Self::Retreat => 5,
            Self::Guard { .. } => 6,
            Self::Strike { after, .. } => after + 4,
            Self::JumpIn | Self::JumpUp | Self::JumpBack => 7,
        }
    }

    /// The points of health that a plan must promise to be worth the trouble. Of two plans that come to nothing, the
    /// quieter one looks better.
    pub(super) const fn effort(self) -> i32 {
        match self {
            Self::Strike { .. } | Self::JumpIn => 5,
            Self::JumpUp | Self::JumpBack => 10,
            _ => 0,
        }
    }

    /// The buttons of the plan, `age` frames after it began.
    pub(super) fn buttons(self, age: u16, view: &View<'_>) -> Buttons {
        if age >= self.frames() {
            return self.afterwards(age, view);
        }
        match self {
            Self::Wait => Buttons::NONE,
            Self::Advance => view.ahead,
            Self::Retreat => view.back,
            Self::Guard { low: true } => view.back | DOWN,
            Self::Guard { low: false } => view.back,
            Self::Strike { attack, after } => {
                if age < after {
                    guard(view)
                } else {
                    press(attack, u32::from(age - after))
                }
            }
            Self::JumpIn => UP | view.ahead,
            Self::JumpUp => UP,
            Self::JumpBack => UP | view.back,
        }
    }

    /// The buttons once the plan is through: a heavy on the way down, a sweep out of a block, a throw into the nearer
    /// corner, and a guard otherwise.
    fn afterwards(self, age: u16, view: &View<'_>) -> Buttons {
        let own = view.own;
        match own.action {
            Action::Holding => {
                let corner_is_behind = own.x * own.facing.sign() < Fx::ZERO;
                if corner_is_behind { view.back } else { Buttons::NONE }
            }
            Action::Air if self == Self::JumpIn && own.vy < FALLING && view.gap < 90 => {
                tap(HEAVY, u32::from(age))
            }
            Action::Block if matches!(self, Self::Guard { .. }) && own.stun < 4 => {
                press(Move::CrouchHeavy, u32::from(age))
            }
            _ => guard(view),
        }
    }
}
