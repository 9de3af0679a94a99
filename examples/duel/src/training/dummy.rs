//! The dummy: buttons that follow from the state and from what the player wants of it.

use rebout::{Buttons, Player};

use super::{Drill, Guard, Stance, Throws, WakeUp};
use games::duel::buttons::{DOWN, LEFT, LIGHT, RIGHT, SPECIAL, THROW, UP};
use games::duel::moves::Level;
use games::duel::{Action, Duel, Facing, Fx};

/// Frames for which a dummy that blocks after a hit goes on blocking.
const WARY_FRAMES: u16 = 90;
/// Units between the fighters within which the dummy tries to throw.
const THROW_DISTANCE: Fx = Fx::lit("60");

/// A fighter that stands, crouches, jumps and blocks as it is told.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dummy {
    wary_frames: u16,
}

impl Dummy {
    /// The buttons of the dummy in this frame.
    pub fn buttons(&mut self, duel: &Duel, me: Player, drill: &Drill) -> Buttons {
        let own = duel.fighter(me);
        if matches!(own.action, Action::Hit | Action::Block) {
            self.wary_frames = WARY_FRAMES;
        } else {
            self.wary_frames = self.wary_frames.saturating_sub(1);
        }
        let blocks = match drill.guard {
            Guard::Never => false,
            Guard::Always => true,
            Guard::AfterHit => self.wary_frames > 0,
        };
        if own.action == Action::Held && drill.throws == Throws::Escaped {
            return tapped(duel, THROW);
        }
        // The first frame on the feet acts on what was pressed while the dummy rose.
        if own.action == Action::Rise
            && let Some(buttons) = wake_up(duel, me, drill)
        {
            return buttons;
        }
        if blocks && is_threatened(duel, me) {
            return guard(duel, me, drill.stance);
        }
        if drill.throws == Throws::Thrown && own.is_free() && distance(duel) < THROW_DISTANCE {
            return tapped(duel, THROW);
        }
        match drill.stance {
            Stance::Stand => Buttons::NONE,
            Stance::Crouch => DOWN,
            Stance::Jump => UP,
        }
    }
}

/// A button in every second frame: a throw is asked for by a press, not by holding.
fn tapped(duel: &Duel, button: Buttons) -> Buttons {
    if duel.age.is_multiple_of(2) { button } else { Buttons::NONE }
}

fn distance(duel: &Duel) -> Fx {
    (duel.fighters[0].x - duel.fighters[1].x).abs()
}

/// The buttons of a dummy that gets up; `None` if it does nothing about it.
fn wake_up(duel: &Duel, me: Player, drill: &Drill) -> Option<Buttons> {
    Some(match drill.wake_up {
        WakeUp::Nothing => return None,
        WakeUp::Block => guard(duel, me, drill.stance),
        WakeUp::Light => tapped(duel, LIGHT),
        WakeUp::Rising => DOWN | tapped(duel, SPECIAL),
        WakeUp::Jump => UP,
    })
}

/// Whether a blow or a fireball of the other is on its way.
fn is_threatened(duel: &Duel, me: Player) -> bool {
    let other = duel.fighter(me.other());
    let stunned = duel.fighter(me).action == Action::Block;
    matches!(other.action, Action::Attack(_)) || other.projectile.is_some() || stunned
}

/// Holds away from the other, low against low blows and high against those from above.
fn guard(duel: &Duel, me: Player, stance: Stance) -> Buttons {
    let away = match duel.toward(me) {
        Facing::Right => LEFT,
        Facing::Left => RIGHT,
    };
    let foe = duel.fighter(me.other());
    let level = match foe.action {
        Action::Attack(attack) => foe.data(attack).level,
        _ => Level::Mid,
    };
    let is_low = match level {
        Level::Low => true,
        Level::High => false,
        Level::Mid => stance == Stance::Crouch,
    };
    if is_low { away | DOWN } else { away }
}
