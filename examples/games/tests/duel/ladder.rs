//! The levels of the bot measured against one-trick players and against each other.

use games::duel::bot::Level;

use crate::bouts::{Score, bot, bots, score};
use crate::players::{SCRIPTS, Script};

const LEVELS: [Level; 3] = [Level::Easy, Level::Normal, Level::Hard];

fn against(script: Script, level: Level, matches: u32) -> Score {
    score(matches, |seed| script.hand(seed), |seed| bot(seed, level))
}

/// The whole table: `cargo test --release -p games --test duel -- --ignored --nocapture ladder`.
///
/// `LADDER_MATCHES` sets the matches of a cell, 100 unless told.
#[test]
#[ignore = "minutes: every trick against every level, a hundred matches each"]
fn the_whole_ladder() {
    let matches = std::env::var("LADDER_MATCHES").ok().and_then(|n| n.parse().ok()).unwrap_or(100);
    println!("{:<22} {:>16} {:>16} {:>16}", "won-drawn of the trick", "easy", "normal", "hard");
    for script in SCRIPTS {
        let cells = LEVELS.map(|level| {
            let score = against(script, level, matches);
            format!("{}-{}/{matches}", score.won, score.drawn)
        });
        println!("{:<22} {:>16} {:>16} {:>16}", script.name, cells[0], cells[1], cells[2]);
    }
    for (better, worse) in [(2, 1), (1, 0), (2, 0)] {
        let (better, worse) = (LEVELS[better], LEVELS[worse]);
        let score = score(matches, |seed| bot(seed, better), |seed| bot(seed, worse));
        println!("{better:?} against {worse:?}: {score:?}");
    }
    for level in LEVELS {
        let tallies: Vec<_> = (0..matches).map(|seed| bots(900 + seed, level, level)).collect();
        let rounds: u32 = tallies.iter().map(|tally| tally.rounds).sum();
        let by_ko: u32 = tallies.iter().map(|tally| tally.rounds_by_ko).sum();
        let frames: u32 = tallies.iter().map(|tally| tally.fight_frames).sum();
        let drawn = tallies.iter().filter(|tally| tally.winner.is_none()).count();
        println!(
            "two {level:?} bots: {rounds} rounds, {} by time, {} frames a round, {drawn} matches drawn",
            rounds - by_ko,
            frames / rounds
        );
    }
}
