//! Barriers in a match of two machines: both step them once and agree, presses are kept, and the pace holds.

use crate::failing::PLAY;
use core::time::Duration;
use games::handle::{Core, CoreState};
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::{Play, Setup, SimMatch};
use rebout::{Advanced, Buttons, Event, Frame, Inputs, Player, Protocol, Saving, Verdict};
use std::cell::RefCell;
use std::rc::Rc;

const ENDS_AT: u32 = 600;

/// Depends on the inputs: predictions hide barriers, and lead to some that are none.
const HIDDEN: fn(CoreState) -> bool = |state| state.sum % 53 == 3;
/// The same on both machines without any input.
const KNOWN: fn(CoreState) -> bool = |state| state.frame % 100 == 99;

fn with(barrier: fn(CoreState) -> bool) -> Core {
    Core { barrier, ..Core::new(ENDS_AT) }
}

const HIDDEN_PLAY: Play<Core> = Play { build: |_| with(HIDDEN), ..PLAY };
const KNOWN_PLAY: Play<Core> = Play { build: |_| with(KNOWN), ..PLAY };

fn link(latency_ms: u64, jitter_ms: u64, loss: u32) -> LinkConfig {
    let ms = Duration::from_millis;
    LinkConfig { jitter: ms(jitter_ms), loss: Chance::percent(loss), ..LinkConfig::new(ms(latency_ms)) }
}

/// What a machine did in a match.
#[derive(Clone, Debug, Default)]
struct Watched {
    went_back: u32,
    newest: Frame,
    worst_lead: f32,
    /// How many steps there were, and how many of them were shown.
    steps: usize,
    shown: usize,
}

/// Plays a match to its end, and checks that both machines stepped each barrier once, on the same inputs.
fn play(setup: Setup, play: Play<Core>) -> ([Watched; 2], Duration, Vec<(u32, Inputs)>) {
    play_on(SimMatch::new(setup, play))
}

fn play_on(mut sim: SimMatch<Core>) -> ([Watched; 2], Duration, Vec<(u32, Inputs)>) {
    let watched = [0, 1].map(|id| {
        let watched: Rc<RefCell<Watched>> = Rc::default();
        let here = Rc::clone(&watched);
        sim.world.machine_mut(id).watch = Some(Box::new(move |now, advanced, session, core: &Core| {
            if advanced == Advanced::Ended {
                return;
            }
            let is_awake = session.wants_attention(now + Duration::from_millis(50));
            assert!(advanced != Advanced::Stalled || !is_awake, "a stalled frame waits for a packet");
            let mut watched = here.borrow_mut();
            let shown = core.steps[watched.steps..].iter().filter(|step| step.is_shown).count();
            assert!(shown <= 1, "one picture in each frame");
            (watched.steps, watched.shown) = (core.steps.len(), watched.shown + shown);
            watched.went_back += u32::from(session.current() < watched.newest);
            watched.newest = session.current();
            watched.worst_lead = watched.worst_lead.max(session.stats().frame_lead.abs());
            assert_eq!(session.stats().frames, u64::from(session.current().0), "each frame is counted once");
        }));
        watched
    });
    let ended = |sim: &SimMatch<Core>| (0..2).all(|id| sim.machine(id).ended());
    assert!(sim.run_until(Duration::from_secs(60), ended), "{sim:?}");
    assert_eq!(sim.divergence(), None);
    let barriers = [0, 1].map(|id| {
        let machine = sim.machine(id);
        let agreed = |(_, event): &(Duration, Event)| matches!(event, Event::Ended(Verdict::Agreed { .. }));
        assert!(machine.events.iter().any(agreed), "{:?}", machine.events);
        let steps = machine.game().unwrap().steps.iter().filter(|step| step.at_barrier);
        steps.map(|step| (step.frame, step.inputs)).collect::<Vec<_>>()
    });
    assert_eq!(barriers[0], barriers[1]);
    assert!(barriers[0].is_sorted_by(|one, two| one.0 < two.0), "one was stepped twice: {:?}", barriers[0]);
    let [barriers, _] = barriers;
    let shown = watched.each_ref().map(|watched| watched.borrow().shown);
    assert!(shown.iter().all(|shown| *shown >= ENDS_AT as usize * 9 / 10), "{shown:?} pictures");
    (watched.map(|watched| watched.borrow().clone()), sim.world.now(), barriers)
}

