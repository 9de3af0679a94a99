//! The sync test: finds games that a rollback would break, on one machine and without a network.

use super::ring::FrameRing;
use super::sync_test_error::SyncTestError;
use crate::game::fields::Image;
use crate::game::marks::{Mark, Marks};
use crate::{Cues, Fields, Frame, Game, Inputs, Rng, StateError, diff};

/// The number of frames from one trial with changed inputs to the next.
const TRIAL_EVERY_FRAMES: u32 = 16;

/// One rollback of this many is resimulated without a save on the way.
const UNSAVED_EVERY_FRAMES: u32 = 4;

/// The state must change in at least one frame of this many, or the run has proved nothing.
const FRAMES_PER_CHANGE: u64 = 20;

/// A test that runs a game and rolls it back in every frame, by a depth drawn from a seed.
///
/// Every frame it restores an earlier snapshot, saves it again and compares the two; steps once and restores again;
/// then resimulates up to the current frame and compares every state on the way. It compares all words of the states,
/// not their checksums. The first step of a frame is [shown](Cues::is_shown) and the others are not. A game that passes a few
/// thousand frames with varied inputs keeps its whole state in its snapshot, and its step is a function of that state and the
/// inputs.
///
/// Every fourth resimulation saves nothing before its last state. It finds a `save` that changes the game.
///
/// Every sixteenth frame the single step is a trial with all buttons and axes inverted, to see whether inputs have any effect.
/// The trial is run twice from one state, and both must lead to the same state: code that only these inputs reach is tested too.
/// The step must handle every pattern of the 16 buttons and every value of the axes: another machine can send them.
///
/// ```
/// use rebout::{Buttons, Cues, Game, Inputs, Player, SyncTest, fields};
///
/// #[derive(Clone, Copy)]
/// struct Race { at: [i32; 2] }
/// fields!(Race { at });
/// impl Game for Race {
///     fn step(&mut self, inputs: Inputs, _: &mut Cues) {
///         for player in Player::BOTH {
///             self.at[player.index()] += i32::from(inputs[player].buttons().0);
///         }
///     }
/// }
///
/// let mut race = Race { at: [0, 0] };
/// let mut test = SyncTest::new(&race, 8, 1);
/// for frame in 0..600_u16 {
///     test.advance(&mut race, [Buttons(frame / 7 % 3), Buttons(frame / 5 % 2)])?;
/// }
/// let report = test.finish()?;
/// assert_eq!(report.frames, 600);
/// # Ok::<(), rebout::SyncTestError>(())
/// ```
#[derive(Debug)]
pub struct SyncTest<S> {
    depths: Depths,
    frame: Frame,
    /// The state of each of the last frames, from when it was first reached.
    states: FrameRing<State<S>>,
    inputs: FrameRing<Inputs>,
    /// The slot that a restored or resimulated state is saved into, to be compared.
    again: S,
    /// The state that a trial led to the first time.
    trial: State<S>,
    cues: Cues,
    report: SyncReport,
}

#[derive(Debug)]
struct State<S> {
    snapshot: S,
    image: Image,
    /// The phases of the step into it.
    marks: Vec<Mark>,
}

#[derive(Debug)]
enum Depths {
    Drawn { max: u32, rng: Rng },
    Fixed(u32),
}

/// The statistics of a sync test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SyncReport {
    /// Frames stepped, without resimulations.
    pub frames: u64,
    /// Frames resimulated.
    pub resimulated_frames: u64,
    /// Frames whose inputs differ from those of the frame before.
    pub input_changes: u64,
    /// Frames whose step changed the state.
    pub state_changes: u64,
    /// Trials of a frame with changed inputs.
    pub trials: u64,
    /// Trials that led to a different state.
    pub telling_trials: u64,
}

impl<S: Fields> SyncTest<S> {
    /// The greatest depth, several times the greatest rollback of a match.
    pub const MAX_DEPTH: u32 = 128;

    /// A test of `game` from its current state on, which goes back by 1 to `max_depth` frames in every frame.
    ///
    /// The depths are drawn from `seed`, and a failure can be repeated with the same seed. `max_depth` is limited to
    /// 1..=[`MAX_DEPTH`](Self::MAX_DEPTH).
    pub fn new<G: Game<Snapshot = S>>(game: &G, max_depth: u32, seed: u32) -> Self {
        let max = max_depth.clamp(1, Self::MAX_DEPTH);
        // A seed of 0, which the generator cannot use, is replaced by 1.
        let rng = Rng::new(seed).or_else(|| Rng::new(1)).expect("1 is a seed");
        Self::with_depths(game, max, Depths::Drawn { max, rng })
    }

