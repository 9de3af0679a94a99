//! Whether the peer is still connected, and when unverified claims that it has left count.

use super::config::Config;
use super::event::Reason;
use crate::Frame;
use crate::channel::silence::{Silence, SilenceChange, SilenceLimits};
use crate::protocol::time::{Span, Time};
use crate::wire::message::LeavingWhy;

/// A claim that the peer has left is believed after this long without a new frame, and in a lobby without another
/// packet. Its packet could be forged, but a forger cannot keep the real peer's packets from arriving.
pub(super) const BELIEVED_AFTER: Span = Span::from_millis(500);

/// Inputs that were sent before a DISCONNECT may come this much after it; newer ones contradict it.
const LATE_INPUTS: Span = Span::from_secs(1);

/// A peer that says that it gave up on us is believed if no new frame had come for this long, or if this machine was away.
const GIVEN_UP_AFTER: Span = Span::from_secs(1);

/// A peer without a new frame for this long may have started again. That alone ends nothing.
const QUIET_AFTER: Span = Span::from_millis(100);

/// A claim that the peer's match is over, by a packet that proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Claim {
    /// A DISCONNECT, which is empty: the peer leaves.
    Farewell {
        /// Inputs sent before it may arrive this much later.
        rtt: Span,
    },
    /// A HELLO with another nonce: the peer's program has started again.
    Restart,
    /// A VERDICT in a state in which the game is not finished here.
    Verdict,
}

/// The farewell of the peer, if it has sent one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Farewell {
    None,
    /// A DISCONNECT came at this time.
    Unproven {
        heard_at: Time,
        reason: Reason,
    },
    /// A LEAVING came, which its token proves: the peer's inputs end before this frame.
    Proven {
        end: Frame,
        heard_at: Time,
        reason: Reason,
    },
}

/// The silence of the peer, and its farewell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Liveness {
    silence: Silence,
    farewell: Farewell,
    /// Whether every packet is authenticated: a farewell can then be late, but not forged.
    sealed: bool,
}

impl Liveness {
    pub(super) fn new(now: Time, config: &Config, sealed: bool) -> Self {
        let limits = SilenceLimits {
            interrupted: config.timeouts.interrupted_after.into(),
            lost: config.timeouts.lost_after.into(),
            // A peer that does not hear us makes no progress either, and waits for as long.
            no_progress: config.timeouts.no_progress_after.max(config.timeouts.lost_after).into(),
            too_slow: config.timeouts.too_slow_after.into(),
        };
        let silence = Silence::new(now, limits, config.game.frame_rate.frame_length().into());
        Self { silence, farewell: Farewell::None, sealed }
    }

    /// Lets time pass while the game asks for a frame.
    #[inline]
    pub(super) fn pass(&mut self, now: Time) {
        self.silence.pass(now);
    }

    /// Lets time pass while datagrams are sent and received.
    #[inline]
    pub(super) fn listen(&mut self, now: Time) {
        self.silence.listen(now);
    }

    /// The match is paused: that no frame comes is no evidence of anything.
    pub(super) fn excuse(&mut self) {
        self.silence.excuse_standstill();
    }

    /// The latest time of a call.
    pub(super) fn called_at(&self) -> Time {
        self.silence.called_at()
    }

    /// When to let time pass again, although nothing is to be sent.
    pub(super) fn next_look(&self) -> Time {
        self.silence.next_look()
    }

    /// The peer was started again and is back. The outage counts like every other one: coming back again and again must not hold the
    /// match up.
    pub(super) fn returned(&mut self, now: Time) {
        self.farewell = Farewell::None;
        self.silence.listen(now);
        self.silence.heard();
        self.silence.progressed(1, || None);
    }

    /// Notes a valid packet.
    #[inline]
    pub(super) fn heard(&mut self) {
        self.silence.heard();
    }

    /// Notes `frames` new frames of the peer, the last before `known`, on a link with this RTT. They contradict a farewell that
    /// was before them.
    #[inline]
    pub(super) fn progressed(
        &mut self,
        now: Time,
        frames: u32,
        known: Frame,
        rtt: impl FnOnce() -> Option<Span>,
    ) {
        self.silence.progressed(frames, rtt);
        if self.farewell != Farewell::None {
            self.reconsider(now, known);
        }
    }

