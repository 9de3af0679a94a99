//! The payload of a RELIABLE_EVENT between these roles. Big-endian, as all of GAME.
//!
//! | first byte | | then |
//! |---|---|---|
//! | 01 | TERMS | version u8, frame rate u16, broadcast rate u16, tick u32, seed u32; message 0 of a server |
//! | 02 | TICKS | first input number u32; message 0 of a client |
//! | 03 | EVENTS | message number u16, then records without a gap |
//! | 04 | DELTAS | version u8; from a client: send DELTAs from here on, none of whose baselines I have |
//!
//! | record | | then |
//! |---|---|---|
//! | 01 | SPAWN | id, kind, tick u32 |
//! | 02 | GONE | id, tick u32 |
//! | 03 | SHOT | id, kind, owner, tick u32, x, y, velocity x, velocity y as f32 |
//! | 04 | BOUNCE | id, tick u32, x, y, velocity x, velocity y as f32 |
//! | 05 | END | id of a shot, tick u32 |
//! | 06 | TOLD | tick u32, length u8 up to 64, bytes |
//! | 07 | BYE | 1 if kicked, 0 if the server shuts down |
//! | 08 | HIT | id, damage, tick u32 |

use crate::Frame;
use crate::authority::record::{Course, MAX_TOLD, Record, Terms, Told};

const TERMS: u8 = 1;
const TICKS: u8 = 2;
const EVENTS: u8 = 3;
const DELTAS: u8 = 4;

const VERSION: u8 = 1;
const DELTAS_VERSION: u8 = 1;

/// The length of EVENTS before its records.
pub(super) const EVENTS_HEAD: usize = 3;

/// The longest record: TOLD with a full message.
pub(super) const MAX_RECORD: usize = 6 + MAX_TOLD;

/// A message as it arrives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Message<'a> {
    Terms(Terms, Frame),
    Ticks { first: u32 },
    Events { number: u16, records: &'a [u8] },
    Deltas,
}

impl Message<'_> {
    /// The place of the message in its direction's order.
    pub(super) fn number(&self) -> u16 {
        match self {
            Self::Terms(..) | Self::Ticks { .. } | Self::Deltas => 0,
            Self::Events { number, .. } => *number,
        }
    }
}

pub(super) fn put_terms(terms: &Terms, frame: Frame, into: &mut Vec<u8>) {
    into.extend([TERMS, VERSION]);
    terms.frame_rate.put(into);
    terms.broadcast_rate.put(into);
    frame.put(into);
    terms.seed.put(into);
}

pub(super) fn put_ticks(first: u32, into: &mut Vec<u8>) {
    into.push(TICKS);
    first.put(into);
}

pub(super) fn put_deltas(into: &mut Vec<u8>) {
    into.extend([DELTAS, DELTAS_VERSION]);
}

pub(super) fn put_events_head(number: u16, into: &mut Vec<u8>) {
    into.push(EVENTS);
    number.put(into);
}

/// Reads a message; `None` if it breaks a rule. Every record of EVENTS is checked.
pub(super) fn read(mut payload: &[u8]) -> Option<Message<'_>> {
    let left = &mut payload;
    let message = match u8::take(left)? {
        TERMS if u8::take(left)? == VERSION => {
            let (frame_rate, broadcast_rate) = (u16::take(left)?, u16::take(left)?);
            let (frame, seed) = (Frame::take(left)?, u32::take(left)?);
            Message::Terms(Terms { frame_rate, broadcast_rate, seed }, frame)
        }
        TICKS => Message::Ticks { first: u32::take(left)? },
        DELTAS if u8::take(left)? == DELTAS_VERSION => Message::Deltas,
        EVENTS => {
            let (number, records) = (u16::take(left)?, *left);
            while !left.is_empty() {
                take_record(left)?;
            }
            Message::Events { number, records }
        }
        _ => return None,
    };
    left.is_empty().then_some(message)
}

/// Makes the writer and the reader of records: the first byte of each, its fields in the order in which they travel, and the
/// value of a field that does not.
macro_rules! records {
    ($($first:literal $name:ident { $($field:ident),* } $(with $local:ident: $value:expr)?;)*) => {
        pub(super) fn put_record(record: &Record, into: &mut Vec<u8>) {
            match record {
                $(Record::$name { $($field,)* .. } => {
                    into.push($first);
                    $($field.put(into);)*
                })*
            }
        }

        /// Takes the next record from the front; `None` if it breaks a rule.
        pub(super) fn take_record(left: &mut &[u8]) -> Option<Record> {
            Some(match u8::take(left)? {
                $($first => Record::$name { $($field: Field::take(left)?,)* $($local: $value)? },)*
                _ => return None,
            })
        }
    };
}

records! {
    1 Spawn { id, kind, frame } with place: None;
    2 Gone { id, frame } with player: false;
    3 Shot { id, kind, owner, course };
    4 Bounce { id, course };
    5 ShotEnd { id, frame };
    6 Told { frame, told };
    7 Bye { kicked };
    8 Hit { id, damage, frame };
}

/// A field of a message.
trait Field: Sized {
    fn put(&self, into: &mut Vec<u8>);

