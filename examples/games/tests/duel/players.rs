//! Scripted players that know one trick each: a bot must not lose to any of them.
//!
//! They see the distance without delay and press as fast as the rules allow, which a person with the same trick
//! cannot do better.

use games::duel::Character;
use games::duel::buttons::{DOWN, HEAVY, LEFT, LIGHT, RIGHT, SPECIAL, THROW, UP};
use games::duel::moves::Move;
use games::duel::{Action, Duel, Facing, Fx};
use rebout::{Buttons, Player, Rng};

use crate::matches::InputSource;

/// One trick, by name.
#[derive(Clone, Copy)]
pub(crate) struct Script {
    pub(crate) name: &'static str,
    play: fn(&View, &mut Fingers) -> Buttons,
}

/// The things that a script looks at.
struct View {
    age: u32,
    gap: i32,
    ahead: Buttons,
    back: Buttons,
    airborne: bool,
    falls: bool,
    blocked: bool,
    foe_airborne: bool,
}

impl View {
    fn of(duel: &Duel, me: Player) -> Self {
        let (own, foe) = (duel.fighter(me), duel.fighter(me.other()));
        let (ahead, back) = match duel.toward(me) {
            Facing::Right => (RIGHT, LEFT),
            Facing::Left => (LEFT, RIGHT),
        };
        Self {
            age: duel.age,
            gap: (own.x - foe.x).abs().to_num(),
            ahead,
            back,
            airborne: own.airborne(),
            falls: own.airborne() && own.vy < const { Fx::lit("-3") },
            blocked: own.action == Action::Block,
            foe_airborne: foe.airborne(),
        }
    }

    /// A button pressed and let go as fast as frames allow.
    fn tap(&self, button: Buttons) -> Buttons {
        if self.age.is_multiple_of(2) { button } else { Buttons::NONE }
    }

    /// Walks up to where the move reaches the other's body, and taps.
    fn walk_and_tap(&self, attack: Move, stick: Buttons, button: Buttons) -> Buttons {
        if self.gap > i32::from(Character::Kaito.data(attack).reach.far) + 8 {
            self.ahead
        } else {
            stick | self.tap(button)
        }
    }

    /// Jumps with `stick` over and over, and strikes on the way down.
    fn jump_and_strike(&self, stick: Buttons, button: Buttons) -> Buttons {
        if self.falls && self.gap < 90 {
            self.tap(button)
        } else if self.airborne {
            Buttons::NONE
        } else {
            UP | stick
        }
    }
}

/// Every one-trick player.
pub(crate) const SCRIPTS: [Script; 20] = [
    Script { name: "sweeps on the spot", play: |view, _| DOWN | view.tap(HEAVY) },
    Script { name: "walks and sweeps", play: |view, _| view.walk_and_tap(Move::CrouchHeavy, DOWN, HEAVY) },
    Script {
        name: "standing heavies",
        play: |view, _| view.walk_and_tap(Move::StandHeavy, Buttons::NONE, HEAVY),
    },
    Script {
        name: "standing lights",
        play: |view, _| view.walk_and_tap(Move::StandLight, Buttons::NONE, LIGHT),
    },
    Script { name: "crouching lights", play: |view, _| view.walk_and_tap(Move::CrouchLight, DOWN, LIGHT) },
    Script { name: "heavies on the spot", play: |view, _| view.tap(HEAVY) },
    Script { name: "forward and heavies", play: |view, _| view.ahead | view.tap(HEAVY) },
    Script { name: "forward and lights", play: |view, _| view.ahead | view.tap(LIGHT) },
    Script { name: "jumping heavies", play: |view, _| view.jump_and_strike(view.ahead, HEAVY) },
    Script { name: "jumping lights", play: |view, _| view.jump_and_strike(view.ahead, LIGHT) },
    Script { name: "jumps on the spot", play: |view, _| view.jump_and_strike(Buttons::NONE, HEAVY) },
    Script { name: "jumps back", play: |view, _| view.jump_and_strike(view.back, HEAVY) },
    Script { name: "fireballs", play: |view, _| view.tap(SPECIAL) },
    Script { name: "backs off, fireballs", play: |view, _| view.back | view.tap(SPECIAL) },
    Script { name: "rising strikes", play: |view, _| view.walk_and_tap(Move::Rising, DOWN, SPECIAL) },
    Script { name: "throws on the spot", play: |view, _| view.tap(THROW) },
    Script {
        name: "walks and throws",
        play: |view, _| if view.gap > 44 { view.ahead } else { view.ahead | view.tap(THROW) },
    },
    Script {
        name: "blocks, never hits",
        play: |view, _| if view.foe_airborne { view.back } else { view.back | DOWN },
    },
    Script {
        name: "blocks, then sweeps",
        play: |view, _| {
            if view.foe_airborne {
                view.back
            } else if view.blocked {
                view.back | DOWN | view.tap(HEAVY)
            } else {
                view.back | DOWN
            }
        },
    },
    MASHER,
];

/// Somebody who hits any key: every eight frames another direction and another button, or none.
pub(crate) const MASHER: Script = Script {
    name: "random masher",
    play: |view, fingers| {
        if view.age.is_multiple_of(8) {
            let sticks = [Buttons::NONE, view.ahead, view.ahead, view.back, DOWN, UP, UP | view.ahead];
            let buttons = [Buttons::NONE, LIGHT, LIGHT, HEAVY, HEAVY, SPECIAL, THROW];
            fingers.held = sticks[fingers.dice.below(7) as usize] | buttons[fingers.dice.below(7) as usize];
        }
        // Half of the time the fingers are up, or no press would ever be new.
        if view.age % 8 < 5 { fingers.held } else { fingers.held & (LEFT | RIGHT | DOWN) }
    },
};

/// The fingers of a script during one match.
struct Fingers {
    dice: Rng,
    held: Buttons,
}

impl Script {
    /// A player with this trick.
    pub(crate) fn input_source(self, seed: u32) -> InputSource {
        let mut fingers = Fingers { dice: Rng::new(seed | 1).expect("odd"), held: Buttons::NONE };
        for _ in 0..8 {
            fingers.dice.next_u32();
        }
        Box::new(move |duel, me| (self.play)(&View::of(duel, me), &mut fingers))
    }
}

/// The script of this name.
pub(crate) fn script(name: &str) -> Script {
    SCRIPTS.into_iter().find(|script| script.name == name).expect("a script of this name")
}
