//! A peer that lies, vanishes or keeps silent can spoil the report of an autopsy, and nothing else.

use crate::liar::{Liar, start, told, victim, words, world};
use core::time::Duration;
use games::faulty::{Fault, Faulty};
use games::faulty::{LINK, PLAY, autopsies, play_out, sim_match, step_differs};
use proptest::prelude::*;
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::sim::World;
use rebout::lab::{Setup, SimMatch};
use rebout::{AutopsyVerdict, Event, Frame, OnDesync, Player, Reason, Refusal, Verdict};

/// Messages that look like those of an autopsy, with anything in them; and some that do not.
fn lie() -> impl Strategy<Value = Vec<u8>> {
    let frame = || prop_oneof![0..200_u32, any::<u32>(), Just(u32::MAX), Just(90), Just(120)];
    let text = || prop::collection::vec(any::<u8>(), 0..40);
    let leaf = (
        prop_oneof![Just(b"fighters[1].hp".to_vec()), Just(Vec::new()), text()],
        prop::collection::vec(any::<u32>(), 0..=4),
        text(),
    );
    let leaf = leaf.prop_map(|(path, values, shown)| {
        let mut bytes = vec![path.len() as u8];
        bytes.extend(&path);
        bytes.extend(words(&[values.len() as u8], &values));
        bytes.push(shown.len() as u8);
        bytes.extend(shown);
        bytes
    });
    prop_oneof![
        (frame(), frame()).prop_map(|(frame, matched)| start(frame, matched)),
        Just(start(120, 90)),
        (0..2_u8, 0..2_u8, frame(), prop::collection::vec(any::<u32>(), 0..=256))
            .prop_map(|(again, more, first, values)| words(&words(&[2, again, more], &[first]), &values)),
        (frame(), prop_oneof![0..30_u32, any::<u32>()])
            .prop_map(|(frame, leaves)| words(&[3], &[frame, leaves])),
        (0..5_u8, prop_oneof![0..256_u32, any::<u32>()], prop::collection::vec(any::<u32>(), 256))
            .prop_map(|(levels, prefix, sums)| words(&words(&[4, levels], &[prefix]), &sums)),
        (0..2_u8, prop::collection::vec(leaf, 0..10)).prop_map(|(more, leaves)| [
            &[5, more],
            &leaves.concat()[..]
        ]
        .concat()),
        (0..2_u8, prop::collection::vec((text(), any::<u32>(), any::<u32>()), 0..20)).prop_map(
            |(more, marks)| {
                let mark = |(name, checksum, leaves): (Vec<u8>, u32, u32)| {
                    words(&[&[name.len() as u8], &name[..]].concat(), &[checksum, leaves])
                };
                [vec![6, more], marks.into_iter().flat_map(mark).collect()].concat()
            }
        ),
        prop::collection::vec(any::<u8>(), 0..1_100),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn lying_peer_spoils_only_the_report(
        lies in prop::collection::vec(lie(), 0..40),
        begins_properly: bool,
        differs: bool,
        at in 100..4_000_u64,
    ) {
        let mut lies = lies;
        if begins_properly {
            lies.insert(0, start(120, 90));
        }
        let count = lies.len();
        let tamper: Option<fn(&mut Faulty, Player)> = if differs { Some(step_differs) } else { None };
        let mut world = world(tamper, Duration::from_millis(at), lies, |_| {});
        world.run_until(Duration::from_secs(20));
        prop_assert_eq!(world.machine(1).said, count, "everything was said");
        let victim = victim(&world);
        // The match goes on as if nothing had been said: 20 seconds less the time to find each other.
        prop_assert!(victim.session().unwrap().current() > Frame(1_150), "{}", victim.session().unwrap().current());
        let clean = victim.game().unwrap().fault == Fault::None;
        prop_assert!(clean && !victim.ended());
        let told = told(&world);
        prop_assert_eq!(told.len(), usize::from(differs), "it noticed by itself, or there is nothing to notice");
        for (_, autopsy) in &told {
            prop_assert!(autopsy.states.iter().all(|leaves| leaves.len() <= 256));
            prop_assert!(autopsy.inputs.len() <= 600);
            prop_assert!(autopsy.first_divergence <= victim.session().unwrap().settled());
            let shown = autopsy.to_string();
            prop_assert!(shown.chars().all(|c| c == '\n' || !c.is_control()));
        }
        // Traffic: beside the inputs, with their headers and pings, at most the evidence itself.
        let stats = victim.stats();
        prop_assert!(stats.bytes_out < stats.packets_out * 60 + 40_000, "{:?}", stats);
    }
}

#[test]
fn silent_peer_leaves_a_partial_autopsy_in_ten_seconds() {
    let mut world = world(Some(step_differs), Duration::MAX, Vec::new(), |_| {});
    world.run_until(Duration::from_secs(30));
    let events = &victim(&world).events;
    let desync = events.iter().find(|(_, event)| matches!(event, Event::Desync(_))).expect("noticed").0;
    let [(at, autopsy)] = &told(&world)[..] else { panic!("{events:?}") };
    let waited = *at - desync;
    // Its own resimulation follows, a few steps a frame.
    assert!(waited >= Duration::from_secs(10) && waited < Duration::from_millis(10_400), "{waited:?}");
    assert!(!autopsy.complete && !autopsy.exact);
    assert_eq!((autopsy.last_match, autopsy.first_divergence), (Some(Frame(90)), Frame(120)));
    assert_eq!(autopsy.verdict, AutopsyVerdict::Unknown);
    assert_eq!(autopsy.fields, [], "what the other side did not tell is not a difference");
    assert_eq!((autopsy.states[0].len(), autopsy.states[1].len()), (24, 0));
    assert_eq!(autopsy.inputs.len(), 30);
    assert_eq!(events.len(), 2, "told once, although the states went on to differ: {events:?}");
    assert!(victim(&world).session().unwrap().current() > Frame(1_700), "the match goes on");
}

#[test]
fn machine_that_blames_itself_needs_no_answer_for_that() {
    let outside: fn(&mut Faulty, Player) = |game, player| {
        if player == Player::One {
            game.fault = Fault::Outside { from: 100 };
        }
    };
    let mut world = world(Some(outside), Duration::MAX, Vec::new(), |_| {});
    world.run_until(Duration::from_secs(15));
    let [(_, autopsy)] = &told(&world)[..] else { panic!("{:?}", victim(&world).events) };
    assert_eq!(autopsy.verdict, AutopsyVerdict::NotReproducible { one: true, two: false }, "{autopsy}");
}

#[test]
fn future_start_and_notes_before_a_start_are_refused() {
    let lies = vec![
        start(u32::MAX, u32::MAX),
        start(u32::MAX - 1, 0),
        start(1_000_000, 999_000),
        words(&[3], &[120, 24]),
        vec![5, 0],
    ];
    let refused = lies.len() as u64;
    let mut world = world(None, Duration::from_secs(1), lies, |_| {});
    world.run_until(Duration::from_secs(14));
    assert_eq!(told(&world), []);
    let stats = victim(&world).stats();
    assert_eq!(stats.refused.of(Refusal::MalformedMessage), refused);
}

#[test]
fn surplus_notes_of_a_peer_are_ignored() {
    let lies = (0..400).map(|_| words(&[2, 0, 1], &[91])).collect();
    let mut world = world(Some(step_differs), Duration::from_secs(3), lies, |_| {});
    world.run_until(Duration::from_secs(40));
    assert_eq!(world.machine(1).said, 400);
    assert_eq!(told(&world).len(), 1);
    assert_eq!(victim(&world).stats().refused.of(Refusal::MalformedMessage), 400, "there was no start");
}

/// The peer claims an older match than any that is kept.
#[test]
fn own_fault_is_found_from_our_own_last_match() {
    let outside: fn(&mut Faulty, Player) = |game, player| {
        if player == Player::One {
            game.fault = Fault::Outside { from: 310 };
        }
    };
    let trace = |again| words(&[2, again, 0], &[2]);
    let lies = vec![start(330, 1), trace(0), trace(1), words(&[3], &[1, 24])];
    let mut world = world(Some(outside), Duration::from_secs(7), lies, |_| {});
    world.run_until(Duration::from_secs(9));
    let [(_, autopsy)] = &told(&world)[..] else { panic!("{:?}", victim(&world).events) };
    assert_eq!(autopsy.verdict, AutopsyVerdict::NotReproducible { one: true, two: false }, "{autopsy}");
}

/// The notes of the victim's peer that were refused.
fn refused(world: &World<Liar>) -> u64 {
    victim(world).stats().refused.of(Refusal::MalformedMessage)
}

#[test]
fn only_four_starts_without_a_difference_are_answered() {
    let mut world = world(None, Duration::from_secs(3), Vec::new(), |_| {});
    for said in 1..=6_u64 {
        world.machine_mut(1).lies.push(start(120, 90));
        // The victim gives the rest of the notes ten seconds.
        world.run_until(Duration::from_secs(3 + 11 * said));
        assert_eq!(refused(&world), said.saturating_sub(4), "after {said}");
    }
}

/// The most notes that are listened to in one autopsy.
const MAX_NOTES: usize = 336;

#[test]
fn notes_are_counted_for_each_autopsy_alone() {
    let mut world = world(None, Duration::from_secs(3), Vec::new(), |_| {});
    let state = words(&[3], &[120, 24]);
    for (answer, notes) in [(0, MAX_NOTES + 10), (1, 10)] {
        let begin = 4 + 12 * answer;
        world.run_until(Duration::from_secs(begin));
        world.machine_mut(1).lies.push(start(120, 90));
        world.run_until(Duration::from_secs(begin + 1));
        world.machine_mut(1).lies.extend((0..notes).map(|_| state.clone()));
    }
    world.run_until(Duration::from_secs(22));
    assert_eq!(refused(&world), 10, "of the first autopsy");
}

#[test]
fn state_of_another_frame_is_not_compared() {
    let trace = |again| words(&[2, again, 0], &[91]);
    let lies = |frame| vec![start(120, 90), trace(0), trace(1), words(&[3], &[frame, 24]), vec![5, 0]];
    for (frame, complete) in [(120, true), (100, false)] {
        let mut world = world(Some(step_differs), Duration::from_secs(3), lies(frame), |_| {});
        world.run_until(Duration::from_secs(5));
        let [(_, autopsy)] = &told(&world)[..] else { panic!("{:?}", victim(&world).events) };
        assert_eq!(autopsy.complete, complete, "frame {frame}: {autopsy}");
    }
}

#[test]
fn vanished_peer_leaves_a_partial_autopsy_before_the_end() {
    let mut sim = sim_match(5, step_differs, LINK, |_| {});
    let noticed = |sim: &SimMatch<Faulty>| {
        sim.machine(0).events.iter().any(|(_, event)| matches!(event, Event::Desync(_)))
    };
    while !noticed(&sim) {
        let next = sim.world.now() + Duration::from_millis(1);
        sim.world.run_until(next);
    }
    sim.world.stop(1);
    assert!(sim.run_until(Duration::from_secs(35), |sim| sim.machine(0).ended()));
    let events: Vec<&Event> = sim.machine(0).events.iter().map(|(_, event)| event).collect();
    let [Event::Desync(_), .., Event::Autopsy(autopsy), Event::Disconnected { reason: Reason::TimedOut }] =
        &events[..]
    else {
        panic!("{events:?}")
    };
    assert!(!autopsy.complete);
    assert_eq!(autopsy.states[0].len(), 24);
    assert_eq!(autopsy.inputs.len(), 30);
}

#[test]
fn disabled_autopsy_is_not_forced_by_the_peer() {
    let mut setup = Setup::new(5, LINK);
    setup.configs[0].on_desync = OnDesync::GoOn;
    let mut sim = SimMatch::new(setup, PLAY);
    for id in 0..2 {
        sim.world.machine_mut(id).tamper = Some(step_differs);
    }
    play_out(&mut sim);
    assert_eq!(autopsies(&sim, 0), []);
    let [autopsy] = &autopsies(&sim, 1)[..] else { panic!("it looked") };
    assert!(!autopsy.complete);
    let last = sim.machine(1).events.last().map(|(_, event)| event.clone());
    assert!(matches!(last, Some(Event::Ended(Verdict::Differs { .. }))), "{last:?}");
}

#[test]
fn loss_duplication_and_reordering_never_change_what_is_found() {
    for seed in 0..40 {
        let link = LinkConfig {
            loss: Chance::percent(15 + seed as u32 % 3 * 10),
            duplicate: Chance::percent(20),
            reorder: Chance::percent(20),
            reorder_delay: Duration::from_millis(80),
            jitter: Duration::from_millis(30),
            ..LinkConfig::new(Duration::from_millis(10 + seed % 5 * 15))
        };
        let mut sim = sim_match(seed, step_differs, link, |config| config.cadence_frames = 20);
        play_out(&mut sim);
        for id in 0..2 {
            let [autopsy] = &autopsies(&sim, id)[..] else {
                panic!("seed {seed}, machine {id}: {:?}", sim.machine(id).events)
            };
            assert!(autopsy.complete, "seed {seed}: {autopsy}");
            assert_eq!(
                (autopsy.first_divergence, autopsy.exact),
                (Frame(100), true),
                "seed {seed}: {autopsy}"
            );
            assert_eq!(autopsy.verdict, AutopsyVerdict::StepDiffers, "seed {seed}: {autopsy}");
            assert_eq!(autopsy.fields[0].path, "fighters[1].hp", "seed {seed}");
            assert_eq!(autopsy.fields.len(), 1, "seed {seed}");
        }
    }
}

#[test]
fn stop_at_a_desync_is_told_to_both_sides_on_a_bad_link() {
    for seed in 0..30 {
        let link = LinkConfig { loss: Chance::percent(25), ..LINK };
        let mut sim = sim_match(seed, step_differs, link, |config| config.on_desync = OnDesync::Stop);
        play_out(&mut sim);
        for id in 0..2 {
            assert_eq!(autopsies(&sim, id).len(), 1, "seed {seed}, machine {id}");
            let last = sim.machine(id).events.last().map(|(_, event)| event.clone());
            let expected = Some(Event::Disconnected { reason: Reason::Desync });
            assert_eq!(last, expected, "seed {seed}, machine {id}");
            assert!(autopsies(&sim, id)[0].complete, "seed {seed}, machine {id}");
        }
    }
}
