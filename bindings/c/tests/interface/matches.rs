//! Whole matches through the interface, without a socket and a clock.

use crate::calls::{error, options, sized};
use crate::counters::{Counters, FRAMES};
use crate::pair::{Machine, Pair};
use rebout_c::safe::codes::{EventCode, FinishCode, ReasonCode, Status, VerdictCode};
use rebout_c::*;
use std::ffi::{CStr, CString};
use std::ptr;

#[test]
fn match_in_virtual_time_agrees_and_tells_each_cue_once() {
    let mut pair = Pair::new(45, |_, _| {});
    let overs = pair.finish();
    for over in &overs {
        assert_eq!(over.turn.finish, FinishCode::Played as u32, "{over:?}");
        assert_eq!(over.turn.verdict, VerdictCode::Agreed as u32);
        assert_eq!((over.turn.frame, over.turn.ours), (FRAMES, overs[0].turn.ours));
        assert_eq!(over.text, "The match is over.");
    }
    let [one, two] = &pair.machines;
    assert_eq!(one.game, two.game);
    for machine in [one, two] {
        assert_eq!(machine.confirmed, FRAMES);
        let [start, cancel, confirm] = machine.clicks;
        assert_eq!(start, cancel + confirm);
        // A click for each press, which counts one or two.
        let presses = machine.game.counters.iter().sum::<i32>() as u32;
        assert!(confirm > 20 && (confirm..=2 * confirm).contains(&presses), "{confirm} clicks, {presses}");
        let mut stats = sized::<CStats>();
        let (mut current, mut settled) = (0, 0);
        // SAFETY: a live handle and valid arguments.
        unsafe {
            assert_eq!(rebout_get_stats(machine.handle.0, &raw mut *stats), Status::Ok);
            assert_eq!(rebout_frames(machine.handle.0, &raw mut current, &raw mut settled), Status::Ok);
        }
        assert!(
            stats.rollbacks > 5 && stats.round_trip_nanos > 80_000_000,
            "{} {}",
            stats.rollbacks,
            stats.round_trip_nanos
        );
        assert_eq!(stats.depths.iter().sum::<u64>(), stats.rollbacks);
        assert_eq!((current, settled), (FRAMES, FRAMES));
    }
    assert_eq!(one.clicks[2], two.clicks[2]);
}

#[test]
fn planted_fault_is_named_by_its_region() {
    let mut pair = Pair::new(30, |_, _| {});
    pair.machines[0].is_faulty = true;
    let overs = pair.finish();
    for (machine, over) in pair.machines.iter().zip(&overs) {
        assert_eq!(over.turn.verdict, VerdictCode::Differs as u32, "{over:?}");
        let report = machine.events.iter().find(|(event, _)| *event == EventCode::Autopsy).expect("a report");
        assert!(report.1.contains("counters[0]: ") && !report.1.contains("rng"), "{}", report.1);
        assert!(machine.events.iter().any(|(event, _)| *event == EventCode::Desync));
    }
}

