//! A machine that sleeps in the middle of a match, and whose program is not called meanwhile.

use crate::rejoin::{Broken, assert_unbroken, rejoined};
use core::time::Duration;
use rebout::{Finish, Reason};

const SLEEP: Duration = Duration::from_secs(60);
const LONG: Duration = Duration::from_secs(90);
const SHORT: Duration = Duration::from_secs(30);

/// The match goes on with the same program and the same keys.
#[test]
fn machine_that_slept_for_a_minute_goes_on_within_the_wait() {
    for sleeps in [0, 1] {
        let mut broken = Broken::waiting("sleep", 20, 3, false, [LONG; 2]);
        broken.run_to_frame(60);
        let seed = broken.machines[0].online.agreed().unwrap().seed;
        broken.run_alone(1 - sleeps, SLEEP);
        assert!(broken.machines.iter().all(|one| one.finish.is_none()));
        assert_unbroken(&mut broken, seed, "slept");
        assert!(!broken.machines.iter().any(rejoined), "nobody had to come back");
    }
}

/// A datagram that waits for it is heard before its own wait counts.
#[test]
fn machine_that_slept_past_its_own_wait_goes_on() {
    for sleeps in [0, 1] {
        let mut waits = [LONG; 2];
        waits[sleeps] = SHORT;
        let mut broken = Broken::waiting("overslept", 21, 3, false, waits);
        broken.run_to_frame(60);
        let seed = broken.machines[0].online.agreed().unwrap().seed;
        broken.run_alone(1 - sleeps, SLEEP);
        assert_unbroken(&mut broken, seed, "overslept");
    }
}

/// A machine that was awake all the time, and heard nothing for too long, keeps no file: the match is over.
#[test]
fn wait_that_ends_at_a_machine_that_is_awake_leaves_no_file() {
    let mut broken = Broken::waiting("awake", 22, 0, false, [SHORT; 2]);
    broken.run_to_frame(60);
    broken.ticket(0);
    broken.run_alone(0, SLEEP);
    assert_eq!(broken.machines[0].finish, Some(Finish::Ended(Reason::TimedOut)));
    assert!(broken.tickets(0).is_empty());
}

/// The other machine has given up meanwhile: the one that wakes is told by what waits for it, or gives up after its own wait.
#[test]
fn machine_that_slept_past_the_other_ones_wait_ends_the_match() {
    for sleeps in [0, 1] {
        for hears in [true, false] {
            let mut broken = Broken::waiting("past", 23, 0, false, [SHORT; 2]);
            broken.run_to_frame(60);
            broken.run_alone(1 - sleeps, SLEEP);
            assert_eq!(broken.machines[1 - sleeps].finish, Some(Finish::Ended(Reason::TimedOut)));
            if !hears {
                // Nothing was received while the machine slept.
                broken.sim.borrow_mut().forget(sleeps);
            }
            let woke = broken.sim.borrow().now();
            broken.run("awake", |machines| machines[sleeps].finish.is_some());
            let took = broken.sim.borrow().now() - woke;
            let finish = broken.machines[sleeps].finish.clone();
            if hears {
                assert!(took < Duration::from_secs(2), "{sleeps}: {took:?}, {finish:?}");
            } else {
                assert!(took <= SHORT + Duration::from_secs(4), "{sleeps}: {took:?}");
            }
            assert!(matches!(finish, Some(Finish::Ended(_))), "{sleeps}, {hears}: {finish:?}");
            assert!(broken.tickets(sleeps).is_empty(), "the match is over");
        }
    }
}
