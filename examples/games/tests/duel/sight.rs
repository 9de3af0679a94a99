//! The reaction time of a bot: it cannot know what the other has just pressed.

use crate::matches::MIRROR;
use games::duel::bot::{Bot, Level};
use games::duel::buttons::{DOWN, HEAVY, LEFT, LIGHT, RIGHT, SPECIAL, THROW, UP};
use games::duel::{Duel, Phase};
use rebout::{Buttons, Cues, Game, Inputs, Player};

use crate::players::MASHER;

/// The answers of a bot on seat two, frame by frame until the round ends, while seat one holds `held`.
fn answers(mut bot: Bot, mut duel: Duel, held: Buttons, frames: u32) -> Vec<Buttons> {
    let mut answers = Vec::new();
    for _ in 0..frames {
        if duel.phase != Phase::Fight {
            break;
        }
        answers.push(bot.buttons(&duel, Player::Two));
        duel.step(Inputs::from([held, answers[answers.len() - 1]]), &mut Cues::new());
    }
    answers
}

#[test]
fn bot_cannot_tell_presses_apart_within_its_reaction_time() {
    for (level, reaction_frames) in [(Level::Easy, 24), (Level::Normal, 18), (Level::Hard, 12)] {
        let (mut duel, mut bot, mut masher) =
            (Duel::between(3, MIRROR), Bot::new(5, level), MASHER.input_source(9));
        let mut told_apart = 0;
        for frame in 0..3_000 {
            if duel.phase == Phase::Fight && frame % 29 == 0 {
                let run = |held| answers(bot.clone(), duel, held, reaction_frames + 30);
                let nothing = run(Buttons::NONE);
                for held in [UP | RIGHT, UP | LEFT, DOWN | HEAVY, LIGHT, SPECIAL, THROW, LEFT, RIGHT] {
                    let pressed = run(held);
                    // The press is in the state one frame later, and the bot sees that state when its time has passed.
                    let blind = (reaction_frames as usize + 1).min(pressed.len()).min(nothing.len());
                    assert_eq!(pressed[..blind], nothing[..blind], "{level:?} in frame {frame}");
                    told_apart += u32::from(pressed != nothing);
                }
            }
            let inputs = [masher(&duel, Player::One), bot.buttons(&duel, Player::Two)];
            duel.step(Inputs::from(inputs), &mut Cues::new());
        }
        assert!(told_apart > 40, "{level:?} does not look at all: {told_apart}");
    }
}

#[test]
fn bot_that_comes_in_late_watches_before_it_acts() {
    let (mut duel, mut masher) = (Duel::between(3, MIRROR), MASHER.input_source(9));
    let mut step = |duel: &mut Duel, two| {
        let one = masher(duel, Player::One);
        duel.step(Inputs::from([one, two]), &mut Cues::new());
    };
    (0..200).for_each(|_| step(&mut duel, Buttons::NONE));
    let mut bot = Bot::new(5, Level::Hard);
    let mut answers = Vec::new();
    for _ in 0..60 {
        answers.push(bot.buttons(&duel, Player::Two));
        step(&mut duel, answers[answers.len() - 1]);
    }
    assert!(answers[..12].iter().all(|buttons| *buttons == Buttons::NONE), "{answers:?}");
    assert!(answers[12..].iter().any(|buttons| *buttons != Buttons::NONE), "{answers:?}");
}
