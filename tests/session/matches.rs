//! A match from the first press to the verdict: stalls, delays, lockstep, messages, leaving, ending, cheating.

use crate::round::{ENDLESS, Round, round};
use core::time::Duration;
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::{Play, Setup, SimMatch, every_fourth};
use rebout::{Buttons, Event, Frame, Input, Inputs, OnDesync, Player, Reason, SendError, Verdict};
use std::cell::RefCell;
use std::rc::Rc;

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

/// Over in frame 601, which is no multiple of the cadence.
const SHORT: Play<Round> = Play { build: |seed| round(seed, 601), script: every_fourth };

fn link() -> LinkConfig {
    LinkConfig { jitter: ms(5), loss: Chance::percent(5), ..LinkConfig::new(ms(50)) }
}

fn playing(setup: Setup, play: Play<Round>) -> SimMatch<Round> {
    let mut sim = SimMatch::new(setup, play);
    assert!(sim.run_until_frame(120), "the match never began");
    sim
}

fn events(sim: &SimMatch<Round>, id: usize) -> Vec<Event> {
    sim.machine(id).events.iter().map(|(_, event)| event.clone()).collect()
}

/// The inputs of both players as the first machine has confirmed them, from now on.
fn confirmed(sim: &mut SimMatch<Round>) -> Rc<RefCell<Vec<(Frame, Inputs)>>> {
    let log = Rc::new(RefCell::new(Vec::new()));
    let writer = Rc::clone(&log);
    sim.world.machine_mut(0).watch =
        Some(Box::new(move |_, _, session, _| writer.borrow_mut().extend(session.confirmed())));
    log
}

const FIRE: Buttons = Buttons(8);
const LEFT: Buttons = Buttons(1);

#[test]
fn two_machines_on_a_link_with_latency_play_the_same_match() {
    let mut sim = SimMatch::new(Setup::new(1, LinkConfig::new(secs(1) * 4 / 60)), ENDLESS);
    assert!(sim.run_until_frame(1_200));
    assert_eq!(sim.divergence(), None);
    for id in 0..2 {
        let stats = sim.machine(id).stats();
        assert!(stats.rollback.rollbacks > 100, "{stats:?}");
        assert_eq!(stats.refused.total(), 0, "{stats:?}");
        assert!(stats.checksums_compared > 30, "{stats:?}");
    }
}

#[test]
fn press_during_a_stall_is_kept_and_a_direction_is_not() {
    let setup = Setup::new(1, LinkConfig::clean()).configure(|config| config.rollback.kept_buttons = FIRE);
    let mut sim = playing(setup, ENDLESS);
    let log = confirmed(&mut sim);
    let (cut_at, cut_until) = (sim.world.now(), sim.world.now() + secs(1));
    sim.world.network_mut().cut_both(0, 1, cut_at, cut_until);
    let stalled = Rc::new(RefCell::new(false));
    let seen = Rc::clone(&stalled);
    // A tap of both buttons for 20 ms, shortly before the link is back: too short for any frame to take it.
    let tap = cut_until - ms(10)..cut_until + ms(10);
    sim.world.machine_mut(0).input_source = Some(Box::new(move |now, session, _| {
        let held = tap.contains(&now);
        *seen.borrow_mut() |= held && session.is_stalled();
        if held { (FIRE | LEFT).into() } else { Input::NEUTRAL }
    }));
    sim.run_for(secs(3));
    assert!(*stalled.borrow(), "there was no stall: this test shows nothing");
    assert_eq!(sim.divergence(), None);
    let player = sim.machine(0).session().expect("a match").local();
    let log = log.borrow();
    let after: Vec<Buttons> = log
        .iter()
        .map(|(_, inputs)| inputs[player].buttons())
        .filter(|held| *held != Buttons::NONE)
        .collect();
    let fired = after.iter().rev().take_while(|held| held.holds(FIRE)).count();
    assert_eq!(after.last(), Some(&FIRE), "the shot is kept, the step to the left is not");
    assert_eq!(fired, 1, "once");
}

