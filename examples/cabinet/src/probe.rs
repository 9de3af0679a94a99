//! Tries a core in a process of its own, so that one that crashes or hangs takes nothing with it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::ffi::{CoreError, Stage};
use crate::scratch::Scratch;
use crate::setup::Setup;

/// A core that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(20);
/// The word before the sentence of a core that cannot be used.
const ERROR: &str = "error ";

/// Tries a core as the child process of [`probe`], and tells each part on the standard output.
pub fn child(setup: &Setup) -> bool {
    let mut out = std::io::stdout();
    let mut tell = |line: &str| {
        // Without a parent there is nobody to tell.
        let _ = writeln!(out, "{line}").and_then(|()| out.flush());
    };
    match setup.try_out(&mut |stage| tell(stage.word())) {
        Ok(()) => true,
        Err(sentence) => {
            tell(&format!("{ERROR}{}", sentence.replace('\n', "\t")));
            false
        }
    }
}

/// Tries a core in a child process: `program` is this program, and `arguments` lead it to [`child`].
///
/// # Errors
/// A sentence about a core that cannot be used.
pub fn probe(mut program: Command, patience: Option<Duration>) -> Result<(), String> {
    // The temporary files of a child that crashes or is killed are deleted here.
    let folder = Scratch::new()?;
    // The names of Unix and of Windows.
    program.env("TMPDIR", folder.path()).env("TMP", folder.path());
    let spawned = program.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut child = spawned.map_err(|error| format!("the core cannot be tried: {error}"))?;
    let lines = lines_of(&mut child);
    let (mut stage, end) = (Stage::Open, Instant::now() + patience.unwrap_or(PATIENCE));
    loop {
        match lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(line) => match line.strip_prefix(ERROR) {
                Some(sentence) => {
                    let _ = child.wait();
                    return Err(sentence.replace('\t', "\n"));
                }
                None => stage = Stage::ALL.into_iter().find(|stage| stage.word() == line).unwrap_or(stage),
            },
            Err(RecvTimeoutError::Timeout) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(CoreError::Probe { stage, how: "hung".to_owned() }.to_string());
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let status = child.wait().map_err(|error| format!("the core cannot be tried: {error}"))?;
    if status.success() && stage == Stage::Ready {
        return Ok(());
    }
    Err(CoreError::Probe { stage, how: how(status) }.to_string())
}

fn lines_of(child: &mut Child) -> Receiver<String> {
    let (lines, received) = channel();
    if let Some(out) = child.stdout.take() {
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                if lines.send(line).is_err() {
                    break;
                }
            }
        });
    }
    received
}

/// How a process ended, as the verb of a sentence.
fn how(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("crashed (signal {signal})");
    }
    match status.code() {
        Some(code) => format!("ended the program with code {code}"),
        None => "crashed".to_owned(),
    }
}
