//! Mistakes of one kind: something outside the snapshot has a say in the step.

use super::{Arena, Mistake};
use rebout::{Frame, Input, Inputs, Player, Rng};
use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};
use std::time::Instant;

/// `static COMBO: AtomicU32`, counted up by the step. A frame that is stepped twice is counted twice.
#[derive(Default)]
pub(super) struct GlobalState {
    combo: u32,
}

impl Mistake for GlobalState {
    fn step(&mut self, arena: &mut Arena, _: Inputs, _: Option<Player>) {
        if arena.attacks() > 0 {
            self.combo += arena.attacks();
            arena.combo = self.combo;
        }
    }
}

/// `rand::random()` in the step.
pub(super) struct UnseededRandom {
    rng: Rng,
}

impl UnseededRandom {
    pub(super) fn new() -> Self {
        let seed = RandomState::new().hash_one("a seed from the operating system") as u32;
        Self { rng: Rng::new(seed.max(1)).expect("not 0") }
    }
}

impl Mistake for UnseededRandom {
    fn step(&mut self, arena: &mut Arena, _: Inputs, _: Option<Player>) {
        if arena.attacks() > 0 {
            arena.power = self.rng.next_u32();
        }
    }
}

/// `Instant::now()` in the step.
pub(super) struct WallClock {
    since: Instant,
}

impl WallClock {
    pub(super) fn new() -> Self {
        Self { since: Instant::now() }
    }
}

impl Mistake for WallClock {
    fn step(&mut self, arena: &mut Arena, _: Inputs, _: Option<Player>) {
        if arena.fight.frame.is_multiple_of(8) {
            arena.blink = self.since.elapsed().as_nanos() as u32;
        }
    }
}

/// Counts its own calls, where the state has a count of frames.
#[derive(Default)]
pub(super) struct StepCount {
    steps: u32,
}

impl Mistake for StepCount {
    fn step(&mut self, arena: &mut Arena, _: Inputs, _: Option<Player>) {
        self.steps += 1;
        arena.beat = self.steps / 4;
    }
}

/// Asks the gamepad inside the step. It answers what is held now, and how often that has changed so far, also when the
/// past is stepped again: as near to a dependence on predictions as a step can come, which is never told of them.
#[derive(Default)]
pub(super) struct LiveInput {
    pad: Input,
    changes: u32,
}

impl Mistake for LiveInput {
    fn step(&mut self, arena: &mut Arena, _: Inputs, _: Option<Player>) {
        let held = u32::from(self.pad.buttons().0) + self.changes;
        arena.charge = arena.charge.wrapping_mul(31).wrapping_add(held);
    }

    fn before_frame(&mut self, _: &mut Arena, _: Frame, held: Input, _: Option<Player>) {
        self.changes += u32::from(self.pad != held);
        self.pad = held;
    }
}

/// The weather is costly to work out, and changes every thirteen frames only: so it is kept, without what it was
/// worked out from. After a restore to before the change it is that of the future.
#[derive(Default)]
pub(super) struct HiddenCache {
    weather: Cell<Option<i32>>,
}

impl HiddenCache {
    fn weather(&self, frame: u32) -> i32 {
        if frame % 13 == 7 {
            self.weather.set(None);
        }
        let weather = self.weather.get().unwrap_or_else(|| {
            let front = (frame + 6) / 13;
            (front.wrapping_mul(0x9E37_79B9) >> 20).cast_signed()
        });
        self.weather.set(Some(weather));
        weather
    }
}

impl Mistake for HiddenCache {
    fn step(&mut self, arena: &mut Arena, _: Inputs, _: Option<Player>) {
        arena.wind = arena.wind.wrapping_add(self.weather(arena.fight.frame));
    }
}

/// Achievements, which only player two has switched on: the hook counts what it has shown, and the count ends up in
/// the state.
#[derive(Default)]
pub(super) struct OneSidedHook {
    shown: u32,
}

impl Mistake for OneSidedHook {
    fn step(&mut self, arena: &mut Arena, _: Inputs, seat: Option<Player>) {
        if arena.attacks() > 0 && seat == Some(Player::Two) {
            self.shown += 1;
            arena.toasts = self.shown;
        }
    }
}

/// Player one has switched off that the camera shakes; the menu sees to that, by writing into the state.
pub(super) struct TouchedOutside;

impl Mistake for TouchedOutside {
    fn step(&mut self, arena: &mut Arena, _: Inputs, _: Option<Player>) {
        arena.shake += 40 * arena.attacks();
        arena.shake = arena.shake.saturating_sub(1);
    }

    fn before_frame(&mut self, arena: &mut Arena, _: Frame, _: Input, seat: Option<Player>) {
        if seat == Some(Player::One) {
            arena.shake = 0;
        }
    }
}

/// A bit of player one's memory flips in frame 200, and the rollbacks over it do not see another.
#[derive(Default)]
pub(super) struct FlippedOnce {
    /// The newest frame that was stepped.
    newest: u32,
}

impl Mistake for FlippedOnce {
    fn step(&mut self, arena: &mut Arena, _: Inputs, seat: Option<Player>) {
        let frame = arena.fight.frame;
        if frame == 201 && seat == Some(Player::One) && self.newest < frame + 12 {
            arena.wind ^= 4;
        }
        self.newest = self.newest.max(frame);
    }
}
