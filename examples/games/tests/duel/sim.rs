//! The duel's simulation: golden checksums, invariants under any input, and fairness between the seats.

use crate::matches::MIRROR;
use games::duel::buttons::{DOWN, HEAVY, LEAVE, LEFT, LIGHT, RIGHT, SPECIAL, START, THROW, UP};
use games::duel::effects::{Effect, Shown};
use games::duel::moves::Move;
use games::duel::{
    Action, Character, Duel, FULL_HEALTH, Facing, Fighter, Fx, INTRO_FRAMES, Phase, RoundEnd,
    STAGE_HALF_WIDTH,
};
use proptest::prelude::*;
use rebout::{Buttons, Cues, Game, Inputs, Player, checksum, diff};
use support::repeats;

const NONE: Buttons = Buttons::NONE;

/// Steps and answers what the frame showed.
fn step(duel: &mut Duel, one: Buttons, two: Buttons) -> Vec<Shown> {
    let mut cues = Cues::new();
    duel.step(Inputs::from([one, two]), &mut cues);
    cues.as_slice().iter().map(|cue| Shown::unpack(*cue).expect("a cue of the duel")).collect()
}

fn hold(duel: &mut Duel, frames: u32, one: Buttons, two: Buttons) -> Vec<Shown> {
    (0..frames).flat_map(|_| step(duel, one, two)).collect()
}

fn saw(shown: &[Shown], effect: Effect) -> bool {
    shown.iter().any(|seen| seen.effect == effect)
}

/// A duel whose first round has begun, the fighters `gap` apart.
fn fighting(gap: i32) -> Duel {
    let mut duel = Duel::between(1, MIRROR);
    hold(&mut duel, u32::from(INTRO_FRAMES), NONE, NONE);
    assert_eq!(duel.phase, Phase::Fight);
    duel.fighters[0].x = Fx::from_num(-gap) / 2;
    duel.fighters[1].x = Fx::from_num(gap) / 2;
    duel
}

/// The frames until player one, and player two, may act again.
fn frames_until_free(duel: &mut Duel) -> [u32; 2] {
    let mut free = [None; 2];
    for frame in 0..300 {
        for (slot, fighter) in free.iter_mut().zip(&duel.fighters) {
            if slot.is_none() && fighter.is_free() && fighter.hitstop == 0 {
                *slot = Some(frame);
            }
        }
        if let [Some(one), Some(two)] = free {
            return [one, two];
        }
        step(duel, NONE, NONE);
    }
    panic!("not free within five seconds: {duel:?}");
}

fn play(seed: u32, script: &[(u32, Buttons, Buttons)]) -> Duel {
    let mut duel = Duel::between(seed, MIRROR);
    for (frames, one, two) in script.iter().cycle() {
        hold(&mut duel, *frames, *one, *two);
        if duel.finished() || duel.age > 60 * 60 * 12 {
            break;
        }
    }
    duel
}

#[test]
fn state_is_small() {
    let bytes = size_of::<Duel>();
    assert!(bytes < 1024, "{bytes} bytes");
}

#[test]
fn rushdown_reaches_its_golden_checksum() {
    let duel = play(
        7,
        &[
            (40, RIGHT, NONE),
            (2, LIGHT, NONE),
            (6, NONE, LEFT),
            (2, HEAVY, NONE),
            (14, NONE, NONE),
            (2, SPECIAL, NONE),
            (40, RIGHT, RIGHT),
            (2, RIGHT | THROW, DOWN | LIGHT),
            (60, NONE, NONE),
            (20, RIGHT | UP, RIGHT),
            (12, HEAVY, RIGHT),
            (8, DOWN | SPECIAL, RIGHT | DOWN),
        ],
    );
    assert_eq!(duel.phase, Phase::Done { winner: Some(Player::One) });
    assert_eq!(format!("{:08x} at {}", checksum(&duel), duel.age), "04c51283 at 3584");
}

#[test]
fn war_of_fireballs_reaches_its_golden_checksum() {
    let duel = play(
        99,
        &[
            (2, SPECIAL, SPECIAL),
            (70, LEFT, RIGHT),
            (30, UP | RIGHT, NONE),
            (2, NONE, SPECIAL),
            (50, DOWN, NONE),
            (2, DOWN | HEAVY, LIGHT),
            (33, RIGHT, LEFT),
        ],
    );
    assert!(duel.finished());
    assert_eq!(format!("{:08x} at {}", checksum(&duel), duel.age), "48d2e8f5 at 4608");
}

