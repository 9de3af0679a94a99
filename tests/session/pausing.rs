//! Pauses that both machines agree on: one frame, one moment, limits, and nobody who is blamed for them.

use crate::failing::PLAY;
use crate::pair::ms;
use crate::round::{ENDLESS, Round, round};
use core::time::Duration;
use games::handle::{Core, CoreState};
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::{HOST, JOINER, Play, Setup, SimMatch, every_fourth};
use rebout::{Buttons, Config, Event, Frame, Game, Player, Reason, Saving, Verdict};
use std::cell::RefCell;
use std::rc::Rc;
use support::repeats;

const LINK: LinkConfig = LinkConfig::new(ms(40));
const BOTH: [usize; 2] = [HOST, JOINER];

const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

fn lossy(percent: u32) -> LinkConfig {
    LinkConfig { loss: Chance::percent(percent), jitter: ms(15), ..LINK }
}

fn playing_with(seed: u64, link: LinkConfig, change: impl Fn(&mut Config)) -> SimMatch<Round> {
    let mut sim = SimMatch::new(Setup::new(seed, link).configure(change), ENDLESS);
    assert!(sim.run_until_frame(60), "the match never began");
    // At any moment of a frame.
    let moment = sim.world.draw(ms(50));
    sim.run_for(moment);
    sim
}

fn playing(seed: u64, link: LinkConfig) -> SimMatch<Round> {
    playing_with(seed, link, |_| {})
}

fn pause<G: Game>(sim: &mut SimMatch<G>, id: usize) -> bool {
    let now = sim.local_now(id);
    sim.session_mut(id).pause(now)
}

fn resume<G: Game>(sim: &mut SimMatch<G>, id: usize) -> bool {
    let now = sim.local_now(id);
    sim.session_mut(id).resume(now)
}

fn paused_by<G: Game>(sim: &SimMatch<G>, id: usize) -> Option<Player> {
    sim.machine(id).session().and_then(rebout::Session::paused).map(|paused| paused.by)
}

fn current<G: Game>(sim: &SimMatch<G>, id: usize) -> Frame {
    sim.machine(id).session().expect("a match").current()
}

/// The frame at which both machines stand, with every state before it certain, and the player who paused.
fn stand<G: Game>(sim: &mut SimMatch<G>) -> (Frame, Player) {
    let stands = |sim: &SimMatch<G>| {
        BOTH.iter().all(|id| {
            let session = sim.machine(*id).session().expect("a match");
            session.paused().is_some() && session.settled() == session.current()
        })
    };
    assert!(sim.run_until(secs(8), stands), "{sim:?}");
    let frames = BOTH.map(|id| current(sim, id));
    assert_eq!(frames[0], frames[1], "both stop at one frame");
    let by = BOTH.map(|id| paused_by(sim, id).expect("paused"));
    assert_eq!(by[0], by[1]);
    (frames[0], by[0])
}

/// The moments at which a machine steps `frame` after a pause, in true time; both are stepped to there.
fn went_on<G: Game>(sim: &mut SimMatch<G>, frame: Frame) -> [Duration; 2] {
    let mut at = [None; 2];
    let end = sim.world.now() + secs(12);
    while at.contains(&None) && sim.world.now() < end {
        sim.run_for(ms(1));
        for id in BOTH {
            if at[id].is_none() && current(sim, id) > frame {
                at[id] = Some(sim.world.now());
            }
        }
    }
    at.map(|at| at.expect("the match goes on"))
}

fn told(sim: &SimMatch<Round>, id: usize) -> Vec<Event> {
    sim.told(id).cloned().collect()
}

fn reason(sim: &SimMatch<Round>, id: usize) -> Option<Reason> {
    match sim.ending(id) {
        Some(Event::Disconnected { reason }) => Some(*reason),
        _ => None,
    }
}

