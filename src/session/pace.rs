//! The pace of a match: the frame clock, the frame lead that trims it, and the input delays of both sides.

use super::frame_clock::{FrameClock, RateChange, trim};
use super::lateness::{Late, Lateness, Look};
use super::lobby::Agreed;
use crate::channel::rtt::RoundTrip;
use crate::protocol::time::{Span, Time};
use crate::session::peer::arrivals::Arrivals;
use crate::session::peer::lead::{FrameLead, ONE_FRAME};
use crate::{Frame, FrameRate};

/// The host begins at most this much late. A longer round trip is unplayable anyway, or the handshake was held up.
const MAX_HEAD_START: Span = Span::from_millis(300);

/// Decides when frames are due.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    frame_length: Span,
    clock: FrameClock,
    lead: FrameLead,
    arrivals: Arrivals,
    lateness: Lateness,
    delay_frames: u32,
    /// Our delay as the peer was last told.
    told_delay_frames: u32,
    peer_delay_frames: u32,
    /// A delay that the peer has announced, and the frame from which on it holds.
    announced: Option<(Frame, u32)>,
}

impl Pace {
    /// A clock that starts now; at the host half a round trip later, when the joiner learns that it may begin, so that
    /// the opening does not roll back.
    pub(super) fn new(now: Time, rate: FrameRate, agreed: &Agreed, max_input_age: Option<Span>) -> Self {
        let frame_length = Span::from(rate.frame_length());
        let half_trip = (Span::from(agreed.round_trip.unwrap_or_default()) / 2).min(MAX_HEAD_START);
        let first_due = if agreed.is_host { now + half_trip } else { now };
        Self {
            frame_length,
            clock: FrameClock::new(first_due, rate),
            lead: FrameLead::default(),
            arrivals: Arrivals::new(now),
            lateness: Lateness::new(frame_length, max_input_age),
            delay_frames: u32::from(agreed.delay_frames),
            told_delay_frames: u32::from(agreed.announced_delay_frames),
            peer_delay_frames: u32::from(agreed.peer_delay_frames),
            announced: None,
        }
    }

    /// When the next frame is due.
    #[inline]
    pub(super) fn due(&self) -> Time {
        self.clock.due()
    }

    #[inline]
    pub(super) fn is_due(&self, now: Time) -> bool {
        self.clock.is_due(now)
    }

    /// Frame `stepped` was stepped while the peer's inputs before `known` were here: a sample of our own gap. Only for
    /// frames whose packet goes out, because the peer samples the same gap from that packet. Otherwise both machines would
    /// see a lead that neither has.
    #[inline(always)]
    pub(super) fn sample_gap(&mut self, stepped: Frame, known: Frame) {
        if known > Frame::ZERO {
            self.lead.stepped(gap(stepped, known));
        }
    }

    /// Frame `stepped` was stepped at `now`, while the peer's inputs before `known` were here.
    #[inline(always)]
    pub(super) fn stepped(&mut self, now: Time, stepped: Frame, known: Frame, rtt: &RoundTrip) {
        let Self { lead, arrivals, frame_length, .. } = self;
        let justified = || justified(*frame_length, lead, arrivals, rtt.smoothed());
        self.clock.stepped(now, lead.lead(), justified, || lead.behind(gap(stepped, known)));
    }

    /// Looks at the age of the peer's inputs and at the RTT.
    pub(super) fn look(&mut self, rtt: &RoundTrip) -> Option<Late> {
        if let Some(rtt) = rtt.smoothed() {
            self.clock.measured(rtt);
        }
        let mut lateness = self.lateness;
        let late = lateness.look(self.seen(rtt));
        self.lateness = lateness;
        late
    }

    /// Whether the last look found late inputs: the RTT is then measured closely.
    pub(super) fn is_suspicious(&self) -> bool {
        self.lateness.is_suspicious()
    }

