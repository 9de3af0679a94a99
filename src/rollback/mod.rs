//! The rollback engine, without a network: inputs, prediction, snapshots, resimulation, cues.
//!
//! A session runs on a [`Rollback`]. The engine can also be used alone, where inputs do not come from an RBN1 peer:
//! [`confirm`](Rollback::confirm) inputs as they become known, [`advance`](Rollback::advance) a frame at a time.

mod ahead;
mod barrier;
mod correct;
mod costs;
mod cues;
mod inside;
mod over;
pub(crate) mod prediction;
mod queue;
mod resume;
mod rewind;
pub(crate) mod ring;
pub(crate) mod saving;
mod snapshots;
mod sparse;
mod store;
pub(crate) mod sync_test;
pub(crate) mod sync_test_error;
mod types;

pub use costs::Costs;
use prediction::Prediction;
pub use queue::InputError;
use saving::Saving;
pub(crate) use types::MAX_LOOK_AHEAD;
pub use types::{Advance, EngineConfig, MAX_WINDOW, RollbackStats};

use crate::{CueEvent, Cues, Frame, Game, Input, Inputs, Player, StateError};
use ahead::Ahead;
use barrier::Barriers;
use core::ops::Range;
use costs::Meter;
use cues::CueLedger;
use queue::{InputQueue, KEPT_FRAMES};
use store::Store;

/// The number of slots for the last frames: twice the greatest window, which is the most that a rollback steps again. A
/// power of two, with which the compiler can drop bounds checks. The slots need no tags, because only frames
/// from there up to `current` are looked up.
const SLOTS: usize = (2 * MAX_WINDOW as usize).next_power_of_two();

#[inline]
const fn slot(frame: Frame) -> usize {
    frame.0 as usize % SLOTS
}

/// The inputs that a step was given, and whether the game was finished after it.
#[derive(Clone, Copy, Debug, Default)]
struct Stepped {
    inputs: Inputs,
    finished: bool,
}

/// Steps a game on confirmed and predicted inputs, and resimulates when a prediction was wrong.
///
/// Generic over the *snapshot* and not over the game: the game belongs to the caller and is lent to
/// [`advance`](Self::advance). The caller must not change it between calls.
///
/// ```
/// use rebout::rollback::{Advance, Rollback, EngineConfig};
/// use rebout::{Buttons, Cues, Frame, Game, Inputs, Player, fields};
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
/// let mut engine = Rollback::new(EngineConfig::default(), &race);
/// engine.confirm(Player::One, Frame(0), Buttons(1))?;
/// assert_eq!(engine.advance(&mut race), Advance::Stepped);
/// assert_eq!(race.at, [1, 0], "player two is predicted to hold nothing");
///
/// engine.confirm(Player::Two, Frame(0), Buttons(5))?;
/// engine.confirm(Player::One, Frame(1), Buttons(1))?;
/// engine.advance(&mut race);
/// assert_eq!(race.at, [2, 10], "frame 0 was stepped again, and frame 1 is predicted from it");
/// # Ok::<(), rebout::rollback::InputError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Rollback<S> {
    config: EngineConfig,
    /// The next frame to step; the game is in this state.
    current: Frame,
    /// Every frame before this one has been stepped on confirmed inputs.
    settled: Frame,
    /// The value of `settled` before the last `advance`.
    settled_before: Frame,
    /// The frame of the last state, or why the game could not save or restore one.
    over: Option<Result<Frame, StateError>>,
    queues: [InputQueue; 2],
    stepped: [Stepped; SLOTS],
    snapshots: Store<S>,
    mispredicted: Option<Frame>,
    barriers: Barriers,
    cues: CueLedger,
    scratch: Cues,
    /// The state to go back to after a look ahead, if there are any.
    ahead: Option<Box<Ahead<S>>>,
    stats: RollbackStats,
    meter: Meter,
}

