//! The training: a dummy that does as it is told, and figures that are those of the rules.

use duel::training::{
    Contact, Drill, Dummy, Guard, Inputs, Meter, MoveReport, Place, Stance, Tape, Throws, TrainingGame,
    WakeUp,
};
use games::duel::buttons::{DOWN, HEAVY, LEFT, LIGHT, RIGHT, SPECIAL, THROW, UP};
use games::duel::moves::Move;
use games::duel::{Action, Character, FULL_HEALTH, Facing, Fx, Phase};
use rebout::{Buttons, Cues, Game, Player};

/// Brings the fighters close and answers what was measured of `buttons`, three frames each, and what the dummy took.
fn measured(buttons: &[Buttons], drill: &Drill) -> (MoveReport, i16) {
    measured_at(20, buttons, drill)
}

/// The same from this far from the middle.
fn measured_at(far: i16, buttons: &[Buttons], drill: &Drill) -> (MoveReport, i16) {
    let (mut game, mut dummy, mut meter) =
        (TrainingGame::new(1, Character::ALL), Dummy::default(), Meter::default());
    game.duel.fighters[0].x = Fx::from_num(-far);
    game.duel.fighters[1].x = Fx::from_num(far);
    let mut least = FULL_HEALTH;
    for frame in 0..140 {
        let own = buttons.get(frame / 3).copied().unwrap_or(Buttons::NONE);
        let theirs = dummy.buttons(&game.duel, Player::Two, drill);
        game.step([own, theirs].into(), &mut Cues::new());
        meter.watch(&game.duel, Player::One);
        least = least.min(game.duel.fighters[1].health);
    }
    (*meter.last().expect("a move"), FULL_HEALTH - least)
}

const BLOCKS: Drill = Drill {
    fighters: Character::ALL,
    guard: Guard::Always,
    stance: Stance::Stand,
    throws: Throws::Taken,
    wake_up: WakeUp::Nothing,
    boxes: false,
    frames: true,
    inputs: false,
};
const STANDS: Drill = Drill { guard: Guard::Never, ..BLOCKS };

#[test]
fn advantage_on_the_ground_is_that_of_the_table() {
    let moves = [(LIGHT, Move::StandLight), (HEAVY, Move::StandHeavy), (DOWN | LIGHT, Move::CrouchLight)];
    for (button, attack) in moves {
        let data = Character::Kaito.data(attack);
        let rest = i32::from(data.active + data.recovery);
        let (hit, damage) = measured(&[button], &STANDS);
        let free = Some(i32::from(data.hit_stun) - rest);
        assert_eq!((hit.attack, hit.contact, hit.advantage_frames), (attack, Contact::Hit, free));
        assert_eq!(damage, data.damage, "{attack:?}");
        let (block, damage) = measured(&[button], &BLOCKS);
        let free = Some(i32::from(data.block_stun) - rest);
        assert_eq!(
            (block.contact, block.advantage_frames, damage),
            (Contact::Blocked, free, 0),
            "{attack:?}"
        );
        assert_eq!(hit.frames(), [data.startup, data.active, data.recovery]);
    }
}

#[test]
fn missed_move_has_no_frame_advantage() {
    let (report, damage) = measured_at(150, &[HEAVY], &STANDS);
    assert_eq!((report.attack, report.contact), (Move::StandHeavy, Contact::Nothing));
    assert_eq!((report.advantage_frames, damage), (None, 0));
    // A fireball meets the dummy long after the thrower is free.
    let (report, damage) = measured_at(150, &[SPECIAL], &STANDS);
    assert_eq!((report.attack, report.contact, damage), (Move::Fireball, Contact::Hit, 70));
    assert!(report.advantage_frames.is_some_and(|frames| frames > 0), "{report:?}");
}

