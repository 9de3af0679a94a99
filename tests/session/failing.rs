//! A game that cannot save or restore a state ends the match, and both machines are told why.

use core::time::Duration;
use games::handle::Core;
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::{Play, Setup, SimMatch, every_fourth};
use rebout::{Event, OnDesync, Reason};

pub(crate) const PLAY: Play<Core> = Play { build: |_| Core::default(), script: every_fourth };

fn setup() -> Setup {
    let link = LinkConfig { loss: Chance::percent(3), ..LinkConfig::new(Duration::from_millis(40)) };
    Setup::new(5, link)
}

/// Both machines were told, `id` of its own game and the other of its peer's.
#[track_caller]
fn assert_told(sim: &mut SimMatch<Core>, id: usize, words: &str) {
    let ended = |sim: &SimMatch<Core>| (0..2).all(|id| sim.machine(id).ended());
    assert!(sim.run_until(Duration::from_secs(30), ended), "{sim:?}");
    let told = |id: usize| sim.machine(id).events.iter().map(|(_, event)| event).collect::<Vec<_>>();
    let ours = told(id);
    let [.., Event::StateFailed(error), Event::Disconnected { reason: Reason::StateFailedHere }] = &ours[..]
    else {
        panic!("{ours:?}")
    };
    assert_eq!(error.to_string(), words);
    let theirs = told(1 - id);
    let Some(Event::Disconnected { reason: Reason::StateFailed }) = theirs.last() else {
        panic!("{theirs:?}")
    };
    assert!(
        !theirs.iter().any(|event| matches!(event, Event::StateFailed(_))),
        "the words stay where they are"
    );
}

#[test]
fn both_machines_are_told_of_a_state_that_cannot_be_saved() {
    for (id, seals) in [(0, false), (1, false), (0, true), (1, true)] {
        let mut sim = SimMatch::new(setup(), PLAY);
        if seals {
            sim.seal(9);
        }
        sim.world.machine_mut(id).tamper = Some(|core, _| core.unsaved = 120..121);
        assert_told(&mut sim, id, "the core did not serialize");
    }
}

#[test]
fn both_machines_are_told_of_a_state_that_cannot_be_restored() {
    let mut sim = SimMatch::new(setup(), PLAY);
    sim.world.machine_mut(1).tamper = Some(|core, _| core.unrestored = 100..u32::MAX);
    let ended = |sim: &SimMatch<Core>| sim.machine(1).ended();
    assert!(sim.run_until(Duration::from_secs(30), ended));
    let frame = sim.machine(1).game().unwrap().state.frame;
    assert!(frame >= 100, "frame {frame}: a rollback restores it");
    let refused = sim.machine(1).events.iter().find_map(|(_, event)| match event {
        Event::StateFailed(error) => Some(error.to_string()),
        _ => None,
    });
    assert_told(&mut sim, 1, &refused.unwrap());
}

#[test]
fn state_that_fails_in_an_autopsy_ends_the_match() {
    // In lockstep nothing but an autopsy restores a state.
    let setup = setup().configure(|config| {
        config.rollback.window_frames = 0;
        config.on_desync = OnDesync::Report;
    });
    let mut sim = SimMatch::new(setup, PLAY);
    sim.world.machine_mut(0).tamper = Some(|core, _| core.unrestored = 0..u32::MAX);
    sim.world.machine_mut(1).before = Some(|core, frame, _| core.state.sum ^= u32::from(frame.0 == 50));
    assert_told(&mut sim, 0, "the core refused frame 30");
}
