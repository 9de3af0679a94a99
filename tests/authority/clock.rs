//! The client's idea of the server's time, against the server's own.

use crate::lab::{FRAME, Lab, bad_link, ms};
use rebout::lab::link::LinkConfig;
use std::time::Duration;
use support::repeats;

/// The errors of the believed server time from `from` after the start on, in milliseconds.
fn errors(lab: &Lab, client: usize, from: Duration) -> Vec<f64> {
    let node = lab.client_at(client);
    let start = node.clock.first().expect("a clock").0;
    node.clock
        .iter()
        .filter(|(at, ..)| *at >= start + from)
        .map(|(at, believed, _)| (believed - lab.server_time_at(client, *at)) * FRAME.as_secs_f64() * 1e3)
        .collect()
}

fn run(seed: u64, link: LinkConfig, until: Duration) -> (Lab, usize) {
    let mut lab = Lab::new(seed, link);
    let client = lab.client(ms(500));
    lab.run_until(until);
    (lab, client)
}

#[test]
fn without_jitter_the_clock_is_within_a_millisecond() {
    for one_way in [1, 10, 50, 100, 150] {
        let (lab, client) = run(one_way, LinkConfig::new(ms(one_way)), ms(6_000));
        let worst = errors(&lab, client, ms(3_000)).into_iter().fold(0.0, |worst: f64, e| worst.max(e.abs()));
        println!("{one_way} ms each way: off by at most {worst:.3} ms");
        assert!(worst < 1.0, "{worst} ms at {one_way} ms each way");
    }
}

#[test]
fn with_jitter_it_is_within_4_ms_in_95_percent_of_seeds() {
    let seeds = repeats(1_000_u64);
    let mut off: Vec<f64> = (1..=seeds)
        .map(|seed| {
            let (lab, client) = run(seed, bad_link(), ms(5_500));
            errors(&lab, client, ms(3_000)).first().expect("three seconds have passed").abs()
        })
        .collect();
    off.sort_by(f64::total_cmp);
    let within = off.iter().filter(|off| **off < 4.0).count();
    println!(
        "after 3 s within 4 ms in {within} of {seeds} seeds; median {:.2} ms, 95 % {:.2} ms, worst {:.2} ms",
        off[off.len() / 2],
        off[off.len() * 19 / 20],
        off[off.len() - 1]
    );
    assert!(within >= off.len() * 19 / 20);
}

#[test]
fn lead_does_not_oscillate_for_round_trips_of_1_to_300_ms() {
    for round_trip in [1, 2, 5, 10, 20, 50, 100, 150, 200, 250, 300] {
        let link = LinkConfig::new(Duration::from_micros(500 * round_trip));
        let (lab, client) = run(round_trip, link, ms(12_000));
        let node = lab.client_at(client);
        let start = node.clock[0].0;
        let leads: Vec<f64> = node
            .clock
            .iter()
            .filter(|(at, ..)| *at > start + ms(3_000))
            .map(|(at, _, simulated)| {
                (simulated - lab.server_time_at(client, *at)) * FRAME.as_secs_f64() * 1e3
            })
            .collect();
        let (least, most) =
            leads.iter().fold((f64::MAX, f64::MIN), |(a, b), lead| (a.min(*lead), b.max(*lead)));
        let wanted = round_trip as f64 / 2.0 + 50.0;
        println!("round trip {round_trip} ms: a lead of {least:.2} to {most:.2} ms, {wanted} wanted");
        assert!(most - least < 0.5, "it swings by {} ms", most - least);
        assert!((most - wanted).abs() < 1.0, "{most} ms");
    }
}

#[test]
fn growing_latency_is_followed() {
    let (mut lab, client) = run(3, LinkConfig::new(ms(20)), ms(6_000));
    lab.world.network_mut().set_links(0, client, LinkConfig::new(ms(120)));
    lab.run_until(ms(12_000));
    let id = lab.client_at(client).client.id().unwrap();
    let before = lab.server().server.input_stats(id).unwrap();
    lab.run_until(ms(20_000));
    let after = lab.server().server.input_stats(id).unwrap();
    assert_eq!(after.held + after.neutral, before.held + before.neutral, "inputs come in time again");
}

#[test]
fn server_that_was_stopped_for_a_second_is_followed_again() {
    let (mut lab, client) = run(3, LinkConfig::new(ms(20)), ms(5_000));
    lab.world.pause(0, ms(5_000), ms(1_000));
    lab.run_until(ms(9_000));
    let node = lab.client_at(client);
    assert_eq!(node.client.over(), None);
    let id = node.client.id().unwrap();
    let before = lab.server().server.input_stats(id).unwrap();
    lab.run_until(ms(12_000));
    let after = lab.server().server.input_stats(id).unwrap();
    assert_eq!(after.held + after.neutral, before.held + before.neutral);
    assert!(after.applied - before.applied > 170, "{after:?}");
}
