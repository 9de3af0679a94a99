//! The server's last broadcasts, and the codes of the newest one against them. All clients share both: a body is coded once
//! for each broadcast that is a baseline of somebody, and clients with the same baselines get the same bytes.

use super::bits::BitWriter;
use super::code::{Baseline, Code};
use super::{HEAD, KEPT, MAX_AGE, id_codec};
use crate::Frame;
use crate::authority::ids::Ids;
use crate::authority::{Body, Shown};

/// The longest section that is kept to be copied: no datagram holds more.
const MAX_SECTION: usize = 1_200;

/// The bytes of a section before its ids: the age of its baseline.
const AGE_LEN: usize = 2;

/// The most bytes of a set of ids.
const MAX_IDS_LEN: usize = 33;

/// The entities of one section, and their bytes.
#[derive(Clone, Debug)]
struct Section {
    ids: Ids,
    len: usize,
    bytes: [u8; MAX_SECTION],
}

/// The frame and the bodies of one broadcast.
#[derive(Clone, Debug)]
struct Slot {
    frame: Frame,
    bodies: [Body; 256],
}

/// The last broadcasts. All memory is taken at the start.
#[derive(Clone, Debug)]
pub(crate) struct History {
    slots: Vec<Slot>,
    /// By place, the codes of the newest broadcast against the one that is there; in its own place, without a baseline.
    codes: Vec<[Code; 256]>,
    /// The bodies of the newest broadcast whose code is there, by place.
    coded: [Ids; KEPT],
    /// The first section that a client got of the codes in a place, for the others.
    sections: Vec<Section>,
    /// The number of the newest broadcast, and its entities.
    number: u32,
    ids: Ids,
    frame_seconds: f32,
}

/// The place of a broadcast.
pub(super) fn slot_of(number: u32) -> usize {
    number as usize % KEPT
}

impl History {
    pub(crate) fn new(frame_rate: u16) -> Self {
        let section = Section { ids: Ids::NONE, len: 0, bytes: [0; MAX_SECTION] };
        let slot = Slot { frame: Frame::ZERO, bodies: [Body::default(); 256] };
        Self {
            slots: vec![slot; KEPT],
            codes: vec![[Code::EMPTY; 256]; KEPT],
            coded: [Ids::NONE; KEPT],
            sections: vec![section; KEPT],
            number: 0,
            ids: Ids::NONE,
            frame_seconds: 1.0 / f32::from(frame_rate),
        }
    }

    /// Takes in the bodies of a broadcast.
    pub(crate) fn push(&mut self, frame: Frame, shown: &[Shown]) {
        self.number = self.number.wrapping_add(1);
        self.ids = Ids::NONE;
        let newest = &mut self.slots[slot_of(self.number)];
        newest.frame = frame;
        for Shown { id, body } in shown {
            let id = *id as u8;
            self.ids.insert(id);
            newest.bodies[usize::from(id)] = *body;
        }
        self.coded = [Ids::NONE; KEPT];
    }

    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// The entities of the newest broadcast.
    pub(super) fn ids(&self) -> Ids {
        self.ids
    }

    /// Parts entities by the newest of their baselines, of which `known` tells; the last part has none. `take` returns whether
    /// to go on.
    #[inline]
    fn part(number: u32, due: Ids, known: impl Fn(usize) -> Ids, mut take: impl FnMut(usize, Ids) -> bool) {
        let mut left = due;
        for age in 1..=MAX_AGE {
            if left.is_empty() {
                return;
            }
            let slot = slot_of(number.wrapping_sub(age));
            let part = left & known(slot);
            if !part.is_empty() {
                left = left.without(&part);
                if !take(slot, part) {
                    return;
                }
            }
        }
        if !left.is_empty() {
            take(slot_of(number), left);
        }
    }

    /// Makes the codes of these entities for a client that knows those of `known`.
    pub(super) fn prepare(&mut self, due: Ids, known: &[Ids; KEPT]) {
        Self::part(
            self.number,
            due,
            |slot| known[slot],
            |slot, ids| {
                let missing = ids.without(&self.coded[slot]);
                if !missing.is_empty() {
                    self.code(slot, missing);
                    self.keep_section(slot, ids);
                }
                true
            },
        );
    }