    /// A test that goes back by the same depth in every frame, limited to 1..=[`MAX_DEPTH`](Self::MAX_DEPTH).
    pub fn with_fixed_depth<G: Game<Snapshot = S>>(game: &G, depth: u32) -> Self {
        let depth = depth.clamp(1, Self::MAX_DEPTH);
        Self::with_depths(game, depth, Depths::Fixed(depth))
    }

    fn with_depths<G: Game<Snapshot = S>>(game: &G, max: u32, depths: Depths) -> Self {
        let state = || State { snapshot: game.snapshot(), image: Image::default(), marks: Vec::new() };
        Self {
            depths,
            frame: Frame::ZERO,
            states: FrameRing::new(max + 1, state),
            inputs: FrameRing::new(max, Inputs::default),
            again: game.snapshot(),
            trial: state(),
            cues: Cues::marking(Marks::default()),
            report: SyncReport::default(),
        }
    }

    /// Steps one frame, rolls back, and resimulates up to the same state.
    ///
    /// # Errors
    /// The frame, the depth and every field that differs, if a state is not the same as before. A state that the game could not save or restore.
    #[inline]
    pub fn advance<G: Game<Snapshot = S>>(
        &mut self,
        game: &mut G,
        inputs: impl Into<Inputs>,
    ) -> Result<(), SyncTestError> {
        let inputs = inputs.into();
        if self.report.frames == 0 {
            self.keep(self.frame, game)?;
        }
        self.inputs.insert(self.frame, inputs);
        // Shown now, and not in a resimulation: every frame is stepped both ways and compared.
        self.step(self.frame, game, true);
        self.frame = self.frame.next();
        self.keep(self.frame, game)?;
        self.report.frames += 1;
        self.take_note(inputs);

        let depth = self.depth();
        let from = Frame(self.frame.0 - depth);
        self.restore(from, depth, game)?;
        if self.frame.0.is_multiple_of(TRIAL_EVERY_FRAMES) {
            self.try_out(from, depth, game)?;
        } else {
            // Step once between the two restores, to give the second one something to undo.
            self.step_again(from, depth, game)?;
        }
        if self.frame.0 % UNSAVED_EVERY_FRAMES == UNSAVED_EVERY_FRAMES - 1 {
            self.resimulate_unsaved(from, depth, game)?;
        } else {
            self.resimulate(from, depth, game)?;
        }
        self.report.resimulated_frames += u64::from(depth);
        Ok(())
    }

    /// Ends the test.
    ///
    /// # Errors
    /// A run that proved nothing is a failure: no input ever changed, the state hardly changed, or the inputs had no
    /// effect on it.
    pub fn finish(self) -> Result<SyncReport, SyncTestError> {
        let report = self.report;
        if report.input_changes == 0 {
            return Err(SyncTestError::InputsNeverChanged { frames: report.frames });
        }
        if report.state_changes * FRAMES_PER_CHANGE < report.frames {
            return Err(SyncTestError::StateHardlyChanged {
                changes: report.state_changes,
                frames: report.frames,
            });
        }
        if report.telling_trials == 0 && report.trials > 0 {
            return Err(SyncTestError::InputsWithoutEffect { trials: report.trials });
        }
        Ok(report)
    }

    /// The statistics so far.
    #[must_use]
    pub fn report(&self) -> &SyncReport {
        &self.report
    }

    /// The depth of the next rollback, which does not go back beyond frame 0.
    #[inline]
    fn depth(&mut self) -> u32 {
        let depth = match &mut self.depths {
            Depths::Drawn { max, rng } => 1 + rng.below(*max),
            Depths::Fixed(depth) => *depth,
        };
        depth.min(self.frame.0)
    }