    #[cold]
    fn reconsider(&mut self, now: Time, known: Frame) {
        let contradicted = match self.farewell {
            Farewell::None => false,
            Farewell::Unproven { heard_at, .. } => now.since(heard_at) > LATE_INPUTS,
            Farewell::Proven { end, .. } => known > end,
        };
        if contradicted {
            self.farewell = Farewell::None;
        }
    }

    /// Notes a DISCONNECT, which says no reason: a player who leaves does so while frames come.
    pub(super) fn heard_disconnect(&mut self, now: Time) {
        if self.farewell == Farewell::None {
            let reason = if self.can_be_given_up(now) { Reason::GaveUp } else { Reason::Left };
            self.farewell = Farewell::Unproven { heard_at: now, reason };
        }
    }

    /// Whether the peer can have heard nothing new of this machine for too long.
    fn can_be_given_up(&self, now: Time) -> bool {
        self.silence.was_away(now) || self.silence.unmoved() >= GIVEN_UP_AFTER
    }

    /// Notes a LEAVING: the peer's inputs end before `end`.
    ///
    /// The reasons "gave up on us" and "paused too long" count only if they are plausible. `is_cause`: this machine has given
    /// a cause. Otherwise a player who leaves could claim one and avoid the forfeit.
    pub(super) fn heard_leaving(&mut self, now: Time, end: Frame, why: LeavingWhy, is_cause: bool) {
        let reason = match why {
            LeavingWhy::GaveUp if is_cause || self.can_be_given_up(now) => Reason::GaveUp,
            LeavingWhy::PausedTooLong if is_cause => Reason::PausedTooLong,
            LeavingWhy::GaveUp | LeavingWhy::PausedTooLong | LeavingWhy::Left => Reason::Left,
            LeavingWhy::StateFailed => Reason::StateFailed,
            LeavingWhy::Desync => Reason::Desync,
        };
        if !matches!(self.farewell, Farewell::Proven { .. }) {
            self.farewell = Farewell::Proven { end, heard_at: now, reason };
        }
    }

    /// Whether the peer has said anything about leaving that was not contradicted.
    #[inline]
    pub(super) fn farewell_heard(&self) -> bool {
        self.farewell != Farewell::None
    }

    /// Whether the peer has said that it stops at a desync.
    pub(super) fn stops_at_desync(&self) -> bool {
        matches!(self.farewell, Farewell::Proven { reason: Reason::Desync, .. })
    }

    /// The reason for which the peer is gone, once its farewell is believed. Its inputs before `known` are here; `ending`:
    /// our own last state is certain, and nothing more is expected of the peer but its verdict.
    ///
    /// A DISCONNECT says no reason. The LEAVING that goes with it does, and is said again for 400 ms if it was lost. Sealed,
    /// neither needs silence as evidence.
    pub(super) fn parted(&self, now: Time, known: Frame, rtt: Span, ending: bool) -> Option<Reason> {
        match self.farewell {
            Farewell::None => None,
            Farewell::Unproven { heard_at, reason } => {
                let alone = now.since(heard_at) >= BELIEVED_AFTER;
                let believed = self.sealed || self.believes(Claim::Farewell { rtt });
                (ending || alone && believed).then_some(reason)
            }
            Farewell::Proven { end, heard_at, reason } => {
                let late = self.sealed && now.since(heard_at) >= BELIEVED_AFTER;
                // The token authenticates it. The time without a new frame counts even if this machine stood still.
                (ending || known >= end || late || self.silence.unmoved() >= BELIEVED_AFTER).then_some(reason)
            }
        }
    }

    /// Whether the absence of new frames is evidence enough for a claim.
    ///
    /// All such evidence is weighed here. A pause that both sides agreed on is [excused](Self::excuse).
    pub(super) fn believes(&self, claim: Claim) -> bool {
        let needed = match claim {
            Claim::Farewell { rtt } => BELIEVED_AFTER.max(rtt * 2),
            Claim::Restart | Claim::Verdict => BELIEVED_AFTER,
        };
        self.silence.stuck() >= needed
    }

