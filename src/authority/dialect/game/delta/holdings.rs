//! The bodies that one client has acknowledged, by broadcast; and the entities that it is shown.

use super::history::{History, slot_of};
use super::{KEPT, MAX_AGE};
use crate::authority::Sight;
use crate::authority::ids::Ids;
use crate::channel::sequence::Sequences;
use crate::wire::control::ControlHeader;

/// The number of packets under way that are remembered: a snapshot of 255 entities without baselines is six.
const REMEMBERED: u32 = 64;

/// A packet that was sent: the broadcast and the entities in it.
#[derive(Clone, Copy, Debug, Default)]
struct Sent {
    sequence: u16,
    number: u32,
    ids: Ids,
}

/// The packets that may still be acknowledged.
#[derive(Clone, Debug)]
struct UnderWay {
    sent: [Sent; REMEMBERED as usize],
    next: u32,
    /// Bit n: the packet in place n is under way.
    bits: u64,
}

impl UnderWay {
    fn push(&mut self, sent: Sent) {
        self.sent[self.next as usize] = sent;
        self.bits |= 1 << self.next;
        self.next = (self.next + 1) % REMEMBERED;
    }

    /// Takes out the packets that a header acknowledges, and those that no later one can.
    fn acknowledged(&mut self, header: ControlHeader, mut take: impl FnMut(&Sent)) {
        let mut left = self.bits;
        while left != 0 {
            let place = left.trailing_zeros();
            left &= left - 1;
            let sent = &self.sent[place as usize];
            if Sequences::acknowledges(header, sent.sequence) {
                take(sent);
                self.bits &= !(1 << place);
            } else if header.ack.wrapping_sub(sent.sequence).cast_signed() > 32 {
                self.bits &= !(1 << place);
            }
        }
    }
}

/// The entities that a client is not shown in every broadcast, and those that this one still has to show.
#[derive(Clone, Copy, Debug, Default)]
struct Shows {
    far: Ids,
    hidden: Ids,
    due: Ids,
}

/// The bodies and packets of one client that asked for deltas, in 3.7 KB.
#[derive(Clone, Debug)]
pub(crate) struct Holdings {
    asked: bool,
    /// The number of the broadcast that was planned last.
    number: u32,
    /// By the place of a broadcast: the bodies that the client has of it.
    known: [Ids; KEPT],
    under_way: UnderWay,
    shows: Shows,
}

impl Holdings {
    pub(crate) fn new() -> Self {
        let under_way = UnderWay { sent: [Sent::default(); REMEMBERED as usize], next: 0, bits: 0 };
        let (known, shows) = ([Ids::NONE; KEPT], Shows::default());
        Self { asked: false, number: 0, known, under_way, shows }
    }

    /// The client asks for deltas, and holds nothing.
    pub(crate) fn ask(&mut self) {
        (self.asked, self.known, self.under_way.bits) = (true, [Ids::NONE; KEPT], 0);
    }

    pub(crate) fn are_asked_for(&self) -> bool {
        self.asked
    }

    /// Takes in the acks of a packet that was checked.
    pub(crate) fn acknowledged(&mut self, header: ControlHeader) {
        let Self { number, known, under_way, .. } = self;
        under_way.acknowledged(header, |sent| {
            if number.wrapping_sub(sent.number) <= MAX_AGE {
                let known = &mut known[slot_of(sent.number)];
                *known = *known | sent.ids;
            }
        });
    }

    /// Chooses the entities of the newest broadcast that the client is shown. A quarter of them are checked again.
    pub(crate) fn plan(&mut self, history: &mut History, sight: impl Fn(u8) -> Sight) {
        self.number = history.number();
        self.known[slot_of(self.number)] = Ids::NONE;
        let phase = Ids::of_phase(self.number);
        let Shows { far, hidden, due } = &mut self.shows;
        (*far, *hidden) = (far.without(&phase), hidden.without(&phase));
        for id in (history.ids() & phase).iter() {
            match sight(id) {
                Sight::Near => {}
                Sight::Far => far.insert(id),
                Sight::Hidden => hidden.insert(id),
            }
        }
        *due = history.ids().without(hidden).without(&far.without(&phase));
        history.prepare(*due, &self.known);
    }

    /// Writes the payload of the next DELTA of the broadcast; `None` once all were written. The first is written even if it
    /// shows nothing: it says that the server is there.
    pub(crate) fn write(
        &mut self,
        history: &History,
        is_first: bool,
        applied: u32,
        payload: &mut [u8],
    ) -> Option<(usize, Written)> {
        if self.shows.due.is_empty() && !is_first {
            return None;
        }
        let (len, ids) = history.write(self.shows.due, &self.known, applied, payload)?;
        self.shows.due = self.shows.due.without(&ids);
        Some((len, Written(ids)))
    }

    /// Notes the number of the packet that carries a payload.
    pub(crate) fn sent(&mut self, sequence: u16, Written(ids): Written) {
        self.under_way.push(Sent { sequence, number: self.number, ids });
    }
}

/// The entities of a payload that was written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written(Ids);