    /// Stores a state that was reached for the first time.
    #[inline]
    fn keep<G: Game<Snapshot = S>>(&mut self, frame: Frame, game: &G) -> Result<(), SyncTestError> {
        if let Some(state) = self.states.claim(frame) {
            game.save(&mut state.snapshot).map_err(|error| SyncTestError::State { frame, error })?;
            state.image.take(&state.snapshot);
            if let Some(marks) = self.cues.marks() {
                core::mem::swap(&mut state.marks, marks);
            }
        }
        Ok(())
    }

    #[inline]
    fn step<G: Game<Snapshot = S>>(&mut self, frame: Frame, game: &mut G, is_shown: bool) {
        let inputs = self.inputs.get(frame).copied().unwrap_or_default();
        self.cues.begin(is_shown);
        if let Some(marks) = self.cues.marks().filter(|marks| !marks.is_empty()) {
            marks.clear();
        }
        game.step(inputs, &mut self.cues);
    }

    /// Restores the snapshot of `from`, steps up to the current frame, and compares every state on the way.
    #[inline]
    fn resimulate<G: Game<Snapshot = S>>(
        &mut self,
        from: Frame,
        depth: u32,
        game: &mut G,
    ) -> Result<(), SyncTestError> {
        self.restore(from, depth, game)?;
        for frame in from.until(self.frame) {
            self.step_again(frame, depth, game)?;
        }
        Ok(())
    }

    /// Restores the snapshot of `from`, steps up to the current frame without a save, and compares the state there.
    #[inline]
    fn resimulate_unsaved<G: Game<Snapshot = S>>(
        &mut self,
        from: Frame,
        depth: u32,
        game: &mut G,
    ) -> Result<(), SyncTestError> {
        let (frame, depth, phase, fields) = match self.step_unsaved(from, depth, game) {
            Err(SyncTestError::Resimulation { frame, depth, phase, fields }) => (frame, depth, phase, fields),
            other => return other,
        };
        // A mistake that has nothing to do with saves may show here first. With saves it is named by its first frame, and
        // a difference that does not come back is not blamed on `save`.
        self.resimulate(from, depth, game)?;
        Err(match self.step_unsaved(from, depth, game) {
            Err(SyncTestError::Resimulation { .. }) => SyncTestError::Unsaved { frame, depth, fields },
            Err(error) => error,
            Ok(()) => SyncTestError::Resimulation { frame, depth, phase, fields },
        })
    }

