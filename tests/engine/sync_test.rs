//! The sync test: mistakes that would desync a match are found, and named.

use rebout::{
    Buttons, Cues, Frame, Game, Inputs, Player, Rng, Save, StateError, SyncTest, SyncTestError, checksum,
    fields,
};
use std::cell::Cell;

/// A ball that is kicked about: what the games below have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ball {
    pub(crate) x: i32,
    pub(crate) speed: i32,
    pub(crate) bounces: u32,
}
fields!(Ball { x, speed, bounces });

impl Ball {
    pub(crate) const NEW: Self = Self { x: 0, speed: 0, bounces: 0 };

    pub(crate) fn kick(&mut self, inputs: Inputs) {
        self.speed +=
            i32::from(inputs[Player::One].buttons().0 & 7) - i32::from(inputs[Player::Two].buttons().0 & 7);
        self.speed = self.speed.clamp(-50, 50);
        self.x += self.speed;
        if self.x.abs() > 500 {
            self.x = self.x.clamp(-500, 500);
            self.speed = -self.speed;
            self.bounces += 1;
        }
    }
}

pub(crate) type Step<'a> = Box<dyn FnMut(&mut Ball, Inputs) + 'a>;

/// A step with a mistake in it; whatever it keeps outside the ball is forgotten by a restore. Boxed, because the sync
/// test is built again for each type of game.
pub(crate) struct Mistaken<'a> {
    ball: Ball,
    step: Step<'a>,
}

impl<'a> Mistaken<'a> {
    pub(crate) fn new(step: impl FnMut(&mut Ball, Inputs) + 'a) -> Self {
        Self { ball: Ball::NEW, step: Box::new(step) }
    }
}

impl Save for Mistaken<'_> {
    type Snapshot = Ball;
    fn snapshot(&self) -> Ball {
        self.ball
    }
    fn save(&self, slot: &mut Ball) -> Result<(), StateError> {
        *slot = self.ball;
        Ok(())
    }
    fn restore(&mut self, snapshot: &Ball) -> Result<(), StateError> {
        self.ball = *snapshot;
        Ok(())
    }
}

impl Game for Mistaken<'_> {
    fn step(&mut self, inputs: Inputs, _: &mut Cues) {
        (self.step)(&mut self.ball, inputs);
    }
}

pub(crate) fn changing_inputs(frame: u32) -> Inputs {
    Inputs::from([Buttons((frame / 3 % 5) as u16), Buttons((frame / 7 % 4) as u16)])
}

fn run<G: Game>(
    game: &mut G,
    frames: u32,
    inputs: fn(u32) -> Inputs,
) -> Result<rebout::SyncReport, SyncTestError> {
    let mut test = SyncTest::new(game, 7, 42);
    for frame in 0..frames {
        test.advance(game, inputs(frame))?;
    }
    test.finish()
}

/// The fields that a resimulation found to differ.
fn differing(error: &SyncTestError) -> Vec<&str> {
    let (SyncTestError::Resimulation { fields, .. }
    | SyncTestError::Restore { fields, .. }
    | SyncTestError::Trial { fields, .. }) = error
    else {
        panic!("not a difference: {error}");
    };
    fields.iter().map(|field| field.path.as_str()).collect()
}

#[test]
fn game_without_a_mistake_passes() {
    let mut game = Mistaken::new(Ball::kick);
    let report = run(&mut game, 500, changing_inputs).unwrap();
    assert_eq!(report.frames, 500);
    assert!(report.resimulated_frames > 1500 && report.resimulated_frames < 2500, "{report:?}");
    assert!(report.input_changes > 100 && report.state_changes > 400, "{report:?}");
    assert!(report.telling_trials > 20, "{report:?}");
    let mut direct = Ball::NEW;
    (0..500).for_each(|frame| direct.kick(changing_inputs(frame)));
    assert_eq!(game.ball, direct, "and it was played as it would have been without a test");
}

#[test]
fn counter_outside_the_state_is_found() {
    let mut steps = 0;
    let step = |ball: &mut Ball, inputs| {
        steps += 1;
        ball.kick(inputs);
        if steps % 10 == 0 {
            ball.bounces += 1;
        }
    };
    let error = run(&mut Mistaken::new(step), 500, changing_inputs).unwrap_err();
    assert!(matches!(error, SyncTestError::Resimulation { .. }));
    assert_eq!(differing(&error), ["bounces"]);
}

