//! `OnDesync::Mend`: a live state that went wrong is replaced once; everything else ends as under `Stop`.

use crate::liar::{ENDLESS, machine, start, words, world_of};
use core::num::NonZero;
use core::time::Duration;
use games::faulty::{Fault, Faulty, LINK, PLAY, autopsies, play_out, sim_match, step_differs};
use games::playground::Playground;
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::{Setup, SimMatch, SimPeer};
use rebout::replay::{End, Header, Recording, StreamRecorder, Winner};
use rebout::{
    AutopsyVerdict, Config, CueChange, Event, Frame, OnDesync, Player, Reason, Saving, Session, Verdict,
    checksum,
};
use std::cell::RefCell;
use std::rc::Rc;
use support::repeats;

type Tamper = fn(&mut Faulty, Player);

/// A bit flips on the machine of one player, once or twice.
fn flipped<const SECOND: bool, const AGAIN: u32>(game: &mut Faulty, player: Player) {
    if player.index() == usize::from(SECOND) {
        game.fault = Fault::Flipped { frames: [101, AGAIN] };
    }
}

const ONCE: [Tamper; 2] = [flipped::<false, 101>, flipped::<true, 101>];
const TWICE: [Tamper; 2] = [flipped::<false, 300>, flipped::<true, 300>];

fn mends(config: &mut Config) {
    config.on_desync = OnDesync::Mend;
}

fn mended<G: rebout::Game>(peer: &SimPeer<G>) -> Vec<(Frame, Frame)> {
    let told = peer.events.iter().filter_map(|(_, event)| match event {
        Event::Mended { from, to } => Some((*from, *to)),
        _ => None,
    });
    told.collect()
}

fn reason(peer: &SimPeer<Faulty>) -> Option<Reason> {
    match peer.events.last() {
        Some((_, Event::Disconnected { reason })) => Some(*reason),
        _ => None,
    }
}

fn desyncs(peer: &SimPeer<Faulty>) -> usize {
    peer.events.iter().filter(|(_, event)| matches!(event, Event::Desync(_))).count()
}

/// The match was mended once, and ended with the checksum of the direct simulation.
fn assert_mended(sim: &SimMatch<Faulty>, faulty: usize, what: &str) {
    let direct = checksum(&sim.direct().expect("a direct simulation").inner);
    for id in 0..2 {
        let events = &sim.machine(id).events;
        let Some((_, Event::Ended(Verdict::Agreed { frame, checksum, .. }))) = events.last() else {
            panic!("{what}, machine {id}: {events:?}")
        };
        assert_eq!((*frame, *checksum), (Frame(430), direct), "{what}, machine {id}");
        assert!(desyncs(sim.machine(id)) <= 1, "{what}, machine {id}: {events:?}");
    }
    let [(from, to)] = mended(sim.machine(faulty))[..] else {
        panic!("{what}: {:?}", sim.machine(faulty).events)
    };
    assert!(from < Frame(101) && to > Frame(101), "{what}: {from} to {to}");
    assert!(mended(sim.machine(1 - faulty)).len() <= 1, "{what}");
    let told: Vec<_> = (0..2).flat_map(|id| autopsies(sim, id)).collect();
    let expected = AutopsyVerdict::NotReproducible { one: faulty == 0, two: faulty == 1 };
    assert!(!told.is_empty() && told.iter().all(|autopsy| autopsy.verdict == expected), "{what}: {told:?}");
}

/// Both machines, bare and sealed, without and with loss, under every policy of saving, with barriers, pads and in lockstep.
#[test]
fn state_that_flips_once_is_mended() {
    let mut played = 0;
    for seed in 0..repeats(160) {
        let draw = |of: u64, among: u64| seed / of % among;
        let (faulty, loss) = (draw(1, 2) as usize, [0, 5, 20][draw(2, 3) as usize]);
        let link = LinkConfig { loss: Chance::percent(loss), jitter: Duration::from_millis(10), ..LINK };
        let (is_sealed, is_sparse, pads) = (draw(3, 2) == 1, draw(5, 2) == 1, 1 + draw(7, 2) as u8 * 3);
        let setup = Setup::new(seed, link).configure(|config| {
            mends(config);
            config.rollback.saving = if is_sparse { Saving::Sparse } else { Saving::Every };
            config.rollback.window_frames = [8, 8, 3, 0][draw(4, 4) as usize];
            config.game.pads = pads;
            config.cadence_frames = [30, 10, 20, 60][draw(8, 4) as usize];
        });
        let mut play = PLAY;
        if draw(6, 3) == 1 {
            play.build = |seed| Faulty { barrier_every: NonZero::new(35), ..(PLAY.build)(seed) };
        }
        let mut sim = SimMatch::new(setup, play);
        if is_sealed {
            sim.seal(seed);
        }
        sim.machine_mut(faulty).tamper = Some(ONCE[faulty]);
        play_out(&mut sim);
        let what = format!("seed {seed}, loss {loss}, sealed {is_sealed}, sparse {is_sparse}, pads {pads}");
        assert_mended(&sim, faulty, &what);
        played += 1;
    }
    assert!(played >= 40);
}

