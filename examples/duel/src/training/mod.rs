//! Training: a dummy that does as it is told, and the figures of what the player does. Nothing here knows a screen.

mod dummy;
mod inputs;
mod meter;
mod tape;

pub use dummy::Dummy;
pub use inputs::{Held, Inputs};
pub use meter::{Contact, Meter, MoveReport};
pub use tape::Tape;

use rebout::{Cues, Game, Player, fields};

use games::duel::{Action, Character, Duel, FULL_HEALTH, Facing, Fx, Phase, ROUND_SECONDS, STAGE_HALF_WIDTH};

/// The posture of the dummy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stance {
    #[default]
    Stand,
    Crouch,
    Jump,
}

impl Stance {
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Stand, "stand"), (Self::Crouch, "crouch"), (Self::Jump, "jump")];
}

/// When the dummy blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Guard {
    #[default]
    Never,
    Always,
    /// Everything but the first blow.
    AfterHit,
}

impl Guard {
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Never, "never"), (Self::Always, "always"), (Self::AfterHit, "after-hit")];
}

/// How the dummy answers throws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Throws {
    #[default]
    Taken,
    /// Every throw is escaped.
    Escaped,
    /// The dummy throws whoever stands close.
    Thrown,
}

impl Throws {
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Taken, "taken"), (Self::Escaped, "escaped"), (Self::Thrown, "throws you")];
}

/// What the dummy does as it gets up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WakeUp {
    #[default]
    Nothing,
    Block,
    Light,
    Rising,
    Jump,
}

impl WakeUp {
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Nothing, "nothing"),
        (Self::Block, "block"),
        (Self::Light, "light"),
        (Self::Rising, "low special"),
        (Self::Jump, "jump"),
    ];
}

/// Where both fighters are put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Middle,
    LeftCorner,
    RightCorner,
}

/// The fighters by the names of the menu.
pub const FIGHTERS: [(Character, &str); 2] =
    [(Character::Kaito, Character::Kaito.name()), (Character::Rai, Character::Rai.name())];

/// How a player trains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drill {
    /// The fighters of the player and of the dummy.
    pub fighters: [Character; 2],
    pub stance: Stance,
    pub guard: Guard,
    pub throws: Throws,
    pub wake_up: WakeUp,
    /// Hit boxes are drawn.
    pub boxes: bool,
    /// The frame data of the last move is shown.
    pub frames: bool,
    /// The last inputs are shown.
    pub inputs: bool,
}

impl Default for Drill {
    fn default() -> Self {
        Self {
            fighters: Character::ALL,
            stance: Stance::Stand,
            guard: Guard::Never,
            throws: Throws::Taken,
            wake_up: WakeUp::Nothing,
            boxes: true,
            frames: true,
            inputs: true,
        }
    }
}

/// Units between the fighters in a corner.
const GAP: i16 = 90;
/// Frames without a blow after which the dummy is healed.
const HEAL_FRAMES: u16 = 60;

/// A duel that never ends: no intro, no clock, and whoever was hit is healed after the combo.
#[derive(Clone, Copy, Debug)]
pub struct TrainingGame {
    pub duel: Duel,
    calm_frames: [u16; 2],
}
fields!(TrainingGame { duel, calm_frames });

impl TrainingGame {
    pub fn new(seed: u32, fighters: [Character; 2]) -> Self {
        let mut duel = Duel::between(seed, fighters);
        (duel.phase, duel.since) = (Phase::Fight, 0);
        Self { duel, calm_frames: [0; 2] }
    }

    /// Puts both fighters to a place, on their feet and healed. The fighter of the dummy is the one with its back to a corner.
    pub fn put(&mut self, place: Place) {
        for player in Player::BOTH {
            self.duel.fighters[player.index()].reset(player);
        }
        self.duel.one_is_left = place != Place::LeftCorner;
        let half = STAGE_HALF_WIDTH.to_num::<i16>();
        let [own, other] = match place {
            Place::Middle => return,
            Place::LeftCorner => [GAP - half, -half],
            Place::RightCorner => [half - GAP, half],
        };
        let [one, two] = &mut self.duel.fighters;
        (one.x, two.x) = (Fx::from_num(own), Fx::from_num(other));
        if place == Place::LeftCorner {
            (one.facing, two.facing) = (Facing::Left, Facing::Right);
        } else {
            (one.facing, two.facing) = (Facing::Right, Facing::Left);
        }
    }

    fn heal(&mut self) {
        self.duel.clock = ROUND_SECONDS * 60;
        for (fighter, calm) in self.duel.fighters.iter_mut().zip(&mut self.calm_frames) {
            let is_struck = matches!(
                fighter.action,
                Action::Hit | Action::Launched | Action::Held | Action::Down | Action::Rise
            );
            *calm = if is_struck { 0 } else { calm.saturating_add(1) };
            if *calm >= HEAL_FRAMES {
                fighter.health = FULL_HEALTH;
            }
        }
    }
}

impl Game for TrainingGame {
    fn step(&mut self, inputs: rebout::Inputs, cues: &mut Cues) {
        // Nobody falls in training, however long the combo.
        for player in Player::BOTH {
            let fighter = &mut self.duel.fighters[player.index()];
            fighter.health = fighter.health.max(FULL_HEALTH / 2);
        }
        self.duel.step(inputs, cues);
        self.heal();
    }
}
