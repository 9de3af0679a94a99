//! The two streams of inputs: ours to the peer and the peer's to us, as RBN1 packets.

use super::outbox::Outbox;
use crate::peer::rate::SendRate;
use crate::peer::refusal::Refusal;
use crate::time::{Span, Time};
use crate::wire::message::{MAX_WINDOW_AND_DELAY, Message};
use crate::wire::rbn1::{self, InputPacket};
use crate::wire::{Numbering, WireFrame};
use crate::{Buttons, Frame};
use core::ops::Range;

/// How often each side reports how many packets it has received.
const REPORT_EVERY: Span = Span::from_secs(1);

/// A match that is over repeats its last inputs this often in all.
const MAX_RESENDS: u32 = 120;

/// How far start and ack of a packet may lie behind what is known: 32 values of each are taken. An older packet brings
/// nothing new, and a wider range would make blind guesses cheaper.
const MAX_BEHIND_FRAMES: u32 = 31;

/// The frames of an input packet that passed the checks of its numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// The first input's frame.
    pub(super) start: Frame,
    /// The frame after the last input's.
    pub(super) end: Frame,
    /// The peer has all our inputs before this frame.
    pub(super) acked: Frame,
}

/// Sends our inputs until they are acknowledged, checks the peer's, and measures the loss of both.
#[derive(Clone, Debug)]
pub(super) struct InputStream {
    numbering: Numbering,
    frame_length: Span,
    outbox: Outbox,
    rate: SendRate,
    next_report: Time,
    /// Input packets received; it wraps.
    received: u32,
    /// The peer's count of packets sent in its last report, and our count of packets received by then.
    last_report: Option<(u32, u32)>,
    loss_in: Option<f32>,
    /// Packets that repeated the last inputs after the end.
    resends: u32,
}

impl InputStream {
    pub(super) fn new(now: Time, frame_length: Span, numbering: Numbering) -> Self {
        Self {
            numbering,
            frame_length,
            outbox: Outbox::new(),
            rate: SendRate::new(frame_length),
            next_report: now + REPORT_EVERY,
            received: 0,
            last_report: None,
            loss_in: None,
            resends: 0,
        }
    }

    /// Frames of this match and their numbers on the wire.
    #[inline]
    pub(super) fn numbering(&self) -> Numbering {
        self.numbering
    }

    /// Checks the frame numbers of an input packet; changes nothing. The peer's inputs before `known` are here.
    #[inline]
    pub(super) fn check(&self, packet: &InputPacket<'_>, known: Frame) -> Result<Run, Refusal> {
        let start = self.numbering.frame(packet.start_frame()).ok_or(Refusal::BeforeMatch)?;
        if start > known {
            return Err(Refusal::InputGap);
        }
        // At most 32 beyond `known`: this cannot overflow.
        let end = start.plus(packet.count() as u32);
        let acked = self.numbering.acked(packet.ack_frame()).ok_or(Refusal::BeforeMatch)?;
        if acked > self.outbox.sent_end() {
            return Err(Refusal::InputAckUnsent);
        }
        // No peer can step further than window and delay beyond the inputs of ours that it has.
        if end.0 > acked.0 + u32::from(MAX_WINDOW_AND_DELAY) {
            return Err(Refusal::InputBeyondWindow);
        }
        if known.since(start) > MAX_BEHIND_FRAMES || self.outbox.acked().since(acked) > MAX_BEHIND_FRAMES {
            return Err(Refusal::InputOutdated);
        }
        Ok(Run { start, end, acked })
    }

    /// Counts a packet that came late: it is not lost, and brings nothing else.
    pub(super) fn late(&mut self) {
        self.received = self.received.wrapping_add(1);
    }

    /// Takes in a checked packet. `Some` is the ack, if it is higher than every one before.
    #[inline]
    pub(super) fn apply(&mut self, now: Time, run: Run) -> Option<Frame> {
        self.received = self.received.wrapping_add(1);
        let acked = self.outbox.acknowledged(run.acked)?;
        self.rate.acknowledged(now, Frame(acked.0 - 1));
        Some(acked)
    }

    /// The frames whose inputs the next packet carries, if the local inputs end at `end`: all unacknowledged ones, and
    /// at least the newest. `None` while there is no input.
    #[inline]
    pub(super) fn unacknowledged(&self, end: Frame) -> Option<Range<Frame>> {
        let newest = end.checked_sub(1)?;
        Some(self.outbox.acked().min(newest)..end)
    }

