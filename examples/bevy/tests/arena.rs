//! The arena survives rollbacks and bad links, and both traps are caught and named.

use bevy_arena::arena::{ALL, Broken, Traps, game, world};
use bevy_arena::rollback::Rolled;
use bevy_ecs::prelude::World;
use rebout::lab::link::LinkConfig;
use rebout::lab::stress::{Plan, Stress, Turn, random};
use rebout::{Cues, Frame, Game, Inputs, Player, Save, SyncTest, SyncTestError, diff};

fn inputs(frame: u32) -> Inputs {
    let turn = |player| Turn { game: &(), player, frame: Frame(frame), seed: 3 };
    Inputs(Player::BOTH.map(|player| random(&turn(player), ALL, 0)))
}

/// The first field that the sync test finds different.
fn sync_tested(traps: Traps) -> Result<u32, String> {
    let mut game = Rolled(world(3, traps));
    let mut test = SyncTest::new(&game, 8, 1);
    for frame in 0..900 {
        test.advance(&mut game, inputs(frame)).map_err(|error| match error {
            SyncTestError::Restore { fields, .. }
            | SyncTestError::Resimulation { fields, .. }
            | SyncTestError::Unsaved { fields, .. }
            | SyncTestError::Trial { fields, .. } => fields[0].path.to_string(),
            other => other.to_string(),
        })?;
    }
    test.finish().map_err(|error| error.to_string())?;
    Ok(game.0.resource::<Broken>().0)
}

/// The first field that differs in the first failure of a stress test.
fn first_field(traps: Traps) -> String {
    let links = vec![("distant", LinkConfig::distant())];
    let report = stressed(traps).plan(Plan { links, match_frames: 600, ..Plan::default() }).run(4 * 1_800);
    let failure = report.failure.as_ref().expect("a failure");
    failure.autopsy().expect("an autopsy").fields[0].path.clone()
}

fn stressed(traps: Traps) -> Stress<Rolled<World>> {
    Stress::new(move |seed| Rolled(world(seed, traps)))
        .name("arena")
        .press(|turn| random(turn, ALL, 0))
        .plan(Plan { match_frames: 600, ..Plan::default() })
        .expect("no rock broke", |game| game.0.resource::<Broken>().0 > 0)
}

#[test]
fn arena_survives_rollbacks() {
    let broken = sync_tested(Traps::default()).unwrap();
    assert!(broken > 20, "{broken} rocks: entities hardly came and went");
}

#[test]
fn arena_desyncs_on_no_link() {
    let report = stressed(Traps::default()).run(13 * 1_800);
    assert!(report.is_well(), "{report}");
}

#[test]
fn engine_id_in_the_state_is_caught_and_named() {
    let traps = Traps { engine_ids: true, ..Traps::default() };
    let field = sync_tested(traps).unwrap_err();
    assert!(field.starts_with("ship[") && field.ends_with("].last_hit"), "{field}");
    let field = first_field(traps);
    assert!(field.ends_with("].last_hit"), "{field}");
}

#[test]
fn order_of_iteration_in_the_state_is_caught_and_named() {
    let traps = Traps { query_order: true, ..Traps::default() };
    let field = sync_tested(traps).unwrap_err();
    assert!(field.starts_with("velocity[") || field.starts_with("position["), "{field}");
    let field = first_field(traps);
    assert!(field.starts_with("velocity[") || field.starts_with("position["), "{field}");
}

#[test]
fn restored_world_keeps_the_entity_ids_of_its_snapshot() {
    let mut game = game(3);
    let mut cues = Cues::new();
    (0..200).for_each(|frame| game.step(inputs(frame), &mut cues));
    let before = game.snapshot();
    let entities =
        |game: &mut Rolled<World>| game.0.query::<bevy_ecs::entity::Entity>().iter(&game.0).count();
    let count = entities(&mut game);
    (200..400).for_each(|frame| game.step(inputs(frame), &mut cues));
    assert!(!diff(&before, &game.snapshot()).is_empty());
    game.restore(&before).unwrap();
    assert!(diff(&before, &game.snapshot()).is_empty());
    assert_eq!(entities(&mut game), count);
}