impl<S> Rollback<S> {
    /// An engine for `game` as it is now, which becomes state 0.
    ///
    /// A window above [`MAX_WINDOW`] is taken as [`MAX_WINDOW`], and a look-ahead above 8 as 8; a session's config refuses them
    /// before that.
    pub fn new<G: Game<Snapshot = S>>(config: EngineConfig, game: &G) -> Self {
        let window = config.window.min(MAX_WINDOW);
        let config = EngineConfig { window, look_ahead: config.look_ahead.min(MAX_LOOK_AHEAD), ..config };
        // If the caller needs all snapshots, all are saved.
        let sparse = config.cadence_frames != 1 && config.saving.is_sparse(game);
        Self {
            config,
            current: Frame::ZERO,
            settled: Frame::ZERO,
            settled_before: Frame::ZERO,
            over: None,
            queues: [InputQueue::new(), InputQueue::new()],
            stepped: [Stepped::default(); SLOTS],
            snapshots: Store::new(config.window, config.cadence_frames, sparse, || game.snapshot()),
            mispredicted: None,
            barriers: Barriers::default(),
            cues: CueLedger::new(config.window, config.cue_moves_within),
            scratch: Cues::new(),
            ahead: (config.look_ahead > 0).then(|| Box::new(Ahead::new(game.snapshot()))),
            stats: RollbackStats::default(),
            meter: Meter::new(config.stopwatch),
        }
    }

    /// Begins another match in the same memory; the game must have been put into its first state.
    pub fn reset(&mut self) {
        (self.current, self.settled, self.settled_before) = (Frame::ZERO, Frame::ZERO, Frame::ZERO);
        (self.over, self.mispredicted) = (None, None);
        self.queues.iter_mut().for_each(InputQueue::clear);
        self.snapshots.clear();
        self.cues.clear();
        self.forget_barriers();
        self.forget_ahead();
        self.stats = RollbackStats::default();
        self.meter.restart();
    }

    /// Records the confirmed input of one player for one frame. The inputs of a player must come in order.
    ///
    /// A misprediction is only noted here; the next [`advance`](Self::advance) resimulates, once for all inputs that
    /// were confirmed in between. `true` if the input was new, `false` if it was known.
    ///
    /// # Errors
    /// An input that leaves a gap, that conflicts with one already confirmed, or that is too far ahead is refused
    /// and changes nothing.
    #[inline]
    pub fn confirm(
        &mut self,
        player: Player,
        frame: Frame,
        input: impl Into<Input>,
    ) -> Result<bool, InputError> {
        let input = input.into();
        let queue = &mut self.queues[player.index()];
        if frame != queue.next() {
            return queue.compare(frame, input, self.settled).map(|()| false);
        }
        // The last frame number is refused, because it has no successor.
        if frame.0 - self.settled.0 >= KEPT_FRAMES || frame.0 == u32::MAX {
            return Err(InputError::too_far_ahead(frame, self.settled));
        }
        queue.push(input);
        if frame < self.current && self.stepped[slot(frame)].inputs[player] != input {
            self.mispredicted = Some(self.mispredicted.map_or(frame, |earlier| earlier.min(frame)));
        }
        Ok(true)
    }

    /// Confirms the input that a local player gives now, as that of the frame `delay_frames` after the current
    /// one.
    ///
    /// Frames in between that have no input yet get the player's newest one, and the delay can therefore grow at any
    /// time without a gap. `false` if the target frame has its input already, because the delay has shrunk: the caller
    /// must keep the press for the next frame. Also `false`, with no change, if the target frame is further ahead than
    /// inputs are kept for.
    #[inline]
    pub fn press(&mut self, player: Player, delay_frames: u32, input: impl Into<Input>) -> bool {
        let target = Frame(self.current.0.saturating_add(delay_frames));
        if target.since(self.settled) >= KEPT_FRAMES || target < self.next_input(player) {
            return false;
        }
        let last = self.last_input(player);
        while self.next_input(player) < target {
            if self.confirm(player, self.next_input(player), last).is_err() {
                return false;
            }
        }
        self.confirm(player, target, input).is_ok()
    }

    /// Whether the current frame may be stepped: the match has not ended, at most a window of frames would be predicted after
    /// it, and it does not wait at a [barrier](Game::barrier).
    #[inline]
    #[must_use]
    pub fn may_step(&self) -> bool {
        self.over.is_none()
            && self.window_is_open()
            && !Player::BOTH.into_iter().any(|player| self.is_barred_by(player))
    }

