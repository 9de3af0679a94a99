//! Watching a recording: play, pause, step, speed and seek.

use super::cursor::Cursor;
use super::loading::Loading;
use super::take_over::TakeOver;
use super::verify::VerifyError;
use super::{Recording, Tail};
use crate::{Config, ConfigError, CueChange, CueEvent, CueId, Cues, Frame, FrameRate, Game};
use core::time::Duration;

/// The most snapshots that are kept, unless the caller says otherwise.
pub const USUAL_SNAPSHOTS: usize = 256;
/// The most frames of time that are made up for after a pause of the caller's loop.
const MAX_LATE_FRAMES: u128 = 4;
/// Normal speed, in thousandths.
const NORMAL_SPEED: u32 = 1000;

/// A player for a [`Recording`]: play, pause, step, speed, and seek to any frame.
///
/// [`load`](Self::load) steps through the whole recording once, keeps snapshots on the way, and compares the recorded
/// checksums. From then on a seek resimulates at most the frames between two snapshots: 239 steps in ten minutes at 60
/// frames a second. Loading can be spread over the frames of a game loop.
///
/// ```
/// use core::time::Duration;
/// use rebout::replay::{End, Header, Outcome, Playback, Recording, StreamRecorder, Winner};
/// use rebout::{Buttons, Cues, Frame, Game, Inputs, Player, fields};
///
/// #[derive(Clone, Copy)]
/// struct Count { at: u32 }
/// fields!(Count { at });
/// impl Game for Count {
///     fn step(&mut self, inputs: Inputs, _: &mut Cues) {
///         self.at += u32::from(inputs[Player::One].buttons().0);
///     }
/// }
///
/// let mut recorder = StreamRecorder::new(&Header::new(40), Vec::new())?;
/// for frame in 0..600 {
///     recorder.record(Frame(frame), [Buttons(1), Buttons(0)].into())?;
/// }
/// let file = recorder.finish(End { outcome: Outcome::Local, winner: Winner::Undecided })?;
/// let recording = Recording::open(file)?;
/// let mut playback = Playback::new(Count { at: recording.header().seed }, recording);
/// while !playback.load(1_000, |_, _| {}) {}
/// playback.seek(Frame(333));
/// assert_eq!(playback.game().at, 373);
/// playback.play(Duration::ZERO);
/// playback.advance(Duration::from_millis(17), |frame, game, _| assert_eq!(frame.0 + 40, game.at));
/// assert_eq!(playback.frame(), Frame(334));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Playback<G: Game> {
    recording: Recording,
    game: G,
    cursor: Cursor,
    cues: Cues,
    events: Vec<CueEvent>,
    next_cue: u32,
    loading: Loading<G::Snapshot>,
    clock: Clock,
}

/// How far the playback is behind the caller's clock.
#[derive(Debug)]
struct Clock {
    playing: bool,
    speed_permille: u32,
    rate: FrameRate,
    last: Duration,
    /// Time that is owed, in nanoseconds by the speed in thousandths and by the numerator of the rate. It is exact.
    owed: u128,
}

impl<G: Game> Playback<G> {
    /// Shows `recording` from [`Header::start_frame`](super::Header::start_frame) on, paused. `game` is in its first
    /// state, built from the recorded seed.
    pub fn new(game: G, recording: Recording) -> Self {
        Self::with_snapshots(game, recording, USUAL_SNAPSHOTS)
    }

    /// The same with at most `max_snapshots` snapshots, for a game with a large state.
    pub fn with_snapshots(game: G, recording: Recording, max_snapshots: usize) -> Self {
        let rate = recording.header().frame_rate.unwrap_or_default();
        let mut playback = Self {
            cursor: recording.cursor(Frame::ZERO),
            cues: Cues::new(),
            events: Vec::with_capacity(2 * Cues::MAX),
            next_cue: 0,
            loading: Loading::new(&game, &recording, max_snapshots),
            clock: Clock {
                playing: false,
                speed_permille: NORMAL_SPEED,
                rate,
                last: Duration::ZERO,
                owed: 0,
            },
            recording,
            game,
        };
        playback.seek(playback.recording.header().start_frame);
        playback
    }

