//! The configuration of a match, checked before anything is sent.

use super::config_error::ConfigError;
use super::first_state::FirstState;
use crate::game::MAX_PADS;
use crate::rollback::{MAX_LOOK_AHEAD, MAX_WINDOW};
use crate::wire::message::{Extensions, MAX_CADENCE, MAX_FIRST_STATE, MAX_USER_DATA, MAX_WINDOW_AND_DELAY};
use crate::{Buttons, FrameRate, Input, MAX_AXES, Player, Prediction, Saving};
use core::time::Duration;

/// Whether the standard library has random numbers here. In a browser its "random" keys are the same in every run, so
/// that anybody could compute the cookies of a host.
pub(super) const HAS_RANDOMNESS: bool = !cfg!(all(target_family = "wasm", target_os = "unknown"));

/// The configuration of a match.
///
/// ```
/// use rebout::Config;
///
/// let mut config = Config::new(0x6475_656c);      // any number that names the game
/// config.game.content_hash = 0x0102;              // build, characters, stage, rules: must be equal on both machines
/// config.lobby.user_data = b"Ada".to_vec();       // the other side sees it: a name, a pick
/// config.rollback.window_frames = 0;              // lockstep
/// assert!(config.check().is_ok());
/// ```
///
/// All defaults:
///
/// ```
/// use core::time::Duration;
/// use rebout::{
///     Buttons, Config, Extensions, FirstState, FrameRate, GameConfig, LobbyConfig, OnDesync, Player, Prediction, RollbackConfig,
///     Saving, Timeouts,
/// };
///
/// let defaults = Config {
///     game: GameConfig { id: 7, content_hash: 0, frame_rate: FrameRate::hz(60), axes: 0, pads: 1 },
///     lobby: LobbyConfig {
///         user_data: Vec::new(),
///         seat: Player::One,
///         seed: None,
///         ask_before_accepting: false,
///         first_state: FirstState::default(),
///         first_state_limit: 0,
///         extensions: Extensions::ALL,
///         entropy: None,
///     },
///     rollback: RollbackConfig {
///         window_frames: 8,
///         delay_frames: None,
///         added_delay_frames: 12,
///         prediction: Prediction::RepeatLast,
///         saving: Saving::Auto,
///         kept_buttons: Buttons(0xFFFF),
///         cue_moves_within: 3,
///         look_ahead_frames: 0,
///         stopwatch: None,
///     },
///     timeouts: Timeouts {
///         join_timeout: Duration::from_secs(10),
///         interrupted_after: Duration::from_millis(750),
///         lost_after: Duration::from_secs(30),
///         no_progress_after: Duration::from_secs(30),
///         too_slow_after: Duration::from_secs(30),
///         max_input_age: None,
///         max_pause: Duration::from_secs(60),
///         countdown: Duration::from_secs(3),
///     },
///     cadence_frames: 30,
///     pauses: 3,
///     on_desync: OnDesync::Report,
/// };
/// assert_eq!(format!("{:?}", Config::new(7)), format!("{defaults:?}"));
/// ```
#[derive(Clone, Debug)]
pub struct Config {
    /// The game, in the values that must be equal on both machines.
    pub game: GameConfig,
    /// How this machine hosts or joins a match.
    pub lobby: LobbyConfig,
    /// Input delay, prediction and rollback. Each machine has its own.
    pub rollback: RollbackConfig,
    /// How long this machine waits before it gives up. Each machine has its own.
    pub timeouts: Timeouts,
    /// The number of frames from one compared checksum to the next, 30 by default. The host's value is used.
    pub cadence_frames: u16,
    /// How many pauses this machine agrees to for each player, by default 3; 0 is none. Each machine has its own.
    pub pauses: u8,
    /// The reaction to a desync, [`OnDesync::Report`] by default. Each machine has its own.
    pub on_desync: OnDesync,
}

/// The values of a [`Config`] that must be equal on both machines. Machines that differ in one of them refuse to play.
#[derive(Clone, Copy, Debug)]
pub struct GameConfig {
    /// Any number that names the game, by default 0. [`Config::new`] sets it.
    pub id: u64,
    /// A hash of everything else that must be equal on both machines: build, characters, stage, rules. By default 0.
    pub content_hash: u64,
    /// Frames a second, by default 60; from 1 to 1,000.
    pub frame_rate: FrameRate,
    /// The number of axes of an input, at most 6: a stick has two, a trigger one. By default 0, a game of buttons only. Axes
    /// of an [`Input`](crate::Input) beyond this number are dropped.
    pub axes: u8,
    /// The number of pads at each machine, 1 to 4, by default 1. Each has 16 buttons, and the pads beyond this number are
    /// dropped. Two pads at each of two machines are a game for four. More than one pad leaves no room for axes.
    pub pads: u8,
}

