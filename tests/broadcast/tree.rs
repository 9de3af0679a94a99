//! Spectators that serve spectators.

use crate::stage::{Stage, link, ms};
use rebout::{BroadcastConfig, Watching};

const CHILDREN: usize = 8;

fn relay() -> BroadcastConfig {
    BroadcastConfig { bits_per_second: 2_000_000, ..BroadcastConfig::default() }
}

#[test]
fn tree_of_spectators_is_live_and_ends_with_the_players() {
    // A quarter by default: a thousand machines take half a minute.
    let spectators = support::repeats(1_000);
    const FRAMES: u32 = 1_800;
    let mut stage = Stage::new(FRAMES, Some(BroadcastConfig::default()));
    let mut ids = vec![0];
    for at in 0..spectators {
        // Each parent has eight children; the machine at 0 is the source.
        let parent = ids[at / CHILDREN];
        let loss = (at % 3) as u32;
        let id = stage.watch_every(parent, Some(relay()), link(20 + (at % 5) as u64 * 10, loss), ms(50));
        ids.push(id);
    }
    let ids = &ids[1..];
    stage.run_for(ms(12_000));
    let mut most = 0;
    for _ in 0..20 {
        stage.run_for(ms(500));
        for id in ids {
            let viewer = stage.watcher(*id).viewer.as_ref().unwrap_or_else(|| panic!("{id} has nothing"));
            most = most.max(stage.settled() - viewer.frame().0);
        }
    }
    println!("{spectators} spectators: at most {most} frames behind the players");
    assert!(most <= 180, "{most} frames are more than 3 s behind");
    let unfinished = |stage: &Stage| ids.iter().filter(|id| !stage.has_seen_the_end(**id)).count();
    assert!(stage.run_until(ms(20_000), |stage| unfinished(stage) == 0), "{} unfinished", unfinished(&stage));
}

#[test]
fn children_of_a_machine_that_is_gone_ask_another() {
    let mut stage = Stage::new(u32::MAX, Some(BroadcastConfig::default()));
    let parent = stage.watch(0, Some(relay()), link(20, 0));
    let child = stage.watch(parent, None, link(20, 0));
    let (now, host) = (stage.world.now(), stage.host_addr());
    stage.watcher_mut(child).spectator.add_parent(now, host);
    stage.run_for(ms(8_000));
    let before = stage.watcher(child).spectator.bytes().len();
    assert!(before > 0 && stage.broadcast().stats().spectators == 1);
    stage.world.stop(parent);
    stage.run_for(ms(15_000));
    let watcher = stage.watcher(child);
    assert_eq!((watcher.spectator.state(), watcher.spectator.parent()), (Watching::Receiving, host));
    assert!(watcher.spectator.bytes().len() > before);
    let lag = stage.settled() - watcher.viewer.as_ref().unwrap().frame().0;
    assert!(lag <= 180, "{lag} frames behind the players");
    // It went on where the last one ended: the source did not send the whole log again.
    assert!(stage.broadcast().stats().spectators >= 1);
}
