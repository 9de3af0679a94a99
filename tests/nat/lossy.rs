//! Candidates that come late, by chance or because every third datagram is lost: they are sent when they come.

use super::internet::{HOST, Internet, JOINER, Plan, RELAY, RENDEZVOUS, Router, ms};
use rebout::lab::nat::Progress;
use std::time::Duration;
use support::repeats;

/// Lets two players meet. Returns when both were in their match, and whether either was told that there is no way.
fn meet(plan: Plan) -> (Internet, Option<Duration>, bool) {
    let mut internet = Internet::new(plan);
    let began = |internet: &Internet| {
        let began_at = [HOST, JOINER].map(|id| internet.player(id).began_at());
        began_at[HOST].max(began_at[JOINER]).filter(|_| began_at.iter().all(Option::is_some))
    };
    internet.run_until(ms(27_000), |internet| began(internet).is_some());
    let is_no_way = |(_, progress): &(Duration, Progress)| matches!(progress, Progress::NoWay { .. });
    let is_told = [HOST, JOINER].iter().any(|id| internet.player(*id).told.iter().any(is_no_way));
    let began = began(&internet);
    (internet, began, is_told)
}

#[test]
fn blocked_and_symmetric_pairs_meet_at_20_and_30_percent_loss() {
    use Router::{Blocked, Symmetric};
    let pairs = [(Blocked, Blocked), (Blocked, Symmetric), (Symmetric, Blocked), (Symmetric, Symmetric)];
    // 832 runs, of which `cargo test` alone makes 48.
    let seeds: u64 = repeats(repeats(52));
    let (mut failed, mut told, mut runs, mut slowest) = (Vec::new(), 0, 0, Duration::ZERO);
    for (host, joiner) in pairs {
        for loss_percent in [20, 30] {
            // The invite may be used before the host is registered.
            for joins_at_millis in [500, 3_000] {
                let (mut of_these, mut sum) = (0, Duration::ZERO);
                for seed in 0..seeds {
                    let plan = Plan { loss_percent, seed, joins_at_millis, ..Plan::new(host, joiner) };
                    let (internet, began, is_told) = meet(plan);
                    let took = began.unwrap_or_default().saturating_sub(ms(joins_at_millis));
                    (slowest, sum) = (slowest.max(took), sum + took);
                    (runs, told) = (runs + 1, told + u32::from(is_told));
                    if began.is_none() {
                        of_these += 1;
                        failed.push(format!(
                            "{host:?} {joiner:?} {loss_percent} % at {joins_at_millis} seed {seed} {began:?}: {}",
                            internet.report()
                        ));
                    }
                }
                println!(
                    "{host:?} {joiner:?}, {loss_percent} %, joins at {joins_at_millis}: {of_these} failed, mean {:?}",
                    sum / seeds as u32
                );
            }
        }
    }
    println!("slowest {slowest:?}, {told} of {runs} were told of no path before there was one");
    assert!(failed.is_empty(), "{} failed. {}", failed.len(), failed[0]);
    // The relay may answer after the nine seconds that a search is given, and the match begins nevertheless.
    assert!(told * 400 <= runs, "{told} of {runs} were told that there is no path");
}

/// Two players behind firewalls, each of whom needs an address on the relay, which comes late.
fn late(lose: impl FnOnce(&mut Internet)) {
    let plan = Plan { frames: 300, ..Plan::new(Router::Blocked, Router::Blocked) };
    let mut internet = Internet::new(plan);
    lose(&mut internet);
    assert_eq!(internet.play(plan).map(|progress| progress.name()), ["relayed"; 2]);
    for id in [HOST, JOINER] {
        let stats = internet.player(id).nat().stats();
        assert_eq!((stats.searches, stats.signals_refused), (1, 0), "no new search: {}", internet.report());
    }
}

#[test]
fn host_that_answers_before_it_is_granted_names_its_relay_later() {
    late(|internet| {
        // GRANTs for the host, which is seen at 203.0.113.1: without one it has no credentials for the relay.
        let is_grant = |datagram: &[u8]| datagram[0] == 0xED && datagram[21..25] == [203, 0, 113, 1];
        internet.world.network_mut().lose(RENDEZVOUS, 9, is_grant);
    });
}

#[test]
fn allocations_that_take_two_seconds_are_used() {
    late(|internet| {
        internet.world.network_mut().lose(RELAY, 12, |datagram| datagram.starts_with(&[0x01, 0x03]));
    });
}

#[test]
fn search_goes_on_while_nothing_has_changed() {
    // Everything that the players send through the relay is lost for some seconds, all checks included.
    late(|internet| {
        for id in [HOST, JOINER] {
            internet.world.network_mut().lose(id, 30, |datagram| datagram.starts_with(&[0x00, 0x16]));
        }
    });
}

#[test]
fn channel_whose_answers_are_lost_carries_the_match() {
    late(|internet| {
        internet.world.network_mut().lose(RELAY, 60, |datagram| datagram.starts_with(&[0x01, 0x09]));
    });
}
