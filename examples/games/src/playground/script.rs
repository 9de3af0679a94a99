//! Scripted players: the script of the golden value, and two that fight.

use super::{ATTACK, JUMP, LEFT, Playground, RIGHT};
use rebout::{Buttons, Cues, Game, Inputs, Player, Rng};

/// The inputs of frame `f` that lead from seed 1 to the published checksum. They land no hit.
pub fn golden(f: u32) -> Inputs {
    let attack_every = |frames: u32| if f.is_multiple_of(frames) { ATTACK } else { Buttons::NONE };
    let one = match f {
        0..200 => RIGHT,
        200..220 => JUMP,
        220..400 => RIGHT,
        400..450 => attack_every(15),
        _ if (f / 20).is_multiple_of(2) => LEFT,
        _ => RIGHT,
    };
    let two = match f {
        0..300 => LEFT,
        300..400 => JUMP,
        400..500 => attack_every(17),
        _ => Buttons::NONE,
    };
    Inputs::from([one, two])
}

/// Two players that look for each other and strike. Their decisions are drawn from `seed`; the match is played along,
/// because they have to see where they are. 0 is no seed.
pub fn fight(seed: u32, frames: u32) -> Option<Vec<Inputs>> {
    let mut game = Playground::new(seed)?;
    let mut rng = Rng::new(seed)?;
    let mut cues = Cues::new();
    let mut moods = [(Mood::Hunt, 0); 2];
    let inputs = (0..frames).map(|frame| {
        let mut inputs = Inputs::default();
        for player in Player::BOTH {
            let (mood, until) = &mut moods[player.index()];
            if frame >= *until {
                // The first meeting is a sure one; after it they hunt more often than not.
                *mood = if frame == 0 { Mood::Hunt } else { Mood::draw(&mut rng) };
                *until = frame + if frame == 0 { 40 } else { 6 + rng.below(20) };
            }
            inputs[player] = mood.press(&game, player).into();
        }
        game.step(inputs, &mut cues);
        cues.clear();
        inputs
    });
    Some(inputs.collect())
}

#[derive(Clone, Copy)]
enum Mood {
    Hunt,
    Leap,
    Flee,
    Wait,
}

impl Mood {
    fn draw(rng: &mut Rng) -> Self {
        match rng.below(8) {
            0..4 => Self::Hunt,
            4 => Self::Leap,
            5 | 6 => Self::Flee,
            _ => Self::Wait,
        }
    }

    fn press(self, game: &Playground, player: Player) -> Buttons {
        let [me, other] = [player, player.other()].map(|player| game.fighters[player.index()]);
        // On the same spot nobody hits: then it is player one who is on the left.
        let on_the_left = (me.x, player.index()) < (other.x, player.other().index());
        let (toward, away) = if on_the_left { (RIGHT, LEFT) } else { (LEFT, RIGHT) };
        let near = (1..1_200).contains(&me.x.abs_diff(other.x)) && (me.facing > 0) == on_the_left;
        match self {
            Self::Hunt if near => ATTACK,
            Self::Hunt => toward,
            Self::Leap => toward | JUMP,
            Self::Flee => away,
            Self::Wait => Buttons::NONE,
        }
    }
}