#[test]
fn idle_match_is_drawn_and_has_its_golden_checksum() {
    let duel = play(3, &[(60, NONE, NONE)]);
    assert_eq!(duel.phase, Phase::Done { winner: None });
    assert_eq!(duel.round, 5);
    assert_eq!(format!("{:08x} at {}", checksum(&duel), duel.age), "f48c4322 at 20100");
}

#[test]
fn light_is_plus_on_hit_and_sweep_minus_on_block() {
    let cases = [
        (LIGHT, NONE, 5),
        (LIGHT, RIGHT, 2),
        (HEAVY, NONE, 3),
        (HEAVY, RIGHT, -3),
        (DOWN | LIGHT, RIGHT | DOWN, 0),
        (DOWN | HEAVY, RIGHT | DOWN, -9),
    ];
    for (attack, defence, advantage) in cases {
        let mut duel = fighting(50);
        let shown = hold(&mut duel, 12, attack, defence);
        let expected =
            if defence == NONE { [Effect::LightHit, Effect::HeavyHit] } else { [Effect::Block; 2] };
        assert!(
            expected.iter().any(|effect| saw(&shown, *effect)),
            "{attack:x} against {defence:x}: {shown:?}"
        );
        let [one, two] = frames_until_free(&mut duel).map(u32::cast_signed);
        assert_eq!(two - one, advantage, "{attack:x} against {defence:x}");
    }
}

#[test]
fn lows_beat_a_standing_guard_and_jumps_a_crouching_one() {
    let mut low = fighting(50);
    assert!(saw(&hold(&mut low, 12, DOWN | LIGHT, RIGHT), Effect::LightHit));
    let mut high = fighting(50);
    assert!(saw(&hold(&mut high, 12, LIGHT, RIGHT), Effect::Block));

    for (guard, seen) in [(RIGHT, Effect::Block), (RIGHT | DOWN, Effect::HeavyHit)] {
        let mut duel = fighting(112);
        let mut shown = hold(&mut duel, 24, UP | RIGHT, guard);
        shown.extend(hold(&mut duel, 30, HEAVY, guard));
        assert!(saw(&shown, seen), "guarding with {guard:x}: {shown:?}");
    }
}

#[test]
fn throw_beats_a_guard_and_a_throw_of_ones_own_breaks_it() {
    let mut thrown = fighting(30);
    let shown = hold(&mut thrown, 60, THROW, RIGHT);
    assert!(saw(&shown, Effect::Grab) && saw(&shown, Effect::Slam));
    assert_eq!(thrown.fighters[1].health, FULL_HEALTH - Character::Kaito.data(Move::Throw).damage);

    let mut broken = fighting(30);
    hold(&mut broken, 6, THROW, NONE);
    assert_eq!(broken.fighters[1].action, Action::Held);
    assert!(saw(&hold(&mut broken, 8, NONE, THROW), Effect::Escape));
    assert_eq!(broken.fighters[1].health, FULL_HEALTH);
}

#[test]
fn holding_back_throws_over_the_shoulder() {
    let mut duel = fighting(30);
    hold(&mut duel, 6, THROW, NONE);
    hold(&mut duel, 40, LEFT, NONE);
    assert!(!duel.one_is_left);
}

#[test]
fn blow_beats_a_throw_of_the_same_frame_and_two_throws_break() {
    let mut duel = fighting(30);
    let shown = hold(&mut duel, 12, THROW, LIGHT);
    assert!(saw(&shown, Effect::LightHit) && !saw(&shown, Effect::Grab), "{shown:?}");
    let mut both = fighting(30);
    assert!(saw(&hold(&mut both, 12, THROW, THROW), Effect::Escape));
}

#[test]
fn fireballs_burn_each_other_out() {
    let mut duel = fighting(300);
    let shown = hold(&mut duel, 70, SPECIAL, SPECIAL);
    assert!(saw(&shown, Effect::Clash));
    assert!(
        duel.fighters.iter().all(|fighter| fighter.health == FULL_HEALTH && fighter.projectile.is_none())
    );
}

#[test]
fn rising_strike_beats_a_jump_and_loses_to_patience() {
    let mut duel = fighting(125);
    hold(&mut duel, 24, NONE, UP | LEFT);
    let shown = hold(&mut duel, 24, DOWN | SPECIAL, HEAVY);
    assert!(saw(&shown, Effect::HeavyHit), "{shown:?}");
    assert_eq!(duel.fighters[0].health, FULL_HEALTH);
    assert!(duel.fighters[1].health < FULL_HEALTH);

    let mut whiffed = fighting(160);
    hold(&mut whiffed, 2, DOWN | SPECIAL, NONE);
    let [one, _] = frames_until_free(&mut whiffed);
    assert!(one > 40, "free again after {one} frames");
}

