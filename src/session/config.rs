//! How a match is to be played, checked before anything is sent.

use crate::rollback::MAX_WINDOW;
use crate::wire::message::{MAX_USER_DATA, MAX_WINDOW_AND_DELAY};
use crate::{Buttons, Player, Prediction};
use core::fmt;
use core::time::Duration;

/// The greatest input delay that is ever suggested or taken.
pub const MAX_DELAY_FRAMES: u8 = 8;

/// How a match is to be played.
///
/// ```
/// use rebout::Config;
///
/// let mut config = Config::new(0x6475_656c);   // any number that names the game
/// config.content_hash = 0x0102;                // build, characters, stage, rules: must be alike on both machines
/// config.window_frames = 0;                    // lockstep
/// config.user_data = b"Ada".to_vec();          // the other side sees it: a name, a pick
/// assert!(config.check().is_ok());
/// ```
#[derive(Clone, Debug)]
pub struct Config {
    /// Which game this is. Must be alike on both machines.
    pub game_id: u64,
    /// A hash of what must be alike besides: build, characters, stage, rules.
    pub content_hash: u64,
    /// Frames a second. Must be alike on both machines.
    pub frame_rate: u16,
    /// How many frames may be stepped on predictions; 0 is lockstep. Each machine has its own.
    pub window_frames: u8,
    /// How many frames after a press it acts. `None`: what the measured link suggests. Each machine has its own.
    ///
    /// Together with the window at most 16, so that all inputs under way fit one packet.
    pub delay_frames: Option<u8>,
    /// A checksum is compared every so many frames. The host's counts.
    pub cadence_frames: u16,
    /// The host's own seat; the joiner gets the other.
    pub seat: Player,
    /// The seed of the game, not 0. `None`: a random one. The host's counts.
    pub seed: Option<u32>,
    /// Up to 64 bytes that the other side sees before the match: a name, a pick.
    pub user_data: Vec<u8>,
    /// Whether a host is asked about everyone who comes ([`Lobby::incoming`](crate::Lobby::incoming)).
    pub ask_before_accepting: bool,
    /// The buttons whose presses are kept while the match stalls. Directions are better left out: held one after
    /// the other they would become nonsense.
    pub kept_buttons: Buttons,
    /// What is believed of inputs that are not here yet.
    pub prediction: Prediction,
    /// A cue that moves by at most this many frames in a rollback is the same cue.
    pub cue_moves_within: u32,
    /// What happens when the machines disagree about the state.
    pub on_desync: OnDesync,
    /// After this silence the game is told that the match is interrupted.
    pub interrupted_after: Duration,
    /// After this silence the match is over.
    pub lost_after: Duration,
    /// After this long without a new frame the match is over, whatever else comes.
    pub no_progress_after: Duration,
    /// A joiner gives up after this long without an answer.
    pub join_timeout: Duration,
    /// What nonces, cookies and random seeds are drawn from. `None`: from the system, anew for every lobby. A
    /// simulation sets it, and is then a pure function of its seeds.
    pub entropy: Option<u64>,
}

/// What happens when the machines disagree about the state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDesync {
    /// The game is told, once, and the match goes on.
    GoOn,
    /// The game is told, the two machines find out which field differs since when, and the match goes on.
    #[default]
    Report,
    /// The game is told, the two machines find out which field differs since when, and the match is over.
    Stop,
}

impl Config {
    /// Sensible values for a game at 60 frames a second.
    #[must_use]
    pub fn new(game_id: u64) -> Self {
        Self {
            game_id,
            content_hash: 0,
            frame_rate: 60,
            window_frames: 8,
            delay_frames: None,
            cadence_frames: 30,
            seat: Player::One,
            seed: None,
            user_data: Vec::new(),
            ask_before_accepting: false,
            kept_buttons: Buttons(u16::MAX),
            prediction: Prediction::RepeatLast,
            cue_moves_within: 3,
            on_desync: OnDesync::Report,
            interrupted_after: Duration::from_millis(750),
            lost_after: Duration::from_secs(5),
            no_progress_after: Duration::from_secs(10),
            join_timeout: Duration::from_secs(10),
            entropy: None,
        }
    }

