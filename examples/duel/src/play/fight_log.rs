//! What a fight was like, for the page of its result: rounds, hits, combos, and the matches of the evening.
//!
//! It sees certain states and confirmed cues only, so that no prediction is ever counted.

use rebout::{CueChange, CueEvent, Player};

use games::duel::effects::{Effect, Shown};
use games::duel::{Duel, Phase, RoundEnd};

/// A round that was played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Round {
    winner: Option<Player>,
    end: RoundEnd,
    /// Left on the clock.
    seconds: u16,
}

/// The figures of one player in the last match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Figures {
    hits: u32,
    throws: u32,
    blocked: u32,
    best_combo: u8,
}

/// The log of the last match.
#[derive(Clone, Debug, Default)]
pub struct FightLog {
    rounds: Vec<Round>,
    figures: [Figures; 2],
    /// The state before was after a round: each end is noted once.
    is_round_over: bool,
}

impl FightLog {
    /// Takes in the newest certain state, and what became of the cues.
    pub fn observe(&mut self, duel: &Duel, cues: &[CueEvent]) {
        if duel.phase == Phase::Choose {
            *self = Self::default();
        }
        for event in cues.iter().filter(|event| event.change == CueChange::Confirm) {
            let Some(Shown { effect, player, .. }) = Shown::unpack(event.cue) else { continue };
            let figures = &mut self.figures[player.index()];
            match effect {
                Effect::LightHit | Effect::HeavyHit => figures.hits += 1,
                Effect::Grab => figures.throws += 1,
                // It is the blow that is told; the guard is the other's.
                Effect::Block => self.figures[player.other().index()].blocked += 1,
                _ => {}
            }
        }
        for player in Player::BOTH {
            let best = &mut self.figures[player.index()].best_combo;
            *best = (*best).max(duel.fighter(player.other()).combo_hits);
        }
        let over = match duel.phase {
            Phase::RoundOver { winner, end } => Some(Round { winner, end, seconds: duel.seconds() }),
            _ => None,
        };
        if let Some(round) = over.filter(|_| !self.is_round_over) {
            self.rounds.push(round);
        }
        self.is_round_over = over.is_some();
    }

    /// The fight in lines: who played whom, the rounds, the figures, and the matches since both met.
    pub fn lines(&self, names: &[String; 2], duel: &Duel) -> Vec<String> {
        if self.rounds.is_empty() {
            return Vec::new();
        }
        let [one, two] = duel.fighters.map(|fighter| fighter.character.name());
        let mut lines = vec![format!("{} ({one}) against {} ({two})", names[0], names[1])];
        lines.extend((1..).zip(&self.rounds).map(|(number, round)| {
            let how = match round.end {
                RoundEnd::Ko => format!("by knockout, {} s left", round.seconds),
                RoundEnd::Time => "on time".to_owned(),
            };
            match round.winner {
                Some(player) => format!("Round {number}: {} {how}", names[player.index()]),
                None => format!("Round {number}: a draw {how}"),
            }
        }));
        let [one, two] = &self.figures;
        lines.push(format!("Hits {} : {}   throws {} : {}", one.hits, two.hits, one.throws, two.throws));
        lines.push(format!(
            "Blocked {} : {}   longest combo {} : {}",
            one.blocked, two.blocked, one.best_combo, two.best_combo
        ));
        let [one, two] = duel.fighters.map(|fighter| fighter.matches);
        if one + two > 1 {
            lines.push(format!("Matches {one} : {two}"));
        }
        lines
    }
}
