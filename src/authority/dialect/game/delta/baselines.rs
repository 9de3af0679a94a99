//! The bodies that a client has received, and the reader of DELTA packets.

use super::bits::BitReader;
use super::code::{Baseline, Code};
use super::{KEPT, id_codec};
use crate::Frame;
use crate::authority::ids::Ids;
use crate::authority::{Body, Shown};

/// Why a DELTA was not read. Nothing of it was taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    /// It breaks a rule of the layout.
    Malformed,
    /// It is the difference to a body that is not here.
    NoBaseline,
}

/// The bodies of one frame, as far as they came.
#[derive(Clone, Debug)]
struct Slot {
    frame: Option<Frame>,
    ids: Ids,
    bodies: [Body; 256],
}

/// The last frames of which bodies came. All memory is taken at the start.
#[derive(Clone, Debug)]
pub(crate) struct Baselines {
    slots: Vec<Slot>,
    /// The place that the next frame takes.
    next: usize,
    frame_seconds: f32,
}

impl Baselines {
    pub(crate) fn new() -> Self {
        let slot = Slot { frame: None, ids: Ids::NONE, bodies: [Body::default(); 256] };
        Self { slots: vec![slot; KEPT], next: 0, frame_seconds: 0.0 }
    }

    pub(crate) fn set_frame_rate(&mut self, frame_rate: u16) {
        self.frame_seconds = 1.0 / f32::from(frame_rate);
    }

    fn slot(&self, frame: Frame) -> Option<&Slot> {
        self.slots.iter().find(|slot| slot.frame == Some(frame))
    }

    /// Reads the payload of a DELTA into `shown`: its frame, and the number of the last input applied. Keeps nothing.
    pub(crate) fn read(&self, payload: &[u8], shown: &mut Vec<Shown>) -> Result<(Frame, u32), Unread> {
        shown.clear();
        let left = &mut &*payload;
        let [tick, applied] = [take_u32(left), take_u32(left)];
        let (frame, applied) = tick.map(Frame).zip(applied).ok_or(Unread::Malformed)?;
        let mut seen = Ids::NONE;
        while !left.is_empty() {
            let age = take_u16(left).ok_or(Unread::Malformed)?;
            let ids = id_codec::take(left).ok_or(Unread::Malformed)?;
            if !(seen & ids).is_empty() {
                return Err(Unread::Malformed);
            }
            seen = seen | ids;
            *left = self.read_section(frame, age, ids, left, shown)?;
        }
        Ok((frame, applied))
    }

    /// Reads the bodies of one section, and returns the bytes after it.
    fn read_section<'a>(
        &self,
        frame: Frame,
        age: u16,
        ids: Ids,
        bytes: &'a [u8],
        shown: &mut Vec<Shown>,
    ) -> Result<&'a [u8], Unread> {
        let slot = match age {
            0 => None,
            _ => {
                let slot = self.slot(Frame(frame.0.wrapping_sub(age.into()))).ok_or(Unread::NoBaseline)?;
                if !ids.without(&slot.ids).is_empty() {
                    return Err(Unread::NoBaseline);
                }
                Some(slot)
            }
        };
        let (zeros, mut reader) = (Body::default(), BitReader::new(bytes));
        for id in ids.iter() {
            let body = slot.map_or(&zeros, |slot| &slot.bodies[usize::from(id)]);
            let baseline = Baseline { body, frames: age.into(), frame_seconds: self.frame_seconds };
            let body = Code::take(&mut reader, &baseline).ok_or(Unread::Malformed)?;
            shown.push(Shown { id: id.into(), body });
        }
        reader.rest().ok_or(Unread::Malformed)
    }

    /// Keeps the bodies of a packet that was read, as baselines of later ones.
    pub(crate) fn keep(&mut self, frame: Frame, shown: &[Shown]) {
        let at = self.slots.iter().position(|slot| slot.frame == Some(frame)).unwrap_or_else(|| {
            let at = self.next;
            self.next = (at + 1) % KEPT;
            (self.slots[at].frame, self.slots[at].ids) = (Some(frame), Ids::NONE);
            at
        });
        let slot = &mut self.slots[at];
        for Shown { id, body } in shown {
            slot.ids.insert(*id as u8);
            slot.bodies[usize::from(*id as u8)] = *body;
        }
    }
}

fn take_u16(left: &mut &[u8]) -> Option<u16> {
    left.split_off(..2)?.try_into().ok().map(u16::from_be_bytes)
}

fn take_u32(left: &mut &[u8]) -> Option<u32> {
    left.split_off(..4)?.try_into().ok().map(u32::from_be_bytes)
}
