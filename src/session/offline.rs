//! A match at one machine: the frames, cues and end of an online match, without a peer.

use super::config::Config;
use super::config_error::ConfigError;
use super::frame_clock::FrameClock;
use super::play::Advanced;
use crate::protocol::time::Time;
use crate::rollback::{Advance, EngineConfig, Rollback};
use crate::{CueEvent, Frame, Game, Input, Inputs, Player, Saving, StateError};
use core::time::Duration;

/// Two players at one machine, or a player and a bot.
///
/// Has the calls of a [`Session`](crate::Session) that a game loop needs, so that one loop serves both: frames are due at
/// the frame rate, a step's cues are told once, and the match ends when the game is finished. Nothing is predicted, so
/// every frame is certain at once and every cue is confirmed in the frame that starts it.
///
/// ```
/// use core::time::Duration;
/// use rebout::{Advanced, Buttons, Config, Cues, Game, Inputs, Offline, Player, fields};
///
/// #[derive(Clone, Copy)]
/// struct Race { at: [u32; 2] }
/// fields!(Race { at });
/// impl Game for Race {
///     fn step(&mut self, inputs: Inputs, _: &mut Cues) {
///         for player in Player::BOTH {
///             self.at[player.index()] += u32::from(inputs[player].holds(Buttons(1)));
///         }
///     }
///     fn finished(&self) -> bool { self.at.contains(&100) }
/// }
///
/// let mut race = Race { at: [0, 0] };
/// let mut now = Duration::ZERO;                            // the clock of the game's loop
/// let mut play = Offline::new(now, &Config::new(7), &race)?;
/// loop {
///     now = play.next_frame_at();                        // here: wait, read keys, ask the bot
///     let frame = play.current();
///     let bot = if frame.0 % 3 == 0 { Buttons(1) } else { Buttons::NONE };
///     match play.advance(now, &mut race, [Buttons(1), bot]) {
///         Advanced::Ended => break,
///         _ => {}                                          // here: sounds from `play.cues()`, then draw
///     }
/// }
/// assert_eq!(race.at, [100, 34]);
/// assert_eq!(play.current().0, 100);
/// # Ok::<(), rebout::ConfigError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Offline<S> {
    rollback: Rollback<S>,
    clock: FrameClock,
    /// The bits of an input that the game uses, as online.
    input_mask: u64,
    paused: bool,
}

impl<S> Offline<S> {
    /// A match of `game` as it is now, whose first frame is due at `now`. Of the config only the frame rate, the axes, the pads
    /// and the look-ahead count.
    ///
    /// # Errors
    /// If the config makes no sense.
    pub fn new<G: Game<Snapshot = S>>(now: Duration, config: &Config, game: &G) -> Result<Self, ConfigError> {
        config.check()?;
        // Nothing is ever rolled back, so nothing is saved but the last state.
        let lockstep = EngineConfig {
            window: 0,
            prediction: config.rollback.prediction,
            cue_moves_within: 0,
            saving: Saving::Sparse,
            look_ahead: u32::from(config.rollback.look_ahead_frames),
            cadence_frames: 0,
            stopwatch: None,
        };
        Ok(Self {
            rollback: Rollback::new(lockstep, game),
            clock: FrameClock::new(now.into(), config.game.frame_rate),
            input_mask: Input::mask(config.game.wire_axes()),
            paused: false,
        })
    }

    /// Steps a frame on both players' inputs, if one is due.
    pub fn advance<G: Game<Snapshot = S>>(
        &mut self,
        now: Duration,
        game: &mut G,
        inputs: impl Into<Inputs>,
    ) -> Advanced {
        let (now, inputs) = (Time::from(now), inputs.into());
        if self.ended() {
            self.rollback.forget_last();
            return Advanced::Ended;
        }
        if self.paused || !self.clock.is_due(now) {
            self.rollback.forget_last();
            return if self.paused { Advanced::Paused } else { Advanced::NotDue };
        }
        for player in Player::BOTH {
            // The next frame of a match without a gap: it is always taken, up to the last number there is.
            if self
                .rollback
                .confirm(player, self.rollback.current(), inputs[player].masked(self.input_mask))
                .is_err()
            {
                return Advanced::Ended;
            }
        }
        self.clock.stepped(now, None, || 0, || 0);
        match self.rollback.advance(game) {
            Advance::Stepped => Advanced::Stepped,
            Advance::Stalled => Advanced::Stalled,
            Advance::Ended | Advance::Failed => Advanced::Ended,
        }
    }

    /// Steps the game ahead of the match, hands it to `draw`, and puts it back: see [`Session::look_ahead`](crate::Session::look_ahead).
    pub fn look_ahead<G: Game<Snapshot = S>>(&mut self, game: &mut G, draw: impl FnOnce(&mut G)) {
        self.rollback.look_ahead(game, draw);
    }

    /// Stops the clock: no frame is due until [`resume`](Self::resume).
    pub fn pause(&mut self) {
        self.paused = true;
    }

    /// Goes on after a pause: the next frame is due at once, and none is made up for.
    pub fn resume(&mut self, now: Duration) {
        if core::mem::take(&mut self.paused) {
            self.clock.restart(now.into());
        }
    }

