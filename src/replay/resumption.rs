//! The log of a match that continues after one of its machines was restarted.

use super::{Header, Recording, Replay, StreamRecorder};
use crate::session::{ResumeAt, USER_DATA_LEN, hash_of_frames as hash};
use crate::{Config, Fields, FirstState, Frame, Game, Input, Inputs, Lobby, LobbyError, Session};
use core::fmt;
use core::time::Duration;

const MAGIC: [u8; 4] = *b"RJN2";

/// The most inputs that one machine can have beyond the frame at which the match continues: window and delay.
const MAX_AHEAD: usize = Config::MAX_WINDOW_AND_DELAY as usize;

/// The frames of inputs that a session knows again.
const PAST_FRAMES: u32 = 128;

/// The front of the user data of a machine that comes back: a number of frames, and their hash. The name follows.
const CLAIM_LEN: usize = 12;

/// The facts that a machine that comes back has about its match.
#[derive(Clone, Copy, Debug)]
pub struct Remembered<'a> {
    /// The [token](crate::Agreed::token) of the match.
    pub token: u64,
    /// Its seed.
    pub seed: u32,
    /// The most frames that there can have been.
    pub most_frames: u32,
    /// The recording of this machine, if there is one. Only frames that it lacks are sent.
    pub own: Option<&'a Recording>,
}

impl Remembered<'_> {
    /// The frames of the own recording that the other machine has for certain, unless it lies.
    fn frames(&self) -> u32 {
        self.own.map_or(0, |own| own.frames().saturating_sub(MAX_AHEAD as u32))
    }

    fn hash(&self, frames: u32) -> u64 {
        self.own.map_or(0, |own| hash(self.token, own.inputs().take(frames as usize)))
    }
}

/// A match up to the frame at which it continues after one of its machines was restarted: its log, and the checksum of that frame.
///
/// The machine that has waited hosts a lobby beside its session, with [`host_config`](Self::host_config); the one that comes back
/// joins it with [`join_config`](Self::join_config), which says how much of the match it has recorded itself. The host [accepts](Lobby::accept_with)
/// with the [log](Self::log_for) of the rest as the first state. When both have agreed, the one calls [`Session::rejoin`], and the other one steps its game through the log and calls [`resume`](Self::resume). Both then stand at
/// one frame, and a countdown runs. [`Online`](crate::Online) does all of it.
#[derive(Debug)]
pub struct Resumption {
    recording: Recording,
    frame: Frame,
    /// The checksum of the frame's state on the machine that sent the log, if it had the state.
    checksum: Option<u32>,
    /// The inputs of the receiver's own player beyond the frame that the sender has.
    own: Vec<Input>,
    /// Whether this machine had no recording to compare the log with.
    is_unconfirmed: bool,
}

/// Why a match cannot continue.
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
        /// The frame at which the match was to continue.
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
    /// The config of the lobby in which a machine that has waited lets the other one back in. It asks about its guest, who gets the
    /// [log](Self::log_for).
    #[must_use]
    pub fn host_config<S: Fields>(session: &Session<S>, config: &Config) -> Config {
        let agreed = session.agreed();
        let mut host = config.to_rejoin(agreed.token);
        host.lobby.ask_before_accepting = true;
        (host.lobby.seed, host.lobby.seat) = (Some(agreed.seed), agreed.seat);
        host.cadence_frames = agreed.cadence_frames;
        host
    }

    /// The log for the guest with this [user data](crate::Incoming::user_data): the frames that it lacks, if those that it claims to have
    /// are those of this machine, and all otherwise. `game` is as the last `advance` of `session` left it, and `replay` has the certain
    /// frames of the match. `None` if it has others, or if the log has more than 4 MiB.
    pub fn log_for<G: Game>(
        user_data: &[u8],
        session: &Session<G::Snapshot>,
        game: &G,
        config: &Config,
        replay: &Replay,
    ) -> Option<FirstState> {
        if replay.inputs.len() as u64 != u64::from(session.settled().0) {
            return None;
        }
        let (from, prefix) = match read_claim(user_data) {
            Some((frames, claimed)) if frames <= session.settled().0 => {
                let ours = hash(session.agreed().token, replay.inputs.iter().copied().take(frames as usize));
                if frames > 0 && ours == claimed { (frames, ours) } else { (0, 0) }
            }
            _ => (0, 0),
        };
        let mut bytes = MAGIC.to_vec();
        bytes.extend(session.settled().0.to_be_bytes());
        let checksum = session.settled_checksum(game);
        bytes.push(u8::from(checksum.is_some()));
        bytes.extend(checksum.unwrap_or(0).to_be_bytes());
        bytes.extend(from.to_be_bytes());
        bytes.extend(prefix.to_be_bytes());
        let ahead = session.others_ahead();
        bytes.push(ahead.len().min(MAX_AHEAD) as u8);
        ahead.iter().take(MAX_AHEAD).for_each(|input| bytes.extend(input.bits().to_be_bytes()));
        let mut header = Header::of_match(config, session.agreed());
        if from > 0 {
            // It is in the recording of the guest.
            header.first_state = FirstState::default();
        }
        let rest = replay.inputs.iter().skip(from as usize).copied();
        let bytes = write(&header, rest, bytes)?;
        (bytes.len() <= Config::MAX_FIRST_STATE as usize).then(|| bytes.into())
    }

    /// The config of the lobby in which a machine comes back to its match. Machines of other matches do not fit. The name in the user
    /// data is cut to 52 bytes.
    #[must_use]
    pub fn join_config(config: &Config, of: &Remembered<'_>) -> Config {
        let mut join = config.to_rejoin(of.token);
        let frames = of.frames();
        let mut user_data = frames.to_be_bytes().to_vec();
        user_data.extend(of.hash(frames).to_be_bytes());
        let name = &config.lobby.user_data;
        user_data.extend(&name[..name.len().min(USER_DATA_LEN - CLAIM_LEN)]);
        join.lobby.user_data = user_data;
        join
    }

    /// Reads the log of a match, puts what it lacks in front of it, and compares it with the own recording.
    ///
    /// # Errors
    /// If the log is damaged, is of another match, has more frames than there can have been, or contradicts the own recording.
    pub fn read(bytes: &[u8], config: &Config, of: &Remembered<'_>) -> Result<Self, ResumptionError> {
        let damaged = ResumptionError::Log { why: "it is damaged" };
        let (head, file) = read_head(bytes).ok_or(damaged.clone())?;
        let Ok(rest) = Recording::open(file.to_vec()) else { return Err(damaged) };
        let (header, game) = (rest.header(), &config.game);
        let is_other = (header.game_id, header.content_hash, header.seed)
            != (game.id, game.content_hash, of.seed)
            || (header.axes, header.pads) != (game.axes, game.pads);
        if is_other {
            return Err(ResumptionError::Log { why: "it is of another match" });
        }
        if head.from.checked_add(rest.frames()) != Some(head.frame.0) {
            return Err(ResumptionError::Log { why: "frames are missing" });
        }
        let (frames, most) = (head.frame.0, of.most_frames);
        if frames > most {
            return Err(ResumptionError::TooLong { frames, most });
        }
        let recording = match (head.from, of.own) {
            (0, _) => rest,
            (from, Some(own)) if from <= own.frames() && of.hash(from) == head.prefix => {
                let inputs = own.inputs().take(from as usize).chain(rest.inputs());
                let whole = write(own.header(), inputs, Vec::new());
                whole.and_then(|bytes| Recording::open(bytes).ok()).ok_or(damaged)?
            }
            _ => {
                return Err(ResumptionError::Log { why: "it does not follow this machine's recording" });
            }
        };
        if let Some(own) = of.own {
            check(&recording, own)?;
        }
        let Head { frame, checksum, own, .. } = head;
        Ok(Self { recording, frame, checksum, own, is_unconfirmed: of.own.is_none() })
    }

    /// The frame at which the match continues.
    #[must_use]
    pub fn frame(&self) -> Frame {
        self.frame
    }

    /// The match so far.
    #[must_use]
    pub fn recording(&self) -> &Recording {
        &self.recording
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
        let (frame, own, is_unconfirmed) = (self.frame, &*self.own, self.is_unconfirmed);
        let at = ResumeAt { frame, past: &past, own, first_state, is_unconfirmed };
        Ok(lobby.resume(now, game, at))
    }
}