#[test]
fn both_machines_step_a_barrier_once_and_agree() {
    let mut went_back = 0;
    for (seed, link) in [link(10, 0, 0), link(60, 15, 3), link(100, 30, 10)].into_iter().enumerate() {
        for (window, delay, saving) in
            [(8, 0, Saving::Every), (8, 2, Saving::Sparse), (2, 0, Saving::Every), (0, 4, Saving::Every)]
        {
            let setup = Setup::new(seed as u64 + 3, link).configure(|config| {
                config.rollback.window_frames = window;
                config.rollback.delay_frames = Some(delay);
                config.rollback.saving = saving;
            });
            let (watched, _, barriers) = play(setup, HIDDEN_PLAY);
            assert!(barriers.len() > 3, "{barriers:?}");
            went_back += watched.iter().map(|watched| watched.went_back).sum::<u32>();
        }
    }
    assert!(went_back > 10, "a prediction hid a barrier {went_back} times");
}

#[test]
fn sealed_machines_step_a_barrier_once_and_agree() {
    for look_ahead_frames in [0, 2] {
        let setup = Setup::new(5, link(60, 15, 3))
            .configure(|config| config.rollback.look_ahead_frames = look_ahead_frames);
        let mut sim = SimMatch::new(setup, HIDDEN_PLAY);
        sim.seal(5);
        let (watched, _, barriers) = play_on(sim);
        assert!(barriers.len() > 3 && watched.iter().any(|watched| watched.went_back > 0), "{watched:?}");
    }
}

#[test]
fn pace_holds_through_barriers() {
    // Machines of different windows and delays go back by different numbers of frames.
    let mut setup = Setup::new(9, link(60, 10, 2));
    setup.configs[1].rollback.window_frames = 12;
    setup.configs[1].rollback.delay_frames = Some(3);
    let (watched, _, _) = play(setup, HIDDEN_PLAY);
    for Watched { went_back, worst_lead, .. } in watched {
        assert!(went_back > 0 && worst_lead < 4.0, "back {went_back} times, a lead of {worst_lead} frames");
    }
}

#[test]
fn known_barrier_costs_one_way_and_no_more() {
    let plain = play(Setup::new(4, link(100, 0, 0)), Play { build: |_| with(|_| false), ..PLAY });
    let (_, barred, barriers) = play(Setup::new(4, link(100, 0, 0)), KNOWN_PLAY);
    assert_eq!(barriers.iter().map(|(frame, _)| *frame).collect::<Vec<_>>(), [99, 199, 299, 399, 499, 599]);
    let hitch = (barred - plain.1) / 6;
    // One way takes six frames, and the step that sends the input is one of them.
    assert!((80..150).contains(&hitch.as_millis()), "{hitch:?} a barrier");
}

#[test]
fn press_during_a_barrier_is_kept() {
    const FIRE: Buttons = Buttons(8);
    let mut sim = SimMatch::new(Setup::new(4, link(60, 0, 0)), KNOWN_PLAY);
    let mut taps = 0_u32;
    sim.world.machine_mut(0).input_source = Some(Box::new(move |_, session, _| {
        // A tap of one frame, in the second stalled frame of each barrier.
        taps = if session.is_stalled() { taps + 1 } else { 0 };
        if taps == 2 { FIRE.into() } else { Buttons::NONE.into() }
    }));
    let played: Rc<RefCell<Vec<u32>>> = Rc::default();
    let here = Rc::clone(&played);
    sim.world.machine_mut(1).watch = Some(Box::new(move |_, _, session, _| {
        let fired = session.confirmed().filter(|(_, inputs)| inputs[Player::One].holds(FIRE));
        here.borrow_mut().extend(fired.map(|(frame, _)| frame.0));
    }));
    assert!(sim.run_until(Duration::from_secs(60), |sim| (0..2).all(|id| sim.machine(id).ended())));
    let played = played.borrow();
    assert_eq!(*played, [100, 200, 300, 400, 500], "the frame after each barrier");
}