    /// Whether the match is paused.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// When the next frame is due; never while the match is paused or over.
    #[must_use]
    pub fn next_frame_at(&self) -> Duration {
        if self.paused || self.ended() { Duration::MAX } else { self.clock.due().into() }
    }

    /// Whether a frame is due at `now`.
    #[must_use]
    pub fn frame_due(&self, now: Duration) -> bool {
        !self.paused && !self.ended() && self.clock.is_due(now.into())
    }

    /// How far the time between the last frame and the next has gone, from 0 to 1, for drawing in between.
    #[must_use]
    pub fn phase(&self, now: Duration) -> f32 {
        self.clock.phase(now.into())
    }

    /// The changes to cues in the last [`advance`](Self::advance): each is started and confirmed at once.
    #[must_use]
    pub fn cues(&self) -> &[CueEvent] {
        self.rollback.cues()
    }

    /// The frame that the last [`advance`](Self::advance) stepped, with its inputs: for a replay.
    pub fn confirmed(&self) -> impl Iterator<Item = (Frame, Inputs)> {
        self.rollback.newly_confirmed()
    }

    /// The next frame to step; the game is in this state.
    #[must_use]
    pub fn current(&self) -> Frame {
        self.rollback.current()
    }

    /// Whether the match is over: the game is finished, or could not save or restore a state.
    #[must_use]
    pub fn ended(&self) -> bool {
        self.rollback.ended().is_some() || self.failure().is_some()
    }

    /// Why the game could not save or restore a state, in its own words. The match is then over.
    #[must_use]
    pub fn failure(&self) -> Option<&StateError> {
        self.rollback.failure()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Buttons, Cue, CueChange, Cues, FrameRate, fields};

    /// Counts its frames, and asks for a cue in every tenth.
    #[derive(Clone, Copy)]
    struct Count {
        frames: u32,
        held: u32,
    }
    fields!(Count { frames, held });

    impl Game for Count {
        fn step(&mut self, inputs: Inputs, cues: &mut Cues) {
            self.held += u32::from(inputs[Player::Two].holds(Buttons(4)));
            if self.frames.is_multiple_of(10) {
                cues.emit(Cue(1));
            }
            self.frames += 1;
        }
        fn finished(&self) -> bool {
            self.frames == 60
        }
    }

    const START: Count = Count { frames: 0, held: 0 };
    const INPUTS: [Buttons; 2] = [Buttons(1), Buttons(4)];

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn frames_come_at_the_frame_rate_and_each_is_told_once() {
        let (mut game, config) =
            (START, Config::new(1).with(|config| config.game.frame_rate = FrameRate::hz(50)));
        let mut offline = Offline::new(ms(100), &config, &game).unwrap();
        let (mut cues, mut frames) = (Vec::new(), Vec::new());
        for at in 0..3_000 {
            offline.advance(ms(at), &mut game, INPUTS);
            cues.extend(offline.cues().iter().map(|event| (event.frame.0, event.change)));
            frames.extend(offline.confirmed().map(|(frame, inputs)| (at, frame.0, inputs == INPUTS.into())));
        }
        assert_eq!(frames, (0..60).map(|f| (100 + u64::from(f) * 20, f, true)).collect::<Vec<_>>());
        let told =
            (0..60).step_by(10).flat_map(|f| [(f, CueChange::Start { late_by: 0 }), (f, CueChange::Confirm)]);
        assert_eq!(cues, told.collect::<Vec<_>>());
        assert!(offline.ended() && offline.next_frame_at() == Duration::MAX && game.held == 60);
        assert!(!offline.frame_due(ms(9_000)));
    }

    #[test]
    fn frames_of_a_console_do_not_drift() {
        let rate = FrameRate::ratio(39_375_000, 655_171);
        let config = Config::new(1).with(|config| config.game.frame_rate = rate);
        let mut game = START;
        let mut offline = Offline::new(ms(0), &config, &game).unwrap();
        for frame in 0..60 {
            assert_eq!(offline.next_frame_at(), rate.time_of(frame), "frame {frame}");
            offline.advance(offline.next_frame_at(), &mut game, INPUTS);
        }
        assert!(offline.ended());
    }

    #[test]
    fn frames_missed_in_a_pause_are_not_made_up_for() {
        let (mut game, config) = (START, Config::new(1));
        let mut offline = Offline::new(ms(0), &config, &game).unwrap();
        assert_eq!(offline.advance(ms(0), &mut game, INPUTS), Advanced::Stepped);
        offline.pause();
        assert_eq!(offline.advance(ms(500), &mut game, INPUTS), Advanced::Paused);
        assert!(offline.cues().is_empty() && offline.next_frame_at() == Duration::MAX);
        assert!(offline.is_paused() && !offline.frame_due(ms(500)));
        offline.resume(ms(60_000));
        assert_eq!(offline.next_frame_at(), ms(60_000));
        assert!(offline.frame_due(ms(60_000)) && !offline.frame_due(ms(59_999)));
        assert_eq!(offline.advance(ms(60_000), &mut game, INPUTS), Advanced::Stepped);
        assert_eq!(offline.advance(ms(60_001), &mut game, INPUTS), Advanced::NotDue);
        assert_eq!(game.frames, 2);
    }
}
