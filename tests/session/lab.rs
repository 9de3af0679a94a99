//! The lab itself: a fork goes on like its original, the oracle finds faults, chosen datagrams are lost.

use crate::pair::{LATE, config, ms, pair, pair_until, plays, stranger};
use core::time::Duration;
use games::faulty::{Fault, Faulty};
use rebout::lab::forge::{Change, Knows, label};
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::{Flaw, HOST, JOINER, Play, Setup, SimMatch, every_fourth};
use std::panic::{AssertUnwindSafe, catch_unwind};

#[test]
fn fork_goes_on_as_the_original_does() {
    let mut pair = pair();
    plays(&mut pair, 60);
    let lossy = LinkConfig { loss: Chance::percent(20), jitter: ms(30), ..LinkConfig::new(ms(40)) };
    pair.world.network_mut().set_links(HOST, JOINER, lossy);
    let mut fork = pair.fork();
    let runs = [&mut pair, &mut fork].map(|pair| {
        pair.run_for(Duration::from_secs(3));
        let stats = [HOST, JOINER].map(|id| format!("{:?}", pair.machine(id).stats()));
        (pair.world.network().transcript().digest(), pair.checked(), stats)
    });
    assert_eq!(runs[0], runs[1]);
    pair.run_for(ms(1_000));
    assert_eq!(fork.checked(), runs[1].1, "a fork has machines of its own");
}

/// Player one's step differs into frame 100.
fn faulty(seed: u64) -> SimMatch<Faulty> {
    let play = Play { build: |seed| Faulty::new(seed).expect("a seed"), script: every_fourth };
    let mut sim = SimMatch::new(Setup::new(seed, LinkConfig::new(ms(50))), play);
    sim.machine_mut(HOST).tamper = Some(|game, _| game.fault = Fault::Step { into: 100 });
    sim
}

#[test]
fn oracle_notes_the_first_divergence() {
    let mut sim = faulty(1);
    sim.run_for(Duration::from_secs(5));
    let divergence = sim.divergence().expect("the states differ");
    assert_eq!(
        (divergence.frame.0, divergence.inputs_differ),
        (99, false),
        "state 100 is that after frame 99"
    );
    assert_eq!(sim.flaw(true), Some(Flaw::Diverged(divergence)));
}

#[test]
fn strict_match_panics_at_a_divergence() {
    let mut sim = faulty(1);
    sim.set_strict(true);
    let run = catch_unwind(AssertUnwindSafe(|| sim.run_for(Duration::from_secs(5))));
    let text = *run.expect_err("a panic").downcast::<String>().expect("with a text");
    assert!(text.contains("the state of frame 99 differ at the machine of player one"), "{text}");
}

#[test]
fn chosen_losses_stay_in_the_transcript() {
    let mut pair = pair();
    pair.lose(HOST, "OFFER", 2);
    plays(&mut pair, 10);
    let arrived = pair.world.network().transcript().entries().iter().filter(|entry| {
        entry.kind == rebout::lab::sim::EntryKind::Delivered && label(&entry.datagram) == "OFFER"
    });
    assert_eq!((pair.said_by(HOST, "OFFER").len(), arrived.count()), (3, 1));
    assert_eq!(pair.world.network().stats().chosen, 2);
}

#[test]
fn sleeping_machine_neither_receives_nor_sends() {
    let mut pair = pair();
    pair.machine_mut(JOINER).asleep = true;
    pair.run_for(Duration::from_secs(2));
    assert_eq!(pair.said().filter(|said| said.by == JOINER).count(), 0);
    pair.machine_mut(JOINER).asleep = false;
    plays(&mut pair, 30);
}

#[test]
fn strangers_and_their_answers_are_counted() {
    let mut pair = pair_until::<60>([config(HOST), config(JOINER)]);
    pair.inject(HOST, stranger(), b"hello there");
    assert_eq!((pair.from_strangers(), pair.to_strangers()), (11, 0));
    assert!(pair.step_until(LATE, crate::pair::both_ended));
}

#[test]
fn every_change_applies_to_every_datagram() {
    let pair = pair();
    let knows = Knows::of(&pair, HOST);
    let others = [vec![], b"RBN1".to_vec()];
    let changes = [
        Change::Nothing,
        Change::Flip(vec![(u16::MAX, 255), (0, 0)]),
        Change::Cut(u16::MAX),
        Change::Grow(3, 7),
        Change::Splice(u16::MAX, u16::MAX),
        Change::RightNumbers,
        Change::RightFrames(-128, 127),
        Change::Set(u16::MAX, u32::MAX),
    ];
    for len in 0..40 {
        for start in [&b"RBN1"[..], b"GAME", b"?"] {
            for change in &changes {
                let mut datagram = start.repeat(10);
                datagram.truncate(len);
                change.apply(&mut datagram, &others, &knows);
            }
        }
    }
}
