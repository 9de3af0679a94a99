//! The two streams of inputs: ours to the peer and the peer's to us, as RBN1 packets.

use super::lobby::InputFormat;
use super::measures::Measures;
use super::outbox::Outbox;
use crate::channel::refusal::Refusal;
use crate::protocol::time::{Span, Time};
use crate::session::peer::rate::SendRate;
use crate::wire::message::{MAX_WINDOW_AND_DELAY, Message};
use crate::wire::rbn1::{self, Flags, InputHeader, InputPacket};
use crate::wire::{Numbering, WireFrame};
use crate::{Frame, Input};
use core::ops::Range;

/// A match that is over repeats its last inputs this often in all.
const MAX_RESENDS: u32 = 120;

/// The most inputs that can be unacknowledged: we are at most window and delay ahead of the peer's newest input here, and
/// the peer was as far ahead of the newest input that it had acknowledged then.
const MAX_UNACKED_FRAMES: u32 = 2 * MAX_WINDOW_AND_DELAY as u32;

/// How far start and ack of a packet may lie behind what is known. A forged ack can be wrong by all unacknowledged inputs,
/// and the true one that follows it must be taken. A wider range would make blind guesses cheaper.
const MAX_BEHIND_FRAMES: u32 = MAX_UNACKED_FRAMES;

/// The most inputs that one packet carries.
pub(super) const MAX_INPUTS: u32 = InputPacket::MAX_INPUTS as u32;

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
    /// The flags of input packets that were agreed on.
    flags: Flags,
    /// The number of axes of each input.
    axes: u8,
    frame_length: Span,
    outbox: Outbox,
    rate: SendRate,
    measures: Measures,
    /// Whether the last part of inputs that did not fit one packet was the oldest.
    sent_oldest: bool,
    /// Packets that repeated the last inputs after the end.
    resends: u32,
}

impl InputStream {
    pub(super) fn new(now: Time, frame_length: Span, format: InputFormat, seed: u64) -> Self {
        let InputFormat { numbering, flags, axes } = format;
        Self {
            numbering,
            flags,
            axes,
            frame_length,
            outbox: Outbox::new(),
            rate: SendRate::new(frame_length),
            measures: Measures::new(now, flags, seed),
            sent_oldest: false,
            resends: 0,
        }
    }

    /// Goes on in a match: the peer has all our inputs before `acked`, and those before `sent_end` were sent before.
    pub(super) fn resume_at(&mut self, acked: Frame, sent_end: Frame) {
        self.outbox.resume_at(acked, sent_end);
        self.rate.resume_at(sent_end);
    }

    /// The flags that an input packet of this match may have.
    #[inline]
    pub(super) fn flags(&self) -> Flags {
        self.flags
    }

    /// Frames of this match and their numbers on the wire.
    #[inline]
    pub(super) fn numbering(&self) -> Numbering {
        self.numbering
    }

    /// Checks the frame numbers of an input packet; changes nothing. The peer's inputs before `known` are here.
    #[inline]
    pub(super) fn check(&self, packet: &InputPacket<'_>, known: Frame) -> Result<Run, Refusal> {
        if packet.axes() != self.axes {
            return Err(Refusal::InputAxes);
        }
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
        self.measures.received();
    }

    /// Takes in a checked packet. `Some` is the ack, if it is higher than every one before.
    #[inline]
    pub(super) fn apply(&mut self, now: Time, run: Run) -> Option<Frame> {
        self.measures.received();
        let acked = self.outbox.acknowledged(run.acked)?;
        self.rate.acknowledged(now, Frame(acked.0 - 1));
        Some(acked)
    }

    /// The unacknowledged frames, and at least the newest, if the local inputs end at `end`. `None` while there is no input.
    #[inline]
    pub(super) fn unacknowledged(&self, end: Frame) -> Option<Range<Frame>> {
        let newest = end.checked_sub(1)?;
        Some(self.outbox.acked().min(newest)..end)
    }

