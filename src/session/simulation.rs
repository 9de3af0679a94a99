//! The simulated match: the engine, and the presses of the player at this machine.

use super::config::Config;
use super::latch::Latch;
use crate::channel::refusal::Conflict;
use crate::protocol::time::Time;
use crate::rollback::{Advance, EngineConfig, Rollback};
use crate::wire::rbn1::InputPacket;
use crate::{Frame, Game, Input, Inputs, Player, StateError, protocol::trace};
use core::time::Duration;

/// Steps the game on both players' inputs, and keeps presses while it stalls.
#[derive(Clone, Debug)]
pub(super) struct Simulation<S> {
    rollback: Rollback<S>,
    latch: Latch,
    local: Player,
    /// The bits of an input that both machines use.
    input_mask: u64,
    stalled: bool,
    /// The cues of frames that will never be certain have been cancelled.
    cues_closed: bool,
    /// The game was told that rollbacks take too long.
    slow_told: bool,
    stalled_frames: u64,
}

impl<S> Simulation<S> {
    pub(super) fn new<G: Game<Snapshot = S>>(
        local: Player,
        config: &Config,
        cadence_frames: u16,
        game: &G,
    ) -> Self {
        let rollback = EngineConfig {
            window: u32::from(config.rollback.window_frames),
            prediction: config.rollback.prediction,
            cue_moves_within: config.rollback.cue_moves_within,
            saving: config.rollback.saving,
            look_ahead: u32::from(config.rollback.look_ahead_frames),
            cadence_frames: u32::from(cadence_frames),
            stopwatch: config.rollback.stopwatch,
        };
        Self {
            rollback: Rollback::new(rollback, game),
            latch: Latch::new(Input::on_pads(config.rollback.kept_buttons, config.game.pads)),
            local,
            input_mask: Input::mask(config.game.wire_axes()),
            stalled: false,
            cues_closed: false,
            slow_told: false,
            stalled_frames: 0,
        }
    }

    /// Clears the cues and the settled frames of the last advance, for a call of the session that does not advance.
    #[inline]
    pub(super) fn forget_last(&mut self) {
        self.rollback.forget_last();
    }

    /// Mends wrong predictions and steps the current frame, if the other player's inputs allow it.
    #[inline]
    pub(super) fn advance<G: Game<Snapshot = S>>(
        &mut self,
        now: Time,
        game: &mut G,
        input: Input,
        delay_frames: u32,
    ) -> Advance {
        self.press(now, input, delay_frames);
        let advance = self.rollback.advance(game);
        match advance {
            Advance::Stepped => {
                if core::mem::take(&mut self.stalled) {
                    trace::went_on(self.rollback.current());
                }
            }
            Advance::Stalled => {
                if !core::mem::replace(&mut self.stalled, true) {
                    trace::stalled(self.rollback.current());
                }
                self.stalled_frames += 1;
            }
            Advance::Ended | Advance::Failed => {}
        }
        advance
    }

    /// Mends wrong predictions and settles, without a step of the current frame.
    pub(super) fn mend<G: Game<Snapshot = S>>(&mut self, game: &mut G) {
        self.stalled = false;
        self.rollback.mend(game);
    }

    /// Goes on at `frame`, in whose state the game is, after the inputs of `past`. The local player has `own` inputs from there on.
    pub(super) fn resume_at(&mut self, frame: Frame, past: &[Inputs], own: &[Input]) {
        self.rollback.resume_at(frame, past);
        for (at, input) in (frame.0..).map(Frame).zip(own) {
            // In order and few: none is refused.
            let _ = self.rollback.confirm(self.local, at, input.masked(self.input_mask));
        }
    }

    /// Undoes every frame that is not settled.
    pub(super) fn undo_predicted<G: Game<Snapshot = S>>(&mut self, game: &mut G) -> Result<(), StateError> {
        self.stalled = false;
        self.rollback.undo_predicted(game)
    }

    /// Keeps the new presses in `input` for the next frame that takes one.
    pub(super) fn keep(&mut self, now: Time, input: Input) {
        self.latch.keep(now, input.masked(self.input_mask));
    }

