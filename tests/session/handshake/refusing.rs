//! Joiners that are refused: incompatible, too late, or declined; and joiners that have to wait.

use super::{When, cookie_for, prove, refusal_to};
use crate::pair::{
    LATE, SOON, addr, config, hello, ms, pair, pair_until, pair_with, plays, set_latency, stranger,
};
use core::time::Duration;
use rebout::lab::forge::{message, message_of};
use rebout::lab::wire::message::{ForeignHello, Message, Refuse, RefuseField};
use rebout::lab::{HOST, JOINER};
use rebout::wire::control::ControlHeader;
use rebout::{Config, Lobby, LobbyError, Player, Protocol};

#[test]
fn mismatched_config_is_named_with_both_values() {
    type Change = fn(&mut Config);
    let cases: [(RefuseField, Change, u64, u64); 5] = [
        (RefuseField::GameId, |config| config.game.id = 0xB1, 0xB0, 0xB1),
        (RefuseField::ContentHash, |config| config.game.content_hash = 9, 0, 9),
        (
            RefuseField::FrameRate,
            |config| config.game.frame_rate = rebout::FrameRate::hz(50),
            60 << 32 | 1,
            50 << 32 | 1,
        ),
        (
            RefuseField::FrameRate,
            |config| config.game.frame_rate = rebout::FrameRate::ratio(60, 7),
            60 << 32 | 1,
            60 << 32 | 7,
        ),
        (RefuseField::Pads, |config| config.game.pads = 2, 1, 2),
    ];
    for (field, change, at_host, at_joiner) in cases {
        let mut configs = [config(HOST), config(JOINER)];
        change(&mut configs[JOINER]);
        let mut pair = pair_with(configs);
        assert!(pair.step_until(SOON, |pair| pair.machine(JOINER).error.is_some()), "{field}");
        let error = pair.machine(JOINER).error.unwrap();
        assert_eq!(error, LobbyError::Incompatible { field, ours: at_joiner, theirs: at_host });
        assert!(error.to_string().contains(&field.to_string()), "{error}");
        let mismatch = pair.lobby_mut(HOST).take_mismatch().expect("the host is told too");
        assert_eq!((mismatch.field, mismatch.ours, mismatch.theirs), (field, at_host, at_joiner));
        assert_eq!(mismatch.addr, addr(JOINER));
        assert_eq!(pair.lobby_mut(HOST).take_mismatch(), None, "told once");
        assert_eq!(pair.lobby_mut(HOST).agreed(), Ok(None), "the host goes on waiting");
    }
}

#[test]
fn host_that_has_agreed_refuses_another_guest() {
    let mut pair = pair();
    for id in [HOST, JOINER] {
        pair.machine_mut(id).begin_at = Duration::MAX;
    }
    assert!(pair.step_until(SOON, |pair| pair.machine(HOST).has_agreed()));
    prove(&mut pair, stranger(), 5);
    assert_eq!(refusal_to(&pair, stranger()).map(|refuse| refuse.field), Some(RefuseField::Full));
}

#[test]
fn another_version_is_told_once_its_address_is_proven() {
    let mut pair = pair();
    pair.machine_mut(JOINER).asleep = true;
    let foreign = |cookie| {
        let hello = ForeignHello { version: 7, nonce: 5, cookie };
        message(ControlHeader::default(), &Message::ForeignHello(hello))
    };
    pair.inject(HOST, stranger(), &foreign(0));
    pair.run_for(ms(1));
    assert_eq!(refusal_to(&pair, stranger()), None, "nothing but a challenge before that");
    assert_eq!(pair.lobby_mut(HOST).take_mismatch(), None);
    let cookie = cookie_for(&pair, stranger()).unwrap();
    pair.inject(HOST, stranger(), &foreign(cookie));
    pair.run_for(ms(1));
    let refuse = refusal_to(&pair, stranger()).unwrap();
    assert_eq!((refuse.nonce, refuse.field, refuse.ours, refuse.theirs), (5, RefuseField::Version, 3, 7));
    let mismatch = pair.lobby_mut(HOST).take_mismatch().unwrap();
    assert_eq!((mismatch.field, mismatch.ours, mismatch.theirs), (RefuseField::Version, 3, 7));
    assert!(pair.to_strangers() <= pair.from_strangers());

    // And the joiner of our version hears it from a host of another.
    pair.machine_mut(JOINER).asleep = false;
    pair.machine_mut(HOST).asleep = true;
    pair.run_for(ms(10));
    let bytes = pair.said_by(JOINER, "HELLO").remove(0);
    let Some(Message::Hello(said)) = message_of(bytes) else { panic!() };
    let refuse = Refuse { nonce: said.nonce, field: RefuseField::Version, ours: 7, theirs: 3 };
    pair.inject(JOINER, addr(HOST), &message(ControlHeader::default(), &Message::Refuse(refuse)));
    pair.run_for(ms(1));
    let error = pair.machine(JOINER).error.unwrap();
    assert_eq!(error, LobbyError::Incompatible { field: RefuseField::Version, ours: 3, theirs: 7 });
    assert_eq!(error.to_string(), "the version differs: 3 here, 7 at the host");
}

