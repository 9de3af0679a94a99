//! The fighters against each other, with the hard bot at both controls.

use std::thread;

use games::duel::Character;
use games::duel::bot::Level;
use rebout::Player;

use crate::matches::{Score, bot, play_as};

/// The score of `first` against `second` over the matches of `seeds`, half of them from each seat.
fn score(first: Character, second: Character, seeds: std::ops::Range<u32>) -> Score {
    let mut score = Score::default();
    for seed in seeds {
        let is_swapped = seed % 2 == 1;
        let characters = if is_swapped { [second, first] } else { [first, second] };
        let sources = [bot(seed, Level::Hard), bot(seed ^ 0x5555, Level::Hard)];
        match play_as(seed, characters, sources).winner {
            Some(player) if (player == Player::Two) == is_swapped => score.won += 1,
            Some(_) => score.lost += 1,
            None => score.drawn += 1,
        }
    }
    score
}

/// Plays `matches` of a pairing in two threads and holds it to 55 wins in a hundred decided matches.
fn balanced(first: Character, second: Character, matches: u32, most_percent: u32) {
    let half = 2_000 + matches / 2;
    let [one, two] = [2_000..half, half..2_000 + matches]
        .map(|seeds| thread::spawn(move || score(first, second, seeds)))
        .map(|half| half.join().expect("half of the matches"));
    let (won, lost, drawn) = (one.won + two.won, one.lost + two.lost, one.drawn + two.drawn);
    println!("| {} | {} | {won} | {lost} | {drawn} |", first.name(), second.name());
    let most = (won + lost) * most_percent;
    assert!(won.max(lost) * 100 <= most, "{first:?} against {second:?}: {won} to {lost}, {drawn} drawn");
}

/// The matches of a pairing: `LADDER_MATCHES`, or a thousand.
fn many() -> u32 {
    std::env::var("LADDER_MATCHES").ok().and_then(|n| n.parse().ok()).unwrap_or(1_000)
}

#[test]
#[ignore = "minutes: a thousand matches of every pairing"]
fn long_pairings_are_within_55_to_45() {
    let [kaito, rai] = Character::ALL;
    for (first, second) in [(kaito, rai), (kaito, kaito), (rai, rai)] {
        balanced(first, second, many(), 55);
    }
}

/// So few matches show a fighter that cannot win.
#[test]
fn neither_fighter_wins_most_of_a_few_matches() {
    balanced(Character::Kaito, Character::Rai, 12, 80);
}
