//! Forged datagrams during the handshake and about the end.

use super::{When, cookie_for};
use crate::pair::{
    LATE, Pair, SOON, addr, config, events, hello, ms, offer, pair, pair_until, pair_with, plays, stranger,
};
use core::time::Duration;
use rebout::lab::forge::{Knows, control, label, message, shifted};
use rebout::lab::wire::message::{Message, Ordered};
use rebout::lab::{HOST, JOINER};
use rebout::wire::WireFrame;
use rebout::wire::control::{ControlHeader, ControlPayload};
use rebout::{Event, Frame, Reason, Refusal, Verdict};
use std::net::SocketAddr;
use support::heap;

#[test]
fn forged_numbers_before_the_offer_do_not_keep_the_hosts_out() {
    let mut pair = pair();
    pair.run_for(ms(1));
    let bytes = pair.said_by(JOINER, "HELLO").remove(0);
    let ack = u16::from_be_bytes([bytes[4], bytes[5]]);
    for sequence in [0, 20_000, 40_000, 60_000] {
        // Even one who has seen the HELLO and knows what to acknowledge.
        let header = ControlHeader { sequence, ack, ack_bits: 0 };
        pair.inject(JOINER, addr(HOST), &control(header, &ControlPayload::Heartbeat));
        pair.inject(JOINER, addr(HOST), &control(header, &ControlPayload::Ping(1)));
    }
    plays(&mut pair, 60);
}

#[test]
fn forged_offer_leads_to_no_match_and_is_told() {
    let mut pair = pair();
    assert!(pair.step_until(SOON, |pair| !pair.said_by(JOINER, "CONNECT_REQ").is_empty()));
    let knows = Knows::of(&pair, JOINER);
    let forged = message(knows.header, &offer(knows.nonce, knows.token ^ 1));
    pair.inject(JOINER, addr(HOST), &forged);
    // The host's answer to the true offer was under way, so both begin; no frame is ever confirmed.
    let over = |pair: &Pair| pair.ending(HOST).is_some() && pair.ending(JOINER).is_some();
    assert!(pair.step_until(LATE, over), "{pair:?}");
    for id in [HOST, JOINER] {
        let reason = match pair.ending(id) {
            Some(Event::Disconnected { reason }) => reason,
            other => panic!("{other:?}"),
        };
        assert!(matches!(reason, Reason::TimedOut | Reason::NoProgress | Reason::GaveUp), "{reason}");
    }
    assert_eq!(pair.checked().0, 0);
}

#[test]
fn offer_that_a_newer_one_has_replaced_is_not_taken_again() {
    let mut pair = pair();
    pair.lose(HOST, "OFFER", u32::MAX);
    assert!(pair.step_until(SOON, |pair| !pair.said_by(HOST, "OFFER").is_empty()));
    let refused = |pair: &Pair| pair.machine(JOINER).refused().of(Refusal::OutOfPlace);
    // A host that was started again in between offers with another token. What it said before may come late.
    for (token, out_of_place) in [(1, 0), (2, 0), (1, 1), (2, 1), (3, 1), (2, 2)] {
        let knows = Knows::of(&pair, JOINER);
        let late = message(knows.header, &offer(knows.nonce, token));
        pair.inject(JOINER, addr(HOST), &late);
        assert_eq!(refused(&pair), out_of_place, "token {token}");
    }
}

/// A pair whose joiner has the OFFER, and whose first CONNECT_REQ is lost.
fn pair_without_the_first_request() -> Pair {
    let mut pair = pair();
    pair.lose(JOINER, "CONNECT_REQ", 1);
    assert!(pair.step_until(SOON, |pair| !pair.said_by(JOINER, "CONNECT_REQ").is_empty()));
    pair
}

#[test]
fn joiner_takes_the_real_offer_again_after_a_forged_one() {
    let mut pair = pair_without_the_first_request();
    let knows = Knows::of(&pair, JOINER);
    let forged = message(knows.header, &offer(knows.nonce, knows.token ^ 1));
    pair.inject(JOINER, addr(HOST), &forged);
    assert!(pair.step_until(SOON, |pair| pair.checked().0 >= 60), "{pair:?}");
}

/// Moves the newest sequence number that a machine has received: `count` forged packets, each `step` after the one before.
fn push_numbers(pair: &mut Pair, victim: usize, step: i32, count: i32) {
    let header = Knows::of(pair, victim).header;
    for nth in 1..=count {
        let forged = control(shifted(header, step * nth, 0), &ControlPayload::Heartbeat);
        pair.inject(victim, addr(1 - victim), &forged);
    }
}

/// How far the numbers are moved: just out of reach, and so far that the peer's real numbers do not catch up.
const PUSHES: [(i32, i32); 2] = [(40, 1), (40, 20)];

