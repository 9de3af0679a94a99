//! The rules that two machines must agree on before they play, and the duel as a session steps it.

use std::time::Duration;

use rebout::{Config, Cue, Cues, FrameRate, Game, Inputs, Player, Save, StateError};

use games::duel::Duel;
use games::duel::buttons::{DOWN, LEFT, RIGHT, UP};
use games::duel::identity::{GAME_ID, content_hash};

/// How long the other player is waited for.
const OUTAGE: Duration = Duration::from_secs(90);

/// The preferences of one machine for a match.
#[derive(Clone, Debug)]
pub struct Preferences {
    pub name: String,
    /// The host's counts.
    pub seed: Option<u32>,
    pub frame_rate: u16,
    pub window_frames: u8,
    /// `None`: what the measured link suggests.
    pub delay_frames: Option<u8>,
    pub rules: Rules,
}

/// The deviations of a duel that a trial needs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules {
    /// The match is over after so many frames, decided or not.
    pub frames: Option<u32>,
    /// In this frame the state on this machine is changed behind the engine's back.
    pub desync_at: Option<u32>,
}

impl Preferences {
    pub fn config(&self) -> Config {
        let mut config = Config::new(GAME_ID);
        config.game.content_hash = content_hash(self.rules.frames);
        config.game.frame_rate = FrameRate::hz(self.frame_rate.into());
        config.rollback.window_frames = self.window_frames;
        config.rollback.delay_frames = self.delay_frames;
        config.lobby.seed = self.seed;
        config.lobby.user_data = self.name.as_bytes().to_vec();
        // Directions that were held one after the other during a stall must not become both at once.
        config.rollback.kept_buttons = !(LEFT | RIGHT | UP | DOWN);
        // A laptop that was closed for a minute goes on with the match. Whoever waits may leave before.
        (config.timeouts.lost_after, config.timeouts.no_progress_after) = (OUTAGE, OUTAGE);
        config
    }
}

/// The duel, lent to a session for one call, with the rules of this match.
pub struct RuledDuel<'a> {
    pub duel: &'a mut Duel,
    pub rules: Rules,
    /// Where every step notes its cues, for the ear that has no ledger.
    pub asked: Option<&'a mut Vec<Cue>>,
}

impl Save for RuledDuel<'_> {
    type Snapshot = Duel;

    fn snapshot(&self) -> Duel {
        *self.duel
    }

    fn save(&self, slot: &mut Duel) -> Result<(), StateError> {
        *slot = *self.duel;
        Ok(())
    }

    fn restore(&mut self, snapshot: &Duel) -> Result<(), StateError> {
        *self.duel = *snapshot;
        Ok(())
    }
}

impl Game for RuledDuel<'_> {
    fn step(&mut self, inputs: Inputs, cues: &mut Cues) {
        self.duel.step(inputs, cues);
        if let Some(asked) = &mut self.asked {
            asked.extend(cues.as_slice());
        }
        if self.rules.desync_at == Some(self.duel.age) {
            let health = &mut self.duel.fighters[Player::Two.index()].health;
            *health = (*health - 7).max(1);
        }
    }

    fn finished(&self) -> bool {
        self.duel.finished() || self.rules.frames.is_some_and(|frames| self.duel.age >= frames)
    }
}
