//! Spectators: in virtual time, and on UDP with one that serves another.

use crate::calls::{error, sized};
use crate::connecting::{quick, text_of, until};
use crate::counters::{Counters, FRAMES, table};
use crate::misuse::Owned;
use crate::pair::{Machine, Pair};
use rebout_c::safe::codes::{FinishCode, Status, VerdictCode, ViewingCode, WatchingCode};
use rebout_c::*;
use std::ffi::CStr;
use std::ptr;

fn info(machine: &Machine) -> Box<CWatch> {
    let mut info = sized::<CWatch>();
    // SAFETY: a live handle and a struct.
    let status = unsafe { rebout_watch_get_info(machine.handle.0, &raw mut *info) };
    assert_eq!(status, Status::Ok, "{}", error(machine.handle.0));
    info
}

fn audience(machine: &Machine) -> Box<CAudience> {
    let mut audience = sized::<CAudience>();
    // SAFETY: a live handle and a struct.
    let status = unsafe { rebout_get_audience(machine.handle.0, &raw mut *audience) };
    assert_eq!(status, Status::Ok, "{}", error(machine.handle.0));
    audience
}

/// A pair whose host lets in spectators, and one spectator at the third machine.
fn watched(change: impl Fn(&mut COptions, u64)) -> Pair {
    let mut pair = Pair::new(20, |options, id| {
        options.max_spectators = if id == 1 { 2 } else { 0 };
        change(options, id);
    });
    let invite = text_of(pair.machines[0].handle.0, rebout_share_to_watch);
    let mut spectator = Machine::new();
    spectator.id = 3;
    let mut given = quick();
    (given.bind, given.entropy) = (ptr::null(), 500);
    let mut transport = sized::<TransportTable>();
    transport.local_id = 3;
    let handle = spectator.handle.0;
    // SAFETY: a live handle and valid arguments.
    unsafe {
        let play = text_of(pair.machines[0].handle.0, rebout_share);
        let status = rebout_watch_on(handle, &raw const *given, &raw const *transport, play.as_ptr());
        assert_eq!(status, Status::Failed, "that is the invite to play");
        assert!(error(handle).contains("no invite to watch"), "{}", error(handle));
        let status = rebout_watch_on(handle, &raw const *given, &raw const *transport, invite.as_ptr());
        assert_eq!(status, Status::Ok, "{}", error(handle));
        let status = rebout_watch_on(handle, &raw const *given, &raw const *transport, invite.as_ptr());
        assert_eq!(status, Status::Phase, "twice");
    }
    pair.others.push(spectator);
    pair
}

#[test]
fn spectator_sees_the_match_of_the_players_and_the_next_one() {
    let mut pair = watched(|_, _| {});
    for number in 1..=2 {
        let overs = pair.finish();
        while pair.others[0].over.is_none() {
            pair.run(1, |_| true);
            assert!(pair.now < 120_000_000_000);
        }
        let over = pair.others[0].over.take().unwrap();
        assert_eq!(over.turn.finish, FinishCode::Played as u32, "{over:?}");
        assert_eq!(over.turn.verdict, VerdictCode::Agreed as u32);
        assert_eq!((over.turn.frame, over.turn.ours), (FRAMES, overs[0].turn.ours), "match {number}");
        let spectator = &pair.others[0];
        assert_eq!(spectator.game, pair.machines[0].game, "match {number}");
        assert!(spectator.clicks[0] > 20, "{:?}", spectator.clicks);
        let seen = info(spectator);
        assert_eq!((seen.watching, seen.viewing), (WatchingCode::Complete, ViewingCode::Ended));
        assert_eq!((seen.match_number, seen.frame, seen.newest_frame), (number, FRAMES, FRAMES));
        assert!(seen.checksums_compared >= 3, "{}", seen.checksums_compared);
        // SAFETY: the bytes live until the next turn.
        let bytes = unsafe { std::slice::from_raw_parts(seen.recording, seen.recording_bytes) };
        assert_eq!(rebout::replay::Recording::open(bytes.to_vec()).unwrap().frames(), FRAMES);
        let handle = spectator.handle.0;
        let mut replay = sized::<CReplay>();
        // SAFETY: live handles and valid arguments.
        unsafe {
            assert_eq!(rebout_replay_get_info(handle, &raw mut *replay), Status::Ok, "{}", error(handle));
            assert_eq!((replay.frames, CStr::from_ptr(replay.name_two)), (FRAMES, c"Ben"));
            let mut name = ptr::null();
            assert_eq!(rebout_name(handle, 0, &raw mut name), Status::Ok, "{}", error(handle));
            assert_eq!(CStr::from_ptr(name), c"Ann");
        }
        assert_eq!((audience(&pair.machines[0]).joined, audience(&pair.machines[0]).spectators), (1, 1));
        for machine in pair.machines.iter_mut().chain(&mut pair.others) {
            (machine.confirmed, machine.over) = (0, None);
            *machine.game = Counters::default();
            // SAFETY: a live handle.
            let status = unsafe { rebout_rematch(machine.handle.0) };
            assert_eq!(status, Status::Ok, "{}", error(machine.handle.0));
        }
    }
}