    fn seen(&self, rtt: &RoundTrip) -> Look<'_> {
        let Self { lead, arrivals, delay_frames, .. } = self;
        Look { lead, arrivals, rtt: rtt.of_pongs(), delay_frames: *delay_frames }
    }

    /// How late the peer's inputs come, and by how much that is more than the way explains.
    pub(super) fn input_age(&self, rtt: &RoundTrip) -> (Span, Span) {
        let excess = self.lateness.excess(self.seen(rtt)).unwrap_or_default();
        (self.lateness.age(&self.lead), excess)
    }

    /// The rest of the peer's window of this many frames, in 1/65,536 of a frame.
    pub(super) fn peer_slack(&self, window_frames: u8) -> Option<i32> {
        Some(i32::from(window_frames) * ONE_FRAME - self.lead.peer_gap()?)
    }

    /// The change of the rate to tell the game of, each once.
    #[inline]
    pub(super) fn rate_change(&mut self) -> Option<RateChange> {
        self.clock.rate_change()
    }

    /// A frame was due at `now` and was not stepped.
    pub(super) fn stalled(&mut self, now: Time) {
        self.clock.stalled(now);
    }

    /// `frames` new inputs of the peer, those before `end`, came with an ack of ours before `acked`: a sample of its gap.
    #[inline]
    pub(super) fn heard(&mut self, now: Time, frames: u32, end: Frame, acked: Frame) {
        self.arrivals.heard(now, frames);
        if acked == Frame::ZERO {
            return;
        }
        if let Some((from, delay_frames)) = self.announced
            && end > from
        {
            (self.peer_delay_frames, self.announced) = (delay_frames, None);
        }
        let gap = end.0.wrapping_sub(acked.0).wrapping_sub(self.peer_delay_frames);
        self.lead.heard(gap.cast_signed());
    }

    /// A match that was paused or interrupted goes on: the time in which no frame came says nothing about the peer's rate.
    pub(super) fn go_on(&mut self, now: Time) {
        self.arrivals.skip_to(now);
    }

    /// A stalled frame has its input now, and is due at once.
    pub(super) fn hurry(&mut self, now: Time) {
        self.clock.hurry(now);
    }

    /// The input delay of this machine.
    #[inline]
    pub(super) fn delay_frames(&self) -> u32 {
        self.delay_frames
    }

    /// Changes the input delay of this machine.
    pub(super) fn set_delay(&mut self, delay_frames: u8) {
        self.delay_frames = u32::from(delay_frames);
    }

    /// Our delay, if it is not what the peer was last told.
    #[inline]
    pub(super) fn untold_delay(&self) -> Option<u8> {
        (self.told_delay_frames != self.delay_frames).then_some(self.delay_frames as u8)
    }

    /// The peer was told our delay.
    pub(super) fn told_delay(&mut self) {
        self.told_delay_frames = self.delay_frames;
    }

    /// The peer's delay is another one from frame `from` on.
    pub(super) fn peer_delay(&mut self, from: Frame, delay_frames: u8) {
        self.announced = Some((from, u32::from(delay_frames)));
    }

    /// How many frames this machine is ahead; negative if it is behind.
    pub(super) fn lead_frames(&self) -> f32 {
        self.lead.lead().map_or(0.0, |lead| lead as f32 / ONE_FRAME as f32)
    }

    /// By how much the last frame was made longer.
    pub(super) fn trim_micros(&self) -> i32 {
        self.clock.trim_micros()
    }

    /// How far the time between the last frame and the next has gone, from 0 to 1.
    pub(super) fn phase(&self, now: Time) -> f32 {
        self.clock.phase(now)
    }
}

/// How many frames this machine has stepped beyond the inputs of the peer that it has, with frame `stepped`.
#[inline(always)]
fn gap(stepped: Frame, known: Frame) -> i32 {
    stepped.0.wrapping_sub(known.0).wrapping_add(1).cast_signed()
}