#[test]
fn forged_numbers_after_the_offer_do_not_stop_the_handshake() {
    for (step, count) in PUSHES {
        for victims in [&[HOST][..], &[JOINER], &[HOST, JOINER]] {
            let mut pair = pair_without_the_first_request();
            victims.iter().for_each(|victim| push_numbers(&mut pair, *victim, step, count));
            let played = pair.step_until(SOON, |pair| pair.checked().0 >= 60);
            assert!(played, "{count} times {step} to {victims:?}: {pair:?}");
        }
    }
}

#[test]
fn forged_numbers_before_the_host_accepts_do_not_stop_it() {
    for (step, count) in PUSHES {
        let configs = [config(HOST).with(|config| config.lobby.ask_before_accepting = true), config(JOINER)];
        let mut pair = pair_with(configs);
        assert!(pair.step_until(SOON, |pair| pair.said_by(JOINER, "PONG").len() > 2));
        push_numbers(&mut pair, HOST, step, count);
        pair.lobby_mut(HOST).accept();
        let played = pair.step_until(SOON, |pair| pair.checked().0 >= 60);
        assert!(played, "{count} times {step}: {pair:?}");
    }
}

#[test]
fn cookie_is_bound_to_its_address_and_time() {
    let mut pair = pair();
    pair.machine_mut(JOINER).asleep = true;
    pair.inject(HOST, stranger(), &message(ControlHeader::default(), &hello(5, 0)));
    pair.run_for(ms(1));
    let cookie = cookie_for(&pair, stranger()).unwrap();
    let proof = message(ControlHeader::default(), &hello(5, cookie));
    let elsewhere = [
        SocketAddr::from(([203, 0, 113, 9], 9_998)),
        SocketAddr::from(([203, 0, 113, 8], 9_999)),
        addr(JOINER),
    ];
    let bad_cookies = |pair: &Pair| pair.machine(HOST).refused().of(Refusal::BadCookie);
    for (n, from) in elsewhere.into_iter().enumerate() {
        pair.inject(HOST, from, &proof);
        pair.run_for(ms(1));
        assert_eq!(bad_cookies(&pair), n as u64 + 1);
    }
    pair.inject(HOST, stranger(), &message(ControlHeader::default(), &hello(6, cookie)));
    assert_eq!(bad_cookies(&pair), 4, "nor with another nonce");
    let mut late = pair.fork();
    late.run_for(Duration::from_secs(11));
    late.inject(HOST, stranger(), &proof);
    assert_eq!(bad_cookies(&late), 5, "nor after ten seconds");
    assert!(!late.said().any(|said| label(said.datagram) == "OFFER"));
    // Nor when the low bits of the time come around: 2^24 times 100 us.
    for early in [0, 10, 5_000] {
        let mut late = pair.fork();
        late.run_for(Duration::from_micros(100 << 24) - ms(early));
        late.inject(HOST, stranger(), &proof);
        assert_eq!(bad_cookies(&late), 5, "after {:?}", late.world.now());
    }
    pair.inject(HOST, stranger(), &proof);
    pair.run_for(ms(1));
    assert!(pair.said().any(|said| said.to == stranger() && label(said.datagram) == "OFFER"));
}

#[test]
fn unproven_strangers_cost_nothing_and_are_not_amplified() {
    let reached: [(&str, When); 4] = [
        ("waiting", |_| true),
        ("offered", |pair| pair.machine(HOST).overheard.as_ref().unwrap().header.is_some()),
        ("playing", |pair| pair.checked().0 > 30),
        ("over", |pair| pair.machine(HOST).ended()),
    ];
    for (when, reached) in reached {
        let mut pair = pair_until::<60>([config(HOST), config(JOINER)]);
        pair.world.network_mut().drop_recording();
        pair.machine_mut(JOINER).asleep = when == "waiting";
        assert!(pair.step_until(LATE, reached), "{when}");
        let send_hello = |pair: &mut Pair, n: u32| {
            let [_, a, b, c] = n.to_be_bytes();
            let from = SocketAddr::from(([10, a, b, c], 1_000));
            let cookie = if n.is_multiple_of(3) { 0 } else { u64::from(n) };
            let before = (pair.to_strangers(), pair.from_strangers());
            pair.inject(HOST, from, &message(ControlHeader::default(), &hello(u64::from(n), cookie)));
            if n.is_multiple_of(16) {
                pair.run_for(ms(1));
            }
            (pair.to_strangers() - before.0, pair.from_strangers() - before.1)
        };
        send_hello(&mut pair, 0);
        let heap = heap::live();
        // With the joiner aside, and no frames: whatever memory there is goes to strangers.
        let mut quiet = pair.fork();
        quiet.machine_mut(JOINER).asleep = true;
        let cloned = heap::live();
        for n in 1..5_000 {
            send_hello(&mut quiet, n);
            assert!(quiet.to_strangers() <= quiet.from_strangers(), "{when}, stranger {n}");
        }
        assert!(quiet.to_strangers() > 0, "{when}: some were answered");
        assert!(heap::live() - cloned < 4_096, "{when}: {} bytes", heap::live() - cloned);
        drop(quiet);
        assert!(heap::live() <= heap);
        pair.machine_mut(JOINER).asleep = false;
        if when != "over" {
            plays(&mut pair, 20);
        }
    }
}

