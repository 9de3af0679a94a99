//! A match takes its memory at the start and none afterwards, with everything going on that goes on in a match.

use crate::counted;
use core::time::Duration;
use games::playground::PLAY;
use rebout::Saving;
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::{Setup, SimMatch};

pub(crate) fn all() {
    for sealed in [false, cfg!(feature = "seal")] {
        a_match_on_a_lossy_link(1, sealed, Saving::Auto);
        a_match_on_a_lossy_link(2, sealed, Saving::Sparse);
    }
    println!("nothing is allocated once two machines play, bare or sealed: ok");
}

/// Two machines, the simulated network between them and the oracle, all counted together.
fn a_match_on_a_lossy_link(seed: u64, sealed: bool, saving: Saving) {
    let frame = Duration::from_secs(1) / 60;
    let mut link = LinkConfig::new(frame * 4);
    link.jitter = frame;
    link.loss = Chance::percent(10);
    let mut sim =
        SimMatch::new(Setup::new(seed, link).configure(|config| config.rollback.saving = saving), PLAY);
    #[cfg(feature = "seal")]
    if sealed {
        sim.seal(seed);
    }
    #[cfg(not(feature = "seal"))]
    assert!(!sealed, "there is nothing to seal with");
    for id in 0..2 {
        sim.world.machine_mut(id).events.reserve(1_000);
    }
    // Until both have measured the loss and send a second copy, and every queue has been as long as it gets.
    sim.run_for(Duration::from_secs(10));
    let before = [0, 1].map(|id| sim.machine(id).stats());
    // An outage in the middle, after which the match goes on.
    let outage = sim.world.now() + Duration::from_secs(5);
    sim.world.network_mut().cut_both(0, 1, outage, outage + Duration::from_secs(20));

    let (calls, ..) = counted(|| {
        sim.run_for(Duration::from_secs(26));
        for id in 0..2 {
            let now = sim.world.local_now(id);
            let session = sim.world.machine_mut(id).session_mut().expect("a match");
            session.set_delay(now, 3 - id as u8).expect("a delay that fits");
        }
        sim.run_for(Duration::from_secs(10));
    });

    assert_eq!(sim.divergence(), None);
    for (id, before) in before.iter().enumerate() {
        let machine = sim.machine(id);
        let stats = machine.stats();
        assert!(stats.rollback.rollbacks - before.rollback.rollbacks >= 100, "{stats:?}");
        assert!(stats.checksums_compared - before.checksums_compared >= 10, "{stats:?}");
        assert!(stats.copies_out - before.copies_out >= 500, "{stats:?}");
        let delays =
            machine.session().map(|session| (session.delay_frames(), session.agreed().peer_delay_frames));
        assert_eq!(delays, Some((3 - id as u8, 2 + id as u8)), "both know of both");
        let stalled = stats.stalled_frames - before.stalled_frames;
        assert!((1_100..1_300).contains(&stalled) && stats.frames - before.frames > 800, "{stats:?}");
    }
    assert_eq!(calls, 0, "allocations in {} frames", sim.machine(0).stats().frames - before[0].frames);
}
