//! The game: two ships at the edges shoot at the rocks between them, and at each other.
//!
//! Shots and rocks come and go. [`Traps`] plants the two mistakes that users of rollback on an entity component system
//! report most: an engine's id in the state, and a result that depends on the order of a query.

use crate::rollback::{FrameCues, FrameInputs, RollbackWorld, Rolled, SimId, SimIds, Step, in_order};
use bevy_ecs::prelude::*;
use rebout::{Buttons, Cue, Player, Rng, fields};

/// Moves the ship up.
pub const UP: Buttons = Buttons(1);
/// Moves the ship down.
pub const DOWN: Buttons = Buttons(2);
/// Fires.
pub const FIRE: Buttons = Buttons(4);
/// All of them.
pub const ALL: Buttons = Buttons(7);

/// The cue of a rock that breaks.
pub const CRACK: Cue = Cue(1);

const WIDTH: i32 = 400;
const HEIGHT: i32 = 200;
const ROCKS: usize = 8;
const COOLDOWN_FRAMES: u8 = 6;
const SHIELDS: u8 = 40;

#[derive(Component, Clone, Copy, Debug)]
struct Position {
    x: i32,
    y: i32,
}
fields!(Position { x, y });

#[derive(Component, Clone, Copy, Debug)]
struct Velocity {
    x: i32,
    y: i32,
}
fields!(Velocity { x, y });

#[derive(Component, Clone, Copy, Debug)]
struct Ship {
    seat: u8,
    shields: u8,
    cooldown: u8,
    /// The rock that was last hit, by its id.
    last_hit: u64,
}
fields!(Ship { seat, shields, cooldown, last_hit });

#[derive(Component, Clone, Copy, Debug)]
struct Shot {
    seat: u8,
}
fields!(Shot { seat });

#[derive(Component, Clone, Copy, Debug)]
struct Rock {
    size: u8,
}
fields!(Rock { size });

#[derive(Resource, Clone, Copy, Debug)]
struct Dice(Rng);
fields!(Dice(rng));

/// Rocks that were broken, which the window would show.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub struct Broken(pub u32);
fields!(Broken(count));

/// The mistakes that are planted. They are settings of a test and no state.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub struct Traps {
    /// A ship remembers the engine's id of a rock instead of the game's.
    pub engine_ids: bool,
    /// Rocks draw their random numbers in the order of the query.
    pub query_order: bool,
}

/// A world with a match at its beginning.
#[must_use]
pub fn world(seed: u32, traps: Traps) -> World {
    let mut world = World::new();
    let mut step = Schedule::new(Step);
    step.add_systems((steer, fire, throw_rocks, drift, fly, hit_rocks, hit_ships).chain());
    world
        .roll_back(step, over)
        .roll_back_component::<Position>("position")
        .roll_back_component::<Velocity>("velocity")
        .roll_back_component::<Ship>("ship")
        .roll_back_component::<Shot>("shot")
        .roll_back_component::<Rock>("rock")
        .roll_back_resource::<Dice>("dice")
        .roll_back_resource::<Broken>("broken");
    world.insert_resource(Dice(Rng::new(seed.max(1)).expect("not 0")));
    world.insert_resource(traps);
    world.init_resource::<Broken>();
    for (seat, x) in [(0, 10), (1, WIDTH - 10)] {
        let id = world.resource_mut::<SimIds>().take();
        let ship = Ship { seat, shields: SHIELDS, cooldown: 0, last_hit: 0 };
        world.spawn((id, Position { x, y: HEIGHT / 2 }, ship));
    }
    world
}

/// A world that a test owns.
#[must_use]
pub fn game(seed: u32) -> Rolled<World> {
    Rolled(world(seed, Traps::default()))
}

/// Whether a ship is without shields.
fn over(world: &World) -> bool {
    let Some(mut ships) = world.try_query::<&Ship>() else { return false };
    ships.iter(world).any(|ship| ship.shields == 0)
}

// Systems: Bevy hands their parameters over by value.

fn held(inputs: &FrameInputs, seat: u8) -> Buttons {
    inputs.0[Player::BOTH[usize::from(seat & 1)]].buttons()
}

#[allow(clippy::needless_pass_by_value)]
fn steer(inputs: Res<'_, FrameInputs>, mut ships: Query<'_, '_, (&Ship, &mut Position)>) {
    for (ship, mut position) in &mut ships {
        let held = held(&inputs, ship.seat);
        let way = i32::from(held.holds(DOWN)) - i32::from(held.holds(UP));
        position.y = (position.y + 3 * way).clamp(0, HEIGHT);
    }
}