    /// Loads up to `steps` more frames; `true` once all are loaded. `look` gets every state once, in order, for marks
    /// such as the start of a round.
    pub fn load(&mut self, steps: u32, look: impl FnMut(Frame, &G)) -> bool {
        self.loading.run(&mut self.game, &self.recording, steps, look)
    }

    /// Adds bytes to the recording: see [`Recording::append`]. The frames in them can be [loaded](Self::load) and stepped then.
    pub fn append(&mut self, bytes: &[u8]) -> Tail {
        self.recording.append(bytes)
    }

    /// The checksum of the last state of the match, once all frames and the end of the recording are loaded.
    #[must_use]
    pub fn last_checksum(&self) -> Option<u32> {
        let is_whole = self.recording.end().is_some() && self.loaded().0 == self.recording.frames();
        (is_whole && !self.loading.has_failed()).then(|| self.loading.checksum())
    }

    /// The frame up to which the recording is loaded.
    #[must_use]
    pub fn loaded(&self) -> Frame {
        self.loading.frame()
    }

    /// The number of recorded checksums that were compared while loading.
    ///
    /// # Errors
    /// The first recorded checksum that differs from the state, or a state that the game could not save or restore: nothing is
    /// loaded or stepped after that.
    pub fn verified(&self) -> Result<u32, VerifyError> {
        self.loading.verified()
    }

    /// Steps a frame, paused or not; `false` at the end, and after a state that the game could not save or restore.
    pub fn step(&mut self) -> bool {
        self.events.clear();
        if self.loading.has_failed() {
            return false;
        }
        let frame = self.cursor.frame();
        let Some(inputs) = self.cursor.next(&self.recording) else { return false };
        self.cues.begin(true);
        self.game.step(inputs, &mut self.cues);
        for &cue in self.cues.as_slice() {
            let id = CueId(self.next_cue);
            self.next_cue = self.next_cue.wrapping_add(1);
            for change in [CueChange::Start { late_by: 0 }, CueChange::Confirm] {
                self.events.push(CueEvent { id, cue, frame, change });
            }
        }
        true
    }

    /// Goes to the state of `frame`, or to the last; returns the number of frames that were resimulated.
    ///
    /// A frame that is not [loaded](Self::load) yet is stepped to from the newest one that is.
    pub fn seek(&mut self, frame: Frame) -> u32 {
        self.events.clear();
        if self.loading.has_failed() {
            return 0;
        }
        let frame = frame.min(Frame(self.recording.frames()));
        let (kept_frame, kept) = self.loading.nearest(frame);
        // From where the playback is, if that is nearer.
        if !(kept_frame..=frame).contains(&self.frame()) {
            if let Err(error) = self.game.restore(kept) {
                self.loading.fail(error);
                return 0;
            }
            self.cursor = self.recording.cursor(kept_frame);
        }
        let steps = frame.since(self.frame());
        for left in (0..steps).rev() {
            let Some(inputs) = self.cursor.next(&self.recording) else { break };
            self.cues.begin(left == 0);
            self.game.step(inputs, &mut self.cues);
        }
        steps
    }

    /// Goes on at `now`, on the clock of [`advance`](Self::advance).
    pub fn play(&mut self, now: Duration) {
        self.clock.playing = true;
        (self.clock.last, self.clock.owed) = (now, 0);
    }

    /// Stops; [`step`](Self::step) and [`seek`](Self::seek) still move.
    pub fn pause(&mut self) {
        self.clock.playing = false;
    }

    /// Whether frames come as time goes by.
    #[must_use]
    pub fn is_playing(&self) -> bool {
        self.clock.playing
    }

