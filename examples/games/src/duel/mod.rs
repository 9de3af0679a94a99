//! The duel itself: a fighting game for two as a pure step from state to state, in fixed point.
//!
//! Nothing here knows a clock, a network or a screen. The stage is symmetric and both fighters are worked out from
//! the same state in every phase of a frame, so that neither seat has an advantage.

mod action;
mod area;
pub mod bot;
pub mod buttons;
mod character;
mod choosing;
mod contact;
pub mod effects;
mod fighter;
pub mod identity;
mod kaito;
pub mod moves;
mod projectile;
mod rai;
pub mod script;

use rebout::{Cues, Game, Inputs, Player, Rng, fields};

pub use action::{Action, Facing};
pub use area::Area;
pub use character::{Build, Character};
pub use choosing::CHOICE_FRAMES;
pub use fighter::Fighter;
pub use projectile::Projectile;

use buttons::{LEAVE, START};
use effects::{Effect, announce};

/// Positions and speeds, in units of which a standing fighter is about a hundred tall.
pub type Fx = fixed::types::I16F16;

/// The fighters' centres stay within this distance of the middle.
pub const STAGE_HALF_WIDTH: Fx = Fx::lit("225");
pub const FULL_HEALTH: i16 = 1000;
pub const ROUND_SECONDS: u16 = 60;
/// Drawn rounds win nobody anything; after this many rounds more than a match has, it is over.
const EXTRA_ROUNDS: u8 = 2;

pub const INTRO_FRAMES: u16 = 100;
/// When "fight" replaces the number of the round.
pub const CALL_FRAME: u16 = 64;
const ROUND_OVER_FRAMES: u16 = 190;
/// When the winner raises the fists.
const CHEER_FRAME: u16 = 70;
pub const REMATCH_FRAMES: u16 = 600;

/// How a round ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundEnd {
    Ko,
    Time,
}
fields!(
    enum RoundEnd {
        Ko,
        Time,
    }
);

/// Where the match is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Both choose a fighter and the length of the match.
    Choose,
    Intro,
    Fight,
    RoundOver {
        winner: Option<Player>,
        end: RoundEnd,
    },
    /// Decided; both may ask for a rematch.
    MatchOver {
        winner: Option<Player>,
    },
    /// Decided, and no rematch wanted.
    Done {
        winner: Option<Player>,
    },
}
fields!(
    enum Phase {
        Choose,
        Intro,
        Fight,
        RoundOver { winner, end },
        MatchOver { winner },
        Done { winner },
    }
);

/// The whole state of the duel.
#[derive(Clone, Copy, Debug)]
pub struct Duel {
    pub fighters: [Fighter; 2],
    /// Who is on the left. Kept when both stand on the same spot, so that a tie never goes to a seat.
    pub one_is_left: bool,
    pub phase: Phase,
    /// Frames in this phase.
    pub since: u16,
    /// Frames left in the round.
    pub clock: u16,
    /// The round, from 1.
    pub round: u8,
    /// Who has chosen, or wants a rematch: the phase goes on once both have.
    pub ready: [bool; 2],
    /// Who asks for a best of five. The match is one of three unless both do.
    pub wants_five: [bool; 2],
    /// Steps taken since the duel began.
    pub age: u32,
    /// Randomness: it decides the light on the stage, and nothing that matters.
    pub chance: Rng,
}
fields!(Duel { fighters, one_is_left, phase, since, clock, round, ready, wants_five, age, chance });

impl Duel {
    /// A duel of two who have yet to choose their fighters. The seed decides the light on the stage.
    pub fn new(seed: u32) -> Self {
        Self { phase: Phase::Choose, ..Self::between(seed, Character::ALL) }
    }

