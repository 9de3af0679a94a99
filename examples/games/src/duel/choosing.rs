//! Before the first round: each player chooses a fighter, and both decide how long the match is.
//!
//! The choice is a phase of the simulation and is made with the buttons of the fight. Both machines therefore agree on
//! it as they agree on every blow, and replays, spectators and rejoining players have it without a message of its own.

use rebout::{Cues, Player};

use super::buttons::{DOWN, HEAVY, LEFT, LIGHT, RIGHT, START, THROW, UP};
use super::effects::{Effect, emit};
use super::{Duel, Fighter, Fx, Phase};

/// Whoever has not chosen by then plays the fighter that is marked.
pub const CHOICE_FRAMES: u16 = 1_200;

impl Duel {
    /// One frame of the choice.
    pub(super) fn choose(&mut self, cues: &mut Cues) {
        for player in Player::BOTH {
            let seat = player.index();
            let controls = self.fighters[seat].controls;
            // The length may change until both are ready: whoever is can still agree to the other's wish.
            self.wants_five[seat] ^= controls.pressed(UP) || controls.pressed(DOWN);
            if self.ready[seat] {
                self.ready[seat] = !controls.pressed(THROW);
                continue;
            }
            let fighter = &mut self.fighters[seat];
            if controls.pressed(LEFT) || controls.pressed(RIGHT) {
                fighter.character = fighter.character.next();
            }
            if [LIGHT, HEAVY, START].into_iter().any(|button| controls.pressed(button)) {
                self.ready[seat] = true;
                emit(cues, Effect::Ready, player, fighter.x, Fx::ZERO);
            }
        }
        if self.ready == [true; 2] || self.since >= CHOICE_FRAMES {
            self.ready = [false; 2];
            self.begin_round(1, cues);
        }
    }

    /// After a match: the same two choose again, and keep what they have won.
    pub(super) fn choose_again(&mut self) {
        for player in Player::BOTH {
            let Fighter { character, matches, controls, .. } = self.fighters[player.index()];
            self.fighters[player.index()] =
                Fighter { matches, controls, ..Fighter::at_mark(player, character) };
        }
        self.one_is_left = true;
        self.ready = [false; 2];
        self.chance.next_u32();
        self.go_to(Phase::Choose);
    }
}