/// How a [`Lobby`](crate::Lobby) hosts or joins a match.
#[derive(Clone, Debug)]
pub struct LobbyConfig {
    /// Up to 64 bytes that the other side sees before the match, by default none: a name, a pick.
    pub user_data: Vec<u8>,
    /// The host's own seat, by default [`Player::One`]; the joiner gets the other.
    pub seat: Player,
    /// The seed of the game, not 0. `None`, the default, draws a random one. The host's value is used.
    pub seed: Option<u32>,
    /// Whether the host's game decides about each guest ([`Lobby::incoming`](crate::Lobby::incoming)). By default the lobby
    /// accepts on its own.
    pub ask_before_accepting: bool,
    /// The bytes from which both machines build the first state of the match, at most 4 MiB; by default none. The host's are
    /// used: the joiner receives them in the lobby, and both games find them in
    /// [`Agreed::first_state`](crate::Agreed::first_state).
    pub first_state: FirstState,
    /// The longest first state that this machine takes from a host, in bytes, at most 4 MiB. By default 0: a host with a first
    /// state refuses this joiner.
    pub first_state_limit: u32,
    /// The extensions of the protocol that this machine offers, by default all. One is used if both machines offer it.
    pub extensions: Extensions,
    /// The seed of nonces, cookies and random game seeds. `None`, the default, takes 128 bits from the system, again for every
    /// lobby. A simulation sets it, and becomes a pure function of its seeds. In a browser (`wasm32-unknown-unknown`) the
    /// library cannot ask the system: a game draws it there, by `crypto.getRandomValues`, and `None` is an error.
    pub entropy: Option<u64>,
}

/// Input delay, prediction and rollback on this machine.
///
/// Delay and window are together at most 30. The window alone is at most 22, and the delay alone at most 24.
#[derive(Clone, Copy, Debug)]
pub struct RollbackConfig {
    /// The most frames that may be stepped on predictions, by default 8; 0 is lockstep.
    pub window_frames: u8,
    /// The input delay: a press acts this many frames later. `None`, the default, takes the delay that the measured link
    /// suggests.
    pub delay_frames: Option<u8>,
    /// By how many frames the session may raise a measured delay while the link makes the match stall, by default 12; 0 is
    /// never. It does so by one frame at a time, as far as the window is too short for the RTT, and takes it back when the link
    /// has recovered. Each change is told ([`Event::DelayChanged`](crate::Event::DelayChanged)). A delay that was chosen, here or by
    /// [`set_delay`](crate::Session::set_delay), is never changed.
    pub added_delay_frames: u8,
    /// The policy that predicts inputs that are not confirmed yet, by default [`Prediction::RepeatLast`].
    pub prediction: Prediction,
    /// The policy that decides which frames are saved, by default [`Saving::Auto`]. Under [`Saving::Sparse`] an autopsy has
    /// only the states with a checksum, whatever their size.
    pub saving: Saving,
    /// The buttons whose presses are kept while the match stalls, on every pad. By default all: a lost tap is worse than a
    /// direction that is held for a frame too long. Leave out the directions of a game in which opposite ones, tapped during
    /// one stall, must not be held together for a frame.
    pub kept_buttons: Buttons,
    /// A cue that a rollback moves by at most this many frames is the same cue. By default 3.
    pub cue_moves_within: u32,
    /// How many frames [`Session::look_ahead`](crate::Session::look_ahead) steps on predicted inputs, only to draw them: at most
    /// 8, by default 0. It hides the frames that a game takes to react to a button. Each displayed frame costs a save, a
    /// restore and these steps.
    pub look_ahead_frames: u8,
    /// A clock by which the cost of a step, a save and a restore is measured now and then. `Online` on UDP
    /// takes [`net::stopwatch`](crate::net::stopwatch()). Without one, the default, nothing is measured: [`Saving::Auto`]
    /// decides by the size of the state. States and packets do not depend on it.
    pub stopwatch: Option<fn() -> Duration>,
}

