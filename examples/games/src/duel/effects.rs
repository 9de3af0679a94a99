//! The effects that a frame requests of the views, packed into a cue: kind, player and place.

use rebout::{Cue, Cues, Player};

use super::Fx;

/// A moment worth a spark, a sound or a banner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    LightHit,
    HeavyHit,
    Block,
    Swing,
    Jump,
    Land,
    Slam,
    Cast,
    Clash,
    Grab,
    Escape,
    RoundStart,
    FightStart,
    Ko,
    TimeUp,
    MatchEnd,
    Rematch,
    /// A foot of a walking fighter comes down.
    Step,
    /// A player has chosen a fighter.
    Ready,
}

const ALL: [Effect; 19] = [
    Effect::LightHit,
    Effect::HeavyHit,
    Effect::Block,
    Effect::Swing,
    Effect::Jump,
    Effect::Land,
    Effect::Slam,
    Effect::Cast,
    Effect::Clash,
    Effect::Grab,
    Effect::Escape,
    Effect::RoundStart,
    Effect::FightStart,
    Effect::Ko,
    Effect::TimeUp,
    Effect::MatchEnd,
    Effect::Rematch,
    Effect::Step,
    Effect::Ready,
];

/// Places are told to the nearest four units: a rollback that shifts a blow by less keeps its spark.
const GRAIN: i32 = 4;
/// Keeps the packed place positive.
const OFFSET: i32 = 128;

/// An effect with its owner and its place on the stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    pub effect: Effect,
    /// Who did it; player one for what nobody did.
    pub player: Player,
    pub x: i32,
    pub y: i32,
}

impl Shown {
    fn pack(self) -> Cue {
        let cell = |place: i32| (place.div_euclid(GRAIN) + OFFSET).clamp(0, 255) as u32;
        Cue((self.effect as u32) << 24 | (self.player as u32) << 16 | cell(self.x) << 8 | cell(self.y))
    }

    /// Reads a cue back; `None` if no duel emitted it.
    pub fn unpack(cue: Cue) -> Option<Self> {
        let [effect, player, x, y] = cue.0.to_be_bytes();
        let place = |cell: u8| (i32::from(cell) - OFFSET) * GRAIN + GRAIN / 2;
        Some(Self {
            effect: *ALL.get(usize::from(effect))?,
            player: *Player::BOTH.get(usize::from(player))?,
            x: place(x),
            y: place(y),
        })
    }
}

/// Asks for `effect` at a place.
pub fn emit(cues: &mut Cues, effect: Effect, player: Player, x: Fx, y: Fx) {
    cues.emit(Shown { effect, player, x: x.to_num(), y: y.to_num() }.pack());
}

/// Asks for an effect that belongs to the whole stage.
pub fn announce(cues: &mut Cues, effect: Effect) {
    emit(cues, effect, Player::One, Fx::ZERO, Fx::ZERO);
}
