//! The history of checksums: our own, those to send, those to compare.

use crate::{Frame, FrameRing};

/// How many of the peer's checksums can wait to be compared: no peer is further ahead than window and delay.
const WAITING: usize = 32;

/// How many of our own are kept, for a peer that is late.
const KEPT: u32 = 64;

/// The outcome of comparing two checksums of one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Comparison {
    pub(crate) frame: Frame,
    pub(crate) ours: u32,
    pub(crate) theirs: u32,
}

impl Comparison {
    pub(crate) fn matches(&self) -> bool {
        self.ours == self.theirs
    }
}

#[derive(Clone, Copy, Debug)]
struct ToSend {
    frame: Frame,
    value: u32,
    /// The end of the inputs in the first packet that carried it: any acknowledgement of those proves its arrival.
    carried_with: Option<Frame>,
}

/// Checksums of every frame that is a multiple of the cadence. Our own are taken of certain states only, and a
/// peer's is compared only once our own is here: predicted states would raise false alarms.
#[derive(Clone, Debug)]
pub(crate) struct Checksums {
    cadence: u32,
    next: Frame,
    /// By frame / cadence.
    ours: FrameRing<u32>,
    /// The newest, until it has arrived. One before it has been under way for a whole cadence by then, and what
    /// differs goes on to differ: to wait for its acknowledgement would only make the news older.
    to_send: Option<ToSend>,
    theirs: Vec<(Frame, u32)>,
    newest_compared: Option<Frame>,
    newest_match: Option<Frame>,
    compared: u64,
}

impl Checksums {
    pub(crate) fn new(cadence: u16) -> Self {
        Self {
            cadence: u32::from(cadence).max(1),
            next: Frame::ZERO,
            ours: FrameRing::new(KEPT, || 0),
            to_send: None,
            theirs: Vec::with_capacity(WAITING),
            newest_compared: None,
            newest_match: None,
            compared: 0,
        }
    }

    /// The next frame whose state is to be hashed.
    #[inline]
    pub(crate) fn next(&self) -> Frame {
        self.next
    }

    /// Whether frames of this number have a checksum.
    #[inline]
    pub(crate) fn is_due(&self, frame: Frame) -> bool {
        frame.0.is_multiple_of(self.cadence)
    }

    fn index(&self, frame: Frame) -> Frame {
        Frame(frame.0 / self.cadence)
    }

    /// Takes in our own checksum of the [`next`](Self::next) frame.
    pub(crate) fn record(&mut self, value: u32) {
        let frame = self.next;
        self.ours.insert(self.index(frame), value);
        self.to_send = Some(ToSend { frame, value, carried_with: None });
        self.next = frame.plus(self.cadence);
    }

    /// The checksum that the next packet carries; its inputs end at `inputs_end`.
    #[inline]
    pub(crate) fn carry(&mut self, inputs_end: Frame) -> Option<(Frame, u32)> {
        let newest = self.to_send.as_mut()?;
        newest.carried_with.get_or_insert(inputs_end);
        Some((newest.frame, newest.value))
    }

    /// The peer has all our inputs before `inputs_end`.
    #[inline]
    pub(crate) fn acknowledged(&mut self, inputs_end: Frame) {
        if self.to_send.is_some_and(|newest| newest.carried_with.is_some_and(|end| end <= inputs_end)) {
            self.to_send = None;
        }
    }

    /// Takes in the peer's checksum of a frame, once however often it comes.
    pub(crate) fn heard(&mut self, frame: Frame, value: u32) {
        let known = self.newest_compared.is_some_and(|newest| frame <= newest)
            || self.theirs.iter().any(|(waiting, _)| *waiting == frame);
        if !known && self.theirs.len() < WAITING {
            self.theirs.push((frame, value));
        }
    }

    /// Compares the next pair that is complete.
    #[inline]
    pub(crate) fn compare(&mut self) -> Option<Comparison> {
        if self.theirs.is_empty() {
            return None;
        }
        let at = self.theirs.iter().position(|(frame, _)| *frame < self.next)?;
        let (frame, theirs) = self.theirs.remove(at);
        self.newest_compared = Some(self.newest_compared.map_or(frame, |newest| newest.max(frame)));
        let ours = *self.ours.get(self.index(frame))?;
        self.compared += 1;
        if ours == theirs {
            self.newest_match = Some(self.newest_match.map_or(frame, |newest| newest.max(frame)));
        }
        Some(Comparison { frame, ours, theirs })
    }

    /// The newest frame on which both sides agreed.
    pub(crate) fn newest_match(&self) -> Option<Frame> {
        self.newest_match
    }

    /// How many checksums were compared.
    pub(crate) fn compared(&self) -> u64 {
        self.compared
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_goes_into_every_packet_until_one_that_carried_it_has_arrived() {
        let mut checksums = Checksums::new(30);
        assert_eq!(checksums.carry(Frame(5)), None);
        checksums.record(0xA);
        assert_eq!(checksums.carry(Frame(10)), Some((Frame(0), 0xA)));
        assert_eq!(checksums.carry(Frame(12)), Some((Frame(0), 0xA)));
        checksums.acknowledged(Frame(9));
        assert_eq!(
            checksums.carry(Frame(13)),
            Some((Frame(0), 0xA)),
            "no packet with it has arrived for certain"
        );
        checksums.acknowledged(Frame(10));
        assert_eq!(checksums.carry(Frame(14)), None);
    }

    #[test]
    fn a_newer_checksum_does_not_wait_for_an_older_one() {
        let mut checksums = Checksums::new(1);
        checksums.record(1);
        assert_eq!(checksums.carry(Frame(3)), Some((Frame(0), 1)));
        checksums.record(2);
        checksums.acknowledged(Frame(99));
        assert_eq!(
            checksums.carry(Frame(100)),
            Some((Frame(1), 2)),
            "it was never carried, so it is not acknowledged"
        );
    }

    #[test]
    fn nothing_is_compared_before_our_own_is_certain_and_then_once() {
        let mut checksums = Checksums::new(30);
        checksums.record(7);
        checksums.heard(Frame(30), 9);
        checksums.heard(Frame(0), 7);
        checksums.heard(Frame(0), 8);
        assert_eq!(checksums.compare().map(|c| (c.frame, c.matches())), Some((Frame(0), true)));
        assert_eq!(checksums.compare(), None);
        checksums.heard(Frame(0), 8);
        assert_eq!(checksums.compare(), None, "settled long ago");
        checksums.record(8);
        assert_eq!(checksums.compare(), Some(Comparison { frame: Frame(30), ours: 8, theirs: 9 }));
        assert_eq!((checksums.newest_match(), checksums.compared()), (Some(Frame(0)), 2));
    }

    #[test]
    fn a_flood_of_checksums_takes_no_memory() {
        let mut checksums = Checksums::new(1);
        for frame in 0..10_000 {
            checksums.heard(Frame(frame), 0);
        }
        assert_eq!(checksums.theirs.len(), WAITING);
        assert_eq!(checksums.theirs.capacity(), WAITING);
    }
}