    #[inline]
    fn step_unsaved<G: Game<Snapshot = S>>(
        &mut self,
        from: Frame,
        depth: u32,
        game: &mut G,
    ) -> Result<(), SyncTestError> {
        let state = self.states.get(from).expect("kept for the greatest depth");
        game.restore(&state.snapshot).map_err(|error| SyncTestError::State { frame: from, error })?;
        for frame in from.until(self.frame) {
            self.step(frame, game, false);
        }
        match self.is_repeated(self.frame, game) {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.difference(self.frame, depth)),
            Err(error) => Err(SyncTestError::State { frame: self.frame, error }),
        }
    }

    /// Steps a frame of a resimulation, and compares the state that it leads to with the stored one.
    // Always inlined: an error is large, and a call that may return one costs as much as comparing a small state.
    #[inline(always)]
    fn step_again<G: Game<Snapshot = S>>(
        &mut self,
        frame: Frame,
        depth: u32,
        game: &mut G,
    ) -> Result<(), SyncTestError> {
        self.step(frame, game, false);
        match self.is_repeated(frame.next(), game) {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.explain(frame, depth, game)),
            Err(error) => Err(SyncTestError::State { frame: frame.next(), error }),
        }
    }

    /// The error about a step of `frame` that led to another state: another error if the step depends on whether it is shown.
    #[cold]
    #[inline(never)]
    fn explain<G: Game<Snapshot = S>>(&mut self, frame: Frame, depth: u32, game: &mut G) -> SyncTestError {
        let error = self.difference(frame.next(), depth);
        if !self.depends_on_shown(frame, depth, game).unwrap_or(false) {
            return error;
        }
        let state = self.states.get(frame.next()).expect("kept for the greatest depth");
        SyncTestError::Shown { frame: frame.next(), fields: diff(&state.snapshot, &self.again) }
    }

    /// Whether the step of `frame` leads to the stored state if it is shown, and to another if it is not.
    #[cold]
    fn depends_on_shown<G: Game<Snapshot = S>>(
        &mut self,
        frame: Frame,
        depth: u32,
        game: &mut G,
    ) -> Result<bool, SyncTestError> {
        let mut differs = [false; 2];
        for (differs, is_shown) in differs.iter_mut().zip([true, false]) {
            self.restore(frame, depth, game)?;
            self.step(frame, game, is_shown);
            *differs = !self.is_repeated(frame.next(), game).unwrap_or(false);
        }
        Ok(differs == [false, true])
    }

    /// Restores the snapshot of `frame`, saves it again and compares the two.
    #[inline]
    fn restore<G: Game<Snapshot = S>>(
        &mut self,
        frame: Frame,
        depth: u32,
        game: &mut G,
    ) -> Result<(), SyncTestError> {
        let state = self.states.get(frame).expect("kept for the greatest depth");
        game.restore(&state.snapshot)
            .and_then(|()| game.save(&mut self.again))
            .map_err(|error| SyncTestError::State { frame, error })?;
        if state.image.is_of(&self.again) { Ok(()) } else { Err(self.not_restored(frame, depth)) }
    }

    #[cold]
    #[inline(never)]
    fn not_restored(&self, frame: Frame, depth: u32) -> SyncTestError {
        let state = self.states.get(frame).expect("kept for the greatest depth");
        SyncTestError::Restore { frame, depth, fields: diff(&state.snapshot, &self.again) }
    }

    /// Whether the game has the stored state of `frame`.
    #[inline]
    fn is_repeated<G: Game<Snapshot = S>>(&mut self, frame: Frame, game: &G) -> Result<bool, StateError> {
        let state = self.states.get(frame).expect("kept for the greatest depth");
        game.save(&mut self.again)?;
        Ok(state.image.is_of(&self.again))
    }

    /// The difference between the stored state of `frame` and the one that was saved last.
    #[cold]
    #[inline(never)]
    fn difference(&mut self, frame: Frame, depth: u32) -> SyncTestError {
        let state = self.states.get(frame).expect("kept for the greatest depth");
        let phase = self.cues.marks().and_then(|again| first_difference(&state.marks, again));
        SyncTestError::Resimulation { frame, depth, phase, fields: diff(&state.snapshot, &self.again) }
    }

    /// Counts whether this frame changed the inputs and the state.
    #[inline]
    fn take_note(&mut self, inputs: Inputs) {
        let Some(before) = self.frame.checked_sub(2) else { return };
        let last = before.next();
        self.report.input_changes += u64::from(self.inputs.get(before) != Some(&inputs));
        let changed = match (self.states.get(last), self.states.get(self.frame)) {
            (Some(last), Some(now)) => last.image != now.image,
            _ => false,
        };
        self.report.state_changes += u64::from(changed);
    }

    /// Steps `frame` twice with all buttons inverted, compares the two states, and counts whether they differ from the state
    /// that the players' inputs led to.
    fn try_out<G: Game<Snapshot = S>>(
        &mut self,
        frame: Frame,
        depth: u32,
        game: &mut G,
    ) -> Result<(), SyncTestError> {
        let Inputs([one, two]) = self.inputs.get(frame).copied().unwrap_or_default();
        let inputs = Inputs([one.inverted(), two.inverted()]);
        self.cues.begin(false);
        game.step(inputs, &mut self.cues);
        let failed = |error| SyncTestError::State { frame: frame.next(), error };
        game.save(&mut self.trial.snapshot).map_err(failed)?;
        self.trial.image.take(&self.trial.snapshot);
        let state = self.states.get(frame.next()).expect("kept for the greatest depth");
        self.report.trials += 1;
        self.report.telling_trials += u64::from(state.image != self.trial.image);

        self.restore(frame, depth, game)?;
        self.cues.begin(false);
        game.step(inputs, &mut self.cues);
        game.save(&mut self.again).map_err(failed)?;
        if self.trial.image.is_of(&self.again) {
            return Ok(());
        }
        Err(SyncTestError::Trial { frame, fields: diff(&self.trial.snapshot, &self.again) })
    }
}

/// The name of the first mark that is not the same in both lists; `None` if all are.
fn first_difference(first: &[Mark], again: &[Mark]) -> Option<String> {
    let index = (0..first.len().max(again.len())).find(|index| first.get(*index) != again.get(*index))?;
    first.get(index).or_else(|| again.get(index)).map(|mark| mark.name.clone())
}
