//! Desync analysis: the payload of AUTOPSY messages. Big-endian, byte 0 is the kind. `docs/WIRE.md` has the fields.
//!
//! Frames are those of the match, from 0. Lengths are exact, texts are UTF-8.

use super::bytes::{Reader, Writer};
use super::message::MAX_AUTOPSY;
use crate::Frame;
use crate::game::fields::leaves::{MAX_LEAF_WORDS, MAX_TEXT, TABLE_SUMS};
use crate::game::marks::MAX_MARK_NAME;
use crate::game::text::cut;
use core::iter::Peekable;

/// The most checksums in a TRACE.
pub(crate) const MAX_TRACE_VALUES: usize = 256;

const START: u8 = 1;
const TRACE: u8 = 2;
const STATE: u8 = 3;
const TABLE: u8 = 4;
const LEAVES: u8 = 5;
const PHASES: u8 = 6;
pub(crate) const MENDED: u8 = 7;

/// The frame number that says "no frame".
const NONE: u32 = u32::MAX;

/// A buffer in which every note fits.
pub(crate) type Buffer = [u8; MAX_AUTOPSY];

const MAX_LEAF_LEN: usize = 3 + 2 * MAX_TEXT + 4 * MAX_LEAF_WORDS;
const _: () = assert!(7 + 4 * MAX_TRACE_VALUES <= MAX_AUTOPSY);
const _: () = assert!(6 + 4 * TABLE_SUMS <= MAX_AUTOPSY);
const _: () = assert!(2 + MAX_LEAF_LEN <= MAX_AUTOPSY);
const _: () = assert!(2 + 9 + MAX_MARK_NAME <= MAX_AUTOPSY);

/// A note that has passed all checks, borrowed from its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Note<'a> {
    Start { frame: Frame, last_match: Option<Frame> },
    Trace { resimulated: bool, more: bool, first: Frame, values: Words<'a> },
    State { frame: Frame, leaves: u32 },
    Table { levels: u8, prefix: u32, sums: Words<'a> },
    Leaves { more: bool, leaves: Leaves<'a> },
    Phases { more: bool, marks: Marks<'a> },
    Mended { frame: Frame },
}

/// Words of four bytes each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Words<'a>(&'a [[u8; 4]]);

impl<'a> Words<'a> {
    pub(crate) fn len(self) -> usize {
        self.0.len()
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = u32> + 'a {
        self.0.iter().map(|word| u32::from_be_bytes(*word))
    }
}

/// A leaf of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leaf<'a> {
    pub(crate) path: &'a str,
    pub(crate) words: LeafWords,
    pub(crate) shown: &'a str,
}

/// The words of a leaf, at most [`MAX_LEAF_WORDS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LeafWords {
    words: [u32; MAX_LEAF_WORDS],
    count: usize,
}

impl LeafWords {
    /// The first words of `all`.
    pub(crate) fn new(all: &[u32]) -> Self {
        let count = all.len().min(MAX_LEAF_WORDS);
        let mut words = [0; MAX_LEAF_WORDS];
        words[..count].copy_from_slice(&all[..count]);
        Self { words, count }
    }

    pub(crate) fn as_slice(&self) -> &[u32] {
        &self.words[..self.count]
    }
}

/// Leaves that have been checked, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leaves<'a>(&'a [u8]);

impl<'a> Leaves<'a> {
    pub(crate) fn iter(self) -> impl Iterator<Item = Leaf<'a>> {
        let mut reader = Reader(self.0);
        core::iter::from_fn(move || read_leaf(&mut reader))
    }
}

/// The mark of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark<'a> {
    pub(crate) name: &'a str,
    pub(crate) checksum: u32,
    pub(crate) leaves: u32,
}

/// Marks that have been checked, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Marks<'a>(&'a [u8]);

impl<'a> Marks<'a> {
    pub(crate) fn iter(self) -> impl Iterator<Item = Mark<'a>> {
        let mut reader = Reader(self.0);
        core::iter::from_fn(move || read_mark(&mut reader))
    }
}

