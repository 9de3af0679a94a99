//! The simulated network does what its configuration says, and the same thing every time.

use rebout::lab::link::{Bandwidth, Burst, Chance, HEADER_BYTES, Link, LinkConfig, LinkStats};
use rebout::lab::sim::{Clock, Network};
use std::net::SocketAddr;
use std::time::Duration;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn addr(n: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, n], 7000))
}

/// Sends `count` datagrams of `len` bytes, one every `gap`, and answers all that arrived: when, and the bytes.
fn send_stream(
    config: LinkConfig,
    count: u64,
    gap: Duration,
    len: usize,
) -> (Vec<(Duration, Vec<u8>)>, LinkStats) {
    let mut network = Network::new(0xF10);
    let (one, two) = (network.add(addr(1)), network.add(addr(2)));
    network.set_link(one, two, config);
    let mut arrived = Vec::new();
    for n in 0..count {
        let now = gap * u32::try_from(n).unwrap();
        let mut bytes = vec![0x55; len];
        let used = len.min(8);
        bytes[..used].copy_from_slice(&n.to_le_bytes()[..used]);
        network.send(now, one, addr(2), &bytes);
        while let Some(delivery) = network.deliver(now) {
            arrived.push((delivery.at, delivery.datagram.to_vec()));
        }
    }
    while let Some(delivery) = network.deliver(Duration::MAX) {
        assert_eq!((delivery.to, delivery.from), (two, addr(1)));
        arrived.push((delivery.at, delivery.datagram.to_vec()));
    }
    (arrived, *network.link(one, two).stats())
}

fn number(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes[..8].try_into().unwrap())
}

/// Within `tolerance` percent of `expected`.
fn close_to(found: u64, expected: u64, tolerance: u64) -> bool {
    found.abs_diff(expected) * 100 <= expected * tolerance
}

#[test]
fn perfect_link_takes_its_latency_and_nothing_else() {
    let (arrived, stats) = send_stream(LinkConfig::new(ms(40)), 1_000, ms(1), 60);
    assert_eq!(arrived.len(), 1_000);
    for (n, (at, bytes)) in arrived.iter().enumerate() {
        assert_eq!(*at, ms(40 + n as u64));
        assert_eq!((number(bytes), bytes.len()), (n as u64, 60));
    }
    let mut expected = LinkStats::default();
    (expected.sent, expected.arriving) = (1_000, 1_000);
    assert_eq!(stats, expected);
}

#[test]
fn loss_is_independent_and_as_often_as_it_says() {
    let config = LinkConfig { loss: Chance::percent(20), ..LinkConfig::new(ms(1)) };
    let (arrived, stats) = send_stream(config, 20_000, ms(1), 60);
    assert_eq!(arrived.len() as u64 + stats.lost, 20_000);
    assert!(close_to(stats.lost, 4_000, 5), "{} lost", stats.lost);
    // Independent: a loss follows a loss no more often than it follows an arrival.
    let mut lost = [true; 20_000];
    arrived.iter().for_each(|(_, bytes)| lost[number(bytes) as usize] = false);
    let pairs = lost.windows(2).filter(|pair| pair[0] && pair[1]).count() as u64;
    assert!(close_to(pairs, 800, 12), "{pairs} pairs");
}

#[test]
fn certain_and_impossible_chances_are_exact() {
    let none = LinkConfig { loss: Chance::ALWAYS, ..LinkConfig::default() };
    assert_eq!(send_stream(none, 2_000, ms(1), 9).0.len(), 0);
    let all = LinkConfig { loss: Chance::NEVER, ..LinkConfig::default() };
    assert_eq!(send_stream(all, 2_000, ms(1), 9).0.len(), 2_000);
}

#[test]
fn jitter_is_uniform_and_reorders_unless_told_to_keep_the_order() {
    let config = LinkConfig { jitter: ms(30), ..LinkConfig::new(ms(50)) };
    let (arrived, _) = send_stream(config, 10_000, ms(10), 60);
    let mut thirds = [0u64; 3];
    for (at, bytes) in &arrived {
        let extra = *at - ms(10 * number(bytes)) - ms(50);
        assert!(extra <= ms(30));
        thirds[(extra.as_nanos() / 10_000_001) as usize] += 1;
    }
    assert!(thirds.iter().all(|n| close_to(*n, 3_333, 5)), "{thirds:?}");
    let overtaken = |arrived: &[(Duration, Vec<u8>)]| {
        arrived.windows(2).filter(|pair| number(&pair[1].1) < number(&pair[0].1)).count()
    };
    assert!(overtaken(&arrived) > 1_000);

    let (arrived, _) = send_stream(LinkConfig { keep_order: true, ..config }, 10_000, ms(10), 60);
    assert_eq!((overtaken(&arrived), arrived.len()), (0, 10_000));
}

