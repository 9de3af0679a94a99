//! Counters beyond their low bits, a blackout of ten minutes, and hours of play.

use crate::net::ms;
use core::time::Duration;
use games::playground::PLAY;
use rebout::lab::{Bout, HOST, JOINER, Setup};
use rebout::net::link::{Chance, LinkConfig};

const SECOND: Duration = Duration::from_secs(1);

fn refused(bout: &Bout<games::playground::Playground>) -> [u64; 2] {
    [HOST, JOINER].map(|id| bout.machine(id).seal.as_ref().unwrap().stats().refused_total())
}

#[test]
fn a_match_goes_on_beyond_65_536_packets() {
    let link = LinkConfig { loss: Chance::percent(2), ..LinkConfig::new(ms(30)) };
    let mut bout = Bout::new(Setup::new(1, link), PLAY);
    bout.seal(1);
    assert!(bout.run_until_frame(70_000), "{bout:?}");
    assert!(bout.world.traffic(HOST).0.datagrams > 70_000);
    assert_eq!((bout.flaw(true), refused(&bout)), (None, [0, 0]));
}

#[test]
fn after_a_blackout_of_ten_minutes_both_find_the_counters_again() {
    let patient = |config: &mut rebout::Config| {
        let long = Duration::from_secs(3_600);
        (config.timeouts.lost_after, config.timeouts.no_progress_after, config.timeouts.too_slow_after) =
            (long, long, long);
    };
    let mut bout = Bout::new(Setup::new(2, LinkConfig::new(ms(40))).configure(patient), PLAY);
    bout.seal(2);
    assert!(bout.run_until_frame(120));
    let now = bout.world.now();
    bout.world.network_mut().cut_both(0, 1, now, now + 600 * SECOND);
    bout.run_for(601 * SECOND);
    let stood = bout.checked();
    bout.run_for(10 * SECOND);
    assert!(bout.checked().since(stood) > 300, "it goes on: {bout:?}");
    assert_eq!(bout.divergence(), None);
}

#[test]
fn a_peer_that_is_gone_gets_nothing_for_ever() {
    let mut bout = Bout::new(Setup::new(4, LinkConfig::new(ms(40))), PLAY);
    bout.seal(4);
    assert!(bout.run_until_frame(120));
    let now = bout.world.now();
    bout.world.network_mut().cut_both(0, 1, now, now + 600 * SECOND);
    bout.run_for(100 * SECOND);
    let sent = |bout: &Bout<_>| [HOST, JOINER].map(|id| bout.world.traffic(id).0.datagrams);
    let before = sent(&bout);
    assert!(bout.ending(HOST).is_some() && bout.ending(JOINER).is_some());
    bout.run_for(100 * SECOND);
    assert_eq!(sent(&bout), before, "the sessions are over, and still kept");
}

/// Two million frames: run it by hand, `cargo test --release --test seal -- --ignored hours`.
#[test]
#[ignore = "takes minutes"]
fn ten_hours_of_play() {
    let link = LinkConfig { loss: Chance::percent(2), jitter: ms(5), ..LinkConfig::new(ms(30)) };
    let mut bout = Bout::new(Setup::new(3, link), PLAY);
    bout.seal(3);
    bout.run_for(36_000 * SECOND);
    assert!(bout.checked().0 > 2_140_000, "{bout:?}");
    assert_eq!((bout.flaw(true), refused(&bout)), (None, [0, 0]));
}
