//! What two machines tell each other in an autopsy: the payload of AUTOPSY messages. Big-endian, byte 0 is the kind.
//!
//! | kind | | after the kind |
//! |---|---|---|
//! | 1 | START | frame that differs u32, last frame that matched u32 (`FFFFFFFF`: none) |
//! | 2 | TRACE | 0 as it was lived or 1 as it came out again u8, more to come u8, first frame u32, checksums u32 each |
//! | 3 | SUBJECT | frame of the state u32, count of its leaves u32 |
//! | 4 | TABLE | levels u8, prefix u32, 256 sums u32 each |
//! | 5 | LEAVES | more to come u8, then leaves: length of the path u8, path, count of words u8, words, length of the text u8, text |
//!
//! Frames are those of the match. All lengths are exact, texts are UTF-8.

use super::leaves::{BUCKETS, MOST_TEXT, OwnedLeaf, Part, legible};
use crate::Frame;
use crate::wire::message::MAX_AUTOPSY;

/// How many checksums a TRACE carries.
const TRACE_VALUES: usize = 256;

const NONE: u32 = u32::MAX;

/// A message, decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Note {
    Start { frame: Frame, last_match: Option<Frame> },
    Trace { again: bool, more: bool, first: Frame, values: Vec<u32> },
    Subject { frame: Frame, leaves: u32 },
    Table { part: Part, sums: Box<[u32; BUCKETS]> },
    Leaves { more: bool, leaves: Vec<OwnedLeaf> },
}

/// Writes START.
pub(crate) fn start(frame: Frame, last_match: Option<Frame>) -> Vec<u8> {
    words(&[1], &[frame.0, last_match.map_or(NONE, |frame| frame.0)])
}

/// Writes as many TRACEs as it takes.
pub(crate) fn trace(again: bool, first: Frame, values: &[u32]) -> Vec<Vec<u8>> {
    let chunks = values.len().div_ceil(TRACE_VALUES).max(1);
    (0..chunks)
        .map(|at| {
            let from = (at * TRACE_VALUES).min(values.len());
            let chunk = &values[from..(from + TRACE_VALUES).min(values.len())];
            let more = u8::from(at + 1 < chunks);
            let mut bytes = words(&[2, u8::from(again), more], &[first.0.wrapping_add(from as u32)]);
            bytes.extend(chunk.iter().flat_map(|value| value.to_be_bytes()));
            bytes
        })
        .collect()
}

/// Writes SUBJECT.
pub(crate) fn subject(frame: Frame, leaves: u32) -> Vec<u8> {
    words(&[3], &[frame.0, leaves])
}

/// Writes TABLE.
pub(crate) fn table(part: Part, sums: &[u32; BUCKETS]) -> Vec<u8> {
    let mut bytes = words(&[4, part.levels], &[part.prefix]);
    bytes.extend(sums.iter().flat_map(|sum| sum.to_be_bytes()));
    bytes
}

/// Writes as many LEAVES as it takes.
pub(crate) fn leaves(all: &[OwnedLeaf]) -> Vec<Vec<u8>> {
    let mut messages = vec![vec![5, 1]];
    for leaf in all {
        let mut bytes = Vec::new();
        put_text(&mut bytes, &leaf.path);
        bytes.push(leaf.words.len().min(4) as u8);
        bytes.extend(leaf.words.iter().take(4).flat_map(|word| word.to_be_bytes()));
        put_text(&mut bytes, &leaf.shown);
        if messages.last().is_some_and(|last| last.len() + bytes.len() > MAX_AUTOPSY) {
            messages.push(vec![5, 1]);
        }
        if let Some(last) = messages.last_mut() {
            last.extend(bytes);
        }
    }
    if let Some(last) = messages.last_mut() {
        last[1] = 0;
    }
    messages
}

fn words(head: &[u8], words: &[u32]) -> Vec<u8> {
    let mut bytes = head.to_vec();
    bytes.extend(words.iter().flat_map(|word| word.to_be_bytes()));
    bytes
}

fn put_text(bytes: &mut Vec<u8>, text: &str) {
    let cut = text.floor_char_boundary(MOST_TEXT);
    bytes.push(cut as u8);
    bytes.extend(&text.as_bytes()[..cut]);
}

