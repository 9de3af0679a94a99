//! The second copy of an input packet: when it helps, and when it is the problem.

use crate::{Frame, FrameRing};
use core::time::Duration;

/// Loss at which the copy is switched on, and below which it is switched off, in thousandths.
const ON_AT: u32 = 50;
const OFF_BELOW: u32 = 20;
const OFF_AFTER: Duration = Duration::from_secs(10);

/// A round trip sample counts for at most so many frames above the average: one late packet is no congestion.
const SAMPLE_CAP_FRAMES: u64 = 8;
const RTT_WEIGHT: u64 = 16;

/// The copy is blamed when the round trip has grown by this much since it was switched on.
const BLAMED_AT_FRAMES: u64 = 2;
const FIRST_BLOCK: Duration = Duration::from_secs(60);
const LONGEST_BLOCK: Duration = Duration::from_secs(16 * 60);

/// Above this round trip even one packet a frame is too many.
const EVERY_SECOND_ABOVE_FRAMES: u64 = 20;

/// How many frames back the time and the count of sending are remembered: more than a round trip can be.
const REMEMBERED: u32 = 512;

/// Decides how many packets go out for a frame, from the loss that the peer reports and from the round trip of
/// acknowledgements.
#[derive(Clone, Debug)]
pub(crate) struct Copies {
    frame_nanos: u64,
    /// For each frame: when its first packet went out, in nanoseconds, and how many packets had gone out by then.
    sent: FrameRing<(u64, u32)>,
    sent_packets: u32,
    last_report: Option<Reported>,
    /// Thousandths, smoothed.
    loss: Option<u32>,
    on: bool,
    calm_since: Option<Duration>,
    rtt_nanos: Option<u64>,
    rtt_nanos_at_switch: u64,
    blocked_until: Duration,
    next_block: Duration,
}

#[derive(Clone, Copy, Debug)]
struct Reported {
    received: u32,
    sent: u32,
}

impl Copies {
    pub(crate) fn new(frame: Duration) -> Self {
        Self {
            frame_nanos: frame.as_nanos() as u64,
            sent: FrameRing::new(REMEMBERED, Default::default),
            sent_packets: 0,
            last_report: None,
            loss: None,
            on: false,
            calm_since: None,
            rtt_nanos: None,
            rtt_nanos_at_switch: 0,
            blocked_until: Duration::ZERO,
            next_block: FIRST_BLOCK,
        }
    }

    /// A packet whose newest input is that of `newest` goes out.
    #[inline]
    pub(crate) fn sent(&mut self, now: Duration, newest: Frame) {
        self.sent_packets = self.sent_packets.wrapping_add(1);
        if self.sent.get(newest).is_none() {
            self.sent.insert(newest, (now.as_nanos() as u64, self.sent_packets));
        }
    }

    /// The last packet goes out once more.
    #[inline]
    pub(crate) fn sent_copy(&mut self) {
        self.sent_packets = self.sent_packets.wrapping_add(1);
    }

    /// The peer has all inputs up to `newest`, and said so for the first time.
    #[inline]
    pub(crate) fn acknowledged(&mut self, now: Duration, newest: Frame) {
        let Some(&(sent_at, _)) = self.sent.get(newest) else { return };
        let sample = (now.as_nanos() as u64).saturating_sub(sent_at);
        let rtt = match self.rtt_nanos {
            None => sample,
            Some(rtt) => {
                let capped = sample.min(rtt + self.frame_nanos * SAMPLE_CAP_FRAMES);
                (rtt * (RTT_WEIGHT - 1) + capped) / RTT_WEIGHT
            }
        };
        self.rtt_nanos = Some(rtt);
        if self.on && rtt > self.rtt_nanos_at_switch + self.frame_nanos * BLAMED_AT_FRAMES {
            self.on = false;
            self.blocked_until = now + self.next_block;
            self.next_block = (self.next_block * 2).min(LONGEST_BLOCK);
        }
    }

    /// The peer reports how many input packets it has received in all, when `newest` was the newest frame it had seen.
    pub(crate) fn reported(&mut self, now: Duration, received: u32, newest: Frame) {
        let Some(&(_, sent)) = self.sent.get(newest) else { return };
        let last = self.last_report.replace(Reported { received, sent });
        let Some(last) = last else { return };
        let sent = sent.wrapping_sub(last.sent);
        // Nothing new since the last report, or an older one that was overtaken.
        if sent == 0 || sent > u32::MAX / 2 {
            return;
        }
        let arrived = received.wrapping_sub(last.received).min(sent);
        let sample = ((u64::from(sent - arrived) * 1_000) / u64::from(sent)) as u32;
        let loss = self.loss.map_or(sample, |loss| (loss * 3 + sample) / 4);
        self.loss = Some(loss);
        self.switch(now, loss);
    }