#[test]
fn both_machines_stop_at_one_frame_and_go_on_at_one_moment() {
    for (by, player) in [(HOST, Player::One), (JOINER, Player::Two)] {
        let mut sim = playing(1, LINK);
        let before = current(&sim, by);
        assert!(pause(&mut sim, by) && !pause(&mut sim, by));
        let (frame, who) = stand(&mut sim);
        assert_eq!(who, player);
        assert!(
            (9..=11).contains(&frame.since(before)),
            "a round trip and four frames later: {frame}, {before}"
        );
        sim.run_for(secs(20));
        assert_eq!(BOTH.map(|id| current(&sim, id)), [frame; 2]);
        assert!(!resume(&mut sim, 1 - by), "only who paused");
        let asked_at = sim.world.now();
        assert!(resume(&mut sim, by) && !resume(&mut sim, by));
        let at = went_on(&mut sim, frame);
        assert!(at[0].abs_diff(at[1]) < ms(4), "{at:?}");
        assert!(at[0] - asked_at >= ms(2_990) && at[0] - asked_at < ms(3_030), "after the countdown");
        sim.run_for(secs(5));
        for id in BOTH {
            let told = told(&sim, id);
            assert!(
                matches!(
                    told[..],
                    [Event::Paused { by }, Event::Resuming { .. }, Event::PauseEnded] if by == player
                ),
                "{told:?}"
            );
        }
        assert_eq!(sim.flaw(true), None);
        assert!(current(&sim, HOST).since(frame) > 290);
    }
}

/// In lockstep, with saves of few frames, sealed, with heavy loss; whoever asks, or both.
#[test]
fn every_kind_of_match_agrees_on_a_pause() {
    for seed in 0..repeats(160) {
        let change = |config: &mut Config| match seed % 4 {
            0 => config.rollback.window_frames = 0,
            1 => config.rollback.saving = Saving::Sparse,
            2 => config.rollback.delay_frames = Some(6),
            _ => {}
        };
        let link = [LINK, lossy(10), lossy(30), LinkConfig::new(ms(200))][seed as usize / 4 % 4];
        let mut sim = SimMatch::new(Setup::new(seed, link).configure(change), ENDLESS);
        if seed % 3 == 0 {
            sim.seal(seed);
        }
        assert!(sim.run_until_frame(60), "the match never began");
        let asks = [[true, false], [false, true], [true, true]][seed as usize / 16 % 3];
        let apart = sim.world.draw(ms(60));
        let mut asked = [false; 2];
        for id in BOTH {
            asked[id] = asks[id] && pause(&mut sim, id);
            sim.run_for(apart);
        }
        let (frame, by) = stand(&mut sim);
        assert!(asked[by.index()], "seed {seed}: {by} did not ask");
        sim.run_for(secs(1));
        assert!(resume(&mut sim, by.index()));
        let at = went_on(&mut sim, frame);
        let near = if seed / 4 % 4 == 0 { ms(5) } else { ms(60) };
        assert!(at[0].abs_diff(at[1]) < near, "seed {seed}: {at:?}");
        sim.run_for(secs(3));
        assert_eq!(sim.flaw(false), None, "seed {seed}: {sim:?}");
    }
}

#[test]
fn long_pause_blames_neither_player() {
    let mut sim = playing_with(3, lossy(5), |config| config.timeouts.max_pause = secs(600));
    sim.run_for(secs(5));
    let before = BOTH.map(|id| sim.machine(id).stats());
    assert!(pause(&mut sim, JOINER));
    let (frame, _) = stand(&mut sim);
    sim.run_for(secs(300));
    assert!(resume(&mut sim, JOINER));
    went_on(&mut sim, frame);
    sim.run_for(secs(40));
    for id in BOTH {
        let (before, after) = (before[id], sim.machine(id).stats());
        assert_eq!(told(&sim, id).len(), 3, "{:?}", told(&sim, id));
        assert!(after.stalled_frames - before.stalled_frames < 20, "{after:?}");
        assert!(after.checksums_compared > before.checksums_compared);
        // A few packets a second, where 60 come in play.
        assert!(after.packets_out - before.packets_out < 300 * 12 + 45 * 130, "{after:?}");
    }
    assert!(current(&sim, HOST).since(frame) > 40 * 59);
    assert_eq!(sim.flaw(true), None);
}