/// Reads a message; `None` if it is not exactly one.
pub(crate) fn decode(payload: &[u8]) -> Option<Note> {
    let (kind, rest) = payload.split_first()?;
    let mut rest = Rest(rest);
    let note = match kind {
        1 => Note::Start {
            frame: Frame(rest.word()?),
            last_match: Some(rest.word()?).filter(|frame| *frame != NONE).map(Frame),
        },
        2 => {
            let (again, more, first) = (rest.flag()?, rest.flag()?, Frame(rest.word()?));
            let (values, tail) = rest.0.as_chunks::<4>();
            if !tail.is_empty() || values.len() > TRACE_VALUES {
                return None;
            }
            rest = Rest(&[]);
            Note::Trace {
                again,
                more,
                first,
                values: values.iter().map(|v| u32::from_be_bytes(*v)).collect(),
            }
        }
        3 => Note::Subject { frame: Frame(rest.word()?), leaves: rest.word()? },
        4 => {
            let part = Part { levels: rest.byte()?, prefix: rest.word()? };
            let mut sums = Box::new([0; BUCKETS]);
            for sum in sums.iter_mut() {
                *sum = rest.word()?;
            }
            Note::Table { part, sums }
        }
        5 => {
            let more = rest.flag()?;
            let mut leaves = Vec::new();
            // Each leaf takes at least four bytes, so a message bounds how many there are.
            while !rest.0.is_empty() {
                leaves.push(rest.leaf()?);
            }
            Note::Leaves { more, leaves }
        }
        _ => return None,
    };
    rest.0.is_empty().then_some(note)
}

struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*byte)
    }

    fn flag(&mut self) -> Option<bool> {
        match self.byte()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    fn word(&mut self) -> Option<u32> {
        let (word, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_be_bytes(*word))
    }

    fn text(&mut self) -> Option<String> {
        let len = usize::from(self.byte()?);
        let (text, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        core::str::from_utf8(text).ok().map(legible)
    }

    fn leaf(&mut self) -> Option<OwnedLeaf> {
        let path = self.text()?;
        let count = usize::from(self.byte()?);
        if count > 4 {
            return None;
        }
        let words = (0..count).map(|_| self.word()).collect::<Option<_>>()?;
        Some(OwnedLeaf { path, words, shown: self.text()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_comes_back_as_it_was_written() {
        let leaf = |n: u32| OwnedLeaf {
            path: format!("fighters[{n}].x"),
            words: vec![n, 7],
            shown: format!("{n}.5"),
        };
        assert_eq!(
            decode(&start(Frame(60), Some(Frame(30)))),
            Some(Note::Start { frame: Frame(60), last_match: Some(Frame(30)) })
        );
        assert_eq!(decode(&start(Frame(0), None)), Some(Note::Start { frame: Frame(0), last_match: None }));
        let values: Vec<u32> = (0..600).collect();
        let traces: Vec<Note> = trace(true, Frame(9), &values).iter().map(|m| decode(m).unwrap()).collect();
        assert_eq!(traces.len(), 3);
        assert_eq!(
            traces[2],
            Note::Trace { again: true, more: false, first: Frame(521), values: (512..600).collect() }
        );
        assert_eq!(decode(&subject(Frame(3), 24)), Some(Note::Subject { frame: Frame(3), leaves: 24 }));
        let part = Part::ALL.bucket(200).bucket(3);
        let sums = Box::new([9; BUCKETS]);
        assert_eq!(decode(&table(part, &sums)), Some(Note::Table { part, sums }));
        let all: Vec<OwnedLeaf> = (0..200).map(leaf).collect();
        let messages = leaves(&all);
        assert!(messages.len() > 3 && messages.iter().all(|m| m.len() <= MAX_AUTOPSY));
        let mut back = Vec::new();
        for (at, message) in messages.iter().enumerate() {
            let Some(Note::Leaves { more, leaves }) = decode(message) else { panic!("message {at}") };
            assert_eq!(more, at + 1 < messages.len());
            back.extend(leaves);
        }
        assert_eq!(back, all);
        assert_eq!(decode(&leaves(&[])[0]), Some(Note::Leaves { more: false, leaves: vec![] }));
    }

    #[test]
    fn what_is_cut_short_or_too_long_is_no_message() {
        let messages = [
            start(Frame(60), None),
            trace(false, Frame(1), &[1, 2, 3]).remove(0),
            subject(Frame(1), 2),
            table(Part::ALL, &[0; BUCKETS]),
        ];
        for message in messages {
            for len in 0..message.len() {
                // A trace of fewer values is a trace too.
                if message[0] != 2 || len < 7 || (len - 7) % 4 != 0 {
                    assert_eq!(decode(&message[..len]), None, "{len} bytes of kind {}", message[0]);
                }
            }
            let mut longer = message.clone();
            longer.push(0);
            assert_eq!(decode(&longer), None);
        }
        assert_eq!(decode(&[9]), None);
        assert_eq!(decode(&[5, 0, 3, b'a']), None);
    }

    #[test]
    fn what_a_liar_writes_cannot_play_with_the_terminal() {
        let leaf = OwnedLeaf { path: "a\u{1b}[2J".into(), words: vec![1], shown: "b\nc".into() };
        let Some(Note::Leaves { leaves, .. }) = decode(&leaves(&[leaf])[0]) else { panic!() };
        assert_eq!((leaves[0].path.as_str(), leaves[0].shown.as_str()), ("a\u{FFFD}[2J", "b\u{FFFD}c"));
    }
}
