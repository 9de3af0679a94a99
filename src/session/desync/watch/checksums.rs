//! The checksums of a match: our own, the one to send, and the peer's that wait to be compared.

use super::kept::Kept;
use crate::Frame;

/// The most checksums of the peer that wait to be compared. No peer is further ahead than window and delay.
const MAX_WAITING: usize = 32;

/// How many of our own checksums are kept for a peer that is late.
const KEPT: u32 = 64;

/// Two checksums of one frame.
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

/// A checksum of the peer that passed [`Checksums::check`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CheckedChecksum {
    frame: Frame,
    value: u32,
}

#[derive(Clone, Copy, Debug)]
struct ToSend {
    frame: Frame,
    value: u32,
    /// The end of the inputs in the first packet that carried it. An ack of those inputs proves that it has arrived.
    carried_with: Option<Frame>,
}

/// The checksums of every frame that is a multiple of the cadence.
///
/// Our own are taken of certain states only, and a peer's is compared only once our own is here: checksums of predicted
/// states would raise false alarms.
#[derive(Clone, Debug)]
pub(crate) struct Checksums {
    cadence: u32,
    /// The first frame that has a checksum: 0, or the one at which the match went on.
    first: Frame,
    next: Frame,
    ours: Kept<u32>,
    /// Our newest checksum, until it is acked. A newer checksum replaces one that is not acked yet: two states that
    /// differ go on to differ, so that retransmitting the older checksum would only delay the news.
    to_send: Option<ToSend>,
    theirs: Vec<CheckedChecksum>,
    newest_compared: Option<Frame>,
    newest_match: Option<Frame>,
    compared: u64,
}

