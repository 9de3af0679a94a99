//! An autopsy steps the game a few times in each `advance` and never for longer.

use crate::board::{Board, Marks, take_walked};
use core::time::Duration;
use games::faulty::{Fault, Faulty, autopsies, play_out, sim_match, step_differs};
use rebout::lab::link::LinkConfig;
use rebout::lab::{Play, Setup, SimMatch, every_fourth};
use rebout::{AutopsyVerdict, Event, Frame, OnDesync, Player, Saving};
use std::cell::Cell;
use std::rc::Rc;

/// The most steps of one `advance`: that of the frame, and three of the autopsy.
const MAX_STEPS: u32 = 4;

/// Counts the steps of a machine: the most of one `advance`, and those beyond one in each.
fn count_steps(sim: &mut SimMatch<Faulty>, id: usize) -> Rc<Cell<(u32, u32)>> {
    let counted = Rc::new(Cell::new((0, 0)));
    let (kept, mut before) = (Rc::clone(&counted), 0);
    sim.world.machine_mut(id).watch = Some(Box::new(move |_, _, _, game: &Faulty| {
        let (most, beyond) = kept.get();
        let steps = game.steps - before;
        before = game.steps;
        kept.set((most.max(steps), beyond + steps.saturating_sub(1)));
    }));
    counted
}

fn step_differs_at_the_end(game: &mut Faulty, player: Player) {
    if player == Player::Two {
        game.fault = Fault::Step { into: 428 };
    }
}

/// The delay is longer than the link, so that no frame is resimulated after a rollback.
#[test]
fn no_advance_of_an_autopsy_takes_long() {
    let link = LinkConfig::new(Duration::from_millis(10));
    for (tamper, frame) in [(step_differs as fn(&mut Faulty, Player), 100), (step_differs_at_the_end, 428)] {
        for (saving, cadence_frames) in [(Saving::Every, 30), (Saving::Sparse, 30), (Saving::Sparse, 80)] {
            for on_desync in [OnDesync::Report, OnDesync::Stop] {
                let mut sim = sim_match(5, tamper, link, |config| {
                    config.rollback.saving = saving;
                    config.rollback.delay_frames = Some(3);
                    (config.cadence_frames, config.on_desync) = (cadence_frames, on_desync);
                });
                let counted = [0, 1].map(|id| count_steps(&mut sim, id));
                play_out(&mut sim);
                let what = format!("frame {frame}, {saving:?}, {cadence_frames}, {on_desync:?}");
                for (id, counted) in counted.iter().enumerate() {
                    let (most, beyond) = counted.get();
                    assert!(
                        most <= MAX_STEPS && beyond >= 8,
                        "{what}: {most} in one advance, {beyond} in all"
                    );
                    let [autopsy] = &autopsies(&sim, id)[..] else { panic!("{what}, machine {id}") };
                    assert_eq!((autopsy.first_divergence, autopsy.exact), (Frame(frame), true), "{what}");
                    assert_eq!(autopsy.verdict, AutopsyVerdict::StepDiffers, "{what}");
                    assert!(autopsy.complete, "{what}: {autopsy}");
                    assert_eq!(autopsy.fields[0].path, "fighters[1].hp", "{what}");
                }
            }
        }
    }
}

