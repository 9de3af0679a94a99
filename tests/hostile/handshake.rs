//! How two machines come to a match: what is agreed on, what is lost on the way, who vanishes, who does not fit.

use crate::forge::{control, hello, message, message_of};
use crate::pair::{HOST, JOINER, Pair, addr, config, label, ms, stranger};
use crate::{forge, heap};
use rebout::lab::{Bout, Play, Setup, every_fourth};
use rebout::net::link::{Chance, LinkConfig};
use rebout::wire::control::{Header, Payload};
use rebout::wire::message::{ForeignHello, Message, Ordered, Refuse, RefuseField};
use rebout::{Event, Lobby, LobbyError, Player, Protocol, Reason, Refusal, Verdict};
use std::net::SocketAddr;
use std::time::Duration;

const SOON: Duration = Duration::from_secs(3);
const LATE: Duration = Duration::from_secs(20);

type When = fn(&Pair) -> bool;

fn pair() -> Pair {
    let mut pair = Pair::new([config(HOST), config(JOINER)]);
    pair.record();
    pair
}

/// Plays so many frames; every one of them is compared with the direct simulation.
fn plays(pair: &mut Pair, frames: u32) {
    let goal = pair.checked + frames;
    let played = pair.run_until(LATE, |pair| pair.checked >= goal);
    assert!(played, "{} of {goal} frames: {}, {}", pair.checked, pair.story(HOST), pair.story(JOINER));
}

/// The last CHALLENGE that a host has sent to an address: its cookie.
fn cookie_for(pair: &Pair, to: SocketAddr) -> Option<u64> {
    pair.tape.iter().rev().filter(|(_, addr, _)| *addr == to).find_map(|(_, _, bytes)| {
        match message_of(bytes)? {
            Message::Challenge(challenge) => Some(challenge.cookie),
            _ => None,
        }
    })
}

/// Says HELLO from an address, and again with the cookie that comes back.
fn prove(pair: &mut Pair, from: SocketAddr, nonce: u64) {
    pair.inject(HOST, from, &message(Header::default(), &hello(nonce, 0)));
    pair.step();
    let cookie = cookie_for(pair, from).expect("a challenge");
    pair.inject(HOST, from, &message(Header::default(), &hello(nonce, cookie)));
    pair.step();
}

/// What a host refused an address for, last.
fn refusal_to(pair: &Pair, to: SocketAddr) -> Option<Refuse> {
    pair.tape.iter().rev().filter(|(_, addr, _)| *addr == to).find_map(|(_, _, bytes)| {
        match message_of(bytes)? {
            Message::Refuse(refuse) => Some(refuse),
            _ => None,
        }
    })
}

#[test]
fn two_machines_agree_and_play() {
    let mut pair = pair();
    plays(&mut pair, 60);
    let agreed = [HOST, JOINER].map(|id| pair.sides[id].session().agreed().clone());
    assert_eq!(agreed.each_ref().map(|agreed| agreed.seat), [Player::One, Player::Two]);
    assert_eq!(agreed.each_ref().map(|agreed| agreed.seed), [77, 77]);
    assert_eq!(agreed.each_ref().map(|agreed| agreed.is_host), [true, false]);
    assert_eq!(agreed[0].token, agreed[1].token);
    assert_eq!(agreed.each_ref().map(|agreed| agreed.peer), [addr(JOINER), addr(HOST)]);
    assert_eq!(agreed.each_ref().map(|agreed| &agreed.user_data[..]), [&b"joiner"[..], b"host"]);
    assert_eq!(pair.sides.each_ref().map(|side| side.refused().total()), [0, 0], "nothing is out of order");
}