#[test]
fn delayed_datagrams_are_overtaken_on_an_ordered_link() {
    let config = LinkConfig {
        keep_order: true,
        reorder: Chance::percent(10),
        reorder_delay: ms(200),
        ..LinkConfig::new(ms(50))
    };
    let (arrived, stats) = send_stream(config, 10_000, ms(10), 60);
    assert!(close_to(stats.reordered, 1_000, 10), "{}", stats.reordered);
    let late = arrived.iter().filter(|(at, bytes)| *at > ms(10 * number(bytes) + 50)).count() as u64;
    assert!(close_to(late, stats.reordered, 1), "{late}");
    assert!(arrived.iter().all(|(at, bytes)| *at <= ms(10 * number(bytes) + 250)));
}

#[test]
fn duplicates_are_whole_and_as_often_as_it_says() {
    let config = LinkConfig { duplicate: Chance::percent(20), jitter: ms(5), ..LinkConfig::new(ms(10)) };
    let (arrived, stats) = send_stream(config, 10_000, ms(10), 60);
    assert!(close_to(stats.duplicated, 2_000, 6), "{}", stats.duplicated);
    assert_eq!(arrived.len() as u64, 10_000 + stats.duplicated);
    let mut seen = vec![0; 10_000];
    arrived.iter().for_each(|(_, bytes)| seen[number(bytes) as usize] += 1);
    assert_eq!(seen.iter().filter(|times| **times == 2).count() as u64, stats.duplicated);
    assert!(seen.iter().all(|times| (1..=2).contains(times)));
}

#[test]
fn corruption_flips_one_to_three_bits_and_changes_nothing_else() {
    let config = LinkConfig { corrupt: Chance::percent(50), ..LinkConfig::new(ms(1)) };
    for len in [1, 60] {
        let mut network = Network::new(3);
        let (one, two) = (network.add(addr(1)), network.add(addr(2)));
        network.set_link(one, two, config);
        let mut by_count = [0u64; 4];
        for n in 0..4_000 {
            network.send(ms(n), one, addr(2), &vec![0; len]);
            let delivery = network.deliver(ms(n + 1)).unwrap();
            assert_eq!(delivery.datagram.len(), len);
            by_count[delivery.datagram.iter().map(|byte| byte.count_ones()).sum::<u32>() as usize] += 1;
        }
        assert!(close_to(by_count[0], 2_000, 6), "{by_count:?}");
        assert!(by_count[1..].iter().all(|n| close_to(*n, 667, 12)), "{by_count:?}");
        assert_eq!(network.link(one, two).stats().corrupted, 4_000 - by_count[0]);
    }
}

#[test]
fn truncation_leaves_a_shorter_beginning_of_every_length() {
    let config = LinkConfig { truncate: Chance::percent(25), ..LinkConfig::new(ms(1)) };
    let (arrived, stats) = send_stream(config, 8_000, ms(1), 20);
    let cut: Vec<_> = arrived.iter().filter(|(_, bytes)| bytes.len() < 20).collect();
    assert!(close_to(cut.len() as u64, 2_000, 6));
    assert_eq!(cut.len() as u64, stats.truncated);
    assert!(cut.iter().all(|(_, bytes)| bytes.iter().skip(8).all(|byte| *byte == 0x55)));
    assert!((0..20).all(|len| cut.iter().any(|(_, bytes)| bytes.len() == len)));
}

#[test]
fn damage_to_empty_datagrams_is_none() {
    let config = LinkConfig { corrupt: Chance::ALWAYS, truncate: Chance::ALWAYS, ..LinkConfig::new(ms(1)) };
    let (arrived, stats) = send_stream(config, 10, ms(1), 0);
    assert_eq!(arrived.len(), 10);
    assert_eq!((stats.corrupted, stats.truncated), (0, 0));
}

#[test]
fn bottleneck_spaces_datagrams_by_their_size_with_headers() {
    // 72 + 28 bytes at 8,000 bytes a second: one every 12.5 ms, however fast they are sent.
    let bandwidth = Some(Bandwidth { bits_per_s: 64_000, queue_bytes: 1_000_000 });
    let (arrived, _) = send_stream(LinkConfig { bandwidth, ..LinkConfig::new(ms(30)) }, 100, ms(1), 72);
    assert_eq!(HEADER_BYTES, 28);
    for (n, (at, _)) in arrived.iter().enumerate() {
        assert_eq!(*at, ms(30) + Duration::from_micros(12_500) * (n as u32 + 1));
    }
}

