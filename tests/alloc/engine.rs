//! The engine, the recorder, the sync test and the reader of replays.

use crate::counted;
use games::playground::Playground;
use rebout::replay::{Recorder, Replay};
use rebout::rollback::{EngineConfig, Rollback};
use rebout::{Frame, Player, SyncTest, checksum};
pub(crate) fn all() {
    a_match_with_rollbacks_cues_and_a_recorder();
    a_sync_test();
    a_short_file_that_promises_millions_of_frames();
    println!("nothing is allocated once a match runs: ok");
}

fn a_match_with_rollbacks_cues_and_a_recorder() {
    let inputs = games::playground::script::fight(11, 2_000).unwrap();
    let mut game = Playground::new(11).unwrap();
    // Some frames and rollbacks are measured.
    let config =
        EngineConfig { stopwatch: Some(rebout::net::stopwatch), look_ahead: 2, ..EngineConfig::default() };
    let mut engine = Rollback::new(config, &game);
    let mut recorder = Recorder::new(11);
    let mut heard = 0;
    let mut run = |from: usize, to: usize| {
        for now in from..to {
            engine.confirm(Player::One, Frame(now as u32), inputs[now][Player::One]).unwrap();
            // Late by two to seven frames, in bursts.
            while let late = engine.next_input(Player::Two).0 as usize
                && late + 2 + now / 9 % 6 <= now
            {
                engine.confirm(Player::Two, Frame(late as u32), inputs[late][Player::Two]).unwrap();
            }
            engine.advance(&mut game);
            engine.look_ahead(&mut game, |_| {});
            recorder.record_settled(&engine).unwrap();
            heard += engine.cues().len();
        }
        (engine.stats().rollbacks, heard)
    };
    let (warm_up, _) = run(0, 100);
    let (calls, bytes, (rollbacks, heard)) = counted(|| run(100, 2_000));
    assert!(rollbacks - warm_up >= 100, "{rollbacks} rollbacks");
    assert!(heard > 50, "{heard} cue events");
    assert_eq!((calls, bytes), (0, 0), "in {} rollbacks", rollbacks - warm_up);
    assert!(engine.costs().is_some());

    // A second match in the same memory takes no more.
    let (calls, ..) = counted(|| {
        engine.reset();
        recorder.reset(12);
        game = Playground::new(12).unwrap();
        engine.advance(&mut game)
    });
    assert_eq!(calls, 0);
}

fn a_sync_test() {
    let inputs = games::playground::script::fight(5, 600).unwrap();
    let mut game = Playground::new(5).unwrap();
    let mut test = SyncTest::new(&game, 8, 1);
    let mut run = |range: std::ops::Range<usize>| {
        for inputs in &inputs[range] {
            test.advance(&mut game, *inputs).unwrap();
        }
        checksum(&game)
    };
    run(0..50);
    let (calls, ..) = counted(|| run(50..600));
    assert_eq!(calls, 0);
}

fn a_short_file_that_promises_millions_of_frames() {
    let mut file = Vec::new();
    Replay { seed: 1, inputs: games::playground::script::fight(1, 10).unwrap(), ..Replay::default() }
        .write(&mut file)
        .unwrap();
    file[16..20].copy_from_slice(&(1_u32 << 24).to_le_bytes());
    let (_, bytes, result) = counted(|| (Replay::decode(&file).is_err(), Replay::read(&mut &*file).is_err()));
    assert_eq!(result, (true, true));
    assert!(bytes < 1_000, "{bytes} bytes for a file of {}", file.len());
}