#[test]
fn stick_that_was_tilted_during_a_stall_is_not_kept() {
    let setup = Setup::new(1, LinkConfig::clean()).configure(|config| {
        (config.rollback.kept_buttons, config.game.axes) = (FIRE, 2);
    });
    let mut sim = playing(setup, ENDLESS);
    let log = confirmed(&mut sim);
    let (cut_at, cut_until) = (sim.world.now(), sim.world.now() + secs(1));
    sim.world.network_mut().cut_both(0, 1, cut_at, cut_until);
    let tap = cut_until - ms(10)..cut_until + ms(10);
    sim.world.machine_mut(0).input_source = Some(Box::new(move |now, _, _| {
        if tap.contains(&now) { Input::from(FIRE).with_axis(0, 127) } else { Input::NEUTRAL.with_axis(1, -5) }
    }));
    sim.run_for(secs(3));
    let player = sim.machine(0).session().expect("a match").local();
    let log = log.borrow();
    let fired = log.iter().map(|(_, inputs)| inputs[player]).filter(|input| input.holds(FIRE));
    assert_eq!(
        fired.collect::<Vec<_>>(),
        [Input::from(FIRE).with_axis(1, -5)],
        "the shot, and the stick as it is"
    );
}

#[test]
fn delay_changes_both_ways_in_a_match_without_a_gap() {
    let mut sim = playing(Setup::new(2, link()), ENDLESS);
    let log = confirmed(&mut sim);
    let seed = sim.machine(0).agreed().expect("a match").seed;
    let player = sim.machine(0).session().expect("a match").local();
    let mut changes = vec![(Frame::ZERO, 0)];
    for delay in [4, 1, 8, 0] {
        let now = sim.world.local_now(0);
        let session = sim.world.machine_mut(0).session_mut().expect("a match");
        session.set_delay(now, delay).expect("a delay");
        changes.push((session.current(), delay));
        sim.run_for(secs(3));
        assert_eq!(sim.machine(1).agreed().expect("a match").peer_delay_frames, delay);
    }
    assert_eq!(sim.divergence(), None, "a gap would show as a frame out of order");
    let told: Vec<Event> = events(&sim, 1);
    let expected = [4, 1, 8, 0].map(|delay_frames| Event::PeerDelay { delay_frames });
    assert_eq!(told, expected, "the other side is told");
    let log = log.borrow();
    assert!(log.windows(2).all(|pair| pair[1].0 == pair[0].0.next()), "every frame, once");
    let mut compared = 0;
    for (frame, inputs) in log.iter() {
        let (since, delay) = *changes.iter().rev().find(|(since, _)| since <= frame).expect("the first");
        // Around a change frames are filled, or kept presses merge; then it is what was held this many frames ago.
        if frame.since(since) > 20 {
            assert_eq!(inputs[player], every_fourth(player, frame.0 - u32::from(delay), seed), "{frame:?}");
            compared += 1;
        }
    }
    assert!(compared > 500, "{compared}");
}

#[test]
fn lockstep_never_predicts_and_keeps_its_pace_with_enough_delay() {
    for delay in [0, 5] {
        let setup = Setup::new(3, LinkConfig { loss: Chance::NEVER, ..link() }).configure(|config| {
            config.rollback.window_frames = 0;
            config.rollback.delay_frames = Some(delay);
        });
        let mut sim = playing(setup, ENDLESS);
        let before = sim.checked();
        sim.run_for(secs(20));
        assert_eq!(sim.flaw(false), None);
        for id in 0..2 {
            let stats = sim.machine(id).stats();
            assert_eq!((stats.rollback.rollbacks, stats.predicted_frames), (0, 0));
        }
        let frames = sim.checked().since(before);
        if delay == 0 {
            assert!((200..500).contains(&frames), "a frame for each way there: {frames} in 20 s");
        } else {
            assert!((1_190..=1_210).contains(&frames), "{frames} in 20 s");
        }
    }
}