    fn code(&mut self, at: usize, ids: Ids) {
        let (newest, frames, zeros) = (slot_of(self.number), self.age(at).into(), Body::default());
        let (bodies, before) = (&self.slots[newest].bodies, &self.slots[at].bodies);
        for id in ids.iter().map(usize::from) {
            let body = if at == newest { &zeros } else { &before[id] };
            let baseline = Baseline { body, frames, frame_seconds: self.frame_seconds };
            self.codes[at][id] = Code::of(&bodies[id], &baseline);
        }
        self.coded[at] = self.coded[at] | ids;
    }

    /// The number of frames between a broadcast and the newest one; 0 for the newest one itself.
    fn age(&self, at: usize) -> u16 {
        self.slots[slot_of(self.number)].frame.0.wrapping_sub(self.slots[at].frame.0) as u16
    }

    /// Keeps the section of these entities, for the other clients that get the same.
    fn keep_section(&mut self, at: usize, ids: Ids) {
        let age = self.age(at);
        let section = &mut self.sections[at];
        let written = write_section(&self.codes[at], age, ids, &mut section.bytes);
        (section.ids, section.len) = written.map_or((Ids::NONE, 0), |len| (ids, len));
    }

    /// Writes the payload of a DELTA with as many of these entities as have room, and returns its length and its entities.
    pub(super) fn write(
        &self,
        due: Ids,
        known: &[Ids; KEPT],
        applied: u32,
        payload: &mut [u8],
    ) -> Option<(usize, Ids)> {
        let newest = &self.slots[slot_of(self.number)];
        let (tick, rest) = payload.split_first_chunk_mut()?;
        *tick = newest.frame.0.to_be_bytes();
        *rest.first_chunk_mut()? = applied.to_be_bytes();
        let (mut len, mut written) = (HEAD, Ids::NONE);
        // An ack, or a client that asks again, since the codes were made counts from the next broadcast on.
        let known = |slot: usize| known[slot] & self.coded[slot];
        Self::part(self.number, due, known, |at, ids| {
            let ids = ids & self.coded[at];
            let Some(room) = payload.get_mut(len..) else { return false };
            let (section, age, codes) = (&self.sections[at], self.age(at), &self.codes[at]);
            let copied = room.get_mut(..section.len).filter(|_| section.ids == ids);
            let part = if let Some(copied) = copied {
                copied.copy_from_slice(&section.bytes[..section.len]);
                Some((section.len, ids))
            } else {
                let whole = write_section(codes, age, ids, room).map(|part| (part, ids));
                whole.or_else(|| {
                    let fitting = fitting(codes, ids, room.len());
                    Some((write_section(codes, age, fitting, room)?, fitting))
                })
            };
            let Some((part, taken)) = part else { return false };
            (len, written) = (len + part, written | taken);
            taken == ids
        });
        (!written.is_empty() || due.is_empty()).then_some((len, written))
    }
}

/// Writes the section of these entities; `None` if there is no room for it, or nothing in it.
fn write_section(codes: &[Code; 256], age: u16, ids: Ids, buf: &mut [u8]) -> Option<usize> {
    if ids.is_empty() {
        return None;
    }
    *buf.first_chunk_mut()? = age.to_be_bytes();
    let head = AGE_LEN + id_codec::write(&ids, &mut buf[AGE_LEN..])?;
    let mut writer = BitWriter::new(&mut buf[head..]);
    ids.iter().for_each(|id| codes[usize::from(id)].put(&mut writer));
    Some(head + writer.finish()?)
}

/// The first of these entities, as many as have room.
fn fitting(codes: &[Code; 256], ids: Ids, room: usize) -> Ids {
    let mut left = room.saturating_sub(AGE_LEN + MAX_IDS_LEN) * 8;
    let fits = |id: &u8| {
        let bits = codes[usize::from(*id)].bits();
        let is_fit = bits <= left;
        left = left.saturating_sub(bits);
        is_fit
    };
    ids.iter().take_while(fits).collect()
}
