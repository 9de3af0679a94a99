//! How a match ends: the last state of each side, and the verdict that follows from both.

use super::event::Verdict;
use crate::Frame;
use crate::session::desync::Comparison;
use crate::wire::message::MAX_WINDOW_AND_DELAY;

/// The last state of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LastState {
    pub(super) frame: Frame,
    pub(super) checksum: u32,
    /// Whether its game is finished in it. A side that only follows the other to its end is not.
    pub(super) finished: bool,
}

/// A match that settles this many frames beyond the peer's last one is not over: that verdict was wrong.
const MAX_BEYOND_FRAMES: u32 = MAX_WINDOW_AND_DELAY as u32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Playing,
    /// Our last state is certain, and the peer has been told.
    Ending(LastState),
    /// The last event has been told.
    Over,
}

/// The end of a match, from playing over our own last state to the verdict. No clock and no packets: a pure record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ending {
    stage: Stage,
    theirs: Option<LastState>,
    /// Whether this machine has resumed from a log of the peer that nothing here confirms.
    from_their_log: bool,
}

impl Ending {
    pub(super) fn new() -> Self {
        Self { stage: Stage::Playing, theirs: None, from_their_log: false }
    }

    /// This machine resumes from a log of the peer that nothing here confirms.
    pub(super) fn take_their_log(&mut self) {
        self.from_their_log = true;
    }

    #[inline]
    pub(super) fn is_playing(&self) -> bool {
        self.stage == Stage::Playing
    }

    /// Whether our last state is certain and the peer's verdict is still missing.
    #[inline]
    pub(super) fn is_ending(&self) -> bool {
        matches!(self.stage, Stage::Ending(_))
    }

    #[inline]
    pub(super) fn is_over(&self) -> bool {
        self.stage == Stage::Over
    }

    /// Takes in our own last state.
    pub(super) fn ours(&mut self, ours: LastState) {
        self.stage = Stage::Ending(ours);
    }

    /// Takes in the peer's last state. Only the first one counts, unless the match goes on past it.
    pub(super) fn theirs(&mut self, theirs: LastState) {
        self.theirs.get_or_insert(theirs);
    }

    /// Whether the peer's match can have ended in `frame`, when every frame before `settled` is certain here.
    ///
    /// After its last frame only the inputs of its delay follow: a match that goes on past that is not over.
    pub(super) fn can_be_theirs(&self, frame: Frame, settled: Frame) -> bool {
        !self.is_playing() || settled.since(frame) <= MAX_BEYOND_FRAMES
    }

    /// Forgets the peer's last state when the match has gone on past it.
    #[inline]
    pub(super) fn settled(&mut self, settled: Frame) {
        if let Some(theirs) = self.theirs
            && !self.can_be_theirs(theirs.frame, settled)
        {
            self.theirs = None;
        }
    }

    /// The frame of the peer's last state, once it has told.
    pub(super) fn their_frame(&self) -> Option<Frame> {
        self.theirs.map(|theirs| theirs.frame)
    }

    /// The last states of both sides, if both ended in the same frame with different ones.
    pub(super) fn disputed(&self) -> Option<Comparison> {
        let Stage::Ending(ours) = self.stage else { return None };
        let theirs = self.theirs?;
        let last = Comparison { frame: ours.frame, ours: ours.checksum, theirs: theirs.checksum };
        (theirs.frame == ours.frame && !last.matches()).then_some(last)
    }

    /// The verdict on what is known now; `None` before our own last state is certain.
    pub(super) fn verdict(&self) -> Option<Verdict> {
        let Stage::Ending(ours) = self.stage else { return None };
        let LastState { frame, checksum, .. } = ours;
        Some(match self.theirs {
            None => Verdict::Unconfirmed { frame, checksum },
            Some(theirs) if theirs == ours && ours.finished => {
                Verdict::Agreed { frame, checksum, from_their_log: self.from_their_log }
            }
            Some(theirs) => Verdict::Differs { frame, ours: checksum, theirs: theirs.checksum },
        })
    }

    /// The verdict, once both last states are known.
    pub(super) fn outcome(&self) -> Option<Verdict> {
        self.theirs.and_then(|_| self.verdict())
    }

    /// The last event has been told.
    pub(super) fn close(&mut self) {
        self.stage = Stage::Over;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const END: Frame = Frame(90);

    fn last(frame: Frame, checksum: u32) -> LastState {
        LastState { frame, checksum, finished: true }
    }

    fn ended(ours: LastState, theirs: Option<LastState>) -> Ending {
        let mut ending = Ending::new();
        if let Some(theirs) = theirs {
            ending.theirs(theirs);
        }
        ending.ours(ours);
        ending
    }

    #[test]
    fn there_is_no_verdict_before_our_own_last_state() {
        let mut ending = Ending::new();
        ending.theirs(last(END, 7));
        assert_eq!((ending.verdict(), ending.outcome()), (None, None));
        assert!(ending.is_playing());
    }

    #[test]
    fn equal_last_states_are_agreed() {
        let ending = ended(last(END, 7), Some(last(END, 7)));
        assert_eq!(
            ending.outcome(),
            Some(Verdict::Agreed { frame: END, checksum: 7, from_their_log: false })
        );
    }

    #[test]
    fn another_state_or_another_frame_differs() {
        let differs = |theirs| Some(Verdict::Differs { frame: END, ours: 7, theirs });
        let other_state = ended(last(END, 7), Some(last(END, 8)));
        assert_eq!(
            (other_state.outcome(), other_state.disputed()),
            (differs(8), Some(Comparison { frame: END, ours: 7, theirs: 8 }))
        );
        let other_frame = ended(last(END, 7), Some(last(Frame(60), 7)));
        assert_eq!((other_frame.outcome(), other_frame.disputed()), (differs(7), None));
    }

    #[test]
    fn side_that_is_not_finished_in_the_same_state_does_not_agree() {
        let follower = LastState { finished: false, ..last(END, 7) };
        for (ours, theirs) in [(follower, last(END, 7)), (last(END, 7), follower)] {
            let outcome = ended(ours, Some(theirs)).outcome();
            assert_eq!(outcome, Some(Verdict::Differs { frame: END, ours: 7, theirs: 7 }));
        }
    }

    #[test]
    fn without_the_peer_the_verdict_is_unconfirmed() {
        let ending = ended(last(END, 7), None);
        assert_eq!(ending.outcome(), None, "the peer may still tell");
        assert_eq!(ending.verdict(), Some(Verdict::Unconfirmed { frame: END, checksum: 7 }));
    }

    #[test]
    fn first_verdict_of_the_peer_counts() {
        let mut ending = ended(last(END, 7), Some(last(END, 7)));
        ending.theirs(last(END, 9));
        assert!(matches!(ending.outcome(), Some(Verdict::Agreed { .. })));
        ending.close();
        assert!(ending.is_over() && ending.verdict().is_none());
    }

    #[test]
    fn verdict_that_the_match_goes_on_past_is_forgotten() {
        let mut ending = Ending::new();
        ending.theirs(last(END, 7));
        ending.settled(Frame(120));
        assert_eq!(ending.their_frame(), Some(END), "the inputs of its delay");
        ending.settled(Frame(121));
        assert_eq!(ending.their_frame(), None);
        ending.theirs(last(Frame(200), 8));
        assert_eq!(ending.their_frame(), Some(Frame(200)), "the true one");
        ending.ours(last(Frame(200), 8));
        ending.settled(Frame(900));
        assert!(
            matches!(ending.outcome(), Some(Verdict::Agreed { .. })),
            "nothing goes on after our own end"
        );
    }
}