/// Reads a note; `None` if the payload is not exactly one.
pub(crate) fn decode(payload: &[u8]) -> Option<Note<'_>> {
    let mut reader = Reader(payload);
    let note = match reader.u8()? {
        START => Note::Start {
            frame: Frame(reader.u32()?),
            last_match: Some(reader.u32()?).filter(|frame| *frame != NONE).map(Frame),
        },
        TRACE => {
            let (resimulated, more, first) =
                (read_flag(&mut reader)?, read_flag(&mut reader)?, Frame(reader.u32()?));
            let (values, tail) = reader.rest().as_chunks();
            if !tail.is_empty() || values.len() > MAX_TRACE_VALUES {
                return None;
            }
            Note::Trace { resimulated, more, first, values: Words(values) }
        }
        STATE => Note::State { frame: Frame(reader.u32()?), leaves: reader.u32()? },
        TABLE => {
            let (levels, prefix) = (reader.u8()?, reader.u32()?);
            Note::Table { levels, prefix, sums: Words(reader.slice(4 * TABLE_SUMS)?.as_chunks().0) }
        }
        LEAVES => {
            let more = read_flag(&mut reader)?;
            let leaves = Leaves(reader.rest());
            let mut unchecked = Reader(leaves.0);
            while unchecked.end().is_none() {
                read_leaf(&mut unchecked)?;
            }
            Note::Leaves { more, leaves }
        }
        PHASES => {
            let more = read_flag(&mut reader)?;
            let marks = Marks(reader.rest());
            let mut unchecked = Reader(marks.0);
            while unchecked.end().is_none() {
                read_mark(&mut unchecked)?;
            }
            Note::Phases { more, marks }
        }
        MENDED => Note::Mended { frame: Frame(reader.u32()?) },
        _ => return None,
    };
    reader.end().map(|()| note)
}

fn read_mark<'a>(reader: &mut Reader<'a>) -> Option<Mark<'a>> {
    let name = read_text(reader).filter(|name| name.len() <= MAX_MARK_NAME)?;
    Some(Mark { name, checksum: reader.u32()?, leaves: reader.u32()? })
}

fn read_flag(reader: &mut Reader<'_>) -> Option<bool> {
    match reader.u8()? {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

fn read_text<'a>(reader: &mut Reader<'a>) -> Option<&'a str> {
    let len = usize::from(reader.u8()?);
    core::str::from_utf8(reader.slice(len)?).ok()
}

fn read_leaf<'a>(reader: &mut Reader<'a>) -> Option<Leaf<'a>> {
    let path = read_text(reader)?;
    let count = usize::from(reader.u8()?);
    let mut words = LeafWords { count, ..LeafWords::default() };
    for word in words.words.get_mut(..count)? {
        *word = reader.u32()?;
    }
    Some(Leaf { path, words, shown: read_text(reader)? })
}

/// Writes START and answers its length.
pub(crate) fn write_start(frame: Frame, last_match: Option<Frame>, buf: &mut Buffer) -> usize {
    let mut writer = Writer::new(buf);
    writer.u8(START);
    writer.u32(frame.0);
    writer.u32(last_match.map_or(NONE, |frame| frame.0));
    writer.len()
}

/// Writes a TRACE of at most [`MAX_TRACE_VALUES`] checksums and answers its length.
pub(crate) fn write_trace(
    resimulated: bool,
    more: bool,
    first: Frame,
    values: &[u32],
    buf: &mut Buffer,
) -> usize {
    let mut writer = Writer::new(buf);
    writer.u8(TRACE);
    writer.u8(u8::from(resimulated));
    writer.u8(u8::from(more));
    writer.u32(first.0);
    values.iter().take(MAX_TRACE_VALUES).for_each(|value| writer.u32(*value));
    writer.len()
}

