//! A machine that is started again, during the handshake or the match.

use super::prove;
use crate::pair::{LATE, Pair, SOON, addr, config, ms, pair, pair_of, pair_with, plays};
use core::time::Duration;
use rebout::lab::{HOST, JOINER};
use rebout::{Event, Lobby, Reason};

#[test]
fn joiner_started_anew_is_believed_when_no_more_frames_come() {
    let mut pair = pair();
    plays(&mut pair, 60);
    let again = config(JOINER).with(|config| config.lobby.entropy = Some(99));
    pair.restart(JOINER, Lobby::join(again, addr(HOST)).unwrap());
    let at = pair.local_now(HOST);
    assert!(
        pair.step_until(SOON, |pair| pair.ending(HOST).is_some()),
        "{}",
        format!("{:?}", pair.machine(HOST))
    );
    assert_eq!(pair.ending(HOST), Some(&Event::Disconnected { reason: Reason::Restarted }));
    assert!(pair.local_now(HOST) - at >= ms(500), "{:?}", pair.local_now(HOST) - at);
    assert!(pair.local_now(HOST) - at < ms(900), "{:?}", pair.local_now(HOST) - at);
    assert_eq!(pair.machine(JOINER).error, None, "and goes on sending HELLO");
    pair.restart(HOST, Lobby::host(config(HOST).with(|config| config.lobby.entropy = Some(98))).unwrap());
    plays(&mut pair, 60);
}

#[test]
fn restart_is_not_believed_while_frames_come() {
    let mut pair = pair();
    plays(&mut pair, 60);
    for nonce in 0..50 {
        prove(&mut pair, addr(JOINER), nonce);
        pair.run_for(ms(20));
    }
    plays(&mut pair, 60);
    assert_eq!(pair.ending(HOST), None);
}

#[test]
fn restarted_host_takes_its_joiner_again() {
    let mut pair = pair();
    plays(&mut pair, 60);
    pair.restart(HOST, Lobby::host(config(HOST).with(|config| config.lobby.entropy = Some(99))).unwrap());
    assert!(pair.step_until(LATE, |pair| pair.ending(JOINER).is_some()));
    assert_eq!(pair.ending(JOINER), Some(&Event::Disconnected { reason: Reason::TimedOut }));
    assert_eq!(pair.lobby_mut(HOST).agreed(), Ok(None), "packets of the old match bring about nothing");
    pair.restart(
        JOINER,
        Lobby::join(config(JOINER).with(|config| config.lobby.entropy = Some(97)), addr(HOST)).unwrap(),
    );
    plays(&mut pair, 60);
}

#[test]
fn host_of_two_that_join_each_other_may_start_anew_too() {
    let join = |id: usize, entropy| {
        Lobby::join(config(id).with(|config| config.lobby.entropy = Some(entropy)), addr(1 - id)).unwrap()
    };
    let mut pair = pair_of([join(HOST, 1), join(JOINER, 2)]);
    plays(&mut pair, 60);
    let host = (0..2).find(|id| pair.session_mut(*id).agreed().is_host).unwrap();
    pair.restart(host, join(host, 5));
    assert!(
        pair.step_until(SOON, |pair| pair.ending(1 - host).is_some()),
        "{}",
        format!("{:?}", pair.machine(1 - host))
    );
    assert_eq!(pair.ending(1 - host), Some(&Event::Disconnected { reason: Reason::Restarted }));
}

#[test]
fn host_started_anew_during_the_handshake_is_found() {
    let configs = [HOST, JOINER].map(|id| config(id).with(|config| config.lobby.ask_before_accepting = true));
    let mut pair = pair_with(configs);
    pair.run_for(ms(700));
    assert!(pair.lobby_mut(HOST).incoming().is_some());
    // The joiner has heard the pings of the one before, with other numbers.
    pair.restart(HOST, Lobby::host(config(HOST).with(|config| config.lobby.entropy = Some(99))).unwrap());
    plays(&mut pair, 60);
}

#[test]
fn joiner_started_anew_during_the_handshake_is_taken() {
    for loads in [false, true] {
        let mut pair = pair();
        pair.machine_mut(HOST).begin_at =
            pair.local_now(HOST) + if loads { Duration::from_secs(2) } else { Duration::ZERO };
        let reached = |pair: &Pair| {
            if loads { pair.machine(HOST).has_agreed() } else { !pair.said_by(HOST, "OFFER").is_empty() }
        };
        assert!(pair.step_until(SOON, reached));
        pair.restart(
            JOINER,
            Lobby::join(config(JOINER).with(|config| config.lobby.entropy = Some(97)), addr(HOST)).unwrap(),
        );
        if loads {
            // The host has agreed with the one before, and finds out when it plays.
            assert!(pair.step_until(LATE, |pair| pair.ending(HOST).is_some()));
            assert_eq!(pair.ending(HOST), Some(&Event::Disconnected { reason: Reason::Restarted }));
            assert_eq!(pair.machine(JOINER).error, None, "the new one was not sent away");
            pair.restart(
                HOST,
                Lobby::host(config(HOST).with(|config| config.lobby.entropy = Some(96))).unwrap(),
            );
        }
        plays(&mut pair, 60);
    }
}
