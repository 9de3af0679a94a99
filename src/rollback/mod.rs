//! The engine with no network: inputs, prediction, snapshots, resimulation, cues.
//!
//! [`Rollback`] is what a session runs on. It can be used alone, where inputs come from somewhere else than from an
//! RBN1 peer: [`confirm`](Rollback::confirm) what is known, [`advance`](Rollback::advance) a frame at a time.

mod cues;
mod inside;
mod prediction;
mod queue;
mod snapshots;
mod types;

pub use prediction::Prediction;
pub use queue::InputError;
pub use types::{Advance, MAX_WINDOW, RollbackConfig, RollbackStats};

use crate::{Buttons, CueEvent, Cues, Frame, Game, Inputs, Player};
use core::ops::Range;
use cues::CueLedger;
use queue::{InputQueue, KEPT_FRAMES};
use snapshots::Snapshots;

/// One slot for each frame of the greatest window, and two more; a power of two, so that the compiler sees that an
/// index fits. These slots have no tags: only frames from `settled` up to `current` are looked up in them.
const SLOTS: usize = (MAX_WINDOW as usize + 2).next_power_of_two();

#[inline]
const fn slot(frame: Frame) -> usize {
    frame.0 as usize % SLOTS
}

/// What a step was given, and whether the game was finished after it.
#[derive(Clone, Copy, Debug, Default)]
struct Stepped {
    inputs: Inputs,
    finished: bool,
}

/// Steps a game on inputs of which some come late.
///
/// Generic over the *snapshot* and not over the game: the game is the caller's and is lent to
/// [`advance`](Self::advance). It must not be changed in between.
///
/// ```
/// use rebout::rollback::{Advance, Rollback, RollbackConfig};
/// use rebout::{Buttons, Cues, Frame, Game, Inputs, Player, fields};
///
/// #[derive(Clone, Copy)]
/// struct Race { at: [i32; 2] }
/// fields!(Race { at });
/// impl Game for Race {
///     fn step(&mut self, inputs: Inputs, _: &mut Cues) {
///         for player in Player::BOTH {
///             self.at[player.index()] += i32::from(inputs[player].0);
///         }
///     }
/// }
///
/// let mut race = Race { at: [0, 0] };
/// let mut engine = Rollback::new(RollbackConfig::default(), &race);
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
    config: RollbackConfig,
    /// The next frame to step; the game is in this state.
    current: Frame,
    /// Every frame before this one has been stepped on confirmed inputs, and has left.
    settled: Frame,
    /// What `settled` was before the last `advance`.
    settled_before: Frame,
    ended: Option<Frame>,
    queues: [InputQueue; 2],
    stepped: [Stepped; SLOTS],
    snapshots: Snapshots<S>,
    mispredicted: Option<Frame>,
    cues: CueLedger,
    scratch: Cues,
    stats: RollbackStats,
}

impl<S> Rollback<S> {
    /// An engine for `game` as it is now, which becomes state 0.
    ///
    /// A window above [`MAX_WINDOW`] is taken as [`MAX_WINDOW`]; a session's config refuses it before that.
    pub fn new<G: Game<Snapshot = S>>(config: RollbackConfig, game: &G) -> Self {
        let config = RollbackConfig { window: config.window.min(MAX_WINDOW), ..config };
        Self {
            config,
            current: Frame::ZERO,
            settled: Frame::ZERO,
            settled_before: Frame::ZERO,
            ended: None,
            queues: [InputQueue::new(), InputQueue::new()],
            stepped: [Stepped::default(); SLOTS],
            // A snapshot for each frame of the window, and one for a settled frame that is yet to be looked at.
            snapshots: Snapshots::new(config.window + 2, || game.snapshot()),
            mispredicted: None,
            cues: CueLedger::new(config.window, config.cue_moves_within),
            scratch: Cues::new(),
            stats: RollbackStats::default(),
        }
    }

    /// Begins another match in the same memory; the game must have been put into its first state.
    pub fn reset(&mut self) {
        (self.current, self.settled, self.settled_before) = (Frame::ZERO, Frame::ZERO, Frame::ZERO);
        (self.ended, self.mispredicted) = (None, None);
        self.queues.iter_mut().for_each(InputQueue::clear);
        self.snapshots.clear();
        self.cues.clear();
        self.stats = RollbackStats::default();
    }