#[test]
fn no_cue_of_a_certain_frame_is_told_again() {
    for (faulty, tamper) in ONCE.into_iter().enumerate() {
        let mut sim = sim_match(5, tamper, LINK, mends);
        let told = Rc::new(RefCell::new(Vec::new()));
        let kept = Rc::clone(&told);
        sim.machine_mut(faulty).watch = Some(Box::new(move |_, _, session: &Session<Playground>, _| {
            kept.borrow_mut().extend_from_slice(session.cues());
        }));
        play_out(&mut sim);
        assert_mended(&sim, faulty, "cues");
        let mut started = std::collections::BTreeMap::new();
        for event in told.borrow().iter() {
            let count: &mut i32 = started.entry((event.frame, event.cue.0)).or_default();
            match event.change {
                CueChange::Start { .. } => *count += 1,
                CueChange::Cancel => *count -= 1,
                CueChange::Confirm => assert_eq!(*count, 1, "{event:?}"),
            }
        }
        assert!(!started.is_empty() && started.values().all(|count| *count <= 1), "{started:?}");
    }
}

#[test]
fn second_divergence_ends_the_match() {
    for loss in [0, 20] {
        let link = LinkConfig { loss: Chance::percent(loss), ..LINK };
        for (faulty, tamper) in TWICE.into_iter().enumerate() {
            let mut sim = sim_match(11, tamper, link, mends);
            play_out(&mut sim);
            for id in 0..2 {
                let events = &sim.machine(id).events;
                assert_eq!(reason(sim.machine(id)), Some(Reason::Desync), "loss {loss}: {events:?}");
                assert_eq!(desyncs(sim.machine(id)), 2, "loss {loss}: {events:?}");
            }
            assert_eq!(mended(sim.machine(faulty)).len(), 1);
        }
    }
}

#[test]
fn step_that_differs_ends_the_match_as_under_stop() {
    for loss in [0, 20] {
        let link = LinkConfig { loss: Chance::percent(loss), ..LINK };
        let mut sim = sim_match(3, step_differs, link, mends);
        play_out(&mut sim);
        for id in 0..2 {
            let events = &sim.machine(id).events;
            assert_eq!(reason(sim.machine(id)), Some(Reason::Desync), "{events:?}");
            assert_eq!(mended(sim.machine(id)), [], "{events:?}");
        }
    }
}

#[test]
fn one_machine_alone_does_not_mend() {
    for alone in 0..2 {
        for other in [OnDesync::Stop, OnDesync::Report] {
            let mut setup = Setup::new(3, LINK);
            setup.configs[alone].on_desync = OnDesync::Mend;
            setup.configs[1 - alone].on_desync = other;
            let mut sim = SimMatch::new(setup, PLAY);
            sim.machine_mut(1).tamper = Some(ONCE[1]);
            play_out(&mut sim);
            let events = &sim.machine(alone).events;
            assert_eq!(mended(sim.machine(alone)), [], "{events:?}");
            let expected = Reason::VoidChecksums { of: Player::Two };
            assert_eq!(reason(sim.machine(alone)), Some(expected), "{other:?}: {events:?}");
        }
    }
}

