//! Whether the peer is still there, and which unproven claims about its end are believed.

use super::config::Config;
use crate::peer::silence::{Silence, SilenceChange, SilenceLimits};
use crate::time::{Span, Time};

/// A claim that the peer's match is over is believed after this long without a new frame. Its packet could be forged,
/// but a forger cannot keep the real peer's inputs from arriving.
const BELIEVED_AFTER: Span = Span::from_millis(500);

/// A claim that the peer's match is over, by a packet that proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Claim {
    /// A DISCONNECT, which is empty: the peer leaves.
    Farewell {
        /// Inputs sent before it may arrive this much later.
        rtt: Span,
    },
    /// A HELLO with another nonce: the peer's program has started anew.
    Restart,
    /// A VERDICT in a state in which the game is not finished here.
    Verdict,
}

/// The silence of the peer, and the farewell that it may have sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Liveness {
    silence: Silence,
    /// A DISCONNECT came, and no new frame since.
    farewell_heard: bool,
}

impl Liveness {
    pub(super) fn new(now: Time, config: &Config) -> Self {
        let limits = SilenceLimits {
            interrupted: config.interrupted_after.into(),
            lost: config.lost_after.into(),
            no_progress: config.no_progress_after.into(),
        };
        Self { silence: Silence::new(now, limits), farewell_heard: false }
    }

    /// Lets time pass.
    #[inline]
    pub(super) fn pass(&mut self, now: Time) {
        self.silence.pass(now);
    }

    /// Notes a valid packet.
    #[inline]
    pub(super) fn heard(&mut self) {
        self.silence.heard();
    }

    /// Notes a new frame of the peer. It contradicts a farewell.
    #[inline]
    pub(super) fn progressed(&mut self) {
        self.silence.progressed();
        self.farewell_heard = false;
    }

    /// Notes a DISCONNECT.
    pub(super) fn heard_farewell(&mut self) {
        self.farewell_heard = true;
    }

    /// Whether a DISCONNECT came, and no new frame since.
    #[inline]
    pub(super) fn farewell_heard(&self) -> bool {
        self.farewell_heard
    }

    /// Whether the absence of new frames is evidence enough for a claim.
    ///
    /// All such evidence is weighed here. A match that stands still for another reason, such as a pause that both
    /// sides agreed on, is no evidence and has to be left out of it.
    pub(super) fn believes(&self, claim: Claim) -> bool {
        let needed = match claim {
            Claim::Farewell { rtt } => BELIEVED_AFTER.max(rtt * 2),
            Claim::Restart | Claim::Verdict => BELIEVED_AFTER,
        };
        self.silence.stuck() >= needed
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

    fn after(ms: u64) -> Liveness {
        let mut liveness = Liveness::new(Time::ZERO, &Config::new(1));
        for at in (0..=ms).step_by(10) {
            liveness.pass(Time::ZERO + Span::from_millis(at));
            liveness.heard();
        }
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
    fn a_farewell_waits_two_round_trips() {
        let claim = Claim::Farewell { rtt: Span::from_millis(400) };
        assert!(!after(790).believes(claim));
        assert!(after(800).believes(claim));
    }

    #[test]
    fn a_new_frame_contradicts_every_claim() {
        let mut liveness = after(900);
        liveness.heard_farewell();
        liveness.progressed();
        assert!(!liveness.farewell_heard());
        assert!(!liveness.believes(Claim::Restart) && !liveness.believes(Claim::Verdict));
    }
}