/// The last state before the pause differs on one machine, and nothing is stepped after it.
#[test]
fn last_checksum_is_compared_in_the_pause() {
    let setup = Setup::new(4, lossy(20)).configure(|config| config.cadence_frames = 1);
    let mut sim = SimMatch::new(setup, ENDLESS);
    sim.machine_mut(JOINER).tamper = Some(|game, _| game.cheats_at = 150);
    assert!(
        sim.step_until(secs(20), |sim| sim
            .machine(HOST)
            .session()
            .is_some_and(|s| s.current() >= Frame(140)))
    );
    assert!(pause(&mut sim, HOST));
    let (frame, _) = stand(&mut sim);
    assert!(frame.0 > 150, "{frame} is too early for this test");
    sim.run_for(secs(1));
    for id in BOTH {
        let desync = sim.told(id).find_map(|event| match event {
            Event::Desync(desync) => Some(desync.frame),
            _ => None,
        });
        assert!(desync.is_some_and(|at| (150..frame.0).contains(&at.0)), "{id}: {desync:?}, {frame}");
    }
    // Nothing is left to say: the peer has every input and the newest checksum.
    let packets = BOTH.map(|id| sim.machine(id).stats().packets_out);
    sim.run_for(secs(10));
    for id in BOTH {
        let sent = sim.machine(id).stats().packets_out - packets[id];
        assert!(sent < 130, "{sent} packets in ten seconds");
    }
}

#[test]
fn each_player_has_three_pauses() {
    let mut sim = playing(5, LINK);
    for n in 0..3 {
        assert!(pause(&mut sim, JOINER), "pause {n}");
        let (frame, _) = stand(&mut sim);
        assert!(resume(&mut sim, JOINER));
        went_on(&mut sim, frame);
        sim.run_for(secs(1));
    }
    assert!(!pause(&mut sim, JOINER));
    assert!(pause(&mut sim, HOST), "the other player has its own");
    stand(&mut sim);
    // A peer with other ideas is refused.
    let mut setup = Setup::new(6, LINK);
    setup.configs[HOST].pauses = 0;
    let mut sim = SimMatch::new(setup, ENDLESS);
    assert!(sim.run_until_frame(60));
    assert!(pause(&mut sim, JOINER));
    sim.run_for(secs(2));
    assert_eq!((told(&sim, JOINER), told(&sim, HOST)), (vec![Event::PauseRefused], vec![]));
    assert_eq!((paused_by(&sim, HOST), sim.flaw(true)), (None, None));
    assert!(current(&sim, JOINER).0 > 160);
}

#[test]
fn other_player_goes_on_or_leaves_after_the_limit() {
    for leaves in [false, true] {
        let mut setup = Setup::new(7, LINK);
        setup.configs[HOST].timeouts.max_pause = secs(10);
        let mut sim = SimMatch::new(setup, ENDLESS);
        assert!(sim.run_until_frame(60));
        assert!(pause(&mut sim, JOINER));
        let (frame, _) = stand(&mut sim);
        for id in BOTH {
            let paused = sim.machine(id).session().unwrap().paused().unwrap();
            assert_eq!(paused.limit_at - paused.since, secs(10), "both know the limit of the host");
        }
        sim.run_for(secs(9));
        assert!(!resume(&mut sim, HOST));
        sim.run_for(secs(2));
        if leaves {
            sim.session_mut(HOST).leave();
            sim.run_for(secs(1));
            for id in BOTH {
                assert_eq!(reason(&sim, id), Some(Reason::PausedTooLong));
                assert_eq!(paused_by(&sim, id), Some(Player::Two));
            }
        } else {
            assert!(resume(&mut sim, HOST));
            let at = went_on(&mut sim, frame);
            assert!(at[0].abs_diff(at[1]) < ms(5));
        }
    }
}