#[test]
fn messages_arrive_once_and_in_order_both_ways() {
    let lossy =
        LinkConfig { loss: Chance::percent(30), duplicate: Chance::percent(20), jitter: ms(60), ..link() };
    let mut sim = playing(Setup::new(4, lossy), ENDLESS);
    let message = |id: usize, n: usize| format!("{n} from {id}, {}", "x".repeat(n * 17 % 900)).into_bytes();
    let mut sent = [0, 0];
    let mut refused = 0;
    while sim.world.now() < secs(60) {
        for (id, sent) in sent.iter_mut().enumerate() {
            let now = sim.world.local_now(id);
            let session = sim.world.machine_mut(id).session_mut().expect("a match");
            while *sent < 100 {
                match session.send(now, &message(id, *sent)) {
                    Ok(()) => *sent += 1,
                    Err(SendError::QueueFull) => {
                        refused += 1;
                        break;
                    }
                    Err(error) => panic!("{error}"),
                }
            }
        }
        sim.run_for(ms(50));
    }
    assert!(refused > 0, "the queue never filled up: this test shows little");
    assert_eq!(sim.flaw(true), None);
    for id in 0..2 {
        let received: Vec<Vec<u8>> = sim
            .machine(id)
            .events
            .iter()
            .map(|(_, event)| match event {
                Event::Message(bytes) => bytes.to_vec(),
                other => panic!("{other:?}"),
            })
            .collect();
        let expected: Vec<Vec<u8>> = (0..100).map(|n| message(1 - id, n)).collect();
        assert!(received == expected, "machine {id} has {} of {}", received.len(), sent[1 - id]);
    }
    let now = sim.world.local_now(0);
    let session = sim.world.machine_mut(0).session_mut().expect("a match");
    assert_eq!(session.send(now, &[0; 1_025]), Err(SendError::TooLong { len: 1_025 }));
}

#[test]
fn leaving_is_told_to_the_peer() {
    for leaver in 0..2 {
        let mut sim = playing(Setup::new(5, link()), ENDLESS);
        let leaves_at = sim.world.now();
        sim.world.machine_mut(leaver).leave_at = Some(leaves_at);
        sim.run_for(secs(3));
        assert_eq!(events(&sim, leaver), [Event::Disconnected { reason: Reason::LeftHere }]);
        assert_eq!(events(&sim, 1 - leaver), [Event::Disconnected { reason: Reason::Left }]);
        let (told_at, _) = sim.machine(1 - leaver).events[0];
        assert!(told_at - leaves_at < ms(900), "told after {:?}", told_at - leaves_at);
        assert_eq!(sim.divergence(), None);
    }
}

#[test]
fn match_that_is_over_before_it_begins_is_agreed_on_too() {
    let mut sim =
        SimMatch::new(Setup::new(3, link()), Play { build: |seed| round(seed, 0), script: every_fourth });
    assert!(sim.run_until(secs(5), |sim| (0..2).all(|id| sim.machine(id).ended())));
    for id in 0..2 {
        let told = events(&sim, id);
        assert!(
            matches!(told[..], [Event::Ended(Verdict::Agreed { frame: Frame(0), .. })]),
            "machine {id}: {told:?}"
        );
    }
}

#[test]
fn frequent_polls_at_the_end_do_not_delay_the_next_frame() {
    let mut sim = SimMatch::new(Setup::new(3, link()), SHORT);
    sim.world.machine_mut(0).watch = Some(Box::new(|now, advanced, session, _| {
        if advanced == rebout::Advanced::Ended {
            assert!(session.next_frame_at() <= now + ms(17), "{:?} at {now:?}", session.next_frame_at());
        }
    }));
    assert!(sim.run_until(secs(30), |sim| (0..2).all(|id| sim.machine(id).ended())));
    let now = sim.world.local_now(0);
    let due = sim.machine(0).session().expect("a match").next_frame_at();
    let mut game = round(7, 601);
    let session = sim.world.machine_mut(0).session_mut().expect("a match");
    for _ in 0..200 {
        session.advance(now, &mut game, Buttons::NONE);
    }
    assert!(session.next_frame_at() <= due.max(now) + ms(17));
}

