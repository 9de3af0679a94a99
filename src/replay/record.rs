//! The records in the chunks of RPLK version 2: inputs, checksums, events, messages and the end.

use super::codec::{Reader, put_number};
use crate::{Frame, Input, Inputs, Player, Reason, Verdict};

/// The most frames of one record of inputs.
pub(super) const MAX_RECORD_FRAMES: u32 = 1024;

/// The most bytes of a change of input: the gap and the player, a mask, and every byte of an input.
pub(super) const MAX_CHANGE_LEN: usize = 3 + 1 + 8;

/// The mask of a change of the first eight buttons alone: most changes, and written without a mask.
const LOW_BUTTONS: u8 = 1;

pub(super) const INPUTS: u8 = 1;
const CHECKSUM: u8 = 2;
const EVENT: u8 = 3;
const END: u8 = 4;
const MESSAGE: u8 = 5;

/// The most bytes of a recorded message: the most that a session sends.
pub(super) const MAX_MESSAGE_LEN: usize = 1_024;

/// An event of a match that its replay keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MatchEvent {
    /// A player's input delay changed.
    Delay {
        /// The player.
        player: Player,
        /// The new delay.
        delay_frames: u8,
    },
    /// No packet came from the peer for a while.
    Interrupted,
    /// Packets came from the peer again.
    Resumed,
    /// The machines disagreed about the state of the frame.
    Desync {
        /// The checksum on the machine that recorded.
        ours: u32,
        /// The checksum on the peer.
        theirs: u32,
    },
    /// A live state had gone wrong: the checksums after the frame `from`, up to this frame, are void.
    Mended {
        /// The frame that was restored.
        from: Frame,
    },
    /// A place to find again, such as the start of a round; the game decides about the number.
    Mark(u16),
}

/// How a recorded match ended. A replay without it was cut off: by a crash, a full disk, or because it still runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// The verdict of the two machines.
    pub outcome: Outcome,
    /// The winner, which only the game knows.
    pub winner: Winner,
}

/// The verdict about a recorded match; the frame is that of its last state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// Both machines had the same last state.
    Agreed {
        /// The checksum of the last state.
        checksum: u32,
    },
    /// The machines had different last states.
    Differs {
        /// The checksum on the machine that recorded.
        ours: u32,
        /// The checksum on the peer.
        theirs: u32,
    },
    /// The peer was gone before its verdict arrived.
    Unconfirmed {
        /// The checksum on the machine that recorded.
        checksum: u32,
    },
    /// The match was over before its end.
    Disconnected(Reason),
    /// There was no other machine, and nothing to agree about.
    Local,
}

/// The winner of a recorded match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Winner {
    /// Nobody: the match was not played to its end, or the game did not say.
    #[default]
    Undecided,
    /// Neither player.
    Draw,
    /// One of the players.
    Player(Player),
}

impl From<Verdict> for Outcome {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Agreed { checksum, .. } => Self::Agreed { checksum },
            Verdict::Differs { ours, theirs, .. } => Self::Differs { ours, theirs },
            Verdict::Unconfirmed { checksum, .. } => Self::Unconfirmed { checksum },
        }
    }
}

/// The reasons of a disconnect in the order of their numbers in the file, which never change.
const REASONS: [Reason; 18] = [
    Reason::Left,
    Reason::LeftHere,
    Reason::TimedOut,
    Reason::NoProgress,
    Reason::TooSlow,
    Reason::GaveUp,
    Reason::Restarted,
    Reason::Desync,
    Reason::ProtocolViolation,
    Reason::FrameLimit,
    Reason::VoidChecksums { of: Player::One },
    Reason::VoidChecksums { of: Player::Two },
    Reason::NotesWithheld,
    Reason::InputsHeldBack,
    Reason::StateFailed,
    Reason::StateFailedHere,
    Reason::ClockMistake,
    Reason::PausedTooLong,
];

pub(super) fn put_checksum(out: &mut Vec<u8>, frame: Frame, checksum: u32) {
    out.push(CHECKSUM);
    put_number(out, frame.0);
    out.extend(checksum.to_le_bytes());
}