    /// Takes in the input of one player for one frame. Inputs of a player come in order.
    ///
    /// A wrong prediction is only noted here; the next [`advance`](Self::advance) mends it, once for all inputs that
    /// came in between. `true` if the input was new, `false` if it was known.
    ///
    /// # Errors
    /// An input that leaves a gap, that conflicts with one already confirmed, or that is too far ahead is refused
    /// and changes nothing.
    #[inline]
    pub fn confirm(&mut self, player: Player, frame: Frame, buttons: Buttons) -> Result<bool, InputError> {
        let queue = &mut self.queues[player.index()];
        if frame != queue.next() {
            return queue.compare(frame, buttons, self.settled).map(|()| false);
        }
        // The last number has no successor, and is never taken.
        if frame.0 - self.settled.0 >= KEPT_FRAMES || frame.0 == u32::MAX {
            return Err(InputError::too_far_ahead(frame, self.settled));
        }
        queue.push(buttons);
        if frame < self.current && self.stepped[slot(frame)].inputs[player] != buttons {
            self.mispredicted = Some(self.mispredicted.map_or(frame, |earlier| earlier.min(frame)));
        }
        Ok(true)
    }

    /// Takes in what a player at this machine holds now, for `delay_frames` after the current frame.
    ///
    /// Frames in between that have no input yet get the player's newest one, so that the delay can grow at any time
    /// without a gap. `false` if that frame has its input already, because the delay has shrunk: the press is
    /// the caller's to keep for the next frame. `false` too, and nothing is changed, if that frame is further ahead than
    /// inputs are kept for.
    #[inline]
    pub fn press(&mut self, player: Player, delay_frames: u32, buttons: Buttons) -> bool {
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
        self.confirm(player, target, buttons).is_ok()
    }

    /// Whether the current frame may be stepped: at most a window of frames is predicted.
    #[inline]
    #[must_use]
    pub fn may_step(&self) -> bool {
        self.ended.is_none() && self.window_is_open()
    }

    /// Whether the current frame has to wait for an input of `player`, whatever the other one's inputs are.
    #[inline]
    #[must_use]
    pub fn is_waiting_for(&self, player: Player) -> bool {
        self.current.0 >= self.next_input(player).0.saturating_add(self.config.window)
    }

    /// Mends wrong predictions, then steps the current frame if it [may](Self::may_step) be stepped.
    ///
    /// The order of restore, save and step is decided here and cannot be got wrong outside.
    #[inline]
    pub fn advance<G: Game<Snapshot = S>>(&mut self, game: &mut G) -> Advance {
        self.forget_last();
        self.run(game, true)
    }

    /// Mends wrong predictions and settles what is certain now, but steps no further: for the end of a recorded
    /// match, or a pause.
    pub fn mend<G: Game<Snapshot = S>>(&mut self, game: &mut G) {
        self.forget_last();
        self.run(game, false);
    }

    #[inline]
    fn run<G: Game<Snapshot = S>>(&mut self, game: &mut G, on: bool) -> Advance {
        if self.ended.is_some() {
            return Advance::Ended;
        }
        if self.current == Frame::ZERO && game.finished() {
            // The first state is certain from the start.
            self.end(Frame::ZERO, game);
            return Advance::Ended;
        }
        if let Some(frame) = self.mispredicted {
            self.resimulate(frame, game);
        }
        let now = self.current;
        let outcome = if on && self.window_is_open() {
            self.save(now, game);
            self.step(now, game);
            self.current = now.next();
            Advance::Stepped
        } else {
            Advance::Stalled
        };
        self.cues.reconcile(now);
        if self.settle(game) { Advance::Ended } else { outcome }
    }

    /// Goes back to `frame` and steps every frame since again, on what is known by now.
    #[inline(never)]
    fn resimulate<G: Game<Snapshot = S>>(&mut self, frame: Frame, game: &mut G) {
        self.mispredicted = None;
        let snapshot =
            self.snapshots.get(frame).expect("a frame that can be mispredicted is within the window");
        game.restore(snapshot);
        let mut again = frame;
        loop {
            self.step(again, game);
            again = again.next();
            if again >= self.current {
                break;
            }
            self.save(again, game);
        }
        let depth = self.current.since(frame);
        self.stats.rollbacks += 1;
        self.stats.resimulated_frames += u64::from(depth);
        self.stats.depths[depth as usize] += 1;
    }

