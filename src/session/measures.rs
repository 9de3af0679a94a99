//! Measurements of the link during a match: the RTT and the loss, in blocks of input packets or, for a peer without them,
//! by PING and REPORT.

use crate::Frame;
use crate::protocol::time::{Span, Time};
use crate::session::peer::marks::Marks;
use crate::session::peer::rate::SendRate;
use crate::wire::message::Message;
use crate::wire::rbn1::{Flags, InputPacket, LossCounts, TimeSync};
use crate::wire::{Numbering, WireFrame};

/// How often each side tells how many packets it has sent and received.
const COUNTS_EVERY: Span = Span::from_secs(1);

/// When the first loss block is due: counting begins with it, and a second copy can be decided on a second later.
const FIRST_COUNTS: Span = Span::from_millis(250);

/// Counts input packets, and decides when a packet carries a time or a loss block.
#[derive(Clone, Debug)]
pub(super) struct Measures {
    /// `None` if the peer has no time blocks: the link pings instead.
    marks: Option<Marks>,
    /// Whether counts travel in a loss block; otherwise in a REPORT.
    has_loss_block: bool,
    next_counts: Time,
    /// When the next block of either kind is due.
    next_block: Time,
    /// Input packets received; it wraps.
    received: u32,
    /// The newest counts of the peer's: packets that it had sent, and packets that had arrived here by then.
    last: Option<(u16, u16)>,
    loss_in: Option<f32>,
}

impl Measures {
    /// Measurements from `now` on by the blocks that `flags` allow. Marks are drawn from `seed`.
    pub(super) fn new(now: Time, flags: Flags, seed: u64) -> Self {
        let mut measures = Self {
            marks: flags.has(Flags::TIME).then(|| Marks::new(now, seed)),
            has_loss_block: flags.has(Flags::LOSS),
            next_counts: now + if flags.has(Flags::LOSS) { FIRST_COUNTS } else { COUNTS_EVERY },
            next_block: Time::NEVER,
            received: 0,
            last: None,
            loss_in: None,
        };
        measures.plan();
        measures
    }

    fn plan(&mut self) {
        let marks = self.marks.as_ref().map_or(Time::NEVER, Marks::due);
        self.next_block = if self.has_loss_block { marks.min(self.next_counts) } else { marks };
    }

    /// Whether a packet that goes out now carries a block.
    #[inline]
    pub(super) fn has_block_due(&self, now: Time) -> bool {
        now >= self.next_block
    }

    /// The blocks of a packet that goes out now, after `sent` others, if the peer's inputs before `known` are here.
    #[cold]
    pub(super) fn take_blocks(
        &mut self,
        now: Time,
        sent: u32,
        known: Frame,
    ) -> (Option<TimeSync>, Option<LossCounts>) {
        let time = self.marks.as_mut().and_then(|marks| marks.take_due(now));
        let is_loss_due = self.has_loss_block && now >= self.next_counts;
        let loss = is_loss_due.then(|| {
            self.next_counts = now + COUNTS_EVERY;
            LossCounts { sent: sent as u16, received: self.received as u16 }
        });
        self.plan();
        // The counts refer to the acknowledged frame: there is none before the peer's first input.
        (time, loss.filter(|_| known > Frame::ZERO))
    }

    /// Counts an input packet.
    #[inline]
    pub(super) fn received(&mut self) {
        self.received = self.received.wrapping_add(1);
    }

    /// The next counts of the peer's are the first.
    pub(super) fn restart_counts(&mut self) {
        self.last = None;
    }

    /// When the next REPORT is due; never if counts travel in loss blocks.
    pub(super) fn next_report(&self) -> Time {
        if self.has_loss_block { Time::NEVER } else { self.next_counts }
    }

