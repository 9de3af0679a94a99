//! The configuration of a match, checked before anything is sent.

use crate::rollback::MAX_WINDOW;
use crate::wire::message::{Extensions, MAX_CADENCE, MAX_USER_DATA, MAX_WINDOW_AND_DELAY};
use crate::{Buttons, MAX_AXES, Player, Prediction, Saving};
use core::fmt;
use core::time::Duration;

/// The greatest input delay that is suggested or accepted.
pub const MAX_DELAY_FRAMES: u8 = 8;

/// Whether the standard library has random numbers here. In a browser its "random" keys are the same in every run, so
/// that anybody could compute the cookies of a host.
pub(super) const HAS_RANDOMNESS: bool = !cfg!(all(target_family = "wasm", target_os = "unknown"));

/// The configuration of a match.
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
    /// The number of the game. Must be equal on both machines.
    pub game_id: u64,
    /// A hash of everything else that must be equal on both machines: build, characters, stage, rules.
    pub content_hash: u64,
    /// Frames a second. Must be equal on both machines.
    pub frame_rate: u16,
    /// The number of axes of an input, at most 6: a stick has two, a trigger one. Must be equal on both machines. 0, the
    /// default, is a game of buttons only; axes of an [`Input`](crate::Input) beyond this number are dropped.
    pub axes: u8,
    /// The most frames that may be stepped on predictions; 0 is lockstep. Each machine has its own.
    pub window_frames: u8,
    /// The input delay: a press acts this many frames later. `None` takes the delay that the measured link suggests.
    /// Each machine has its own.
    ///
    /// Delay and window are together at most 16, because all unacked inputs must fit one packet.
    pub delay_frames: Option<u8>,
    /// The number of frames from one compared checksum to the next. The host's value is used.
    pub cadence_frames: u16,
    /// The host's own seat; the joiner gets the other.
    pub seat: Player,
    /// The seed of the game, not 0. `None` draws a random one. The host's value is used.
    pub seed: Option<u32>,
    /// Up to 64 bytes that the other side sees before the match: a name, a pick.
    pub user_data: Vec<u8>,
    /// Whether the host's game decides about each guest ([`Lobby::incoming`](crate::Lobby::incoming)); otherwise the
    /// lobby accepts on its own.
    pub ask_before_accepting: bool,
    /// The buttons whose presses are kept while the match stalls. Leave out directions: opposite ones pressed during
    /// one stall would be held together.
    pub kept_buttons: Buttons,
    /// The policy that predicts inputs that are not confirmed yet.
    pub prediction: Prediction,
    /// The policy that decides which frames are saved. Each machine has its own. Under [`Saving::Sparse`] an autopsy has
    /// only the states with a checksum, whatever their size.
    pub saving: Saving,
    /// A cue that a rollback moves by at most this many frames is the same cue.
    pub cue_moves_within: u32,
    /// The reaction to a desync.
    pub on_desync: OnDesync,
    /// The silence after which the game is told that the match is interrupted.
    pub interrupted_after: Duration,
    /// The silence after which the match is over.
    pub lost_after: Duration,
    /// The time without a new frame after which the match is over, even if other packets arrive.
    pub no_progress_after: Duration,
    /// The match is over when new frames have come at less than a quarter of the frame rate for this long, all such
    /// times taken together: one frame now and then must not keep a match at a standstill for ever. Standstills beyond an
    /// eighth of the time count three times: a peer that is silent for 600 of every 2,000 ms ends the match within a minute.
    pub too_slow_after: Duration,
    /// The match is over when the inputs of the peer have been older than this for some seconds, as
    /// [`Stats::input_age`](crate::Stats::input_age) counts. It bounds how much of this player's inputs a peer can see before
    /// it decides about its own. On an honest link the age is half the RTT and a frame, less the input delays. `None`, the
    /// default, is no limit. Each machine has its own, like the times above: it judges by its own measurements alone.
    pub max_input_age: Option<Duration>,
    /// The time without an answer after which a joiner gives up.
    pub join_timeout: Duration,
    /// The extensions of the protocol that this machine offers. One is used if both machines offer it.
    pub extensions: Extensions,
    /// The seed of nonces, cookies and random game seeds. `None` takes 128 bits from the system, anew for every lobby. A
    /// simulation sets it, and becomes a pure function of its seeds. In a browser (`wasm32-unknown-unknown`) the library
    /// cannot ask the system: a game draws it there, by `crypto.getRandomValues`, and `None` is an error.
    pub entropy: Option<u64>,
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
}