    /// Takes the field from the front; `None` if it breaks a rule.
    fn take(left: &mut &[u8]) -> Option<Self>;
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Field for $number {
            fn put(&self, into: &mut Vec<u8>) {
                into.extend_from_slice(&self.to_be_bytes());
            }

            fn take(left: &mut &[u8]) -> Option<Self> {
                let (head, rest) = left.split_first_chunk()?;
                *left = rest;
                Some(Self::from_be_bytes(*head))
            }
        }
    )*};
}

numbers!(u8, u16, u32, f32);

impl Field for bool {
    fn put(&self, into: &mut Vec<u8>) {
        into.push(u8::from(*self));
    }

    fn take(left: &mut &[u8]) -> Option<Self> {
        u8::take(left).filter(|byte| *byte <= 1).map(|byte| byte == 1)
    }
}

impl Field for Frame {
    fn put(&self, into: &mut Vec<u8>) {
        self.0.put(into);
    }

    fn take(left: &mut &[u8]) -> Option<Self> {
        u32::take(left).map(Self)
    }
}

impl Field for Course {
    fn put(&self, into: &mut Vec<u8>) {
        self.frame.put(into);
        [self.x, self.y, self.velocity_x, self.velocity_y].iter().for_each(|value| value.put(into));
    }

    fn take(left: &mut &[u8]) -> Option<Self> {
        let frame = Frame::take(left)?;
        let mut float = || f32::take(left);
        let (x, y, velocity_x, velocity_y) = (float()?, float()?, float()?, float()?);
        Some(Self { frame, x, y, velocity_x, velocity_y }).filter(Self::is_finite)
    }
}

impl Field for Told {
    fn put(&self, into: &mut Vec<u8>) {
        into.push(self.bytes().len() as u8);
        into.extend_from_slice(self.bytes());
    }

    fn take(left: &mut &[u8]) -> Option<Self> {
        let len = u8::take(left)?;
        Self::new(left.split_off(..usize::from(len))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COURSE: Course =
        Course { frame: Frame(70_000), x: 1.5, y: -2.0, velocity_x: 30.0, velocity_y: 0.25 };

    fn records() -> [Record; 8] {
        [
            Record::Spawn { id: 255, kind: 3, frame: Frame(9), place: None },
            Record::Gone { id: 255, frame: Frame(99), player: false },
            Record::Shot { id: 0, kind: 1, owner: 7, course: COURSE },
            Record::Bounce { id: 0, course: COURSE },
            Record::ShotEnd { id: 0, frame: Frame(70_010) },
            Record::Told { frame: Frame(70_011), told: Told::new(&[9; MAX_TOLD]).unwrap() },
            Record::Bye { kicked: true },
            Record::Hit { id: 255, damage: 200, frame: Frame(70_012) },
        ]
    }

    fn all() -> Vec<u8> {
        let mut bytes = Vec::new();
        put_events_head(513, &mut bytes);
        records().iter().for_each(|record| put_record(record, &mut bytes));
        bytes
    }

    #[test]
    fn every_record_survives_the_wire() {
        let bytes = all();
        let Some(Message::Events { number: 513, mut records }) = read(&bytes) else { panic!("refused") };
        for record in self::records() {
            assert_eq!(take_record(&mut records), Some(record));
        }
        assert!(records.is_empty());
    }

    #[test]
    fn terms_ticks_and_deltas_are_the_documented_bytes() {
        let mut bytes = Vec::new();
        put_terms(
            &Terms { frame_rate: 60, broadcast_rate: 20, seed: 0x0A0B_0C0D },
            Frame(0x0102_0304),
            &mut bytes,
        );
        assert_eq!(bytes, [1, 1, 0, 60, 0, 20, 1, 2, 3, 4, 10, 11, 12, 13]);
        assert!(matches!(
            read(&bytes),
            Some(Message::Terms(Terms { frame_rate: 60, seed: 0x0A0B_0C0D, .. }, Frame(0x0102_0304)))
        ));
        bytes[1] = 2;
        assert_eq!(read(&bytes), None, "another version");
        bytes.clear();
        put_ticks(0x0102_0304, &mut bytes);
        assert_eq!(bytes, [2, 1, 2, 3, 4]);
        assert_eq!(read(&bytes), Some(Message::Ticks { first: 0x0102_0304 }));
        bytes.clear();
        put_deltas(&mut bytes);
        assert_eq!((&bytes[..], read(&bytes)), (&[4, 1][..], Some(Message::Deltas)));
        assert_eq!((read(&[4, 2]), read(&[4]), read(&[4, 1, 0])), (None, None, None));
    }

    #[test]
    fn message_that_is_cut_or_damaged_is_refused_and_never_panics() {
        let bytes = all();
        let mut cuts = vec![EVENTS_HEAD];
        let mut left = &bytes[EVENTS_HEAD..];
        while take_record(&mut left).is_some() {
            cuts.push(bytes.len() - left.len());
        }
        for len in 0..bytes.len() {
            assert_eq!(read(&bytes[..len]).is_some(), cuts.contains(&len), "cut to {len} bytes");
        }
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                let _ = read(&damaged);
            }
        }
        for (kicked, is_read) in [(0, true), (1, true), (2, false)] {
            assert_eq!(read(&[EVENTS, 0, 1, 7, kicked]).is_some(), is_read);
        }
        let mut infinite = Vec::new();
        put_events_head(1, &mut infinite);
        let course = Course { velocity_x: f32::INFINITY, ..COURSE };
        put_record(&Record::Bounce { id: 1, course }, &mut infinite);
        assert_eq!(read(&infinite), None);
    }
}