    /// The part of unacknowledged inputs that goes into one packet where all of them do not fit: the newest, because those
    /// before them have been in 32 packets and their acks are on the way. If the ack of the oldest is overdue, the peer
    /// may miss it; every second packet then carries the oldest part.
    #[cold]
    pub(super) fn next_part(&mut self, now: Time, Range { start, end }: Range<Frame>) -> Range<Frame> {
        self.sent_oldest = !self.sent_oldest && self.rate.is_overdue(now, start);
        if self.sent_oldest { start..start.plus(MAX_INPUTS) } else { Frame(end.0 - MAX_INPUTS)..end }
    }

    /// Writes an input packet with the inputs of the frames `run`, twice as they come from the engine, an ack of the peer's inputs before `known`, and a
    /// checksum if there is one.
    // Always inlined: as a call its arguments would go through memory, for every packet.
    #[inline(always)]
    pub(super) fn write(
        &mut self,
        now: Time,
        run: &Range<Frame>,
        (buttons, inputs): (&[[u8; 2]], impl ExactSizeIterator<Item = Input>),
        known: Frame,
        checksum: Option<(Frame, u32)>,
        buf: &mut [u8],
    ) -> Option<usize> {
        let numbering = self.numbering;
        let header = InputHeader {
            start_frame: numbering.wire(run.start),
            ack_frame: numbering.ack(known),
            checksum: checksum.map(|(frame, value)| rbn1::Checksum { frame: numbering.wire(frame), value }),
            time: None,
            loss: None,
            axes: self.axes,
        };
        let len = if self.measures.has_block_due(now) {
            self.write_measured(now, header, known, (buttons, inputs), buf)
        } else {
            rbn1::encode_run(&header, buttons, inputs, buf).ok()
        }?;
        let copy_at = self.rate.sends_copies().then(|| now + self.frame_length / 2);
        self.outbox.sent(&buf[..len], run.end, copy_at);
        self.rate.sent(now, Frame(run.end.0 - 1));
        Some(len)
    }