impl Config {
    /// The default configuration, for a game at 60 frames a second.
    #[must_use]
    pub fn new(game_id: u64) -> Self {
        Self {
            game_id,
            content_hash: 0,
            frame_rate: 60,
            axes: 0,
            window_frames: 8,
            delay_frames: None,
            cadence_frames: 30,
            seat: Player::One,
            seed: None,
            user_data: Vec::new(),
            ask_before_accepting: false,
            kept_buttons: Buttons(u16::MAX),
            prediction: Prediction::RepeatLast,
            saving: Saving::Auto,
            cue_moves_within: 3,
            on_desync: OnDesync::Report,
            interrupted_after: Duration::from_millis(750),
            lost_after: Duration::from_secs(5),
            no_progress_after: Duration::from_secs(10),
            too_slow_after: Duration::from_secs(30),
            max_input_age: None,
            join_timeout: Duration::from_secs(10),
            extensions: Extensions::ALL,
            entropy: None,
        }
    }

    /// Checks that all values are valid and fit together.
    ///
    /// # Errors
    /// The first value that is not valid.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.check_entropy(HAS_RANDOMNESS)?;
        let delay = self.delay_frames.unwrap_or(0);
        if self.frame_rate == 0 {
            return Err(ConfigError::FrameRate);
        }
        if self.axes > MAX_AXES {
            return Err(ConfigError::Axes { axes: self.axes });
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
        if !(1..=MAX_CADENCE).contains(&self.cadence_frames) {
            return Err(ConfigError::Cadence { cadence_frames: self.cadence_frames });
        }
        if self.seed == Some(0) {
            return Err(ConfigError::Seed);
        }
        if self.user_data.len() > MAX_USER_DATA {
            return Err(ConfigError::UserData { len: self.user_data.len() });
        }
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

    fn check_entropy(&self, has_randomness: bool) -> Result<(), ConfigError> {
        if self.entropy.is_none() && !has_randomness { Err(ConfigError::Entropy) } else { Ok(()) }
    }

    /// The length of a frame: a second divided by the frame rate.
    #[must_use]
    pub fn frame_length(&self) -> Duration {
        Duration::from_secs(1) / u32::from(self.frame_rate.max(1))
    }

    /// The greatest delay that fits one packet together with the window.
    #[must_use]
    pub(crate) fn max_delay_frames(&self) -> u8 {
        MAX_DELAY_FRAMES.min(MAX_WINDOW_AND_DELAY.saturating_sub(self.window_frames))
    }
}

/// Why a [`Config`] is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// The frame rate is 0.
    FrameRate,
    /// There are more axes than [`MAX_AXES`].
    Axes {
        /// The number of axes.
        axes: u8,
    },
    /// The window is greater than [`MAX_WINDOW`].
    Window {
        /// The window.
        window_frames: u8,
    },
    /// The delay is greater than [`MAX_DELAY_FRAMES`].
    Delay {
        /// The delay.
        delay_frames: u8,
    },
    /// Window and delay are together more than 16: the unacked inputs would not fit one packet.
    WindowAndDelay {
        /// The window.
        window_frames: u8,
        /// The delay.
        delay_frames: u8,
    },
    /// No frames between checksums, or more than 600: a desync would not be noticed.
    Cadence {
        /// The value.
        cadence_frames: u16,
    },
    /// A time limit of 0: the match would be over before it begins.
    NoPatience {
        /// The name of the field.
        limit: &'static str,
    },
    /// The seed is 0.
    Seed,
    /// The user data is longer than 64 bytes.
    UserData {
        /// The length of the user data.
        len: usize,
    },
    /// The target has no random numbers of its own, and the config brings none.
    Entropy,
    /// The match would be lost before it is interrupted.
    Silence {
        /// The silence after which it is interrupted.
        interrupted_after: Duration,
        /// The silence after which it is lost.
        lost_after: Duration,
    },
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FrameRate => f.write_str("the frame rate is 0"),
            Self::Axes { axes } => write!(f, "{axes} axes are more than {MAX_AXES}"),
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
            Self::Cadence { cadence_frames } => {
                write!(f, "a cadence of {cadence_frames} frames is outside 1..={MAX_CADENCE}")
            }
            Self::NoPatience { limit } => write!(f, "{limit} is 0"),
            Self::Seed => f.write_str("the seed is 0"),
            Self::UserData { len } => {
                write!(f, "user data of {len} bytes is more than {MAX_USER_DATA}")
            }
            Self::Entropy => {
                f.write_str("no entropy is given, and this target has no random numbers of its own")
            }
            Self::Silence { interrupted_after, lost_after } => write!(
                f,
                "a match that is lost after {lost_after:?} cannot be interrupted after {interrupted_after:?}"
            ),
        }
    }
}