#[test]
fn light_heavy_fireball_is_one_combo_with_scaled_damage() {
    let mut duel = fighting(40);
    let mut best = (0, 0);
    // Each is pressed during the hitstop of the one before.
    for (buttons, frames) in [(LIGHT, 7), (HEAVY, 15), (SPECIAL, 60)] {
        for frame in 0..frames {
            step(&mut duel, if frame == 0 { buttons } else { NONE }, NONE);
            best = best.max((duel.fighters[1].combo_hits, duel.fighters[1].combo_damage));
        }
    }
    assert_eq!(best.0, 3, "{best:?}");
    let full: i16 = [Move::StandLight, Move::StandHeavy, Move::Fireball]
        .iter()
        .map(|of| Character::Kaito.data(*of).damage)
        .sum();
    assert!(best.1 < full, "{} of {full}", best.1);
}

#[test]
fn press_during_recovery_is_not_lost() {
    let mut duel = fighting(200);
    step(&mut duel, HEAVY, NONE);
    let total = u32::from(Character::Kaito.data(Move::StandHeavy).total());
    hold(&mut duel, total - 5, NONE, NONE);
    step(&mut duel, LIGHT, NONE);
    hold(&mut duel, 5, NONE, NONE);
    assert_eq!(duel.fighters[0].action, Action::Attack(Move::StandLight));
}

#[test]
fn combo_in_the_corner_ends() {
    let mut duel = fighting(40);
    duel.fighters[0].x = STAGE_HALF_WIDTH - Fx::from_num(30);
    duel.fighters[1].x = STAGE_HALF_WIDTH;
    let mut longest = 0;
    for frame in 0..1200 {
        let buttons = if frame % 4 < 2 { LIGHT | RIGHT } else { RIGHT };
        step(&mut duel, buttons, NONE);
        longest = longest.max(duel.fighters[1].combo_hits);
        if duel.phase != Phase::Fight {
            break;
        }
    }
    assert!((3..=11).contains(&longest), "{longest} hits");
}

#[test]
fn blow_that_trades_hits_both() {
    let mut duel = fighting(50);
    let shown = hold(&mut duel, 8, LIGHT, LIGHT);
    assert_eq!(shown.iter().filter(|seen| seen.effect == Effect::LightHit).count(), 2);
    assert_eq!(duel.fighters[0].health, duel.fighters[1].health);
}

#[test]
fn time_decides_for_the_healthier_one() {
    let mut duel = fighting(50);
    hold(&mut duel, 20, LIGHT, NONE);
    duel.clock = 1;
    step(&mut duel, NONE, NONE);
    assert_eq!(duel.phase, Phase::RoundOver { winner: Some(Player::One), end: RoundEnd::Time });
}

/// A match that player one has just won.
fn won() -> Duel {
    let mut duel = fighting(50);
    duel.fighters[0].rounds = 1;
    duel.fighters[1].health = 1;
    hold(&mut duel, 10, LIGHT, NONE);
    assert_eq!(duel.phase, Phase::RoundOver { winner: Some(Player::One), end: RoundEnd::Ko });
    while !matches!(duel.phase, Phase::MatchOver { .. }) {
        step(&mut duel, NONE, NONE);
    }
    duel
}

#[test]
fn rematch_needs_both_and_keeps_the_score() {
    let mut duel = won();
    hold(&mut duel, 30, START, NONE);
    assert!(matches!(duel.phase, Phase::MatchOver { .. }));
    assert!(saw(&hold(&mut duel, 1, NONE, START), Effect::Rematch));
    assert_eq!((duel.phase, duel.round, duel.fighters[0].rounds), (Phase::Choose, 1, 0));
    assert_eq!(duel.fighters.map(|fighter| fighter.matches), [1, 0]);
    assert!(!duel.finished());
}

#[test]
fn declined_rematch_ends_at_once_and_an_unanswered_one_later() {
    let mut declined = won();
    hold(&mut declined, 2, START, LEAVE);
    assert!(declined.finished());
    let mut missed = won();
    hold(&mut missed, 599, START, NONE);
    assert!(!missed.finished());
    hold(&mut missed, 2, NONE, NONE);
    assert!(missed.finished());
}

#[test]
fn opposite_directions_cancel() {
    let mut duel = fighting(200);
    let before = duel.fighters[0].x;
    hold(&mut duel, 10, LEFT | RIGHT, UP | DOWN);
    assert_eq!(duel.fighters[0].x, before);
    assert_eq!(duel.fighters[1].action, Action::Stand);
}

