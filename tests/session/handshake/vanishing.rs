//! Handshakes with a machine that vanishes, loads for long, is cut off for a while or leaves.

use super::{prove, refusal_to};
use crate::pair::{
    LATE, Pair, SOON, addr, config, events, ms, pair, pair_of, pair_until, pair_with, plays, stranger,
};
use core::time::Duration;
use rebout::lab::forge::{Knows, control, label};
use rebout::lab::wire::message::RefuseField;
use rebout::lab::{HOST, JOINER};
use rebout::wire::control::ControlPayload;
use rebout::{Event, Lobby, LobbyError, Reason, Refusal, Verdict};
use std::net::SocketAddr;

/// Keeps only what is said from now on.
fn restart_recording(pair: &mut Pair) {
    pair.world.network_mut().drop_recording();
    pair.eavesdrop();
}

#[test]
fn mutual_joiner_sends_hello_again_when_the_other_is_gone() {
    let lobbies = [HOST, JOINER].map(|id| {
        let config = config(id).with(|config| {
            config.lobby.entropy = Some(id as u64);
            config.lobby.ask_before_accepting = true;
        });
        Lobby::join(config, addr(1 - id)).unwrap()
    });
    let mut pair = pair_of(lobbies);
    pair.run_for(ms(500));
    let host = (0..2).find(|id| pair.lobby_mut(*id).incoming().is_some()).expect("one hosts");
    pair.machine_mut(1 - host).asleep = true;
    pair.run_for(Duration::from_secs(6));
    assert_eq!(pair.lobby_mut(host).incoming(), None, "its guest is gone");
    // The other comes back, as a host this time.
    let mut again = pair.fork();
    again.restart(1 - host, Lobby::host(config(JOINER)).unwrap());
    assert!(
        again.run_until(SOON, |pair| pair.machine(HOST).has_agreed() && pair.machine(JOINER).has_agreed()),
        "it sends HELLO again"
    );
    // Or it does not.
    pair.run_for(Duration::from_secs(11));
    let after = config(HOST).timeouts.join_timeout;
    assert_eq!(pair.machine(host).error, Some(LobbyError::TimedOut { addr: addr(1 - host), after }));
}

#[test]
fn absent_host_is_told_after_the_timeout() {
    let mut configs = [config(HOST), config(JOINER)];
    configs[JOINER].timeouts.join_timeout = Duration::from_secs(4);
    let mut pair = pair_with(configs);
    pair.machine_mut(HOST).asleep = true;
    pair.run_for(ms(3_990));
    assert_eq!(pair.machine(JOINER).error, None);
    pair.run_for(ms(20));
    let error = pair.machine(JOINER).error.expect("it gives up");
    assert_eq!(error, LobbyError::TimedOut { addr: addr(HOST), after: Duration::from_secs(4) });
    assert_eq!(error.to_string(), "no answer from 192.0.2.1:7001 within 4s");
    assert_eq!(pair.said_by(JOINER, "HELLO").len(), 20, "five a second");
    restart_recording(&mut pair);
    pair.run_for(SOON);
    assert!(pair.said().count() == 0, "and is silent then");
}

#[test]
fn joiner_may_send_hello_without_a_timeout() {
    let mut configs = [config(HOST), config(JOINER)];
    configs[JOINER].timeouts.join_timeout = Duration::MAX;
    let mut pair = pair_with(configs);
    pair.machine_mut(HOST).asleep = true;
    pair.run_for(Duration::from_secs(120));
    pair.machine_mut(HOST).asleep = false;
    plays(&mut pair, 60);
}

#[test]
fn host_that_vanishes_after_the_offer_is_given_up() {
    let mut pair = pair();
    assert!(pair.step_until(SOON, |pair| !pair.said_by(JOINER, "CONNECT_REQ").is_empty()));
    pair.machine_mut(HOST).asleep = true;
    assert!(pair.step_until(LATE, |pair| pair.machine(JOINER).error.is_some()));
    assert!(matches!(pair.machine(JOINER).error, Some(LobbyError::TimedOut { .. })));
}

#[test]
fn joiner_that_vanishes_in_the_handshake_makes_room() {
    for (what, count) in [("HELLO", 2), ("PONG", 2), ("CONNECT_REQ", 0)] {
        let mut pair = pair();
        if what == "CONNECT_REQ" {
            pair.lose(JOINER, what, u32::MAX);
            pair.step_until(SOON, |pair| !pair.said_by(JOINER, what).is_empty());
        } else {
            pair.lose(HOST, "OFFER", u32::MAX);
            pair.step_until(SOON, |pair| pair.said_by(JOINER, what).len() == count);
            pair.run_for(ms(31));
        }
        pair.machine_mut(JOINER).asleep = true;
        prove(&mut pair, stranger(), 9);
        assert_eq!(
            refusal_to(&pair, stranger()).map(|refuse| refuse.field),
            Some(RefuseField::Full),
            "{what}"
        );
        pair.run_for(Duration::from_secs(6));
        restart_recording(&mut pair);
        let elsewhere = SocketAddr::from(([203, 0, 113, 10], 1));
        prove(&mut pair, elsewhere, 10);
        assert!(pair.said().any(|said| said.to == elsewhere && label(said.datagram) == "OFFER"), "{what}");
    }
}