/// Compares a log with this machine's own recording, as far as both go.
fn check(log: &Recording, own: &Recording) -> Result<(), ResumptionError> {
    if own.header().seed != log.header().seed {
        return Err(ResumptionError::Log { why: "its seed is not that of this machine's recording" });
    }
    let mut pairs = (0..).map(Frame).zip(log.inputs().zip(own.inputs()));
    match pairs.find(|(_, (log, own))| log != own) {
        Some((frame, _)) => Err(ResumptionError::Contradiction { frame }),
        None => Ok(()),
    }
}

/// Writes a file without an end behind `bytes`.
fn write(header: &Header, inputs: impl Iterator<Item = Inputs>, bytes: Vec<u8>) -> Option<Vec<u8>> {
    let mut recorder = StreamRecorder::new(header, bytes).ok()?;
    for (frame, inputs) in (0..).map(Frame).zip(inputs) {
        recorder.record(frame, inputs).ok()?;
    }
    recorder.leave_open().ok()
}

/// The frames that a guest claims to have, and their hash.
fn read_claim(user_data: &[u8]) -> Option<(u32, u64)> {
    let (frames, rest) = user_data.split_first_chunk()?;
    Some((u32::from_be_bytes(*frames), u64::from_be_bytes(*rest.first_chunk()?)))
}

/// The head of a log.
struct Head {
    frame: Frame,
    checksum: Option<u32>,
    /// The first frame of the file, and the hash of those before it.
    from: u32,
    prefix: u64,
    own: Vec<Input>,
}

/// Reads the head; the rest is a file of RPLK version 2.
fn read_head(bytes: &[u8]) -> Option<(Head, &[u8])> {
    let (magic, rest) = bytes.split_first_chunk::<4>()?;
    let (frame, rest) = rest.split_first_chunk::<4>()?;
    let (&has_checksum, rest) = rest.split_first()?;
    let (checksum, rest) = rest.split_first_chunk::<4>()?;
    let (from, rest) = rest.split_first_chunk::<4>()?;
    let (prefix, rest) = rest.split_first_chunk::<8>()?;
    let (&ahead, rest) = rest.split_first()?;
    let (own, file) = rest.split_at_checked(usize::from(ahead) * 8)?;
    if *magic != MAGIC || has_checksum > 1 || usize::from(ahead) > MAX_AHEAD {
        return None;
    }
    let input = |bytes: &[u8; 8]| Input::from_wire(&u64::from_be_bytes(*bytes).to_le_bytes());
    let head = Head {
        frame: Frame(u32::from_be_bytes(*frame)),
        checksum: (has_checksum == 1).then(|| u32::from_be_bytes(*checksum)),
        from: u32::from_be_bytes(*from),
        prefix: u64::from_be_bytes(*prefix),
        own: own.as_chunks::<8>().0.iter().map(input).collect(),
    };
    Some((head, file))
}