    /// A duel about to begin its first round.
    pub fn between(seed: u32, [one, two]: [Character; 2]) -> Self {
        Self {
            fighters: [Fighter::at_mark(Player::One, one), Fighter::at_mark(Player::Two, two)],
            one_is_left: true,
            phase: Phase::Intro,
            since: 0,
            clock: ROUND_SECONDS * 60,
            round: 1,
            ready: [false; 2],
            wants_five: [false; 2],
            age: 0,
            chance: chance(seed),
        }
    }

    pub fn fighter(&self, player: Player) -> &Fighter {
        &self.fighters[player.index()]
    }

    /// Seconds left, as the clock shows them.
    pub fn seconds(&self) -> u16 {
        self.clock.div_ceil(60)
    }

    /// The rounds that win the match.
    pub fn rounds_to_win(&self) -> u8 {
        if self.wants_five == [true; 2] { 3 } else { 2 }
    }

    /// Where `player`'s opponent is.
    pub fn toward(&self, player: Player) -> Facing {
        if (player == Player::One) == self.one_is_left { Facing::Right } else { Facing::Left }
    }

    fn begin_round(&mut self, round: u8, cues: &mut Cues) {
        for player in Player::BOTH {
            self.fighters[player.index()].reset(player);
        }
        self.one_is_left = true;
        self.clock = ROUND_SECONDS * 60;
        self.round = round;
        // The first round has the light in which the fighters were chosen.
        if round > 1 {
            self.chance.next_u32();
        }
        self.go_to(Phase::Intro);
        announce(cues, Effect::RoundStart);
    }

    fn go_to(&mut self, phase: Phase) {
        self.phase = phase;
        self.since = 0;
    }

    /// One frame of the fighters, whoever steers them.
    fn move_fighters(&mut self, cues: &mut Cues) {
        let before = self.fighters;
        let frozen = before.map(|fighter| fighter.hitstop > 0);
        for player in Player::BOTH {
            let (seat, toward) = (player.index(), self.toward(player));
            let fighter = &mut self.fighters[seat];
            if frozen[seat] {
                fighter.hitstop -= 1;
            } else {
                fighter.decide(player, &before[player.other().index()], toward, cues);
            }
        }
        self.go_on_holding(cues);
        let mut pushed_back = [Fx::ZERO; 2];
        for player in Player::BOTH {
            let fighter = &mut self.fighters[player.index()];
            if !frozen[player.index()] {
                let stunned = matches!(fighter.action, Action::Hit | Action::Block);
                let rest = fighter.travel(player, cues);
                if stunned {
                    pushed_back[player.other().index()] = rest;
                }
            }
        }
        for (fighter, rest) in self.fighters.iter_mut().zip(pushed_back) {
            if !fighter.airborne() {
                fighter.x = (fighter.x - rest).clamp(-STAGE_HALF_WIDTH, STAGE_HALF_WIDTH);
            }
        }
        self.note_sides();
        self.push_apart();
        self.move_projectiles(cues);
        cues.phase("movement", &self.fighters);
    }

    fn note_sides(&mut self) {
        let [one, two] = &self.fighters;
        if one.x != two.x {
            self.one_is_left = one.x < two.x;
        }
    }

    fn fight(&mut self, cues: &mut Cues) {
        self.clock = self.clock.saturating_sub(1);
        self.move_fighters(cues);
        self.meet(cues);
        cues.phase("hits", &self.fighters);
        let [one, two] = self.fighters.map(|fighter| fighter.health);
        if one == 0 || two == 0 {
            announce(cues, Effect::Ko);
            self.end_round(RoundEnd::Ko);
        } else if self.clock == 0 {
            announce(cues, Effect::TimeUp);
            self.end_round(RoundEnd::Time);
        }
    }

    fn end_round(&mut self, end: RoundEnd) {
        let [one, two] = self.fighters.map(|fighter| fighter.health);
        let winner = match one.cmp(&two) {
            core::cmp::Ordering::Greater => Some(Player::One),
            core::cmp::Ordering::Less => Some(Player::Two),
            core::cmp::Ordering::Equal => None,
        };
        if let Some(player) = winner {
            self.fighters[player.index()].rounds += 1;
        }
        self.go_to(Phase::RoundOver { winner, end });
    }

