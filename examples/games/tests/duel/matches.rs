//! Whole matches between two players, and what came of them.

use games::duel::bot::{Bot, Level};
use games::duel::effects::{Effect, Shown};
use games::duel::{Character, Duel, Phase, RoundEnd};
use rebout::{Buttons, Cues, Game, Inputs, Player, checksum};

/// Two Kaitos: the pairing that the tests of levels and tricks are played in.
pub(crate) const MIRROR: [Character; 2] = [Character::Kaito; 2];

/// Returns the buttons of a player.
pub(crate) type InputSource = Box<dyn FnMut(&Duel, Player) -> Buttons>;

/// The outcome of a match.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) winner: Option<Player>,
    pub(crate) shown: Vec<Shown>,
    pub(crate) rounds: u32,
    pub(crate) rounds_by_ko: u32,
    /// Frames of fight, without intros and cheers.
    pub(crate) fight_frames: u32,
    pub(crate) checksum: u32,
}

impl Tally {
    pub(crate) fn count(&self, effect: Effect) -> usize {
        self.shown.iter().filter(|seen| seen.effect == effect).count()
    }
}

/// Plays until one match is decided.
pub(crate) fn play(seed: u32, sources: [InputSource; 2]) -> Tally {
    play_as(seed, MIRROR, sources)
}

/// The same with these fighters.
pub(crate) fn play_as(seed: u32, characters: [Character; 2], mut sources: [InputSource; 2]) -> Tally {
    let mut duel = Duel::between(seed, characters);
    let mut tally = Tally::default();
    let mut cues = Cues::new();
    loop {
        let inputs = Player::BOTH.map(|player| sources[player.index()](&duel, player));
        cues.clear();
        let before = duel.phase;
        duel.step(Inputs::from(inputs), &mut cues);
        tally.shown.extend(cues.as_slice().iter().filter_map(|cue| Shown::unpack(*cue)));
        tally.fight_frames += u32::from(before == Phase::Fight);
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

pub(crate) fn bot(seed: u32, level: Level) -> InputSource {
    let mut bot = Bot::new(seed, level);
    Box::new(move |duel, player| bot.buttons(duel, player))
}

pub(crate) fn bots(seed: u32, one: Level, two: Level) -> Tally {
    play(seed, [bot(seed, one), bot(seed ^ 0x5555, two)])
}

/// Wins of the first, wins of the second, and draws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Score {
    pub(crate) won: u32,
    pub(crate) lost: u32,
    pub(crate) drawn: u32,
}

/// The score of the first of two players over `matches` matches, half of them from each seat.
pub(crate) fn score(
    matches: u32,
    first: impl Fn(u32) -> InputSource,
    second: impl Fn(u32) -> InputSource,
) -> Score {
    let mut score = Score::default();
    for n in 0..matches {
        let seed = 100 + n;
        let (one, two) = (first(seed), second(seed ^ 0x5555));
        let seat = if n % 2 == 0 { Player::One } else { Player::Two };
        let sources = if n % 2 == 0 { [one, two] } else { [two, one] };
        match play(seed, sources).winner {
            Some(player) if player == seat => score.won += 1,
            Some(_) => score.lost += 1,
            None => score.drawn += 1,
        }
    }
    score
}
