//! The duel's bot: it fights, it uses everything, and better levels win.

use games::duel::bot::Level;
use games::duel::effects::Effect;
use rebout::{Buttons, Player};

use crate::matches::{InputSource, bot, bots, play};

#[test]
fn every_level_beats_someone_who_does_nothing() {
    for level in [Level::Easy, Level::Normal, Level::Hard] {
        let idle: InputSource = Box::new(|_, _| Buttons::NONE);
        let tally = play(4, [idle, bot(11, level)]);
        assert_eq!(tally.winner, Some(Player::Two), "{level:?}");
    }
}

#[test]
fn two_bots_use_every_move_and_end_most_rounds_by_knockout() {
    let tallies: Vec<_> = (1..=12).map(|seed| bots(seed, Level::Normal, Level::Normal)).collect();
    let everything = [
        Effect::LightHit,
        Effect::HeavyHit,
        Effect::Block,
        Effect::Jump,
        Effect::Slam,
        Effect::Cast,
        Effect::Clash,
        Effect::Grab,
        Effect::Escape,
        Effect::Ko,
    ];
    for effect in everything {
        let count: usize = tallies.iter().map(|tally| tally.count(effect)).sum();
        println!("{effect:?}: {count}");
        assert!(count > 0, "never {effect:?}");
    }
    for (seed, tally) in (1..).zip(&tallies) {
        assert!(tally.count(Effect::HeavyHit) >= 3, "few blows with seed {seed}");
        assert!(tally.count(Effect::Block) >= 1, "no block with seed {seed}");
    }
    let rounds: u32 = tallies.iter().map(|tally| tally.rounds).sum();
    let by_ko: u32 = tallies.iter().map(|tally| tally.rounds_by_ko).sum();
    println!("{by_ko} of {rounds} by knockout");
    assert!(by_ko * 10 >= rounds * 7, "{by_ko} of {rounds} rounds by knockout");
}

#[test]
fn bot_is_the_same_for_the_same_seed_and_another_for_another() {
    let [once, again, other] = [6, 6, 7].map(|seed| bots(seed, Level::Normal, Level::Hard).checksum);
    assert_eq!(once, again);
    assert_ne!(once, other);
}
