//! The file of the settings: a line `name = value` for each, which people can read and change.

use core::fmt;

use rebout::Config;
use rebout::rollback::MAX_WINDOW;

use stage::quoted;
use stage::sound::MAX_PERCENT;

use super::{BotLink, Keyset, LEVELS, Settings};
use crate::art::figure::OUTFITS;
use crate::cli;
use crate::keys::Bindings;
use crate::pad_keys::PadBindings;
use crate::training::{FIGHTERS, Guard, Stance, Throws, WakeUp};

/// Why a file of settings cannot be used: the line, from 1, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsError {
    pub line: usize,
    pub reason: String,
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

impl std::error::Error for SettingsError {}

/// One setting in the file.
struct Entry {
    name: &'static str,
    get: fn(&Settings) -> String,
    set: fn(&mut Settings, &str) -> Result<(), String>,
}

const fn entry(
    name: &'static str,
    get: fn(&Settings) -> String,
    set: fn(&mut Settings, &str) -> Result<(), String>,
) -> Entry {
    Entry { name, get, set }
}

const ENTRIES: [Entry; 27] = [
    entry("name", |it| it.name.clone(), set_name),
    entry("keys.alone", |it| keys(it, Keyset::Alone), |it, value| set_keys(it, Keyset::Alone, value)),
    entry("keys.left", |it| keys(it, Keyset::Left), |it, value| set_keys(it, Keyset::Left, value)),
    entry("keys.right", |it| keys(it, Keyset::Right), |it, value| set_keys(it, Keyset::Right, value)),
    entry("pad.one", |it| it.pads[0].to_string(), |it, value| set_pad(it, 0, value)),
    entry("pad.two", |it| it.pads[1].to_string(), |it, value| set_pad(it, 1, value)),
    entry(
        "sound.effects",
        |it| it.levels.effects_percent.to_string(),
        |it, value| {
            it.levels.effects_percent = number(value, MAX_PERCENT.into())? as u8;
            Ok(())
        },
    ),
    entry(
        "sound.music",
        |it| it.levels.music_percent.to_string(),
        |it, value| {
            it.levels.music_percent = number(value, MAX_PERCENT.into())? as u8;
            Ok(())
        },
    ),
    entry(
        "sound.mute",
        |it| named(&SWITCH, it.levels.muted),
        |it, value| set(&mut it.levels.muted, &SWITCH, value),
    ),
    entry("colour.one", |it| outfit(it, 0), |it, value| set_outfit(it, 0, value)),
    entry("colour.two", |it| outfit(it, 1), |it, value| set_outfit(it, 1, value)),
    entry("link.delay", delay, set_delay),
    entry("link.window", |it| it.window_frames.to_string(), set_window),
    entry("link.port", |it| it.port.to_string(), set_port),
    entry("link.rendezvous", |it| it.rendezvous.clone(), Settings::set_rendezvous),
    entry(
        "terminal.told-releases",
        |it| named(&SWITCH, it.told_releases),
        |it, value| set(&mut it.told_releases, &SWITCH, value),
    ),
    entry("bot.level", |it| named(&LEVELS, it.level), |it, value| set(&mut it.level, &LEVELS, value)),
    entry(
        "bot.link",
        |it| named(&BotLink::ALL, it.link),
        |it, value| set(&mut it.link, &BotLink::ALL, value),
    ),
    entry(
        "training.fighter",
        |it| named(&FIGHTERS, it.drill.fighters[0]),
        |it, value| set(&mut it.drill.fighters[0], &FIGHTERS, value),
    ),
    entry(
        "training.dummy",
        |it| named(&FIGHTERS, it.drill.fighters[1]),
        |it, value| set(&mut it.drill.fighters[1], &FIGHTERS, value),
    ),
    entry(
        "training.stance",
        |it| named(&Stance::ALL, it.drill.stance),
        |it, value| set(&mut it.drill.stance, &Stance::ALL, value),
    ),
    entry(
        "training.guard",
        |it| named(&Guard::ALL, it.drill.guard),
        |it, value| set(&mut it.drill.guard, &Guard::ALL, value),
    ),
    entry(
        "training.throws",
        |it| named(&Throws::ALL, it.drill.throws),
        |it, value| set(&mut it.drill.throws, &Throws::ALL, value),
    ),
    entry(
        "training.wake-up",
        |it| named(&WakeUp::ALL, it.drill.wake_up),
        |it, value| set(&mut it.drill.wake_up, &WakeUp::ALL, value),
    ),
    entry(
        "training.boxes",
        |it| named(&SWITCH, it.drill.boxes),
        |it, value| set(&mut it.drill.boxes, &SWITCH, value),
    ),
    entry(
        "training.frames",
        |it| named(&SWITCH, it.drill.frames),
        |it, value| set(&mut it.drill.frames, &SWITCH, value),
    ),
    entry(
        "training.inputs",
        |it| named(&SWITCH, it.drill.inputs),
        |it, value| set(&mut it.drill.inputs, &SWITCH, value),
    ),
];

const SWITCH: [(bool, &str); 2] = [(false, "off"), (true, "on")];

fn named<T: Copy + PartialEq>(all: &[(T, &str)], value: T) -> String {
    all.iter().find(|(known, _)| *known == value).map_or_else(String::new, |(_, name)| (*name).to_owned())
}

