//! The ways in which the other may go on: models that the bot imagines it with.

use rebout::Buttons;

use super::super::buttons::{DOWN, HEAVY, LIGHT, SPECIAL, THROW, UP};
use super::super::moves::Move;
use super::super::{Action, Fx};
use super::senses::View;

/// Below this speed upwards a fighter falls fast enough to strike what is under it.
pub(super) const FALLING: Fx = Fx::lit("-3");

/// A thing that a fighter does again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FoeAction {
    /// Goes on walking, crouching or standing as it does.
    Idle,
    /// Guards low, and high against a jump.
    Guard,
    /// Makes a move whenever it can.
    Press(Move),
    /// Jumps forward and strikes on the way down.
    JumpIn,
    /// Jumps up or back.
    JumpAway,
}

impl FoeAction {
    pub(super) const ALL: [Self; 11] = [
        Self::Idle,
        Self::Guard,
        Self::JumpIn,
        Self::JumpAway,
        Self::Press(Move::StandLight),
        Self::Press(Move::StandHeavy),
        Self::Press(Move::CrouchLight),
        Self::Press(Move::CrouchHeavy),
        Self::Press(Move::Fireball),
        Self::Press(Move::Rising),
        Self::Press(Move::Throw),
    ];

    /// Whether nobody gets hurt by it.
    pub(super) const fn is_harmless(self) -> bool {
        matches!(self, Self::Idle | Self::Guard)
    }
}

/// A action that begins some frames after the other was seen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Guess {
    pub(super) action: FoeAction,
    pub(super) after: u32,
    /// Walks into reach of the move first, instead of making it where it stands.
    pub(super) walks: bool,
}

impl Guess {
    /// The other goes on as it does.
    pub(super) const NOTHING_NEW: Self = Self { action: FoeAction::Idle, after: 0, walks: false };

    /// The imagined buttons of the other, `frame` frames after it was seen; `view` is from its side.
    pub(super) fn buttons(self, frame: u32, view: &View<'_>) -> Buttons {
        if frame < self.after {
            return carry_on(view);
        }
        let falls = view.own.airborne() && view.own.vy < FALLING;
        match self.action {
            FoeAction::Idle => carry_on(view),
            FoeAction::Guard => guard(view),
            FoeAction::Press(_) | FoeAction::JumpIn | FoeAction::JumpAway if view.own.airborne() => {
                if falls && view.gap < 90 { tap(HEAVY, frame) } else { Buttons::NONE }
            }
            FoeAction::JumpIn => UP | view.ahead,
            FoeAction::JumpAway => UP | view.back,
            FoeAction::Press(attack) => {
                let near = i32::from(view.own.data(attack).reach.far) + 16;
                let flies = view.own.character.special() == Move::Fireball && attack == Move::Fireball;
                if self.walks && !flies && view.gap > near { view.ahead } else { press(attack, frame) }
            }
        }
    }
}

/// The stick and the button of a move.
const fn keys(attack: Move) -> (Buttons, Buttons) {
    match attack {
        Move::StandLight | Move::AirLight => (Buttons::NONE, LIGHT),
        Move::StandHeavy | Move::AirHeavy => (Buttons::NONE, HEAVY),
        Move::CrouchLight => (DOWN, LIGHT),
        Move::CrouchHeavy => (DOWN, HEAVY),
        Move::Fireball | Move::Charge => (Buttons::NONE, SPECIAL),
        Move::Rising | Move::Heel => (DOWN, SPECIAL),
        Move::Throw => (Buttons::NONE, THROW),
    }
}

/// The buttons of a move, pressed over and over.
pub(super) fn press(attack: Move, frame: u32) -> Buttons {
    let (stick, button) = keys(attack);
    stick | tap(button, frame)
}

/// A press is a change: every other frame lets go.
pub(super) fn tap(button: Buttons, frame: u32) -> Buttons {
    if frame.is_multiple_of(2) { button } else { Buttons::NONE }
}

/// The guard that stops most: low, because every low is too fast to be seen, and high against a jump, which is not.
pub(super) fn guard(view: &View<'_>) -> Buttons {
    if view.foe.airborne() { view.back } else { view.back | DOWN }
}

/// The buttons that a fighter seems to hold.
pub(super) fn carry_on(view: &View<'_>) -> Buttons {
    match view.own.action {
        Action::WalkForward => view.ahead,
        Action::WalkBack => view.back,
        Action::Crouch => DOWN,
        Action::Guard | Action::Block if view.own.crouching => view.back | DOWN,
        Action::Guard | Action::Block => view.back,
        Action::JumpSquat => view.ahead,
        _ => Buttons::NONE,
    }
}