#[test]
fn leaving_a_pause_before_its_limit_is_leaving() {
    for leaver in BOTH {
        let mut sim = playing(8, LINK);
        assert!(pause(&mut sim, JOINER));
        stand(&mut sim);
        sim.run_for(secs(30));
        sim.session_mut(leaver).leave();
        sim.run_for(ms(200));
        assert_eq!(reason(&sim, 1 - leaver), Some(Reason::Left));
    }
}

#[test]
fn silence_is_noticed_in_a_pause() {
    for gone in BOTH {
        let mut sim = playing(9, LINK);
        assert!(pause(&mut sim, gone));
        stand(&mut sim);
        sim.run_for(secs(30));
        sim.world.stop(gone);
        sim.run_for(secs(31));
        let told = told(&sim, 1 - gone);
        assert!(matches!(
            told[1..],
            [Event::Interrupted { .. }, Event::Disconnected { reason: Reason::TimedOut }]
        ));
    }
}

#[test]
fn blackout_in_a_pause_is_survived() {
    for length in [4, 29] {
        let mut sim = playing(10, LINK);
        assert!(pause(&mut sim, HOST));
        let (frame, _) = stand(&mut sim);
        let now = sim.world.now();
        sim.world.network_mut().cut_both(HOST, JOINER, now, now + secs(length));
        // One side ends the pause in the outage: its countdown runs out, and it waits for the other.
        sim.run_for(ms(1_500));
        assert!(resume(&mut sim, HOST));
        sim.run_for(secs(length));
        went_on(&mut sim, frame);
        sim.run_for(secs(5));
        assert_eq!(sim.flaw(true), None, "{sim:?}");
    }
}

#[test]
fn request_in_a_blackout_is_agreed_on_after_it() {
    for seed in 0..8 {
        let mut sim = playing(seed, LINK);
        let now = sim.world.now();
        sim.world.network_mut().cut_both(HOST, JOINER, now, now + secs(2));
        assert!(pause(&mut sim, (seed % 2) as usize));
        sim.run_for(ms(2_500));
        stand(&mut sim);
        assert_eq!(sim.flaw(true), None, "{sim:?}");
    }
}

#[test]
fn match_that_is_over_is_not_paused() {
    const SHORT: Play<Round> = Play { build: |seed| round(seed, 100), script: every_fourth };
    let mut sim = SimMatch::new(Setup::new(11, LINK), SHORT);
    assert!(sim.run_until(secs(10), |sim| sim.checked() >= Frame(94)));
    pause(&mut sim, HOST);
    sim.run_for(secs(3));
    for id in BOTH {
        assert!(matches!(sim.ending(id), Some(Event::Ended(Verdict::Agreed { .. }))), "{sim:?}");
        assert!(!pause(&mut sim, id) && !resume(&mut sim, id));
    }
}

/// The answer is sent again, because its ack was lost, when nobody waits for it any more.
#[test]
fn repeated_answer_is_acknowledged() {
    let mut sim = playing(12, LINK);
    assert!(pause(&mut sim, JOINER));
    sim.run_for(ms(45));
    let now = sim.world.now();
    sim.world.network_mut().cut(JOINER, HOST, now + ms(5), now + ms(700));
    stand(&mut sim);
    sim.run_for(secs(2));
    assert_eq!(BOTH.map(|id| sim.machine(id).refused().total()), [0, 0], "{sim:?}");
}