#[allow(clippy::needless_pass_by_value)]
fn fire(
    inputs: Res<'_, FrameInputs>,
    mut ids: ResMut<'_, SimIds>,
    mut commands: Commands<'_, '_>,
    mut ships: Query<'_, '_, (&SimId, &mut Ship, &Position)>,
) {
    for (_, (mut ship, position)) in in_order(ships.iter_mut().map(|(id, ship, at)| (*id, (ship, at)))) {
        ship.cooldown = ship.cooldown.saturating_sub(1);
        if held(&inputs, ship.seat).holds(FIRE) && ship.cooldown == 0 {
            ship.cooldown = COOLDOWN_FRAMES;
            let x = if ship.seat == 0 { 7 } else { -7 };
            commands.spawn((ids.take(), *position, Velocity { x, y: 0 }, Shot { seat: ship.seat }));
        }
    }
}

fn throw_rocks(
    mut ids: ResMut<'_, SimIds>,
    mut dice: ResMut<'_, Dice>,
    mut commands: Commands<'_, '_>,
    rocks: Query<'_, '_, &Rock>,
) {
    if rocks.iter().count() < ROCKS {
        let drawn = dice.0.next_u32();
        let x = 100 + (drawn % 200).cast_signed();
        let y = (drawn >> 8 & 127).cast_signed();
        let size = 1 + (drawn >> 16 & 1) as u8;
        commands.spawn((ids.take(), Position { x, y }, Velocity { x: 0, y: 1 }, Rock { size }));
    }
}

/// Every rock now and then drifts elsewhere.
#[allow(clippy::needless_pass_by_value)]
fn drift(
    traps: Res<'_, Traps>,
    mut dice: ResMut<'_, Dice>,
    mut rocks: Query<'_, '_, (&SimId, &mut Velocity), With<Rock>>,
) {
    let mut push = |mut velocity: Mut<'_, Velocity>| {
        let drawn = dice.0.next_u32();
        if drawn.is_multiple_of(16) {
            velocity.y = (drawn >> 8 & 3).cast_signed() - 1;
        }
    };
    if traps.query_order {
        rocks.iter_mut().for_each(|(_, velocity)| push(velocity));
    } else {
        let rocks = in_order(rocks.iter_mut().map(|(id, velocity)| (*id, velocity)));
        rocks.into_iter().for_each(|(_, velocity)| push(velocity));
    }
}

fn fly(
    mut commands: Commands<'_, '_>,
    mut flying: Query<'_, '_, (Entity, &mut Position, &Velocity, Has<Shot>)>,
) {
    for (entity, mut position, velocity, is_shot) in &mut flying {
        position.x += velocity.x;
        position.y = (position.y + velocity.y).rem_euclid(HEIGHT);
        if is_shot && !(0..=WIDTH).contains(&position.x) {
            commands.entity(entity).despawn();
        }
    }
}

fn near(a: &Position, b: &Position, reach: i32) -> bool {
    (a.x - b.x).abs() <= reach && (a.y - b.y).abs() <= reach
}

/// A shot breaks the first rock that it touches, and is gone; a large rock becomes two small ones.
#[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)]
fn hit_rocks(
    traps: Res<'_, Traps>,
    mut ids: ResMut<'_, SimIds>,
    mut broken: ResMut<'_, Broken>,
    mut cues: ResMut<'_, FrameCues>,
    mut commands: Commands<'_, '_>,
    shots: Query<'_, '_, (&SimId, Entity, &Position, &Shot)>,
    rocks: Query<'_, '_, (&SimId, Entity, &Position, &Rock)>,
    mut ships: Query<'_, '_, &mut Ship>,
) {
    let mut rocks = in_order(rocks.iter().map(|(id, entity, at, rock)| (*id, (entity, at, rock))));
    for (_, (shot_entity, at, shot)) in in_order(shots.iter().map(|(id, e, at, shot)| (*id, (e, at, shot)))) {
        let touched =
            rocks.iter().position(|(_, (_, rock_at, rock))| near(at, rock_at, 4 + 3 * i32::from(rock.size)));
        let Some(touched) = touched else { continue };
        let (id, (entity, rock_at, rock)) = rocks.remove(touched);
        commands.entity(shot_entity).despawn();
        commands.entity(entity).despawn();
        for y in [-1, 1].into_iter().filter(|_| rock.size > 1) {
            commands.spawn((ids.take(), *rock_at, Velocity { x: 0, y }, Rock { size: 1 }));
        }
        broken.0 += 1;
        cues.0.push(CRACK);
        for mut ship in ships.iter_mut().filter(|ship| ship.seat == shot.seat) {
            ship.last_hit = if traps.engine_ids { entity.to_bits() } else { u64::from(id.0) };
        }
    }
}

fn hit_ships(
    mut commands: Commands<'_, '_>,
    shots: Query<'_, '_, (&SimId, Entity, &Position, &Shot)>,
    mut ships: Query<'_, '_, (&Position, &mut Ship), Without<Shot>>,
) {
    for (_, (entity, at, shot)) in in_order(shots.iter().map(|(id, e, at, shot)| (*id, (e, at, shot)))) {
        for (_, mut ship) in
            ships.iter_mut().filter(|(ship_at, ship)| ship.seat != shot.seat && near(at, ship_at, 7))
        {
            ship.shields = ship.shields.saturating_sub(1);
            commands.entity(entity).despawn();
        }
    }
}