    #[inline]
    fn save<G: Game<Snapshot = S>>(&mut self, frame: Frame, game: &G) {
        if let Some(slot) = self.snapshots.claim(frame) {
            game.save(slot);
        }
    }

    // Both callers are loops that run every frame: a call would cost as much as half of what is done here.
    #[inline(always)]
    fn step<G: Game<Snapshot = S>>(&mut self, frame: Frame, game: &mut G) {
        let inputs = Inputs([self.gather(Player::One, frame), self.gather(Player::Two, frame)]);
        self.scratch.clear();
        game.step(inputs, &mut self.scratch);
        self.stepped[slot(frame)] = Stepped { inputs, finished: game.finished() };
        self.cues.stepped(frame, &self.scratch);
    }

    /// What is confirmed, or else what is predicted; a prediction is never stored as if it were real.
    #[inline]
    fn gather(&self, player: Player, frame: Frame) -> Buttons {
        let queue = &self.queues[player.index()];
        if frame < queue.next() {
            queue.recent(frame)
        } else {
            self.config.prediction.predict(queue.last(), frame.since(queue.next()) + 1)
        }
    }

    /// Lets the frames that are certain now leave, once and in order; whether one of them ended the match.
    #[inline]
    fn settle<G: Game<Snapshot = S>>(&mut self, game: &mut G) -> bool {
        let end = self.confirmed_end().min(self.current);
        let mut settled = self.settled;
        let mut finished = false;
        while settled < end && !finished {
            self.cues.settled(settled);
            finished = self.stepped[slot(settled)].finished;
            settled = settled.next();
        }
        self.settled = settled;
        if finished {
            self.end(settled, game);
        }
        finished
    }

    /// The match is over in state `end`; what was stepped beyond it never was.
    fn end<G: Game<Snapshot = S>>(&mut self, end: Frame, game: &mut G) {
        if end < self.current {
            let snapshot = self.snapshots.get(end).expect("a settled state is within the window");
            game.restore(snapshot);
            self.snapshots.truncate_after(end);
            self.cues.cancel_from(end, self.current);
            self.current = end;
        } else {
            self.save(end, game);
        }
        self.ended = Some(end);
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
    pub fn last_input(&self, player: Player) -> Buttons {
        self.queues[player.index()].last()
    }

    /// The confirmed input of `player` for a frame, while it is kept.
    #[inline]
    #[must_use]
    pub fn input(&self, player: Player, frame: Frame) -> Option<Buttons> {
        self.queues[player.index()].get(frame)
    }

    /// The frames that became certain in the last [`advance`](Self::advance): each leaves once, in order.
    #[inline]
    #[must_use]
    pub fn newly_settled(&self) -> Range<Frame> {
        self.settled_before..self.settled
    }

    /// Every frame before this one was stepped on confirmed inputs: the state of this frame is certain.
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

    /// The snapshot of a frame before the current one, or of the last state of all, while it is kept. Certain only
    /// up to [`settled`](Self::settled).
    #[inline]
    #[must_use]
    pub fn snapshot(&self, frame: Frame) -> Option<&S> {
        self.snapshots.get(frame)
    }

    /// The state in which the game was finished, once that is certain.
    #[inline]
    #[must_use]
    pub fn ended(&self) -> Option<Frame> {
        self.ended
    }

    /// Whether the next [`advance`](Self::advance) will go back.
    #[inline]
    #[must_use]
    pub fn mispredicted(&self) -> Option<Frame> {
        self.mispredicted
    }

    /// What the last [`advance`](Self::advance) did to cues.
    #[inline]
    #[must_use]
    pub fn cues(&self) -> &[CueEvent] {
        self.cues.events()
    }

    /// How many cues the settled frames had to leave out, because a frame holds sixteen.
    #[must_use]
    pub fn cues_left_out(&self) -> u64 {
        self.cues.left_out()
    }

    /// How much was done twice so far.
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
        self.current.0 < self.confirmed_end().0.saturating_add(self.config.window)
    }

    /// The first frame for which an input is missing.
    #[inline]
    fn confirmed_end(&self) -> Frame {
        let [one, two] = &self.queues;
        one.next().min(two.next())
    }
}
