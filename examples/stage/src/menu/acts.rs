//! Acts on a menu, made of keys, characters, gamepads and the mouse.

use super::{Edit, Grid, Layout, Menu};
use crate::gestures::{Stroke, Touch, TouchAct};
use crate::{InputState, Key};

/// One act of a player on a menu.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    Up,
    Down,
    Left,
    Right,
    Confirm,
    Back,
    Type(char),
    Paste(String),
    Edit(Edit),
    /// The mouse is over an item.
    Point {
        item: usize,
    },
    /// An item was clicked, at this share of its value from the left.
    Click {
        item: usize,
        share: f32,
    },
}

/// The acts that the input makes on the menu of `place`, one after the other: each meets the menu that the one before
/// it has left. `apply` acts, and answers what follows; its first answer ends the round.
pub fn drive<P, T>(
    input: &InputState,
    place: &mut P,
    menu: impl Fn(&P) -> Option<&Menu>,
    mut apply: impl FnMut(&mut P, &Act) -> Option<T>,
) -> Option<T> {
    for stroke in &input.strokes {
        let act = menu(place).and_then(|menu| of_stroke(stroke, menu.takes_text()));
        if let Some(done) = act.and_then(|act| apply(place, &act)) {
            return Some(done);
        }
    }
    let pads = input.pads.iter().flat_map(|pad| &pad.presses);
    for key in pads.filter_map(|button| button.menu_key()) {
        let act = of_stroke(&Stroke::Key(key), false);
        if let Some(done) = act.and_then(|act| apply(place, &act)) {
            return Some(done);
        }
    }
    for touch in &input.touches {
        let act = menu(place).and_then(|menu| of_touch(touch, menu));
        if let Some(done) = act.and_then(|act| apply(place, &act)) {
            return Some(done);
        }
    }
    None
}

fn of_stroke(stroke: &Stroke, takes_text: bool) -> Option<Act> {
    Some(match stroke {
        Stroke::Key(Key::Up) => Act::Up,
        Stroke::Key(Key::Down | Key::Tab) => Act::Down,
        Stroke::Key(Key::Left) => Act::Left,
        Stroke::Key(Key::Right) => Act::Right,
        Stroke::Key(Key::Enter) => Act::Confirm,
        Stroke::Key(Key::Escape) => Act::Back,
        Stroke::Key(key) if takes_text => Act::Edit(edit_of_key(*key)?),
        Stroke::Key(_) => return None,
        Stroke::Paste(text) => Act::Paste(text.clone()),
        Stroke::Command(command) if takes_text => Act::Edit(edit_of_command(*command)?),
        Stroke::Command(_) => return None,
        Stroke::Character(character) if takes_text => Act::Type(*character),
        Stroke::Character(character) => match character.to_ascii_lowercase() {
            'w' => Act::Up,
            's' => Act::Down,
            'a' => Act::Left,
            'd' => Act::Right,
            ' ' => Act::Confirm,
            _ => return None,
        },
    })
}

fn edit_of_key(key: Key) -> Option<Edit> {
    Some(match key {
        Key::Home => Edit::Start,
        Key::End => Edit::End,
        Key::Backspace => Edit::Erase,
        Key::Delete => Edit::Delete,
        _ => return None,
    })
}

fn edit_of_command(command: char) -> Option<Edit> {
    Some(match command {
        'a' => Edit::SelectAll,
        'e' => Edit::End,
        'w' => Edit::EraseWord,
        'u' => Edit::EraseToStart,
        'k' => Edit::DeleteToEnd,
        _ => return None,
    })
}

fn of_touch(touch: &Touch, menu: &Menu) -> Option<Act> {
    let grid = Grid::of(touch.surface);
    match touch.act {
        TouchAct::WheelUp => return Some(Act::Up),
        TouchAct::WheelDown => return Some(Act::Down),
        TouchAct::Move | TouchAct::Press => {}
    }
    let (item, share) = Layout::of(menu, grid).item_at(grid.cell(touch.place))?;
    Some(if touch.act == TouchAct::Press { Act::Click { item, share } } else { Act::Point { item } })
}
