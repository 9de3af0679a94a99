//! Lines that are not longer than they may be.

use stage::characters;

/// The lines of `text`, at most `room` cells long each. Words stay whole, unless one alone is longer than a line.
pub fn wrap(text: &str, room: usize) -> Vec<String> {
    if characters::width(text) <= room {
        // As it is: a list of keys has wide gaps on purpose.
        return vec![text.to_owned()];
    }
    characters::wrapped(text, room)
}
