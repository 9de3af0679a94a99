//! A pause that both machines agree on: who may ask for it, the frame at which it begins, and the moment at which it ends.
//!
//! The machine that asks names a frame ahead, and does not step it before it has an answer. The other one agrees on that frame
//! or, if it is further, on the one that it has come to. Both therefore stop at one frame, however late the packets are.

use crate::protocol::time::{Span, Time};
use crate::wire::message::PauseStep;
use crate::{Frame, Player};
use core::time::Duration;

/// The longest countdown before a paused match goes on.
const MAX_COUNTDOWN: Span = Span::from_secs(60);

/// A RESUME is repeated this often: during the countdown, and then until the peer's frames show that it has gone on too.
const REPEATED_EVERY: Span = Span::from_millis(100);

/// The clocks of two machines and the time on the way may differ by this much about how long a pause has lasted.
const TOLERANCE: Span = Span::from_secs(2);

/// The fewest and the most frames from a request to its frame.
const MIN_AHEAD_FRAMES: u32 = 4;
const MAX_AHEAD_FRAMES: u32 = 90;

/// The frame of a PAUSE is at most this far from our own: further than the machines can be apart in either direction.
const MAX_DISTANCE_FRAMES: u32 = 256;

/// The frame that is held without a pause: the last of a match. Wire numbers have 32 bits and begin in the middle of them in
/// the worst case.
pub(super) const LAST_FRAME: Frame = Frame(u32::MAX / 2 - 1_000);

/// A pause, as [`Session::paused`](crate::Session::paused) describes it. Times are those of the calls to the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Paused {
    /// The player who paused. Only this one may resume before `limit_at`.
    pub by: Player,
    /// Since when the match is paused.
    pub since: Duration,
    /// From then on the other player may resume too, or leave without a forfeit.
    pub limit_at: Duration,
    /// The end of the countdown, once somebody has resumed: the match goes on then.
    pub resumes_at: Option<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Playing,
    /// We have asked, and the answer is not here.
    Asked,
    /// Both stop before the held frame.
    Agreed(Terms),
    /// The held frame is reached.
    Standing(Terms, Time),
    /// The match has gone on here. No pause is asked for before frames of the peer show that it has gone on there: the peer's
    /// inputs ended before `known`.
    GoneOn {
        frame: Frame,
        known: Frame,
    },
}

/// The terms of a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Terms {
    by: Player,
    limit: Span,
    resumes_at: Option<Time>,
}

/// The answer to a request of the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) step: PauseStep,
    pub(super) frame: Frame,
}

/// The fate of a frame that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held {
    /// The answer of the peer is missing.
    Unanswered,
    /// The match is paused. `begins`: since this call.
    Paused { by: Player, begins: bool },
    /// The frame is stepped now.
    GoesOn,
}

/// The pauses of a match.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pause {
    local: Player,
    /// How many pauses of each player are agreed to, and how many there were.
    allowed: u8,
    taken: [u8; 2],
    /// How long the peer may pause.
    limit: Span,
    /// The countdown when we resume.
    countdown: Span,
    /// The first frame that must not be stepped.
    frame: Frame,
    stage: Stage,
    /// When RESUME is said again, if we resume.
    resume_at: Option<Time>,
}

impl Pause {
    pub(super) fn new(local: Player, allowed: u8, limit: Span, countdown: Span) -> Self {
        Self {
            local,
            allowed,
            taken: [0; 2],
            limit,
            countdown: countdown.min(MAX_COUNTDOWN),
            frame: LAST_FRAME,
            stage: Stage::Playing,
            resume_at: None,
        }
    }

    /// Stands before `frame`, as in a pause of `by` that counts for neither player: its machine was started again.
    pub(super) fn stand(&mut self, now: Time, frame: Frame, by: Player) {
        self.frame = frame;
        self.stage = Stage::Standing(Terms { by, limit: self.limit, resumes_at: None }, now);
        self.resume_at = None;
    }

    /// Whether `frame` must not be stepped without a look at [`held`](Self::held).
    #[inline]
    pub(super) fn holds(&self, frame: Frame) -> bool {
        frame >= self.frame
    }