/// The longest trim that the frames that arrive justify: they come later than the round trip explains, by the gap that
/// this machine sees, and no slower than they really come. None of this rests on the peer's word.
#[cold]
fn justified(frame_length: Span, lead: &FrameLead, arrivals: &Arrivals, rtt: Option<Span>) -> i64 {
    let (Some(gap), Some(rtt), Some(length)) = (lead.own_gap(), rtt, arrivals.frame_length()) else {
        return 0;
    };
    let one_way = ((u128::from(rtt.nanos()) << 15) / u128::from(frame_length.nanos().max(1))) as i64;
    // A frame more than the way takes is the waiting for the next step.
    let late = i64::from(gap) - one_way - i64::from(ONE_FRAME);
    trim(frame_length, late.clamp(0, i64::from(i32::MAX)) as i32)
        .min((length - frame_length).nanos().cast_signed())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Player;
    use crate::wire::message::Extensions;
    use crate::wire::{Numbering, WireFrame};
    use std::net::{Ipv4Addr, SocketAddr};

    const FRAME: Span = Span::from_micros(16_667);

    fn agreed(is_host: bool, round_trip_ms: Option<u64>) -> Agreed {
        Agreed {
            peer: SocketAddr::from((Ipv4Addr::LOCALHOST, 1)),
            seat: Player::One,
            first_state: crate::FirstState::default(),
            seed: 1,
            is_host,
            user_data: Vec::new(),
            delay_frames: 2,
            peer_delay_frames: 0,
            peer_window_frames: 8,
            round_trip: round_trip_ms.map(core::time::Duration::from_millis),
            token: 1,
            numbering: Numbering::new(WireFrame(1)),
            cadence_frames: 30,
            nonce: 1,
            announced_delay_frames: 1,
            extensions: Extensions::NONE,
        }
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn host_begins_half_a_round_trip_late_within_reason() {
        for (is_host, round_trip_ms, late_ms) in [
            (true, Some(80), 40),
            (true, Some(600), 300),
            (true, Some(9_000), 300),
            (true, None, 0),
            (false, Some(80), 0),
        ] {
            let pace = Pace::new(at(1_000), FrameRate::default(), &agreed(is_host, round_trip_ms), None);
            assert_eq!(pace.due(), at(1_000 + late_ms), "host: {is_host}, {round_trip_ms:?}");
        }
    }

    #[test]
    fn announced_delay_counts_from_its_frame_on() {
        let mut pace = Pace::new(at(0), FrameRate::default(), &agreed(true, None), None);
        let lead = |pace: &Pace| (pace.lead_frames() * 1_000.0) as i32;
        // Both gaps are 4: the step of frame 103 on inputs before 100, and the inputs before 104 on an ack of 100.
        pace.sample_gap(Frame(103), Frame(100));
        pace.heard(at(0), 1, Frame(104), Frame(100));
        assert_eq!(lead(&pace), 0);
        pace.peer_delay(Frame(112), 8);
        pace.heard(at(0), 1, Frame(105), Frame(101));
        pace.heard(at(0), 7, Frame(112), Frame(108));
        assert_eq!(lead(&pace), 0, "frames before it are played with the old delay");
        pace.heard(at(0), 1, Frame(113), Frame(101));
        assert_eq!(lead(&pace), 0, "113 less 8 less 101 is 4 again");
    }

    #[test]
    fn delay_is_told_until_the_peer_knows_it() {
        let mut pace = Pace::new(at(0), FrameRate::default(), &agreed(false, None), None);
        assert_eq!(pace.untold_delay(), Some(2), "the handshake said 1");
        pace.told_delay();
        assert_eq!(pace.untold_delay(), None);
        pace.set_delay(5);
        assert_eq!((pace.untold_delay(), pace.delay_frames()), (Some(5), 5));
        pace.set_delay(2);
        assert_eq!(pace.untold_delay(), None, "back again before it was told");
    }

    /// A lead with a gap of our own of this many frames, and arrivals of frames of this length.
    fn seen(gap: i32, length: Span) -> (FrameLead, Arrivals) {
        let mut lead = FrameLead::default();
        lead.stepped(gap);
        let mut arrivals = Arrivals::new(at(0));
        arrivals.heard(at(0) + length * 128, 128);
        (lead, arrivals)
    }

    #[test]
    fn trim_needs_frames_later_than_the_latency() {
        let justified = |gap, rtt_frames: u32, longer| {
            let (lead, arrivals) = seen(gap, FRAME + longer);
            justified(FRAME, &lead, &arrivals, Some(FRAME * rtt_frames))
        };
        let ms = Span::from_millis(1);
        assert_eq!(justified(4, 4, ms), 16_667_000 / 32, "4 less the way of 2 less 1 is one frame late");
        assert_eq!(justified(3, 4, ms), 0, "as late as the way explains");
        assert_eq!(justified(1, 4, ms), 0);
        assert_eq!(justified(9, 4, ms), 1_000_000, "no slower than they come");
        assert_eq!(justified(9, 4, ms * 3), 2_000_000, "nor by more than any trim");
        assert_eq!(justified(9, 4, Span::ZERO), 0, "they come at the agreed rate");
        assert_eq!(justified(9, 16, ms), 0, "a long way explains it");
    }

    #[test]
    fn nothing_is_justified_before_all_is_measured() {
        let (lead, arrivals) = seen(9, FRAME * 2);
        assert!(justified(FRAME, &lead, &arrivals, Some(FRAME)) > 0);
        assert_eq!(justified(FRAME, &lead, &arrivals, None), 0);
        assert_eq!(justified(FRAME, &FrameLead::default(), &arrivals, Some(FRAME)), 0);
        assert_eq!(justified(FRAME, &lead, &Arrivals::new(at(0)), Some(FRAME)), 0);
    }
}