#[test]
fn spectator_pauses_goes_back_and_goes_live() {
    let mut pair = watched(|_, _| {});
    pair.run(20_000, |machines| machines[0].game.frame > 110);
    let handle = pair.others[0].handle.0;
    let frames = |pair: &Pair| {
        let (mut shown, mut newest) = (0, 0);
        // SAFETY: a live handle.
        let status = unsafe { rebout_frames(pair.others[0].handle.0, &raw mut shown, &raw mut newest) };
        assert_eq!(status, Status::Ok, "{}", error(pair.others[0].handle.0));
        [shown, newest]
    };
    // SAFETY: a live handle.
    unsafe { assert_eq!(rebout_pause(handle), Status::Ok, "{}", error(handle)) };
    let [paused_at, _] = frames(&pair);
    pair.run(20_000, |machines| machines[0].game.frame > 150);
    let [shown, newest] = frames(&pair);
    assert!(shown == paused_at && newest > shown && pair.others[0].paused_frames > 10);
    assert_eq!(info(&pair.others[0]).viewing, ViewingCode::Paused);
    // SAFETY: a live handle.
    unsafe {
        assert_eq!(rebout_replay_seek(handle, 7), Status::Ok);
        assert_eq!((frames(&pair)[0], pair.others[0].game.frame), (7, 7));
        assert_eq!(rebout_resume(handle), Status::Ok);
        let mut text = ptr::null();
        assert_eq!(rebout_recording(handle, &raw mut text), Status::Phase);
        assert_eq!(rebout_send(handle, b"x".as_ptr(), 1), Status::Phase, "a spectator sends nothing");
        let game = table(&raw mut *pair.others[0].game);
        assert_eq!(rebout_start(handle, &raw const game), Status::Phase, "it is shown already");
    }
    pair.run(1, |_| true);
    assert_eq!(info(&pair.others[0]).viewing, ViewingCode::Behind);
    // SAFETY: a live handle.
    unsafe { assert_eq!(rebout_replay_seek(handle, u32::MAX), Status::Ok) };
    pair.finish();
    while pair.others[0].over.is_none() {
        pair.run(1, |_| true);
        assert!(pair.now < 120_000_000_000);
    }
    assert_eq!(pair.others[0].game, pair.machines[0].game);
}

#[test]
fn spectator_whose_game_differs_is_told() {
    let mut pair = watched(|_, _| {});
    pair.others[0].is_faulty = true;
    pair.finish();
    while pair.others[0].over.is_none() {
        pair.run(1, |_| true);
        assert!(pair.now < 120_000_000_000);
    }
    let over = pair.others[0].over.take().unwrap();
    assert_eq!(over.turn.finish, FinishCode::Ended as u32, "{over:?}");
    assert!(over.text.starts_with("The match is not shown as it was played: "), "{over:?}");
}

#[test]
fn spectator_serves_another_on_udp() {
    let mut machines = [(); 4].map(|()| Machine::new());
    let [host, guest, first, second] = &mut machines;
    let mut given = quick();
    // SAFETY: live handles and valid arguments.
    unsafe {
        let nobody = Owned::new();
        assert_eq!(rebout_share_to_watch(nobody.0, &mut ptr::null()), Status::Phase);
        given.max_spectators = 1;
        assert_eq!(rebout_host(host.handle.0, &raw const *given), Status::Ok);
        let watch = text_of(host.handle.0, rebout_share_to_watch);
        let play = text_of(host.handle.0, rebout_share);
        let ok = |handle: *mut Handle, status| assert_eq!(status, Status::Ok, "{}", error(handle));
        ok(first.handle.0, rebout_watch(first.handle.0, &raw const *given, watch.as_ptr()));
        given.max_spectators = 0;
        assert_eq!(rebout_watch_serve(first.handle.0, &raw const *given), Status::Invalid);
        given.max_spectators = 3;
        ok(first.handle.0, rebout_watch_serve(first.handle.0, &raw const *given));
        let served = text_of(first.handle.0, rebout_share_to_watch);
        assert_ne!(served, watch);
        ok(second.handle.0, rebout_watch(second.handle.0, &raw const *given, served.as_ptr()));
        given.max_spectators = 0;
        ok(guest.handle.0, rebout_join(guest.handle.0, &raw const *given, play.as_ptr()));
    }
    let mut others = [host, guest, first, second];
    until(&mut others, |machines| machines[3].over.is_some() && machines[2].over.is_some());
    let [host, _, first, second] = others;
    for spectator in [&*first, &*second] {
        let over = spectator.over.as_ref().unwrap();
        assert_eq!(over.turn.verdict, VerdictCode::Agreed as u32, "{over:?}");
        assert_eq!(spectator.game, host.game);
    }
    assert_eq!((audience(host).spectators, audience(first).joined), (1, 1));
    let mut other = quick();
    other.max_spectators = 1;
    let stranger = Machine::new();
    // SAFETY: live handles and valid arguments.
    unsafe {
        assert_eq!(rebout_host(stranger.handle.0, &raw const *other), Status::Ok);
        let text = text_of(stranger.handle.0, rebout_share_to_watch);
        let status = rebout_watch_another(second.handle.0, &raw const *other, text.as_ptr());
        assert_eq!(status, Status::Failed);
        assert!(error(second.handle.0).contains("match of somebody else"), "{}", error(second.handle.0));
        let text = text_of(first.handle.0, rebout_share_to_watch);
        let status = rebout_watch_another(second.handle.0, &raw const *other, text.as_ptr());
        assert_eq!(status, Status::Ok, "{}", error(second.handle.0));
        assert_eq!(rebout_leave(first.handle.0), Status::Ok);
        assert_eq!(rebout_close(first.handle.0), Status::Ok);
        assert_eq!(rebout_watch_get_info(first.handle.0, &raw mut *sized()), Status::Phase, "closed");
    }
}