/// How long this machine waits before it gives up.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// The time without an answer after which a joiner gives up, by default 10 s.
    pub join_timeout: Duration,
    /// The time without a new frame after which the game is told that the match is interrupted, by default 750 ms.
    pub interrupted_after: Duration,
    /// How long the match waits through an outage: the silence after which it is over, by default 30 s. The players can leave at
    /// any time before.
    ///
    /// Outages of more than 2 s are added up, less an eighth of the time since. Their sum shortens the next wait, to 5 s at least:
    /// a player who cuts the connection on purpose cannot hold the match up again and again.
    pub lost_after: Duration,
    /// The time without a new frame after which the match is over, even if other packets arrive: at least
    /// [`lost_after`](Self::lost_after), because a machine that cannot hear this one stands still too. By default 30 s.
    pub no_progress_after: Duration,
    /// The match is over when new frames have come at less than a quarter of the frame rate for this long, by default 30 s,
    /// all such times taken together: one frame now and then must not keep a match at a standstill for ever. Standstills
    /// beyond an eighth of the time count three times: a peer that is silent for 600 of every 2,000 ms ends the match within
    /// a minute.
    pub too_slow_after: Duration,
    /// The match is over when the inputs of the peer have been older than this for some seconds, as
    /// [`Stats::input_age`](crate::Stats::input_age) counts. It bounds how much of this player's inputs a peer can see before
    /// it decides about its own. On an honest link the age is half the RTT and a frame, less the input delays. `None`, the
    /// default, is no limit.
    pub max_input_age: Option<Duration>,
    /// How long the other player may [pause](crate::Session::pause), by default 60 s. From then on this player may go on, or leave
    /// without a forfeit. The other machine is told, in whole seconds.
    pub max_pause: Duration,
    /// The countdown after this player has [resumed](crate::Session::resume), by default 3 s, at most a minute.
    pub countdown: Duration,
}

/// The reaction to a desync.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDesync {
    /// The game is told, once, and the match goes on.
    GoOn,
    /// The game is told, the two machines find out which field differs since which frame, and the match goes on.
    #[default]
    Report,
    /// The game is told, the two machines find out which field differs since which frame, and the match is over.
    Stop,
    /// The same as [`Stop`](Self::Stop), unless the resimulations of both machines agree: then the live state of a machine had gone
    /// wrong, and is mended once in a match ([`Event::Mended`](crate::Event::Mended)). Both machines must have it; otherwise it is `Stop`.
    Mend,
}

impl Default for GameConfig {
    fn default() -> Self {
        Self { id: 0, content_hash: 0, frame_rate: FrameRate::default(), axes: 0, pads: 1 }
    }
}

impl GameConfig {
    /// The number of axes as input packets count them: pads after the first travel as two axes each.
    pub(super) fn wire_axes(&self) -> u8 {
        Input::axes_of(self.axes, self.pads)
    }
}

impl Default for LobbyConfig {
    fn default() -> Self {
        Self {
            user_data: Vec::new(),
            seat: Player::One,
            seed: None,
            ask_before_accepting: false,
            first_state: FirstState::default(),
            first_state_limit: 0,
            extensions: Extensions::ALL,
            entropy: None,
        }
    }
}

impl Default for RollbackConfig {
    fn default() -> Self {
        Self {
            window_frames: 8,
            delay_frames: None,
            added_delay_frames: 12,
            prediction: Prediction::RepeatLast,
            saving: Saving::Auto,
            kept_buttons: Buttons(u16::MAX),
            cue_moves_within: 3,
            look_ahead_frames: 0,
            stopwatch: None,
        }
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            join_timeout: Duration::from_secs(10),
            interrupted_after: Duration::from_millis(750),
            lost_after: Duration::from_secs(30),
            no_progress_after: Duration::from_secs(30),
            too_slow_after: Duration::from_secs(30),
            max_input_age: None,
            max_pause: Duration::from_secs(60),
            countdown: Duration::from_secs(3),
        }
    }
}

impl Config {
    /// The greatest input delay that is suggested or accepted.
    pub const MAX_DELAY_FRAMES: u8 = 24;
    /// The most frames of window and input delay together.
    pub const MAX_WINDOW_AND_DELAY: u8 = MAX_WINDOW_AND_DELAY;
    /// The most bytes of a first state: 4 MiB.
    pub const MAX_FIRST_STATE: u32 = MAX_FIRST_STATE;