#[test]
fn guest_that_never_takes_the_seat_makes_room_in_5_seconds() {
    // The same HELLO again and again, or a new one each time: the guest begins again.
    for begins_anew in [false, true] {
        let mut pair = pair();
        pair.machine_mut(JOINER).asleep = true;
        prove(&mut pair, stranger(), 9);
        let elsewhere = SocketAddr::from(([203, 0, 113, 10], 1));
        for second in 0..5_u64 {
            prove(&mut pair, stranger(), 9 + if begins_anew { second } else { 0 });
            prove(&mut pair, elsewhere, 100 + second);
            assert_eq!(refusal_to(&pair, elsewhere).map(|refuse| refuse.field), Some(RefuseField::Full));
            pair.run_for(ms(980));
        }
        pair.run_for(ms(400));
        prove(&mut pair, stranger(), 9);
        prove(&mut pair, elsewhere, 200);
        let offered = pair.said().any(|said| said.to == elsewhere && label(said.datagram) == "OFFER");
        assert!(offered, "begins anew: {begins_anew}");
    }
}

#[test]
fn joiner_that_vanishes_after_its_request_is_lost() {
    let mut pair = pair();
    assert!(pair.step_until(SOON, |pair| pair.machine(HOST).has_agreed()));
    pair.machine_mut(JOINER).asleep = true;
    assert!(pair.step_until(LATE, |pair| pair.ending(HOST).is_some()));
    assert_eq!(pair.ending(HOST), Some(&Event::Disconnected { reason: Reason::TimedOut }));
}

#[test]
fn guest_that_says_farewell_and_nothing_more_makes_room_soon() {
    let mut configs = [config(HOST), config(JOINER)];
    configs[HOST].lobby.ask_before_accepting = true;
    let mut pair = pair_with(configs);
    pair.run_for(ms(500));
    let knows = Knows::of(&pair, HOST);
    let farewell = control(knows.header, &ControlPayload::Disconnect);
    pair.inject(HOST, addr(JOINER), &farewell);
    pair.run_for(ms(700));
    assert!(pair.lobby_mut(HOST).incoming().is_some(), "it goes on speaking, so it has not left");
    pair.machine_mut(JOINER).asleep = true;
    pair.inject(HOST, addr(JOINER), &control(Knows::of(&pair, HOST).header, &ControlPayload::Disconnect));
    pair.run_for(ms(400));
    assert!(pair.lobby_mut(HOST).incoming().is_some());
    pair.run_for(ms(200));
    assert_eq!(pair.lobby_mut(HOST).incoming(), None);
}

#[test]
fn one_side_may_load_for_eight_seconds() {
    for slow in [HOST, JOINER] {
        let mut pair = pair();
        let until = pair.local_now(HOST) + Duration::from_secs(8);
        pair.machine_mut(slow).begin_at = until;
        pair.step_until(SOON, |pair| pair.machine(HOST).has_agreed() && pair.machine(JOINER).has_agreed());
        pair.run_for(ms(500));
        // The quick side even has a lot to say meanwhile.
        let now = pair.local_now(HOST);
        for n in 0..12_u8 {
            pair.session_mut(1 - slow).send(now, &[n]).unwrap();
        }
        plays(&mut pair, 60);
        assert_eq!(events(&pair, 1 - slow), [], "never interrupted");
        let said: Vec<u8> = pair.told(slow).filter_map(message_byte).collect();
        assert_eq!(said, (0..12).collect::<Vec<u8>>());
        let now = pair.local_now(HOST);
        pair.session_mut(slow).send(now, b"!").unwrap();
        pair.run_for(SOON);
        assert_eq!(events(&pair, 1 - slow).len(), 1, "and the other way too");
    }
}

fn message_byte(event: &Event) -> Option<u8> {
    match event {
        Event::Message(bytes) => Some(bytes[0]),
        _ => None,
    }
}