    /// Writes an input packet with `inputs` of the frames `run`, an ack of the peer's inputs before `known`, and a
    /// checksum if there is one.
    #[inline]
    pub(super) fn write(
        &mut self,
        now: Time,
        run: &Range<Frame>,
        inputs: impl ExactSizeIterator<Item = Buttons>,
        known: Frame,
        checksum: Option<(Frame, u32)>,
        buf: &mut [u8],
    ) -> Option<usize> {
        let numbering = self.numbering;
        let header = rbn1::Header {
            start_frame: numbering.wire(run.start),
            ack_frame: numbering.ack(known),
            checksum: checksum.map(|(frame, value)| rbn1::Checksum { frame: numbering.wire(frame), value }),
        };
        let len = rbn1::encode(&header, inputs, buf).ok()?;
        let copy_at = self.rate.sends_copies().then(|| now + self.frame_length / 2);
        self.outbox.sent(&buf[..len], run.end, copy_at);
        self.rate.sent(now, Frame(run.end.0 - 1));
        Some(len)
    }

    /// Writes the second copy of the last packet, if it is due.
    #[inline]
    pub(super) fn write_copy(&mut self, now: Time, buf: &mut [u8]) -> Option<usize> {
        let len = self.outbox.take_copy(now, buf)?;
        self.rate.sent_copy();
        Some(len)
    }

    /// When the second copy is due.
    #[inline]
    pub(super) fn copy_at(&self) -> Option<Time> {
        self.outbox.copy_at()
    }

    /// Asks for a packet after `frame` was stepped, unless the next frame's packet will carry its input.
    #[inline]
    pub(super) fn stepped(&mut self, frame: Frame) {
        if !self.rate.skips(frame) {
            self.outbox.ask();
        }
    }

    /// Counts a packet that repeats the last inputs after the end.
    pub(super) fn count_resend(&mut self) {
        self.resends = self.resends.saturating_add(1);
    }

    /// Whether the last inputs have been repeated often enough for a match that is over.
    pub(super) fn has_resent_enough(&self) -> bool {
        self.resends >= MAX_RESENDS
    }

    /// Asks for a packet.
    pub(super) fn ask(&mut self) {
        self.outbox.ask();
    }

    /// Whether a packet is to be sent at once.
    #[inline]
    pub(super) fn is_due(&self) -> bool {
        self.outbox.is_due()
    }

    /// Whether a packet is to be sent at once; the request is taken.
    #[inline]
    pub(super) fn take_due(&mut self) -> bool {
        self.outbox.take_due()
    }

    /// Whether the peer has all our inputs before `end`.
    pub(super) fn has_acked(&self, end: Frame) -> bool {
        self.outbox.acked() >= end
    }

    /// Whether our inputs before `frame` have been sent.
    pub(super) fn has_sent(&self, frame: Frame) -> bool {
        frame <= self.outbox.sent_end()
    }

    /// When the next report is due.
    pub(super) fn next_report(&self) -> Time {
        self.next_report
    }

    /// The report that is due at `now`, and the time of the next one; `None` before the peer's first input.
    pub(super) fn take_report(&mut self, now: Time, known: Frame) -> Option<Message<'static>> {
        self.next_report = now + REPORT_EVERY;
        Some(Message::Report {
            sent: self.rate.sent_packets(),
            received: self.received,
            newest_frame: self.numbering.wire(known.checked_sub(1)?),
        })
    }

    /// Takes in the peer's report: samples of the loss in both directions.
    pub(super) fn reported(&mut self, now: Time, sent: u32, received: u32, newest: WireFrame) {
        if let Some(newest) = self.numbering.frame(newest) {
            self.rate.reported(now, received, newest);
        }
        if let Some((sent_before, here_before)) = self.last_report.replace((sent, self.received)) {
            let (sent, here) = (sent.wrapping_sub(sent_before), self.received.wrapping_sub(here_before));
            if sent > 0 && sent < u32::MAX / 2 {
                let sample = 1.0 - here.min(sent) as f32 / sent as f32;
                self.loss_in = Some(self.loss_in.map_or(sample, |loss| loss + (sample - loss) / 4.0));
            }
        }
    }

    /// The share of our packets that is lost on the way, 0 to 1.
    pub(super) fn loss_out(&self) -> Option<f32> {
        self.rate.loss_permille().map(|permille| permille as f32 / 1_000.0)
    }

    /// The share of the peer's packets that is lost on the way, 0 to 1.
    pub(super) fn loss_in(&self) -> Option<f32> {
        self.loss_in
    }

    /// Second copies sent so far.
    pub(super) fn copies(&self) -> u64 {
        self.outbox.copies()
    }
}
