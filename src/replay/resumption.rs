//! The log of a match that goes on after one of its machines was started anew.

use super::{Header, Recording, Replay, StreamRecorder};
use crate::session::ResumeAt;
use crate::{Config, FirstState, Frame, Game, Input, Inputs, Lobby, LobbyError, Session};
use core::fmt;
use core::time::Duration;

const MAGIC: [u8; 4] = *b"RJN1";

/// The most inputs that one machine can have beyond the frame at which the match goes on: window and delay.
const MAX_AHEAD: usize = Config::MAX_WINDOW_AND_DELAY as usize;

/// The frames of inputs that a session knows again.
const PAST_FRAMES: u32 = 128;

/// A match up to the frame at which it goes on after one of its machines was started anew: its log, and the checksum of that frame.
///
/// The machine that has waited hosts a lobby beside its session, with [`host_config`](Self::host_config); the one that comes back
/// joins it with [`join_config`](Self::join_config). The log travels as the first state of that lobby. When both have agreed, the one
/// calls [`Session::rejoin`], and the other one steps its game through the log and calls [`resume`](Self::resume). Both then stand at
/// one frame, and a countdown runs. [`Online`](crate::Online) does all of it.
#[derive(Debug)]
pub struct Resumption {
    recording: Recording,
    frame: Frame,
    /// The checksum of the frame's state on the machine that sent the log, if it had the state.
    checksum: Option<u32>,
    /// The inputs of the receiver's own player beyond the frame that the sender has.
    own: Vec<Input>,
}

/// Why a match cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResumptionError {
    /// The log is damaged, or is of another match.
    Log {
        /// The reason.
        why: &'static str,
    },
    /// The log has other inputs than this machine's own recording.
    Contradiction {
        /// The first frame that differs.
        frame: Frame,
    },
    /// The log has more frames than there can have been.
    TooLong {
        /// The frames of the log.
        frames: u32,
        /// The most that there can have been.
        most: u32,
    },
    /// The log leads to another state here than on the machine that sent it.
    Checksum {
        /// The frame at which the match was to go on.
        frame: Frame,
        /// The checksum here.
        ours: u32,
        /// The checksum there.
        theirs: u32,
    },
}

impl fmt::Display for ResumptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Log { why } => write!(f, "the log of the other machine cannot be used: {why}"),
            Self::Contradiction { frame } => write!(
                f,
                "the log of the other machine has other inputs in frame {frame} than the recording of this one"
            ),
            Self::TooLong { frames, most } => {
                write!(f, "the log of the other machine has {frames} frames, and there were {most} at most")
            }
            Self::Checksum { frame, ours, theirs } => write!(
                f,
                "the log leads to another state of frame {frame} here ({ours:08X}) than there ({theirs:08X})"
            ),
        }
    }
}

impl core::error::Error for ResumptionError {}

impl Resumption {
    /// The config of the lobby in which a machine that has waited hands the log over. `game` is as the last `advance` of `session` left
    /// it, and `replay` has the certain frames of the match. `None` if it has others, or if the log has more than 4 MiB.
    pub fn host_config<G: Game>(
        session: &Session<G::Snapshot>,
        game: &G,
        config: &Config,
        replay: &Replay,
    ) -> Option<Config> {
        let agreed = session.agreed();
        let mut host = config.to_rejoin(agreed.token);
        host.lobby.first_state = log(session, game, config, replay)?;
        (host.lobby.seed, host.lobby.seat) = (Some(agreed.seed), agreed.seat);
        host.cadence_frames = agreed.cadence_frames;
        Some(host)
    }

    /// The config of the lobby in which a machine comes back to the match with this [token](crate::Agreed::token). Machines of other
    /// matches do not fit.
    #[must_use]
    pub fn join_config(config: &Config, token: u64) -> Config {
        config.to_rejoin(token)
    }

    /// Reads the log of the match with this seed, of at most `most` frames.
    ///
    /// # Errors
    /// If the log is damaged, is of another match, or has more frames.
    pub fn read(bytes: &[u8], config: &Config, seed: u32, most: u32) -> Result<Self, ResumptionError> {
        let damaged = ResumptionError::Log { why: "it is damaged" };
        let (head, file) = read_head(bytes).ok_or(damaged.clone())?;
        let Ok(recording) = Recording::open(file.to_vec()) else { return Err(damaged) };
        let (header, game) = (recording.header(), &config.game);
        let is_other = (header.game_id, header.content_hash, header.seed)
            != (game.id, game.content_hash, seed)
            || (header.axes, header.pads) != (game.axes, game.pads);
        if is_other {
            return Err(ResumptionError::Log { why: "it is of another match" });
        }
        let frames = recording.frames();
        if frames != head.frame.0 {
            return Err(ResumptionError::Log { why: "frames are missing" });
        }
        if frames > most {
            return Err(ResumptionError::TooLong { frames, most });
        }
        Ok(Self { recording, frame: head.frame, checksum: head.checksum, own: head.own })
    }

