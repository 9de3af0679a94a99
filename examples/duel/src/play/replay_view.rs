//! Plays a recorded match: pause, step, seek, speed, marks, and taking over.

use std::time::Instant;

use rebout::replay::{Playback, Recording};
use rebout::{Frame, Player, checksum};

use super::show::{Show, leaves};
use super::take_over::take_over;
use super::{Ending, FRAME, FrameClock};
use crate::art::seek;
use crate::devices::Devices;
use crate::picture::{Panel, Tone};
use crate::view::Screen;
use crate::viewer::{Viewer, names, target};
use games::duel::Duel;
use stage::Key;

/// Prints the checksum of every `every`-th state, and of the last.
pub fn checksums(recording: Recording, every: u32) {
    let last = Frame(recording.frames());
    let mut playback = Playback::new(Duel::new(recording.header().seed), recording);
    playback.load(u32::MAX, |frame, duel| {
        if frame.0 % every == 0 || frame == last {
            super::print_line(&format!("frame {frame}: {:08X}", checksum(duel)));
        }
    });
}

fn help() -> Panel {
    let line = |keys: &str, what: &str| (keys.to_owned(), what.to_owned());
    Panel {
        title: "Replay".to_owned(),
        lines: vec![
            line("space", "pause and go on"),
            line(", and .", "a frame back, a frame on"),
            line("left, right", "two seconds back, two seconds on"),
            line("[ and ]", "to the mark before, to the next"),
            line("up, down", "faster, slower"),
            line("0", "back to the beginning"),
            line("mouse", "a click on the bar goes there"),
            line("1, 2", "take over the left fighter, the right one"),
            line("esc", "leave"),
        ],
        footer: "any key goes on; h shows this again".to_owned(),
    }
}

/// Shows the replay until the viewer leaves. Without a player it ends by itself after the last frame.
pub fn replay(
    screen: &Screen,
    recording: Recording,
    devices: &Devices,
    outfits: [usize; 2],
    at_once: bool,
) -> Ending {
    let names = names(&recording);
    let tail = recording.tail();
    let start = Instant::now();
    let mut viewer = Viewer::new(recording, start.elapsed());
    let mut show = Show::new(screen, viewer.playback.game(), names, false);
    show.set_outfits(outfits);
    if tail != rebout::replay::Tail::Whole {
        show.tell(format!("this recording {tail}"), Tone::Warning);
    }
    let mut panel = !at_once;
    let mut clock = FrameClock::start();
    loop {
        let input = show.take_input();
        if leaves(&input) || (at_once && viewer.frame() == viewer.frames()) {
            break;
        }
        if let Some(text) = viewer.load() {
            show.tell(text, Tone::Alarm);
        }
        for key in &input.presses {
            if panel || *key == Key::Char('h') {
                panel = !panel;
                continue;
            }
            if handle_keys(&mut viewer, &mut show, *key, (devices, start)) {
                return ending(&viewer);
            }
        }
        let clicked = input.touches.iter().rev().find_map(|touch| seek::share_of(touch, show.net_open));
        if let Some(share) = clicked.filter(|_| !panel) {
            let frame = (f64::from(viewer.frames()) * f64::from(share)).round();
            jump(&mut viewer, &mut show, frame as u32);
        }
        show.panel(panel.then(help));
        show.replay_view(Some(viewer.replay_view()));
        let now = start.elapsed();
        let moved = if panel {
            // The time of the panel is not made up for.
            viewer.playback.is_playing().then(|| viewer.playback.play(now));
            0
        } else {
            viewer.playback.advance(now, |_, duel, cues| show.frame(duel, cues))
        };
        if moved == 0 {
            if viewer.frame() == viewer.frames() && !at_once {
                show.say("the end of the replay: left goes back, esc leaves", Tone::Calm);
            }
            show.refresh();
        }
        clock.wait(FRAME);
    }
    ending(&viewer)
}

/// Acts on a key; `true` if the window was closed meanwhile.
fn handle_keys(
    viewer: &mut Viewer,
    show: &mut Show<'_>,
    key: Key,
    (devices, start): (&Devices, Instant),
) -> bool {
    match key {
        Key::Char(' ') => viewer.toggle(start.elapsed()),
        Key::Up => viewer.change_speed(true),
        Key::Down => viewer.change_speed(false),
        Key::Char(digit @ ('1' | '2')) => {
            let seat = Player::BOTH[usize::from(digit == '2')];
            viewer.playback.pause();
            match take_over(show, viewer.twin(), seat, devices) {
                Ok(true) => return true,
                Ok(false) => {
                    show.clear_message();
                    show.jump(viewer.playback.game());
                }
                Err(error) => show.say(error.to_string(), Tone::Warning),
            }
        }
        key => {
            if let Some(frame) = target(viewer, key) {
                if matches!(key, Key::Char('.' | ',')) {
                    viewer.playback.pause();
                }
                jump(viewer, show, frame);
            }
        }
    }
    false
}

fn jump(viewer: &mut Viewer, show: &mut Show<'_>, frame: u32) {
    viewer.playback.seek(Frame(frame));
    show.jump(viewer.playback.game());
    show.frame(viewer.playback.game(), &[]);
}

fn ending(viewer: &Viewer) -> Ending {
    let checksum = checksum(viewer.playback.game());
    Ending::of([format!("Frame {} of {}, checksum {checksum:08X}", viewer.frame(), viewer.frames())])
}