/// Writes STATE and answers its length.
pub(crate) fn write_state(frame: Frame, leaves: u32, buf: &mut Buffer) -> usize {
    let mut writer = Writer::new(buf);
    writer.u8(STATE);
    writer.u32(frame.0);
    writer.u32(leaves);
    writer.len()
}

/// Writes MENDED and answers its length.
pub(crate) fn write_mended(frame: Frame, buf: &mut Buffer) -> usize {
    let mut writer = Writer::new(buf);
    writer.u8(MENDED);
    writer.u32(frame.0);
    writer.len()
}

/// Writes TABLE and answers its length.
pub(crate) fn write_table(levels: u8, prefix: u32, sums: &[u32; TABLE_SUMS], buf: &mut Buffer) -> usize {
    let mut writer = Writer::new(buf);
    writer.u8(TABLE);
    writer.u8(levels);
    writer.u32(prefix);
    sums.iter().for_each(|sum| writer.u32(*sum));
    writer.len()
}

/// Writes a LEAVES with as many leaves as fit and answers its length. Texts are cut to [`MAX_TEXT`] bytes.
pub(crate) fn write_leaves<'a>(
    leaves: &mut Peekable<impl Iterator<Item = Leaf<'a>>>,
    buf: &mut Buffer,
) -> usize {
    let mut writer = Writer::new(buf);
    writer.put(&[LEAVES, 0]);
    while let Some(leaf) = leaves.next_if(|leaf| writer.len() + leaf_len(leaf) <= MAX_AUTOPSY) {
        write_text(&mut writer, leaf.path, MAX_TEXT);
        writer.u8(leaf.words.count as u8);
        leaf.words.as_slice().iter().for_each(|word| writer.u32(*word));
        write_text(&mut writer, leaf.shown, MAX_TEXT);
    }
    let len = writer.len();
    buf[1] = u8::from(leaves.peek().is_some());
    len
}

fn leaf_len(leaf: &Leaf<'_>) -> usize {
    3 + cut(leaf.path, MAX_TEXT).len() + 4 * leaf.words.count + cut(leaf.shown, MAX_TEXT).len()
}

/// Writes a PHASES with as many marks as fit and answers its length. Names are cut to [`MAX_MARK_NAME`] bytes.
pub(crate) fn write_phases<'a>(
    marks: &mut Peekable<impl Iterator<Item = Mark<'a>>>,
    buf: &mut Buffer,
) -> usize {
    let mut writer = Writer::new(buf);
    writer.put(&[PHASES, 0]);
    let mark_len = |mark: &Mark<'_>| 9 + cut(mark.name, MAX_MARK_NAME).len();
    while let Some(mark) = marks.next_if(|mark| writer.len() + mark_len(mark) <= MAX_AUTOPSY) {
        write_text(&mut writer, mark.name, MAX_MARK_NAME);
        writer.u32(mark.checksum);
        writer.u32(mark.leaves);
    }
    let len = writer.len();
    buf[1] = u8::from(marks.peek().is_some());
    len
}