    /// Whether the current frame has to wait for an input of `player`, regardless of the other player's inputs.
    #[inline]
    #[must_use]
    pub fn is_waiting_for(&self, player: Player) -> bool {
        self.current.0 >= self.next_input(player).0.saturating_add(self.config.window)
    }

    /// Resimulates from the earliest misprediction, then steps the current frame if it [may](Self::may_step) be
    /// stepped.
    ///
    /// A rollback that comes to a [barrier](Game::barrier) whose inputs are missing ends there: the [current](Self::current)
    /// frame goes back to it. Inputs that were confirmed for later frames stay.
    ///
    /// The order of restore, save and step is decided here and cannot be got wrong outside.
    #[inline]
    pub fn advance<G: Game<Snapshot = S>>(&mut self, game: &mut G) -> Advance {
        self.run(game, true)
    }

    /// Resimulates from the earliest misprediction and settles the frames that are certain, without stepping the
    /// current frame: for the end of a recorded match, or a pause.
    pub fn mend<G: Game<Snapshot = S>>(&mut self, game: &mut G) {
        self.run(game, false);
    }

    /// Resimulates, steps the current frame if `step_current` says so and the window allows it, reconciles cues, and
    /// settles.
    #[inline]
    fn run<G: Game<Snapshot = S>>(&mut self, game: &mut G, step_current: bool) -> Advance {
        self.forget_last();
        let ran = if self.meter.is_due(self.current) {
            self.run_rarely(game, step_current)
        } else {
            self.run_or_fail::<G, false>(game, step_current)
        };
        ran.unwrap_or_else(|error| self.fail(error))
    }

    #[inline]
    fn run_or_fail<G: Game<Snapshot = S>, const IS_RARE: bool>(
        &mut self,
        game: &mut G,
        step_current: bool,
    ) -> Result<Advance, StateError> {
        // With a look-ahead its last step is shown instead.
        let is_shown = self.config.look_ahead == 0;
        // No input is confirmed in here.
        let confirmed = self.confirmed_end();
        let may_step = step_current && self.reaches(confirmed);
        let mispredicted = self.mispredicted;
        if let Some(frame) = mispredicted {
            if self.meter.awaits_rollback() {
                self.resimulate_measured(frame, game, is_shown && !may_step)?;
            } else {
                self.resimulate(frame, game, is_shown && !may_step)?;
            }
        }
        let now = self.current;
        let outcome = if self.is_barred(now, game) {
            self.wait_at_barrier(game, mispredicted.is_some())?;
            Advance::Stalled
        } else if may_step {
            if IS_RARE {
                self.step_measured(now, game, is_shown)?;
            } else {
                self.save(now, game, false)?;
                self.step(now, game, is_shown);
            }
            self.current = now.next();
            Advance::Stepped
        } else {
            Advance::Stalled
        };
        self.cues.reconcile(now);
        Ok(if self.settle(game, confirmed)? { Advance::Ended } else { outcome })
    }

    /// Saves the state of `frame`, which is about to be stepped, if the policy says so.
    #[inline]
    fn save<G: Game<Snapshot = S>>(
        &mut self,
        frame: Frame,
        game: &G,
        resimulating: bool,
    ) -> Result<(), StateError> {
        match self.snapshots.claim(frame) {
            Some(slot) => game.save(slot),
            None => self.save_sparsely(frame, game, resimulating),
        }
    }

    // Always inlined: it runs every frame, and a call would cost as much as half of its work.
    #[inline(always)]
    fn step<G: Game<Snapshot = S>>(&mut self, frame: Frame, game: &mut G, is_shown: bool) {
        let inputs = Inputs([self.gather(Player::One, frame), self.gather(Player::Two, frame)]);
        if game.barrier() {
            self.pass_barrier(frame);
        }
        self.scratch.begin(is_shown);
        game.step(inputs, &mut self.scratch);
        self.stepped[slot(frame)] = Stepped { inputs, finished: game.finished() };
        self.cues.stepped(frame, &self.scratch);
    }