#[test]
fn verdict_about_long_ago_does_not_wind_a_match_back() {
    let mut pair = pair();
    plays(&mut pair, 120);
    let knows = Knows::of(&pair, HOST).now(&pair, HOST);
    let verdict = Ordered::Verdict { frame: WireFrame(knows.first + 60), checksum: 1, finished: true };
    let forged = message(knows.header, &Message::Ordered { number: knows.first_number, body: verdict });
    pair.inject(HOST, addr(JOINER), &forged);
    assert_eq!(pair.machine(HOST).refused().of(Refusal::ImplausibleChecksum), 1);
    plays(&mut pair, 120);
    assert_eq!(events(&pair, HOST), [], "an honest end is at most window and delay behind");
}

#[test]
fn forged_verdict_does_not_end_a_match_that_goes_on() {
    let mut pair = pair();
    plays(&mut pair, 120);
    let knows = Knows::of(&pair, HOST).now(&pair, HOST);
    let verdict = Ordered::Verdict { frame: WireFrame(knows.known - 5), checksum: 1, finished: true };
    let forged = message(knows.header, &Message::Ordered { number: knows.first_number, body: verdict });
    pair.inject(HOST, addr(JOINER), &forged);
    assert_eq!(pair.machine(HOST).refused().total(), 0, "the verdict is taken");
    plays(&mut pair, 240);
    assert_eq!(events(&pair, HOST), [], "new frames came all the time");
}

/// A VERDICT about the newest frame that a machine can know of, as its peer's first message.
fn early_verdict(pair: &Pair, victim: usize) -> Vec<u8> {
    let knows = Knows::of(pair, victim).now(pair, victim);
    let verdict = Ordered::Verdict { frame: WireFrame(knows.known - 2), checksum: 1, finished: true };
    message(knows.header, &Message::Ordered { number: knows.first_number, body: verdict })
}

#[test]
fn early_verdict_is_forgotten_when_frames_go_on() {
    let mut pair = pair_until::<400>([config(HOST), config(JOINER)]);
    plays(&mut pair, 100);
    pair.inject(HOST, addr(JOINER), &early_verdict(&pair, HOST));
    assert_eq!(pair.machine(HOST).refused().total(), 0, "it is taken");
    assert!(pair.step_until(LATE, |pair| !pair.said_by(JOINER, "VERDICT").is_empty()));
    // The joiner's true verdict has the number of the forged one, so a liar would give it the next.
    let mut verdict = pair.said_by(JOINER, "VERDICT")[0].to_vec();
    let next = u16::from_be_bytes([verdict[16], verdict[17]]).wrapping_add(1);
    verdict[16..18].copy_from_slice(&next.to_be_bytes());
    pair.run_for(ms(60));
    let header = Knows::of(&pair, HOST).now(&pair, HOST).header;
    verdict[4..6].copy_from_slice(&header.sequence.to_be_bytes());
    verdict[6..8].copy_from_slice(&header.ack.to_be_bytes());
    verdict[8..12].copy_from_slice(&header.ack_bits.to_be_bytes());
    pair.inject(HOST, addr(JOINER), &verdict);
    assert!(pair.step_until(LATE, crate::pair::both_ended));
    for id in [HOST, JOINER] {
        let told = events(&pair, id);
        assert!(
            matches!(told[..], [Event::Ended(Verdict::Agreed { frame: Frame(400), .. })]),
            "{id}: {told:?}"
        );
    }
}

#[test]
fn verdict_followed_by_leaving_forfeits() {
    for (victim, lost) in [(HOST, ""), (HOST, "LEAVING"), (JOINER, ""), (JOINER, "LEAVING")] {
        let mut pair = pair();
        plays(&mut pair, 100);
        pair.inject(victim, addr(1 - victim), &early_verdict(&pair, victim));
        assert_eq!(pair.machine(victim).refused().total(), 0, "it is taken");
        // Frames stop before the goodbye, which a DISCONNECT alone does not prove at once.
        pair.lose(1 - victim, "RBN1", u32::MAX);
        pair.lose(1 - victim, lost, u32::MAX);
        pair.run_for(ms(300));
        pair.session_mut(1 - victim).leave();
        pair.run_for(SOON);
        let left = Event::Disconnected { reason: Reason::Left };
        assert_eq!(pair.ending(victim), Some(&left), "{lost} lost");
    }
}
