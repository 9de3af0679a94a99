//! A patient player that guards, punishes and has learned the habits of the bot.
//!
//! It reacts at once, which no person does; it stands for somebody who plays soundly, and normal must be beatable by that.

use games::duel::Character;
use games::duel::bot::Level;
use games::duel::buttons::{DOWN, HEAVY, LEFT, RIGHT, SPECIAL, THROW, UP};
use games::duel::moves::Move;
use games::duel::{Action, Duel, Facing};
use rebout::{Buttons, Player};

use crate::matches::{InputSource, bot, score};

/// The falls of both, its own first: the bot's habits go in turns.
struct Student {
    falls: [u32; 2],
    last: [Action; 2],
}

impl Student {
    fn input_source() -> InputSource {
        let mut student = Self { falls: [0; 2], last: [Action::Stand; 2] };
        Box::new(move |duel, me| student.buttons(duel, me))
    }

    fn buttons(&mut self, duel: &Duel, me: Player) -> Buttons {
        let (own, foe) = (duel.fighter(me), duel.fighter(me.other()));
        for (n, fighter) in [own, foe].into_iter().enumerate() {
            self.falls[n] += u32::from(fighter.action == Action::Down && self.last[n] != Action::Down);
            self.last[n] = fighter.action;
        }
        let (ahead, back) = match duel.toward(me) {
            Facing::Right => (RIGHT, LEFT),
            Facing::Left => (LEFT, RIGHT),
        };
        let gap: i32 = (own.x - foe.x).abs().to_num();
        let tap = |button| if duel.age.is_multiple_of(2) { button } else { Buttons::NONE };
        let guard = if foe.airborne() { back } else { back | DOWN };
        match (own.action, foe.action) {
            // Thrown the first time it gets up, swept the second time.
            (Action::Rise, _) if self.falls[0] % 2 == 1 && own.since >= 12 => UP,
            (Action::Rise, _) => guard,
            (_, Action::Down) if gap > 40 => ahead,
            // Guards the first time it gets up, strikes the second time.
            (_, Action::Rise) if self.falls[1] % 2 == 1 && gap > 42 => ahead,
            (_, Action::Rise) if self.falls[1] % 2 == 1 && foe.since >= 12 => tap(THROW),
            (_, Action::Rise) => guard,
            (Action::Attack(Move::StandHeavy), Action::Hit) if own.connected => DOWN | tap(SPECIAL),
            (_, Action::Land) if foe.stun > 8 && gap < 85 => tap(HEAVY),
            (_, Action::Attack(Move::Rising)) if foe.since > 20 && gap < 80 => tap(HEAVY),
            (_, Action::Attack(Move::Rising)) => guard,
            (_, Action::Attack(attack)) => {
                let left = i32::from(Character::Kaito.data(attack).total()) - i32::from(foe.since);
                let over =
                    foe.since >= Character::Kaito.data(attack).startup + Character::Kaito.data(attack).active;
                if over && left > 8 && gap < 88 { tap(HEAVY) } else { guard }
            }
            (_, Action::Air) if gap < 60 => DOWN | tap(SPECIAL),
            (_, Action::Air) => guard,
            (_, Action::Stand | Action::Crouch | Action::Guard | Action::WalkForward | Action::WalkBack)
                if gap < 46 =>
            {
                tap(THROW)
            }
            _ if gap > 190 && own.projectile.is_none() && foe.projectile.is_none() => tap(SPECIAL),
            _ => guard,
        }
    }
}

#[test]
fn sound_play_beats_normal() {
    let score = score(10, |_| Student::input_source(), |seed| bot(seed, Level::Normal));
    assert!(score.won >= 6, "{score:?}");
}
