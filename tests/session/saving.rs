//! The saving policy and the look-ahead of a machine: the peer does not notice them, and the game sees the same match.

use crate::round::{ENDLESS, Round, round};
use core::time::Duration;
use proptest::prelude::*;
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::{Play, Setup, SimMatch};
use rebout::{CueEvent, Event, Saving, Verdict};
use std::cell::RefCell;
use std::rc::Rc;

/// A round of 400 frames with a cue in each.
const PLAY: Play<Round> = Play { build: |seed| Round { chimes: true, ..round(seed, 400) }, ..ENDLESS };

/// A match in all but its policies.
#[derive(Debug, Clone)]
struct Match {
    seed: u64,
    latency_ms: u64,
    jitter_ms: u64,
    loss: u32,
    windows: [u8; 2],
    delays: [u8; 2],
    cadence: u16,
}

fn matches() -> impl Strategy<Value = Match> {
    let window = || prop::sample::select(vec![0_u8, 1, 2, 5, 8, 12]);
    (
        1_u64..,
        0_u64..130,
        0_u64..40,
        prop::sample::select(vec![0, 0, 5, 20]),
        [window(), window()],
        [0_u8..3, 0..3],
        prop::sample::select(vec![2_u16, 7, 30]),
    )
        .prop_map(|(seed, latency_ms, jitter_ms, loss, windows, delays, cadence)| Match {
            seed,
            latency_ms,
            jitter_ms,
            loss,
            windows,
            delays,
            cadence,
        })
}

/// Everything that shows of a match: the datagrams, and the events, cues and states of both machines.
#[derive(Debug, PartialEq)]
struct Shown {
    datagrams: (u64, u64),
    events: [Vec<(Duration, Event)>; 2],
    cues: [Vec<CueEvent>; 2],
    states: [u32; 2],
    stats: [String; 2],
    compared: u64,
}

impl Match {
    fn play(&self, policies: [Saving; 2], ahead: [u8; 2]) -> (Shown, u64) {
        let link = LinkConfig {
            jitter: Duration::from_millis(self.jitter_ms),
            loss: Chance::percent(self.loss),
            ..LinkConfig::new(Duration::from_millis(self.latency_ms))
        };
        let mut setup = Setup::new(self.seed, link);
        for (id, config) in setup.configs.iter_mut().enumerate() {
            config.rollback.saving = policies[id];
            config.rollback.look_ahead_frames = ahead[id];
            config.rollback.window_frames = self.windows[id];
            config.rollback.delay_frames = Some(self.delays[id]);
            config.cadence_frames = self.cadence;
        }
        let mut sim = SimMatch::new(setup, PLAY);
        let cues = [0, 1].map(|id| {
            let told: Rc<RefCell<Vec<CueEvent>>> = Rc::default();
            let told_here = Rc::clone(&told);
            sim.machine_mut(id).watch = Some(Box::new(move |_, _, session, _| {
                told_here.borrow_mut().extend_from_slice(session.cues());
            }));
            told
        });
        sim.run_for(Duration::from_secs(8));
        assert_eq!(sim.divergence(), None, "{self:?}");
        let stats = [0, 1].map(|id| sim.machine(id).stats());
        let replayed = stats.iter().map(|stats| stats.rollback.replayed_frames).sum();
        let transcript = sim.world.network().transcript();
        let shown = Shown {
            datagrams: (transcript.digest(), transcript.count()),
            events: [0, 1].map(|id| sim.machine(id).events.clone()),
            cues: cues.map(|cues| cues.borrow().clone()),
            states: [0, 1].map(|id| sim.machine(id).game().map_or(0, rebout::checksum)),
            compared: stats[0].checksums_compared,
            stats: stats.map(|mut stats| {
                stats.rollback.replayed_frames = 0;
                format!("{stats:?}")
            }),
        };
        (shown, replayed)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn match_is_the_same_datagram_by_datagram_under_every_policy(
        played in matches(),
        policies in prop::sample::select(vec![
            [Saving::Sparse, Saving::Every], [Saving::Every, Saving::Sparse], [Saving::Sparse, Saving::Sparse],
        ]),
    ) {
        let (every, replayed) = played.play([Saving::Every; 2], [0; 2]);
        prop_assert_eq!(replayed, 0);
        let (other, _) = played.play(policies, [0; 2]);
        prop_assert_eq!(every, other);
    }

    #[test]
    fn match_is_the_same_datagram_by_datagram_with_a_look_ahead(
        played in matches(),
        saving in prop::sample::select(vec![Saving::Every, Saving::Sparse]),
        ahead in prop::sample::select(vec![[1_u8, 0], [0, 3], [8, 8]]),
    ) {
        let (plain, _) = played.play([saving; 2], [0; 2]);
        let (other, _) = played.play([saving; 2], ahead);
        prop_assert_eq!(plain, other);
    }
}

#[test]
fn sparse_match_restores_before_a_misprediction() {
    let played = Match {
        seed: 3,
        latency_ms: 70,
        jitter_ms: 10,
        loss: 5,
        windows: [8, 8],
        delays: [0, 0],
        cadence: 30,
    };
    let (sparse, replayed) = played.play([Saving::Sparse; 2], [0; 2]);
    assert!(replayed > 50, "{replayed}");
    assert!(sparse.compared >= 12, "{sparse:?}");
    assert!(sparse.cues.iter().all(|cues| cues.len() > 100), "{sparse:?}");
    for events in &sparse.events {
        let agreed = |(_, event): &(Duration, Event)| matches!(event, Event::Ended(Verdict::Agreed { .. }));
        assert!(events.iter().any(agreed), "{events:?}");
    }
}