    /// Sets the speed in thousandths of the recorded frame rate.
    pub fn set_speed(&mut self, speed_permille: u32) {
        self.clock.speed_permille = speed_permille;
    }

    /// The speed in thousandths of the recorded frame rate.
    #[must_use]
    pub fn speed_permille(&self) -> u32 {
        self.clock.speed_permille
    }

    /// Steps the frames that are due at `now`, and passes each state with its cues to `look`; how many there were.
    pub fn advance(&mut self, now: Duration, mut look: impl FnMut(Frame, &G, &[CueEvent])) -> u32 {
        let due = self.clock.due(now);
        for stepped in 0..due {
            if !self.step() {
                return stepped;
            }
            look(self.cursor.frame(), &self.game, &self.events);
        }
        due
    }

    /// The game in the state of [`frame`](Self::frame).
    #[must_use]
    pub fn game(&self) -> &G {
        &self.game
    }

    /// The cues of the last [`step`](Self::step): each is started and confirmed at once.
    #[must_use]
    pub fn cues(&self) -> &[CueEvent] {
        &self.events
    }

    /// The frame of the state that is shown; its inputs come next.
    #[must_use]
    pub fn frame(&self) -> Frame {
        self.cursor.frame()
    }

    /// The recording.
    #[must_use]
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// Continues from here as a live match at this machine, whose first frame is due at `now`.
    ///
    /// # Errors
    /// If the config is not valid. Of the config only the frame rate, the axes and the pads count.
    pub fn take_over(self, now: Duration, config: &Config) -> Result<TakeOver<G>, ConfigError> {
        TakeOver::new(now, config, self.game, self.recording, self.cursor)
    }
}