pub(super) fn put_event(out: &mut Vec<u8>, frame: Frame, event: MatchEvent) {
    out.push(EVENT);
    put_number(out, frame.0);
    match event {
        MatchEvent::Delay { player, delay_frames } => out.extend([1, player.index() as u8, delay_frames]),
        MatchEvent::Interrupted => out.push(2),
        MatchEvent::Resumed => out.push(3),
        MatchEvent::Desync { ours, theirs } => {
            out.push(4);
            out.extend(ours.to_le_bytes());
            out.extend(theirs.to_le_bytes());
        }
        MatchEvent::Mark(mark) => {
            out.push(5);
            out.extend(mark.to_le_bytes());
        }
        MatchEvent::Mended { from } => {
            out.push(6);
            put_number(out, from.0);
        }
    }
}

pub(super) fn put_message(out: &mut Vec<u8>, frame: Frame, player: Player, message: &[u8]) {
    out.push(MESSAGE);
    put_number(out, frame.0);
    out.push(player.index() as u8);
    put_number(out, message.len() as u32);
    out.extend_from_slice(message);
}

pub(super) fn put_end(out: &mut Vec<u8>, end: End) {
    let winner = match end.winner {
        Winner::Undecided => 0,
        Winner::Player(player) => 1 + player.index() as u8,
        Winner::Draw => 3,
    };
    out.extend([END, winner]);
    match end.outcome {
        Outcome::Agreed { checksum } => {
            out.push(1);
            out.extend(checksum.to_le_bytes());
        }
        Outcome::Differs { ours, theirs } => {
            out.push(2);
            out.extend(ours.to_le_bytes());
            out.extend(theirs.to_le_bytes());
        }
        Outcome::Unconfirmed { checksum } => {
            out.push(3);
            out.extend(checksum.to_le_bytes());
        }
        Outcome::Disconnected(reason) => {
            let number = REASONS.iter().position(|known| *known == reason).unwrap_or(0);
            out.extend([4, number as u8]);
        }
        Outcome::Local => out.push(5),
    }
}

/// Appends the changes of both players from `before` to `after`, `gap` frames after the last change; how many there
/// were.
pub(super) fn put_changes(out: &mut Vec<u8>, mut gap: u32, before: Inputs, after: Inputs) -> u32 {
    let mut changes = 0;
    for player in Player::BOTH {
        let (old, new) = (before[player].bits().to_le_bytes(), after[player].bits().to_le_bytes());
        if old == new {
            continue;
        }
        let differs = |index: &usize| old[*index] != new[*index];
        let mask = (0..8).filter(differs).fold(0, |mask, index| mask | 1 << index);
        let is_long = mask != LOW_BUTTONS;
        put_number(out, gap << 2 | u32::from(is_long) << 1 | player.index() as u32);
        if is_long {
            out.push(mask);
        }
        out.extend((0..8).filter(differs).map(|index| new[index]));
        (changes, gap) = (changes + 1, 0);
    }
    changes
}

/// A change of one player's input, which holds from its frame on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    /// Frames since the change before it, or since the beginning of the record.
    pub(super) gap: u32,
    pub(super) player: Player,
    /// The bytes of the input that change, and their new values.
    mask: [u8; 8],
    bytes: [u8; 8],
}

impl Change {
    /// Reads a change of an input with `axes` axes.
    pub(super) fn read(reader: &mut Reader<'_>, axes: u8) -> Option<Self> {
        let head = reader.number()?;
        let player = Player::BOTH[(head & 1) as usize];
        let is_long = head & 2 != 0;
        let bits = if is_long { reader.u8()? } else { LOW_BUTTONS };
        // A change of nothing, of the low buttons in the long form, or of an axis that the match does not have.
        if bits == 0 || (is_long && bits == LOW_BUTTONS) || u32::from(bits) >> (2 + axes) != 0 {
            return None;
        }
        let (mut mask, mut bytes) = ([0; 8], [0; 8]);
        for index in (0..8).filter(|index| bits & 1 << index != 0) {
            (mask[index], bytes[index]) = (0xFF, reader.u8()?);
        }
        Some(Self { gap: head >> 2, player, mask, bytes })
    }