    /// Whether the peer may have disconnected: a HELLO from another address may then be the peer's.
    pub(super) fn is_quiet(&self) -> bool {
        self.silence.stuck() >= QUIET_AFTER
    }

    /// Whether the match waits for the peer: the game was told of an interruption.
    pub(super) fn is_waiting(&self) -> bool {
        self.silence.is_interrupted()
    }

    /// The change to tell the game of, each once.
    #[inline]
    pub(super) fn change(&mut self) -> Option<SilenceChange> {
        self.silence.change()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: Frame = Frame(100);

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// Time passes with valid packets, and none of them brings a frame.
    fn pass(liveness: &mut Liveness, from: u64, to: u64) {
        for ms in (from..=to).step_by(10) {
            liveness.pass(at(ms));
            liveness.heard();
        }
    }

    fn after(ms: u64) -> Liveness {
        let mut liveness = Liveness::new(Time::ZERO, &Config::new(1), false);
        pass(&mut liveness, 0, ms);
        liveness
    }

    #[test]
    fn claims_are_believed_after_half_a_second_without_a_new_frame() {
        for claim in [Claim::Farewell { rtt: Span::ZERO }, Claim::Restart, Claim::Verdict] {
            assert!(!after(490).believes(claim), "{claim:?}");
            assert!(after(500).believes(claim), "{claim:?}");
        }
    }

    #[test]
    fn disconnect_waits_two_round_trips() {
        let rtt = Span::from_millis(400);
        for (ms, gone) in [(790, None), (800, Some(Reason::Left))] {
            let mut liveness = after(ms);
            liveness.heard_disconnect(at(200));
            assert_eq!(liveness.parted(at(ms), KNOWN, rtt, false), gone);
            assert_eq!(
                liveness.parted(at(ms), KNOWN, rtt, true),
                Some(Reason::Left),
                "nothing else is expected"
            );
        }
    }

    #[test]
    fn disconnect_waits_for_leaving() {
        let mut liveness = after(900);
        liveness.heard_disconnect(at(900));
        assert_eq!(liveness.parted(at(1_399), KNOWN, Span::ZERO, false), None);
        assert_eq!(liveness.parted(at(1_400), KNOWN, Span::ZERO, false), Some(Reason::Left));
        pass(&mut liveness, 900, 1_300);
        liveness.heard_leaving(at(1_300), KNOWN, LeavingWhy::GaveUp, false);
        assert_eq!(liveness.parted(at(1_300), KNOWN, Span::ZERO, false), Some(Reason::GaveUp));
        let mut given_up = after(5_000);
        given_up.heard_disconnect(at(5_000));
        assert_eq!(
            given_up.parted(at(5_500), KNOWN, Span::ZERO, false),
            Some(Reason::GaveUp),
            "all were lost"
        );
    }

    #[test]
    fn only_new_frames_contradict_a_disconnect() {
        let mut liveness = after(100);
        liveness.heard_disconnect(at(100));
        liveness.progressed(at(400), 1, KNOWN, || None);
        assert!(liveness.farewell_heard());
        pass(&mut liveness, 400, 900);
        assert_eq!(liveness.parted(at(900), KNOWN, Span::ZERO, false), Some(Reason::Left));
        liveness.progressed(at(1_200), 1, KNOWN, || None);
        assert!(!liveness.farewell_heard() && !liveness.believes(Claim::Restart));
    }

    #[test]
    fn leaving_counts_at_its_last_frame_or_when_frames_stop() {
        let mut liveness = after(100);
        liveness.heard_leaving(at(100), KNOWN, LeavingWhy::Left, false);
        assert_eq!(liveness.parted(at(600), Frame(99), Span::ZERO, false), None);
        assert_eq!(liveness.parted(at(600), KNOWN, Span::ZERO, false), Some(Reason::Left));
        pass(&mut liveness, 110, 600);
        assert_eq!(liveness.parted(at(600), Frame(99), Span::ZERO, false), Some(Reason::Left));
        liveness.progressed(at(600), 1, KNOWN, || None);
        assert!(liveness.farewell_heard());
        liveness.progressed(at(600), 1, Frame(101), || None);
        assert!(!liveness.farewell_heard(), "a frame that it says never comes");
    }

    #[test]
    fn first_leaving_counts_and_an_ended_match_awaits_no_frame() {
        let mut liveness = after(100);
        liveness.heard_leaving(at(100), KNOWN, LeavingWhy::Left, false);
        assert_eq!(liveness.parted(at(100), Frame(99), Span::ZERO, true), Some(Reason::Left));
        liveness.heard_leaving(at(100), Frame(50), LeavingWhy::Left, false);
        assert_eq!(liveness.parted(at(100), Frame(99), Span::ZERO, false), None);
    }

    #[test]
    fn peer_that_stops_at_a_desync_says_so() {
        let mut liveness = after(100);
        liveness.heard_disconnect(at(100));
        assert!(!liveness.stops_at_desync());
        liveness.heard_leaving(at(100), KNOWN, LeavingWhy::Desync, false);
        assert!(liveness.stops_at_desync());
        assert_eq!(liveness.parted(at(100), KNOWN, Span::ZERO, false), Some(Reason::Desync));
    }

    #[test]
    fn only_a_token_proves_a_farewell_to_a_game_that_stands_still() {
        for proven in [false, true] {
            let mut liveness = after(100);
            if proven {
                liveness.heard_leaving(at(100), Frame(150), LeavingWhy::Left, false);
            } else {
                liveness.heard_disconnect(at(100));
            }
            (110..5_000).step_by(10).for_each(|ms| liveness.listen(at(ms)));
            let gone = liveness.parted(at(5_000), KNOWN, Span::ZERO, false);
            assert_eq!(gone, proven.then_some(Reason::Left));
        }
    }

    #[test]
    fn sealed_goodbye_needs_no_silence() {
        for sealed in [false, true] {
            let mut liveness = Liveness::new(Time::ZERO, &Config::new(1), sealed);
            let mut gone = [None; 2];
            for (place, kind) in [0, 1].into_iter().enumerate() {
                liveness.farewell = Farewell::None;
                let begun = kind * 2_000;
                for ms in (begun..begun + 900).step_by(10) {
                    liveness.pass(at(ms));
                    // Frames go on, all of them before the one that the LEAVING names.
                    liveness.progressed(at(ms), 1, Frame(50), || None);
                    if ms == begun + 100 && kind == 0 {
                        liveness.heard_leaving(at(ms), KNOWN, LeavingWhy::Left, false);
                    } else if ms == begun + 100 {
                        liveness.heard_disconnect(at(ms));
                    }
                    if gone[place].is_none()
                        && liveness.parted(at(ms), Frame(50), Span::ZERO, false).is_some()
                    {
                        gone[place] = Some(ms - begun);
                    }
                }
            }
            assert_eq!(gone, if sealed { [Some(600); 2] } else { [None; 2] });
        }
    }

    #[test]
    fn giving_up_needs_a_silence_or_an_absence_of_ours() {
        let gone = |mut liveness: Liveness, ms| {
            liveness.heard_leaving(at(ms), KNOWN, LeavingWhy::GaveUp, false);
            liveness.parted(at(600), KNOWN, Span::ZERO, false)
        };
        assert_eq!(gone(after(100), 100), Some(Reason::Left), "frames came until now");
        assert_eq!(gone(after(1_000), 1_000), Some(Reason::GaveUp));
        let mut slept = after(100);
        slept.pass(at(10_000));
        slept.progressed(at(10_000), 8, KNOWN, || None);
        assert_eq!(gone(slept, 10_000), Some(Reason::GaveUp), "this machine was away");
        let mut slow = after(100);
        slow.heard_leaving(at(100), KNOWN, LeavingWhy::GaveUp, true);
        assert_eq!(slow.parted(at(600), KNOWN, Span::ZERO, false), Some(Reason::GaveUp), "its own fault");
    }
}
