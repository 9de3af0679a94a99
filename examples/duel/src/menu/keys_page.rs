//! The page of the keys: whose they are, the nine buttons, and the way back to the usual ones. Gamepads are on it too.

use stage::Key;
use stage::menu::{Item, Menu, Note, Value};
use stage::pads::PadButton;

use super::pages::Line;
use super::{App, Choice, Setting};
use crate::keys::Bindings;
use crate::pad_keys::PadBindings;
use crate::prompts::FOOTER;
use crate::settings::{Keyset, Settings};

/// A set of nine buttons that can be bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    Keys(Keyset),
    /// The gamepad of this player, from 0.
    Pad(usize),
}

impl Bound {
    pub(super) const ALL: [Self; 5] = [
        Self::Keys(Keyset::Alone),
        Self::Keys(Keyset::Left),
        Self::Keys(Keyset::Right),
        Self::Pad(0),
        Self::Pad(1),
    ];
    const NAMES: [&str; 5] = ["alone", "two: left", "two: right", "gamepad one", "gamepad two"];
}

pub(super) fn build(app: &App) -> (Menu, Vec<Line>) {
    let at = Bound::ALL.iter().position(|bound| *bound == app.player).unwrap_or(0);
    let mut lines =
        vec![(Choice::Turn(Setting::Keyset), Item::new("Player", Value::choice(&Bound::NAMES, at)))];
    let (names, waits): (Vec<String>, _) = match app.player {
        Bound::Keys(keyset) => {
            (app.settings.keys(keyset).keys().iter().map(ToString::to_string).collect(), "press a key")
        }
        Bound::Pad(player) => {
            (app.settings.pads[player].0.iter().map(ToString::to_string).collect(), "press a button")
        }
    };
    for (button, (name, bound)) in Bindings::NAMES.iter().zip(names).enumerate() {
        let shown = if app.binding == Some(button) { waits.to_owned() } else { bound };
        lines.push((Choice::Bind(button), Item::new(*name, Value::Shown(shown))));
    }
    lines.push((Choice::UsualKeys, Item::pick("The usual ones")));
    lines.push((Choice::Back, Item::pick("Back")));
    let footer =
        if app.binding.is_some() { format!("{waits}, esc keeps the old one") } else { FOOTER.to_owned() };
    let mut menu = Menu::new("Keys", Vec::new()).with_footer(footer);
    let [left, right] = [Keyset::Left, Keyset::Right].map(|keyset| app.settings.keys(keyset));
    if let Some(key) = left.shares_a_key_with(right) {
        menu.notes.push(Note::warning(format!("'{key}' is a key of both players at one keyboard.")));
    }
    (menu, lines)
}

pub(super) fn reset(app: &mut App) {
    match app.player {
        Bound::Keys(keyset) => app.settings.keys[keyset as usize] = Settings::usual_keys(keyset),
        Bound::Pad(player) => app.settings.pads[player] = PadBindings::USUAL,
    }
}

pub(super) fn bind(app: &mut App, button: usize, key: Key) {
    let Bound::Keys(keyset) = app.player else { return };
    match app.settings.keys[keyset as usize].bind(button, key) {
        Ok(()) => app.is_changed = true,
        Err(error) => app.warning = Some(format!("{error}.")),
    }
}

pub(super) fn bind_pad(app: &mut App, button: usize, pressed: PadButton) {
    let Bound::Pad(player) = app.player else { return };
    match app.settings.pads[player].bind(button, pressed) {
        Ok(()) => app.is_changed = true,
        Err(error) => app.warning = Some(format!("{error}.")),
    }
}
