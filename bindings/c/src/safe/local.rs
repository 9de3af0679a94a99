//! A match at one machine, with the turns of an online one.

use super::clock::Clock;
use super::codes::{FinishCode, NowCode, VerdictCode};
use super::fault::Fault;
use super::state::State;
use super::turn::{Bytes, Turn};
use rebout::net::append::FileAppender;
use rebout::replay::{End, Header, Outcome, StreamRecorder, Winner};
use rebout::{Advanced, Config, Game, Inputs, Offline, Reason, checksum};
use std::collections::VecDeque;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::path::PathBuf;
use std::time::Duration;

/// The longest sleep of a turn.
const TURN: Duration = Duration::from_millis(16);

/// A match at one machine.
#[derive(Debug)]
pub struct Local {
    config: Config,
    seed: u32,
    name: String,
    pub(super) clock: Clock,
    pub(super) play: Option<Offline<State>>,
    notices: VecDeque<String>,
    file: File,
    has_left: bool,
}

/// The recording of a match.
#[derive(Debug, Default)]
struct File {
    folder: Option<PathBuf>,
    path: Option<PathBuf>,
    recorder: Option<StreamRecorder<FileAppender>>,
    winner: Winner,
}

impl Local {
    /// A match that records into `folder`, if there is one. Without a seed in the config one is drawn.
    ///
    /// # Errors
    /// If the config is not valid.
    pub fn new(config: Config, name: &str, folder: Option<PathBuf>) -> Result<Self, Fault> {
        config.check().map_err(Fault::invalid)?;
        // A hasher's keys are random. A seed is not 0.
        let drawn = || (RandomState::new().hash_one(0_u8) as u32).max(1);
        Ok(Self {
            seed: config.lobby.seed.unwrap_or_else(drawn),
            config,
            name: name.to_owned(),
            clock: Clock::system(),
            play: None,
            notices: VecDeque::new(),
            file: File { folder, ..File::default() },
            has_left: false,
        })
    }

    pub(super) fn turn(&mut self, blocks: bool) -> Turn {
        if let Some(text) = self.notices.pop_front() {
            return Turn::with_text(NowCode::Notice, text);
        }
        let Some(play) = &self.play else {
            return if self.has_left { self.over() } else { self.begin() };
        };
        if self.has_left || play.ended() {
            return self.over();
        }
        if blocks && !play.frame_due(self.clock.now()) {
            self.clock.sleep_until(play.next_frame_at(), TURN);
        }
        Turn::of(if play.frame_due(self.clock.now()) { NowCode::Frame } else { NowCode::Idle })
    }

    fn begin(&self) -> Turn {
        let bytes = Bytes::FirstState(self.config.lobby.first_state.clone());
        Turn { seed: self.seed, bytes, ..Turn::of(NowCode::Begin) }
    }

    /// The end, after the recording has ended.
    fn over(&mut self) -> Turn {
        if let Some(trouble) = self.file.finish(self.has_left) {
            return Turn::with_text(NowCode::Notice, trouble);
        }
        let failure = self.play.as_ref().and_then(Offline::failure);
        let turn = Turn {
            frame: self.play.as_ref().map_or(0, |play| play.current().0),
            ..Turn::of(NowCode::Finished)
        };
        match failure {
            Some(error) => {
                Turn { finish: FinishCode::Ended, text: format!("The match is over: {error}."), ..turn }
                    .ended(Reason::StateFailedHere)
            }
            None if self.has_left => {
                let reason = Reason::LeftHere;
                Turn { finish: FinishCode::Ended, text: format!("The match is over: {reason}."), ..turn }
                    .ended(reason)
            }
            None => Turn {
                finish: FinishCode::Played,
                verdict: VerdictCode::Local,
                text: "The match is over.".to_owned(),
                ..turn
            },
        }
    }

    pub(super) fn start<G: Game<Snapshot = State>>(&mut self, game: &G) -> Result<(), Fault> {
        let play = Offline::new(self.clock.now(), &self.config, game).map_err(Fault::invalid)?;
        let mut header = Header::of_offline(&self.config, self.seed);
        header.first_state = self.config.lobby.first_state.clone();
        header.names[0].clone_from(&self.name);
        self.notices.extend(self.file.begin(header));
        self.play = Some(play);
        Ok(())
    }

    pub(super) fn advance<G: Game<Snapshot = State>>(
        &mut self,
        game: &mut G,
        inputs: Inputs,
    ) -> Option<Advanced> {
        let play = self.play.as_mut()?;
        let advanced = play.advance(self.clock.now(), game, inputs);
        self.notices.extend(self.file.record(play, game));
        Some(advanced)
    }

    /// Begins again, with another seed unless the config has one.
    pub(super) fn rematch(&mut self) -> Result<(), Fault> {
        let Self { config, name, file, .. } = self;
        let clock = self.clock;
        *self = Self { clock, ..Self::new(config.clone(), name, file.folder.take())? };
        Ok(())
    }

    pub(super) fn leave(&mut self) {
        self.has_left |= !self.play.as_ref().is_some_and(Offline::ended);
    }

    pub(super) fn set_winner(&mut self, winner: Winner) {
        self.file.winner = winner;
    }

    pub(super) fn recording(&self) -> Option<&PathBuf> {
        self.file.path.as_ref()
    }
}

impl File {
    fn begin(&mut self, header: Header) -> Option<String> {
        let folder = self.folder.as_ref()?;
        match StreamRecorder::create_in(folder, header) {
            Ok((path, recorder)) => {
                (self.path, self.recorder) = (Some(path), Some(recorder));
                None
            }
            Err(error) => Some(format!("The match cannot be recorded to {}: {error}", folder.display())),
        }
    }

    /// Records the frame that was stepped, and its checksum where one is due; returns why no more is recorded, once.
    fn record<G: Game<Snapshot = State>>(&mut self, play: &Offline<State>, game: &G) -> Option<String> {
        let recorder = self.recorder.as_mut()?;
        let mut trouble = None;
        for (frame, inputs) in play.confirmed() {
            trouble = trouble.or(recorder.record(frame, inputs).err().map(|error| error.to_string()));
        }
        if recorder.is_checksum_due() && play.failure().is_none() {
            let mut state = game.snapshot();
            if game.save(&mut state).is_ok() {
                recorder.checksum(play.current(), checksum(&state));
            }
        }
        let trouble = trouble.or_else(|| recorder.take_error().map(|error| error.to_string()))?;
        self.recorder = None;
        Some(format!("The recording ends early: {trouble}"))
    }

    /// Ends the recording; returns the trouble with that.
    fn finish(&mut self, has_left: bool) -> Option<String> {
        let recorder = self.recorder.take()?;
        let outcome = if has_left { Outcome::Disconnected(Reason::LeftHere) } else { Outcome::Local };
        let ended = recorder.finish(End { outcome, winner: self.winner }).and_then(FileAppender::finish);
        ended.err().map(|error| format!("The recording ends early: {error}"))
    }
}