    fn switch(&mut self, now: Duration, loss: u32) {
        if !self.on {
            if loss >= ON_AT && now >= self.blocked_until {
                (self.on, self.calm_since) = (true, None);
                self.rtt_nanos_at_switch = self.rtt_nanos.unwrap_or_default();
            }
        } else if loss >= OFF_BELOW {
            self.calm_since = None;
        } else {
            let since = *self.calm_since.get_or_insert(now);
            self.on = now.saturating_sub(since) < OFF_AFTER;
        }
    }

    /// Whether each packet is sent once more, half a frame later.
    #[inline]
    pub(crate) fn on(&self) -> bool {
        self.on
    }

    /// Whether `frame` gets no packet of its own: the next one carries its input too.
    #[inline]
    pub(crate) fn skips(&self, frame: Frame) -> bool {
        frame.0 % 2 == 1
            && self.rtt_nanos.is_some_and(|rtt| rtt > self.frame_nanos * EVERY_SECOND_ABOVE_FRAMES)
    }

    /// The part of our packets that is lost on the way, in thousandths; `None` before the second report.
    pub(crate) fn loss_permille(&self) -> Option<u32> {
        self.loss
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Duration = Duration::from_micros(16_667);

    fn at(frame: u32) -> Duration {
        FRAME * frame
    }

    /// A link that loses every `lost`-th packet and takes `rtt` frames there and back, `rtt_with_copy` with copies on.
    struct Link {
        copies: Copies,
        received: u32,
        packets: u32,
    }

    impl Link {
        fn new() -> Self {
            Self { copies: Copies::new(FRAME), received: 0, packets: 0 }
        }

        fn run(&mut self, frames: core::ops::Range<u32>, lost: u32, rtt: u32, rtt_with_copy: u32) -> u32 {
            let mut with_copy = 0;
            for frame in frames {
                let copies = 1 + u32::from(self.copies.on());
                with_copy += copies - 1;
                for _ in 0..copies {
                    self.copies.sent(at(frame), Frame(frame));
                    self.packets += 1;
                    self.received += u32::from(lost == 0 || !self.packets.is_multiple_of(lost));
                }
                let rtt = if self.copies.on() { rtt_with_copy } else { rtt };
                if frame > rtt {
                    self.copies.acknowledged(at(frame), Frame(frame - rtt));
                }
                if frame % 60 == 59 {
                    self.copies.reported(at(frame), self.received, Frame(frame));
                }
            }
            with_copy
        }
    }

    #[test]
    fn a_clean_link_gets_one_packet_a_frame() {
        let mut link = Link::new();
        assert_eq!(link.run(0..6_000, 0, 8, 8), 0);
        assert_eq!(link.copies.loss_permille(), Some(0));
    }

    #[test]
    fn loss_switches_the_copy_on_and_ten_calm_seconds_switch_it_off() {
        let mut link = Link::new();
        let with_copy = link.run(0..1_200, 5, 8, 8);
        assert!(with_copy > 1_000, "on after the second report: {with_copy}");
        assert!(link.copies.loss_permille().unwrap().abs_diff(200) < 20, "{:?}", link.copies.loss_permille());
        link.run(1_200..2_000, 0, 8, 8);
        assert!(link.copies.on(), "not calm for ten seconds yet");
        link.run(2_000..3_000, 0, 8, 8);
        assert!(!link.copies.on());
    }

    #[test]
    fn a_copy_that_fills_the_link_is_stopped_and_blocked_longer_each_time() {
        let mut link = Link::new();
        let first = link.run(0..1_800, 5, 8, 14);
        assert!(first > 0 && first < 120, "stopped within seconds: {first}");
        assert_eq!(link.run(1_800..3_600, 5, 8, 14), 0, "blocked for a minute");
        let second = link.run(3_600..5_400, 5, 8, 14);
        assert!(second > 0 && second < 120, "tried again: {second}");
        assert_eq!(link.run(5_400..9_000, 5, 8, 14), 0, "blocked for two");
    }

    #[test]
    fn a_very_long_round_trip_halves_the_packets() {
        let mut link = Link::new();
        link.run(0..600, 0, 12, 12);
        assert!(!link.copies.skips(Frame(601)));
        link.run(600..1_800, 0, 24, 24);
        assert!(link.copies.skips(Frame(1_801)));
        assert!(!link.copies.skips(Frame(1_802)));
    }
}