    /// The default configuration of a game that is named by this number.
    #[must_use]
    pub fn new(game_id: u64) -> Self {
        Self {
            game: GameConfig { id: game_id, ..GameConfig::default() },
            lobby: LobbyConfig::default(),
            rollback: RollbackConfig::default(),
            timeouts: Timeouts::default(),
            cadence_frames: 30,
            pauses: 3,
            on_desync: OnDesync::default(),
        }
    }

    /// The extensions that this machine offers in the handshake.
    pub(crate) fn capabilities(&self) -> Extensions {
        self.lobby.extensions.with(Extensions::MEND, self.on_desync == OnDesync::Mend)
    }

    /// This configuration with some values changed, for use in an expression.
    ///
    /// ```
    /// use rebout::Config;
    ///
    /// let config = Config::new(7).with(|config| config.rollback.delay_frames = Some(2));
    /// assert_eq!(config.rollback.delay_frames, Some(2));
    /// ```
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// Checks that all values are valid and fit together.
    ///
    /// # Errors
    /// The first value that is not valid.
    pub fn check(&self) -> Result<(), ConfigError> {
        let Self { game, lobby, rollback, timeouts, cadence_frames, .. } = self;
        self.check_entropy(HAS_RANDOMNESS)?;
        if !game.frame_rate.is_valid() {
            return Err(ConfigError::FrameRate { frame_rate: game.frame_rate });
        }
        let GameConfig { axes, pads, .. } = *game;
        if axes > MAX_AXES {
            return Err(ConfigError::Axes { axes });
        }
        if !(1..=MAX_PADS).contains(&pads) {
            return Err(ConfigError::Pads { pads });
        }
        if pads > 1 && axes > 0 {
            return Err(ConfigError::PadsAndAxes { pads, axes });
        }
        let (window_frames, delay_frames) = (rollback.window_frames, rollback.delay_frames.unwrap_or(0));
        if u32::from(window_frames) > MAX_WINDOW {
            return Err(ConfigError::Window { window_frames });
        }
        Self::check_delay(window_frames, delay_frames)?;
        if u32::from(rollback.look_ahead_frames) > MAX_LOOK_AHEAD {
            return Err(ConfigError::LookAhead { look_ahead_frames: rollback.look_ahead_frames });
        }
        if !(1..=MAX_CADENCE).contains(cadence_frames) {
            return Err(ConfigError::Cadence { cadence_frames: *cadence_frames });
        }
        if lobby.seed == Some(0) {
            return Err(ConfigError::Seed);
        }
        if lobby.user_data.len() > MAX_USER_DATA {
            return Err(ConfigError::UserData { len: lobby.user_data.len() });
        }
        let first_state = [lobby.first_state.len(), lobby.first_state_limit as usize];
        if let Some(&len) = first_state.iter().find(|len| **len > MAX_FIRST_STATE as usize) {
            return Err(ConfigError::FirstState { len });
        }
        timeouts.check()
    }

    /// Whether an input delay is valid, with a window that is.
    pub(super) fn check_delay(window_frames: u8, delay_frames: u8) -> Result<(), ConfigError> {
        if delay_frames > Self::MAX_DELAY_FRAMES {
            return Err(ConfigError::Delay { delay_frames });
        }
        if window_frames + delay_frames > MAX_WINDOW_AND_DELAY {
            return Err(ConfigError::WindowAndDelay { window_frames, delay_frames });
        }
        Ok(())
    }

    fn check_entropy(&self, has_randomness: bool) -> Result<(), ConfigError> {
        if self.lobby.entropy.is_none() && !has_randomness { Err(ConfigError::Entropy) } else { Ok(()) }
    }

    /// The greatest delay that is valid together with the window.
    #[must_use]
    pub(crate) fn max_delay_frames(&self) -> u8 {
        Self::MAX_DELAY_FRAMES.min(MAX_WINDOW_AND_DELAY.saturating_sub(self.rollback.window_frames))
    }
}

impl Timeouts {
    fn check(&self) -> Result<(), ConfigError> {
        for (limit, value) in [
            ("lost_after", self.lost_after),
            ("no_progress_after", self.no_progress_after),
            ("too_slow_after", self.too_slow_after),
            ("join_timeout", self.join_timeout),
        ] {
            if value.is_zero() {
                return Err(ConfigError::NoPatience { limit });
            }
        }
        if self.interrupted_after > self.lost_after {
            return Err(ConfigError::Silence {
                interrupted_after: self.interrupted_after,
                lost_after: self.lost_after,
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