    /// How long the peer may pause, as it is told.
    pub(super) fn limit_secs(&self) -> u16 {
        (self.limit.nanos() / 1_000_000_000).min(u64::from(u16::MAX)) as u16
    }

    /// Asks for a pause in frame `current`, on a link with this RTT. Returns the frame to ask for; `None` if a pause is under
    /// way or this player had all of its pauses. The peer's inputs before `known` are here.
    pub(super) fn ask(
        &mut self,
        current: Frame,
        known: Frame,
        rtt: Span,
        frame_length: Span,
    ) -> Option<Frame> {
        let is_playing = match self.stage {
            Stage::Playing => true,
            Stage::GoneOn { known: before, .. } => known > before,
            _ => false,
        };
        if !is_playing || self.taken[self.local.index()] >= self.allowed {
            return None;
        }
        // The answer takes a round trip.
        let way = rtt.nanos().div_ceil(frame_length.nanos().max(1)).min(u64::from(MAX_AHEAD_FRAMES)) as u32;
        self.frame = current.plus((way + MIN_AHEAD_FRAMES).min(MAX_AHEAD_FRAMES));
        (self.stage, self.resume_at) = (Stage::Asked, None);
        Some(self.frame)
    }

    /// Whether a PAUSE can be the peer's in frame `current`.
    pub(super) fn is_plausible(&self, step: PauseStep, frame: Frame, current: Frame) -> bool {
        let is_near = frame.since(current).max(current.since(frame)) <= MAX_DISTANCE_FRAMES;
        is_near
            && match step {
                PauseStep::Asks => true,
                PauseStep::Agrees => self.stage == Stage::Asked && frame >= self.frame,
                PauseStep::Refuses => self.stage == Stage::Asked,
            }
    }

    /// Takes in a request of the peer, in frame `current`. Returns the answer to send. Both sides may have asked at once: each
    /// request then answers the other.
    pub(super) fn asked(&mut self, frame: Frame, current: Frame, theirs: Span) -> Option<Answer> {
        let by = self.local.other();
        match self.stage {
            Stage::Asked => {
                let limit = if self.local == Player::One { theirs } else { self.limit };
                self.agree(self.frame.max(frame), Player::One, limit);
                None
            }
            Stage::Playing | Stage::GoneOn { .. } if self.taken[by.index()] < self.allowed => {
                self.agree(frame.max(current), by, self.limit);
                Some(Answer { step: PauseStep::Agrees, frame: self.frame })
            }
            _ => Some(Answer { step: PauseStep::Refuses, frame }),
        }
    }

    /// The peer agrees to our request, with this frame and limit.
    pub(super) fn agreed(&mut self, frame: Frame, theirs: Span) {
        if self.stage == Stage::Asked && frame >= self.frame {
            self.agree(frame, self.local, theirs);
        }
    }

    fn agree(&mut self, frame: Frame, by: Player, limit: Span) {
        self.frame = frame;
        self.stage = Stage::Agreed(Terms { by, limit, resumes_at: None });
        self.resume_at = None;
        self.taken[by.index()] = self.taken[by.index()].saturating_add(1);
    }

    /// The peer refuses our request. Returns whether there was one.
    pub(super) fn refused(&mut self) -> bool {
        let is_refused = self.stage == Stage::Asked;
        if is_refused {
            (self.stage, self.frame) = (Stage::Playing, LAST_FRAME);
        }
        is_refused
    }

    /// Decides about the held frame at `now`. The peer's inputs before `known` are here.
    pub(super) fn held(&mut self, now: Time, known: Frame) -> Held {
        let (terms, begins) = match self.stage {
            Stage::Agreed(terms) => {
                self.stage = Stage::Standing(terms, now);
                (terms, true)
            }
            Stage::Standing(terms, _) => (terms, false),
            Stage::Asked => return Held::Unanswered,
            Stage::Playing | Stage::GoneOn { .. } => return Held::GoesOn,
        };
        if terms.resumes_at.is_some_and(|at| now >= at) {
            self.stage = Stage::GoneOn { frame: self.frame, known };
            self.frame = LAST_FRAME;
            return Held::GoesOn;
        }
        Held::Paused { by: terms.by, begins }
    }