#[test]
fn incompatible_joiner_does_not_keep_the_host_busy() {
    let mut configs = [config(HOST), config(JOINER)];
    configs[JOINER].game.id = 1;
    let mut pair = pair_with(configs);
    pair.step_until(SOON, |pair| pair.machine(JOINER).error.is_some());
    let now = pair.local_now(HOST);
    assert!(!pair.lobby_mut(HOST).wants_attention(now), "a driver would never sleep again");
}

#[test]
fn third_machine_is_told_that_the_host_is_full() {
    let reached: [(&str, When); 4] = [
        ("offered", |pair| !pair.said_by(HOST, "OFFER").is_empty()),
        ("agreed", |pair| pair.machine(HOST).has_agreed()),
        ("playing", |pair| pair.checked().0 > 30),
        ("over", |pair| pair.machine(HOST).ended()),
    ];
    for (when, reached) in reached {
        let mut pair = pair_until::<60>([config(HOST), config(JOINER)]);
        assert!(pair.step_until(LATE, reached), "{when}");
        pair.inject(HOST, stranger(), &message(ControlHeader::default(), &hello(5, 0)));
        pair.run_for(ms(1));
        assert_eq!(refusal_to(&pair, stranger()), None, "{when}: not before it is proven");
        prove(&mut pair, stranger(), 5);
        let refuse = refusal_to(&pair, stranger()).unwrap_or_else(|| panic!("{when}"));
        assert_eq!((refuse.nonce, refuse.field), (5, RefuseField::Full), "{when}");
        assert!(pair.to_strangers() <= pair.from_strangers(), "{when}");
        assert!(pair.step_until(LATE, |pair| pair.checked().0 == 60), "{when}: and the match goes on");
    }
}

#[test]
fn joiner_is_told_that_the_host_is_full_or_declines() {
    let mut full = pair();
    full.machine_mut(JOINER).asleep = true;
    prove(&mut full, stranger(), 5);
    full.machine_mut(JOINER).asleep = false;
    full.step_until(SOON, |pair| pair.machine(JOINER).error.is_some());
    assert_eq!(full.machine(JOINER).error, Some(LobbyError::Full));

    let mut configs = [config(HOST), config(JOINER)];
    configs[HOST].lobby.ask_before_accepting = true;
    let mut declined = pair_with(configs);
    declined.run_for(ms(500));
    declined.lobby_mut(HOST).decline();
    declined.step_until(SOON, |pair| pair.machine(JOINER).error.is_some());
    assert_eq!(declined.machine(JOINER).error, Some(LobbyError::Declined));
    assert_eq!(declined.lobby_mut(HOST).incoming(), None);
    let again = config(JOINER).with(|config| config.lobby.entropy = Some(5));
    declined.restart(JOINER, Lobby::join(again, addr(HOST)).unwrap());
    declined.run_for(ms(500));
    let incoming = declined.lobby_mut(HOST).incoming();
    assert_eq!(incoming.map(|incoming| incoming.addr), Some(addr(JOINER)), "who asks again is seen again");
    declined.lobby_mut(HOST).accept();
    plays(&mut declined, 30);
}

#[test]
fn host_sees_who_comes_before_it_accepts() {
    let mut configs = [config(HOST), config(JOINER)];
    configs[HOST].lobby.ask_before_accepting = true;
    configs[HOST].rollback.delay_frames = None;
    let mut pair = pair_with(configs);
    set_latency(&mut pair, ms(90));
    assert_eq!(pair.lobby_mut(HOST).incoming(), None);
    pair.run_for(SOON);
    let incoming = pair.lobby_mut(HOST).incoming().expect("somebody");
    assert_eq!((incoming.addr, &incoming.user_data[..]), (addr(JOINER), &b"joiner"[..]));
    assert!(incoming.round_trip.abs_diff(ms(180)) < ms(5), "{:?}", incoming.round_trip);
    // ceil(0.03 * 182 + 0.5 - 3)
    assert_eq!(incoming.advice.delay_frames, 3);
    assert!((incoming.advice.expected_predicted_frames - 3.0).abs() < 0.1, "{:?}", incoming.advice);
    assert_eq!(pair.lobby_mut(HOST).agreed(), Ok(None), "it is the host's to accept");
    pair.lobby_mut(HOST).accept_in_seat(Player::Two);
    plays(&mut pair, 30);
    assert_eq!([HOST, JOINER].map(|id| pair.session_mut(id).local()), [Player::Two, Player::One]);
    assert_eq!(pair.session_mut(HOST).delay_frames(), 3);
}

#[test]
fn joiner_waits_for_a_host_that_answers_but_takes_its_time() {
    let mut configs = [config(HOST), config(JOINER)];
    configs[HOST].lobby.ask_before_accepting = true;
    let mut pair = pair_with(configs);
    pair.run_for(Duration::from_secs(25));
    assert_eq!(pair.lobby_mut(JOINER).agreed(), Ok(None), "the host is there and thinks");
    pair.lobby_mut(HOST).accept();
    plays(&mut pair, 60);
}