#[test]
fn full_queue_drops_the_newest_and_bounds_the_wait() {
    // Twice what the link carries. The queue holds ten; with the one in transmission none waits longer than 137.5 ms.
    let bandwidth = Some(Bandwidth { bits_per_s: 64_000, queue_bytes: 1_000 });
    let config = LinkConfig { bandwidth, ..LinkConfig::new(ms(30)) };
    let (arrived, stats) = send_stream(config, 4_000, Duration::from_micros(6_250), 72);
    assert!(close_to(stats.queue_full, 2_000, 1), "{}", stats.queue_full);
    assert_eq!(arrived.len() as u64, 4_000 - stats.queue_full);
    let waits: Vec<_> = arrived
        .iter()
        .map(|(at, bytes)| *at - ms(30) - Duration::from_micros(6_250) * number(bytes) as u32)
        .collect();
    assert!(waits.iter().all(|wait| *wait <= Duration::from_micros(137_500)));
    assert!(*waits.iter().max().unwrap() > ms(110));

    // Larger than the whole queue, it passes when nothing waits: or a link would be dead for no reason.
    let bandwidth = Some(Bandwidth { bits_per_s: 64_000, queue_bytes: 10 });
    let (arrived, _) = send_stream(LinkConfig { bandwidth, ..config }, 10, ms(20), 72);
    assert_eq!(arrived.len(), 10);
}

#[test]
fn link_without_latency_still_takes_time() {
    let mut link = Link::new(LinkConfig::default(), 1);
    let at: Vec<_> = link.send(ms(5), 10).into_iter().map(|arrival| arrival.at()).collect();
    assert_eq!(at, [ms(5) + Duration::from_micros(1)]);
}

#[test]
fn no_configuration_overflows() {
    let config = LinkConfig {
        latency: Duration::MAX,
        jitter: Duration::MAX,
        reorder: Chance::ALWAYS,
        reorder_delay: Duration::MAX,
        burst: Some(Burst { mean_gap: Duration::MAX, mean_length: Duration::MAX, loss: Chance::NEVER }),
        bandwidth: Some(Bandwidth { bits_per_s: 0, queue_bytes: u64::MAX }),
        ..LinkConfig::default()
    };
    let mut link = Link::new(config, 1);
    for _ in 0..3 {
        let arrivals: Vec<_> = link.send(Duration::MAX, 65_507).into_iter().collect();
        assert_eq!(arrivals.len(), 1);
    }
}

#[test]
fn partitions_cut_one_way_or_both_and_what_is_under_way_arrives() {
    let mut network = Network::new(1);
    let (one, two) = (network.add(addr(1)), network.add(addr(2)));
    network.set_links(one, two, LinkConfig::new(ms(50)));
    network.cut(one, two, ms(100), ms(200));
    network.cut_both(one, two, ms(300), ms(400));
    let mut got = [Vec::new(), Vec::new()];
    for n in 0..60 {
        let now = ms(n * 10);
        if n == 50 {
            network.set_down(two, one, true);
        }
        if n == 55 {
            network.set_down(two, one, false);
        }
        network.send(now, one, addr(2), &[n as u8]);
        network.send(now, two, addr(1), &[n as u8]);
        while let Some(delivery) = network.deliver(now) {
            got[delivery.to].push(u64::from(delivery.datagram[0]));
        }
    }
    while let Some(delivery) = network.deliver(Duration::MAX) {
        got[delivery.to].push(u64::from(delivery.datagram[0]));
    }
    let expected = |cuts: &[std::ops::Range<u64>]| {
        (0..60).filter(|n| !cuts.iter().any(|cut| cut.contains(n))).collect::<Vec<u64>>()
    };
    assert_eq!(got[two], expected(&[10..20, 30..40]));
    assert_eq!(got[one], expected(&[30..40, 50..55]));
    assert_eq!(network.link(one, two).stats().cut, 20);
}

#[test]
fn injected_datagrams_arrive_on_the_dot_from_whoever_they_say() {
    let mut network = Network::new(1);
    let (one, two) = (network.add(addr(1)), network.add(addr(2)));
    network.set_links(one, two, LinkConfig { loss: Chance::ALWAYS, ..LinkConfig::default() });
    network.inject(ms(7), addr(1), addr(2), b"forged");
    network.inject(ms(8), addr(200), addr(2), &vec![0; 100_000]);
    network.inject(ms(9), addr(200), addr(201), b"nobody there");
    assert_eq!(network.next_delivery_at(), Some(ms(7)));
    let delivery = network.deliver(ms(7)).unwrap();
    assert_eq!((delivery.to, delivery.from, delivery.datagram), (two, addr(1), &b"forged"[..]));
    let delivery = network.deliver(ms(8)).unwrap();
    assert_eq!((delivery.from, delivery.datagram.len()), (addr(200), 65_507));
    assert_eq!(network.deliver(ms(100)), None);
    assert_eq!((network.stats().injected, network.stats().unroutable.datagrams), (3, 1));
}

