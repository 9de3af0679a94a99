//! Looks into replay files, checks, converts and cuts them. `docs/REPLAY.md` describes the format.
//!
//! ```text
//! replay info FILE                     what the file tells of the match, and whether it is whole
//! replay verify FILE                   plays the match, and compares the recorded checksums
//! replay convert FROM TO [--to 1|2]    writes the match in the other version
//! replay cut FILE FROM TO OUT          keeps the frames before TO, and shows them from FROM on
//! replay export FILE                   everything in the file as JSON lines
//! replay tail FILE                     plays a match that is still being recorded, and compares its checksums
//! replay record OUT                    records a match of the duel's bots while it runs
//! ```

mod export;

use clap::{Parser, Subcommand, ValueEnum};
use games::duel::bot::Level;
use games::duel::script::Fight;
use games::duel::{Duel, Phase, identity};
use games::playground::Playground;
use rebout::net::append::FileAppender;
use rebout::replay::{
    End, Header, MAX_FRAMES, MatchEvent, Outcome, Recording, StreamRecorder, Tail, VerifyError, Viewer,
    Viewing, Winner, utc,
};
use rebout::{Frame, FrameRate, Player, checksum, shown};
use std::fmt::{Display, Write as _};
use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The longest file that is read: more than any match has.
const MAX_FILE: u64 = 1 << 28;

/// Looks into replay files, checks, converts and cuts them.
#[derive(Parser)]
#[command(name = "replay", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Print the facts about the match, and whether the file is complete
    Info { file: PathBuf },
    /// Play the match and compare the recorded checksums; exit code 1 names the first frame that differs
    Verify {
        file: PathBuf,
        /// The game, if the file does not name it
        #[arg(long)]
        game: Option<GameName>,
    },
    /// Write the match in another version
    Convert {
        from: PathBuf,
        to: PathBuf,
        /// The version to write: 1 has buttons only, without names and checksums
        #[arg(long = "to", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=2))]
        version: u8,
        /// Leave out the names of the players and the time
        #[arg(long)]
        anonymous: bool,
    },
    /// Keep the frames before TO, and show the match from frame FROM on
    Cut { file: PathBuf, from: u32, to: u32, out: PathBuf },
    /// Print everything in the file as JSON lines
    Export {
        file: PathBuf,
        /// The most frames to print; a longer match is refused, because each frame takes about 100 bytes
        #[arg(long, default_value_t = 216_000)]
        max_frames: u32,
    },
    /// Follow a match of the duel that is still being recorded, and compare its checksums as they come
    Tail {
        file: PathBuf,
        /// Give up after this many seconds without a new frame
        #[arg(long, default_value_t = 30)]
        patience: u64,
    },
    /// Record a match of the duel's bots while it runs
    Record {
        out: PathBuf,
        /// The number of frames
        #[arg(long, default_value_t = 3_600, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_FRAMES)))]
        frames: u32,
        /// The seed of all randomness, not 0
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
        seed: u32,
        /// Frames a second to play at; the file says 60
        #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
        rate: u32,
        /// Print the number of each frame once it is recorded
        #[arg(long)]
        progress: bool,
    },
}

#[derive(Clone, Copy, ValueEnum)]
enum GameName {
    Duel,
    Playground,
}

