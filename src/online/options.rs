//! The options of an online match.

use crate::game::text::cut;
use crate::net::ticket;
use crate::replay::MAX_NAME;
use crate::wire::message::MAX_USER_DATA;
use crate::{Agreed, Config, ConnectOptions, Player, PlayerKey, shown};
use core::time::Duration;
use std::path::{Path, PathBuf};

/// The age from which on an unfinished match is not offered any more.
const MAX_AGE: Duration = Duration::from_secs(3_600);

/// The options of an [`Online`](super::Online) match.
///
/// ```
/// use rebout::{ConnectOptions, Options};
///
/// let options = Options::new(0x566F_6C6C_6579, 1)          // the game, and a hash of its build, data and rules
///     .name("Ada")
///     .rendezvous("play.example.org:3479")
///     .record_to("replays")
///     .bundles_to("desyncs");
/// let at_home = Options::new(0x566F_6C6C_6579, 1).connect(ConnectOptions::new().open().port(7000));
/// # let _ = (options, at_home);
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    pub(super) connect: ConnectOptions,
    content: Match,
}

/// The options of the matches on a connection.
#[derive(Clone, Debug)]
pub(super) struct Match {
    pub(super) config: Config,
    pub(super) record_to: Option<PathBuf>,
    pub(super) bundles_to: Option<PathBuf>,
    pub(super) spectators: Option<Broadcasting>,
    pub(super) rejoin_in: Option<PathBuf>,
}

#[cfg(not(target_family = "wasm"))]
type Broadcasting = crate::BroadcastConfig;
#[cfg(target_family = "wasm")]
type Broadcasting = NoBroadcast;

/// The config of a broadcast in a browser, which has none.
#[cfg(target_family = "wasm")]
#[derive(Clone, Debug)]
pub(super) enum NoBroadcast {}

impl Options {
    /// The options of a game: any number that identifies it, and a hash of its build, content and rules. Both must be equal on the two
    /// machines.
    #[must_use]
    pub fn new(game_id: u64, content_hash: u64) -> Self {
        let mut config = Config::new(game_id);
        config.game.content_hash = content_hash;
        Self::with_config(config)
    }

    /// The options of a match with a config of your own.
    #[must_use]
    pub fn with_config(config: Config) -> Self {
        let content = Match { config, record_to: None, bundles_to: None, spectators: None, rejoin_in: None };
        Self { connect: ConnectOptions::new(), content }
    }

    /// The name of the player at this machine, which the other side sees: its first 64 bytes.
    #[must_use]
    pub fn name(mut self, name: &str) -> Self {
        self.content.config.lobby.user_data = cut(name, MAX_USER_DATA).as_bytes().to_vec();
        self
    }

    /// How to connect, and who may join. By default a match is encrypted and guests join by invite.
    #[must_use]
    pub fn connect(self, connect: ConnectOptions) -> Self {
        Self { connect, ..self }
    }

    /// Meets the other player at a rendezvous: see [`ConnectOptions::rendezvous`].
    #[must_use]
    pub fn rendezvous(mut self, server: &str) -> Self {
        self.connect = self.connect.rendezvous(server);
        self
    }

    /// Proves the key in this file to the other player, so that a player is known again: see [`ConnectOptions::keep_player_key_in`].
    #[must_use]
    pub fn player_key_in(mut self, path: impl Into<PathBuf>) -> Self {
        self.connect = self.connect.keep_player_key_in(path);
        self
    }

    /// Plays with this player only: see [`ConnectOptions::only`].
    #[must_use]
    pub fn only(mut self, player: PlayerKey) -> Self {
        self.connect = self.connect.only(player);
        self
    }

    /// Asks about each guest ([`Now::Guest`](super::Now::Guest)) instead of accepting the first one.
    #[must_use]
    pub fn ask(mut self) -> Self {
        self.content.config.lobby.ask_before_accepting = true;
        self
    }

