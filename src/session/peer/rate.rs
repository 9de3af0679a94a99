//! The send rate of input packets: one a frame, two on a lossy link, every second frame on a congested one.

use super::congestion::Congestion;
use super::copies::Copies;
use super::policing::{Policing, Rate};
use crate::Frame;
use crate::protocol::time::{Span, Time};
use crate::rollback::ring::FrameRing;

/// An RTT sample counts for at most this many frames above the average: one late packet is no congestion.
const SAMPLE_CAP_FRAMES: u32 = 8;
const RTT_WEIGHT: u32 = 16;

/// An ack that comes this many frames later than usual is overdue: a few packets in a row were lost.
const OVERDUE_FRAMES: u32 = 4;

/// The RTT that is assumed before the first ack.
const FIRST_RTT: Span = Span::from_secs(1);

/// How many frames back the time and the count of sending are remembered. At most 60 inputs are unacknowledged, and no packet is
/// taken that acknowledges 60 fewer than another one before.
const REMEMBERED: u32 = 128;

/// A rate controller: decides how many packets go out for a frame, from the loss that the peer reports and from the
/// RTT of input acks.
#[derive(Clone, Debug)]
pub(crate) struct SendRate {
    frame_length: Span,
    /// For each frame: when its first packet went out, and how many packets had gone out by then.
    first_sends: FrameRing<(Time, u32)>,
    /// The acks of earlier frames measure no RTT.
    timed_from: Frame,
    sent_packets: u32,
    last_report: Option<Reported>,
    /// Thousandths, smoothed.
    loss: Option<u32>,
    rtt: Option<Span>,
    copies: Copies,
    congestion: Congestion,
    policing: Policing,
    /// The rest of the peer's window, in 1/65,536 of a frame.
    slack: i32,
    /// Whether every second packet is left out.
    is_thinned: bool,
    /// Whether the last packet was left out.
    skipped: bool,
}

#[derive(Clone, Copy, Debug)]
struct Reported {
    /// It wraps.
    received: u16,
    sent: u32,
}

impl SendRate {
    pub(crate) fn new(frame_length: Span) -> Self {
        Self {
            frame_length,
            first_sends: FrameRing::new(REMEMBERED, Default::default),
            timed_from: Frame::ZERO,
            sent_packets: 0,
            last_report: None,
            loss: None,
            rtt: None,
            copies: Copies::default(),
            congestion: Congestion::default(),
            policing: Policing::default(),
            slack: i32::MAX,
            is_thinned: false,
            skipped: false,
        }
    }

    /// Goes on in a match in which this frame is sent next. The peer acknowledges earlier ones only when it plays again: the wait would
    /// be taken for the RTT, and a queue that grows later would not show.
    pub(crate) fn resume_at(&mut self, next: Frame) {
        self.timed_from = next;
    }

    /// Notes that a packet goes out whose newest input is that of `newest`.
    #[inline]
    pub(crate) fn sent(&mut self, now: Time, newest: Frame) {
        self.sent_packets = self.sent_packets.wrapping_add(1);
        self.first_sends.insert_first(newest, (now, self.sent_packets));
    }

    /// Notes that the last packet goes out once more.
    #[inline]
    pub(crate) fn sent_copy(&mut self) {
        self.sent_packets = self.sent_packets.wrapping_add(1);
    }

    /// How many packets have gone out, copies included; it wraps.
    pub(crate) fn sent_packets(&self) -> u32 {
        self.sent_packets
    }

    /// Takes in the first ack of all inputs up to `newest`: an RTT sample.
    #[inline]
    pub(crate) fn acknowledged(&mut self, now: Time, newest: Frame) {
        let Some(&(sent_at, _)) = self.first_sends.get(newest).filter(|_| newest >= self.timed_from) else {
            return;
        };
        let sample = now.since(sent_at);
        let rtt = match self.rtt {
            None => sample,
            Some(rtt) => {
                let capped = sample.min(rtt + self.frame_length * SAMPLE_CAP_FRAMES);
                rtt.averaged(capped, RTT_WEIGHT)
            }
        };
        self.rtt = Some(rtt);
        self.copies.measured(now, rtt, self.frame_length);
    }