/// Why the program ends without success.
enum Failure {
    /// A bad argument or a bad file.
    Refused(String),
    /// The match is not what the file says, or was not recorded to its end.
    Failed(String),
    /// Nobody takes the output.
    Output(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

fn refused(path: &Path, reason: &dyn Display) -> Failure {
    Failure::Refused(format!("{}: {reason}", path.display()))
}

fn main() -> ExitCode {
    let mut out = BufWriter::new(io::stdout().lock());
    let result = run(signals::arguments::<Cli>().command, &mut out);
    let (code, reason) = match result.and_then(|()| Ok(out.flush()?)) {
        Ok(()) => return ExitCode::SUCCESS,
        // Whoever reads this has seen enough: `replay export FILE | head -1`.
        Err(Failure::Output(error)) if error.kind() == ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
        Err(Failure::Output(error)) => (2, format!("cannot write the output: {error}")),
        Err(Failure::Refused(reason)) => (2, reason),
        Err(Failure::Failed(reason)) => (1, reason),
    };
    let _ = out.flush();
    let _ = writeln!(io::stderr(), "replay: {}", shown(&reason));
    ExitCode::from(code)
}

fn run(command: Command, out: &mut impl Write) -> Result<(), Failure> {
    match command {
        Command::Info { file } => info(&open(&file)?, out),
        Command::Verify { file, game } => verify(&file, game, out),
        Command::Convert { from, to, version, anonymous } => convert(&from, &to, version, anonymous, out),
        Command::Cut { file, from, to, out: target } => cut(&file, Frame(from)..Frame(to), &target, out),
        Command::Export { file, max_frames } => export::export(&file, max_frames, out),
        Command::Tail { file, patience } => tail(&file, Duration::from_secs(patience), out),
        Command::Record { out: target, frames, seed, rate, progress } => {
            record(&target, frames, seed, rate, progress, out)
        }
    }
}

fn open(path: &Path) -> Result<Recording, Failure> {
    let refused = |reason: &dyn Display| refused(path, reason);
    let file = File::open(path).map_err(|error| refused(&error))?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(|error| refused(&error))?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(refused(&format!("longer than {MAX_FILE} bytes")));
    }
    Recording::open(bytes).map_err(|error| refused(&error))
}

fn save(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    fs::write(path, bytes).map_err(|error| refused(path, &format!("cannot be written: {error}")))
}

fn info(recording: &Recording, out: &mut impl Write) -> Result<(), Failure> {
    let header = recording.header();
    let told = |number: u64, text: String| if number == 0 { "not told".to_owned() } else { text };
    let seconds = header.frame_rate.unwrap_or_default().time_of(recording.frames()).as_secs();
    writeln!(out, "version       {}", recording.version())?;
    writeln!(out, "file          {}", recording.tail())?;
    writeln!(out, "game          {}", told(header.game_id, format!("{:#x}", header.game_id)))?;
    writeln!(out, "content       {}", told(header.content_hash, format!("{:#018x}", header.content_hash)))?;
    writeln!(out, "seed          {}", header.seed)?;
    writeln!(
        out,
        "recorded      {}",
        told(header.recorded_at_secs, format!("{} UTC", utc(header.recorded_at_secs)))
    )?;
    writeln!(out, "frames        {} ({}:{:02})", recording.frames(), seconds / 60, seconds % 60)?;
    writeln!(out, "shown from    {}", header.start_frame)?;
    let rate = header.frame_rate.map_or_else(|| "not told".to_owned(), |rate| rate.to_string());
    writeln!(out, "frame rate    {rate}")?;
    writeln!(out, "axes          {}\npads          {}", header.axes, header.pads)?;
    writeln!(out, "first state   {} bytes", header.first_state.len())?;
    for player in Player::BOTH {
        let name = match &*header.names[player.index()] {
            "" => "no name",
            name => &shown(name),
        };
        let delay = match header.delay_frames[player.index()] {
            Some(delay) => format!("input delay {delay}"),
            None => "input delay not told".to_owned(),
        };
        writeln!(out, "{player}    {name}, {delay}")?;
    }
    writeln!(out, "checksums     {}", recording.checksums().count())?;
    for (frame, event) in recording.events() {
        writeln!(out, "frame {frame}: {}", describe(event))?;
    }
    match recording.end() {
        Some(end) => writeln!(out, "end           {}", describe_end(end))?,
        None => writeln!(out, "end           not told")?,
    }
    Ok(())
}

fn describe(event: MatchEvent) -> String {
    match event {
        MatchEvent::Delay { player, delay_frames } => {
            format!("{player} plays with {delay_frames} frames of delay")
        }
        MatchEvent::Interrupted => "interrupted".to_owned(),
        MatchEvent::Resumed => "resumed".to_owned(),
        MatchEvent::Mended { from } => format!("mended from frame {from}"),
        MatchEvent::Desync { ours, theirs } => format!("desync, {ours:08X} here and {theirs:08X} there"),
        MatchEvent::Mark(mark) => format!("mark {mark}"),
        other => format!("{other:?}"),
    }
}

fn describe_end(end: End) -> String {
    let winner = match end.winner {
        Winner::Player(player) => format!("{player} won"),
        Winner::Draw => "a draw".to_owned(),
        Winner::Undecided => "undecided".to_owned(),
    };
    let outcome = match end.outcome {
        Outcome::Agreed { checksum } => format!("agreed, {checksum:08X}"),
        Outcome::Differs { ours, theirs } => format!("differs, {ours:08X} here and {theirs:08X} there"),
        Outcome::Unconfirmed { checksum } => format!("unconfirmed, {checksum:08X} here"),
        Outcome::Disconnected(reason) => reason.to_string(),
        Outcome::Local => "at one machine".to_owned(),
        other => format!("{other:?}"),
    };
    format!("{winner}; {outcome}")
}

/// Follows a file that is being written, and prints how far it is once a second.
fn tail(path: &Path, patience: Duration, out: &mut impl Write) -> Result<(), Failure> {
    let recording = open(path)?;
    if recording.header().game_id != identity::GAME_ID {
        return Err(refused(path, &"only a match of the duel can be followed"));
    }
    let mut file = File::open(path).map_err(|error| refused(path, &error))?;
    file.seek_relative(recording.len() as i64).map_err(|error| refused(path, &error))?;
    let mut viewer = Viewer::new(Duel::new(recording.header().seed), recording);
    let (began, mut bytes) = (Instant::now(), Vec::new());
    let (mut told, mut grown) = (None, Duration::ZERO);
    loop {
        let now = began.elapsed();
        bytes.clear();
        (&mut file).take(MAX_FILE).read_to_end(&mut bytes).map_err(|error| refused(path, &error))?;
        if let Tail::Damaged { offset } = viewer.append(&bytes) {
            return Err(Failure::Failed(format!("{}: damaged at byte {offset}", path.display())));
        }
        viewer.advance(now, 20_000, |_, _, _| {});
        let compared = viewer.verified().map_err(|error| Failure::Failed(error.to_string()))?;
        if !bytes.is_empty() || now.is_zero() {
            grown = now;
        }
        let state = (viewer.newest(), viewer.state());
        if told != Some(state) {
            told = Some(state);
            let (newest, state) = state;
            writeln!(out, "frame {} of {newest}, {state:?}, {compared} checksums", viewer.frame())?;
            out.flush()?;
        }
        if let (Viewing::Ended, Some(end)) = (viewer.state(), viewer.end()) {
            return Ok(writeln!(out, "end           {}", describe_end(end))?);
        }
        if now - grown > patience {
            return Err(Failure::Failed(format!("{}: no new frame for {patience:?}", path.display())));
        }
        std::thread::sleep(Duration::from_millis(16));
    }
}

fn verify(path: &Path, game: Option<GameName>, out: &mut impl Write) -> Result<(), Failure> {
    let recording = open(path)?;
    let header = recording.header();
    let game = match (game, header.game_id) {
        (Some(game), _) => game,
        (None, identity::GAME_ID) => GameName::Duel,
        (None, 0) => {
            return Err(refused(path, &"the file does not tell its game: --game duel or playground"));
        }
        (None, id) => return Err(refused(path, &format!("game {id:#x} is not known here"))),
    };
    let verified = match game {
        GameName::Duel => recording.verify(&mut Duel::new(header.seed)),
        GameName::Playground => {
            let game = Playground::new(header.seed);
            recording.verify(&mut game.ok_or_else(|| refused(path, &"seed 0 is no seed"))?)
        }
    };
    match verified {
        Ok(compared) => {
            let tail = if recording.tail() == Tail::Whole {
                String::new()
            } else {
                format!("; {}", recording.tail())
            };
            Ok(writeln!(out, "verified: {compared} checksums in {} frames{tail}", recording.frames())?)
        }
        Err(error) => {
            Err(Failure::Failed(format!("{}: {}", path.display(), difference(&recording, game, &error))))
        }
    }
}

/// What differs, since when at the latest, and the likely reason.
fn difference(recording: &Recording, game: GameName, error: &VerifyError) -> String {
    let VerifyError::Checksum { frame, .. } = *error else { return error.to_string() };
    let mut text = error.to_string();
    match recording.checksums().map(|(frame, _)| frame).take_while(|alike| *alike < frame).last() {
        Some(alike) => _ = write!(text, "; frame {alike} was alike"),
        None => text.push_str("; no frame was alike"),
    }
    let content = recording.header().content_hash >> 32;
    if matches!(game, GameName::Duel) && content != 0 && content != u64::from(identity::rules_hash()) {
        text.push_str("; it was recorded under other rules");
    }
    text
}

fn convert(
    from: &Path,
    to: &Path,
    version: u8,
    anonymous: bool,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let recording = open(from)?;
    let mut header = recording.header().clone();
    if anonymous {
        header.names = [String::new(), String::new()];
        header.recorded_at_secs = 0;
    }
    let mut bytes = Vec::new();
    let written = match version {
        1 => recording.write_version_1(&mut bytes),
        _ => recording.write_version_2(&header, Frame(u32::MAX), &mut bytes).map(|_| ()),
    };
    written.map_err(|error| refused(from, &error))?;
    save(to, &bytes)?;
    Ok(writeln!(out, "{} frames in {} bytes of version {version}", recording.frames(), bytes.len())?)
}

fn cut(
    path: &Path,
    frames: std::ops::Range<Frame>,
    target: &Path,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let recording = open(path)?;
    let (from, to, all) = (frames.start, frames.end, recording.frames());
    if from >= to || to.0 > all {
        return Err(refused(path, &format!("frames {from} to {to} are not a part of its {all} frames")));
    }
    let header = Header { start_frame: from, ..recording.header().clone() };
    let bytes = recording.write_version_2(&header, to, Vec::new()).map_err(|error| refused(path, &error))?;
    save(target, &bytes)?;
    // The states of the part follow from the frames before it.
    Ok(writeln!(out, "frames 0 to {to}, shown from {from}, in {} bytes", bytes.len())?)
}

/// Plays a match of two bots at `rate` frames a second, and records it. A disk that fails is told, and the match goes
/// on.
fn record(
    path: &Path,
    frames: u32,
    seed: u32,
    rate: u32,
    progress: bool,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let header = Header {
        game_id: identity::GAME_ID,
        content_hash: identity::content_hash(None),
        recorded_at_secs: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
        frame_rate: Some(FrameRate::hz(60)),
        names: ["Bot one".to_owned(), "Bot two".to_owned()],
        ..Header::new(seed)
    };
    let appender = File::create(path).and_then(FileAppender::new).map_err(|error| refused(path, &error))?;
    let mut recorder = StreamRecorder::new(&header, appender).map_err(|error| refused(path, &error))?;
    let mut fight = Fight::new(seed, Level::Easy);
    let (start, mut unrecorded, mut round) = (Instant::now(), None, 0);
    writeln!(out, "begin")?;
    out.flush()?;
    for frame in 0..frames {
        if recorder.is_checksum_due() {
            recorder.checksum(Frame(frame), checksum(&fight.duel));
        }
        if std::mem::replace(&mut round, fight.duel.round) != fight.duel.round {
            recorder.event(MatchEvent::Mark(fight.duel.round.into()));
        }
        let inputs = fight.step();
        recorder.record(Frame(frame), inputs).map_err(|error| refused(path, &error))?;
        if let Some(error) = recorder.take_error() {
            unrecorded = Some(format!("the recording ended before frame {frame}: {error}"));
        }
        if progress {
            writeln!(out, "{frame}")?;
            out.flush()?;
        }
        let due = Duration::from_nanos(1_000_000_000 / u64::from(rate)) * (frame + 1);
        if let Some(rest) = due.checked_sub(start.elapsed()) {
            std::thread::sleep(rest);
        }
    }
    writeln!(out, "end")?;
    out.flush()?;
    let winner = match fight.duel.phase {
        Phase::Done { winner: Some(player) } | Phase::MatchOver { winner: Some(player) } => {
            Winner::Player(player)
        }
        Phase::Done { winner: None } | Phase::MatchOver { winner: None } => Winner::Draw,
        _ => Winner::Undecided,
    };
    let finished = recorder.finish(End { outcome: Outcome::Local, winner }).and_then(FileAppender::finish);
    writeln!(out, "played {frames} frames, checksum {:08X}", checksum(&fight.duel))?;
    match (unrecorded, finished) {
        (Some(reason), _) => Err(Failure::Failed(format!("{}: {reason}", path.display()))),
        (None, Err(error)) => Err(Failure::Failed(format!("{}: {error}", path.display()))),
        (None, Ok(())) => Ok(()),
    }
}
