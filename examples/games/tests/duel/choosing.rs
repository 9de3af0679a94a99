//! The choice before a match: fighters, length, and the end of the choice.

use games::duel::buttons::{DOWN, LEFT, LIGHT, RIGHT, THROW, UP};
use games::duel::{CHOICE_FRAMES, Character, Duel, Phase, RoundEnd};
use rebout::{Buttons, Cues, Game, Inputs, Player};

const NONE: Buttons = Buttons::NONE;

/// Presses buttons for a frame, and lets go of them for another.
fn tap(duel: &mut Duel, one: Buttons, two: Buttons) {
    duel.step(Inputs::from([one, two]), &mut Cues::new());
    duel.step(Inputs::from([NONE; 2]), &mut Cues::new());
}

fn characters(duel: &Duel) -> [Character; 2] {
    duel.fighters.map(|fighter| fighter.character)
}

#[test]
fn each_player_chooses_and_both_must_be_ready() {
    let mut duel = Duel::new(1);
    assert_eq!((duel.phase, characters(&duel)), (Phase::Choose, Character::ALL));
    tap(&mut duel, NONE, LEFT);
    assert_eq!(characters(&duel), [Character::Kaito; 2]);
    tap(&mut duel, RIGHT, NONE);
    tap(&mut duel, LIGHT, NONE);
    // Whoever is ready has chosen, until they take it back.
    tap(&mut duel, RIGHT, NONE);
    assert_eq!((duel.phase, characters(&duel)), (Phase::Choose, [Character::Rai, Character::Kaito]));
    tap(&mut duel, THROW, NONE);
    assert_eq!(duel.ready, [false; 2]);
    tap(&mut duel, RIGHT, NONE);
    tap(&mut duel, LIGHT, LIGHT);
    assert_eq!((duel.phase, characters(&duel)), (Phase::Intro, [Character::Kaito; 2]));
    assert_eq!(duel.ready, [false; 2]);
}

#[test]
fn match_has_five_rounds_only_if_both_ask() {
    for (one, two, to_win) in [(NONE, NONE, 2), (UP, NONE, 2), (NONE, DOWN, 2), (UP, DOWN, 3)] {
        let mut duel = Duel::new(1);
        // The length may change after a player is ready.
        tap(&mut duel, LIGHT, NONE);
        tap(&mut duel, one, two);
        tap(&mut duel, NONE, LIGHT);
        assert_eq!((duel.phase, duel.rounds_to_win()), (Phase::Intro, to_win));
        duel.phase = Phase::RoundOver { winner: Some(Player::One), end: RoundEnd::Ko };
        duel.fighters[0].rounds = 2;
        duel.round = 2;
        let mut decided = false;
        for _ in 0..400 {
            tap(&mut duel, NONE, NONE);
            decided |= matches!(duel.phase, Phase::MatchOver { .. });
        }
        assert_eq!(decided, to_win == 2);
    }
}

#[test]
fn choice_ends_after_its_time() {
    let mut duel = Duel::new(1);
    for _ in 1..CHOICE_FRAMES {
        duel.step(Inputs::from([NONE; 2]), &mut Cues::new());
    }
    assert_eq!(duel.phase, Phase::Choose);
    duel.step(Inputs::from([NONE; 2]), &mut Cues::new());
    assert_eq!((duel.phase, characters(&duel)), (Phase::Intro, Character::ALL));
}