    /// The confirmed input of a player for a frame, or else a prediction. A prediction is never stored in the queue.
    #[inline]
    fn gather(&self, player: Player, frame: Frame) -> Input {
        let queue = &self.queues[player.index()];
        if frame < queue.next() {
            queue.recent(frame)
        } else {
            self.config.prediction.predict(queue, frame.since(queue.next()) + 1)
        }
    }

    /// Settles the frames that are certain now, each once and in order; returns whether one of them ended the match.
    #[inline]
    fn settle<G: Game<Snapshot = S>>(&mut self, game: &mut G, confirmed: Frame) -> Result<bool, StateError> {
        let end = confirmed.min(self.current);
        while self.settled < end {
            let frame = self.settled;
            self.cues.settled(frame);
            self.settled = frame.next();
            if self.stepped[slot(frame)].finished {
                return self.end(self.settled, game).map(|()| true);
            }
        }
        Ok(false)
    }

    /// The next frame to step; the game is in this state.
    #[inline]
    #[must_use]
    pub fn current(&self) -> Frame {
        self.current
    }

    /// The first frame of `player` whose input is not known; every frame before it is confirmed.
    #[inline]
    #[must_use]
    pub fn next_input(&self, player: Player) -> Frame {
        self.queues[player.index()].next()
    }

    /// The newest confirmed input of `player`; neutral before the first.
    #[inline]
    #[must_use]
    pub fn last_input(&self, player: Player) -> Input {
        self.queues[player.index()].last()
    }

    /// The confirmed input of `player` for a frame, while it is kept.
    #[inline]
    #[must_use]
    pub fn input(&self, player: Player, frame: Frame) -> Option<Input> {
        self.queues[player.index()].get(frame)
    }

    /// The frames that settled in the last [`advance`](Self::advance). Every frame settles once, in order.
    #[inline]
    #[must_use]
    pub fn newly_settled(&self) -> Range<Frame> {
        self.settled_before..self.settled
    }

    /// The first frame that is not settled. Every frame before it was stepped on confirmed inputs, which makes the
    /// state of this frame certain.
    #[inline]
    #[must_use]
    pub fn settled(&self) -> Frame {
        self.settled
    }

    /// The inputs of a settled frame, while they are kept.
    #[inline]
    #[must_use]
    pub fn settled_inputs(&self, frame: Frame) -> Option<Inputs> {
        let [one, two] = &self.queues;
        Some(Inputs([one.get(frame)?, two.get(frame)?]))
    }

    /// The snapshot of a frame before the current one, or of the state in which the match ended, while it is kept.
    /// Later snapshots than that of [`settled`](Self::settled) may be mispredicted.
    #[inline]
    #[must_use]
    pub fn snapshot(&self, frame: Frame) -> Option<&S> {
        self.snapshots.get(frame)
    }

    /// The frame to which the next [`advance`](Self::advance) will roll back, if it will.
    #[inline]
    #[must_use]
    pub fn mispredicted(&self) -> Option<Frame> {
        self.mispredicted
    }

    /// The cue events of the last [`advance`](Self::advance).
    #[inline]
    #[must_use]
    pub fn cues(&self) -> &[CueEvent] {
        self.cues.events()
    }

    /// How many cues the settled frames had to leave out, because a frame holds at most [`Cues::MAX`].
    #[must_use]
    pub fn cues_left_out(&self) -> u64 {
        self.cues.left_out()
    }

    /// The rollbacks and resimulated frames so far.
    #[must_use]
    pub fn stats(&self) -> &RollbackStats {
        &self.stats
    }

    /// How many frames may be stepped on predictions.
    #[must_use]
    pub fn window(&self) -> u32 {
        self.config.window
    }

    #[inline]
    fn window_is_open(&self) -> bool {
        self.reaches(self.confirmed_end())
    }

    /// Whether the window reaches from the first frame with a missing input to the current one.
    #[inline]
    fn reaches(&self, confirmed: Frame) -> bool {
        self.current.0 < confirmed.0.saturating_add(self.config.window)
    }

    /// The first frame for which an input is missing.
    #[inline]
    fn confirmed_end(&self) -> Frame {
        let [one, two] = &self.queues;
        one.next().min(two.next())
    }
}