    /// The frame at which the match goes on.
    #[must_use]
    pub fn frame(&self) -> Frame {
        self.frame
    }

    /// The match so far.
    #[must_use]
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// Compares the log with this machine's own recording, as far as both go.
    ///
    /// # Errors
    /// The first frame with other inputs, or another match.
    pub fn check_against(&self, own: &Recording) -> Result<(), ResumptionError> {
        if own.header().seed != self.recording.header().seed {
            return Err(ResumptionError::Log { why: "its seed is not that of this machine's recording" });
        }
        let mut pairs = (0..).map(Frame).zip(self.recording.inputs().zip(own.inputs()));
        match pairs.find(|(_, (log, own))| log != own) {
            Some((frame, _)) => Err(ResumptionError::Contradiction { frame }),
            None => Ok(()),
        }
    }

    /// Goes on with the match, in the lobby that was agreed on. `game` was stepped through the log.
    ///
    /// # Errors
    /// If its state is another one than on the machine that sent the log, with which nothing has changed then; in the inner result if the
    /// lobby has not agreed.
    pub fn resume<G: Game>(
        &self,
        now: Duration,
        lobby: Lobby,
        game: &G,
    ) -> Result<Result<Session<G::Snapshot>, LobbyError>, ResumptionError> {
        let ours = crate::checksum(&game.snapshot());
        if let Some(theirs) = self.checksum.filter(|theirs| *theirs != ours) {
            return Err(ResumptionError::Checksum { frame: self.frame, ours, theirs });
        }
        let from = Frame(self.frame.0.saturating_sub(PAST_FRAMES));
        let past: Vec<Inputs> = self.recording.inputs_from(from).collect();
        let first_state = self.recording.header().first_state.clone();
        let at = ResumeAt { frame: self.frame, past: &past, own: &self.own, first_state };
        Ok(lobby.resume(now, game, at))
    }
}

/// The log of a session as bytes; `None` if `replay` is not the match, or the log too long.
fn log<G: Game>(
    session: &Session<G::Snapshot>,
    game: &G,
    config: &Config,
    replay: &Replay,
) -> Option<FirstState> {
    if replay.inputs.len() as u64 != u64::from(session.settled().0) {
        return None;
    }
    let mut bytes = MAGIC.to_vec();
    bytes.extend(session.settled().0.to_be_bytes());
    let checksum = session.settled_checksum(game);
    bytes.push(u8::from(checksum.is_some()));
    bytes.extend(checksum.unwrap_or(0).to_be_bytes());
    let ahead = session.others_ahead();
    bytes.push(ahead.len().min(MAX_AHEAD) as u8);
    ahead.iter().take(MAX_AHEAD).for_each(|input| bytes.extend(input.bits().to_be_bytes()));
    let header = Header::of_match(config, session.agreed());
    let mut recorder = StreamRecorder::new(&header, bytes).ok()?;
    for (frame, inputs) in (0..).map(Frame).zip(&replay.inputs) {
        recorder.record(frame, *inputs).ok()?;
    }
    let bytes = recorder.leave_open().ok()?;
    (bytes.len() <= Config::MAX_FIRST_STATE as usize).then(|| bytes.into())
}

/// The head of a log.
struct Head {
    frame: Frame,
    checksum: Option<u32>,
    own: Vec<Input>,
}

/// Reads the head; the rest is a file of RPLK version 2.
fn read_head(bytes: &[u8]) -> Option<(Head, &[u8])> {
    let (magic, rest) = bytes.split_first_chunk::<4>()?;
    let (frame, rest) = rest.split_first_chunk::<4>()?;
    let (&has_checksum, rest) = rest.split_first()?;
    let (checksum, rest) = rest.split_first_chunk::<4>()?;
    let (&ahead, rest) = rest.split_first()?;
    let (own, file) = rest.split_at_checked(usize::from(ahead) * 8)?;
    if *magic != MAGIC || has_checksum > 1 || usize::from(ahead) > MAX_AHEAD {
        return None;
    }
    let input = |bytes: &[u8; 8]| Input::from_wire(&u64::from_be_bytes(*bytes).to_le_bytes());
    let head = Head {
        frame: Frame(u32::from_be_bytes(*frame)),
        checksum: (has_checksum == 1).then(|| u32::from_be_bytes(*checksum)),
        own: own.as_chunks::<8>().0.iter().map(input).collect(),
    };
    Some((head, file))
}
