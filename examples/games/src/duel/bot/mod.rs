//! A bot that plays through the buttons only, and sees the other as late as a person would.
//!
//! A decision takes four steps. `senses` gives the state of a reaction time ago. `reading` draws a few guesses of
//! what the other has been doing since and does next, weighted by its actions so far. `foresight` plays each plan through
//! against each guess, by the rules of the duel. `habits` and `regrets` bend the result, and the level's error
//! blurs it. Nothing here knows a clock or a float: the same seed and the same states give the same buttons.

mod foe_action;
mod foresight;
mod habits;
mod plan;
mod reading;
mod regrets;
mod senses;
mod skill;

use rebout::{Buttons, Player, Rng};

use super::buttons::{LIGHT, RIGHT, START, UP};
use super::{Action, Character, Duel, Phase};
use foe_action::Guess;
use habits::Habits;
use plan::Plan;
use reading::Reading;
use regrets::Regrets;
use senses::{Senses, View};
pub use skill::Level;
use skill::Skill;

/// The frames for which a bot looks at the fighters before it chooses.
const PICK_FRAMES: u16 = 24;

/// A player made of foresight, habits and dice. It must be asked for every frame of a match, in order.
#[derive(Clone, Debug)]
pub struct Bot {
    skill: Skill,
    /// The fighter that it chooses.
    favourite: Character,
    dice: Rng,
    senses: Senses,
    reading: Reading,
    habits: Habits,
    regrets: Regrets,
    plan: Plan,
    /// Frames since the plan was made.
    age: u16,
    /// Frames of dawdling after the plan.
    pause: u16,
}

impl Bot {
    /// A bot whose fighter, dice and opening follow from the seed.
    pub fn new(seed: u32, level: Level) -> Self {
        let skill = level.skill();
        let mut dice = dice(seed);
        let habits = Habits::new(dice.next_u32() >> 8);
        Self {
            skill,
            favourite: Character::ALL[(seed & 1) as usize],
            dice,
            senses: Senses::new(skill.reaction_frames),
            reading: Reading::new(skill.learning),
            habits,
            regrets: Regrets::new(skill.regret),
            plan: Plan::Wait,
            age: 0,
            pause: 0,
        }
    }

    /// The buttons of the bot in this frame.
    pub fn buttons(&mut self, duel: &Duel, me: Player) -> Buttons {
        self.senses.take_in(duel);
        match duel.phase {
            Phase::Fight => {}
            Phase::Choose => return self.pick(duel, me),
            Phase::MatchOver { .. } if duel.since % 40 > 30 => return START,
            _ => {
                self.adopt(Plan::Wait);
                return Buttons::NONE;
            }
        }
        let Some(seen) = self.senses.seen(duel.age, me) else { return Buttons::NONE };
        let news = self.take_notice(&seen, me);
        let present = self.senses.present(&seen, duel.age, me, Guess::NOTHING_NEW);
        let view = View::of(&present, me);
        if news || self.age >= self.plan.frames() + self.pause {
            self.choose(&seen, &present, me);
        }
        let buttons = self.plan.buttons(self.age, &view);
        self.age = self.age.saturating_add(1);
        buttons
    }

    /// The buttons of the choice: its fighter, and the length of the match that the other wants.
    fn pick(&self, duel: &Duel, me: Player) -> Buttons {
        let wants_five = duel.wants_five;
        if duel.since < PICK_FRAMES || duel.since % 2 == 1 {
            Buttons::NONE
        } else if wants_five[me.index()] != wants_five[me.other().index()] {
            UP
        } else if duel.fighter(me).character != self.favourite {
            RIGHT
        } else {
            LIGHT
        }
    }

    fn happens(&mut self, percent: u32) -> bool {
        self.dice.below(100) < percent
    }

    fn adopt(&mut self, plan: Plan) {
        self.plan = plan;
        self.age = 0;
        self.pause = 0;
    }

    /// Looks at a frame. Answers whether the other has begun something that the bot did not miss.
    fn take_notice(&mut self, seen: &Duel, me: Player) -> bool {
        if seen.phase != Phase::Fight {
            return false;
        }
        self.habits.observe(seen, me);
        self.regrets.observe(seen, me);
        self.reading.observe(seen, me) && self.happens(self.skill.notice)
    }

    /// Adopts the plan that seems best, or dawdles.
    fn choose(&mut self, seen: &Duel, present: &Duel, me: Player) {
        let touched = match seen.fighter(me).action {
            Action::Attack(attack) if seen.fighter(me).connected => Some(attack),
            _ => None,
        };
        let choices = Plan::choices(present.fighter(me), touched);
        if choices.is_empty() {
            return;
        }
        if self.happens(self.skill.hesitate) {
            self.adopt(Plan::Wait);
            self.pause = 4 + self.dice.below(20) as u16;
            return;
        }
        let urge = self.habits.urge(present, me, self.skill.habit);
        let choices = choices.iter().map(|plan| (*plan, 0)).chain(urge);
        let guesses = self.guesses(seen, present, me);
        let mut best = (i32::MIN, Plan::Wait);
        for (plan, fondness) in choices {
            let error = self.dice.range(-self.skill.error, self.skill.error);
            let worth = self.worth(plan, &guesses, me) + fondness + error - self.regrets.about(plan);
            if worth > best.0 {
                best = (worth, plan);
            }
        }
        self.regrets.dare(best.1);
        self.adopt(best.1);
    }

    /// A few ways in which the other may go on, each with the present that it leads to.
    fn guesses(&mut self, seen: &Duel, present: &Duel, me: Player) -> Vec<(Guess, Duel)> {
        let View { foe, gap, .. } = View::of(present, me);
        (0..self.skill.guesses)
            .map(|_| {
                let guess = self.reading.guess(foe, gap, &mut self.dice);
                (guess, self.senses.present(seen, present.age, me, guess))
            })
            .collect()
    }

    fn worth(&self, plan: Plan, guesses: &[(Guess, Duel)], me: Player) -> i32 {
        let late = self.skill.reaction_frames;
        let worth = |(guess, present): &(Guess, Duel)| foresight::worth(present, me, plan, *guess, late);
        guesses.iter().map(worth).sum::<i32>() / self.skill.guesses.cast_signed()
    }
}

/// Spreads the seed, and rolls a few times: neighbouring seeds begin alike otherwise.
fn dice(seed: u32) -> Rng {
    let spread = (seed ^ 0x9E37_79B9).wrapping_mul(0x85EB_CA6B) | 1;
    let mut dice = Rng::new(spread).expect("an odd number is not zero");
    for _ in 0..8 {
        dice.next_u32();
    }
    dice
}