    /// Takes in the peer's report: it has received this many input packets in all, and `newest` was the newest frame
    /// among them.
    pub(crate) fn reported(&mut self, now: Time, received: u16, newest: Frame) {
        let Some(&(_, sent)) = self.first_sends.get(newest) else { return };
        let last = self.last_report.replace(Reported { received, sent });
        let Some(last) = last else { return };
        let sent = sent.wrapping_sub(last.sent);
        // Nothing new since the last report, or an older one that was overtaken.
        if sent == 0 || sent > u32::MAX / 2 {
            return;
        }
        let arrived = u32::from(received.wrapping_sub(last.received)).min(sent);
        let sample = ((u64::from(sent - arrived) * 1_000) / u64::from(sent)) as u32;
        let loss = self.loss.map_or(sample, |loss| (loss * 3 + sample) / 4);
        self.loss = Some(loss);
        let rtt = self.rtt.unwrap_or_default();
        if self.policing.reported(Rate::of(self.is_thinned, self.copies.is_on()), sample) {
            self.copies.blame(now);
        }
        // Packets that are left out make the slack less, and copies are no remedy for that.
        let slack = if self.is_thinned { i32::MAX } else { self.slack };
        self.copies.lost(now, loss, rtt, slack);
        self.congestion.measured(rtt);
        self.is_thinned = self.congestion.is_on() || self.policing.is_on();
    }

    /// Takes in what is left of the peer's window, in 1/65,536 of a frame.
    pub(crate) fn set_slack(&mut self, slack: i32) {
        self.slack = slack;
    }

    /// The next report of the peer's is the first.
    pub(crate) fn restart_counts(&mut self) {
        self.last_report = None;
    }

    /// Whether the ack of all inputs up to `frame` should have come by now.
    pub(crate) fn is_overdue(&self, now: Time, frame: Frame) -> bool {
        let rtt = self.rtt.unwrap_or(FIRST_RTT);
        let Some((sent_at, _)) = self.first_sends.get(frame) else { return true };
        now.since(*sent_at) > rtt + self.frame_length * OVERDUE_FRAMES
    }

    /// Whether each packet is sent once more, half a frame later.
    #[inline]
    pub(crate) fn sends_copies(&self) -> bool {
        self.copies.is_on()
    }

    /// Whether the packet that is due now is left out: the next one carries its inputs too.
    #[inline]
    pub(crate) fn skips(&mut self) -> bool {
        self.is_thinned && self.skips_second()
    }

    /// Leaves out every second packet.
    #[cold]
    fn skips_second(&mut self) -> bool {
        self.skipped = !self.skipped;
        self.skipped
    }