#[test]
fn randomness_outside_the_state_is_found() {
    let mut rng = Rng::new(9).unwrap();
    let step = |ball: &mut Ball, inputs| {
        ball.kick(inputs);
        ball.x += rng.range(-1, 1);
    };
    let error = run(&mut Mistaken::new(step), 500, changing_inputs).unwrap_err();
    assert_eq!(differing(&error), ["x"]);
}

#[test]
fn step_that_depends_on_how_often_it_was_called_is_found() {
    thread_local!(static CALLED: Cell<bool> = const { Cell::new(false) });
    // Something is set up in the first call, as caches are.
    let step = |ball: &mut Ball, inputs| {
        if !CALLED.replace(true) {
            ball.speed += 5;
        }
        ball.kick(inputs);
    };
    let error = run(&mut Mistaken::new(step), 500, changing_inputs).unwrap_err();
    let SyncTestError::Resimulation { frame, depth, ref fields, .. } = error else { panic!("{error}") };
    assert_eq!((frame, depth), (Frame(1), 1));
    assert_eq!(fields.len(), 2, "{fields:?}");
    assert_eq!((fields[1].path.as_str(), fields[1].left.as_deref()), ("speed", Some("5")));
    let text = error.to_string();
    assert!(text.starts_with("frame 1, depth 1: the same inputs led to another state\n  x: 5 / 0"), "{text}");
}

/// A game that copies itself by hand, and may forget a field on the way out or on the way in.
struct Forgetful {
    ball: Ball,
    saves_speed: bool,
    restores_speed: bool,
}

impl Save for Forgetful {
    type Snapshot = Ball;
    fn snapshot(&self) -> Ball {
        self.ball
    }
    fn save(&self, slot: &mut Ball) -> Result<(), StateError> {
        let speed = if self.saves_speed { self.ball.speed } else { slot.speed };
        *slot = Ball { speed, ..self.ball };
        Ok(())
    }
    fn restore(&mut self, snapshot: &Ball) -> Result<(), StateError> {
        let speed = if self.restores_speed { snapshot.speed } else { self.ball.speed };
        self.ball = Ball { speed, ..*snapshot };
        Ok(())
    }
}

impl Game for Forgetful {
    fn step(&mut self, inputs: Inputs, _: &mut Cues) {
        self.ball.kick(inputs);
    }
}

#[test]
fn field_that_is_not_restored_is_named() {
    let mut game = Forgetful { ball: Ball::NEW, saves_speed: true, restores_speed: false };
    let error = run(&mut game, 500, changing_inputs).unwrap_err();
    assert!(matches!(error, SyncTestError::Restore { .. }), "{error}");
    assert_eq!(differing(&error), ["speed"]);
    assert!(
        error.to_string().contains("the restored state differs from the saved one\n  speed: "),
        "{error}"
    );
}

#[test]
fn field_that_is_not_saved_is_found_by_what_it_does() {
    let mut game = Forgetful { ball: Ball::NEW, saves_speed: false, restores_speed: true };
    let error = run(&mut game, 500, changing_inputs).unwrap_err();
    assert_eq!(differing(&error), ["x"], "{error}");
}

/// Saves everything but one field, which its snapshot does not even have.
struct Partial {
    ball: Ball,
    wind: i32,
}

impl Save for Partial {
    type Snapshot = Ball;
    fn snapshot(&self) -> Ball {
        self.ball
    }
    fn save(&self, slot: &mut Ball) -> Result<(), StateError> {
        *slot = self.ball;
        Ok(())
    }
    fn restore(&mut self, snapshot: &Ball) -> Result<(), StateError> {
        self.ball = *snapshot;
        Ok(())
    }
}

impl Game for Partial {
    fn step(&mut self, inputs: Inputs, _: &mut Cues) {
        self.wind += i32::from(inputs[Player::One].buttons().0);
        self.ball.kick(inputs);
        self.ball.bounces = self.wind as u32;
    }
}

#[test]
fn field_that_the_snapshot_lacks_is_found_by_what_it_does() {
    let error = run(&mut Partial { ball: Ball::NEW, wind: 0 }, 500, changing_inputs).unwrap_err();
    assert_eq!(differing(&error), ["bounces"]);
}

/// Two words that a mistake changes in bit 31: their checksum stays the same.
#[derive(Clone, Copy, Debug)]
struct Twins {
    count: u32,
    signs: [u32; 2],
}
fields!(Twins { count, signs });

struct Blind {
    twins: Twins,
    calls: u32,
}

