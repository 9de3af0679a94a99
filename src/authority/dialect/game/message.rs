//! The payload of a RELIABLE_EVENT between these roles. Big-endian, as all of GAME.
//!
//! | first byte | | then |
//! |---|---|---|
//! | 01 | TERMS | version u8, frame rate u16, broadcast rate u16, tick u32, seed u32; message 0 of a server |
//! | 02 | TICKS | first input number u32; message 0 of a client |
//! | 03 | EVENTS | message number u16, then records without a gap |
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

const VERSION: u8 = 1;

const SPAWN: u8 = 1;
const GONE: u8 = 2;
const SHOT: u8 = 3;
const BOUNCE: u8 = 4;
const END: u8 = 5;
const TOLD: u8 = 6;
const BYE: u8 = 7;
const HIT: u8 = 8;

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
}

impl Message<'_> {
    /// The place of the message in its direction's order.
    pub(super) fn number(&self) -> u16 {
        match self {
            Self::Terms(..) | Self::Ticks { .. } => 0,
            Self::Events { number, .. } => *number,
        }
    }
}

pub(super) fn put_terms(terms: &Terms, frame: Frame, into: &mut Vec<u8>) {
    into.extend_from_slice(&[TERMS, VERSION]);
    into.extend_from_slice(&terms.frame_rate.to_be_bytes());
    into.extend_from_slice(&terms.broadcast_rate.to_be_bytes());
    into.extend_from_slice(&frame.0.to_be_bytes());
    into.extend_from_slice(&terms.seed.to_be_bytes());
}

pub(super) fn put_ticks(first: u32, into: &mut Vec<u8>) {
    into.push(TICKS);
    into.extend_from_slice(&first.to_be_bytes());
}

pub(super) fn put_events_head(number: u16, into: &mut Vec<u8>) {
    into.push(EVENTS);
    into.extend_from_slice(&number.to_be_bytes());
}

pub(super) fn put_record(record: &Record, into: &mut Vec<u8>) {
    match record {
        Record::Spawn { id, kind, frame, .. } => {
            into.extend_from_slice(&[SPAWN, *id, *kind]);
            put_frame(*frame, into);
        }
        Record::Gone { id, frame, .. } => {
            into.extend_from_slice(&[GONE, *id]);
            put_frame(*frame, into);
        }
        Record::Hit { id, damage, frame } => {
            into.extend_from_slice(&[HIT, *id, *damage]);
            put_frame(*frame, into);
        }
        Record::Shot { id, kind, owner, course } => {
            into.extend_from_slice(&[SHOT, *id, *kind, *owner]);
            put_course(course, into);
        }
        Record::Bounce { id, course } => {
            into.extend_from_slice(&[BOUNCE, *id]);
            put_course(course, into);
        }
        Record::ShotEnd { id, frame } => {
            into.extend_from_slice(&[END, *id]);
            put_frame(*frame, into);
        }
        Record::Told { frame, told } => {
            into.push(TOLD);
            put_frame(*frame, into);
            into.push(told.bytes().len() as u8);
            into.extend_from_slice(told.bytes());
        }
        Record::Bye { kicked } => into.extend_from_slice(&[BYE, u8::from(*kicked)]),
    }
}

fn put_frame(frame: Frame, into: &mut Vec<u8>) {
    into.extend_from_slice(&frame.0.to_be_bytes());
}

fn put_course(course: &Course, into: &mut Vec<u8>) {
    put_frame(course.frame, into);
    for value in [course.x, course.y, course.velocity_x, course.velocity_y] {
        into.extend_from_slice(&value.to_be_bytes());
    }
}

/// Reads a message; `None` if it breaks a rule. Every record of EVENTS is checked.
pub(super) fn read(payload: &[u8]) -> Option<Message<'_>> {
    let (kind, rest) = payload.split_first()?;
    match *kind {
        TERMS => {
            let [VERSION, f0, f1, b0, b1, t0, t1, t2, t3, s0, s1, s2, s3] = *rest else { return None };
            let (frame_rate, broadcast_rate) = (u16::from_be_bytes([f0, f1]), u16::from_be_bytes([b0, b1]));
            let seed = u32::from_be_bytes([s0, s1, s2, s3]);
            let frame = Frame(u32::from_be_bytes([t0, t1, t2, t3]));
            Some(Message::Terms(Terms { frame_rate, broadcast_rate, seed }, frame))
        }
        TICKS => Some(Message::Ticks { first: u32::from_be_bytes(rest.try_into().ok()?) }),
        EVENTS => {
            let (number, records) = rest.split_first_chunk()?;
            let mut left = records;
            while !left.is_empty() {
                take_record(&mut left)?;
            }
            Some(Message::Events { number: u16::from_be_bytes(*number), records })
        }
        _ => None,
    }
}

/// Takes the next record from the front; `None` if it breaks a rule. `near` is a frame that the server is near to.
pub(super) fn take_record(left: &mut &[u8]) -> Option<Record> {
    let [kind] = take(left)?;
    match kind {
        SPAWN => {
            let [id, kind] = take(left)?;
            Some(Record::Spawn { id, kind, frame: take_frame(left)?, place: None })
        }
        GONE => {
            let [id] = take(left)?;
            Some(Record::Gone { id, frame: take_frame(left)?, player: false })
        }
        SHOT => {
            let [id, kind, owner] = take(left)?;
            Some(Record::Shot { id, kind, owner, course: take_course(left)? })
        }
        BOUNCE => {
            let [id] = take(left)?;
            Some(Record::Bounce { id, course: take_course(left)? })
        }
        END => {
            let [id] = take(left)?;
            Some(Record::ShotEnd { id, frame: take_frame(left)? })
        }
        TOLD => {
            let frame = take_frame(left)?;
            let [len] = take(left)?;
            let (bytes, rest) = left.split_at_checked(usize::from(len))?;
            *left = rest;
            Some(Record::Told { frame, told: Told::new(bytes)? })
        }
        BYE => {
            let [kicked @ 0..=1] = take(left)? else { return None };
            Some(Record::Bye { kicked: kicked == 1 })
        }
        HIT => {
            let [id, damage] = take(left)?;
            Some(Record::Hit { id, damage, frame: take_frame(left)? })
        }
        _ => None,
    }
}

fn take<const N: usize>(left: &mut &[u8]) -> Option<[u8; N]> {
    let (head, rest) = left.split_first_chunk()?;
    *left = rest;
    Some(*head)
}

fn take_frame(left: &mut &[u8]) -> Option<Frame> {
    take(left).map(|bytes| Frame(u32::from_be_bytes(bytes)))
}

fn take_course(left: &mut &[u8]) -> Option<Course> {
    let frame = take_frame(left)?;
    let mut float = || take(left).map(f32::from_be_bytes);
    let (x, y, velocity_x, velocity_y) = (float()?, float()?, float()?, float()?);
    let course = Course { frame, x, y, velocity_x, velocity_y };
    course.is_finite().then_some(course)
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
    fn terms_and_ticks_are_the_bytes_that_are_documented() {
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
    }

    #[test]
    fn a_message_that_is_cut_or_damaged_is_refused_and_never_panics() {
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
            assert_eq!(read(&[EVENTS, 0, 1, BYE, kicked]).is_some(), is_read);
        }
        let mut infinite = Vec::new();
        put_events_head(1, &mut infinite);
        let course = Course { velocity_x: f32::INFINITY, ..COURSE };
        put_record(&Record::Bounce { id: 1, course }, &mut infinite);
        assert_eq!(read(&infinite), None);
    }
}
