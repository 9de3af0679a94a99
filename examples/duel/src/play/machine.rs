//! One machine's end of a match: the online match and the state that it is lent.

use std::path::{Path, PathBuf};

use rebout::replay::Winner;
use rebout::{
    BroadcastConfig, Buttons, Config, ConnectError, ConnectOptions, Connection, Cue, Frame, Online, Options,
    Session, checksum,
};

use super::rules::{RuledDuel, Rules};
use super::show::{Show, leaves};
use crate::netgraph::Played;
use crate::picture::Tone;
use games::duel::{Duel, Phase};

/// The folder of matches that were not played to their end, beside the recordings.
const UNFINISHED: &str = "unfinished";

pub(super) struct Machine {
    pub online: Online<Duel>,
    pub duel: Duel,
    rules: Rules,
    /// The spectators when they were last counted.
    watchers: u16,
    /// The cues that the steps of the last `advance` asked for, resimulated ones too; kept only where they are heard.
    asked: Option<Vec<Cue>>,
}

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
        Ok(Self::of(Online::rejoin(options(config, record, true).connect(connect), file)?, rules))
    }

    fn of(online: Online<Duel>, rules: Rules) -> Self {
        Self { online, duel: Duel::new(1), rules, watchers: 0, asked: None }
    }

    /// Begins the match that both have agreed on.
    pub(super) fn begin(&mut self, seed: u32) {
        self.duel = Duel::new(seed);
        self.online.start(&RuledDuel { duel: &mut self.duel, rules: self.rules, asked: None });
    }

    /// How many watch, as last counted.
    pub(super) fn watchers(&self) -> u16 {
        self.watchers
    }

    /// How many watch, if that has changed.
    pub(super) fn new_watchers(&mut self) -> Option<String> {
        let now = self.online.spectators()?.spectators;
        let before = std::mem::replace(&mut self.watchers, now);
        (now != before).then(|| match now {
            0 => "nobody watches any more".to_owned(),
            1 => "1 spectator watches".to_owned(),
            count => format!("{count} spectators watch"),
        })
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

    /// Notes from now on what every step asks for.
    pub(super) fn note_step_cues(&mut self) {
        self.asked = Some(Vec::new());
    }

    /// What the steps of the last `advance` asked for; `None` if nobody listens to them.
    pub(super) fn asked(&self) -> Option<&[Cue]> {
        self.asked.as_deref()
    }

    /// Plays a frame.
    pub(super) fn advance(&mut self, buttons: Buttons) -> Played {
        let (shown, frame) = (self.duel, self.online.session().map_or(Frame::ZERO, Session::current));
        let before = self.resimulated_frames();
        if let Some(asked) = &mut self.asked {
            asked.clear();
        }
        let mut game = RuledDuel { duel: &mut self.duel, rules: self.rules, asked: self.asked.as_mut() };
        let advanced = self.online.advance(&mut game, buttons);
        self.online.set_winner(winner(self.certain()));
        let resimulated_frames = (self.resimulated_frames() - before) as u32;
        Played { advanced, shown, frame, resimulated_frames }
    }

    fn resimulated_frames(&self) -> u64 {
        self.online.stats().map_or(0, |stats| stats.rollback.resimulated_frames)
    }

    /// The newest state that is certain: what the recorded inputs lead to.
    pub(super) fn certain(&self) -> &Duel {
        let session = self.online.session();
        session.and_then(|session| session.snapshot(session.settled())).unwrap_or(&self.duel)
    }

    pub(super) fn checksum(&self) -> u32 {
        checksum(self.certain())
    }

    /// The frames that are certain.
    pub(super) fn frames(&self) -> u32 {
        self.online.session().map_or(0, |session| session.settled().0)
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

/// The winner, for a recording.
pub(super) fn winner(duel: &Duel) -> Winner {
    match duel.phase {
        Phase::Done { winner } | Phase::MatchOver { winner } => winner.map_or(Winner::Draw, Winner::Player),
        _ => Winner::Undecided,
    }
}