#[test]
fn call_before_a_frame_is_due_tells_nothing_twice() {
    let mut sim = SimMatch::new(Setup::new(3, LinkConfig::clean()), ENDLESS);
    let told = |sim: &SimMatch<Round>| {
        let session = sim.machine(0).session();
        session.is_some_and(|session| session.confirmed().next().is_some() && !session.cues().is_empty())
    };
    assert!(sim.run_until(secs(60), told), "frames settle and cues start");
    let now = sim.world.local_now(0);
    let session = sim.world.machine_mut(0).session_mut().expect("a match");
    let advanced = session.advance(now, &mut round(7, u32::MAX), Buttons::NONE);
    assert_eq!(advanced, rebout::Advanced::NotDue);
    assert_eq!((session.confirmed().count(), session.cues()), (0, &[][..]));
}

#[test]
fn match_that_is_played_to_its_end_is_agreed_on() {
    for seed in 1..=6 {
        let link = if seed % 2 == 0 { link() } else { LinkConfig::lossy() };
        let mut sim = SimMatch::new(Setup::new(seed, link), SHORT);
        assert!(sim.run_until(secs(30), |sim| (0..2).all(|id| sim.machine(id).ended())));
        assert_eq!(sim.divergence(), None);
        assert_eq!(sim.checked(), Frame(601), "every frame was confirmed");
        let direct = sim.direct().expect("a match");
        let checksum = rebout::checksum(direct);
        for id in 0..2 {
            let verdict = Verdict::Agreed { frame: Frame(601), checksum, from_their_log: false };
            assert_eq!(events(&sim, id), [Event::Ended(verdict)], "seed {seed}");
            let game = sim.machine(id).game().expect("a match");
            assert_eq!(game.play, direct.play, "the game is left in its last state");
        }
    }
}

#[test]
fn cheat_just_before_the_end_shows_in_the_verdict() {
    let mut sim = SimMatch::new(Setup::new(6, link()), SHORT);
    sim.world.machine_mut(1).tamper = Some(|game, _| game.cheats_at = 600);
    sim.run_for(secs(15));
    for id in 0..2 {
        let told = events(&sim, id);
        // Frame 600 is a multiple of the cadence, but its checksum comes too late to be compared.
        let Some(Event::Ended(Verdict::Differs { frame: Frame(601), ours, theirs })) = told.last() else {
            panic!("machine {id}: {told:?}");
        };
        assert_ne!(ours, theirs);
        let honest = rebout::checksum(sim.direct().expect("a match"));
        assert_eq!(if id == 0 { *ours } else { *theirs }, honest);
    }
}

#[test]
fn end_at_another_frame_shows_in_the_verdict() {
    let mut sim = SimMatch::new(Setup::new(7, LinkConfig::clean()), SHORT);
    sim.world.machine_mut(1).tamper = Some(|game, _| game.ends_at = u32::MAX);
    sim.run_for(secs(30));
    for told in [0, 1].map(|id| events(&sim, id)) {
        assert!(
            matches!(told[..], [Event::Ended(Verdict::Differs { frame: Frame(601), .. })]),
            "the states are the same, and yet only one is finished: {told:?}"
        );
    }
}

#[test]
fn hit_missed_by_one_machine_at_the_end_is_named_by_field() {
    // Machine 1 has another state from the step into 590 on, after the last checksum, and so never ends at 601.
    let mut sim = SimMatch::new(Setup::new(7, LinkConfig::clean()), SHORT);
    sim.world.machine_mut(1).tamper = Some(|game, _| (game.cheats_at, game.ends_at) = (590, u32::MAX));
    sim.run_for(secs(30));
    for id in 0..2 {
        let told = events(&sim, id);
        let Some(Event::Autopsy(autopsy)) = told.iter().find(|event| matches!(event, Event::Autopsy(_)))
        else {
            panic!("machine {id}: {told:?}");
        };
        assert_eq!(autopsy.first_divergence, Frame(590), "{autopsy}");
        assert_eq!(autopsy.fields[0].path, "play.fighters[0].hp", "{autopsy}");
        assert!(matches!(told.last(), Some(Event::Ended(Verdict::Differs { .. }))), "machine {id}: {told:?}");
    }
}

