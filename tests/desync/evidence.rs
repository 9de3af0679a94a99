//! The evidence that an autopsy needs: a comparison of this machine's own that failed. The peer's word is none.

use crate::liar::{ENDLESS, Liar, autopsies_of, machine, start, told, victim, words, world, world_of};
use core::time::Duration;
use games::faulty::{Fault, Faulty, LINK, step_differs};
use rebout::lab::Setup;
use rebout::lab::sim::World;
use rebout::{Autopsy, AutopsyVerdict, Event, Frame, OnDesync, Player, Reason};

/// A whole autopsy of frame 120 as a peer would tell it: all it takes to report a difference in frame 120.
fn false_autopsy() -> Vec<Vec<u8>> {
    vec![
        start(120, 90),
        words(&words(&[2, 0, 0], &[91]), &[7; 30]),
        words(&words(&[2, 1, 0], &[91]), &[7; 30]),
        words(&[3], &[120, 24]),
        vec![5, 0],
    ]
}

fn step_differs_at_400(game: &mut Faulty, player: Player) {
    if player == Player::Two {
        game.fault = Fault::Step { into: 400 };
    }
}

fn events(world: &World<Liar>, id: usize) -> Vec<Event> {
    machine(world, id).events.iter().map(|(_, event)| event.clone()).collect()
}

/// The autopsy names the frame, the field and the verdict of a step that differs into `frame`.
fn assert_right(autopsy: &Autopsy, frame: u32, last_match: u32, what: &str) {
    assert!(autopsy.complete, "{what}: {autopsy}");
    assert_eq!(autopsy.last_match, Some(Frame(last_match)), "{what}: {autopsy}");
    assert_eq!((autopsy.first_divergence, autopsy.exact), (Frame(frame), true), "{what}: {autopsy}");
    assert_eq!(autopsy.verdict, AutopsyVerdict::StepDiffers, "{what}: {autopsy}");
    assert_eq!(autopsy.fields.len(), 1, "{what}: {autopsy}");
    assert_eq!(autopsy.fields[0].path, "fighters[1].hp", "{what}: {autopsy}");
}

#[test]
fn start_without_own_evidence_is_answered_and_tells_nothing() {
    for on_desync in [OnDesync::Report, OnDesync::Stop] {
        for lies in [vec![start(120, 90)], vec![start(0, u32::MAX)], false_autopsy()] {
            let mut world = world(None, Duration::from_secs(3), lies, |config| config.on_desync = on_desync);
            world.run_until(Duration::from_secs(20));
            assert_eq!(events(&world, 0), [], "{on_desync:?}");
            assert!((2..=5).contains(&world.machine(1).heard), "{on_desync:?}: {}", world.machine(1).heard);
            let current = victim(&world).session().expect("begun").current();
            assert!(current > Frame(1_150), "{on_desync:?}: the match goes on: {current}");
        }
    }
}

#[test]
fn false_start_does_not_spoil_the_report_of_a_real_desync() {
    let talk = vec![start(120, 90)].into_iter().chain((0..400).map(|_| words(&[2, 0, 1], &[91]))).collect();
    for (what, lies) in [
        ("a start", vec![start(120, 90)]),
        ("a start without a match", vec![start(0, u32::MAX)]),
        ("a whole autopsy", false_autopsy()),
        ("two autopsies", [false_autopsy(), false_autopsy()].concat()),
        ("more talk than is listened to", talk),
    ] {
        for seed in 0..4 {
            let setup = Setup::new(seed, LINK);
            let mut world =
                world_of(setup, ENDLESS, Some(step_differs_at_400), Duration::from_secs(3), lies.clone());
            world.run_until(Duration::from_secs(20));
            for id in 0..2 {
                let [(_, autopsy)] = &autopsies_of(&world, id)[..] else {
                    panic!("{what}: {:?}", events(&world, id))
                };
                assert_right(autopsy, 400, 390, what);
            }
        }
    }
}

/// A peer that says something false, and then takes no part when there is something to look into.
#[test]
fn refuted_start_is_not_the_answer_to_ours() {
    let mut world = world(Some(step_differs_at_400), Duration::from_secs(3), false_autopsy(), |_| {});
    world.run_until(Duration::from_secs(30));
    let [(_, autopsy)] = &told(&world)[..] else { panic!("{:?}", events(&world, 0)) };
    assert!(!autopsy.complete);
    assert_eq!((autopsy.last_match, autopsy.first_divergence), (Some(Frame(390)), Frame(420)), "{autopsy}");
    assert_eq!(autopsy.states[0].len(), 24, "its own state is told");
}

/// The peer notices in frame 120 and we in frame 150, because its checksum of frame 120 never comes.
#[test]
fn start_that_comes_a_cadence_early_is_answered() {
    for on_desync in [OnDesync::Report, OnDesync::Stop] {
        for hides in 0..2 {
            let setup = Setup::new(9, LINK).configure(|config| config.on_desync = on_desync);
            let mut world = world_of(setup, ENDLESS, Some(step_differs), Duration::MAX, Vec::new());
            world.machine_mut(hides).hides = Some(Frame(120));
            world.run_until(Duration::from_secs(9));
            for id in 0..2 {
                let what = format!("{on_desync:?}, machine {id}, hidden by {hides}");
                let noticed = if id == hides { 120 } else { 150 };
                let events = events(&world, id);
                let [Event::Desync(desync), Event::Autopsy(autopsy), rest @ ..] = &events[..] else {
                    panic!("{what}: {events:?}")
                };
                assert_eq!(desync.frame, Frame(noticed), "{what}");
                assert_right(autopsy, 100, 90, &what);
                match on_desync {
                    OnDesync::Stop => assert!(
                        matches!(rest, [Event::Disconnected { reason: Reason::Desync | Reason::Left }]),
                        "{what}: {rest:?}"
                    ),
                    _ => assert_eq!(rest, [], "{what}"),
                }
            }
        }
    }
}

/// The peer notices a difference in frame 120 that passes, and is answered, although nothing differs here. Another one in
/// frame 240, when that autopsy is over, is looked into again.
#[test]
fn difference_after_an_answer_has_an_autopsy_of_its_own() {
    let setup = Setup::new(9, LINK);
    let passing: fn(&mut Faulty, Player) = |game, player| {
        if player == Player::Two {
            game.fault = Fault::Passing { frames: [120, 240] };
        }
    };
    let mut world = world_of(setup, ENDLESS, Some(passing), Duration::MAX, Vec::new());
    world.machine_mut(1).hides = Some(Frame(120));
    world.run_until(Duration::from_secs(9));
    for (id, frame, last_match) in [(0, 240, 210), (1, 120, 90)] {
        let events = events(&world, id);
        let [Event::Desync(desync), Event::Autopsy(autopsy)] = &events[..] else { panic!("{events:?}") };
        assert_eq!(desync.frame, Frame(frame));
        assert_right(autopsy, frame, last_match, &format!("machine {id}"));
    }
}