fn set<T: Copy>(place: &mut T, all: &[(T, &str)], value: &str) -> Result<(), String> {
    let Some((found, _)) = all.iter().find(|(_, name)| *name == value) else {
        let names: Vec<&str> = all.iter().map(|(_, name)| *name).collect();
        return Err(format!("{} is none of {}", quoted(value), names.join(", ")));
    };
    *place = *found;
    Ok(())
}

fn set_name(settings: &mut Settings, value: &str) -> Result<(), String> {
    settings.name = if value.is_empty() { String::new() } else { cli::name(value)? };
    Ok(())
}

/// The longest name of a machine.
const MAX_RENDEZVOUS: usize = 255;

fn keys(settings: &Settings, keyset: Keyset) -> String {
    settings.keys(keyset).to_string()
}

fn set_keys(settings: &mut Settings, keyset: Keyset, value: &str) -> Result<(), String> {
    settings.keys[keyset as usize] =
        value.parse::<Bindings>().map_err(|error| format!("{}: {error}", quoted(value)))?;
    Ok(())
}

fn set_pad(settings: &mut Settings, player: usize, value: &str) -> Result<(), String> {
    settings.pads[player] =
        value.parse::<PadBindings>().map_err(|error| format!("{}: {error}", quoted(value)))?;
    Ok(())
}

fn outfit(settings: &Settings, seat: usize) -> String {
    OUTFITS[settings.outfits[seat]].name.to_owned()
}

fn set_outfit(settings: &mut Settings, seat: usize, value: &str) -> Result<(), String> {
    let all: Vec<(usize, &str)> = OUTFITS.iter().map(|outfit| outfit.name).enumerate().collect();
    set(&mut settings.outfits[seat], &all, value)
}

fn delay(settings: &Settings) -> String {
    settings.delay_frames.map_or_else(|| "auto".to_owned(), |frames| frames.to_string())
}

fn set_delay(settings: &mut Settings, value: &str) -> Result<(), String> {
    settings.delay_frames = if value == "auto" {
        None
    } else {
        Some(number(value, Config::MAX_DELAY_FRAMES.into()).map_err(|error| format!("{error}, or auto"))?
            as u8)
    };
    fits(settings)
}

fn set_window(settings: &mut Settings, value: &str) -> Result<(), String> {
    settings.window_frames = number(value, MAX_WINDOW)? as u8;
    fits(settings)
}

/// The protocol bounds both together.
fn fits(settings: &Settings) -> Result<(), String> {
    let (window, delay) = (settings.window_frames, settings.delay_frames.unwrap_or(0));
    if window + delay > Config::MAX_WINDOW_AND_DELAY {
        return Err(format!(
            "a window of {window} and a delay of {delay} are more than {} frames together",
            Config::MAX_WINDOW_AND_DELAY
        ));
    }
    Ok(())
}

fn set_port(settings: &mut Settings, value: &str) -> Result<(), String> {
    settings.port = number(value, u16::MAX.into())? as u16;
    Ok(())
}

fn number(value: &str, max: u32) -> Result<u32, String> {
    let parsed = value.parse::<u32>().ok().filter(|number| *number <= max);
    parsed.ok_or_else(|| format!("{} is no number from 0 to {max}", quoted(value)))
}

impl Settings {
    /// Sets the rendezvous, or says what it has to be.
    pub(crate) fn set_rendezvous(&mut self, value: &str) -> Result<(), String> {
        let plain = |character: char| character.is_ascii_graphic();
        if value.len() > MAX_RENDEZVOUS || !value.chars().all(plain) {
            return Err("a rendezvous is an address or a name, with a port if it is not 3479".to_owned());
        }
        value.clone_into(&mut self.rendezvous);
        Ok(())
    }

    /// Reads the lines of a file; lines that are missing leave the usual values.
    ///
    /// # Errors
    /// The first line that cannot be used.
    pub fn read(text: &str) -> Result<Self, SettingsError> {
        let mut settings = Self::default();
        let mut seen: Vec<&str> = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line_text = line.trim();
            if line_text.is_empty() || line_text.starts_with('#') {
                continue;
            }
            let fail = |reason: String| SettingsError { line: index + 1, reason };
            let Some((name, value)) =
                line_text.split_once('=').map(|(name, value)| (name.trim(), value.trim()))
            else {
                return Err(fail(format!("{} is not 'name = value'", quoted(line_text))));
            };
            let Some(entry) = ENTRIES.iter().find(|entry| entry.name == name) else {
                return Err(fail(format!("no setting is called {}", quoted(name))));
            };
            if seen.contains(&entry.name) {
                return Err(fail(format!("{name} is set twice")));
            }
            seen.push(entry.name);
            (entry.set)(&mut settings, value).map_err(|reason| fail(format!("{name}: {reason}")))?;
        }
        Ok(settings)
    }

    /// The lines of the file.
    pub fn write(&self) -> String {
        let mut text =
            "# Settings of the duel. The menu changes them; a line that is missing has its usual value.\n"
                .to_owned();
        for entry in &ENTRIES {
            text.push_str(&format!("{} = {}\n", entry.name, (entry.get)(self)));
        }
        text
    }
}