std::thread_local! {
    static CLOCK: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// A clock on which 3 ms pass from one look to the next.
fn slow_clock() -> Duration {
    CLOCK.set(CLOCK.get() + Duration::from_millis(3));
    CLOCK.get()
}

/// A quarter of a frame is 4 ms: the second of these steps begins in time, the third does not.
#[test]
fn measured_steps_take_a_part_of_a_frame() {
    let mut sim = sim_match(5, step_differs, LinkConfig::new(Duration::from_millis(10)), |config| {
        config.rollback.delay_frames = Some(3);
        config.rollback.saving = Saving::Every;
        config.rollback.stopwatch = Some(slow_clock);
    });
    let counted = [0, 1].map(|id| count_steps(&mut sim, id));
    play_out(&mut sim);
    for (id, counted) in counted.iter().enumerate() {
        let (most, beyond) = counted.get();
        assert!(most == 3 && beyond >= 60, "{most} in one advance, {beyond} in all");
        assert!(autopsies(&sim, id)[0].complete);
    }
}

/// A cadence of 600 frames is the longest: 600 frames are stepped again twice.
fn longest_autopsy_takes(stopwatch: Option<fn() -> Duration>) -> Duration {
    let mut longest = Duration::ZERO;
    let link = LinkConfig::new(Duration::from_millis(50));
    let mut sim = sim_match(5, step_differs, link, |config| {
        config.rollback.saving = Saving::Sparse;
        config.cadence_frames = 600;
        config.rollback.stopwatch = stopwatch;
    });
    for id in 0..2 {
        sim.world.machine_mut(id).tamper = Some(|game, player| {
            game.last = u32::MAX;
            if player == Player::Two {
                game.fault = Fault::Step { into: 1_190 };
            }
        });
    }
    let counted = [0, 1].map(|id| count_steps(&mut sim, id));
    let told = |sim: &SimMatch<Faulty>| (0..2).all(|id| !autopsies(sim, id).is_empty());
    assert!(sim.run_until(Duration::from_secs(80), told));
    for (id, counted) in counted.iter().enumerate() {
        let [autopsy] = &autopsies(&sim, id)[..] else { panic!("machine {id}") };
        assert!(autopsy.complete && autopsy.exact, "{autopsy}");
        assert_eq!((autopsy.last_match, autopsy.first_divergence), (Some(Frame(600)), Frame(1_190)));
        let at = |wanted: fn(&Event) -> bool| {
            sim.machine(id).events.iter().find(|(_, event)| wanted(event)).expect("told").0
        };
        let took =
            at(|event| matches!(event, Event::Autopsy(_))) - at(|event| matches!(event, Event::Desync(_)));
        longest = longest.max(took);
        assert!(counted.get().1 >= 1_190);
    }
    longest
}

#[test]
fn longest_autopsy_ends_within_its_time() {
    let took = longest_autopsy_takes(None);
    assert!(took < Duration::from_secs(9), "{took:?}");
}

/// A clock on which 20 ms pass from one look to the next: there is one step in each `advance`.
fn slowest_clock() -> Duration {
    CLOCK.set(CLOCK.get() + Duration::from_millis(20));
    CLOCK.get()
}

/// The ten seconds that the peer has begin again after our own work.
#[test]
fn slow_autopsy_waits_for_the_peer_all_the_same() {
    let took = longest_autopsy_takes(Some(slowest_clock));
    assert!((12..40).contains(&took.as_secs()), "{took:?}");
}

/// The most leaves of one `advance`: 16,384 in the place of each of three steps.
const MAX_LEAVES: usize = 3 * 16 * 1_024;

/// A state whose leaves take longer to name and hash than a frame lasts.
#[test]
fn no_advance_looks_at_all_leaves_of_a_large_state() {
    const CELLS: usize = 60_000;
    let build = |_| Board { marks: Marks::All, ..Board::new(CELLS) };
    let setup = Setup::new(3, LinkConfig::new(Duration::from_millis(10)));
    let mut sim = SimMatch::new(setup, Play { build, script: every_fourth });
    sim.machine_mut(1).make = Some(Box::new(move |_, _| Board { spoils: Some((47, 3)), ..build(0) }));
    take_walked();
    let most = Rc::new(Cell::new((0, 0)));
    for id in 0..2 {
        let kept = Rc::clone(&most);
        sim.machine_mut(id).watch = Some(Box::new(move |_, _, _, _| {
            let (most, all) = kept.get();
            let walked = take_walked();
            kept.set((most.max(walked), all + walked));
        }));
    }
    let told = |sim: &SimMatch<Board>, id: usize| {
        sim.told(id).find_map(|event| match event {
            Event::Autopsy(autopsy) => Some(autopsy.clone()),
            _ => None,
        })
    };
    assert!(sim.run_until(Duration::from_secs(8), |sim| (0..2).all(|id| told(sim, id).is_some())), "{sim:?}");
    for id in 0..2 {
        let autopsy = told(&sim, id).expect("told");
        assert!(autopsy.complete && autopsy.exact && autopsy.first_divergence == Frame(47), "{autopsy}");
        let paths: Vec<&str> = autopsy.fields.iter().map(|field| field.path.as_str()).collect();
        assert_eq!(paths, ["cells[0]", "cells[1]", "cells[2]"]);
        let phase = autopsy.phase.as_ref().expect("a phase");
        assert_eq!((phase.one.as_deref(), phase.fields.len()), (Some("cells"), 3));
    }
    let (most, all) = most.get();
    assert!(most <= MAX_LEAVES && all >= 4 * CELLS, "{most} leaves in one advance, {all} in all");
}