#[test]
fn dummy_blocks_low_and_high_and_a_throw_beats_it() {
    for drill in [BLOCKS, Drill { stance: Stance::Crouch, ..BLOCKS }] {
        for button in [DOWN | HEAVY, HEAVY, LIGHT] {
            let (report, damage) = measured(&[button], &drill);
            assert_eq!((report.contact, damage), (Contact::Blocked, 0), "{button:?} {drill:?}");
        }
        let (report, damage) = measured(&[THROW], &drill);
        assert!(report.contact == Contact::Hit && damage > 0, "{report:?}");
    }
}

#[test]
fn after_the_first_hit_the_dummy_blocks_the_rest() {
    let drill = Drill { guard: Guard::AfterHit, ..BLOCKS };
    let blows: Vec<Buttons> =
        (0..24).map(|third| if third % 8 == 0 { LIGHT | RIGHT } else { RIGHT }).collect();
    let (last, damage) = measured(&blows, &drill);
    assert_eq!((last.contact, damage), (Contact::Blocked, Character::Kaito.data(Move::StandLight).damage));
}

#[test]
fn dummy_stands_crouches_and_jumps() {
    for (stance, seen) in [
        (Stance::Stand, [true, false, false]),
        (Stance::Crouch, [false, true, false]),
        (Stance::Jump, [false, false, true]),
    ] {
        let (mut game, mut dummy) = (TrainingGame::new(1, Character::ALL), Dummy::default());
        let mut found = [false; 3];
        for _ in 0..60 {
            let theirs = dummy.buttons(&game.duel, Player::Two, &Drill { stance, ..STANDS });
            game.step([Buttons::NONE, theirs].into(), &mut Cues::new());
            let fighter = &game.duel.fighters[1];
            found[1] |= fighter.crouching;
            found[2] |= fighter.airborne();
            found[0] = fighter.action == Action::Stand;
        }
        assert_eq!(found, seen, "{stance:?}");
    }
}

#[test]
fn training_has_no_end_and_heals() {
    let mut game = TrainingGame::new(1, Character::ALL);
    game.duel.fighters[1].x = Fx::from_num(-30);
    let mut lowest = FULL_HEALTH;
    for frame in 0..6_000 {
        let own = if frame % 40 < 3 { HEAVY | RIGHT } else { RIGHT };
        game.step([if frame < 5_800 { own } else { Buttons::NONE }, Buttons::NONE].into(), &mut Cues::new());
        lowest = lowest.min(game.duel.fighters[1].health);
    }
    assert_eq!((game.duel.phase, game.duel.seconds()), (Phase::Fight, 60));
    assert!(lowest < FULL_HEALTH, "nobody was hit");
    assert_eq!(game.duel.fighters[1].health, FULL_HEALTH);
}

#[test]
fn inputs_are_told_with_their_frames_and_the_newest_first() {
    let mut inputs = Inputs::default();
    for buttons in [RIGHT, RIGHT, RIGHT | DOWN, RIGHT | DOWN | LIGHT, RIGHT | DOWN | LIGHT] {
        inputs.push(buttons);
    }
    let told: Vec<_> = inputs.iter().map(|held| (held.direction(), held.blows(), held.frames)).collect();
    let none = String::new;
    assert_eq!(told, [((1, -1), "L".to_owned(), 2), ((1, -1), none(), 1), ((1, 0), none(), 2)]);
    (0..100).for_each(|frame| inputs.push(if frame % 2 == 0 { UP } else { Buttons::NONE }));
    assert_eq!(inputs.iter().count(), 12);
}

/// The actions of the dummy over some frames, while the player presses `own` in the first three.
fn dummy_actions(far: i16, own: Buttons, drill: &Drill) -> Vec<Action> {
    let (mut game, mut dummy) = (TrainingGame::new(1, Character::ALL), Dummy::default());
    game.duel.fighters[0].x = Fx::from_num(-far);
    game.duel.fighters[1].x = Fx::from_num(far);
    let frames = (0..200).map(|frame| {
        let own = if frame < 3 { own } else { Buttons::NONE };
        let theirs = dummy.buttons(&game.duel, Player::Two, drill);
        game.step([own, theirs].into(), &mut Cues::new());
        game.duel.fighters[1].action
    });
    frames.collect()
}