impl Clock {
    /// The number of frames that are due since the last call.
    fn due(&mut self, now: Duration) -> u32 {
        let passed = now.saturating_sub(core::mem::replace(&mut self.last, now));
        if !self.playing {
            return 0;
        }
        let frame_length = u128::from(self.rate.denominator()) * 1_000_000_000;
        let passed = passed.as_nanos() * u128::from(self.rate.numerator());
        // A loop that was away does not make up for it.
        self.owed += passed.min(frame_length * MAX_LATE_FRAMES) * u128::from(self.speed_permille);
        let frame = frame_length * u128::from(NORMAL_SPEED);
        let due = self.owed / frame;
        self.owed %= frame;
        u32::try_from(due).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::{End, Header, Outcome, StreamRecorder, Winner};
    use crate::{Buttons, Cue, Inputs, Player, fields};
    use std::collections::BTreeSet;

    #[derive(Clone, Copy)]
    struct Count {
        at: u32,
    }
    fields!(Count { at });

    impl Game for Count {
        fn step(&mut self, inputs: Inputs, cues: &mut Cues) {
            self.at = self.at.wrapping_mul(31).wrapping_add(inputs[Player::One].buttons().0.into());
            cues.emit(Cue(1));
        }
    }

    /// A recording whose header lacks the frame rate.
    fn recording(frames: u32) -> Recording {
        let mut recorder = StreamRecorder::new(&Header::new(7), Vec::new()).unwrap();
        for frame in 0..frames {
            recorder.record(Frame(frame), [Buttons(frame as u16), Buttons(0)].into()).unwrap();
        }
        let end = End { outcome: Outcome::Local, winner: Winner::Draw };
        Recording::open(recorder.finish(end).unwrap()).unwrap()
    }

    fn playback(frames: u32, max_snapshots: usize) -> Playback<Count> {
        Playback::with_snapshots(Count { at: 7 }, recording(frames), max_snapshots)
    }

    fn state(frame: u32) -> u32 {
        (0..frame).fold(7_u32, |at, frame| at.wrapping_mul(31).wrapping_add(frame))
    }

    #[test]
    fn seek_past_the_end_steps_to_the_last_frame() {
        let mut playback = playback(100, USUAL_SNAPSHOTS);
        assert_eq!((playback.seek(Frame(u32::MAX)), playback.frame()), (100, Frame(100)));
        assert_eq!(playback.game().at, state(100));
    }

    #[test]
    fn load_says_at_once_that_all_is_loaded() {
        let mut playback = playback(100, USUAL_SNAPSHOTS);
        assert!(!playback.load(99, |_, _| {}) && playback.load(1, |_, _| {}));
        assert_eq!(playback.loaded(), Frame(100));
    }

    #[test]
    fn cues_have_ids_of_their_own() {
        let mut playback = playback(10, USUAL_SNAPSHOTS);
        let mut ids = BTreeSet::new();
        while playback.step() {
            assert!(playback.cues().iter().all(|event| event.id == playback.cues()[0].id));
            ids.insert(playback.cues()[0].id);
        }
        assert_eq!(ids.len(), 10);
    }

    #[test]
    fn cues_are_gone_after_a_seek_and_at_the_end() {
        let mut playback = playback(10, USUAL_SNAPSHOTS);
        assert!(playback.step() && playback.cues().len() == 2);
        playback.seek(Frame(9));
        assert!(playback.cues().is_empty());
        assert!(playback.step() && playback.cues().len() == 2);
        assert!(!playback.step() && playback.cues().is_empty(), "no cue is told twice");
    }

    #[test]
    fn time_owed_before_a_pause_is_dropped() {
        let mut playback = playback(100, USUAL_SNAPSHOTS);
        let ms = Duration::from_millis;
        playback.play(ms(0));
        assert_eq!(playback.advance(ms(16), |_, _, _| {}), 0);
        playback.pause();
        playback.play(ms(1_000));
        assert_eq!(playback.advance(ms(1_001), |_, _, _| {}), 0, "a frame takes 16.7 ms from here");
        assert_eq!(playback.advance(ms(1_017), |_, _, _| {}), 1);
    }

    #[test]
    fn file_without_a_frame_rate_plays_at_60_frames_a_second() {
        let mut playback = playback(100, USUAL_SNAPSHOTS);
        playback.play(Duration::ZERO);
        let frames = (1..=50).map(|step| playback.advance(Duration::from_millis(20 * step), |_, _, _| {}));
        assert_eq!(frames.sum::<u32>(), 60);
    }

    #[test]
    fn playback_keeps_the_exact_rate_at_any_speed() {
        let rate = FrameRate::ratio(39_375_000, 655_171);
        for (speed_permille, parts) in [(1_000, 1), (500, 2), (250, 4)] {
            let mut clock = Clock { playing: true, speed_permille, rate, last: Duration::ZERO, owed: 0 };
            // Up to the last nanosecond before a frame is due, in calls at odd times.
            let end = rate.time_of(100_000) * parts;
            let times = (1..).map(|call| Duration::from_micros(20_000 * call - call % 7));
            let early: u32 = times.take_while(|time| *time < end).map(|time| clock.due(time)).sum();
            assert_eq!(early + clock.due(end), 99_999, "{speed_permille} thousandths");
            assert_eq!(clock.due(end + Duration::from_nanos(4)), 1, "{speed_permille} thousandths");
        }
    }

    #[test]
    fn every_number_of_snapshots_reaches_the_same_states() {
        for max_snapshots in 0..=7 {
            let mut playback = playback(700, max_snapshots);
            while !playback.load(300, |_, _| {}) {}
            let mut most = 0;
            for frame in (0..=700).rev().step_by(50) {
                most = most.max(playback.seek(Frame(frame)));
                assert_eq!(playback.game().at, state(frame), "{max_snapshots} snapshots, frame {frame}");
            }
            assert!(most <= 480, "{most} steps: two snapshots are the least");
        }
    }

    #[test]
    fn last_loaded_state_is_reached_without_a_step() {
        let mut playback = playback(300, USUAL_SNAPSHOTS);
        assert!(!playback.load(110, |_, _| {}));
        assert_eq!((playback.seek(Frame(110)), playback.game().at), (0, state(110)));
    }
}