    /// Whether the match is paused, and was not resumed.
    fn standing(&self) -> Option<(Terms, Time)> {
        match self.stage {
            Stage::Standing(terms, since) if terms.resumes_at.is_none() => Some((terms, since)),
            _ => None,
        }
    }

    /// Resumes; `false` if the match is not paused, or not by this player and not for too long. Returns the end of the
    /// countdown.
    pub(super) fn resume(&mut self, now: Time) -> Option<Time> {
        let (terms, since) = self.standing()?;
        if terms.by != self.local && now.since(since) < terms.limit {
            return None;
        }
        let resumes_at = now + self.countdown;
        self.stage = Stage::Standing(Terms { resumes_at: Some(resumes_at), ..terms }, since);
        self.resume_at = Some(now);
        Some(resumes_at)
    }

    /// Takes in a RESUME of the peer, which steps `frame` after `left`. `Err` if it may not. `Ok(Some)` is the end of the
    /// countdown, if it has just begun. The copy that was the fastest on its way tells the time best.
    pub(super) fn resumed(&mut self, now: Time, frame: Frame, left: Span) -> Result<Option<Time>, ()> {
        let resumes_at = now + left;
        let (mut terms, since) = match self.stage {
            Stage::Standing(terms, since) => (terms, since),
            // The peer has reached the frame, and we have not.
            Stage::Agreed(terms) => (terms, now),
            // A copy that comes late.
            Stage::GoneOn { frame: gone_on, .. } if gone_on == frame => return Ok(None),
            _ => return Err(()),
        };
        let is_late = now.since(since) + TOLERANCE >= terms.limit;
        if frame != self.frame || terms.by == self.local && !is_late && terms.resumes_at.is_none() {
            return Err(());
        }
        let is_news = terms.resumes_at.is_none();
        let earliest = terms.resumes_at.map_or(resumes_at, |known| known.min(resumes_at));
        terms.resumes_at = Some(earliest);
        self.stage = match self.stage {
            Stage::Standing(..) => Stage::Standing(terms, since),
            _ => Stage::Agreed(terms),
        };
        Ok(is_news.then_some(earliest))
    }

    /// When RESUME is to be said. The peer's inputs before `known` are here.
    pub(super) fn resume_due(&self, known: Frame) -> Option<Time> {
        match self.stage {
            Stage::GoneOn { known: before, .. } if known > before => None,
            _ => self.resume_at,
        }
    }

    /// The frame of the RESUME that is said now, and how long it takes until it is stepped.
    pub(super) fn say_resume(&mut self, now: Time) -> (Frame, Span) {
        self.resume_at = Some(now + REPEATED_EVERY);
        match self.stage {
            Stage::Standing(Terms { resumes_at: Some(at), .. }, _) => (self.frame, at.since(now)),
            Stage::GoneOn { frame, .. } => (frame, Span::ZERO),
            _ => (self.frame, self.countdown),
        }
    }

    /// The end of the countdown.
    pub(super) fn resumes_at(&self) -> Option<Time> {
        match self.stage {
            Stage::Standing(terms, _) => terms.resumes_at,
            _ => None,
        }
    }

    /// Whether `player` has paused the match for longer than the other allows, as far as that can be said at `now`.
    pub(super) fn is_overlong(&self, now: Time, player: Player) -> bool {
        let tolerance = if player == self.local { TOLERANCE } else { Span::ZERO };
        self.standing()
            .is_some_and(|(terms, since)| terms.by == player && now.since(since) + tolerance >= terms.limit)
    }