    /// Writes an input packet with the blocks that are due.
    #[cold]
    #[inline(never)]
    fn write_measured(
        &mut self,
        now: Time,
        header: InputHeader,
        known: Frame,
        (buttons, inputs): (&[[u8; 2]], impl ExactSizeIterator<Item = Input>),
        buf: &mut [u8],
    ) -> Option<usize> {
        let (time, loss) = self.measures.take_blocks(now, self.rate.sent_packets(), known);
        rbn1::encode_run(&InputHeader { time, loss, ..header }, buttons, inputs, buf).ok()
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

    /// Asks for the packet of a frame, unless that of the next frame will do. `false` if it will.
    #[inline]
    pub(super) fn ask_for_frame(&mut self) -> bool {
        let sends = !self.rate.skips();
        if sends {
            self.outbox.ask();
        }
        sends
    }

    /// Counts a packet that repeats the last inputs after the end.
    pub(super) fn count_resend(&mut self) {
        self.resends = self.resends.saturating_add(1);
    }

    /// Whether the last inputs have been repeated often enough for a match that is over.
    pub(super) fn has_resent_enough(&self) -> bool {
        self.resends >= MAX_RESENDS
    }

    /// Counts lost packets from the next counts of the peer on: those that were lost in an outage say nothing about the link.
    pub(super) fn restart_counts(&mut self) {
        self.measures.restart_counts();
        self.rate.restart_counts();
    }

    /// Takes in what is left of the peer's window, in 1/65,536 of a frame.
    pub(super) fn set_slack(&mut self, slack: i32) {
        self.rate.set_slack(slack);
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

    /// When the next report is due; never if blocks take its place.
    pub(super) fn next_report(&self) -> Time {
        self.measures.next_report()
    }

    /// The report that is due at `now`; `None` before the peer's first input.
    pub(super) fn take_report(&mut self, now: Time, known: Frame) -> Option<Message<'static>> {
        self.measures.take_report(now, self.rate.sent_packets(), known, self.numbering)
    }

    /// Takes in the peer's report. Only differences count, and those are small: 16 bits of each number are enough.
    pub(super) fn reported(&mut self, now: Time, sent: u32, received: u32, newest: WireFrame) {
        let newest = self.numbering.frame(newest);
        self.measures.reported(now, (sent as u16, received as u16), newest, &mut self.rate);
    }

    /// Takes in the time and loss blocks of a packet that was [applied](Self::apply); the peer's inputs before `known` are
    /// here. Those of a late packet are ignored. `Some` is an RTT sample.
    pub(super) fn measured(&mut self, now: Time, packet: &InputPacket<'_>, known: Frame) -> Option<Span> {
        let end = self.numbering.frame(packet.start_frame())?.plus(packet.count() as u32);
        let acked = self.numbering.acked(packet.ack_frame())?;
        if end < known { None } else { self.measures.measured(now, packet, acked, &mut self.rate) }
    }

    /// The share of our packets that is lost on the way, 0 to 1.
    pub(super) fn loss_out(&self) -> Option<f32> {
        self.rate.loss_permille().map(|permille| permille as f32 / 1_000.0)
    }

    /// The share of the peer's packets that is lost on the way, 0 to 1.
    pub(super) fn loss_in(&self) -> Option<f32> {
        self.measures.loss_in()
    }

    /// Second copies sent so far.
    pub(super) fn copies(&self) -> u64 {
        self.outbox.copies()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Span = Span::from_micros(16_667);

    fn at(frame: u32) -> Time {
        Time::ZERO + FRAME * frame
    }

    fn stream() -> InputStream {
        let numbering = Numbering::new(WireFrame(1_000));
        InputStream::new(Time::ZERO, FRAME, InputFormat { numbering, flags: Flags::VERSION_1, axes: 0 }, 1)
    }

    /// Sends a packet with inputs of the frames up to `end`, at the time of the frame before it. Answers its frames.
    fn send(stream: &mut InputStream, end: u32) -> (u32, u32) {
        send_at(stream, at(end - 1), end)
    }

    fn send_at(stream: &mut InputStream, now: Time, end: u32) -> (u32, u32) {
        let mut run = stream.unacknowledged(Frame(end)).unwrap();
        if run.end.since(run.start) > MAX_INPUTS {
            run = stream.next_part(now, run);
        }
        let inputs = vec![Input::NEUTRAL; run.end.since(run.start) as usize];
        let mut buf = [0; InputPacket::MAX_LEN];
        let buttons = vec![[0; 2]; inputs.len()];
        stream.write(now, &run, (&buttons, inputs.into_iter()), Frame(5), None, &mut buf).unwrap();
        (run.start.0, run.end.0)
    }

    /// Checks a packet with `count` inputs from `start` on, from a peer that has our inputs before `acked`.
    fn check(
        stream: &InputStream,
        start: u32,
        count: usize,
        acked: u32,
        known: u32,
    ) -> Result<(u32, u32, u32), Refusal> {
        let numbering = stream.numbering();
        let header = InputHeader {
            start_frame: numbering.wire(Frame(start)),
            ack_frame: numbering.ack(Frame(acked)),
            ..InputHeader::default()
        };
        let mut buf = [0; InputPacket::MAX_LEN];
        let len = InputPacket::encode(&header, vec![Input::NEUTRAL; count], &mut buf).unwrap();
        let run = stream.check(&InputPacket::decode(&buf[..len], Flags::ALL).unwrap(), Frame(known))?;
        Ok((run.start.0, run.end.0, run.acked.0))
    }

    fn acknowledge(stream: &mut InputStream, now: Time, acked: u32) -> Option<Frame> {
        stream.apply(now, Run { start: Frame::ZERO, end: Frame::ZERO, acked: Frame(acked) })
    }

    #[test]
    fn numbers_of_a_packet_are_taken_up_to_their_edges() {
        let mut stream = stream();
        for end in (10..=100).step_by(10) {
            send(&mut stream, end);
            acknowledge(&mut stream, at(end), end);
        }
        assert_eq!(check(&stream, 100, 8, 100, 100), Ok((100, 108, 100)));
        assert_eq!(check(&stream, 101, 1, 100, 100), Err(Refusal::InputGap));
        assert_eq!(check(&stream, 100, 1, 101, 100), Err(Refusal::InputAckUnsent));
        assert_eq!(check(&stream, 100, 30, 100, 100), Ok((100, 130, 100)), "window and delay");
        assert_eq!(check(&stream, 100, 31, 100, 100), Err(Refusal::InputBeyondWindow));
        assert_eq!(check(&stream, 40, 32, 100, 100), Ok((40, 72, 100)), "60 behind");
        assert_eq!(check(&stream, 39, 32, 100, 100), Err(Refusal::InputOutdated));
        assert_eq!(check(&stream, 65, 5, 40, 100), Ok((65, 70, 40)));
        assert_eq!(check(&stream, 65, 4, 39, 100), Err(Refusal::InputOutdated), "an ack of long ago");
    }

    #[test]
    fn packet_carries_all_unacknowledged_inputs() {
        let mut stream = stream();
        assert_eq!(stream.unacknowledged(Frame(0)), None, "there is no input yet");
        assert_eq!(stream.unacknowledged(Frame(3)), Some(Frame(0)..Frame(3)));
        send(&mut stream, 3);
        assert!(stream.has_sent(Frame(3)) && !stream.has_sent(Frame(4)));
        assert_eq!(acknowledge(&mut stream, at(9), 2), Some(Frame(2)));
        assert_eq!(stream.unacknowledged(Frame(5)), Some(Frame(2)..Frame(5)));
        assert!(stream.has_acked(Frame(2)) && !stream.has_acked(Frame(3)));
        assert_eq!(acknowledge(&mut stream, at(10), 3), Some(Frame(3)));
        assert_eq!(acknowledge(&mut stream, at(11), 3), None, "no news");
        assert_eq!(stream.unacknowledged(Frame(3)), Some(Frame(2)..Frame(3)), "the newest");
        assert_eq!(acknowledge(&mut stream, at(12), 1), None);
        assert_eq!(stream.unacknowledged(Frame(5)), Some(Frame(1)..Frame(5)), "an ack may go back");
    }

    #[test]
    fn far_link_gets_the_newest_inputs_in_every_packet() {
        let mut stream = stream();
        for end in 1..200 {
            let sent = send(&mut stream, end);
            assert_eq!(sent, (end.saturating_sub(32), end), "acks come after 40 frames");
            if end > 40 {
                acknowledge(&mut stream, at(end - 1), end - 40);
            }
            assert!(
                stream.ask_for_frame() && stream.take_due(),
                "a long round trip is no reason to send less"
            );
        }
    }

    #[test]
    fn inputs_whose_ack_is_overdue_fill_every_second_packet() {
        let mut stream = stream();
        for end in 1..=100 {
            send(&mut stream, end);
            if end > 36 {
                acknowledge(&mut stream, at(end - 1), end - 36);
            }
        }
        // From now on the acks stay at 64.
        for end in 101..=105 {
            assert_eq!(send(&mut stream, end), (end - 32, end), "it may only be late");
        }
        let sent: Vec<_> = (106..110).map(|end| send(&mut stream, end)).collect();
        assert_eq!(sent, [(64, 96), (75, 107), (64, 96), (77, 109)]);
        // A stalled match repeats both parts.
        let sent: Vec<_> = (110..113).map(|now| send_at(&mut stream, at(now), 109)).collect();
        assert_eq!(sent, [(64, 96), (77, 109), (64, 96)]);
        acknowledge(&mut stream, at(113), 77);
        assert_eq!(send_at(&mut stream, at(113), 109), (77, 109), "all of them fit again");
    }

    #[test]
    fn withheld_acks_keep_every_packet_within_32_inputs() {
        let mut stream = stream();
        assert_eq!(check(&stream, 0, 30, 0, 0), Ok((0, 30, 0)));
        assert_eq!(check(&stream, 0, 31, 0, 0), Err(Refusal::InputBeyondWindow), "no more without an ack");
        for now in 0..1_000 {
            let (start, end) = send_at(&mut stream, at(now), (now + 1).min(MAX_UNACKED_FRAMES));
            assert!(end - start <= 32);
            assert!(!stream.is_due(), "one packet for one request");
        }
    }

    #[test]
    fn last_inputs_are_repeated_120_times() {
        let mut stream = stream();
        let repeated = (0..1_000).take_while(|_| {
            let more = !stream.has_resent_enough();
            stream.count_resend();
            more
        });
        assert_eq!(repeated.count(), 120);
    }
}