    /// The share of our packets that is lost on the way, in thousandths; `None` before the second report.
    pub(crate) fn loss_permille(&self) -> Option<u32> {
        self.loss
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Span = Span::from_micros(16_667);

    fn at(frame: u32) -> Time {
        Time::ZERO + FRAME * frame
    }

    /// A link that loses every `lost`-th packet and takes `rtt` frames there and back, `rtt_with_copy` with copies on.
    struct Link {
        rate: SendRate,
        received: u32,
        packets: u32,
    }

    impl Link {
        fn new() -> Self {
            Self { rate: SendRate::new(FRAME), received: 0, packets: 0 }
        }

        fn run(&mut self, frames: core::ops::Range<u32>, lost: u32, rtt: u32, rtt_with_copy: u32) -> u32 {
            let mut with_copy = 0;
            for frame in frames {
                let copies = 1 + u32::from(self.rate.sends_copies());
                with_copy += copies - 1;
                for _ in 0..copies {
                    self.rate.sent(at(frame), Frame(frame));
                    self.packets += 1;
                    self.received += u32::from(lost == 0 || !self.packets.is_multiple_of(lost));
                }
                let rtt = if self.rate.sends_copies() { rtt_with_copy } else { rtt };
                if frame > rtt {
                    self.rate.acknowledged(at(frame), Frame(frame - rtt));
                }
                if frame % 60 == 59 {
                    self.rate.reported(at(frame), self.received as u16, Frame(frame));
                }
            }
            with_copy
        }
    }

    #[test]
    fn round_trip_is_counted_from_the_first_packet_with_an_input() {
        let mut rate = SendRate::new(FRAME);
        rate.sent(at(0), Frame(0));
        rate.sent(at(5), Frame(0));
        rate.acknowledged(at(8), Frame(0));
        assert_eq!(rate.rtt, Some(FRAME * 8));
    }

    #[test]
    fn wait_of_a_match_that_is_resumed_is_no_round_trip() {
        let mut link = Link::new();
        link.rate.resume_at(Frame(10));
        (0..180).for_each(|frame| link.rate.sent(at(frame), Frame(9)));
        link.rate.acknowledged(at(188), Frame(9));
        assert_eq!(link.rate.rtt, None);
        link.run(200..400, 5, 8, 14);
        assert!(!link.rate.sends_copies(), "the queue that the copies fill shows");
    }

    #[test]
    fn overtaken_report_is_no_loss() {
        let mut rate = SendRate::new(FRAME);
        (0..240).for_each(|frame| rate.sent(at(frame), Frame(frame)));
        for (received, newest) in [(60, 59), (180, 179), (120, 119), (240, 239)] {
            rate.reported(at(240), received, Frame(newest));
            assert!(matches!(rate.loss_permille(), None | Some(0)), "{received}: {:?}", rate.loss_permille());
        }
        assert!(!rate.sends_copies());
    }

    #[test]
    fn clean_link_gets_one_packet_a_frame() {
        let mut link = Link::new();
        assert_eq!(link.run(0..6_000, 0, 8, 8), 0);
        assert_eq!(link.rate.loss_permille(), Some(0));
    }

    #[test]
    fn loss_switches_the_copy_on_and_ten_calm_seconds_switch_it_off() {
        let mut link = Link::new();
        let with_copy = link.run(0..1_200, 5, 8, 8);
        assert!(with_copy > 1_000, "on after the second report: {with_copy}");
        assert!(link.rate.loss_permille().unwrap().abs_diff(200) < 20, "{:?}", link.rate.loss_permille());
        link.run(1_200..2_000, 0, 8, 8);
        assert!(link.rate.sends_copies(), "not calm for ten seconds yet");
        link.run(2_000..3_000, 0, 8, 8);
        assert!(!link.rate.sends_copies());
    }

    #[test]
    fn copy_that_congests_the_link_is_blocked_longer_each_time() {
        let mut link = Link::new();
        let first = link.run(0..1_800, 5, 8, 14);
        assert!(first > 0 && first < 120, "stopped within seconds: {first}");
        assert_eq!(link.run(1_800..3_600, 5, 8, 14), 0, "blocked for a minute");
        let second = link.run(3_600..5_400, 5, 8, 14);
        assert!(second > 0 && second < 120, "tried again: {second}");
        assert_eq!(link.run(5_400..9_000, 5, 8, 14), 0, "blocked for two");
    }

    #[test]
    fn growing_queue_halves_the_packets() {
        let mut link = Link::new();
        link.run(0..1_200, 0, 40, 40);
        let skipped = |link: &mut Link| [(); 4].map(|()| link.rate.skips());
        assert_eq!(skipped(&mut link), [false; 4], "a long way is no queue");
        link.run(1_200..2_400, 0, 53, 53);
        assert_eq!(skipped(&mut link), [true, false, true, false]);
        link.run(2_400..3_600, 0, 40, 40);
        assert_eq!(skipped(&mut link), [false; 4], "it has drained");
    }

    #[test]
    fn thinned_packets_get_no_copies_for_want_of_slack() {
        for (rtt, copies) in [(40, true), (53, false)] {
            let mut link = Link::new();
            link.run(0..1_200, 0, 40, 40);
            link.rate.set_slack(0);
            link.run(1_200..1_800, 0, rtt, rtt);
            assert_eq!(link.run(1_800..2_400, 50, rtt, rtt) > 0, copies, "{rtt} frames there and back");
        }
    }

    #[test]
    fn one_late_ack_hardly_moves_the_round_trip() {
        let mut rate = SendRate::new(FRAME);
        for frame in 0..100 {
            rate.sent(at(frame), Frame(frame));
            rate.acknowledged(at(frame + 8), Frame(frame));
        }
        let before = rate.rtt.unwrap();
        rate.sent(at(200), Frame(200));
        rate.acknowledged(at(800), Frame(200));
        // An excess of 8 frames at most, with a weight of a sixteenth.
        assert_eq!(rate.rtt, Some((before * 15 + before + FRAME * 8) / 16));
    }

    #[test]
    fn late_ack_is_not_taken_for_congestion() {
        let mut link = Link::new();
        link.run(0..600, 5, 8, 8);
        assert!(link.rate.sends_copies());
        link.rate.sent(at(600), Frame(600));
        link.rate.acknowledged(at(700), Frame(600));
        assert!(link.rate.sends_copies());
    }

    #[test]
    fn round_trip_growth_below_two_frames_is_no_congestion() {
        for (with_copy, stays) in [(9, true), (10, true), (12, false)] {
            let mut link = Link::new();
            link.run(0..2_000, 5, 8, with_copy);
            assert_eq!(link.rate.sends_copies(), stays, "from 8 to {with_copy} frames");
        }
    }
}
