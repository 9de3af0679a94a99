//! The answers of the hard bot to each kind of attack, counted over whole matches.

use crate::matches::MIRROR;
use games::duel::bot::Level;
use games::duel::moves::Move;
use games::duel::{Action, Duel, Phase};
use rebout::{Cues, Game, Inputs, Player};

use crate::matches::bot;
use crate::players::{Script, script};

/// The attempts of a player with one trick, and what became of them.
#[derive(Clone, Copy, Debug, Default)]
struct Outcomes {
    begun: u32,
    /// The bot was hit or thrown.
    landed: u32,
    blocked: u32,
    /// The player was hit or thrown before the next attempt, and before this one had landed.
    answered: u32,
    /// The player was hit off its jump.
    in_the_air: u32,
    /// It landed, and so had the attempt before.
    again: u32,
}

/// One attempt: each thing counts once.
#[derive(Clone, Copy, Default)]
struct Attempt {
    landed: bool,
    blocked: bool,
    answered: bool,
    in_the_air: bool,
}

impl Outcomes {
    fn add(&mut self, attempt: Attempt) {
        self.begun += 1;
        self.landed += u32::from(attempt.landed);
        self.blocked += u32::from(attempt.blocked);
        self.answered += u32::from(attempt.answered);
        self.in_the_air += u32::from(attempt.in_the_air);
    }
}

/// Plays eight matches of a trick on seat one against the hard bot, and follows every `action` of the trick.
fn outcomes(trick: Script, action: Action) -> Outcomes {
    let mut outcomes = Outcomes::default();
    for seed in 40..48 {
        let (mut duel, mut player, mut bot) =
            (Duel::between(seed, MIRROR), trick.input_source(seed), bot(seed, Level::Hard));
        let (mut attempt, mut landed_before) = (None::<Attempt>, false);
        while !matches!(duel.phase, Phase::MatchOver { .. }) {
            let before = duel.fighters;
            let inputs = [player(&duel, Player::One), bot(&duel, Player::Two)];
            duel.step(Inputs::from(inputs), &mut Cues::new());
            let entered = |seat: usize| {
                let fighter = &duel.fighters[seat];
                let fresh = fighter.action != before[seat].action || fighter.since < before[seat].since;
                fresh.then_some(fighter.action)
            };
            let (own, its) = (entered(0), entered(1));
            if own == Some(action)
                && let Some(over) = attempt.replace(Attempt::default())
            {
                outcomes.add(over);
                outcomes.again += u32::from(over.landed && landed_before);
                landed_before = over.landed;
            }
            let Some(attempt) = &mut attempt else { continue };
            let hurt = [Action::Hit, Action::Launched, Action::Held].map(Some);
            attempt.landed |= hurt.contains(&its);
            attempt.blocked |= its == Some(Action::Block);
            attempt.answered |= hurt.contains(&own) && !attempt.landed;
            attempt.in_the_air |= own == Some(Action::Launched) && before[0].airborne();
        }
    }
    println!("{}: {outcomes:?}", trick.name);
    outcomes
}

#[test]
fn sweeps_are_blocked_low_or_not_there_and_answered() {
    let sweeps = outcomes(script("walks and sweeps"), Action::Attack(Move::CrouchHeavy));
    assert!(sweeps.landed * 6 <= sweeps.begun, "{sweeps:?}");
    assert!(sweeps.again * 4 <= sweeps.landed, "one sweep after the other: {sweeps:?}");
    assert!(sweeps.answered * 3 >= sweeps.begun, "{sweeps:?}");
}

#[test]
fn jumps_are_struck_out_of_the_air() {
    let jumps = outcomes(script("jumping heavies"), Action::Air);
    assert!(jumps.landed * 5 <= jumps.begun, "{jumps:?}");
    assert!(jumps.in_the_air * 2 >= jumps.begun, "{jumps:?}");
}

#[test]
fn landing_of_a_rising_strike_is_punished() {
    let rises = outcomes(script("rising strikes"), Action::Attack(Move::Rising));
    let missed = rises.begun - rises.landed;
    assert!(missed > 8 && rises.answered * 4 >= missed * 3, "{rises:?}");
}

#[test]
fn throws_are_broken_or_avoided() {
    let throws = outcomes(script("walks and throws"), Action::Attack(Move::Throw));
    assert!(throws.landed * 2 <= throws.begun, "{throws:?}");
}

#[test]
fn fireballs_are_passed() {
    let balls = outcomes(script("fireballs"), Action::Attack(Move::Fireball));
    assert!(balls.landed * 4 <= balls.begun, "{balls:?}");
    assert!(balls.answered * 4 >= balls.begun, "{balls:?}");
}

#[test]
fn somebody_who_only_blocks_is_thrown() {
    let blocks = outcomes(script("blocks, never hits"), Action::Held);
    // Two rounds in each of eight matches.
    assert!(blocks.begun >= 8 * 2, "{blocks:?}");
}
