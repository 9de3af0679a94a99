//! The own player on a wire without frames: it runs ahead on its rule, and is compared with the trail that it leaves.

use super::own::Own;
use crate::authority::dialect::NumberedInput;
use crate::authority::world::{Body, Command, World};

/// The number of predicted positions that an update is compared with.
const KEPT: u64 = 64;

/// An update this close to a predicted position corrects nothing: positions travel in whole units.
const CLOSE: f32 = 1.0;

/// The age of an update varies by this many frames: jitter, and the wait of inputs at the server.
const AGE_VARIES: f32 = 8.0;

/// The share by which an update that fits one place of the trail moves the estimate of its age.
const AGE_SHARE: f32 = 0.1;

/// The predicted positions of the last steps, and the commands that led there.
#[derive(Clone, Debug)]
pub(super) struct Trail {
    places: [(f32, f32); KEPT as usize],
    commands: [Command; KEPT as usize],
    steps: u64,
    own: Own,
    /// The age of an update in frames: the round trip, and the wait of inputs at the server.
    age: f32,
}

impl Trail {
    pub(super) fn new() -> Self {
        Self {
            places: [(0.0, 0.0); KEPT as usize],
            commands: [Command::NEUTRAL; KEPT as usize],
            steps: 0,
            own: Own::default(),
            age: 0.0,
        }
    }

    /// Begins where the server has spawned the player, whose updates are this old.
    pub(super) fn begin(&mut self, body: Body, round_trip_frames: f32) {
        self.own.correct(body, body, 0);
        self.steps = 0;
        self.age = round_trip_frames.min((KEPT - 1) as f32);
        self.places = [(body.x, body.y); KEPT as usize];
    }

    /// Takes a step with a command as it is sent.
    pub(super) fn step<W: World>(&mut self, world: &W, command: Command) {
        let Some(body) = self.own.step(world, command) else { return };
        self.steps += 1;
        let at = (self.steps % KEPT) as usize;
        (self.places[at], self.commands[at]) = ((body.x, body.y), command);
    }

    /// The place `age` steps ago.
    fn place(&self, age: u64) -> (f32, f32) {
        self.places[(self.steps.wrapping_sub(age) % KEPT) as usize]
    }

    /// Compares an update with the trail. One that lies on it corrects nothing; otherwise the whole trail is moved by the
    /// difference to the nearest of the places that are as old as updates are.
    pub(super) fn compare(&mut self, body: &Body) {
        if self.own.predicted().is_none() {
            return;
        }
        let distance = |(x, y): (f32, f32)| (x - body.x).hypot(y - body.y);
        let nearest_of = |ages: core::ops::RangeInclusive<u64>| {
            let by_distance =
                |a: &u64, b: &u64| distance(self.place(*a)).total_cmp(&distance(self.place(*b)));
            ages.min_by(by_distance).unwrap_or(0)
        };
        let nearest = nearest_of(0..=KEPT - 1);
        if distance(self.place(nearest)) <= CLOSE {
            self.own.compared(true);
            let fits = (0..KEPT).filter(|age| distance(self.place(*age)) <= CLOSE).count();
            if fits == 1 && (nearest as f32 - self.age).abs() <= AGE_VARIES {
                self.age += (nearest as f32 - self.age) * AGE_SHARE;
            }
            return;
        }
        let (youngest, oldest) =
            ((self.age - AGE_VARIES).max(0.0), (self.age + AGE_VARIES).min((KEPT - 1) as f32));
        let (x, y) = self.place(nearest_of(youngest as u64..=oldest as u64));
        let (dx, dy) = (body.x - x, body.y - y);
        self.own.compared(false);
        self.places.iter_mut().for_each(|place| *place = (place.0 + dx, place.1 + dy));
        self.own.shift(dx, dy);
    }

    pub(super) fn own(&self) -> &Own {
        &self.own
    }