impl Checksums {
    pub(crate) fn new(cadence: u16) -> Self {
        Self {
            cadence: u32::from(cadence).max(1),
            first: Frame::ZERO,
            next: Frame::ZERO,
            ours: Kept::new(KEPT, || 0),
            to_send: None,
            theirs: Vec::with_capacity(MAX_WAITING),
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

    /// Takes in our own checksum of the [`next`](Self::next) frame.
    pub(crate) fn record(&mut self, value: u32) {
        let frame = self.next;
        if let Some(slot) = self.ours.claim(frame) {
            *slot = value;
        }
        self.to_send = Some(ToSend { frame, value, carried_with: None });
        self.next = self.after(frame);
    }

    /// The first frame after `frame` that has a checksum.
    fn after(&self, frame: Frame) -> Frame {
        Frame((frame.0 / self.cadence + 1).saturating_mul(self.cadence))
    }

    /// Goes on at `frame`, which has a checksum of its own if its state `is_kept`.
    pub(crate) fn resume_at(&mut self, frame: Frame, is_kept: bool) {
        self.first = frame;
        self.next = if is_kept { frame } else { self.after(frame) };
        (self.to_send, self.newest_match, self.newest_compared) = (None, None, None);
        self.theirs.clear();
    }

    /// Leaves out the [`next`](Self::next) frame, whose state is gone.
    pub(crate) fn leave_out(&mut self) {
        self.next = self.after(self.next);
    }

    /// Begins again after `frame`: our own checksums up to it are void.
    pub(crate) fn restart_after(&mut self, frame: Frame) {
        self.next = self.after(frame);
        self.to_send = None;
        self.newest_match = None;
    }

    /// Leaves out the peer's checksums up to `frame`, which are void: those that wait, and those that come.
    pub(crate) fn ignore_up_to(&mut self, frame: Frame) {
        self.newest_compared = self.newest_compared.max(Some(frame));
        self.theirs.retain(|waiting| waiting.frame > frame);
    }

    /// The number of frames from one checksum to the next.
    pub(crate) fn cadence_frames(&self) -> u32 {
        self.cadence
    }

    /// The checksum that the next input packet carries. Its inputs end before `inputs_end`.
    #[inline]
    pub(crate) fn carry(&mut self, inputs_end: Frame) -> Option<(Frame, u32)> {
        let newest = self.to_send.as_mut()?;
        newest.carried_with.get_or_insert(inputs_end);
        Some((newest.frame, newest.value))
    }

    /// The peer has acked all our inputs before `inputs_end`.
    #[inline]
    pub(crate) fn acknowledged(&mut self, inputs_end: Frame) {
        if self.to_send.is_some_and(|newest| newest.carried_with.is_some_and(|end| end <= inputs_end)) {
            self.to_send = None;
        }
    }

    /// Checks a checksum of a peer that has acked our inputs before `acked`; `None` if it is implausible.
    ///
    /// Plausible is a frame that has a checksum, and whose state needs no input of ours that the peer does not have.
    #[inline]
    pub(crate) fn check(&self, frame: Frame, value: u32, acked: Frame) -> Option<CheckedChecksum> {
        let has_one = frame.0.is_multiple_of(self.cadence) || frame == self.first;
        let plausible = frame <= acked && has_one;
        plausible.then_some(CheckedChecksum { frame, value })
    }

    /// Takes in a checksum of the peer. Repetitions change nothing.
    pub(crate) fn heard(&mut self, checksum: CheckedChecksum) {
        let known = self.newest_compared.is_some_and(|newest| checksum.frame <= newest)
            || self.theirs.iter().any(|waiting| waiting.frame == checksum.frame);
        if !known && self.theirs.len() < MAX_WAITING {
            self.theirs.push(checksum);
        }
    }

    /// Whether a checksum of the peer waits to be compared.
    #[inline]
    pub(crate) fn has_waiting(&self) -> bool {
        !self.theirs.is_empty()
    }

    /// Compares the next pair that is complete.
    #[inline]
    pub(crate) fn compare(&mut self) -> Option<Comparison> {
        let at = self.theirs.iter().position(|checksum| checksum.frame < self.next)?;
        let CheckedChecksum { frame, value: theirs } = self.theirs.remove(at);
        self.newest_compared = self.newest_compared.max(Some(frame));
        let ours = *self.ours.get(frame)?;
        self.compared += 1;
        if ours == theirs {
            self.newest_match = self.newest_match.max(Some(frame));
        }
        Some(Comparison { frame, ours, theirs })
    }

    /// The newest frame on which both sides agreed.
    pub(crate) fn newest_match(&self) -> Option<Frame> {
        self.newest_match
    }

    /// Forgets the newest frame on which both sides agreed.
    pub(crate) fn forget_match(&mut self) {
        self.newest_match = None;
    }

    /// How many checksums were compared.
    pub(crate) fn compared(&self) -> u64 {
        self.compared
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the peer tells it once it has all our inputs.
    fn hear(checksums: &mut Checksums, frame: Frame, value: u32) {
        let checked = checksums.check(frame, value, Frame(u32::MAX)).expect("plausible");
        checksums.heard(checked);
    }

    #[test]
    fn checksum_is_repeated_until_acknowledged() {
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
    fn newer_checksum_does_not_wait_for_an_older_one() {
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
        hear(&mut checksums, Frame(30), 9);
        hear(&mut checksums, Frame(0), 7);
        hear(&mut checksums, Frame(0), 8);
        assert_eq!(checksums.compare().map(|c| (c.frame, c.matches())), Some((Frame(0), true)));
        assert_eq!(checksums.compare(), None);
        hear(&mut checksums, Frame(0), 8);
        assert_eq!(checksums.compare(), None, "settled long ago");
        checksums.record(8);
        assert_eq!(checksums.compare(), Some(Comparison { frame: Frame(30), ours: 8, theirs: 9 }));
        assert_eq!((checksums.newest_match(), checksums.compared()), (Some(Frame(0)), 2));
    }

    #[test]
    fn flood_of_checksums_takes_no_memory() {
        let mut checksums = Checksums::new(1);
        for frame in 0..10_000 {
            hear(&mut checksums, Frame(frame), 0);
        }
        assert_eq!(checksums.theirs.len(), MAX_WAITING);
        assert_eq!(checksums.theirs.capacity(), MAX_WAITING);
    }

    #[test]
    fn checksum_that_the_peer_cannot_have_is_implausible() {
        let checksums = Checksums::new(30);
        assert!(checksums.check(Frame(30), 1, Frame(30)).is_some());
        assert_eq!(checksums.check(Frame(30), 1, Frame(29)), None, "needs inputs that it does not have");
        assert_eq!(checksums.check(Frame(31), 1, Frame(90)), None, "no frame with a checksum");
    }

    #[test]
    fn changed_cadence_does_not_mistake_one_frame_for_another() {
        let mut checksums = Checksums::new(30);
        (0..4).for_each(|at| checksums.record(at * 30));
        checksums.cadence = 20;
        (0..2).for_each(|at| checksums.record(120 + at * 20));
        for frame in [0, 30, 60, 90, 120, 140] {
            assert_eq!(checksums.ours.get(Frame(frame)), Some(&frame));
        }
        hear(&mut checksums, Frame(20), 1);
        assert_eq!(checksums.compare(), None, "frame 20 was never hashed");
        hear(&mut checksums, Frame(120), 120);
        assert_eq!(checksums.compare().map(|c| (c.frame, c.matches())), Some((Frame(120), true)));
    }

    #[test]
    fn newest_match_never_goes_back() {
        let mut checksums = Checksums::new(30);
        hear(&mut checksums, Frame(60), 2);
        hear(&mut checksums, Frame(30), 1);
        (0..3).for_each(|value| checksums.record(value));
        let compared: Vec<Frame> = std::iter::from_fn(|| checksums.compare()).map(|c| c.frame).collect();
        assert_eq!(compared, [Frame(60), Frame(30)], "in the order in which they came");
        assert_eq!(checksums.newest_match(), Some(Frame(60)));
        hear(&mut checksums, Frame(60), 3);
        assert_eq!(checksums.compare(), None, "compared once, although an older one came after it");
    }
}