impl Save for Blind {
    type Snapshot = Twins;
    fn snapshot(&self) -> Twins {
        self.twins
    }
    fn save(&self, slot: &mut Twins) -> Result<(), StateError> {
        *slot = self.twins;
        Ok(())
    }
    fn restore(&mut self, snapshot: &Twins) -> Result<(), StateError> {
        self.twins = *snapshot;
        Ok(())
    }
}

impl Game for Blind {
    fn step(&mut self, inputs: Inputs, _: &mut Cues) {
        self.calls += 1;
        self.twins.count +=
            u32::from(inputs[Player::One].buttons().0) + u32::from(inputs[Player::Two].buttons().0);
        if self.calls.is_multiple_of(101) {
            self.twins.signs = self.twins.signs.map(|word| word ^ 0x8000_0000);
        }
    }
}

#[test]
fn difference_that_the_checksum_does_not_see_is_found() {
    let plain = Twins { count: 3, signs: [1, 2] };
    let flipped = Twins { signs: [1 ^ 0x8000_0000, 2 ^ 0x8000_0000], ..plain };
    assert_eq!(checksum(&plain), checksum(&flipped), "the blind spot of word-wise FNV");

    let mut game = Blind { twins: Twins { count: 0, signs: [1, 2] }, calls: 0 };
    let error = run(&mut game, 500, changing_inputs).unwrap_err();
    assert_eq!(differing(&error), ["signs[0]", "signs[1]"]);
}

#[test]
fn failure_can_be_repeated_from_its_seed() {
    let find = |seed| {
        let mut calls = 0;
        let step = |ball: &mut Ball, inputs| {
            calls += 1;
            ball.kick(inputs);
            ball.bounces += u32::from(calls % 307 == 0);
        };
        let mut game = Mistaken::new(step);
        let mut test = SyncTest::new(&game, 9, seed);
        (0..500).find_map(|frame| test.advance(&mut game, changing_inputs(frame)).err()).unwrap()
    };
    assert_eq!(find(1), find(1));
    assert_ne!(find(1), find(2), "another seed goes back by other depths");
    find(0);
}

#[test]
fn run_in_which_no_input_changed_proves_nothing() {
    let mut game = Mistaken::new(Ball::kick);
    let error = run(&mut game, 300, |_| Inputs::from([Buttons(1), Buttons(0)])).unwrap_err();
    assert_eq!(error, SyncTestError::InputsNeverChanged { frames: 300 });
    assert_eq!(error.to_string(), "nothing proved: no input changed in 300 frames");
}

#[test]
fn run_of_no_frames_proves_nothing() {
    let mut game = Mistaken::new(Ball::kick);
    assert_eq!(run(&mut game, 0, changing_inputs), Err(SyncTestError::InputsNeverChanged { frames: 0 }));
}

#[test]
fn run_in_which_the_state_hardly_changed_proves_nothing() {
    let step = |ball: &mut Ball, inputs: Inputs| {
        ball.x = (ball.x + i32::from(inputs[Player::One].buttons().0 == 4)).min(5);
    };
    let error = run(&mut Mistaken::new(step), 300, changing_inputs).unwrap_err();
    assert_eq!(error, SyncTestError::StateHardlyChanged { changes: 5, frames: 300 });
}

#[test]
fn run_in_which_no_input_mattered_proves_nothing() {
    let step = |ball: &mut Ball, _: Inputs| ball.x += 1;
    let error = run(&mut Mistaken::new(step), 320, changing_inputs).unwrap_err();
    assert_eq!(error, SyncTestError::InputsWithoutEffect { trials: 20 });
}

#[test]
fn fixed_depth_goes_back_by_it_every_frame() {
    let mut game = Mistaken::new(Ball::kick);
    let mut test = SyncTest::with_fixed_depth(&game, 7);
    for frame in 0..100 {
        test.advance(&mut game, changing_inputs(frame)).unwrap();
    }
    // The first frames have less behind them: 1, 2, 3, 4, 5 and 6.
    assert_eq!(test.finish().unwrap().resimulated_frames, 94 * 7 + 21);
}

/// Does right in the first step after a restore, and wrong in the next: as a cache does that is filled once.
struct Cached {
    ball: Ball,
    steps: u32,
    steps_since_restore: u32,
}

impl Save for Cached {
    type Snapshot = Ball;
    fn snapshot(&self) -> Ball {
        self.ball
    }
    fn save(&self, slot: &mut Ball) -> Result<(), StateError> {
        *slot = self.ball;
        Ok(())
    }
    fn restore(&mut self, snapshot: &Ball) -> Result<(), StateError> {
        self.ball = *snapshot;
        self.steps_since_restore = 0;
        Ok(())
    }
}

