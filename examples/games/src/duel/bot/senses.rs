//! The senses of a bot: the fight as it was a reaction time ago, and where the bot believes it is now.

use rebout::{Buttons, Cues, Game, Inputs, Player};

use super::super::buttons::{Controls, LEFT, RIGHT};
use super::super::{Duel, Facing, Fighter};
use super::foe_action::Guess;

/// More frames than the slowest level needs to react.
const MEMORY: usize = 32;

/// The last states. The bot knows nothing of the other that is younger than its reaction time.
#[derive(Clone, Debug)]
pub(super) struct Senses {
    memory: [Duel; MEMORY],
    reaction_frames: u32,
}

impl Senses {
    pub(super) fn new(reaction_frames: u32) -> Self {
        Self { memory: [Duel::new(1); MEMORY], reaction_frames }
    }

    /// Stores by age: a frame that is asked about twice, or again after a rollback, takes the place of itself.
    pub(super) fn take_in(&mut self, duel: &Duel) {
        self.memory[duel.age as usize % MEMORY] = *duel;
    }

    fn at(&self, age: u32) -> &Duel {
        &self.memory[age as usize % MEMORY]
    }

    /// The state of a reaction time before `age`; `None` if the bot has not watched for that long.
    ///
    /// The other's buttons are taken out of the state: a person sees a fighter, not the fingers.
    pub(super) fn seen(&self, age: u32, me: Player) -> Option<Duel> {
        let then = age.saturating_sub(self.reaction_frames);
        let mut seen = *self.at(then);
        let complete = (then..=age).all(|frame| self.at(frame).age == frame);
        seen.fighters[me.other().index()].controls = Controls::default();
        complete.then_some(seen)
    }

    /// The present as it is if the other has behaved like `guess` since it was seen.
    ///
    /// The bot knows what its own fighter was told to do in the meantime; the rules do the rest.
    pub(super) fn present(&self, seen: &Duel, age: u32, me: Player, guess: Guess) -> Duel {
        let mut duel = *seen;
        for frame in seen.age..age {
            let own = self.at(frame + 1).fighter(me).controls.held;
            let foe = guess.buttons(frame - seen.age, &View::of(&duel, me.other()));
            step(&mut duel, me, own, foe);
        }
        duel
    }
}

/// One imagined frame.
pub(super) fn step(duel: &mut Duel, me: Player, own: Buttons, foe: Buttons) {
    let inputs = match me {
        Player::One => [own, foe],
        Player::Two => [foe, own],
    };
    duel.step(Inputs::from(inputs), &mut Cues::new());
}

/// The fight from the side of one fighter.
pub(super) struct View<'a> {
    pub(super) own: &'a Fighter,
    pub(super) foe: &'a Fighter,
    /// Between the centres.
    pub(super) gap: i32,
    pub(super) ahead: Buttons,
    pub(super) back: Buttons,
}

impl<'a> View<'a> {
    pub(super) fn of(duel: &'a Duel, me: Player) -> Self {
        let (own, foe) = (duel.fighter(me), duel.fighter(me.other()));
        let (ahead, back) = match duel.toward(me) {
            Facing::Right => (RIGHT, LEFT),
            Facing::Left => (LEFT, RIGHT),
        };
        Self { own, foe, gap: (own.x - foe.x).abs().to_num(), ahead, back }
    }
}