impl core::error::Error for ConfigError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(change: impl FnOnce(&mut Config)) -> Result<(), ConfigError> {
        let mut config = Config::new(1);
        change(&mut config);
        config.check()
    }

    #[test]
    fn every_limit_is_taken_at_its_edge_and_refused_beyond() {
        assert_eq!(checked(|_| {}), Ok(()));
        assert_eq!(checked(|config| config.frame_rate = 1), Ok(()));
        assert_eq!(checked(|config| config.frame_rate = 0), Err(ConfigError::FrameRate));
        assert_eq!(checked(|config| (config.window_frames, config.delay_frames) = (16, Some(0))), Ok(()));
        let axes = |axes| checked(|config| config.axes = axes);
        assert_eq!((axes(6), axes(7)), (Ok(()), Err(ConfigError::Axes { axes: 7 })));
        let window = |window_frames| checked(|config| config.window_frames = window_frames);
        assert_eq!(window(17), Err(ConfigError::Window { window_frames: 17 }));
        let delay = |window_frames, delay_frames| {
            checked(|config| {
                (config.window_frames, config.delay_frames) = (window_frames, Some(delay_frames));
            })
        };
        assert_eq!((delay(8, 8), delay(12, 4), delay(0, 8)), (Ok(()), Ok(()), Ok(())));
        assert_eq!(delay(0, 9), Err(ConfigError::Delay { delay_frames: 9 }));
        let too_much = ConfigError::WindowAndDelay { window_frames: 12, delay_frames: 5 };
        assert_eq!(delay(12, 5), Err(too_much));
        let cadence = |cadence_frames| checked(|config| config.cadence_frames = cadence_frames);
        assert_eq!((cadence(1), cadence(600)), (Ok(()), Ok(())));
        for cadence_frames in [0, 601, u16::MAX] {
            assert_eq!(cadence(cadence_frames), Err(ConfigError::Cadence { cadence_frames }));
        }
        let user_data = |len| checked(|config| config.user_data = vec![0; len]);
        assert_eq!((user_data(64), user_data(65)), (Ok(()), Err(ConfigError::UserData { len: 65 })));
    }

    #[test]
    fn entropy_must_be_given_where_the_target_has_none() {
        let given = |entropy| Config { entropy, ..Config::new(1) };
        assert_eq!(given(None).check_entropy(false), Err(ConfigError::Entropy));
        assert_eq!((given(Some(0)).check_entropy(false), given(None).check_entropy(true)), (Ok(()), Ok(())));
    }

    #[test]
    fn patience_is_never_nothing_and_an_interruption_comes_before_the_end() {
        let none: [fn(&mut Config); 4] = [
            |config| config.lost_after = Duration::ZERO,
            |config| config.no_progress_after = Duration::ZERO,
            |config| config.too_slow_after = Duration::ZERO,
            |config| config.join_timeout = Duration::ZERO,
        ];
        for change in none {
            assert!(matches!(checked(change), Err(ConfigError::NoPatience { .. })));
        }
        let silence = |interrupted_after, lost_after| {
            checked(|config| (config.interrupted_after, config.lost_after) = (interrupted_after, lost_after))
        };
        let (short, long) = (Duration::from_secs(1), Duration::from_secs(2));
        assert_eq!((silence(short, long), silence(long, long)), (Ok(()), Ok(())));
        let refused = ConfigError::Silence { interrupted_after: long, lost_after: short };
        assert_eq!(silence(long, short), Err(refused));
    }

    #[test]
    fn the_greatest_delay_leaves_room_for_the_window() {
        for (window_frames, max) in [(0, 8), (8, 8), (9, 7), (15, 1), (16, 0), (200, 0)] {
            assert_eq!(Config { window_frames, ..Config::new(1) }.max_delay_frames(), max);
        }
        assert_eq!(Config { frame_rate: 0, ..Config::new(1) }.frame_length(), Duration::from_secs(1));
    }
}