#[test]
fn they_agree_over_every_kind_of_link() {
    let percent = |percent| Chance::from_percent(percent).unwrap();
    let base = LinkConfig::new(ms(40));
    let links = [
        ("lossy", LinkConfig { loss: percent(50.0), ..base }),
        ("duplicating", LinkConfig { duplicate: percent(50.0), ..base }),
        ("reordering", LinkConfig { reorder: percent(30.0), reorder_delay: ms(200), ..base }),
        ("jittering", LinkConfig { jitter: ms(80), keep_order: false, ..base }),
        ("truncating", LinkConfig { truncate: percent(20.0), ..base }),
    ];
    let play = Play {
        build: |seed| games::playground::Playground::new(seed).expect("a seed"),
        script: every_fourth,
    };
    for (name, link) in links {
        for seed in 0..6 {
            for delay in [Some(0), None] {
                let setup = Setup::new(seed, link).configure(|config| config.delay_frames = delay);
                let mut bout = Bout::new(setup, play);
                let agreed = bout.run_until(Duration::from_secs(10), |bout| {
                    (0..2).all(|id| bout.machine(id).session().is_some())
                });
                let errors = [0, 1].map(|id| bout.machine(id).error);
                assert!(agreed, "{name}, seed {seed}, delay {delay:?}: {errors:?}");
                let [one, two] = [0, 1].map(|id| bout.machine(id).agreed().cloned().expect("agreed"));
                assert_eq!(
                    (one.token, one.seed, one.seat.other()),
                    (two.token, two.seed, two.seat),
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn any_message_of_the_handshake_may_be_lost() {
    let messages = [
        (JOINER, "HELLO"),
        (HOST, "CHALLENGE"),
        (HOST, "OFFER"),
        (JOINER, "CONNECT_REQ"),
        (HOST, "CONNECT_ACK"),
        (HOST, "PING"),
        (JOINER, "PONG"),
        (HOST, "HEARTBEAT"),
        (JOINER, "RBN1"),
        (HOST, "RBN1"),
        (JOINER, "DELAY"),
    ];
    for (from, what) in messages {
        for times in [1, 2, 5] {
            for delay in [Some(0), None] {
                let configs = [HOST, JOINER].map(|id| rebout::Config { delay_frames: delay, ..config(id) });
                let mut pair = Pair::new(configs);
                pair.latency = ms(60);
                pair.losses.push((from, what.into(), times));
                let agreed = pair.run_until(SOON + SOON, |pair| pair.agreed(HOST) && pair.agreed(JOINER));
                assert!(agreed, "{what} lost {times} times: {}, {}", pair.story(HOST), pair.story(JOINER));
                plays(&mut pair, 30);
            }
        }
    }
}

#[test]
fn a_valid_input_stands_in_for_a_connect_ack_that_never_comes() {
    let mut pair = pair();
    pair.losses.push((HOST, "CONNECT_ACK".into(), u32::MAX));
    plays(&mut pair, 60);
    assert!(!pair.sent(HOST, "CONNECT_ACK").is_empty(), "it was sent, and lost");
}

#[test]
fn what_must_match_is_named_with_both_values_on_both_sides() {
    type Change = fn(&mut rebout::Config);
    let cases: [(RefuseField, Change, u64, u64); 3] = [
        (RefuseField::GameId, |config| config.game_id = 0xB1, 0xB0, 0xB1),
        (RefuseField::ContentHash, |config| config.content_hash = 9, 0, 9),
        (RefuseField::FrameRate, |config| config.frame_rate = 50, 60, 50),
    ];
    for (field, change, at_host, at_joiner) in cases {
        let mut configs = [config(HOST), config(JOINER)];
        change(&mut configs[JOINER]);
        let mut pair = Pair::new(configs);
        assert!(pair.run_until(SOON, |pair| pair.sides[JOINER].error.is_some()), "{field}");
        let error = pair.sides[JOINER].error.unwrap();
        assert_eq!(error, LobbyError::Incompatible { field, ours: at_joiner, theirs: at_host });
        assert!(error.to_string().contains(&field.to_string()), "{error}");
        let mismatch = pair.sides[HOST].lobby().take_mismatch().expect("the host is told too");
        assert_eq!((mismatch.field, mismatch.ours, mismatch.theirs), (field, at_host, at_joiner));
        assert_eq!(mismatch.addr, addr(JOINER));
        assert_eq!(pair.sides[HOST].lobby().take_mismatch(), None, "told once");
        assert_eq!(pair.sides[HOST].lobby().agreed(), Ok(None), "the host goes on waiting");
    }
}

#[test]
fn another_version_is_told_once_its_address_is_proven() {
    let mut pair = pair();
    pair.sides[JOINER].asleep = true;
    let foreign = |cookie| {
        let hello = ForeignHello { version: 7, nonce: 5, cookie };
        message(Header::default(), &Message::ForeignHello(hello))
    };
    pair.inject(HOST, stranger(), &foreign(0));
    pair.step();
    assert_eq!(refusal_to(&pair, stranger()), None, "nothing but a challenge before that");
    assert_eq!(pair.sides[HOST].lobby().take_mismatch(), None);
    let cookie = cookie_for(&pair, stranger()).unwrap();
    pair.inject(HOST, stranger(), &foreign(cookie));
    pair.step();
    let refuse = refusal_to(&pair, stranger()).unwrap();
    assert_eq!((refuse.nonce, refuse.field, refuse.ours, refuse.theirs), (5, RefuseField::Version, 1, 7));
    let mismatch = pair.sides[HOST].lobby().take_mismatch().unwrap();
    assert_eq!((mismatch.field, mismatch.ours, mismatch.theirs), (RefuseField::Version, 1, 7));
    assert!(pair.to_strangers <= pair.from_strangers);

    // And the joiner of our version hears it from a host of another.
    pair.sides[JOINER].asleep = false;
    pair.sides[HOST].asleep = true;
    pair.run_for(ms(10));
    let bytes = pair.sent(JOINER, "HELLO").remove(0);
    let Some(Message::Hello(said)) = message_of(&bytes) else { panic!() };
    let refuse = Refuse { nonce: said.nonce, field: RefuseField::Version, ours: 7, theirs: 1 };
    pair.inject(JOINER, addr(HOST), &message(Header::default(), &Message::Refuse(refuse)));
    pair.step();
    let error = pair.sides[JOINER].error.unwrap();
    assert_eq!(error, LobbyError::Incompatible { field: RefuseField::Version, ours: 1, theirs: 7 });
    assert_eq!(error.to_string(), "the version differs: 1 here, 7 at the host");
}

#[test]
fn someone_who_does_not_fit_does_not_keep_the_host_awake() {
    let mut configs = [config(HOST), config(JOINER)];
    configs[JOINER].game_id = 1;
    let mut pair = Pair::new(configs);
    pair.run_until(SOON, |pair| pair.sides[JOINER].error.is_some());
    let now = pair.now;
    assert!(!pair.sides[HOST].lobby().wants_attention(now), "a driver would never sleep again");
}

#[test]
fn a_third_machine_is_told_that_the_host_is_full() {
    let reached: [(&str, When); 4] = [
        ("offered", |pair| !pair.sent(HOST, "OFFER").is_empty()),
        ("agreed", |pair| pair.agreed(HOST)),
        ("playing", |pair| pair.checked > 30),
        ("over", |pair| pair.sides[HOST].ended()),
    ];
    for (when, reached) in reached {
        let mut pair = pair();
        pair.last_frame = 60;
        assert!(pair.run_until(LATE, reached), "{when}");
        pair.inject(HOST, stranger(), &message(Header::default(), &hello(5, 0)));
        pair.step();
        assert_eq!(refusal_to(&pair, stranger()), None, "{when}: not before it is proven");
        prove(&mut pair, stranger(), 5);
        let refuse = refusal_to(&pair, stranger()).unwrap_or_else(|| panic!("{when}"));
        assert_eq!((refuse.nonce, refuse.field), (5, RefuseField::Full), "{when}");
        assert!(pair.to_strangers <= pair.from_strangers, "{when}");
        assert!(pair.run_until(LATE, |pair| pair.checked == 60), "{when}: and the match goes on");
    }
}

#[test]
fn a_joiner_is_told_that_the_host_is_full_or_declines() {
    let mut full = pair();
    full.sides[JOINER].asleep = true;
    prove(&mut full, stranger(), 5);
    full.sides[JOINER].asleep = false;
    full.run_until(SOON, |pair| pair.sides[JOINER].error.is_some());
    assert_eq!(full.sides[JOINER].error, Some(LobbyError::Full));

    let mut configs = [config(HOST), config(JOINER)];
    configs[HOST].ask_before_accepting = true;
    let mut declined = Pair::new(configs);
    declined.run_for(ms(500));
    declined.sides[HOST].lobby().decline();
    declined.run_until(SOON, |pair| pair.sides[JOINER].error.is_some());
    assert_eq!(declined.sides[JOINER].error, Some(LobbyError::Declined));
    assert_eq!(declined.sides[HOST].lobby().incoming(), None);
    let again = rebout::Config { entropy: Some(5), ..config(JOINER) };
    declined.restart(JOINER, Lobby::join(again, addr(HOST)).unwrap());
    declined.run_for(ms(500));
    let incoming = declined.sides[HOST].lobby().incoming();
    assert_eq!(incoming.map(|incoming| incoming.addr), Some(addr(JOINER)), "who asks again is seen again");
    declined.sides[HOST].lobby().accept();
    plays(&mut declined, 30);
}

#[test]
fn a_host_sees_who_comes_before_it_accepts() {
    let mut configs = [config(HOST), config(JOINER)];
    configs[HOST].ask_before_accepting = true;
    configs[HOST].delay_frames = None;
    let mut pair = Pair::new(configs);
    pair.latency = ms(90);
    assert_eq!(pair.sides[HOST].lobby().incoming(), None);
    pair.run_for(SOON);
    let incoming = pair.sides[HOST].lobby().incoming().expect("somebody");
    assert_eq!((incoming.addr, &incoming.user_data[..]), (addr(JOINER), &b"joiner"[..]));
    assert!(incoming.round_trip.abs_diff(ms(180)) < ms(5), "{:?}", incoming.round_trip);
    // ceil(0.03 * 182 + 0.5 - 3)
    assert_eq!(incoming.advice.delay_frames, 3);
    assert!((incoming.advice.expected_predicted_frames - 3.0).abs() < 0.1, "{:?}", incoming.advice);
    assert_eq!(pair.sides[HOST].lobby().agreed(), Ok(None), "it is the host's to accept");
    pair.sides[HOST].lobby().accept_in_seat(Player::Two);
    plays(&mut pair, 30);
    assert_eq!([HOST, JOINER].map(|id| pair.sides[id].session().local()), [Player::Two, Player::One]);
    assert_eq!(pair.sides[HOST].session().delay_frames(), 3);
}

#[test]
fn without_a_wish_both_play_with_the_delay_that_the_host_has_measured() {
    let configs = [HOST, JOINER].map(|id| rebout::Config { delay_frames: None, ..config(id) });
    let mut pair = Pair::new(configs);
    pair.latency = ms(60);
    plays(&mut pair, 60);
    // ceil(0.03 * 121 + 0.5 - 3)
    assert_eq!([HOST, JOINER].map(|id| pair.sides[id].session().delay_frames()), [2, 2]);
    assert_eq!([HOST, JOINER].map(|id| pair.sides[id].session().agreed().peer_delay_frames), [2, 2]);
    assert_eq!(pair.sides[HOST].events, [Event::PeerDelay { delay_frames: 2 }], "the joiner says so");
}

#[test]
fn each_side_may_have_its_own_delay_and_the_host_has_its_seat() {
    let mut configs = [config(HOST), config(JOINER)];
    (configs[HOST].delay_frames, configs[HOST].seat) = (Some(1), Player::Two);
    configs[JOINER].delay_frames = Some(4);
    let mut pair = Pair::new(configs);
    plays(&mut pair, 60);
    let [host, joiner] = [HOST, JOINER].map(|id| pair.sides[id].session().agreed().clone());
    assert_eq!((host.delay_frames, host.peer_delay_frames, host.seat), (1, 4, Player::Two));
    assert_eq!((joiner.delay_frames, joiner.peer_delay_frames, joiner.seat), (4, 1, Player::One));
    assert_eq!(pair.sides[HOST].events, [], "everybody knew from the start");
}

#[test]
fn user_data_of_any_allowed_length_arrives() {
    for len in [0, 1, 63, 64] {
        let data = |id: usize| vec![id as u8 + 1; len];
        let configs = [HOST, JOINER].map(|id| rebout::Config { user_data: data(id), ..config(id) });
        let mut pair = Pair::new(configs);
        plays(&mut pair, 10);
        assert_eq!(pair.sides[HOST].session().agreed().user_data, data(JOINER));
        assert_eq!(pair.sides[JOINER].session().agreed().user_data, data(HOST));
    }
    let long = rebout::Config { user_data: vec![0; 65], ..config(HOST) };
    assert!(matches!(Lobby::host(long), Err(LobbyError::Config(_))));
}

#[test]
fn two_that_join_each_other_meet() {
    for entropy in 0..8 {
        for delay in [Some(0), None] {
            let lobbies = [HOST, JOINER].map(|id| {
                let config = rebout::Config {
                    entropy: Some(entropy * 2 + id as u64),
                    delay_frames: delay,
                    ..config(id)
                };
                Lobby::join(config, addr(1 - id)).unwrap()
            });
            let mut pair = Pair::of(lobbies);
            plays(&mut pair, 60);
            let hosts = [HOST, JOINER].map(|id| pair.sides[id].session().agreed().is_host);
            assert!(hosts[0] != hosts[1], "one hosts: {hosts:?}");
        }
    }
}

#[test]
fn one_of_two_that_join_each_other_goes_on_knocking_when_the_other_has_gone() {
    let lobbies = [HOST, JOINER].map(|id| {
        let config = rebout::Config { entropy: Some(id as u64), ask_before_accepting: true, ..config(id) };
        Lobby::join(config, addr(1 - id)).unwrap()
    });
    let mut pair = Pair::of(lobbies);
    pair.run_for(ms(500));
    let host = (0..2).find(|id| pair.sides[*id].lobby().incoming().is_some()).expect("one hosts");
    pair.sides[1 - host].asleep = true;
    pair.run_for(Duration::from_secs(6));
    assert_eq!(pair.sides[host].lobby().incoming(), None, "its guest is gone");
    // The other comes back, as a host this time.
    let mut again = pair.clone();
    again.restart(1 - host, Lobby::host(config(JOINER)).unwrap());
    assert!(again.run_until(SOON, |pair| pair.agreed(HOST) && pair.agreed(JOINER)), "it knocks again");
    // Or it does not.
    pair.run_for(Duration::from_secs(5));
    let after = config(HOST).join_timeout;
    assert_eq!(pair.sides[host].error, Some(LobbyError::TimedOut { addr: addr(1 - host), after }));
}

#[test]
fn nobody_there_is_told_after_the_timeout() {
    let mut configs = [config(HOST), config(JOINER)];
    configs[JOINER].join_timeout = Duration::from_secs(4);
    let mut pair = Pair::new(configs);
    pair.sides[HOST].asleep = true;
    pair.record();
    pair.run_for(ms(3_990));
    assert_eq!(pair.sides[JOINER].error, None);
    pair.run_for(ms(20));
    let error = pair.sides[JOINER].error.expect("it gives up");
    assert_eq!(error, LobbyError::TimedOut { addr: addr(HOST), after: Duration::from_secs(4) });
    assert_eq!(error.to_string(), "no answer from 192.0.2.1:7000 within 4s");
    assert_eq!(pair.sent(JOINER, "HELLO").len(), 20, "five a second");
    pair.tape.clear();
    pair.run_for(SOON);
    assert!(pair.tape.is_empty(), "and is silent then");
}

#[test]
fn a_joiner_may_knock_without_end() {
    let mut configs = [config(HOST), config(JOINER)];
    configs[JOINER].join_timeout = Duration::MAX;
    let mut pair = Pair::new(configs);
    pair.sides[HOST].asleep = true;
    pair.run_for(Duration::from_secs(120));
    pair.sides[HOST].asleep = false;
    plays(&mut pair, 60);
}

#[test]
fn a_host_that_vanishes_after_the_offer_is_given_up() {
    let mut pair = pair();
    assert!(pair.run_until(SOON, |pair| !pair.sent(JOINER, "CONNECT_REQ").is_empty()));
    pair.sides[HOST].asleep = true;
    assert!(pair.run_until(LATE, |pair| pair.sides[JOINER].error.is_some()));
    assert!(matches!(pair.sides[JOINER].error, Some(LobbyError::TimedOut { .. })));
}

#[test]
fn a_joiner_that_vanishes_in_the_handshake_makes_room() {
    for (what, count) in [("HELLO", 2), ("PONG", 2), ("CONNECT_REQ", 0)] {
        let mut pair = pair();
        if what == "CONNECT_REQ" {
            pair.losses.push((JOINER, what.into(), u32::MAX));
            pair.run_until(SOON, |pair| !pair.sent(JOINER, what).is_empty());
        } else {
            pair.losses.push((HOST, "OFFER".into(), u32::MAX));
            pair.run_until(SOON, |pair| pair.sent(JOINER, what).len() == count);
            pair.run_for(ms(31));
        }
        pair.sides[JOINER].asleep = true;
        prove(&mut pair, stranger(), 9);
        assert_eq!(
            refusal_to(&pair, stranger()).map(|refuse| refuse.field),
            Some(RefuseField::Full),
            "{what}"
        );
        pair.run_for(Duration::from_secs(6));
        pair.tape.clear();
        let elsewhere = SocketAddr::from(([203, 0, 113, 10], 1));
        prove(&mut pair, elsewhere, 10);
        assert!(pair.tape.iter().any(|(_, to, bytes)| *to == elsewhere && label(bytes) == "OFFER"), "{what}");
    }
}

#[test]
fn a_joiner_that_vanishes_after_its_request_is_lost_to_the_session() {
    let mut pair = pair();
    assert!(pair.run_until(SOON, |pair| pair.agreed(HOST)));
    pair.sides[JOINER].asleep = true;
    assert!(pair.run_until(LATE, |pair| pair.ending(HOST).is_some()));
    assert_eq!(pair.ending(HOST), Some(&Event::Disconnected { reason: Reason::TimedOut }));
}

#[test]
fn a_guest_that_says_farewell_and_nothing_more_makes_room_soon() {
    let mut configs = [config(HOST), config(JOINER)];
    configs[HOST].ask_before_accepting = true;
    let mut pair = Pair::new(configs);
    pair.record();
    pair.run_for(ms(500));
    let knows = forge::Knows::of(&pair, HOST);
    let farewell = control(knows.header, &Payload::Disconnect);
    pair.inject(HOST, addr(JOINER), &farewell);
    pair.run_for(ms(700));
    assert!(pair.sides[HOST].lobby().incoming().is_some(), "it goes on speaking, so it has not left");
    pair.sides[JOINER].asleep = true;
    pair.inject(HOST, addr(JOINER), &control(forge::Knows::of(&pair, HOST).header, &Payload::Disconnect));
    pair.run_for(ms(400));
    assert!(pair.sides[HOST].lobby().incoming().is_some());
    pair.run_for(ms(200));
    assert_eq!(pair.sides[HOST].lobby().incoming(), None);
}

#[test]
fn one_side_may_load_for_eight_seconds() {
    for slow in [HOST, JOINER] {
        let mut pair = pair();
        let until = pair.now + Duration::from_secs(8);
        pair.sides[slow].loads_until = until;
        pair.run_until(SOON, |pair| pair.agreed(HOST) && pair.agreed(JOINER));
        pair.run_for(ms(500));
        // The quick side even has a lot to say meanwhile.
        let now = pair.now;
        for n in 0..12_u8 {
            pair.sides[1 - slow].session().send(now, &[n]).unwrap();
        }
        plays(&mut pair, 60);
        assert_eq!(pair.sides[1 - slow].events, [], "never interrupted");
        let said: Vec<u8> = pair.sides[slow].events.iter().filter_map(message_byte).collect();
        assert_eq!(said, (0..12).collect::<Vec<u8>>());
        let now = pair.now;
        pair.sides[slow].session().send(now, b"!").unwrap();
        pair.run_for(SOON);
        assert_eq!(pair.sides[1 - slow].events.len(), 1, "and the other way too");
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
        let configs = [HOST, JOINER].map(|id| rebout::Config {
            lost_after: Duration::from_secs(60),
            no_progress_after: Duration::from_secs(60),
            ..config(id)
        });
        let mut pair = Pair::new(configs);
        plays(&mut pair, 30);
        let now = pair.now;
        for n in 0..12_u8 {
            for id in [HOST, JOINER] {
                pair.sides[id].session().send(now, &[n]).unwrap();
            }
        }
        // Everything is lost, one way or both, and everything is sent again and again.
        let names = ["RBN1", "USER", "REPORT", "PING", "PONG", "HEARTBEAT"];
        let sides: &[usize] = if one_way { &[HOST] } else { &[HOST, JOINER] };
        for id in sides {
            pair.losses.extend(names.map(|name| (*id, name.into(), u32::MAX)));
        }
        pair.run_for(Duration::from_secs(seconds));
        pair.losses.clear();
        plays(&mut pair, 200);
        for id in [HOST, JOINER] {
            let said: Vec<u8> = pair.sides[id].events.iter().filter_map(message_byte).collect();
            assert_eq!(
                said,
                (0..12).collect::<Vec<u8>>(),
                "{seconds} s, one way {one_way}: {}",
                pair.story(id)
            );
            assert_eq!(pair.sides[id].refused().of(Refusal::FarSequence), 0);
        }
    }
}

#[test]
fn a_joiner_started_anew_is_believed_when_no_more_frames_come() {
    let mut pair = pair();
    plays(&mut pair, 60);
    let again = rebout::Config { entropy: Some(99), ..config(JOINER) };
    pair.restart(JOINER, Lobby::join(again, addr(HOST)).unwrap());
    let at = pair.now;
    assert!(pair.run_until(SOON, |pair| pair.ending(HOST).is_some()), "{}", pair.story(HOST));
    assert_eq!(pair.ending(HOST), Some(&Event::Disconnected { reason: Reason::Restarted }));
    assert!(pair.now - at >= ms(500), "{:?}", pair.now - at);
    assert!(pair.now - at < ms(900), "{:?}", pair.now - at);
    assert_eq!(pair.sides[JOINER].error, None, "and goes on knocking");
    pair.restart(HOST, Lobby::host(rebout::Config { entropy: Some(98), ..config(HOST) }).unwrap());
    plays(&mut pair, 60);
}

#[test]
fn a_restart_is_not_believed_while_frames_come() {
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
fn a_host_started_anew_leaves_the_joiner_alone_and_takes_it_again() {
    let mut pair = pair();
    plays(&mut pair, 60);
    pair.restart(HOST, Lobby::host(rebout::Config { entropy: Some(99), ..config(HOST) }).unwrap());
    assert!(pair.run_until(LATE, |pair| pair.ending(JOINER).is_some()));
    assert_eq!(pair.ending(JOINER), Some(&Event::Disconnected { reason: Reason::TimedOut }));
    assert_eq!(pair.sides[HOST].lobby().agreed(), Ok(None), "packets of the old match bring about nothing");
    pair.restart(
        JOINER,
        Lobby::join(rebout::Config { entropy: Some(97), ..config(JOINER) }, addr(HOST)).unwrap(),
    );
    plays(&mut pair, 60);
}

#[test]
fn the_host_of_two_that_join_each_other_may_start_anew_too() {
    let join = |id: usize, entropy| {
        Lobby::join(rebout::Config { entropy: Some(entropy), ..config(id) }, addr(1 - id)).unwrap()
    };
    let mut pair = Pair::of([join(HOST, 1), join(JOINER, 2)]);
    plays(&mut pair, 60);
    let host = (0..2).find(|id| pair.sides[*id].session().agreed().is_host).unwrap();
    pair.restart(host, join(host, 5));
    assert!(pair.run_until(SOON, |pair| pair.ending(1 - host).is_some()), "{}", pair.story(1 - host));
    assert_eq!(pair.ending(1 - host), Some(&Event::Disconnected { reason: Reason::Restarted }));
}

#[test]
fn a_host_started_anew_during_the_handshake_is_found() {
    let configs = [HOST, JOINER].map(|id| rebout::Config { ask_before_accepting: true, ..config(id) });
    let mut pair = Pair::new(configs);
    pair.run_for(ms(700));
    assert!(pair.sides[HOST].lobby().incoming().is_some());
    // The joiner has heard the pings of the one before, with other numbers.
    pair.restart(HOST, Lobby::host(rebout::Config { entropy: Some(99), ..config(HOST) }).unwrap());
    plays(&mut pair, 60);
}

#[test]
fn a_joiner_started_anew_during_the_handshake_is_taken() {
    for loads in [false, true] {
        let mut pair = pair();
        pair.sides[HOST].loads_until = pair.now + if loads { Duration::from_secs(2) } else { Duration::ZERO };
        let reached =
            |pair: &Pair| if loads { pair.agreed(HOST) } else { !pair.sent(HOST, "OFFER").is_empty() };
        assert!(pair.run_until(SOON, reached));
        pair.restart(
            JOINER,
            Lobby::join(rebout::Config { entropy: Some(97), ..config(JOINER) }, addr(HOST)).unwrap(),
        );
        if loads {
            // The host has agreed with the one before, and finds out when it plays.
            assert!(pair.run_until(LATE, |pair| pair.ending(HOST).is_some()));
            assert_eq!(pair.ending(HOST), Some(&Event::Disconnected { reason: Reason::Restarted }));
            assert_eq!(pair.sides[JOINER].error, None, "the new one was not sent away");
            pair.restart(HOST, Lobby::host(rebout::Config { entropy: Some(96), ..config(HOST) }).unwrap());
        }
        plays(&mut pair, 60);
    }
}

#[test]
fn forged_numbers_before_the_offer_do_not_keep_the_hosts_out() {
    let mut pair = pair();
    pair.run_for(ms(1));
    let bytes = pair.sent(JOINER, "HELLO").remove(0);
    let ack = u16::from_be_bytes([bytes[4], bytes[5]]);
    for sequence in [0, 20_000, 40_000, 60_000] {
        // Even one who has seen the HELLO and knows what to acknowledge.
        let header = Header { sequence, ack, ack_bits: 0 };
        pair.inject(JOINER, addr(HOST), &control(header, &Payload::Heartbeat));
        pair.inject(JOINER, addr(HOST), &control(header, &Payload::Ping(1)));
    }
    plays(&mut pair, 60);
}

#[test]
fn an_offer_forged_by_someone_who_sees_everything_leads_to_no_match_and_is_told() {
    let mut pair = pair();
    assert!(pair.run_until(SOON, |pair| !pair.sent(JOINER, "CONNECT_REQ").is_empty()));
    let knows = forge::Knows::of(&pair, JOINER);
    let forged = message(knows.header, &forge::offer(knows.nonce, knows.token ^ 1));
    pair.inject(JOINER, addr(HOST), &forged);
    // The host's answer to the true offer was under way, so both begin; no frame is ever confirmed.
    let over = |pair: &Pair| pair.ending(HOST).is_some() && pair.ending(JOINER).is_some();
    assert!(pair.run_until(LATE, over), "{}, {}", pair.story(HOST), pair.story(JOINER));
    for id in [HOST, JOINER] {
        let reason = match pair.ending(id) {
            Some(Event::Disconnected { reason }) => reason,
            other => panic!("{other:?}"),
        };
        assert!(matches!(reason, Reason::TimedOut | Reason::NoProgress), "{reason}");
    }
    assert_eq!(pair.checked, 0);
}

#[test]
fn a_cookie_is_worth_nothing_elsewhere_or_later() {
    let mut pair = pair();
    pair.sides[JOINER].asleep = true;
    pair.inject(HOST, stranger(), &message(Header::default(), &hello(5, 0)));
    pair.step();
    let cookie = cookie_for(&pair, stranger()).unwrap();
    let proof = message(Header::default(), &hello(5, cookie));
    let elsewhere = [
        SocketAddr::from(([203, 0, 113, 9], 9_998)),
        SocketAddr::from(([203, 0, 113, 8], 9_999)),
        addr(JOINER),
    ];
    let bad_cookies = |pair: &Pair| pair.sides[HOST].refused().of(Refusal::BadCookie);
    for (n, from) in elsewhere.into_iter().enumerate() {
        pair.inject(HOST, from, &proof);
        pair.step();
        assert_eq!(bad_cookies(&pair), n as u64 + 1);
    }
    pair.inject(HOST, stranger(), &message(Header::default(), &hello(6, cookie)));
    assert_eq!(bad_cookies(&pair), 4, "nor with another nonce");
    let mut late = pair.clone();
    late.run_for(Duration::from_secs(11));
    late.inject(HOST, stranger(), &proof);
    assert_eq!(bad_cookies(&late), 5, "nor after ten seconds");
    assert!(!late.tape.iter().any(|(_, _, bytes)| label(bytes) == "OFFER"));
    pair.inject(HOST, stranger(), &proof);
    pair.step();
    assert!(pair.tape.iter().any(|(_, to, bytes)| *to == stranger() && label(bytes) == "OFFER"));
}

#[test]
fn strangers_without_proof_cost_the_host_nothing_and_are_sent_no_more_than_they_send() {
    let reached: [(&str, When); 4] = [
        ("waiting", |_| true),
        ("offered", |pair| pair.sides[HOST].sequence != 0),
        ("playing", |pair| pair.checked > 30),
        ("over", |pair| pair.sides[HOST].ended()),
    ];
    for (when, reached) in reached {
        let mut pair = Pair::new([config(HOST), config(JOINER)]);
        pair.last_frame = 60;
        pair.sides[JOINER].asleep = when == "waiting";
        assert!(pair.run_until(LATE, reached), "{when}");
        let knock = |pair: &mut Pair, n: u32| {
            let [_, a, b, c] = n.to_be_bytes();
            let from = SocketAddr::from(([10, a, b, c], 1_000));
            let cookie = if n.is_multiple_of(3) { 0 } else { u64::from(n) };
            let before = (pair.to_strangers, pair.from_strangers);
            pair.inject(HOST, from, &message(Header::default(), &hello(u64::from(n), cookie)));
            if n.is_multiple_of(16) {
                pair.step();
            }
            (pair.to_strangers - before.0, pair.from_strangers - before.1)
        };
        knock(&mut pair, 0);
        let heap = heap::live();
        // With the joiner aside, and no frames: whatever memory there is goes to strangers.
        let mut quiet = pair.clone();
        quiet.sides[JOINER].asleep = true;
        let cloned = heap::live();
        for n in 1..5_000 {
            knock(&mut quiet, n);
            assert!(quiet.to_strangers <= quiet.from_strangers, "{when}, stranger {n}");
        }
        assert!(quiet.to_strangers > 0, "{when}: some were answered");
        assert!(heap::live() - cloned < 4_096, "{when}: {} bytes", heap::live() - cloned);
        drop(quiet);
        assert!(heap::live() <= heap);
        pair.sides[JOINER].asleep = false;
        if when != "over" {
            plays(&mut pair, 20);
        }
    }
}

#[test]
fn a_match_that_is_left_tells_the_other_why() {
    let mut pair = pair();
    plays(&mut pair, 60);
    pair.sides[JOINER].session().leave();
    let at = pair.now;
    assert!(pair.run_until(SOON, |pair| pair.ending(HOST).is_some()));
    assert_eq!(pair.ending(HOST), Some(&Event::Disconnected { reason: Reason::Left }));
    let after = pair.now - at;
    assert!(after >= ms(500) && after < ms(700), "a farewell can be forged: {after:?}");
    assert_eq!(pair.ending(JOINER), Some(&Event::Disconnected { reason: Reason::LeftHere }));
}

#[test]
fn a_match_is_played_to_its_end_and_both_know_it() {
    for lost in ["", "VERDICT", "RBN1"] {
        let mut pair = pair();
        pair.last_frame = 90;
        plays(&mut pair, 80);
        pair.losses.push((HOST, lost.into(), 5));
        pair.losses.push((JOINER, lost.into(), 5));
        assert!(pair.run_until(SOON, |pair| pair.ending(HOST).is_some() && pair.ending(JOINER).is_some()));
        let verdict = |pair: &Pair, id| match pair.ending(id) {
            Some(Event::Ended(Verdict::Agreed { frame, checksum })) => (frame.0, *checksum),
            other => panic!("{lost} lost: {other:?}"),
        };
        assert_eq!(verdict(&pair, HOST), verdict(&pair, JOINER));
        assert_eq!((verdict(&pair, HOST).0, pair.checked), (90, 90));
    }
}

#[test]
fn a_joiner_waits_for_a_host_that_answers_but_takes_its_time() {
    let mut configs = [config(HOST), config(JOINER)];
    configs[HOST].ask_before_accepting = true;
    let mut pair = Pair::new(configs);
    pair.record();
    pair.run_for(Duration::from_secs(25));
    assert_eq!(pair.sides[JOINER].lobby().agreed(), Ok(None), "the host is there and thinks");
    pair.sides[HOST].lobby().accept();
    plays(&mut pair, 60);
}

#[test]
fn every_lobby_of_one_config_is_another() {
    let config = rebout::Config { entropy: None, ..config(JOINER) };
    let hellos = [0, 1].map(|_| {
        let mut lobby = Lobby::join(config.clone(), addr(HOST)).unwrap();
        let mut buf = [0; 1_200];
        let (_, len) = lobby.poll_transmit(ms(1), &mut buf).expect("a HELLO");
        buf[..len].to_vec()
    });
    assert_ne!(hellos[0], hellos[1], "the nonce of a rematch is a new one");
}

#[test]
fn an_address_of_ipv4_inside_ipv6_is_the_same_as_plain_ipv4() {
    let SocketAddr::V4(plain) = addr(HOST) else { panic!("the pair has plain addresses") };
    let mapped = SocketAddr::from((plain.ip().to_ipv6_mapped(), plain.port()));
    let mut lobby = Lobby::join(config(JOINER), mapped).unwrap();
    let (to, _) = lobby.poll_transmit(ms(1), &mut [0; 1_200]).expect("a HELLO");
    assert_eq!(to, addr(HOST));
}

#[test]
fn a_verdict_about_long_ago_does_not_wind_a_match_back() {
    let mut pair = pair();
    plays(&mut pair, 120);
    let knows = forge::Knows::of(&pair, HOST).now(&pair, HOST);
    let verdict = Ordered::Verdict { frame: knows.first + 60, checksum: 1 };
    let forged = message(knows.header, &Message::Ordered { number: 0, body: verdict });
    pair.inject(HOST, addr(JOINER), &forged);
    plays(&mut pair, 120);
    assert_eq!(pair.sides[HOST].events, [], "an honest end is at most window and delay behind");
}

#[test]
fn a_forged_verdict_does_not_end_a_match_that_goes_on() {
    let mut pair = pair();
    plays(&mut pair, 120);
    let knows = forge::Knows::of(&pair, HOST).now(&pair, HOST);
    let verdict = Ordered::Verdict { frame: knows.known - 5, checksum: 1 };
    let forged = message(knows.header, &Message::Ordered { number: 0, body: verdict });
    pair.inject(HOST, addr(JOINER), &forged);
    plays(&mut pair, 240);
    assert_eq!(pair.sides[HOST].events, [], "new frames came all the time");
}