/// The state as it would be had the two players changed seats and the stage been turned round.
fn mirrored(duel: &Duel) -> Duel {
    let turn = |fighter: &Fighter| {
        let mut turned = *fighter;
        turned.x = -fighter.x;
        turned.vx = -fighter.vx;
        turned.facing = fighter.facing.opposite();
        turned.controls.held = self::turned(fighter.controls.held);
        turned.controls.pressed = self::turned(fighter.controls.pressed);
        turned.projectile = fighter.projectile.map(|ball| games::duel::Projectile {
            x: -ball.x,
            facing: ball.facing.opposite(),
            ..ball
        });
        turned
    };
    let swap = |winner: Option<Player>| winner.map(Player::other);
    let [one, two] = &duel.fighters;
    let phase = match duel.phase {
        Phase::RoundOver { winner, end } => Phase::RoundOver { winner: swap(winner), end },
        Phase::MatchOver { winner } => Phase::MatchOver { winner: swap(winner) },
        Phase::Done { winner } => Phase::Done { winner: swap(winner) },
        phase => phase,
    };
    let turned_pair = |[one, two]: [bool; 2]| [two, one];
    Duel {
        fighters: [turn(two), turn(one)],
        phase,
        ready: turned_pair(duel.ready),
        wants_five: turned_pair(duel.wants_five),
        ..*duel
    }
}

fn turned(buttons: Buttons) -> Buttons {
    let mut other = buttons & !(LEFT | RIGHT);
    if buttons.holds(LEFT) {
        other |= RIGHT;
    }
    if buttons.holds(RIGHT) {
        other |= LEFT;
    }
    other
}

fn assert_sound(duel: &Duel) {
    for fighter in &duel.fighters {
        assert!((0..=FULL_HEALTH).contains(&fighter.health), "{fighter:?}");
        assert!(fighter.x.abs() <= STAGE_HALF_WIDTH, "{fighter:?}");
        assert!(fighter.y >= Fx::ZERO && fighter.y < Fx::from_num(300), "{fighter:?}");
        assert!(fighter.airborne() || fighter.action != Action::Air, "{fighter:?}");
        assert!(fighter.rounds <= 3, "{fighter:?}");
    }
    let held = duel.fighters.iter().filter(|fighter| fighter.action == Action::Held).count();
    let holding = duel.fighters.iter().filter(|fighter| fighter.action == Action::Holding).count();
    assert!(held <= holding, "held by nobody: {duel:?}");
}

/// Runs of held buttons, as players make them; any bits at all, as a wire may carry them.
fn held_buttons() -> impl Strategy<Value = Vec<(u32, u16, u16)>> {
    proptest::collection::vec((1_u32..24, any::<u16>(), any::<u16>()), 1..160)
}

/// Less noise: so many bits at once cancel each other, and a match needs single presses too.
fn sparse(bits: u16) -> Buttons {
    Buttons((1 << (bits & 7)) | if bits & 0x100 == 0 { 0 } else { 1 << ((bits >> 4) & 3) })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: repeats(96), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_buttons_keep_the_state_valid_and_the_seats_symmetric(
        runs in held_buttons(),
        few in any::<bool>(),
        choose in any::<bool>(),
    ) {
        // From the choice of the fighters on, with and without the same ones.
        let [mut duel, mut other] = if choose {
            [Duel::new(5); 2].map(|duel| Duel { fighters: duel.fighters.map(|fighter| Fighter { character: Character::Rai, ..fighter }), ..duel })
        } else {
            [Duel::between(5, Character::ALL), Duel::between(5, [Character::Rai, Character::Kaito])]
        };
        for (frames, one, two) in runs {
            let [one, two] = [one, two].map(|bits| if few { sparse(bits) } else { Buttons(bits) });
            for _ in 0..frames {
                step(&mut duel, one, two);
                step(&mut other, turned(two), turned(one));
                assert_sound(&duel);
                let differences = diff(&mirrored(&duel), &other);
                prop_assert!(differences.is_empty(), "at {}: {differences:?}", duel.age);
            }
        }
    }

    #[test]
    fn same_buttons_give_the_same_state(runs in held_buttons()) {
        let run = || {
            let mut duel = Duel::between(8, MIRROR);
            for (frames, one, two) in &runs {
                hold(&mut duel, *frames, sparse(*one), sparse(*two));
            }
            checksum(&duel)
        };
        prop_assert_eq!(run(), run());
    }
}

#[test]
fn fighters_are_pushed_apart() {
    let mut duel = fighting(0);
    duel.fighters[1].x = duel.fighters[0].x;
    hold(&mut duel, 30, NONE, NONE);
    let gap = (duel.fighters[0].x - duel.fighters[1].x).abs();
    assert!(gap >= Fx::from_num(27), "{gap}");
    assert_eq!(duel.fighters[0].facing, Facing::Right);
}
