//! Receives a match by its watch invite, verifies it while it runs, and writes its replay: a tournament's recorder, without a screen.
//!
//! ```text
//! spectate INVITE [INVITE...] --to FILE [--serve PORT]
//! ```
//!
//! Every byte in the file was signed by the player's machine. A match of the duel is also simulated, and its states are compared with the
//! recorded checksums. Further invites are asked, in turn, if a broadcast fails. `docs/SPECTATORS.md` describes the whole.

use clap::Parser;
use games::duel::{Duel, identity};
use rebout::replay::{Outcome, Recording, Viewer};
use rebout::{BroadcastConfig, ConnectOptions, Spectator, Watch, Watching, shown};
use std::fmt::Display;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Receives a match by its watch invite, verifies it while it runs, and writes its replay.
#[derive(Parser)]
#[command(name = "spectate", version, max_term_width = 100)]
struct Cli {
    /// The watch invite, and others for the same match that are tried if it fails
    #[arg(required = true, value_name = "INVITE")]
    invites: Vec<String>,
    /// The replay file to write, which must not exist
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
    /// Serve other spectators at this UDP port, and print their invite; 0 lets the system choose
    #[arg(long, value_name = "PORT")]
    serve: Option<u16>,
    /// The maximum number of spectators to serve
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=256))]
    spectators: u16,
    /// The address to bind to instead of all interfaces
    #[arg(long, value_name = "ADDRESS")]
    bind: Option<std::net::IpAddr>,
}

/// Prints a line. Whoever closes the output has read enough: the match is recorded to its end anyway.
fn say(line: &dyn Display) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// The match so far: in the file, and simulated if this program knows the game.
struct Received {
    file: File,
    written: usize,
    /// The number of the match at its source.
    number: u32,
    viewer: Option<Viewer<Duel>>,
    /// A recording of another game is checked for its form alone.
    other: Option<Recording>,
}

impl Received {
    /// Takes in the signed bytes so far.
    fn take(&mut self, spectator: &Spectator) -> io::Result<()> {
        let (bytes, number) = (spectator.bytes(), spectator.match_number());
        if self.written > 0 && number != self.number {
            // The host came back into its match, and has written the log anew.
            say(&"receiving the match from its beginning: the host was restarted");
            self.file.set_len(0)?;
            self.file.rewind()?;
            (self.written, self.viewer, self.other) = (0, None, None);
        }
        self.number = number;
        let new = bytes.get(self.written..).unwrap_or_default();
        if new.is_empty() {
            return Ok(());
        }
        self.file.write_all(new)?;
        self.file.flush()?;
        match (&mut self.viewer, &mut self.other) {
            (Some(viewer), _) => _ = viewer.append(new),
            (None, Some(recording)) => _ = recording.append(new),
            (None, None) => {
                let recording = Recording::open(bytes.to_vec()).map_err(io::Error::other)?;
                let header = recording.header();
                let names = header.names.each_ref().map(|name| shown(name));
                say(&format_args!("receiving: {} against {}", names[0], names[1]));
                if header.game_id == identity::GAME_ID {
                    self.viewer = Some(Viewer::new(Duel::new(header.seed), recording));
                } else {
                    say(&format_args!(
                        "game {:#x} is not known here: signatures are checked, states are not",
                        header.game_id
                    ));
                    self.other = Some(recording);
                }
            }
        }
        self.written = bytes.len();
        Ok(())
    }

    /// Whether the end of the match is among the bytes so far.
    fn has_end(&self) -> bool {
        let recording = self.viewer.as_ref().map(Viewer::recording).or(self.other.as_ref());
        recording.is_some_and(|recording| recording.end().is_some())
    }

    /// The result, once the match is whole. The error names the first checksum that differs.
    fn result(&mut self, now: Duration) -> Result<String, String> {
        let Some(viewer) = &mut self.viewer else {
            let frames = self.other.as_ref().map_or(0, Recording::frames);
            return Ok(format!("{frames} frames, signed"));
        };
        while viewer.behind_frames() > 0 {
            let before = viewer.frame();
            viewer.go_live();
            viewer.advance(now + Duration::from_secs(1), u32::MAX, |_, _, _| {});
            if viewer.frame() == before {
                viewer.seek(viewer.newest());
                break;
            }
        }
        let compared = viewer.verified().map_err(|error| error.to_string())?;
        let end = match viewer.end().map(|end| end.outcome) {
            Some(Outcome::Agreed { checksum }) => format!("agreed, {checksum:08X}"),
            Some(outcome) => format!("{outcome:?}"),
            None => "without a verdict".to_owned(),
        };
        Ok(format!("{} frames, {compared} checksums verified, {end}", viewer.newest()))
    }
}

fn main() -> ExitCode {
    match run(&signals::arguments()) {
        Ok(line) => {
            say(&line);
            ExitCode::SUCCESS
        }
        Err((code, why)) => {
            let _ = writeln!(io::stderr(), "spectate: {}", shown(&why));
            ExitCode::from(code)
        }
    }
}

fn options(cli: &Cli) -> ConnectOptions {
    match cli.bind {
        Some(ip) => ConnectOptions::new().bind((ip, 0).into()),
        None => ConnectOptions::new(),
    }
}

fn run(cli: &Cli) -> Result<String, (u8, String)> {
    let bad = |error: &dyn Display| (2, error.to_string());
    let failed = |error: io::Error| (1, error.to_string());
    let mut watch = Watch::join(&options(cli), &cli.invites[0]).map_err(|error| bad(&error))?;
    if let Some(port) = cli.serve {
        let config = BroadcastConfig { max_spectators: cli.spectators, ..BroadcastConfig::default() };
        let own = options(cli).port(port);
        watch.serve(&own, config).map_err(|error| bad(&error))?;
        say(&format_args!("invite for others: {}", watch.share().unwrap_or_default()));
    }
    let file = OpenOptions::new().write(true).create_new(true).open(&cli.to);
    let file = file.map_err(|error| bad(&format!("{}: {error}", cli.to.display())))?;
    let mut received = Received { file, written: 0, number: 0, viewer: None, other: None };
    let (mut next, mut told) = (1, String::new());
    loop {
        let now = watch.wait(Duration::from_millis(50)).map_err(failed)?;
        received.take(watch.spectator()).map_err(failed)?;
        if let Some(viewer) = &mut received.viewer {
            // Bounded, so that the connection stays alive on a slow machine.
            viewer.advance(now, 20_000, |_, _, _| {});
            viewer.verified().map_err(|error| (1, error.to_string()))?;
        }
        let state = watch.spectator().state();
        let progress = watch.progress();
        if progress != told {
            say(&shown(&progress));
            told = progress;
        }
        let serves = watch.served().is_some_and(|stats| stats.spectators > 0);
        // The broadcast may end between two looks at its state: the match is whole then, although the state does not say so.
        let is_whole = state == Watching::Complete || state.is_over() && received.has_end();
        if is_whole && !serves {
            let line = received.result(now).map_err(|why| (1, why))?;
            watch.close().map_err(failed)?;
            return Ok(line);
        }
        let is_silent = state == Watching::Silent && next < cli.invites.len();
        if state.is_over() && !is_whole || is_silent {
            let Some(invite) = cli.invites.get(next) else { return Err((1, state.to_string())) };
            say(&format_args!("asking another broadcast: {state}"));
            watch.ask_another(&options(cli), invite).map_err(|error| bad(&error))?;
            next += 1;
        }
    }
}
