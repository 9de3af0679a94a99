//! Watching a match of others, and a recorded one.

use std::time::{Duration, Instant};

use rebout::replay::{Playback, Recording, Viewer, Viewing};
use rebout::{Frame, Save, Watch, checksum};
use stage::Key;

use super::show::{Screen, Show};
use super::{Ending, Terms};
use crate::machine::Machine;

const FRAME: Duration = Duration::from_millis(8);
/// Frames that are loaded in each turn.
const LOADED_AT_ONCE: u32 = 120;
/// Frames that an arrow key jumps over.
const JUMP: u32 = 120;

/// Watches a match until it is over, or the viewer leaves.
///
/// # Errors
/// If there is nothing to see, as a sentence.
pub fn watch(
    screen: &Screen,
    mut watch: Watch,
    mut machine: Machine,
    terms: &Terms,
) -> Result<Ending, String> {
    let mut show = Show::new(screen, &machine, false);
    let mut told = String::new();
    let recording = loop {
        watch.wait(FRAME).map_err(|error| error.to_string())?;
        if let Ok(recording) = Recording::open(watch.spectator().bytes().to_vec()) {
            break recording;
        }
        if watch.spectator().state().is_over() || show.take_input().closed {
            return Err(watch.spectator().state().to_string());
        }
        if watch.progress() != told {
            told = watch.progress();
            show.tell(&told);
        }
        show.refresh();
    };
    terms.begin(&mut machine, &recording.header().first_state)?;
    let (mut taken, number) = (recording.len(), watch.spectator().match_number());
    let mut viewer = Viewer::new(machine, recording);
    loop {
        let now = watch.wait(FRAME).map_err(|error| error.to_string())?;
        if watch.spectator().match_number() != number {
            show.tell("the host was restarted: watch again with the same invite");
            break;
        }
        let bytes = watch.spectator().bytes();
        viewer.append(bytes.get(taken..).unwrap_or_default());
        taken = bytes.len();
        let input = show.take_input();
        if input.closed || input.presses.contains(&Key::Escape) {
            break;
        }
        let moved = viewer.advance(now, LOADED_AT_ONCE, |_, machine, _| show.frame(machine));
        if moved == 0 {
            show.refresh();
        }
        let is_over = watch.spectator().state().is_over() && viewer.behind_frames() == 0;
        if (is_over || viewer.state() == Viewing::Ended) && !show.is_seen() || viewer.verified().is_err() {
            break;
        }
    }
    let (verified, frame) = (viewer.verified(), viewer.frame());
    let sum = checksum(&viewer.game().snapshot());
    let _ = watch.close();
    Ok(ending(frame, sum, verified.map_err(|error| error.to_string())))
}

/// Shows a recorded match; without a view it is verified at once.
///
/// # Errors
/// If it is a match of another core, ROM or options, as a sentence.
pub fn replay(
    screen: &Screen,
    recording: Recording,
    mut machine: Machine,
    terms: &Terms,
) -> Result<Ending, String> {
    terms.begin(&mut machine, &recording.header().first_state)?;
    let mut show = Show::new(screen, &machine, false);
    let mut playback = Playback::new(machine, recording);
    let start = Instant::now();
    playback.play(start.elapsed());
    if !show.is_seen() {
        playback.load(u32::MAX, |_, _| {});
        let last = playback.loaded();
        playback.seek(last);
    }
    while show.is_seen() {
        let input = show.take_input();
        if input.closed || input.presses.contains(&Key::Escape) {
            break;
        }
        playback.load(LOADED_AT_ONCE, |_, _| {});
        for key in &input.presses {
            let frame = playback.frame().0;
            match key {
                Key::Char(' ') if playback.is_playing() => playback.pause(),
                Key::Char(' ') => playback.play(start.elapsed()),
                Key::Left => drop(playback.seek(Frame(frame.saturating_sub(JUMP)))),
                Key::Right => drop(playback.seek(Frame(frame + JUMP))),
                _ => {}
            }
        }
        let moved = playback.advance(start.elapsed(), |_, machine, _| show.frame(machine));
        if moved == 0 {
            show.say(vec![format!("frame {} of {}", playback.frame(), playback.recording().frames())]);
            show.frame(playback.game());
        }
        std::thread::sleep(FRAME);
    }
    let sum = checksum(&playback.game().snapshot());
    Ok(ending(playback.frame(), sum, playback.verified().map_err(|error| error.to_string())))
}

fn ending(frame: Frame, sum: u32, verified: Result<u32, String>) -> Ending {
    let mut lines = vec![format!("frame {frame}, checksum {sum:08X}")];
    let code = u8::from(verified.is_err());
    lines.push(match verified {
        Ok(compared) => format!("{compared} checksums are those of the players"),
        Err(error) => format!("not as it was played: {error}"),
    });
    Ending { lines, code }
}