    /// Gives the local player's input to its frame, or keeps new presses while no frame takes them. A stick is never
    /// kept: only its position now is meant.
    #[inline]
    fn press(&mut self, now: Time, input: Input, delay_frames: u32) {
        if self.is_waiting() && !self.owes_lockstep_input(delay_frames) {
            self.keep(now, input);
            return;
        }
        let taken = self.latch.take(now, input.masked(self.input_mask));
        if !self.rollback.press(self.local, delay_frames, taken) {
            self.latch.give_back(now);
        }
    }

    /// Whether a waiting frame of a lockstep match still needs the local input.
    ///
    /// The peer waits for this very input too, so it is given once, when the frame is due for the first time. Later
    /// presses are for the next frame.
    fn owes_lockstep_input(&self, delay_frames: u32) -> bool {
        self.rollback.window() == 0 && self.own_end() <= self.rollback.current().plus(delay_frames)
    }

    #[inline]
    fn is_waiting(&self) -> bool {
        self.rollback.is_waiting_for(self.local.other())
    }

    /// The first of the other player's inputs in `packet`, which begin at `start`, that is not what is confirmed.
    #[inline]
    pub(super) fn conflict(&self, start: Frame, packet: &InputPacket<'_>) -> Option<Conflict> {
        let remote = self.local.other();
        let (frame, confirmed, refused) = match packet.buttons() {
            Some(buttons) => self.rollback.conflict_of_buttons(remote, start, buttons),
            None => self.rollback.conflict(remote, start, packet.inputs()),
        }?;
        Some(Conflict { frame, confirmed, refused })
    }

    /// Confirms the other player's inputs that begin at `start` and end before `end`; those known already are passed
    /// over. They were checked: an error would be ours, and then the input simply comes again.
    #[inline]
    pub(super) fn confirm(&mut self, start: Frame, end: Frame, input: impl Fn(usize) -> Option<Input>) {
        let (remote, known) = (self.local.other(), self.known());
        for (at, frame) in (known.since(start) as usize..).zip(known.until(end)) {
            let Some(input) = input(at) else { return };
            if self.rollback.confirm(remote, frame, input).is_err() {
                return;
            }
        }
    }

    /// Ends the match in the settled state `end`, although the game is not finished in it. `archived` is the newest state up
    /// to it that has left the engine. `false` if no kept state leads there any more.
    pub(super) fn end_at<G: Game<Snapshot = S>>(
        &mut self,
        end: Frame,
        game: &mut G,
        archived: Option<(Frame, &S)>,
    ) -> bool {
        self.rollback.end_at(end, game, archived)
    }

    /// Cancels the cues of frames that will never be certain. Once: a match is over only once.
    pub(super) fn close_cues(&mut self) {
        if !core::mem::replace(&mut self.cues_closed, true) {
            self.rollback.cancel_cues();
        }
    }

    /// How long a rollback over the whole window takes, and the greatest window with which it fits into a frame, if this one
    /// does not. Told once.
    pub(super) fn slow_rollback(&mut self, frame_length: Duration) -> Option<(Duration, u8)> {
        if self.slow_told {
            return None;
        }
        let (takes, window) = self.rollback.slow_rollback(frame_length)?;
        self.slow_told = true;
        Some((takes, window as u8))
    }

    /// The seat of the player at this machine.
    #[inline]
    pub(super) fn local(&self) -> Player {
        self.local
    }

    /// The next frame to step.
    #[inline]
    pub(super) fn current(&self) -> Frame {
        self.rollback.current()
    }

    /// Every frame before this one was stepped on confirmed inputs.
    #[inline]
    pub(super) fn settled(&self) -> Frame {
        self.rollback.settled()
    }

    /// The last frame, once the game is finished in it for certain.
    #[inline]
    pub(super) fn ended(&self) -> Option<Frame> {
        self.rollback.ended()
    }

    /// The first frame of the other player whose input is not here.
    #[inline]
    pub(super) fn known(&self) -> Frame {
        self.rollback.next_input(self.local.other())
    }

    /// The first frame of the local player that has no input yet.
    #[inline]
    pub(super) fn own_end(&self) -> Frame {
        self.rollback.next_input(self.local)
    }