    /// Sends these bytes to the other machine if this one is the host: a save state of at most 4 MiB, from which both build their game
    /// at [`Now::Begin`](super::Now::Begin).
    #[must_use]
    pub fn first_state(mut self, bytes: Vec<u8>) -> Self {
        self.content.config.lobby.first_state = bytes.into();
        self
    }

    /// Accepts a first state of up to this many bytes from a host. By default none is accepted.
    #[must_use]
    pub fn first_state_limit(mut self, bytes: u32) -> Self {
        self.content.config.lobby.first_state_limit = bytes;
        self
    }

    /// Records each match into a file of this folder while it runs, with names and verdict.
    #[must_use]
    pub fn record_to(mut self, folder: impl Into<PathBuf>) -> Self {
        self.content.record_to = Some(folder.into());
        self
    }

    /// Writes the report about a desync, as a folder inside this one, once both machines have found its cause.
    #[must_use]
    pub fn bundles_to(mut self, folder: impl Into<PathBuf>) -> Self {
        self.content.bundles_to = Some(folder.into());
        self
    }

    /// Lets spectators watch the matches of this host, with an invite of their own:
    /// [`Online::share_to_watch`](super::Online::share_to_watch). It has an effect only on a host by invite. `docs/SPECTATORS.md`
    /// explains the limits.
    #[cfg(not(target_family = "wasm"))]
    #[must_use]
    pub fn spectators(mut self, config: crate::BroadcastConfig) -> Self {
        self.content.spectators = Some(config);
        self
    }

    /// Lets a player return to the match if its program ends in the middle of it. While a match runs, a file in this folder holds the
    /// key with which this machine proves that it was part of the match; it is deleted at the end.
    /// [`Online::rejoin`](super::Online::rejoin) takes it. Both players need such a folder and an encrypted connection.
    #[must_use]
    pub fn rejoin_in(mut self, folder: impl Into<PathBuf>) -> Self {
        self.content.rejoin_in = Some(folder.into());
        self
    }

    /// The file of the newest match in this folder that was not played to its end, if it began in the last hour.
    #[must_use]
    pub fn unfinished_in(folder: impl AsRef<Path>) -> Option<PathBuf> {
        ticket::newest(folder.as_ref(), MAX_AGE)
    }

    /// With the system's clock to measure costs by, unless the config has another.
    #[cfg(feature = "udp")]
    pub(super) fn measured(mut self) -> Self {
        self.content.config.rollback.stopwatch.get_or_insert(crate::net::stopwatch);
        self
    }

    pub(super) fn into_match(self) -> Match {
        self.content
    }
}

impl Match {
    /// The names of both players by seat.
    pub(super) fn names(&self, agreed: &Agreed) -> [String; 2] {
        let mut names = [name_of(&self.config.lobby.user_data), name_of(&agreed.user_data)];
        if agreed.seat == Player::Two {
            names.reverse();
        }
        names
    }
}

/// A name that came from outside, escaped and no longer than a recording holds.
pub(super) fn name_of(user_data: &[u8]) -> String {
    cut(&shown(&String::from_utf8_lossy(user_data)), MAX_NAME).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "udp")]
    #[test]
    fn udp_matches_are_measured_by_the_system_or_the_game() {
        let stopwatch = |options: Options| options.measured().content.config.rollback.stopwatch.unwrap();
        let first = stopwatch(Options::new(1, 1))();
        assert!(stopwatch(Options::new(1, 1))() >= first);
        let made_up: fn() -> core::time::Duration = || core::time::Duration::MAX;
        let config = crate::Config::new(1).with(|config| config.rollback.stopwatch = Some(made_up));
        assert_eq!(stopwatch(Options::with_config(config))(), core::time::Duration::MAX);
    }

    #[test]
    fn names_are_cut_between_characters_and_escaped() {
        let options = Options::new(1, 1).name(&"ä".repeat(40));
        assert_eq!(options.content.config.lobby.user_data.len(), 64);
        assert!(options.content.config.check().is_ok());
        assert_eq!(name_of(b"\x1b[2J\xff"), "\\u{1b}[2J\u{fffd}");
        assert!(name_of(&[0xFF; 64]).len() <= MAX_NAME);
    }
}
