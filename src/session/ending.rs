//! How a match ends: the last state of each side, and the verdict that follows from both.

use super::event::Verdict;
use crate::Frame;

/// The last state of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LastState {
    frame: Frame,
    checksum: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Playing,
    /// Our last state is certain, and the peer has been told.
    Ending {
        ours: LastState,
        /// The match ended here because the peer's ended: the game is not finished in this state.
        followed: bool,
    },
    /// The last event has been told.
    Over,
}

/// What the peer is to be told of our last state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OurVerdict {
    /// The game is finished in this frame's state.
    Finished(Frame),
    /// The state is the peer's, but the game is not finished in it here.
    NotFinished,
}

/// The end of a match, from playing over our own last state to the verdict. No clock and no packets: a pure record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ending {
    stage: Stage,
    theirs: Option<LastState>,
}

impl Ending {
    pub(super) fn new() -> Self {
        Self { stage: Stage::Playing, theirs: None }
    }

    #[inline]
    pub(super) fn is_playing(&self) -> bool {
        self.stage == Stage::Playing
    }

    /// Whether our last state is certain and the peer's verdict is still missing.
    #[inline]
    pub(super) fn is_ending(&self) -> bool {
        matches!(self.stage, Stage::Ending { .. })
    }

    #[inline]
    pub(super) fn is_over(&self) -> bool {
        self.stage == Stage::Over
    }

    /// Takes in our own last state, and answers what to tell the peer. `followed`: the game is not finished in it.
    pub(super) fn ours(&mut self, frame: Frame, checksum: u32, followed: bool) -> OurVerdict {
        self.stage = Stage::Ending { ours: LastState { frame, checksum }, followed };
        let same = self.theirs.is_some_and(|theirs| theirs.checksum == checksum);
        if followed && same { OurVerdict::NotFinished } else { OurVerdict::Finished(frame) }
    }

    /// Takes in the peer's last state. Only the first one counts.
    pub(super) fn theirs(&mut self, frame: Frame, checksum: u32) {
        self.theirs.get_or_insert(LastState { frame, checksum });
    }

    /// The frame of the peer's last state, once it has told.
    pub(super) fn their_frame(&self) -> Option<Frame> {
        self.theirs.map(|theirs| theirs.frame)
    }

    /// The frame in which both sides ended with different states.
    pub(super) fn disputed(&self) -> Option<Frame> {
        let Stage::Ending { ours, .. } = self.stage else { return None };
        let theirs = self.theirs?;
        (theirs.frame == ours.frame && theirs.checksum != ours.checksum).then_some(ours.frame)
    }

    /// The verdict on what is known now; `None` before our own last state is certain.
    pub(super) fn verdict(&self) -> Option<Verdict> {
        let Stage::Ending { ours, followed } = self.stage else { return None };
        let LastState { frame, checksum } = ours;
        Some(match self.theirs {
            None => Verdict::Unconfirmed { frame, checksum },
            Some(theirs) if theirs == ours && !followed => Verdict::Agreed { frame, checksum },
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

    fn ended(followed: bool, theirs: Option<(Frame, u32)>) -> Ending {
        let mut ending = Ending::new();
        if let Some((frame, checksum)) = theirs {
            ending.theirs(frame, checksum);
        }
        ending.ours(END, 7, followed);
        ending
    }

    #[test]
    fn there_is_no_verdict_before_our_own_last_state() {
        let mut ending = Ending::new();
        ending.theirs(END, 7);
        assert_eq!((ending.verdict(), ending.outcome()), (None, None));
        assert!(ending.is_playing());
    }

    #[test]
    fn equal_last_states_are_agreed() {
        assert_eq!(ended(false, Some((END, 7))).outcome(), Some(Verdict::Agreed { frame: END, checksum: 7 }));
    }

    #[test]
    fn another_state_or_another_frame_differs() {
        let differs = |theirs| Some(Verdict::Differs { frame: END, ours: 7, theirs });
        let other_state = ended(false, Some((END, 8)));
        assert_eq!((other_state.outcome(), other_state.disputed()), (differs(8), Some(END)));
        let other_frame = ended(false, Some((Frame(60), 7)));
        assert_eq!((other_frame.outcome(), other_frame.disputed()), (differs(7), None));
    }

    #[test]
    fn a_side_that_followed_does_not_agree_and_says_so() {
        let mut ending = Ending::new();
        ending.theirs(END, 7);
        assert_eq!(ending.ours(END, 7, true), OurVerdict::NotFinished);
        assert_eq!(ending.outcome(), Some(Verdict::Differs { frame: END, ours: 7, theirs: 7 }));
        let mut ending = Ending::new();
        ending.theirs(END, 8);
        assert_eq!(ending.ours(END, 7, true), OurVerdict::Finished(END), "the checksum says it already");
    }

    #[test]
    fn without_the_peer_the_verdict_is_unconfirmed() {
        let ending = ended(false, None);
        assert_eq!(ending.outcome(), None, "the peer may still tell");
        assert_eq!(ending.verdict(), Some(Verdict::Unconfirmed { frame: END, checksum: 7 }));
    }

    #[test]
    fn the_peer_decides_once() {
        let mut ending = ended(false, Some((END, 7)));
        ending.theirs(END, 9);
        assert!(matches!(ending.outcome(), Some(Verdict::Agreed { .. })));
        ending.close();
        assert!(ending.is_over() && ending.verdict().is_none());
    }
}
