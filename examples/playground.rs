//! The smallest complete game on the engine: a simulation, played directly, with late inputs, and sync-tested.
//!
//! `games/src/playground` has the game itself (its state, `fields!` and `step`) and scripted players. This file
//! runs it:
//!
//! ```text
//! playground golden                                the published checksum of 1000 scripted frames
//! playground play FILE --every N                   checksums of a replay, played directly
//! playground play FILE --every N --lag L           the same, where player two's inputs come L frames late
//! playground synctest FILE --depth D               goes back 1 to D frames in every frame of a replay
//! playground record OUT --seed S --frames N        writes a replay of two scripted players
//! ```

use games::playground::Playground;
use rebout::replay::{MAX_FRAMES, Replay, WriteError, play};
use rebout::rollback::{EngineConfig, InputError, Rollback};
use rebout::{Frame, Player, SyncTest, SyncTestError, checksum};
use std::ffi::OsString;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, ErrorKind, Write};
use std::ops::RangeInclusive;
use std::process::ExitCode;

const USAGE: &str = "usage: playground golden | play FILE --every N [--lag L] | synctest FILE --depth D \
                     | record OUT --seed S --frames N";

fn main() -> ExitCode {
    let mut out = BufWriter::new(io::stdout().lock());
    let result = run(&mut Args(std::env::args_os().skip(1).collect()), &mut out);
    let (code, reason) = match result.and_then(|()| Ok(out.flush()?)) {
        Ok(()) => return ExitCode::SUCCESS,
        // Whoever reads this has seen enough: `playground play FILE --every 1 | head -1`.
        Err(Failure::Output(error)) if error.kind() == ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
        Err(Failure::Output(error)) => (2, format!("cannot write the output: {error}")),
        Err(Failure::Refused(reason)) => (2, reason),
        Err(Failure::Test(reason)) => (1, reason),
    };
    // Not `eprintln!`, which would panic if nobody listens there either.
    let _ = writeln!(io::stderr(), "playground: {reason}");
    ExitCode::from(code)
}

fn run(args: &mut Args, out: &mut impl Write) -> Result<(), Failure> {
    match args.0.first().and_then(|first| first.to_str()) {
        Some("--help" | "-h" | "help") => return Ok(writeln!(out, "{USAGE}")?),
        Some("--version" | "-V") => return Ok(writeln!(out, "playground {}", env!("CARGO_PKG_VERSION"))?),
        _ => {}
    }
    match args.word("a command")?.to_str() {
        Some("golden") => {
            args.end()?;
            let replay = Replay {
                seed: 1,
                inputs: (0..1000).map(games::playground::script::golden).collect(),
                ..Replay::default()
            };
            let mut game = first_state(replay.seed)?;
            play(&replay, &mut game, |_, _| {});
            print(out, Frame(1000), &game)
        }
        Some("play") => {
            let (every, lag) = (args.required("--every", 1..=u32::MAX)?, args.option("--lag", 0..=u32::MAX)?);
            let replay = args.replay()?;
            match lag {
                None => play_directly(&replay, every, &mut |frame, state| print(out, frame, state)),
                Some(lag) => play_late(&replay, every, lag, &mut |frame, state| print(out, frame, state)),
            }
        }
        Some("synctest") => {
            let depth = args.required("--depth", 1..=SyncTest::<Playground>::MAX_DEPTH)?;
            let replay = args.replay()?;
            let mut game = first_state(replay.seed)?;
            let mut test = SyncTest::new(&game, depth, replay.seed);
            replay.inputs.iter().try_for_each(|inputs| test.advance(&mut game, *inputs))?;
            let report = test.finish()?;
            Ok(writeln!(out, "passed: {} frames, {} resimulated", report.frames, report.resimulated_frames)?)
        }
        Some("record") => {
            let seed = args.required("--seed", 1..=u32::MAX)?;
            let frames = args.required("--frames", 0..=MAX_FRAMES)?;
            let path = args.word("a file")?;
            args.end()?;
            let inputs = games::playground::script::fight(seed, frames)
                .ok_or_else(|| refused("--seed 0 is no seed"))?;
            let write = || {
                let mut file = BufWriter::new(File::create(&path)?);
                Replay { seed, inputs, ..Replay::default() }.write(&mut file)?;
                Ok(file.flush()?)
            };
            write().map_err(|error: WriteError| refused(format!("{path:?}: {error}")))
        }
        other => Err(refused(format!("no such command: {:?}; {USAGE}", other.unwrap_or("(not text)")))),
    }
}

/// Shows a state of the match; the program prints its checksum.
type Show<'a> = &'a mut dyn FnMut(Frame, &Playground) -> Result<(), Failure>;

fn print(out: &mut impl Write, frame: Frame, state: &Playground) -> Result<(), Failure> {
    Ok(writeln!(out, "{frame} {:08X}", checksum(state))?)
}