    /// Whether all values make sense together.
    ///
    /// # Errors
    /// The first one that does not, with its value.
    pub fn check(&self) -> Result<(), ConfigError> {
        let delay = self.delay_frames.unwrap_or(0);
        if self.frame_rate == 0 {
            return Err(ConfigError::FrameRate);
        }
        if u32::from(self.window_frames) > MAX_WINDOW {
            return Err(ConfigError::Window { window_frames: self.window_frames });
        }
        if delay > MAX_DELAY_FRAMES {
            return Err(ConfigError::Delay { delay_frames: delay });
        }
        if self.window_frames + delay > MAX_WINDOW_AND_DELAY {
            return Err(ConfigError::WindowAndDelay {
                window_frames: self.window_frames,
                delay_frames: delay,
            });
        }
        if self.cadence_frames == 0 {
            return Err(ConfigError::Cadence);
        }
        if self.seed == Some(0) {
            return Err(ConfigError::Seed);
        }
        if self.user_data.len() > MAX_USER_DATA {
            return Err(ConfigError::UserData { len: self.user_data.len() });
        }
        if self.interrupted_after > self.lost_after {
            return Err(ConfigError::Silence {
                interrupted_after: self.interrupted_after,
                lost_after: self.lost_after,
            });
        }
        Ok(())
    }

    /// The length of a frame: a second divided by the frame rate.
    #[must_use]
    pub fn frame_length(&self) -> Duration {
        Duration::from_secs(1) / u32::from(self.frame_rate.max(1))
    }

    /// The greatest delay that goes with the window.
    #[must_use]
    pub(crate) fn max_delay_frames(&self) -> u8 {
        MAX_DELAY_FRAMES.min(MAX_WINDOW_AND_DELAY.saturating_sub(self.window_frames))
    }
}

/// Which value of a [`Config`] makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// No frames a second.
    FrameRate,
    /// More frames of prediction than snapshots are kept for.
    Window {
        /// The value.
        window_frames: u8,
    },
    /// More delay than anyone could play with.
    Delay {
        /// The value.
        delay_frames: u8,
    },
    /// The inputs under way would not fit one packet.
    WindowAndDelay {
        /// The window.
        window_frames: u8,
        /// The delay.
        delay_frames: u8,
    },
    /// No frames between checksums.
    Cadence,
    /// The seed is 0.
    Seed,
    /// The user data is too long.
    UserData {
        /// Its length.
        len: usize,
    },
    /// A match would be lost before it is interrupted.
    Silence {
        /// When it is interrupted.
        interrupted_after: Duration,
        /// When it is lost.
        lost_after: Duration,
    },
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FrameRate => f.write_str("the frame rate is 0"),
            Self::Window { window_frames } => {
                write!(f, "a window of {window_frames} frames is more than {MAX_WINDOW}")
            }
            Self::Delay { delay_frames } => {
                write!(f, "an input delay of {delay_frames} frames is more than {MAX_DELAY_FRAMES}")
            }
            Self::WindowAndDelay { window_frames, delay_frames } => write!(
                f,
                "a window of {window_frames} and an input delay of {delay_frames} frames are together more than \
                 {MAX_WINDOW_AND_DELAY}"
            ),
            Self::Cadence => f.write_str("the cadence of checksums is 0 frames"),
            Self::Seed => f.write_str("the seed is 0"),
            Self::UserData { len } => {
                write!(f, "user data of {len} bytes is more than {MAX_USER_DATA}")
            }
            Self::Silence { interrupted_after, lost_after } => write!(
                f,
                "a match that is lost after {lost_after:?} cannot be interrupted after {interrupted_after:?}"
            ),
        }
    }
}

impl core::error::Error for ConfigError {}