#[test]
fn messages_survive_any_blackout_that_the_match_survives() {
    for (one_way, seconds) in [(false, 4), (true, 4), (false, 20), (true, 20)] {
        let configs = [HOST, JOINER].map(|id| {
            config(id).with(|config| {
                config.timeouts.lost_after = Duration::from_secs(60);
                config.timeouts.no_progress_after = Duration::from_secs(60);
            })
        });
        let mut pair = pair_with(configs);
        plays(&mut pair, 30);
        let now = pair.local_now(HOST);
        for n in 0..12_u8 {
            for id in [HOST, JOINER] {
                pair.session_mut(id).send(now, &[n]).unwrap();
            }
        }
        // Everything is lost, one way or both, and everything is sent again and again.
        let names = ["RBN1", "USER", "REPORT", "PING", "PONG", "HEARTBEAT"];
        let sides: &[usize] = if one_way { &[HOST] } else { &[HOST, JOINER] };
        for id in sides {
            names.iter().for_each(|name| pair.lose(*id, name, u32::MAX));
        }
        pair.run_for(Duration::from_secs(seconds));
        pair.world.network_mut().lose_nothing();
        plays(&mut pair, 200);
        for id in [HOST, JOINER] {
            let said: Vec<u8> = pair.told(id).filter_map(message_byte).collect();
            assert_eq!(
                said,
                (0..12).collect::<Vec<u8>>(),
                "{seconds} s, one way {one_way}: {:?}",
                pair.machine(id)
            );
            // After a very long blackout the numbers have come apart, and a RESYNC mends that.
            let refused = pair.machine(id).refused().of(Refusal::FarSequence);
            assert!(refused <= if seconds > 5 { 5 } else { 0 }, "{seconds} s, one way {one_way}: {refused}");
        }
    }
}

#[test]
fn match_that_is_left_tells_the_other_why() {
    let mut pair = pair();
    plays(&mut pair, 60);
    pair.session_mut(JOINER).leave();
    let at = pair.local_now(HOST);
    assert!(pair.step_until(SOON, |pair| pair.ending(HOST).is_some()));
    assert_eq!(pair.ending(HOST), Some(&Event::Disconnected { reason: Reason::Left }));
    let after = pair.local_now(HOST) - at;
    assert!(after < ms(100), "the token of a LEAVING proves it: {after:?}");
    assert_eq!(pair.ending(JOINER), Some(&Event::Disconnected { reason: Reason::LeftHere }));
}

#[test]
fn match_is_played_to_its_end_and_both_know_it() {
    for lost in ["", "VERDICT", "RBN1"] {
        let mut pair = pair_until::<90>([config(HOST), config(JOINER)]);
        plays(&mut pair, 80);
        pair.lose(HOST, lost, 5);
        pair.lose(JOINER, lost, 5);
        assert!(pair.step_until(SOON, |pair| pair.ending(HOST).is_some() && pair.ending(JOINER).is_some()));
        let verdict = |pair: &Pair, id| match pair.ending(id) {
            Some(Event::Ended(Verdict::Agreed { frame, checksum, .. })) => (frame.0, *checksum),
            other => panic!("{lost} lost: {other:?}"),
        };
        assert_eq!(verdict(&pair, HOST), verdict(&pair, JOINER));
        assert_eq!((verdict(&pair, HOST).0, pair.checked().0), (90, 90));
    }
}

#[test]
fn lobby_that_joins_again_has_all_its_time() {
    let lobbies = [HOST, JOINER].map(|id| {
        let config = config(id).with(|config| {
            config.lobby.entropy = Some(id as u64);
            config.lobby.ask_before_accepting = true;
        });
        Lobby::join(config, addr(1 - id)).unwrap()
    });
    let mut pair = pair_of(lobbies);
    pair.run_for(ms(500));
    let host = (0..2).find(|id| pair.lobby_mut(*id).incoming().is_some()).expect("one hosts");
    pair.run_for(Duration::from_secs(20));
    pair.machine_mut(1 - host).asleep = true;
    while pair.lobby_mut(host).incoming().is_some() {
        pair.run_for(ms(10));
    }
    // Ten seconds from here on, not from when it began to wait.
    pair.run_for(ms(9_900));
    assert_eq!(pair.machine(host).error, None);
    pair.run_for(ms(300));
    assert!(matches!(pair.machine(host).error, Some(LobbyError::TimedOut { .. })));
}

#[test]
fn stranger_that_never_takes_the_seat_does_not_keep_it() {
    for restarts in [false, true] {
        let mut pair = pair();
        pair.machine_mut(JOINER).asleep = true;
        prove(&mut pair, stranger(), 9);
        assert!(pair.said_by(HOST, "OFFER").len() == 1, "it is offered the seat");
        // It says HELLO on and on, and begins again and again if that helps it.
        for second in 0..6 {
            pair.run_for(ms(1_000));
            prove(&mut pair, stranger(), if restarts { 10 + second } else { 9 });
        }
        pair.machine_mut(JOINER).asleep = false;
        plays(&mut pair, 60);
    }
}