impl Game for Cached {
    fn step(&mut self, inputs: Inputs, _: &mut Cues) {
        self.steps += 1;
        self.steps_since_restore += 1;
        self.ball.kick(inputs);
        if self.steps > 100 && (2..5).contains(&self.steps_since_restore) {
            self.ball.bounces += 1;
        }
    }
}

#[test]
fn bug_visible_only_steps_after_a_restore_is_found() {
    let mut game = Cached { ball: Ball::NEW, steps: 0, steps_since_restore: 0 };
    let mut test = SyncTest::with_fixed_depth(&game, 5);
    let error = (0..500).find_map(|frame| test.advance(&mut game, changing_inputs(frame)).err()).unwrap();
    assert!(matches!(error, SyncTestError::Resimulation { depth: 5, .. }), "{error}");
    assert_eq!(differing(&error), ["bounces"]);
}

/// Does wrong when it steps a frame that it has stepped just before: as a guard against stepping twice does.
struct Guarded {
    ball: Ball,
    frame: u32,
    last_stepped: u32,
}

impl Save for Guarded {
    type Snapshot = (Ball, u32);
    fn snapshot(&self) -> (Ball, u32) {
        (self.ball, self.frame)
    }
    fn save(&self, slot: &mut (Ball, u32)) -> Result<(), StateError> {
        *slot = self.snapshot();
        Ok(())
    }
    fn restore(&mut self, snapshot: &(Ball, u32)) -> Result<(), StateError> {
        (self.ball, self.frame) = *snapshot;
        Ok(())
    }
}

impl Game for Guarded {
    fn step(&mut self, inputs: Inputs, _: &mut Cues) {
        // The first frames are rolled back by a depth of 1 too, which would show it sooner.
        if self.frame < 20 || self.last_stepped != self.frame {
            self.ball.kick(inputs);
        }
        self.last_stepped = self.frame;
        self.frame += 1;
    }
}

#[test]
fn bug_visible_only_when_a_frame_is_undone_is_found_at_once() {
    let mut game = Guarded { ball: Ball::NEW, frame: 0, last_stepped: u32::MAX };
    let mut test = SyncTest::with_fixed_depth(&game, 5);
    let error = (0..500).find_map(|frame| test.advance(&mut game, changing_inputs(frame)).err()).unwrap();
    let SyncTestError::Resimulation { frame, depth, .. } = error else { panic!("{error}") };
    assert_eq!((frame.0, depth), (21, 5), "frame 20 is stepped, undone and stepped again");
}

#[test]
fn depth_beyond_the_greatest_is_taken_as_the_greatest() {
    let mut game = Mistaken::new(Ball::kick);
    let most = u64::from(SyncTest::<Ball>::MAX_DEPTH);
    let mut test = SyncTest::with_fixed_depth(&game, u32::MAX);
    for frame in 0..200 {
        test.advance(&mut game, changing_inputs(frame)).unwrap();
    }
    assert_eq!(test.report().resimulated_frames, most * (most + 1) / 2 + (200 - most) * most);
}

/// A ball whose step has three phases, of which the second depends on a count outside the snapshot.
struct Phased {
    ball: Ball,
    steps: u32,
}

impl Save for Phased {
    type Snapshot = Ball;
    fn snapshot(&self) -> Ball {
        self.ball
    }
    fn save(&self, slot: &mut Ball) -> Result<(), StateError> {
        *slot = self.ball;
        Ok(())
    }
    fn restore(&mut self, snapshot: &Ball) -> Result<(), StateError> {
        self.ball = *snapshot;
        Ok(())
    }
}

impl Game for Phased {
    fn step(&mut self, inputs: Inputs, cues: &mut Cues) {
        self.steps += 1;
        self.ball.kick(inputs);
        cues.phase("kick", &self.ball);
        self.ball.bounces += u32::from(self.steps == 1);
        cues.phase("spin", &self.ball.bounces);
        cues.phase("rest", &self.ball);
    }
}

#[test]
fn phase_of_a_different_resimulation_is_named() {
    let error = run(&mut Phased { ball: Ball::NEW, steps: 0 }, 500, changing_inputs).unwrap_err();
    let SyncTestError::Resimulation { ref phase, ref fields, .. } = error else { panic!("{error}") };
    assert_eq!((phase.as_deref(), fields[0].path.as_str()), (Some("spin"), "bounces"), "{error}");
    let text = error.to_string();
    assert!(
        text.contains(": the same inputs led to another state, first different after spin\n  bounces: "),
        "{text}"
    );
}
