//! Predicted positions are what the server later says, and inputs come in time.

use crate::lab::{Lab, SERVER, bad_link, ms};
use rebout::authority::{Body, GameWire, InputStats, ServerConfig};
use rebout::lab::link::LinkConfig;
use std::time::Duration;
use support::repeats;

/// How many predicted steps were compared with the server's history, and how many were exactly that.
fn exact(lab: &Lab, client: usize, from: Duration) -> (usize, usize) {
    let node = lab.client_at(client);
    let id = node.client.id().expect("a seat");
    let first = lab.server().time_at(lab.world.clock(SERVER).local(from)) as u32;
    let compared: Vec<(Body, Body)> = node
        .predicted
        .iter()
        .filter(|(frame, _)| frame.0 >= first)
        .filter_map(|(frame, body)| lab.server().body(*frame, id).map(|truth| (*body, truth)))
        .collect();
    let same = |body: &Body, truth: &Body| body == truth;
    (compared.len(), compared.iter().filter(|(body, truth)| same(body, truth)).count())
}

fn since(now: InputStats, before: InputStats) -> (u64, u64) {
    let late = now.held + now.neutral - before.held - before.neutral;
    (now.applied - before.applied + late, late)
}

/// Late inputs and exact predictions of `seeds` matches of a minute.
fn measure(seeds: u64, link: LinkConfig, bursts: Option<Duration>) -> ([u64; 2], [usize; 2]) {
    let (mut inputs, mut frames) = ([0, 0], [0, 0]);
    for seed in 1..=seeds {
        let mut lab = Lab::new(seed, link);
        let client = lab.client(ms(200));
        if let Some(every) = bursts {
            let mut at = ms(2_000);
            while at < ms(64_000) {
                at += every / 2 + lab.world.draw(every);
                lab.world.network_mut().cut(client, SERVER, at, at + ms(50));
            }
        }
        lab.run_until(ms(4_000));
        let id = lab.client_at(client).client.id().expect("a seat");
        let before = lab.server().server.input_stats(id).unwrap();
        lab.run_until(ms(64_000));
        let (count, late) = since(lab.server().server.input_stats(id).unwrap(), before);
        let (compared, same) = exact(&lab, client, ms(4_000));
        inputs = [inputs[0] + count, inputs[1] + late];
        frames = [frames[0] + compared, frames[1] + same];
    }
    (inputs, frames)
}

fn percent(part: impl TryInto<u32>, whole: impl TryInto<u32>) -> f64 {
    let number = |value: Result<u32, _>| f64::from(value.unwrap_or(u32::MAX));
    100.0 * number(part.try_into().map_err(|_| ())) / number(whole.try_into().map_err(|_| ()))
}

#[test]
fn on_a_clean_link_every_prediction_is_exact() {
    let ([inputs, late], [frames, same]) = measure(3, LinkConfig::new(ms(40)), None);
    assert_eq!(late, 0, "of {inputs}");
    assert!(frames > 3 * 3_500 && same == frames, "{same} of {frames}");
}

#[test]
fn predictions_are_exact_at_100_ms_and_5_percent_loss() {
    let ([inputs, late], [frames, same]) = measure(repeats(20), bad_link(), None);
    let (late_part, same_part) = (percent(late, inputs), percent(same, frames));
    println!("too late: {late} of {inputs} inputs, {late_part:.4} %");
    println!("exact: {same} of {frames} frames, {same_part:.3} %");
    assert!(late_part < 0.1, "{late_part} % too late");
    assert!(same_part > 99.0, "{same_part} % exact");
}

#[test]
fn with_bursts_of_50_ms_under_half_a_percent_is_late() {
    for every in [4_000, 2_000, 1_000] {
        let ([inputs, late], [frames, same]) = measure(repeats(10), bad_link(), Some(ms(every)));
        let late_part = percent(late, inputs);
        println!(
            "a burst every {every} ms: too late {late} of {inputs}, {late_part:.3} %; exact {:.2} %",
            percent(same, frames)
        );
        assert!(every < 2_000 || late_part < 0.5, "{late_part} % too late");
    }
}

#[test]
fn prediction_is_exact_at_20_frames_and_20_snapshots() {
    let mut config = ServerConfig::new(7);
    (config.frame_rate, config.broadcast_rate) = (20, 20);
    let mut lab = Lab::with_server(GameWire, 7, bad_link(), config);
    let client = lab.client(ms(200));
    lab.run_until(ms(30_000));
    let node = lab.client_at(client);
    assert_eq!(node.client.frame_rate(), 20, "the server has said so");
    let (id, before) = (node.client.id().unwrap(), node.predicted.len() / 10);
    let wrong = node.predicted[before..]
        .iter()
        .filter(|(frame, body)| lab.server().body(*frame, id).is_some_and(|truth| truth != *body))
        .count();
    assert!(node.predicted.len() > 500 && wrong * 100 < node.predicted.len(), "{wrong} wrong");
}