    /// The command of the step `age` steps ago.
    pub(super) fn command(&self, age: u64) -> NumberedInput {
        let step = self.steps.saturating_sub(age);
        (step as u32, self.commands[(step % KEPT) as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authority::Stage;

    struct Line;

    impl World for Line {
        fn walk(&self, body: &mut Body, command: Command) {
            body.x += 2.5 * command.x;
        }
        fn enter(&mut self, _: u8) -> (u8, Body) {
            (0, Body::at(0.0, 0.0))
        }
        fn step(&mut self, _: &mut Stage<'_>) {}
    }

    fn trail(steps: u64) -> Trail {
        let mut trail = Trail::new();
        trail.begin(Body::at(100.0, 50.0), 12.0);
        (0..steps).for_each(|_| trail.step(&Line, Command::new(1.0, 0.0, 0)));
        trail
    }

    fn x(trail: &Trail) -> f32 {
        trail.own().predicted().unwrap().x
    }

    #[test]
    fn spawned_player_has_replayed_nothing() {
        let trail = trail(0);
        assert_eq!((trail.own().stats().replayed, x(&trail)), (0, 100.0));
    }

    #[test]
    fn update_on_the_trail_corrects_nothing() {
        let mut trail = trail(40);
        for age in 0..40_u8 {
            // Rounded to whole units, as on the wire.
            trail.compare(&Body::at((200.0 - 2.5 * f32::from(age)).round(), 50.0));
        }
        assert_eq!((trail.own().stats().compared, trail.own().stats().exact), (40, 40));
        assert!((x(&trail) - 200.0).abs() < 1e-3);
    }

    #[test]
    fn update_beside_the_trail_moves_all_of_it_once() {
        let mut trail = trail(40);
        // Twelve frames ago it was at 170, 50.
        trail.compare(&Body::at(170.0, 53.0));
        assert_eq!((trail.own().stats().exact, trail.own().stats().max_correction), (0, 3));
        assert!((trail.own().predicted().unwrap().y - 53.0).abs() < 1e-3 && (x(&trail) - 200.0).abs() < 1e-3);
        for between in [0.0, 1.0] {
            assert!((trail.own().drawn(between).unwrap().y - 50.0).abs() < 1e-3, "it is shown away");
        }
        trail.compare(&Body::at(175.0, 53.0));
        assert_eq!(trail.own().stats().exact, 1, "the next one fits");
        (0..6).for_each(|_| trail.step(&Line, Command::NEUTRAL));
        assert!((trail.own().drawn(1.0).unwrap().y - 53.0).abs() < 1e-3, "over six frames");
    }

    #[test]
    fn no_age_is_learnt_while_standing() {
        let mut trail = Trail::new();
        trail.begin(Body::at(100.0, 50.0), 5.0);
        (0..100).for_each(|_| trail.step(&Line, Command::NEUTRAL));
        // Every place of the trail is the same, so that the nearest tells nothing.
        (0..100).for_each(|_| trail.compare(&Body::at(100.0, 50.0)));
        assert!((trail.age - 5.0).abs() < 1e-6, "{}", trail.age);
        assert_eq!(trail.own().stats().exact, 100);
    }

    #[test]
    fn age_far_from_the_known_one_is_not_learnt() {
        let mut trail = trail(60);
        (0..100).for_each(|_| trail.compare(&Body::at(250.0 - 2.5 * 21.0, 50.0)));
        assert!((trail.age - 12.0).abs() < 1e-6, "nine frames off: {}", trail.age);
        (0..100).for_each(|_| trail.compare(&Body::at(250.0 - 2.5 * 20.0, 50.0)));
        assert!((trail.age - 20.0).abs() < 0.1, "eight frames off: {}", trail.age);
    }

    #[test]
    fn updates_tell_how_old_they_are() {
        let mut trail = trail(40);
        for _ in 0..200 {
            trail.step(&Line, Command::new(1.0, 0.0, 0));
            let x = x(&trail) - 2.5 * 20.0;
            trail.compare(&Body::at(x, 50.0));
        }
        assert!((trail.age - 20.0).abs() < 0.5, "{}", trail.age);
    }

    #[test]
    fn first_update_is_compared_with_the_place_of_the_spawn() {
        let mut trail = trail(0);
        assert_eq!(trail.own().drawn(0.0), Some(Body::at(100.0, 50.0)));
        trail.compare(&Body::at(100.0, 50.0));
        assert_eq!((trail.own().stats().compared, trail.own().stats().exact, x(&trail)), (1, 1, 100.0));
    }

    #[test]
    fn update_beside_the_trail_is_as_old_as_updates_are() {
        // Updates are 4 to 20 frames old; the place of four frames ago is 190.
        let mut near = trail(40);
        near.compare(&Body::at(200.0, 53.0));
        assert!((x(&near) - 210.0).abs() < 1e-3, "{}", x(&near));
        let mut far = trail(40);
        far.compare(&Body::at(110.0, 53.0));
        assert!((x(&far) - 160.0).abs() < 1e-3, "{}", x(&far));
        let mut old = Trail::new();
        old.begin(Body::at(100.0, 50.0), 1_000.0);
        (0..100).for_each(|_| old.step(&Line, Command::new(1.0, 0.0, 0)));
        // The oldest place that is kept, 63 frames ago, is 192.5.
        old.compare(&Body::at(190.0, 50.0));
        assert!((x(&old) - 347.5).abs() < 1e-3, "{}", x(&old));
    }

    #[test]
    fn commands_are_sent_as_given_and_applied_limited() {
        let mut trail = trail(0);
        for actions in 1..=3 {
            trail.step(&Line, Command { x: 1.0, y: 1.0, actions });
        }
        assert_eq!(
            [0, 2].map(|age| trail.command(age)),
            [3, 1].map(|n| { (n, Command { x: 1.0, y: 1.0, actions: n as u8 }) })
        );
        assert!((x(&trail) - (100.0 + 7.5 / 2.0_f32.sqrt())).abs() < 1e-3, "{}", x(&trail));
    }
}