fn write_text(writer: &mut Writer<'_>, text: &str, max: usize) {
    writer.u8(cut(text, max).len() as u8);
    writer.put(cut(text, max).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Buffer) -> usize) -> Vec<u8> {
        let mut buf = [0xEE; MAX_AUTOPSY];
        let len = write(&mut buf);
        buf[..len].to_vec()
    }

    fn leaf<'a>(path: &'a str, words: &[u32], shown: &'a str) -> Leaf<'a> {
        Leaf { path, words: LeafWords::new(words), shown }
    }

    /// All notes of `leaves`, in order.
    fn leaf_notes(leaves: &[Leaf<'_>]) -> Vec<Vec<u8>> {
        let mut rest = leaves.iter().copied().peekable();
        let mut notes = vec![written(|buf| write_leaves(&mut rest, buf))];
        while rest.peek().is_some() {
            notes.push(written(|buf| write_leaves(&mut rest, buf)));
        }
        notes
    }

    #[test]
    fn notes_have_exactly_these_bytes() {
        let start = written(|buf| write_start(Frame(60), Some(Frame(30)), buf));
        assert_eq!(start, [1, 0, 0, 0, 60, 0, 0, 0, 30]);
        assert_eq!(decode(&start), Some(Note::Start { frame: Frame(60), last_match: Some(Frame(30)) }));
        let start = written(|buf| write_start(Frame(0), None, buf));
        assert_eq!(start, [1, 0, 0, 0, 0, 255, 255, 255, 255]);
        assert_eq!(decode(&start), Some(Note::Start { frame: Frame(0), last_match: None }));

        let trace = written(|buf| write_trace(true, false, Frame(0x209), &[7, 0x0102_0304], buf));
        assert_eq!(trace, [2, 1, 0, 0, 0, 2, 9, 0, 0, 0, 7, 1, 2, 3, 4]);
        let Some(Note::Trace { resimulated: true, more: false, first: Frame(0x209), values }) =
            decode(&trace)
        else {
            panic!("{trace:?}")
        };
        assert_eq!(values.iter().collect::<Vec<_>>(), [7, 0x0102_0304]);

        let state = written(|buf| write_state(Frame(3), 24, buf));
        assert_eq!(state, [3, 0, 0, 0, 3, 0, 0, 0, 24]);
        assert_eq!(decode(&state), Some(Note::State { frame: Frame(3), leaves: 24 }));

        let table = written(|buf| write_table(2, 0xC803, &[9; TABLE_SUMS], buf));
        assert_eq!(table[..14], [4, 2, 0, 0, 0xC8, 3, 0, 0, 0, 9, 0, 0, 0, 9]);
        let Some(Note::Table { levels: 2, prefix: 0xC803, sums }) = decode(&table) else { panic!() };
        assert_eq!((table.len(), sums.len()), (1_030, TABLE_SUMS));
        assert!(sums.iter().all(|sum| sum == 9));

        let all = [leaf("hp", &[75], "-1"), leaf("", &[], "")];
        let [leaves] = &leaf_notes(&all)[..] else { panic!() };
        assert_eq!(leaves[..], [5, 0, 2, b'h', b'p', 1, 0, 0, 0, 75, 2, b'-', b'1', 0, 0, 0]);
        let Some(Note::Leaves { more: false, leaves }) = decode(leaves) else { panic!() };
        assert_eq!(leaves.iter().collect::<Vec<_>>(), all);
        assert_eq!(leaf_notes(&[]), [[5, 0]]);
    }

    /// All notes of `marks`, in order.
    fn phase_notes(marks: &[Mark<'_>]) -> Vec<Vec<u8>> {
        let mut rest = marks.iter().copied().peekable();
        let mut notes = vec![written(|buf| write_phases(&mut rest, buf))];
        while rest.peek().is_some() {
            notes.push(written(|buf| write_phases(&mut rest, buf)));
        }
        notes
    }

    #[test]
    fn phases_have_exactly_these_bytes() {
        let marks = [
            Mark { name: "hit", checksum: 0x0102_0304, leaves: 7 },
            Mark { name: "", checksum: 9, leaves: 24 },
        ];
        let [note] = &phase_notes(&marks)[..] else { panic!() };
        assert_eq!(note[..], [6, 0, 3, b'h', b'i', b't', 1, 2, 3, 4, 0, 0, 0, 7, 0, 0, 0, 0, 9, 0, 0, 0, 24]);
        let Some(Note::Phases { more: false, marks: read }) = decode(note) else { panic!() };
        assert_eq!(read.iter().collect::<Vec<_>>(), marks);
        assert_eq!(phase_notes(&[]), [[6, 0]]);
        for len in (2..note.len()).filter(|len| ![2, 14].contains(len)) {
            assert_eq!(decode(&note[..len]), None, "{len} bytes");
        }
        assert_eq!(decode(&[6, 2]), None, "neither more nor the last");
        assert_eq!(decode(&[&[6, 0, 1, 0xFF], &[0; 8][..]].concat()), None, "not UTF-8");
    }

    #[test]
    fn long_names_of_phases_are_cut_and_refused() {
        let mark = |name| Mark { name, checksum: 1, leaves: 2 };
        let long = "é".repeat(40);
        let notes = phase_notes(&[mark(&long); 129]);
        assert!(notes.len() > 8 && notes.iter().all(|note| note.len() <= MAX_AUTOPSY));
        let mut back = Vec::new();
        for (at, note) in notes.iter().enumerate() {
            let Some(Note::Phases { more, marks }) = decode(note) else { panic!("note {at}") };
            assert_eq!(more, at + 1 < notes.len());
            back.extend(marks.iter());
        }
        assert_eq!(back, [mark(&long[..MAX_MARK_NAME]); 129]);
        for (len, taken) in [(MAX_MARK_NAME, true), (MAX_MARK_NAME + 1, false)] {
            let note = [&[6, 0, len as u8], &[b'x'; 80][..len], &[0; 8]].concat();
            assert_eq!(decode(&note).is_some(), taken, "{len} bytes");
        }
    }

    #[test]
    fn leaves_fill_as_many_notes_as_they_need() {
        let texts: Vec<(String, String)> =
            (0..200).map(|n| (format!("fighters[{n}].x"), format!("{n}.5"))).collect();
        let all: Vec<Leaf<'_>> = texts.iter().map(|(path, shown)| leaf(path, &[1, 7], shown)).collect();
        let notes = leaf_notes(&all);
        assert!(notes.len() > 3 && notes.iter().all(|note| note.len() <= MAX_AUTOPSY));
        let mut back = Vec::new();
        for (at, note) in notes.iter().enumerate() {
            let Some(Note::Leaves { more, leaves }) = decode(note) else { panic!("note {at}") };
            assert_eq!(more, at + 1 < notes.len());
            back.extend(leaves.iter());
        }
        assert_eq!(back, all);
    }

    #[test]
    fn texts_and_words_that_are_too_long_are_cut() {
        let long = "é".repeat(150);
        let [note] = &leaf_notes(&[leaf(&long, &[1, 2, 3, 4, 5], &long)])[..] else { panic!() };
        let Some(Note::Leaves { leaves, .. }) = decode(note) else { panic!() };
        assert_eq!(
            leaves.iter().collect::<Vec<_>>(),
            [leaf(&long[..MAX_TEXT], &[1, 2, 3, 4], &long[..MAX_TEXT])]
        );
    }

    #[test]
    fn note_that_is_cut_short_or_too_long_is_refused() {
        let notes = [
            written(|buf| write_start(Frame(60), None, buf)),
            written(|buf| write_trace(false, false, Frame(1), &[1, 2, 3], buf)),
            written(|buf| write_state(Frame(1), 2, buf)),
            written(|buf| write_table(0, 0, &[0; TABLE_SUMS], buf)),
        ];
        for note in notes {
            for len in 0..note.len() {
                // A trace of fewer values is a trace too.
                if note[0] != TRACE || len < 7 || (len - 7) % 4 != 0 {
                    assert_eq!(decode(&note[..len]), None, "{len} bytes of kind {}", note[0]);
                }
            }
            let longer = [&note[..], &[0]].concat();
            assert_eq!(decode(&longer), None);
        }
        let values = [0; 4 * (MAX_TRACE_VALUES + 1)];
        assert_eq!(decode(&[&[2, 0, 0, 0, 0, 0, 0], &values[..]].concat()), None, "too many values");
        assert_eq!(decode(&[9]), None, "no such kind");
        assert_eq!(decode(&[2, 2, 0, 0, 0, 0, 0]), None, "neither recorded nor resimulated");
        assert_eq!(decode(&[5, 0, 3, b'a']), None, "a path that ends too early");
        assert_eq!(decode(&[5, 0, 0, 5, 0]), None, "five words");
        assert_eq!(decode(&[5, 0, 1, 0xFF, 0, 0]), None, "not UTF-8");
    }
}