/// The answer comes later than the frame that was asked for, and refuses.
#[test]
fn press_before_the_answer_is_kept() {
    const FIRE: Buttons = Buttons(8);
    let mut setup = Setup::new(13, LINK).configure(|config| config.rollback.delay_frames = Some(2));
    setup.configs[HOST].pauses = 0;
    let mut sim = SimMatch::new(setup, ENDLESS);
    assert!(sim.run_until_frame(60));
    sim.world.network_mut().set_links(HOST, JOINER, LinkConfig::new(ms(110)));
    assert!(pause(&mut sim, JOINER));
    let (mut last, mut waits) = (Frame(0), 0);
    sim.machine_mut(JOINER).input_source = Some(Box::new(move |_, session, _| {
        waits = if session.current() == last { waits + 1 } else { 0 };
        last = session.current();
        // A tap of one frame, while the frame is held.
        if waits == 2 { FIRE.into() } else { Buttons::NONE.into() }
    }));
    let played: Rc<RefCell<Vec<u32>>> = Rc::default();
    let here = Rc::clone(&played);
    sim.machine_mut(HOST).watch = Some(Box::new(move |_, _, session, _| {
        let fired = session.confirmed().filter(|(_, inputs)| inputs[Player::Two].holds(FIRE));
        here.borrow_mut().extend(fired.map(|(frame, _)| frame.0));
    }));
    sim.run_for(secs(1));
    assert_eq!(told(&sim, JOINER), [Event::PauseRefused]);
    assert_eq!(played.borrow().len(), 1, "the tap is played once: {played:?}");
}

/// A barrier whose state depends on the inputs is hidden by predictions: the match may go back to it while it is paused.
#[test]
fn pause_and_barrier_do_not_get_in_each_others_way() {
    const HIDDEN: fn(CoreState) -> bool = |state| state.sum % 23 == 3;
    const KNOWN: fn(CoreState) -> bool = |state| state.frame % 100 == 99;
    let mut paused_at_barrier = 0;
    for seed in 0..repeats(48) as u64 {
        let barrier = [HIDDEN, KNOWN][seed as usize % 2];
        let build: fn(u32) -> Core = if seed % 2 == 0 {
            |_| Core { barrier: HIDDEN, ..Core::new(300) }
        } else {
            |_| Core { barrier: KNOWN, ..Core::new(300) }
        };
        let link = [LINK, lossy(10), LinkConfig::new(ms(100))][seed as usize / 2 % 3];
        let setup = Setup::new(seed, link).configure(|config| match seed % 5 {
            0 => config.rollback.window_frames = 0,
            1 => config.rollback.saving = Saving::Sparse,
            _ => config.rollback.delay_frames = Some(0),
        });
        let mut sim = SimMatch::new(setup, Play { build, ..PLAY });
        // Right before the barrier of frame 99, or at it.
        let near = 84 + (seed / 2 % 16) as u32;
        let by = (seed / 3 % 2) as usize;
        let is_near = |sim: &SimMatch<Core>| {
            sim.machine(by).session().is_some_and(|session| session.current() >= Frame(near))
        };
        assert!(sim.step_until(secs(30), is_near));
        assert!(pause(&mut sim, by));
        let (frame, who) = stand(&mut sim);
        assert_eq!(who.index(), by);
        paused_at_barrier += u32::from(barrier(sim.machine(by).game().unwrap().state));
        sim.run_for(secs(1));
        assert_eq!(BOTH.map(|id| current(&sim, id)), [frame; 2], "seed {seed}");
        assert!(resume(&mut sim, by));
        assert!(sim.run_until(secs(60), |sim| BOTH.iter().all(|id| sim.machine(*id).ended())), "{sim:?}");
        let stepped = BOTH.map(|id| {
            let agreed = matches!(sim.ending(id), Some(Event::Ended(Verdict::Agreed { .. })));
            assert!(agreed, "seed {seed}: {:?}", sim.ending(id));
            let steps = sim.machine(id).game().unwrap().steps.iter().filter(|step| step.at_barrier);
            steps.map(|step| (step.frame, step.inputs)).collect::<Vec<_>>()
        });
        assert_eq!(stepped[0], stepped[1], "seed {seed}");
        assert!(stepped[0].is_sorted_by(|one, two| one.0 < two.0), "each barrier once: {stepped:?}");
    }
    assert!(paused_at_barrier > 0, "no match was paused at a barrier");
}
