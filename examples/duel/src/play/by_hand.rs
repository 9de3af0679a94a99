//! A meeting by hand, as the players see it: a text to send, and for the host one to paste.

use rebout::Answer;
use stage::{Key, Stroke, characters};

/// The beginning of every answer. Characters that do not follow it are keys, not a text.
const BEGINNING: &str = "rebout-answer:1:";
/// More characters than any answer has.
const MAX_CHARACTERS: usize = 1_000;

/// The answer of the other player on its way into the program: pasted at once, or character by character by a terminal
/// that types what is pasted.
#[derive(Debug, Default)]
pub struct Pasting {
    typed: String,
}

impl Pasting {
    /// Whether an answer has begun, so that characters and Esc belong to it.
    pub fn is_open(&self) -> bool {
        !self.typed.is_empty()
    }

    /// Gives up what was typed.
    pub fn clear(&mut self) {
        self.typed.clear();
    }

    /// Takes what was typed and pasted; answers a text that may be the whole answer.
    pub fn take(&mut self, strokes: &[Stroke]) -> Option<String> {
        let mut whole = None;
        for stroke in strokes {
            match stroke {
                Stroke::Paste(text) => {
                    self.typed.clear();
                    whole = Some(characters::copied(text));
                }
                Stroke::Character(character) => whole = self.character(*character).or(whole),
                // A text that was torn apart has an end of line in its middle: what was typed stays.
                Stroke::Key(Key::Enter) if self.is_open() => whole = Some(self.typed.clone()),
                Stroke::Key(Key::Backspace) => drop(self.typed.pop()),
                Stroke::Key(_) | Stroke::Command(_) => {}
            }
        }
        whole
    }

    fn character(&mut self, character: char) -> Option<String> {
        self.typed.push_str(&characters::copied(character.encode_utf8(&mut [0; 4])));
        let typed = self.typed.to_ascii_lowercase();
        if !(BEGINNING.starts_with(&typed) || typed.starts_with(BEGINNING)) || typed.len() > MAX_CHARACTERS {
            self.typed.clear();
        }
        // The end of an answer is its checksum: no other character makes it one.
        self.typed.parse::<Answer>().is_ok().then(|| std::mem::take(&mut self.typed))
    }
}

/// The lines of the page of a host who waits for the answer to an offer.
pub(super) fn offer_panel(offer: &str) -> Vec<(String, String)> {
    lines([
        "1. Send this to the other player, and to nobody else:",
        offer,
        "2. They paste it into \"Join a match\", and send you an answer.",
        "3. Paste the answer here.",
    ])
}

/// The lines of the page of a joiner who waits for the host to paste the answer.
pub(super) fn answer_panel(answer: &str) -> Vec<(String, String)> {
    lines(["Send this to the host to paste, and keep this page open:", answer])
}

fn lines<const N: usize>(texts: [&str; N]) -> Vec<(String, String)> {
    texts.map(|text| (String::new(), text.to_owned())).into()
}