#[test]
fn players_are_known_by_their_keys() {
    let folder = std::env::temp_dir().join(format!("rebout-c-players-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let files = [1, 2].map(|id| CString::new(folder.join(format!("{id}.key")).to_str().unwrap()).unwrap());
    let key_of = |machine: &Machine, of_peer: u32| {
        let (mut key, mut text) = ([0_u8; 32], ptr::null());
        // SAFETY: a live handle and valid arguments.
        unsafe {
            let status = rebout_player_key(machine.handle.0, of_peer, key.as_mut_ptr(), &raw mut text);
            assert_eq!(status, Status::Ok, "{}", error(machine.handle.0));
            assert_eq!(CStr::from_ptr(text).count_bytes(), 19);
            assert_eq!(
                rebout_player_key(machine.handle.0, 2, ptr::null_mut(), ptr::null_mut()),
                Status::Invalid
            );
            assert_eq!(
                rebout_player_key(machine.handle.0, of_peer, ptr::null_mut(), ptr::null_mut()),
                Status::Ok
            );
        }
        key
    };
    let play = |only: Option<CString>| {
        let mut pair = Pair::new(20, |options, id| {
            options.player_key_file = files[id as usize - 1].as_ptr();
            if let Some(only) = only.as_ref().filter(|_| id == 1) {
                options.only = only.as_ptr();
            }
        });
        pair.run(20_000, |machines| machines.iter().all(|m| m.game.frame > 20 || m.over.is_some()));
        pair
    };
    let pair = play(None);
    let [one, two] = &pair.machines;
    assert_eq!([key_of(one, 0), key_of(two, 0)], [key_of(two, 1), key_of(one, 1)]);
    let digits = |key: [u8; 32]| key.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let [own, other] = [key_of(one, 0), key_of(one, 1)].map(digits);
    // The second time the host lets in that player, and another one not.
    let again = play(Some(CString::new(format!("{own}, {other}")).unwrap()));
    assert_eq!(digits(key_of(&again.machines[0], 1)), other);
    let mut pair = Pair::new(20, |options, id| {
        options.player_key_file = files[id as usize - 1].as_ptr();
        if id == 1 {
            options.only = c"0707070707070707070707070707070707070707070707070707070707070707".as_ptr();
        }
    });
    pair.run(20_000, |machines| machines[1].over.is_some());
    let over = pair.machines[1].over.as_ref().unwrap();
    assert!(over.text.contains("lets in other players only"), "{}", over.text);
    assert!(pair.machines[0].notices.iter().any(|text| text.contains("A guest was refused")));
    let mut given = options();
    given.only = c"07".as_ptr();
    let host = Machine::new();
    // SAFETY: a live handle and valid arguments.
    unsafe {
        assert_eq!(rebout_host(host.handle.0, &raw const *given), Status::Invalid);
        assert!(error(host.handle.0).contains("no key of 64 hexadecimal digits"), "{}", error(host.handle.0));
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn terms_names_first_state_and_messages_get_across() {
    let state: &'static [u8] = Box::leak(vec![42; 5_000].into_boxed_slice());
    let mut pair = Pair::new(20, |options, id| {
        options.ask = 1;
        options.first_state_limit = 5_000;
        options.seat = 1;
        if id == 1 {
            (options.first_state, options.first_state_bytes) = (state.as_ptr(), state.len());
        }
    });
    pair.run(20_000, |machines| machines.iter().all(|machine| machine.game.frame > 20));
    for (at, machine) in pair.machines.iter().enumerate() {
        assert_eq!(machine.first_state, state);
        assert_eq!(machine.seat, 1 - at as u32, "the host asked for the second seat");
        let handle = machine.handle.0;
        let mut terms = sized::<CAgreed>();
        let mut peer = sized::<CPeer>();
        let mut name = ptr::null();
        // SAFETY: a live handle and valid arguments.
        unsafe {
            assert_eq!(rebout_agreed(handle, &raw mut *terms), Status::Ok);
            let data: Vec<u8> = (0..terms.user_data_bytes).map(|at| *terms.user_data.add(at)).collect();
            assert_eq!(data, [b"Ben", b"Ann"][at]);
            assert_eq!((terms.is_host, terms.first_state_bytes), (1 - at as u32, 5_000));
            assert_eq!(rebout_name(handle, 1, &raw mut name), Status::Ok);
            assert_eq!(CStr::from_ptr(name), c"Ann");
            assert_eq!(rebout_name(handle, 2, &raw mut name), Status::Invalid);
            assert_eq!(rebout_peer(handle, &raw mut *peer), Status::Ok);
            assert_eq!(peer.is_verified, 1, "by invite");
            assert_eq!(rebout_send(handle, b"hello".as_ptr(), 5), Status::Ok);
            assert_eq!(rebout_send(handle, state.as_ptr(), 1_025), Status::Invalid);
            assert_eq!(rebout_set_delay(handle, 2), Status::Ok);
            assert_eq!(rebout_set_delay(handle, 99), Status::Invalid);
            let mut previous = [0_u8; size_of::<Counters>()];
            let mut phase = -1.0;
            assert_eq!(rebout_previous(handle, previous.as_mut_ptr(), 4, &raw mut phase), Status::TooSmall);
            assert_eq!(
                rebout_previous(handle, previous.as_mut_ptr(), previous.len(), &raw mut phase),
                Status::Ok
            );
            assert_eq!(u32::from_ne_bytes(previous[..4].try_into().unwrap()), machine.game.frame - 1);
            assert!((0.0..=1.0).contains(&phase));
            assert_eq!(rebout_wait(handle, &raw mut *sized::<CTurn>()), Status::Phase);
            assert!(error(handle).contains("rebout_poll"));
        }
    }
    pair.run(2_000, |machines| machines.iter().all(|machine| machine.messages == [b"hello"]));
    for machine in &pair.machines {
        assert!(
            machine.events.iter().any(|(event, _)| *event == EventCode::PeerDelay),
            "{:?}",
            machine.events
        );
    }
}

#[test]
fn pause_leave_and_rematch_work_through_handles() {
    let mut pair = Pair::new(20, |options, _| options.countdown_ms = 500);
    pair.run(20_000, |machines| machines.iter().all(|machine| machine.game.frame > 20));
    let handles = pair.machines.each_ref().map(|machine| machine.handle.0);
    // SAFETY: live handles.
    unsafe {
        assert_eq!(rebout_rematch(handles[0]), Status::Phase, "the match runs");
        assert_eq!(rebout_resume(handles[0]), Status::Phase);
        assert_eq!(rebout_pause(handles[0]), Status::Ok);
        assert_eq!(rebout_pause(handles[0]), Status::Phase);
    }
    pair.run(3_000, |machines| machines.iter().all(|machine| machine.paused_frames > 5));
    // SAFETY: live handles.
    unsafe {
        assert_eq!(rebout_resume(handles[1]), Status::Phase, "the other one paused");
        assert_eq!(rebout_resume(handles[0]), Status::Ok);
    }
    pair.run(3_000, |machines| machines.iter().all(|machine| machine.game.frame > 60));
    // SAFETY: a live handle.
    unsafe { assert_eq!(rebout_leave(handles[1]), Status::Ok) };
    let overs = pair.finish();
    assert_eq!(overs[0].text, "The match is over: the other player left.");
    assert_eq!(overs[1].text, "The match is over: you left.");
    for machine in &mut pair.machines {
        (machine.confirmed, machine.game.frame) = (0, 0);
        // SAFETY: a live handle.
        unsafe { assert_eq!(rebout_rematch(machine.handle.0), Status::Ok, "{}", error(machine.handle.0)) };
    }
    let overs = pair.finish();
    assert!(overs.iter().all(|over| over.turn.verdict == VerdictCode::Agreed as u32), "{overs:?}");
    assert_eq!(ReasonCode::from(rebout::Reason::LeftHere), ReasonCode::LeftHere);
}

#[test]
fn other_versions_refuse_each_other_in_words() {
    let mut pair = Pair::new(5, |options, id| options.content_hash = id);
    pair.run(20_000, |machines| machines[1].over.is_some());
    let over = pair.machines[1].over.take().unwrap();
    assert_eq!(over.turn.finish, FinishCode::Refused as u32);
    assert!(over.text.contains("another version"), "{}", over.text);
    assert!(
        pair.machines[0].notices.iter().any(|text| text.contains("was refused")),
        "{:?}",
        pair.machines[0].notices
    );
}
