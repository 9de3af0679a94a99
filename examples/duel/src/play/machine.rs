//! A machine on UDP: its files, its spectators, and coming back into a match.

use std::path::{Path, PathBuf};

use rebout::net::udp::Udp;
use rebout::{BroadcastConfig, Config, ConnectError, ConnectOptions, Connection, Online, Options};

use super::rules::Rules;
use super::show::{Show, leaves};
use crate::picture::Tone;
use games::duel::Duel;

/// The folder of matches that were not played to their end, beside the recordings.
const UNFINISHED: &str = "unfinished";

/// One machine's end of a match on UDP.
pub(super) type Machine = crate::machine::Machine<Udp>;

impl Machine {
    /// A match that is to be found on a connection, and recorded in a folder. A program that is killed `comes_back` into it.
    ///
    /// # Errors
    /// If the config is not valid.
    pub(super) fn new(
        connection: Connection,
        config: Config,
        rules: Rules,
        record: Option<&Path>,
        spectators: Option<BroadcastConfig>,
        comes_back: bool,
    ) -> Result<Self, ConnectError> {
        let mut options = options(config, record, comes_back);
        if let Some(spectators) = spectators {
            options = options.spectators(spectators);
        }
        Ok(Self::of(Online::on(options, connection)?, rules))
    }

    /// A match that this machine was in when its program ended, by the file that it kept.
    ///
    /// # Errors
    /// If the file cannot be used, or the config is not valid.
    pub(super) fn rejoin(
        file: &Path,
        config: Config,
        rules: Rules,
        record: Option<&Path>,
        connect: ConnectOptions,
    ) -> Result<Self, ConnectError> {
        // The file says whether there were spectators, how many there may be, and how late they see the match.
        let options = options(config, record, true).spectators(BroadcastConfig::default());
        Ok(Self::of(Online::rejoin(options.connect(connect), file)?, rules))
    }

    /// How many watch, and the words about it, if that differs from `before`.
    pub(super) fn new_watchers(&self, before: u16) -> Option<(u16, String)> {
        let now = self.online.spectators()?.spectators;
        let text = match now {
            0 => "nobody watches any more".to_owned(),
            1 => "1 spectator watches".to_owned(),
            count => format!("{count} spectators watch"),
        };
        (now != before).then_some((now, text))
    }

    /// Lets spectators see the end, which leaves as late as the rest, unless the player does not want to wait for them.
    pub(super) fn serve_the_rest(&mut self, show: &mut Show<'_>) {
        let is_watched =
            |online: &Online<Duel>| online.spectators().is_some_and(|stats| stats.spectators > 0);
        while is_watched(&self.online) && !self.online.spectators_have_all() && self.online.wait().is_ok() {
            show.say("spectators have not seen the end yet: esc leaves them", Tone::Calm);
            if leaves(&show.take_input()) {
                break;
            }
            show.refresh();
        }
    }
}

fn options(config: Config, record: Option<&Path>, comes_back: bool) -> Options {
    let options = Options::with_config(config);
    match record {
        Some(folder) => {
            let options = options.record_to(folder).bundles_to(folder.join("desyncs"));
            if comes_back { options.rejoin_in(folder.join(UNFINISHED)) } else { options }
        }
        None => options,
    }
}

/// The file of a match that was not played to its end, if the other player may still be waiting.
pub fn unfinished(record: Option<&Path>) -> Option<PathBuf> {
    Options::unfinished_in(record?.join(UNFINISHED))
}