    /// The dust settles: the beaten one falls, the winner cheers, and then the next round or the end.
    fn wind_up(&mut self, winner: Option<Player>, cues: &mut Cues) {
        self.move_fighters(cues);
        self.fighters.iter_mut().for_each(|fighter| fighter.projectile = None);
        if self.since >= CHEER_FRAME {
            for player in Player::BOTH {
                let fighter = &mut self.fighters[player.index()];
                if fighter.is_free() {
                    fighter.crouching = false;
                    fighter.vx = Fx::ZERO;
                    fighter.enter(if winner == Some(player) { Action::Victory } else { Action::Defeat });
                }
            }
        }
        if self.since >= ROUND_OVER_FRAMES {
            match self.decided() {
                Some(winner) => {
                    if let Some(player) = winner {
                        self.fighters[player.index()].matches += 1;
                    }
                    announce(cues, Effect::MatchEnd);
                    self.ready = [false; 2];
                    self.go_to(Phase::MatchOver { winner });
                }
                None => self.begin_round(self.round + 1, cues),
            }
        }
    }

    /// Who has won the match, once that is known; `Some(None)` is a drawn match.
    fn decided(&self) -> Option<Option<Player>> {
        let [one, two] = self.fighters.map(|fighter| fighter.rounds);
        let to_win = self.rounds_to_win();
        if one.max(two) < to_win && self.round < 2 * to_win - 1 + EXTRA_ROUNDS {
            return None;
        }
        Some(match one.cmp(&two) {
            core::cmp::Ordering::Greater => Some(Player::One),
            core::cmp::Ordering::Less => Some(Player::Two),
            core::cmp::Ordering::Equal => None,
        })
    }

    fn wait_for_rematch(&mut self, winner: Option<Player>, cues: &mut Cues) {
        self.move_fighters(cues);
        let mut declined = self.since >= REMATCH_FRAMES;
        for (wants, fighter) in self.ready.iter_mut().zip(&self.fighters) {
            *wants |= fighter.controls.pressed(START);
            declined |= fighter.controls.pressed(LEAVE);
        }
        if self.ready == [true; 2] {
            announce(cues, Effect::Rematch);
            self.choose_again();
        } else if declined {
            self.go_to(Phase::Done { winner });
        }
    }
}

impl Game for Duel {
    fn step(&mut self, inputs: Inputs, cues: &mut Cues) {
        self.age = self.age.wrapping_add(1);
        self.since = self.since.saturating_add(1);
        let steered = matches!(self.phase, Phase::Fight | Phase::Choose);
        for player in Player::BOTH {
            let fighter = &mut self.fighters[player.index()];
            // Between rounds and after the match only the rematch buttons count.
            let buttons =
                if steered { inputs[player].buttons() } else { inputs[player].buttons() & (START | LEAVE) };
            fighter.controls.read(buttons, fighter.hitstop > 0);
        }
        cues.phase("controls", &self.fighters);
        match self.phase {
            Phase::Choose => self.choose(cues),
            Phase::Intro => {
                if self.age == 1 {
                    announce(cues, Effect::RoundStart);
                }
                self.move_fighters(cues);
                if self.since >= INTRO_FRAMES {
                    announce(cues, Effect::FightStart);
                    self.go_to(Phase::Fight);
                }
            }
            Phase::Fight => self.fight(cues),
            Phase::RoundOver { winner, .. } => self.wind_up(winner, cues),
            Phase::MatchOver { winner } => self.wait_for_rematch(winner, cues),
            Phase::Done { .. } => {}
        }
    }

    fn finished(&self) -> bool {
        matches!(self.phase, Phase::Done { .. })
    }
}

/// Zero is no seed; a caller who has none gets the light of seed 1.
fn chance(seed: u32) -> Rng {
    Rng::new(seed).or_else(|| Rng::new(1)).expect("1 is a seed")
}