#[test]
fn traffic_is_counted_with_headers_and_to_nobody_too() {
    let mut network = Network::new(1);
    let (one, two) = (network.add(addr(1)), network.add(addr(2)));
    network.set_links(one, two, LinkConfig::new(ms(1)));
    network.send(ms(0), one, addr(2), &[0; 100]);
    network.send(ms(0), one, addr(77), &[0; 10]);
    while network.deliver(ms(1)).is_some() {}
    let sent = network.sent(one);
    assert_eq!((sent.datagrams, sent.payload_bytes, sent.wire_bytes()), (2, 110, 166));
    assert_eq!(network.received(two).wire_bytes(), 128);
    assert_eq!(network.stats().unroutable.payload_bytes, 10);
}

#[test]
fn flood_is_dropped_at_a_fixed_bound() {
    let mut network = Network::new(1);
    let (one, two) = (network.add(addr(1)), network.add(addr(2)));
    network.set_link(one, two, LinkConfig::new(ms(1_000)));
    for _ in 0..70_000 {
        network.send(ms(0), one, addr(2), &[1]);
    }
    assert_eq!(network.in_flight(), 65_536);
    assert_eq!(network.stats().overflow, 70_000 - 65_536);
}

#[test]
fn equal_arrival_times_keep_the_order_of_sending() {
    let mut network = Network::new(1);
    let (one, two) = (network.add(addr(1)), network.add(addr(2)));
    network.set_link(one, two, LinkConfig::new(ms(5)));
    for n in 0..200 {
        network.send(ms(0), one, addr(2), &[n]);
    }
    for n in 0..200 {
        assert_eq!(network.deliver(ms(5)).unwrap().datagram, [n]);
    }
}

#[test]
fn clock_maps_there_and_back() {
    for skew_ppm in [-500_000, -1_000, -7, 0, 1, 999, 1_000, 500_000] {
        let clock = Clock::new(ms(123_456), skew_ppm);
        let mut last = Duration::ZERO;
        for n in 0..5_000u64 {
            let time = Duration::from_nanos(n * n * 7_919 + n);
            let local = clock.local(time);
            assert!(local >= last, "runs backwards");
            last = local;
            // The first true time that shows it: it does, and one nanosecond sooner does not.
            let back = clock.true_at(local + Duration::from_nanos(n));
            assert!(clock.local(back) >= local + Duration::from_nanos(n));
            if back > Duration::ZERO {
                assert!(clock.local(back - Duration::from_nanos(1)) < local + Duration::from_nanos(n));
            }
        }
    }
    let minute = Clock::new(Duration::ZERO, 1_000).local(Duration::from_secs(60));
    assert_eq!(minute, ms(60_060));
    assert_eq!(Clock::new(ms(50), 3).true_at(ms(20)), Duration::ZERO);
}

#[test]
fn time_inside_pauses_is_put_off_to_the_end_of_the_last() {
    let clock = Clock::default().with_pause(ms(300), ms(100)).with_pause(ms(100), ms(250));
    assert_eq!(clock.runs_at(ms(99)), ms(99));
    assert_eq!(clock.runs_at(ms(100)), ms(400));
    assert_eq!(clock.runs_at(ms(399)), ms(400));
    assert_eq!(clock.runs_at(ms(400)), ms(400));
    assert_eq!(clock.local(ms(200)), ms(200), "the clock of a machine that stands still goes on");
}

#[test]
fn digest_sees_a_single_bit_a_nanosecond_and_an_address() {
    let digest = |at: u64, to: u8, bytes: &[u8]| {
        let mut network = Network::new(1);
        let one = network.add(addr(1));
        network.send(Duration::from_nanos(at), one, addr(to), bytes);
        network.transcript().digest()
    };
    let all = [
        digest(5, 2, &[0; 11]),
        digest(6, 2, &[0; 11]),
        digest(5, 3, &[0; 11]),
        digest(5, 2, &[0; 12]),
        digest(5, 2, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
        digest(5, 2, &[128, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
    ];
    for (n, one) in all.iter().enumerate() {
        assert!(all[..n].iter().all(|other| other != one), "{n}");
    }
}