    /// The report that is due at `now`, and the time of the next one; `None` before the peer's first input.
    pub(super) fn take_report(
        &mut self,
        now: Time,
        sent: u32,
        known: Frame,
        numbering: Numbering,
    ) -> Option<Message<'static>> {
        self.next_counts = now + COUNTS_EVERY;
        let newest_frame: WireFrame = numbering.wire(known.checked_sub(1)?);
        Some(Message::Report { sent, received: self.received, newest_frame })
    }

    /// Takes in the blocks of a packet that is as new as any and was the last to be counted. The peer has our inputs before
    /// `acked`. `Some` is an RTT sample.
    pub(super) fn measured(
        &mut self,
        now: Time,
        packet: &InputPacket<'_>,
        acked: Frame,
        rate: &mut SendRate,
    ) -> Option<Span> {
        if let Some(LossCounts { sent, received }) = packet.loss() {
            self.counted(now, (sent, received), acked.checked_sub(1), rate);
        }
        self.marks.as_mut()?.received(now, packet.time()?)
    }

    /// Takes in the counts of a REPORT.
    pub(super) fn reported(
        &mut self,
        now: Time,
        counts: (u16, u16),
        newest: Option<Frame>,
        rate: &mut SendRate,
    ) {
        self.counted(now, counts, newest, rate);
    }

    /// Takes in the peer's counts of packets sent and received: samples of the loss in both directions, because only
    /// differences count. The peer had our inputs up to `newest`.
    fn counted(
        &mut self,
        now: Time,
        (sent, received): (u16, u16),
        newest: Option<Frame>,
        rate: &mut SendRate,
    ) {
        let here = self.received as u16;
        if let Some((sent_before, here_before)) = self.last {
            let sent = sent.wrapping_sub(sent_before);
            if sent == 0 {
                // The second copy of a packet, or nothing was sent in between.
                return;
            }
            // More than half of all numbers is an older count that was overtaken.
            if sent <= u16::MAX / 2 {
                let here = here.wrapping_sub(here_before);
                let sample = 1.0 - f32::from(here.min(sent)) / f32::from(sent);
                self.loss_in = Some(self.loss_in.map_or(sample, |loss| loss + (sample - loss) / 4.0));
            }
        }
        self.last = Some((sent, here));
        if let Some(newest) = newest {
            rate.reported(now, received, newest);
        }
    }

    /// The share of the peer's packets that is lost on the way, 0 to 1.
    pub(super) fn loss_in(&self) -> Option<f32> {
        self.loss_in
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Span = Span::from_micros(16_667);

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn measures(flags: Flags) -> Measures {
        Measures::new(at(0), flags, 1)
    }

    #[test]
    fn loss_is_packets_sent_minus_packets_received() {
        let (mut measures, mut rate) = (measures(Flags::VERSION_1), SendRate::new(FRAME));
        let mut report = |sent: u16, received: u32| {
            for _ in 0..received {
                measures.received();
            }
            measures.reported(at(1_000), (sent, 0), Some(Frame::ZERO), &mut rate);
            measures.loss_in().map(|loss| (loss * 1_000.0).round() as i32)
        };
        assert_eq!(report(65_500, 100), None, "the first is where counting begins");
        assert_eq!(report(64, 75), Some(250), "the count wraps");
        assert_eq!(report(164, 100), Some(188), "a quarter of the way to 0");
        assert_eq!(report(164, 0), Some(188), "nothing sent, nothing learnt");
        assert_eq!(report(174, 20), Some(141), "copies that come late are no negative loss");
        assert_eq!(report(169, 0), Some(141), "an older report that was overtaken");
    }

    #[test]
    fn report_of_packet_counts_is_due_every_second() {
        let mut measures = measures(Flags::VERSION_1);
        assert_eq!(measures.next_report(), at(1_000));
        measures.received();
        measures.received();
        let numbering = Numbering::new(WireFrame(1_000));
        let Some(Message::Report { sent, received, newest_frame }) =
            measures.take_report(at(1_300), 7, Frame(7), numbering)
        else {
            panic!("a report");
        };
        assert_eq!((sent, received, newest_frame), (7, 2, WireFrame(1_006)));
        assert_eq!(measures.next_report(), at(2_300));
        assert_eq!(measures.take_report(at(2_300), 9, Frame::ZERO, numbering), None, "nothing received yet");
        assert!(!measures.has_block_due(at(1_000_000)), "no blocks were agreed on");
    }

    /// The times of both blocks among packets that go out every 20 ms.
    fn blocks(flags: Flags) -> (Vec<u64>, Vec<u64>) {
        let mut measures = measures(flags);
        let (mut times, mut losses) = (Vec::new(), Vec::new());
        for ms in (0..3_000).step_by(20) {
            if measures.has_block_due(at(ms)) {
                let (time, loss) = measures.take_blocks(at(ms), 70_000, Frame(1));
                times.extend(time.map(|_| ms));
                losses.extend(loss.map(|_| ms));
                assert!(loss.is_none_or(|loss| loss.sent == 4_464), "it wraps");
            }
        }
        (times, losses)
    }

    #[test]
    fn time_blocks_slow_to_two_a_second_and_count_once() {
        let times = vec![0, 100, 200, 300, 400, 500, 600, 700, 800, 1_300, 1_800, 2_300, 2_800];
        assert_eq!(blocks(Flags::TIME.and(Flags::LOSS)), (times.clone(), vec![260, 1_260, 2_260]));
        assert_eq!(blocks(Flags::TIME), (times, vec![]));
        assert_eq!(blocks(Flags::LOSS), (vec![], vec![260, 1_260, 2_260]));
        assert_eq!(measures(Flags::LOSS).next_report(), Time::NEVER);
    }

    #[test]
    fn counts_wait_for_the_first_input_of_the_peer() {
        let mut measures = measures(Flags::LOSS);
        assert_eq!(measures.take_blocks(at(250), 5, Frame::ZERO), (None, None));
        assert!(!measures.has_block_due(at(1_249)) && measures.has_block_due(at(1_250)));
    }
}