    /// The local player's inputs of the frames from `start` up to `end`, all of which are kept: their buttons as they are
    /// on the wire, and all of them.
    #[inline]
    pub(super) fn own_inputs(
        &self,
        start: Frame,
        end: Frame,
    ) -> (&[[u8; 2]], impl ExactSizeIterator<Item = Input>) {
        self.rollback.inputs(self.local, start, end)
    }

    /// Whether the last frame that was due had to wait for the other player.
    #[inline]
    pub(super) fn is_stalled(&self) -> bool {
        self.stalled
    }

    /// Whether a stalled frame could be stepped by now.
    #[inline]
    pub(super) fn can_go_on(&self) -> bool {
        self.stalled && !self.is_waiting() && !self.rollback.is_barred_by(self.local.other())
    }

    /// The engine, to be read.
    #[inline]
    pub(super) fn engine(&self) -> &Rollback<S> {
        &self.rollback
    }

    /// The engine, for the desync watch: it takes settled snapshots out of the engine by swapping.
    #[inline]
    pub(super) fn rollback(&mut self) -> &mut Rollback<S> {
        &mut self.rollback
    }

    /// Frames stepped, each counted once; and frames that had to wait.
    pub(super) fn frame_counts(&self) -> (u64, u64) {
        (u64::from(self.current().0), self.stalled_frames)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::time::Span;
    use crate::{Buttons, Cues, Save};

    /// A game without a state.
    struct Nothing;

    impl Save for Nothing {
        type Snapshot = ();
        fn snapshot(&self) {}
        fn save(&self, (): &mut ()) -> Result<(), StateError> {
            Ok(())
        }
        fn restore(&mut self, (): &()) -> Result<(), StateError> {
            Ok(())
        }
    }

    impl Game for Nothing {
        fn step(&mut self, _: Inputs, _: &mut Cues) {}
    }

    const FIRE: Buttons = Buttons(8);

    #[test]
    fn press_is_kept_when_the_delay_shrinks() {
        let mut simulation = Simulation::new(Player::One, &Config::new(1), 30, &Nothing);
        let mut advance = |frame: u32, buttons: Buttons, delay| {
            let now = Time::ZERO + Span::from_millis(16) * frame;
            assert_eq!(simulation.advance(now, &mut Nothing, buttons.into(), delay), Advance::Stepped);
            simulation.own_end()
        };
        assert_eq!((advance(0, Buttons::NONE, 4), advance(1, Buttons::NONE, 4)), (Frame(5), Frame(6)));
        assert_eq!(advance(2, FIRE, 0), Frame(6), "frames 2 to 5 have an input already");
        (3..6).for_each(|frame| assert_eq!(advance(frame, Buttons::NONE, 0), Frame(6)));
        assert_eq!(advance(6, Buttons::NONE, 0), Frame(7));
        let pressed: Vec<Buttons> = simulation.own_inputs(Frame(0), Frame(7)).1.map(Input::buttons).collect();
        assert_eq!(pressed, [[Buttons::NONE; 6].to_vec(), vec![FIRE]].concat());
    }

    #[test]
    fn axis_that_was_not_agreed_on_is_not_played() {
        let mut simulation = Simulation::new(Player::One, &Config::new(1), 30, &Nothing);
        let input = Input::from(FIRE).with_axis(0, 5);
        assert_eq!(simulation.advance(Time::ZERO, &mut Nothing, input, 0), Advance::Stepped);
        let played: Vec<Input> = simulation.own_inputs(Frame(0), Frame(1)).1.collect();
        assert_eq!(played, [Input::from(FIRE)]);
    }

    #[test]
    fn pad_that_was_not_agreed_on_is_not_played() {
        let config = Config::new(1).with(|config| config.game.pads = 2);
        let mut simulation = Simulation::new(Player::One, &config, 30, &Nothing);
        let two = Input::from(FIRE).with_pad(1, FIRE);
        let input = two.with_pad(2, FIRE).with_pad(3, FIRE);
        assert_eq!(simulation.advance(Time::ZERO, &mut Nothing, input, 0), Advance::Stepped);
        assert_eq!(simulation.own_inputs(Frame(0), Frame(1)).1.collect::<Vec<_>>(), [two]);
    }
}
