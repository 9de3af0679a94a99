//! The end of a match: repeated last inputs, cancelled cues, and silence.

use crate::pair::{LATE, Pair, addr, both_ended, config, events, ms, pair_until, plays, set_latency};
use crate::round::{ENDLESS, Round, round};
use core::time::Duration;
use rebout::lab::forge::label;
use rebout::lab::link::LinkConfig;
use rebout::lab::sim::EntryKind;
use rebout::lab::{HOST, JOINER, Play, Setup, SimMatch};
use rebout::{Advanced, Buttons, CueChange, CueId, Event, Protocol, Verdict};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

#[test]
fn match_lingers_until_its_last_inputs_have_arrived() {
    let mut pair = pair_until::<120>([config(HOST), config(JOINER)]);
    set_latency(&mut pair, ms(30));
    plays(&mut pair, 100);
    let current = |pair: &Pair| pair.machine(HOST).session().expect("a match").current().0;
    assert!(pair.step_until(LATE, |pair| current(pair) >= 118));
    // The last inputs of the host are lost, again and again. Its VERDICT arrives and is acknowledged.
    pair.lose(HOST, "RBN1", u32::MAX);
    pair.run_for(ms(700));
    assert!(!pair.said_by(HOST, "VERDICT").is_empty(), "the match has ended at the host");
    for _ in 0..300 {
        pair.run_for(ms(1));
        assert!(
            pair.session_mut(HOST).lingers(),
            "a program that leaves now leaves the joiner without an end"
        );
    }
    assert!(!both_ended(&pair));
    pair.world.network_mut().lose_nothing();
    assert!(pair.step_until(LATE, both_ended));
    pair.run_for(ms(500));
    for id in [HOST, JOINER] {
        let told = events(&pair, id);
        assert!(matches!(told.last(), Some(Event::Ended(Verdict::Agreed { .. }))), "{told:?}");
        assert!(!pair.session_mut(id).lingers(), "all has arrived");
    }
}

/// Without a request of its own the packet would go out a frame later.
#[test]
fn last_input_is_sent_with_the_verdict() {
    let mut pair = pair_until::<120>([config(HOST), config(JOINER)]);
    assert!(pair.step_until(LATE, both_ended));
    for id in [HOST, JOINER] {
        let sent = pair.world.network().transcript().entries().iter();
        let sent = sent.filter(|entry| entry.kind == EntryKind::Sent && entry.from == addr(id));
        let labels: Vec<_> = sent.map(|entry| (entry.at, label(&entry.datagram))).collect();
        let (ended, _) = labels.iter().find(|(_, label)| *label == "VERDICT").expect("a verdict");
        assert!(labels.contains(&(*ended, "RBN1".to_owned())), "{id}: {:?}", &labels[labels.len() - 20..]);
    }
}

#[test]
fn finished_match_repeats_last_inputs_then_falls_silent() {
    let mut pair = pair_until::<120>([config(HOST), config(JOINER)]);
    plays(&mut pair, 100);
    assert!(pair.step_until(LATE, |pair| pair.machine(HOST).session().expect("a match").current().0 >= 118));
    pair.lose(HOST, "RBN1", u32::MAX);
    let verdict_said = |pair: &Pair| !pair.said_by(HOST, "VERDICT").is_empty();
    assert!(pair.step_until(LATE, verdict_said), "the host ends");
    // The joiner has not got the last inputs, and the host leaves before the joiner's verdict.
    pair.session_mut(HOST).leave();
    let inputs = |pair: &Pair| pair.said_by(HOST, "RBN1").len();
    let before = inputs(&pair);
    pair.run_for(Duration::from_secs(1));
    let (first, said) = (inputs(&pair) - before, pair.said().filter(|said| said.by == HOST).count());
    assert!(first > 50, "{first} repetitions in a second");
    pair.run_for(Duration::from_secs(9));
    let all = inputs(&pair) - before;
    assert!((115..=121).contains(&all), "{all} repetitions");
    let said_then = pair.said().filter(|said| said.by == HOST).count();
    pair.run_for(Duration::from_secs(30));
    assert_eq!(pair.said().filter(|said| said.by == HOST).count(), said_then, "{said} after a second");
}

#[test]
fn cues_of_frames_that_never_become_certain_are_cancelled_once() {
    let play = Play { build: |seed| Round { chimes: true, ..round(seed, u32::MAX) }, ..ENDLESS };
    let mut sim = SimMatch::new(Setup::new(1, LinkConfig::new(ms(60))), play);
    // Every cue that has begun, and has neither been confirmed nor cancelled.
    let open: Rc<RefCell<BTreeSet<CueId>>> = Rc::default();
    let writer = Rc::clone(&open);
    sim.machine_mut(HOST).watch = Some(Box::new(move |_, _, session, _| {
        for event in session.cues() {
            let in_order = match event.change {
                CueChange::Start { .. } => writer.borrow_mut().insert(event.id),
                CueChange::Cancel | CueChange::Confirm => writer.borrow_mut().remove(&event.id),
            };
            assert!(in_order, "{event:?}");
        }
    }));
    assert!(sim.run_until_frame(120), "the match never began");
    let (now, mut game) = (sim.local_now(HOST), *sim.machine(HOST).game().expect("a match"));
    let session = sim.session_mut(HOST);
    let predicted = session.stats().predicted_frames as usize;
    assert!(predicted > 2, "nothing is predicted: this test shows nothing");
    session.leave();
    assert_eq!(session.advance(now, &mut game, Buttons::NONE), Advanced::Ended);
    let cancelled: BTreeSet<CueId> = session.cues().iter().map(|event| event.id).collect();
    assert!(session.cues().iter().all(|event| event.change == CueChange::Cancel), "{:?}", session.cues());
    assert_eq!((&cancelled, cancelled.len()), (&*open.borrow(), predicted), "all that were open");
    assert_eq!(session.advance(now, &mut game, Buttons::NONE), Advanced::Ended);
    assert_eq!(session.cues(), [], "once");
}
