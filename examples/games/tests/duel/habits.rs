//! The habits of the hard bot are there to be learned: each shows in its situation far more often than elsewhere.

use crate::matches::MIRROR;
use games::duel::bot::Level;
use games::duel::moves::Move;
use games::duel::{Action, Duel, Fighter, Phase, ROUND_SECONDS};
use rebout::{Cues, Game, Inputs, Player};

use crate::matches::{InputSource, bot};
use crate::players::script;

/// Plays a match, and shows every frame of fight as the state before and after it.
fn watch(seed: u32, mut sources: [InputSource; 2], mut look: impl FnMut(&Duel, &Duel)) {
    let mut duel = Duel::between(seed, MIRROR);
    while !matches!(duel.phase, Phase::MatchOver { .. }) {
        let before = duel;
        let inputs = Player::BOTH.map(|player| sources[player.index()](&duel, player));
        duel.step(Inputs::from(inputs), &mut Cues::new());
        if before.phase == Phase::Fight {
            look(&before, &duel);
        }
    }
}

fn gap(duel: &Duel) -> i32 {
    (duel.fighters[0].x - duel.fighters[1].x).abs().to_num()
}

fn enters(before: &Fighter, after: &Fighter, action: Action) -> bool {
    after.action == action && before.action != action
}

/// How often something happened in how many cases.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    cases: u32,
    times: u32,
}

impl Share {
    fn add(&mut self, happened: bool) {
        self.cases += 1;
        self.times += u32::from(happened);
    }

    fn percent(self) -> u32 {
        self.times * 100 / self.cases.max(1)
    }
}

#[test]
fn every_second_time_it_gets_up_with_the_rising_strike() {
    let mut shares = [Share::default(); 2];
    for seed in 0..5 {
        let mut falls = 0_usize;
        watch(seed, [bot(seed + 50, Level::Hard), bot(seed, Level::Hard)], |before, after| {
            let (was, is) = (&before.fighters[1], &after.fighters[1]);
            falls += usize::from(enters(was, is, Action::Down));
            if was.action == Action::Rise && is.action != Action::Rise && gap(after) < 60 {
                shares[falls % 2].add(is.action == Action::Attack(Move::Rising));
            }
        });
    }
    let [second, first] = shares;
    println!("the second time {second:?}, the first time {first:?}");
    assert!(second.cases > 10 && first.cases > 10, "{shares:?}");
    assert!(second.percent() >= 60 && second.percent() >= first.percent() + 30, "{shares:?}");
}

#[test]
fn round_opens_as_the_last_one_did() {
    let (mut again, mut openings) = (Share::default(), Vec::new());
    for seed in 0..12 {
        let mut opening = None;
        watch(seed, [script("blocks, never hits").input_source(seed), bot(seed, Level::Hard)], |_, after| {
            if after.clock != (ROUND_SECONDS * 60) - 12 {
                return;
            }
            let action = after.fighters[1].action;
            if let Some(last) = opening.replace(action) {
                again.add(last == action);
            } else {
                openings.push(action);
            }
        });
    }
    println!("{again:?}, {openings:?}");
    assert!(again.cases >= 12 && again.percent() >= 75, "{again:?}");
    assert!(openings.iter().any(|opening| *opening != openings[0]), "every bot opens alike: {openings:?}");
}

#[test]
fn fallen_opponent_is_met_with_throw_and_sweep_in_turns() {
    let mut shares = [Share::default(); 2];
    for seed in 0..8 {
        let (mut falls, mut met) = (0_usize, None);
        watch(
            seed,
            [script("blocks, never hits").input_source(seed), bot(seed, Level::Hard)],
            |before, after| {
                let (was, is) = (&before.fighters[0], &after.fighters[0]);
                if enters(was, is, Action::Down) {
                    falls += 1;
                    met = None;
                }
                if let Action::Attack(attack) = after.fighters[1].action
                    && before.fighters[1].action != after.fighters[1].action
                    && is.action == Action::Rise
                {
                    met = Some(attack);
                }
                if was.action == Action::Rise
                    && is.action != Action::Rise
                    && let Some(attack) = met
                {
                    shares[falls % 2].add(attack == Move::Throw);
                }
            },
        );
    }
    let [second, first] = shares;
    println!("throws at the first fall {first:?}, at the second {second:?}");
    assert!(second.cases > 10 && first.cases > 10, "{shares:?}");
    assert!(first.percent() >= 60 && second.percent() <= 20, "{shares:?}");
}
