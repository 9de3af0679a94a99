//! Two machines play one match over a simulated network.

#[path = "../examples/common/bout.rs"]
#[allow(dead_code)]
mod bout;
#[path = "../examples/playground/sim.rs"]
#[allow(dead_code)]
mod sim;

use bout::{Bout, Play, Setup, every_fourth};
use core::time::Duration;
use rebout::net::link::LinkConfig;
use sim::Playground;

const PLAY: Play<Playground> =
    Play { build: |seed| Playground::new(seed).expect("a seed"), script: every_fourth };

fn frames(frames: u32) -> Duration {
    Duration::from_secs(1) * frames / 60
}

#[test]
fn two_machines_on_a_link_with_latency_play_the_same_match() {
    let mut bout = Bout::new(Setup::new(1, LinkConfig::new(frames(4))), PLAY);
    assert!(bout.run_until_frame(1_200));
    assert_eq!(bout.divergence(), None);
    for id in 0..2 {
        let stats = bout.machine(id).stats();
        assert!(stats.rollback.rollbacks > 100, "{stats:?}");
        assert_eq!(stats.refused.total(), 0, "{stats:?}");
        assert!(stats.checksums_compared > 30, "{stats:?}");
    }
}