#[test]
fn delay_that_found_no_room_is_told_later() {
    let mut sim = playing(Setup::new(8, link()), ENDLESS);
    for change in 0..40 {
        let now = sim.world.local_now(0);
        let session = sim.world.machine_mut(0).session_mut().expect("a match");
        session.set_delay(now, change % 9).expect("a delay");
    }
    sim.run_for(secs(3));
    let believed = sim.machine(1).agreed().expect("a match").peer_delay_frames;
    assert_eq!((believed, sim.machine(0).session().expect("a match").delay_frames()), (3, 3));
    assert_eq!(sim.divergence(), None);
}

#[test]
fn many_delay_changes_at_the_end_leave_room_for_the_verdict() {
    let mut sim = SimMatch::new(Setup::new(8, link()), SHORT);
    assert!(sim.run_until(secs(20), |sim| sim.checked() >= Frame(560)));
    // Someone drags a slider, faster than the other side can acknowledge, until the match is over here.
    let mut change = 0;
    while !sim.machine(0).ended() && sim.world.now() < secs(40) {
        for _ in 0..5 {
            change = (change + 1) % 9;
            let now = sim.world.local_now(0);
            let session = sim.world.machine_mut(0).session_mut().expect("a match");
            session.set_delay(now, change).expect("a delay");
        }
        sim.run_for(ms(20));
    }
    assert!(sim.run_until(secs(10), |sim| (0..2).all(|id| sim.machine(id).ended())));
    for id in 0..2 {
        let told = events(&sim, id);
        assert!(matches!(told.last(), Some(Event::Ended(Verdict::Agreed { .. }))), "machine {id}: {told:?}");
    }
    let now = sim.world.local_now(0);
    let session = sim.world.machine_mut(0).session_mut().expect("a match");
    assert_eq!(session.send(now, b"gg"), Err(SendError::Over));
}

#[test]
fn peer_that_vanishes_at_the_end_leaves_it_unconfirmed() {
    let mut sim = SimMatch::new(Setup::new(8, LinkConfig::clean()), SHORT);
    let current =
        |sim: &SimMatch<Round>| sim.machine(1).session().map_or(Frame::ZERO, rebout::Session::current);
    while current(&sim) < Frame(601) {
        sim.run_for(ms(1));
        assert!(sim.world.now() < secs(30), "the match never came to its end");
    }
    // All its inputs are on their way, and its own end is not certain yet.
    let stopped_at = sim.world.now();
    sim.world.stop(1);
    sim.run_for(secs(35));
    let told = &sim.machine(0).events;
    let [(_, Event::Interrupted { .. }), (at, Event::Ended(Verdict::Unconfirmed { frame: Frame(601), .. }))] =
        told[..]
    else {
        panic!("{told:?}");
    };
    let after = at - stopped_at;
    assert!((secs(30)..ms(30_100)).contains(&after), "told after {after:?}");
}

#[test]
fn desync_names_its_first_frame_and_the_last_match() {
    for (on_desync, seed) in [(OnDesync::GoOn, 9), (OnDesync::Stop, 10)] {
        let setup = Setup::new(seed, link()).configure(|config| config.on_desync = on_desync);
        let mut sim = SimMatch::new(setup, ENDLESS);
        sim.world.machine_mut(1).tamper = Some(|game, seat| {
            assert_eq!(seat, Player::Two);
            game.cheats_at = 100;
        });
        sim.run_for(secs(10));
        let mut checksums = [[0; 2]; 2];
        for (id, checksums) in checksums.iter_mut().enumerate() {
            let told = events(&sim, id);
            let desyncs: Vec<_> = told
                .iter()
                .filter_map(|event| if let Event::Desync(desync) = event { Some(desync) } else { None })
                .collect();
            let [desync] = desyncs[..] else { panic!("machine {id}: {told:?}") };
            assert_eq!((desync.frame, desync.last_match), (Frame(120), Some(Frame(90))));
            *checksums = [desync.ours, desync.theirs];
            let ended = told.iter().any(|event| matches!(event, Event::Disconnected { .. }));
            assert_eq!(ended, on_desync == OnDesync::Stop, "{told:?}");
        }
        assert_eq!(checksums[0], [checksums[1][1], checksums[1][0]], "each quotes the other");
        let found = sim.divergence().expect("the oracle sees it too");
        assert_eq!((found.frame, found.player, found.inputs_differ), (Frame(99), Player::Two, false));
    }
}
