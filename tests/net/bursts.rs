//! Bursts of loss depend on time and not on the traffic.

use rebout::lab::link::{Burst, Chance, Link, LinkConfig};
use std::time::Duration;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn bursts(mean_gap: Duration, mean_length: Duration) -> LinkConfig {
    let burst = Burst { mean_gap, mean_length, loss: Chance::ALWAYS };
    LinkConfig { burst: Some(burst), ..LinkConfig::new(ms(1)) }
}

fn arrives(link: &mut Link, at: Duration) -> bool {
    link.send(at, 60).into_iter().next().is_some()
}

/// Whether each of `count` datagrams arrives, one every `every`.
fn deliveries(link: &mut Link, count: u32, every: Duration) -> Vec<bool> {
    (0..count).map(|n| arrives(link, every * n)).collect()
}

/// Within `tolerance` percent of `expected`.
fn close_to(found: f64, expected: f64, tolerance: f64) -> bool {
    (found - expected).abs() * 100.0 <= expected * tolerance
}

#[test]
fn bursts_have_the_rate_and_the_length_of_gilbert_and_elliott() {
    let arrived = deliveries(&mut Link::new(bursts(ms(100), ms(10)), 1), 1_000_000, ms(1));
    let runs: Vec<usize> =
        arrived.split(|arrived| *arrived).map(<[bool]>::len).filter(|len| *len > 0).collect();
    let lost: usize = runs.iter().sum();
    // In the long run length / (gap + length) of all time is in a burst.
    assert!(close_to(lost as f64, 1e6 / 11.0, 3.0), "{lost} lost");
    // Bursts that begin and end between two datagrams are not seen, and two with no datagram between them are one.
    let seen = 1e6 / 110.0 * (1.0 - (-0.1f64).exp()) * 10.0 * (-0.01f64).exp();
    assert!(close_to(runs.len() as f64, seen, 3.0), "{} bursts, not {seen:.0}", runs.len());
    assert!(*runs.iter().max().unwrap() > 60, "the tail of the distribution is missing");
}

/// Each preset with bursts, and how many of a million datagrams its bursts take.
#[test]
fn bursts_of_a_preset_lose_their_share_at_every_send_rate() {
    let shares =
        [("wifi", 4_762), ("mobile", 11_111), ("satellite", 14_778), ("bursty", 45_977), ("hostile", 34_615)];
    for (name, config) in LinkConfig::presets() {
        let share = shares.iter().find(|(preset, _)| *preset == name).map(|(_, share)| f64::from(*share));
        assert_eq!(share.is_some(), config.burst.is_some(), "{name}");
        let Some(share) = share else { continue };
        for hz in [12, 60] {
            let (mut lost, mut sent) = (0, 0);
            // An hour each.
            for seed in 0..40 {
                let mut link = Link::new(config, seed);
                for n in 0..hz * 3_600 {
                    link.send(Duration::from_secs(1) * n / hz, 60);
                }
                lost += link.stats().lost_in_burst;
                sent += link.stats().sent;
            }
            let found = lost as f64 * 1e6 / sent as f64;
            assert!(close_to(found, share, 5.0), "{name} at {hz} Hz: {found:.0} of a million");
        }
    }
}

#[test]
fn two_copies_apart_survive_a_burst_that_takes_both_together() {
    let config = bursts(ms(2_000), ms(60));
    let (mut lost_together, mut lost_apart) = (0, 0);
    for seed in 0..400 {
        // Two links with the same bursts. A second after the other, each carries something twice.
        let [mut together, mut apart] = [0; 2].map(|_| Link::new(config, seed));
        for second in 0..30 {
            let at = ms(second * 1_000);
            let taken = !arrives(&mut together, at) & !arrives(&mut together, at);
            let both_taken = !arrives(&mut apart, at) & !arrives(&mut apart, at + ms(300));
            assert!(taken || !both_taken, "the first copy meets the same burst");
            lost_together += u32::from(taken);
            lost_apart += u32::from(both_taken);
        }
    }
    // A burst in 34 of 12,000; one that lasts 300 ms longer in one of e^5 of those, or another one by then.
    assert!(lost_together > 250, "{lost_together} lost together");
    assert!(lost_apart * 20 < lost_together, "{lost_apart} lost apart, {lost_together} together");
}

#[test]
fn burst_times_do_not_depend_on_traffic() {
    let config = LinkConfig { jitter: ms(20), duplicate: Chance::percent(30), ..bursts(ms(300), ms(50)) };
    let often = deliveries(&mut Link::new(config, 9), 20_000, ms(1));
    let seldom = deliveries(&mut Link::new(config, 9), 2_000, ms(10));
    let same: Vec<bool> = often.iter().copied().step_by(10).collect();
    assert!(seldom.contains(&false) && seldom.contains(&true));
    assert_eq!(seldom, same);
    assert_ne!(
        seldom,
        deliveries(&mut Link::new(config, 10), 2_000, ms(10)),
        "another seed has other bursts"
    );
}

#[test]
fn change_of_the_latency_leaves_the_bursts_as_they_are() {
    let config = bursts(ms(300), ms(50));
    let unchanged = deliveries(&mut Link::new(config, 3), 5_000, ms(1));
    let mut link = Link::new(config, 3);
    let changed: Vec<bool> = (0..5_000)
        .map(|n| {
            link.set_config(LinkConfig { latency: ms(n % 90), ..config });
            arrives(&mut link, ms(n))
        })
        .collect();
    assert_eq!(changed, unchanged);
    link.set_config(LinkConfig::new(ms(1)));
    assert!((5_000..9_000).all(|n| arrives(&mut link, ms(n))), "a link without bursts has none left");
}

#[test]
fn link_that_was_idle_for_ages_is_in_a_burst_as_often_as_any() {
    let config = bursts(ms(30), ms(10));
    let lost = (0..4_000).filter(|seed| {
        let mut link = Link::new(config, *seed);
        arrives(&mut link, ms(0));
        !arrives(&mut link, Duration::MAX)
    });
    assert!(close_to(lost.count() as f64, 1_000.0, 10.0));
}

#[test]
fn zero_burst_length_never_loses_and_zero_gap_always() {
    for (gap, length, arriving) in [(ms(5), ms(0), 1_000), (ms(0), ms(5), 0), (ms(0), ms(0), 1_000)] {
        let arrived = deliveries(&mut Link::new(bursts(gap, length), 1), 1_000, ms(1));
        let count = arrived.iter().filter(|arrived| **arrived).count();
        assert_eq!(count, arriving, "gap {gap:?}, length {length:?}");
    }
}

#[test]
fn other_bursts_begin_with_a_gap() {
    let (endless, rare) = (bursts(ms(1), ms(1_000_000)), bursts(ms(1_000_000), ms(1)));
    let mut link = Link::new(endless, 1);
    link.send(ms(0), 60);
    assert!(!arrives(&mut link, ms(100)), "in a burst");
    link.set_config(LinkConfig { latency: ms(2), ..endless });
    assert!(!arrives(&mut link, ms(101)), "the same burst goes on");
    link.set_config(rare);
    assert!(arrives(&mut link, ms(102)));
}
