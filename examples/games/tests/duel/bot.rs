//! The duel's bot: it fights, it uses everything, and better levels win.

use games::duel::bot::{Bot, Level};
use games::duel::effects::{Effect, Shown};
use games::duel::{Duel, Phase, RoundEnd};
use rebout::{Buttons, Cues, Game, Inputs, Player, checksum};

/// The outcome of a match.
#[derive(Default)]
struct Tally {
    winner: Option<Player>,
    shown: Vec<Shown>,
    rounds: u32,
    rounds_by_ko: u32,
    checksum: u32,
}

impl Tally {
    fn count(&self, effect: Effect) -> usize {
        self.shown.iter().filter(|seen| seen.effect == effect).count()
    }
}

/// Plays until one match is decided.
fn play(seed: u32, mut hands: [impl FnMut(&Duel, Player) -> Buttons; 2]) -> Tally {
    let mut duel = Duel::new(seed);
    let mut tally = Tally::default();
    let mut cues = Cues::new();
    loop {
        let inputs = Player::BOTH.map(|player| hands[player.index()](&duel, player));
        cues.clear();
        let before = duel.phase;
        duel.step(Inputs::from(inputs), &mut cues);
        tally.shown.extend(cues.as_slice().iter().filter_map(|cue| Shown::unpack(*cue)));
        match duel.phase {
            Phase::RoundOver { end, .. } if before == Phase::Fight => {
                tally.rounds += 1;
                tally.rounds_by_ko += u32::from(end == RoundEnd::Ko);
            }
            Phase::MatchOver { winner } => {
                tally.winner = winner;
                tally.checksum = checksum(&duel);
                return tally;
            }
            _ => {}
        }
    }
}

type Hand = Box<dyn FnMut(&Duel, Player) -> Buttons>;

fn hand(mut bot: Bot) -> Hand {
    Box::new(move |duel, player| bot.buttons(duel, player))
}

fn bots(seed: u32, one: Level, two: Level) -> Tally {
    play(seed, [hand(Bot::new(seed, one)), hand(Bot::new(seed ^ 0x5555, two))])
}

#[test]
fn every_level_beats_someone_who_does_nothing() {
    for level in [Level::Easy, Level::Normal, Level::Hard] {
        let idle: Hand = Box::new(|_, _| Buttons::NONE);
        let tally = play(4, [idle, hand(Bot::new(11, level))]);
        assert_eq!(tally.winner, Some(Player::Two), "{level:?}");
    }
}

#[test]
fn two_bots_use_the_whole_game_and_decide_most_rounds_by_knockout() {
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

fn wins(level: Level, against: Level, matches: u32) -> u32 {
    (0..matches)
        .filter(|seed| {
            // Half of them from each seat.
            let (seat, tally) = if seed % 2 == 0 {
                (Player::One, bots(100 + seed, level, against))
            } else {
                (Player::Two, bots(100 + seed, against, level))
            };
            tally.winner == Some(seat)
        })
        .count() as u32
}

#[test]
fn hard_beats_normal_beats_easy() {
    for (better, worse, least) in
        [(Level::Hard, Level::Easy, 22), (Level::Hard, Level::Normal, 15), (Level::Normal, Level::Easy, 17)]
    {
        let won = wins(better, worse, 24);
        println!("{better:?} wins {won} of 24 against {worse:?}");
        assert!(won >= least, "{better:?} wins {won} of 24 against {worse:?}");
    }
}

#[test]
fn a_bot_is_the_same_for_the_same_seed_and_another_for_another() {
    let [once, again, other] = [6, 6, 7].map(|seed| bots(seed, Level::Normal, Level::Hard).checksum);
    assert_eq!(once, again);
    assert_ne!(once, other);
}
