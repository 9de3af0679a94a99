//! The levels of the bot measured against one-trick players, against each other, and in mirror matches.

use games::duel::bot::Level;
use games::duel::effects::Effect;

use crate::matches::{Score, Tally, bot, bots, score};
use crate::players::{MASHER, SCRIPTS, Script};
use support::repeats;

const LEVELS: [Level; 3] = [Level::Easy, Level::Normal, Level::Hard];

/// The matches in ten that a player with one trick may win at most.
const fn allowed_wins(level: Level) -> u32 {
    match level {
        Level::Easy => 10,
        Level::Normal => 3,
        Level::Hard => 1,
    }
}

fn against(script: Script, level: Level, matches: u32) -> Score {
    score(matches, |seed| script.input_source(seed), |seed| bot(seed, level))
}

fn ranked(better: Level, worse: Level, matches: u32) {
    let score = score(matches, |seed| bot(seed, better), |seed| bot(seed, worse));
    println!("{better:?} against {worse:?}: {score:?}");
    assert!(score.won * 10 >= matches * 8, "{better:?} against {worse:?}: {score:?}");
}

/// Fights between two bots of a level end by blows, within the time of a round, and use the whole game.
fn mirror(level: Level, matches: u32) {
    let tallies: Vec<_> = (0..matches).map(|seed| bots(900 + seed, level, level)).collect();
    let sum = |of: fn(&Tally) -> u32| tallies.iter().map(of).sum::<u32>();
    let (rounds, frames) = (sum(|tally| tally.rounds), sum(|tally| tally.fight_frames));
    let by_time = rounds - sum(|tally| tally.rounds_by_ko);
    let drawn = tallies.iter().filter(|tally| tally.winner.is_none()).count();
    println!(
        "two {level:?} bots: {rounds} rounds, {by_time} by time, {} frames a round, {drawn} drawn",
        frames / rounds
    );
    for effect in [
        Effect::LightHit,
        Effect::HeavyHit,
        Effect::Block,
        Effect::Swing,
        Effect::Jump,
        Effect::Cast,
        Effect::Clash,
        Effect::Grab,
        Effect::Escape,
    ] {
        let count: usize = tallies.iter().map(|tally| tally.count(effect)).sum();
        println!("  {:>6.1} {effect:?} a round", count as f64 / f64::from(rounds));
    }
    assert!(by_time * 4 <= rounds, "{by_time} of {rounds} rounds end by time");
}

/// The matches of a long run: `LADDER_MATCHES`, or a hundred.
fn many() -> u32 {
    std::env::var("LADDER_MATCHES").ok().and_then(|n| n.parse().ok()).unwrap_or(100)
}

/// Every trick against a level, as a table.
fn tricks(level: Level) {
    let matches = many();
    let mut too_many = Vec::new();
    for script in SCRIPTS {
        let score = against(script, level, matches);
        println!("{level:?} {:<22} wins {:>3} draws {:>3} of {matches}", script.name, score.won, score.drawn);
        if score.won * 10 > matches * allowed_wins(level) {
            too_many.push((script.name, score));
        }
    }
    assert!(too_many.is_empty(), "{too_many:?}");
}

// The long runs: `cargo test --release -p games --test duel -- --ignored --nocapture ladder`.

#[test]
#[ignore = "a minute: every trick, a hundred matches each"]
fn long_tricks_against_easy() {
    tricks(Level::Easy);
}

#[test]
#[ignore = "a minute: every trick, a hundred matches each"]
fn long_tricks_against_normal() {
    tricks(Level::Normal);
}

#[test]
#[ignore = "a minute: every trick, a hundred matches each"]
fn long_tricks_against_hard() {
    tricks(Level::Hard);
}

#[test]
#[ignore = "a minute: a hundred matches of every two levels"]
fn long_ranking() {
    ranked(Level::Hard, Level::Normal, many());
    ranked(Level::Normal, Level::Easy, many());
    ranked(Level::Hard, Level::Easy, many());
}

#[test]
#[ignore = "a minute: a hundred matches of every level against itself"]
fn long_mirrors() {
    LEVELS.into_iter().for_each(|level| mirror(level, many()));
}

#[test]
fn one_trick_does_not_beat_hard() {
    for script in SCRIPTS.into_iter().take(repeats(SCRIPTS.len())) {
        let score = against(script, Level::Hard, 2);
        assert!(score.won * 10 <= 2 * allowed_wins(Level::Hard), "{}: {score:?}", script.name);
    }
}

#[test]
fn one_trick_seldom_beats_normal() {
    for script in SCRIPTS.into_iter().rev().take(repeats(SCRIPTS.len())) {
        let score = against(script, Level::Normal, 2);
        assert!(score.won * 10 <= 2 * allowed_wins(Level::Normal), "{}: {score:?}", script.name);
    }
}

#[test]
fn somebody_who_hits_any_key_wins_now_and_then_against_easy() {
    let score = against(MASHER, Level::Easy, 20);
    assert!((2..=14).contains(&score.won), "{score:?}");
}

#[test]
fn hard_beats_normal_beats_easy() {
    ranked(Level::Hard, Level::Normal, 6);
    ranked(Level::Normal, Level::Easy, 5);
    let score = score(2, |seed| bot(seed, Level::Hard), |seed| bot(seed, Level::Easy));
    assert!(score.won == 2, "hard against easy: {score:?}");
}

#[test]
fn two_bots_of_a_level_do_not_wait_for_each_other() {
    LEVELS.into_iter().for_each(|level| mirror(level, 2));
}