    pub(super) fn apply(self, inputs: &mut Inputs) {
        let old = inputs[self.player].bits().to_le_bytes();
        let new: [u8; 8] = core::array::from_fn(|index| {
            old[index] & !self.mask[index] | self.bytes[index] & self.mask[index]
        });
        inputs[self.player] = Input::from_wire(&new);
    }
}

/// A record, of which only the length is kept where it holds inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Record {
    Inputs {
        frames: u32,
    },
    Checksum {
        frame: Frame,
        checksum: u32,
    },
    Event {
        frame: Frame,
        event: MatchEvent,
    },
    End(End),
    /// The bytes of the message are at this place in the file.
    Message {
        frame: Frame,
        player: Player,
        at: usize,
        len: usize,
    },
}

impl Record {
    /// Reads a record, and applies its changes to `inputs`. `None` if it breaks a rule.
    pub(super) fn read(reader: &mut Reader<'_>, axes: u8, inputs: &mut Inputs) -> Option<Self> {
        match reader.u8()? {
            INPUTS => read_inputs(reader, axes, inputs).map(|frames| Self::Inputs { frames }),
            CHECKSUM => Some(Self::Checksum { frame: Frame(reader.number()?), checksum: reader.u32()? }),
            EVENT => Some(Self::Event { frame: Frame(reader.number()?), event: read_event(reader)? }),
            END => read_end(reader).map(Self::End),
            MESSAGE => {
                let frame = Frame(reader.number()?);
                let player = *Player::BOTH.get(usize::from(reader.u8()?))?;
                let len = reader.number()? as usize;
                let at = reader.at;
                reader.slice(len).filter(|message| (1..=MAX_MESSAGE_LEN).contains(&message.len()))?;
                Some(Self::Message { frame, player, at, len })
            }
            _ => None,
        }
    }
}

/// Reads the head of a record of inputs, after its kind: the number of frames and of changes.
pub(super) fn read_inputs_head(reader: &mut Reader<'_>) -> Option<(u32, u32)> {
    let (frames, changes) = (reader.number()?, reader.number()?);
    ((1..=MAX_RECORD_FRAMES).contains(&frames) && changes <= 2 * frames).then_some((frames, changes))
}

fn read_inputs(reader: &mut Reader<'_>, axes: u8, inputs: &mut Inputs) -> Option<u32> {
    let (frames, changes) = read_inputs_head(reader)?;
    let (mut at, mut last) = (0_u32, None);
    for _ in 0..changes {
        let change = Change::read(reader, axes)?;
        at = at.checked_add(change.gap).filter(|at| *at < frames)?;
        // One change for each player and frame, of player one first: one meaning has one encoding.
        if change.gap == 0 && last.is_some_and(|last| (last, change.player) != (Player::One, Player::Two)) {
            return None;
        }
        last = Some(change.player);
        change.apply(inputs);
    }
    Some(frames)
}

fn read_event(reader: &mut Reader<'_>) -> Option<MatchEvent> {
    Some(match reader.u8()? {
        1 => MatchEvent::Delay {
            player: *Player::BOTH.get(usize::from(reader.u8()?))?,
            delay_frames: reader.u8()?,
        },
        2 => MatchEvent::Interrupted,
        3 => MatchEvent::Resumed,
        4 => MatchEvent::Desync { ours: reader.u32()?, theirs: reader.u32()? },
        5 => MatchEvent::Mark(reader.u16()?),
        6 => MatchEvent::Mended { from: Frame(reader.number()?) },
        _ => return None,
    })
}

fn read_end(reader: &mut Reader<'_>) -> Option<End> {
    let winner = match reader.u8()? {
        0 => Winner::Undecided,
        1 => Winner::Player(Player::One),
        2 => Winner::Player(Player::Two),
        3 => Winner::Draw,
        _ => return None,
    };
    let outcome = match reader.u8()? {
        1 => Outcome::Agreed { checksum: reader.u32()? },
        2 => Outcome::Differs { ours: reader.u32()?, theirs: reader.u32()? },
        3 => Outcome::Unconfirmed { checksum: reader.u32()? },
        4 => Outcome::Disconnected(*REASONS.get(usize::from(reader.u8()?))?),
        5 => Outcome::Local,
        _ => return None,
    };
    Some(End { outcome, winner })
}