    /// The pause, for the game.
    pub(super) fn shown(&self) -> Option<Paused> {
        let Stage::Standing(Terms { by, limit, resumes_at }, since) = self.stage else { return None };
        Some(Paused {
            by,
            since: since.into(),
            limit_at: (since + limit).into(),
            resumes_at: resumes_at.map(Duration::from),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Span = Span::from_micros(16_667);
    const LIMIT: Span = Span::from_secs(60);
    const KNOWN: Frame = Frame(90);

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn pauses() -> [Pause; 2] {
        Player::BOTH.map(|player| Pause::new(player, 3, LIMIT, Span::from_secs(3)))
    }

    fn ask(pause: &mut Pause, current: u32) -> Option<Frame> {
        pause.ask(Frame(current), KNOWN, Span::from_millis(100), FRAME)
    }

    /// Player one pauses in frame 100; both stand at `at(0)`.
    fn standing() -> [Pause; 2] {
        let [mut one, mut two] = pauses();
        let frame = ask(&mut one, 100).unwrap();
        let answer = two.asked(frame, Frame(103), LIMIT).unwrap();
        assert_eq!(answer, Answer { step: PauseStep::Agrees, frame });
        one.agreed(answer.frame, LIMIT);
        for pause in [&mut one, &mut two] {
            let paused = |begins| Held::Paused { by: Player::One, begins };
            assert!(pause.holds(frame) && !pause.holds(Frame(frame.0 - 1)));
            assert_eq!([0, 16].map(|ms| pause.held(at(ms), KNOWN)), [paused(true), paused(false)]);
        }
        [one, two]
    }

    #[test]
    fn request_names_a_frame_a_round_trip_ahead() {
        let [mut one, _] = pauses();
        assert_eq!(ask(&mut one, 100), Some(Frame(110)), "six frames, and four more");
        assert_eq!((one.held(at(0), KNOWN), ask(&mut one, 100)), (Held::Unanswered, None));
        let [mut far, _] = pauses();
        assert_eq!(far.ask(Frame(100), KNOWN, Span::from_secs(9), FRAME), Some(Frame(190)));
    }

    #[test]
    fn machine_that_is_further_names_its_own_frame() {
        let [mut one, mut two] = pauses();
        let frame = ask(&mut one, 100).unwrap();
        let answer = two.asked(frame, Frame(115), LIMIT).unwrap();
        assert_eq!(answer, Answer { step: PauseStep::Agrees, frame: Frame(115) });
        one.agreed(answer.frame, LIMIT);
        assert!([one, two].iter().all(|pause| pause.holds(Frame(115)) && !pause.holds(Frame(114))));
    }

    #[test]
    fn two_requests_answer_each_other() {
        let [mut one, mut two] = pauses();
        let frames = [ask(&mut one, 100), ask(&mut two, 102)].map(Option::unwrap);
        let (short, long) = (Span::from_secs(5), Span::from_secs(90));
        (one.limit, two.limit) = (short, long);
        assert_eq!(
            (one.asked(frames[1], Frame(104), long), two.asked(frames[0], Frame(104), short)),
            (None, None)
        );
        for pause in [&mut one, &mut two] {
            assert_eq!((pause.frame, pause.taken), (frames[1], [1, 0]));
            pause.held(at(0), KNOWN);
            assert_eq!(pause.shown().unwrap().limit_at, Duration::from_secs(90), "the limit of player two");
        }
    }

    #[test]
    fn pauses_are_counted_for_each_player() {
        let [mut one, mut two] = pauses();
        for _ in 0..3 {
            let frame = ask(&mut one, 100).unwrap();
            assert_eq!(two.asked(frame, Frame(100), LIMIT).unwrap().step, PauseStep::Agrees);
            one.agreed(frame, LIMIT);
            for pause in [&mut one, &mut two] {
                (pause.stage, pause.frame) = (Stage::Playing, LAST_FRAME);
            }
        }
        assert_eq!(ask(&mut one, 100), None);
        assert_eq!(two.asked(Frame(110), Frame(100), LIMIT).unwrap().step, PauseStep::Refuses);
        let frame = ask(&mut two, 100).unwrap();
        assert_eq!(
            one.asked(frame, Frame(100), LIMIT).unwrap().step,
            PauseStep::Agrees,
            "the other has its own"
        );
        let [mut refused, _] = pauses();
        assert!(!refused.refused());
        ask(&mut refused, 100);
        assert!(refused.refused() && !refused.holds(Frame(5_000)) && ask(&mut refused, 200).is_some());
    }

    #[test]
    fn only_the_player_who_paused_resumes_before_the_limit() {
        let [mut one, two] = standing();
        assert_eq!(one.resume(at(1_000)), Some(at(4_000)));
        assert_eq!(one.resume(at(1_100)), None, "once");
        for (ms, may) in [(59_999, false), (60_000, true)] {
            let mut two = two;
            assert_eq!(two.resume(at(ms)).is_some(), may);
        }
        let [one, two] = standing();
        let resumed = |mut pause: Pause, ms| pause.resumed(at(ms), pause.frame, Span::ZERO).is_ok();
        assert!(resumed(two, 10) && !resumed(one, 57_999) && resumed(one, 58_000));
    }

    #[test]
    fn match_goes_on_when_the_countdown_is_over() {
        let [mut one, mut two] = standing();
        let frame = one.frame;
        one.resume(at(1_000));
        assert_eq!(one.resume_due(KNOWN), Some(at(1_000)));
        assert_eq!(one.say_resume(at(1_000)), (frame, Span::from_secs(3)));
        assert_eq!(two.resumed(at(1_080), frame, Span::from_millis(2_950)), Ok(Some(at(4_030))));
        assert_eq!(one.say_resume(at(1_100)), (frame, Span::from_millis(2_900)));
        assert_eq!(two.resumed(at(1_150), frame, Span::from_millis(2_850)), Ok(None));
        assert_eq!(two.resumes_at(), Some(at(4_000)), "the faster copy");
        assert_eq!(two.resumed(at(1_200), Frame(frame.0 + 1), Span::ZERO), Err(()), "another pause");
        for pause in [&mut one, &mut two] {
            assert!(matches!(pause.held(at(3_999), KNOWN), Held::Paused { .. }));
            assert_eq!(pause.held(at(4_000), KNOWN), Held::GoesOn);
            assert!(!pause.holds(frame) && pause.shown().is_none());
            assert_eq!(ask(pause, 120), None, "the peer may not have gone on");
        }
        assert_eq!((one.resume_due(KNOWN), two.resume_due(KNOWN)), (Some(at(1_200)), None));
        assert_eq!(one.say_resume(at(4_100)), (frame, Span::ZERO));
        assert_eq!(one.resume_due(Frame(91)), None, "its frames come");
        assert!(one.ask(Frame(120), Frame(91), Span::ZERO, FRAME).is_some());
        assert_eq!(two.resumed(at(4_200), frame, Span::ZERO), Ok(None), "late");
    }

    #[test]
    fn countdown_is_that_of_the_player_who_resumes() {
        for (countdown, expected) in [(200, 200), (90_000, 60_000)] {
            let mut pause = standing()[0];
            pause.countdown = Pause::new(Player::One, 1, LIMIT, Span::from_millis(countdown)).countdown;
            assert_eq!(pause.resume(at(1_000)), Some(at(1_000 + expected)));
            assert_eq!(pause.say_resume(at(1_000)).1, Span::from_millis(expected));
        }
    }

    #[test]
    fn pause_is_overlong_after_its_limit() {
        let [one, two] = standing();
        for (ms, ours, theirs) in [(57_999, false, false), (58_000, true, false), (60_000, true, true)] {
            assert_eq!(one.is_overlong(at(ms), Player::One), ours, "one's own, {ms} ms");
            assert_eq!(two.is_overlong(at(ms), Player::One), theirs, "{ms} ms");
            assert!(!one.is_overlong(at(ms), Player::Two) && !two.is_overlong(at(ms), Player::Two));
        }
    }

    #[test]
    fn only_near_frames_and_awaited_answers_are_plausible() {
        let [mut one, _] = pauses();
        let is = |pause: &Pause, step, frame| pause.is_plausible(step, Frame(frame), Frame(1_000));
        for (frame, near) in [(743, false), (744, true), (1_256, true), (1_257, false)] {
            assert_eq!(is(&one, PauseStep::Asks, frame), near);
        }
        assert!(!is(&one, PauseStep::Agrees, 1_010) && !is(&one, PauseStep::Refuses, 1_010));
        ask(&mut one, 1_000);
        assert!(is(&one, PauseStep::Agrees, 1_010) && is(&one, PauseStep::Refuses, 1_010));
        assert!(!is(&one, PauseStep::Agrees, 1_009), "before the frame that was asked for");
    }
}
