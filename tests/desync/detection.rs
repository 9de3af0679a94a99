//! The latency of desync detection: from the moment a machine reaches the first frame whose state differs, to its desync
//! event. On both machines, in frames of virtual time, over a thousand matches.

use core::time::Duration;
use games::faulty::PLAY;
use games::faulty::{Fault, Faulty};
use games::playground::Playground;
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::{Setup, SimMatch};
use rebout::{Event, Frame, Player, Rng, Session};
use std::cell::Cell;
use std::rc::Rc;
use support::repeats;

const RUNS: u64 = 1_000;
const FRAME: f64 = 1.0 / 60.0;

/// The first frame whose state differs, and on whose machine it is wrong: drawn from the seed of the match.
fn fault(seed: u32) -> (Frame, Player) {
    let mut rng = Rng::new(seed ^ 0x5151_5151).expect("not zero");
    (0..8).for_each(|_| {
        rng.next_u32();
    });
    (Frame(60 + rng.next_u32() % 240), Player::BOTH[(rng.next_u32() >> 16) as usize % 2])
}

fn tamper(game: &mut Faulty, player: Player) {
    let (frame, whose) = fault(game.inner.rng.state());
    if player == whose {
        game.fault = Fault::Step { into: frame.0 };
    }
}

/// A match: how many frames each machine needed to notice.
fn latencies(seed: u64, cadence: u16, link: LinkConfig) -> [f64; 2] {
    let setup = Setup::new(seed, link).configure(|config| config.cadence_frames = cadence);
    let mut play = PLAY;
    play.build = |seed| Faulty { last: u32::MAX, ..(PLAY.build)(seed) };
    let mut sim = SimMatch::new(setup, play);
    let reached = [0, 1].map(|id| {
        let reached = Rc::new(Cell::new(None));
        let kept = Rc::clone(&reached);
        let machine = sim.world.machine_mut(id);
        machine.tamper = Some(tamper);
        machine.watch = Some(Box::new(move |now, _, session: &Session<Playground>, _| {
            if kept.get().is_none() && session.current() >= fault(session.agreed().seed).0 {
                kept.set(Some(now));
            }
        }));
        reached
    });
    let told = |sim: &SimMatch<Faulty>, id: usize| -> Option<Duration> {
        sim.machine(id).events.iter().find(|(_, e)| matches!(e, Event::Desync(_))).map(|(at, _)| *at)
    };
    let done = |sim: &SimMatch<Faulty>| (0..2).all(|id| told(sim, id).is_some());
    assert!(sim.run_until(Duration::from_secs(30), done), "seed {seed}: never noticed");
    [0, 1].map(|id| {
        let from = reached[id].get().expect("it came to that frame before it told");
        told(&sim, id).expect("told").saturating_sub(from).as_secs_f64() / FRAME
    })
}

struct Figures {
    /// Every latency in frames, and by how much it is beyond cadence and this many round trips; sorted.
    latency: Vec<f64>,
    beyond: Vec<f64>,
}

/// A thousand matches on round trips from 0 to 200 ms.
fn measure(cadence: u16, loss: u32, round_trips: f64) -> Figures {
    let mut figures = Figures { latency: Vec::new(), beyond: Vec::new() };
    for seed in 1..=repeats(RUNS) {
        let latency = Duration::from_millis(seed * 37 % 101);
        let link = LinkConfig { loss: Chance::percent(loss), ..LinkConfig::new(latency) };
        let round_trip = 2.0 * latency.as_secs_f64() / FRAME;
        for frames in latencies(seed, cadence, link) {
            figures.latency.push(frames);
            figures.beyond.push(frames - f64::from(cadence) - round_trips * round_trip);
        }
    }
    figures.latency.sort_by(f64::total_cmp);
    figures.beyond.sort_by(f64::total_cmp);
    println!(
        "cadence {cadence}, loss {loss} %: noticed after p50 {:.1}, p99 {:.1}, at most {:.1} frames; \
         beyond cadence + {round_trips} round trips: p99 {:+.1}, at most {:+.1}",
        at(&figures.latency, 50),
        at(&figures.latency, 99),
        at(&figures.latency, 100),
        at(&figures.beyond, 99),
        at(&figures.beyond, 100),
    );
    figures
}

fn at(sorted: &[f64], percent: usize) -> f64 {
    sorted[(sorted.len() * percent).div_ceil(100).saturating_sub(1)]
}

#[test]
fn desync_is_noticed_within_a_cadence_and_a_round_trip() {
    for cadence in [30, 10, 1] {
        let figures = measure(cadence, 0, 1.0);
        assert!(at(&figures.beyond, 100) <= 2.0, "cadence {cadence}");
        assert!(at(&figures.latency, 0) >= 0.0, "not before it is there");
    }
}

#[test]
fn desync_is_noticed_within_three_cadences_at_20_percent_loss() {
    let figures = measure(30, 20, 2.0);
    assert!(at(&figures.beyond, 99) <= 2.0);
    assert!(at(&figures.latency, 100) <= 90.0);
}