/// The replay of the machine whose live state was wrong for a while.
#[test]
fn replay_of_a_mended_match_verifies() {
    for (faulty, tamper) in ONCE.into_iter().enumerate() {
        let mut sim = sim_match(5, tamper, LINK, mends);
        let header = Header::new(1);
        let recorder = Rc::new(RefCell::new(StreamRecorder::new(&header, Vec::new()).unwrap()));
        let kept = Rc::clone(&recorder);
        sim.machine_mut(faulty).watch = Some(Box::new(move |_, _, session: &Session<Playground>, _| {
            kept.borrow_mut().record_session(session).unwrap();
        }));
        play_out(&mut sim);
        assert_mended(&sim, faulty, "replay");
        sim.machine_mut(faulty).watch = None;
        let mut recorder = Rc::into_inner(recorder).unwrap().into_inner();
        sim.told(faulty).for_each(|event| recorder.hear(Player::One, event));
        let end = End { outcome: recorder.outcome().unwrap(), winner: Winner::Undecided };
        let recording = Recording::open(recorder.finish(end).unwrap()).unwrap();
        let seed = sim.machine(faulty).agreed().unwrap().seed;
        let compared = recording.verify(&mut (PLAY.build)(seed)).expect("void checksums are left out");
        assert!(compared >= 5, "{compared}");
    }
}

/// A peer that forges a checksum makes us step again once, and not a second time.
#[test]
fn forged_checksum_costs_one_bounded_mending() {
    for (forges, times, ends) in [
        // A difference that passes is not mended.
        (vec![120], 0, false),
        (vec![120, 150, 180], 1, false),
        (vec![120, 150, 180, 540], 1, true),
        ((4..60).map(|n| n * 30).collect(), 1, true),
    ] {
        for confirms_lies in [false, true] {
            let setup = Setup::new(3, LINK).configure(mends);
            let mut world = world_of(setup, ENDLESS, None, Duration::MAX, Vec::new());
            (world.machine_mut(1).forges, world.machine_mut(1).confirms_lies) =
                (forges.clone(), confirms_lies);
            world.run_until(Duration::from_secs(16));
            let victim = machine(&world, 0);
            let what = format!("{forges:?}, {confirms_lies}: {:?}", victim.events);
            assert_eq!(mended(victim).len(), times, "{what}");
            let is_near = |(from, to)| (Frame(90)..Frame(120)).contains(&from) && to < Frame(240);
            assert!(mended(victim).into_iter().all(is_near), "{what}");
            assert_eq!(victim.ended(), ends, "{what}");
            if ends {
                assert!(
                    matches!(reason(victim), Some(Reason::Desync | Reason::VoidChecksums { .. })),
                    "{what}"
                );
            } else {
                assert!(victim.session().unwrap().current() > Frame(800), "{what}");
            }
        }
    }
}

/// A peer claims that it has mended, without a desync, far ahead, or again and again.
#[test]
fn mended_alone_changes_no_state() {
    let mended_note = |frame: u32| words(&[7], &[frame]);
    for (what, lies) in [
        ("once", vec![mended_note(100)]),
        ("far ahead", vec![mended_note(u32::MAX), mended_note(1 << 30)]),
        ("again and again", (0..200).map(mended_note).collect()),
        ("after a start", vec![start(120, 90), mended_note(100)]),
        ("cut off", vec![vec![7], vec![7, 0, 0], words(&[7], &[1, 2])]),
    ] {
        let setup = Setup::new(9, LINK).configure(mends);
        let mut world = world_of(setup, ENDLESS, None, Duration::from_secs(3), lies);
        world.run_until(Duration::from_secs(30));
        let victim = machine(&world, 0);
        let is_message = |event: &Event| matches!(event, Event::Message(_));
        assert!(victim.events.iter().all(|(_, event)| is_message(event)), "{what}: {:?}", victim.events);
        assert!(victim.session().unwrap().current() > Frame(1_750), "{what}: the match goes on");
    }
}

/// A peer whose checksums are wrong and that never says that it has mended.
#[test]
fn peer_that_does_not_mend_ends_the_match() {
    let setup = Setup::new(3, LINK).configure(mends);
    let mut world = world_of(setup, ENDLESS, None, Duration::MAX, Vec::new());
    (world.machine_mut(1).forges, world.machine_mut(1).hides_mended) = (vec![120, 150, 180], true);
    world.run_until(Duration::from_secs(40));
    let victim = machine(&world, 0);
    assert_eq!(mended(victim).len(), 1, "{:?}", victim.events);
    assert_eq!(reason(victim), Some(Reason::NotesWithheld), "{:?}", victim.events);
}