#[test]
fn dummy_takes_escapes_and_makes_throws() {
    let is_down = |actions: &[Action]| actions.contains(&Action::Down);
    assert!(is_down(&dummy_actions(20, THROW, &STANDS)));
    let escapes = Drill { throws: Throws::Escaped, ..STANDS };
    let actions = dummy_actions(20, THROW, &escapes);
    assert!(actions.contains(&Action::Held) && !is_down(&actions));
    let throws = Drill { throws: Throws::Thrown, ..STANDS };
    assert!(dummy_actions(20, Buttons::NONE, &throws).contains(&Action::Holding));
    assert!(!dummy_actions(100, Buttons::NONE, &throws).contains(&Action::Holding));
}

#[test]
fn dummy_gets_up_as_it_is_told() {
    let first_after_rise = |wake_up: WakeUp| {
        let actions = dummy_actions(20, THROW, &Drill { wake_up, ..STANDS });
        let risen = actions.iter().rposition(|action| *action == Action::Rise).expect("it was thrown");
        actions[risen + 1]
    };
    assert_eq!(first_after_rise(WakeUp::Light), Action::Attack(Move::StandLight));
    // The dummy is Rai.
    assert_eq!(first_after_rise(WakeUp::Rising), Action::Attack(Move::Heel));
    assert_eq!(first_after_rise(WakeUp::Jump), Action::JumpSquat);
    assert_eq!(first_after_rise(WakeUp::Nothing), Action::Stand);
}

#[test]
fn tape_repeats_what_was_recorded_on_either_side() {
    let mut tape = Tape::default();
    tape.toggle_playing();
    assert!(!tape.is_playing() && tape.next(Facing::Right).is_none(), "an empty tape is not played");
    tape.toggle_recording();
    for buttons in [RIGHT, RIGHT | LIGHT, Buttons::NONE] {
        tape.record(buttons, Facing::Right);
    }
    tape.toggle_recording();
    tape.record(HEAVY, Facing::Right);
    tape.toggle_playing();
    let played: Vec<_> = (0..4).map_while(|_| tape.next(Facing::Right)).collect();
    assert_eq!(played, [RIGHT, RIGHT | LIGHT, Buttons::NONE, RIGHT]);
    tape.rewind();
    assert_eq!(tape.next(Facing::Left), Some(LEFT), "toward the player from the other side");
    tape.toggle_recording();
    (0..10_000).for_each(|_| tape.record(LIGHT, Facing::Right));
    assert!(!tape.is_recording(), "a full tape ends the recording");
}

#[test]
fn reset_puts_both_where_the_player_wants_them() {
    let mut game = TrainingGame::new(1, Character::ALL);
    for (place, [one, two]) in [
        (Place::Middle, [-75, 75]),
        (Place::LeftCorner, [-135, -225]),
        (Place::Middle, [-75, 75]),
        (Place::RightCorner, [135, 225]),
    ] {
        game.put(place);
        game.step([Buttons::NONE; 2].into(), &mut Cues::new());
        let [own, other] = game.duel.fighters;
        assert_eq!((own.x, other.x), (Fx::from_num(one), Fx::from_num(two)), "{place:?}");
        assert_eq!((own.facing, game.duel.toward(Player::One)), (own.facing, own.facing), "{place:?}");
        assert_ne!(own.facing, other.facing, "{place:?}");
    }
}

#[test]
fn fireball_is_reported_with_its_flight() {
    let (report, _) = measured_at(100, &[SPECIAL], &STANDS);
    let flight = report.flight_frames.expect("it flew");
    assert!((10..60).contains(&flight), "{flight}");
    let words = duel::art::drill::line(&report);
    assert!(words.contains(&format!("in flight {flight}")) && !words.contains("active"), "{words}");
}