fn first_state(seed: u32) -> Result<Playground, Failure> {
    Playground::new(seed).ok_or_else(|| refused("seed 0 is no seed"))
}

/// Whether the state of `frame` is to be shown.
fn shown(frame: Frame, every: u32, replay: &Replay) -> bool {
    frame.0.is_multiple_of(every) || frame.0 as usize == replay.inputs.len()
}

/// A replay, frame by frame: what the engine must come to as well, whatever is late.
fn play_directly(replay: &Replay, every: u32, show: Show<'_>) -> Result<(), Failure> {
    let mut result = Ok(());
    play(replay, &mut first_state(replay.seed)?, |frame, game| {
        if result.is_ok() && shown(frame, every, replay) {
            result = show(frame, game);
        }
    });
    result
}

/// A replay through the engine, where player two's input of frame f is here only before frame f + lag is stepped.
fn play_late(replay: &Replay, every: u32, lag: u32, show: Show<'_>) -> Result<(), Failure> {
    let mut game = first_state(replay.seed)?;
    let mut engine = Rollback::new(EngineConfig::default(), &game);
    if lag > engine.window() {
        return Err(refused(format!("--lag {lag} is more than the window of {} frames", engine.window())));
    }
    show(Frame::ZERO, &game)?;
    let frames = replay.inputs.len() as u32;
    for now in 0..frames + lag {
        if let Some(inputs) = replay.inputs.get(now as usize) {
            engine.confirm(Player::One, Frame(now), inputs[Player::One])?;
        }
        if let Some(late) = now.checked_sub(lag) {
            engine.confirm(Player::Two, Frame(late), replay.inputs[late as usize][Player::Two])?;
        }
        if now < frames {
            engine.advance(&mut game);
        } else {
            engine.mend(&mut game);
        }
        // Only what is certain is shown: the state after every frame that has just been settled.
        let settled = engine.newly_settled();
        for state in settled.start.next().until(settled.end.next()) {
            if shown(state, every, replay) {
                show(state, engine.snapshot(state).unwrap_or(&game))?;
            }
        }
    }
    let stats = engine.stats();
    let _ = writeln!(
        io::stderr(),
        "{} rollbacks, {} resimulated frames",
        stats.rollbacks,
        stats.resimulated_frames
    );
    Ok(())
}

/// Why the program ends without success.
enum Failure {
    /// A bad argument or a bad file.
    Refused(String),
    /// The game does not pass the sync test.
    Test(String),
    /// Nobody takes the output.
    Output(io::Error),
}

fn refused(reason: impl Into<String>) -> Failure {
    Failure::Refused(reason.into())
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Self {
        refused(error.to_string())
    }
}

impl From<SyncTestError> for Failure {
    fn from(error: SyncTestError) -> Self {
        Self::Test(error.to_string())
    }
}

/// The rest of the command line. Paths need not be text, so neither are the words.
struct Args(Vec<OsString>);

impl Args {
    /// The next word that is not an option; `what` it should be, in case it is missing.
    fn word(&mut self, what: &str) -> Result<OsString, Failure> {
        match self.0.first() {
            Some(word) if !word.as_encoded_bytes().starts_with(b"--") => Ok(self.0.remove(0)),
            Some(option) => Err(refused(format!("{option:?} came where {what} was expected; {USAGE}"))),
            None => Err(refused(format!("{what} is missing; {USAGE}"))),
        }
    }

    /// Takes out `name` and the number after it.
    fn option(&mut self, name: &str, allowed: RangeInclusive<u32>) -> Result<Option<u32>, Failure> {
        let Some(at) = self.0.iter().position(|word| word == name) else { return Ok(None) };
        self.0.remove(at);
        if at == self.0.len() {
            return Err(refused(format!("{name} needs a number")));
        }
        let value = self.0.remove(at);
        match value.to_str().and_then(|text| text.parse().ok()) {
            Some(number) if allowed.contains(&number) => Ok(Some(number)),
            _ => {
                let (least, most) = (allowed.start(), allowed.end());
                Err(refused(format!("{name} {value:?} is not a number from {least} to {most}")))
            }
        }
    }

    fn required(&mut self, name: &str, allowed: RangeInclusive<u32>) -> Result<u32, Failure> {
        self.option(name, allowed)?.ok_or_else(|| refused(format!("{name} is missing; {USAGE}")))
    }

    /// The replay in the file that is the last word.
    fn replay(&mut self) -> Result<Replay, Failure> {
        let path = self.word("a file")?;
        self.end()?;
        let shown = |reason: &dyn Display| refused(format!("{path:?}: {reason}"));
        let file = File::open(&path).map_err(|error| shown(&error))?;
        Replay::read(&mut BufReader::new(file)).map_err(|error| shown(&error))
    }

    /// Nothing more must be left.
    fn end(&self) -> Result<(), Failure> {
        match self.0.first() {
            Some(word) => Err(refused(format!("{word:?} is too much; {USAGE}"))),
            None => Ok(()),
        }
    }
}
