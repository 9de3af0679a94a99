//! The two clients of a rendezvous against packets that a test writes in the server's name.

use crate::hostile::{bytes, registration};
use crate::meeting::{addr, init, ms, resp, secs, server_addr};
use rebout::MAX_DATAGRAM;
use rebout::rendezvous::{Denial, HostEvent, JoinerEvent, Post, Registration};
use rebout::seal::Randomness;
use rebout::wire::rendezvous::{self as wire, Ask, Cookie, Deliver, Grant, Outcome, Packet, Register, Reply};
use std::time::Duration;

fn sent(host: &mut Registration, now: Duration) -> Option<Register> {
    let mut buf = [0; MAX_DATAGRAM];
    let (_, len) = host.poll_transmit(now, &mut buf)?;
    match wire::decode(&buf[..len]) {
        Ok(Packet::Register(register)) => Some(register),
        other => panic!("{other:?}"),
    }
}

fn say(host: &mut Registration, now: Duration, packet: &Packet<'_>) {
    host.handle_datagram(now, server_addr(), &bytes(packet));
}

fn cookie(nonce: u64, cookie: u64, at: u8) -> Packet<'static> {
    Packet::Cookie(Cookie { nonce, cookie, observed: addr(at) })
}

fn grant(nonce: u64, at: u8) -> Packet<'static> {
    Packet::Grant(Grant { nonce, observed: addr(at), ticket: 7, turn: None })
}

fn refusal(nonce: u64, denial: Denial) -> Packet<'static> {
    Packet::Reply(Reply { nonce, outcome: Outcome::Refused(denial) })
}

fn events(host: &mut Registration) -> Vec<HostEvent> {
    core::iter::from_fn(|| host.poll_event()).collect()
}

/// Registers at `now`, seen at address 1. Returns the nonce.
fn register(host: &mut Registration, now: Duration) -> u64 {
    host.set_ticket(7);
    host.refresh();
    let asked = sent(host, now).expect("a cookie is asked for");
    assert_eq!((asked.cookie, asked.signature), (0, [0; 64]));
    say(host, now, &cookie(asked.nonce, 5, 1));
    assert_eq!(sent(host, now).map(|signed| (signed.nonce, signed.cookie)), Some((asked.nonce, 5)));
    say(host, now, &grant(asked.nonce, 1));
    asked.nonce
}

#[test]
fn grant_counts_for_the_signed_address_alone() {
    let mut host = registration(1);
    host.set_ticket(7);
    let nonce = sent(&mut host, ms(0)).unwrap().nonce;
    say(&mut host, ms(1), &grant(nonce, 1));
    assert_eq!(events(&mut host), [], "nothing was signed");
    say(&mut host, ms(1), &cookie(nonce, 5, 1));
    sent(&mut host, ms(1)).unwrap();
    say(&mut host, ms(2), &grant(nonce, 66));
    say(&mut host, ms(2), &grant(nonce + 1, 1));
    assert_eq!(events(&mut host), []);
    say(&mut host, ms(3), &grant(nonce, 1));
    assert_eq!(events(&mut host), [HostEvent::Registered { observed: addr(1), credentials: None }]);
}

#[test]
fn challenge_is_answered_with_its_nonce_and_cookie() {
    let mut host = registration(1);
    let nonce = register(&mut host, ms(0));
    assert_eq!(sent(&mut host, ms(1_000)), None);
    say(&mut host, ms(1_000), &cookie(nonce, 9, 1));
    assert_eq!(host.poll_timeout(), Some(ms(0)));
    let answer = sent(&mut host, ms(1_000)).expect("an answer");
    assert_eq!((answer.nonce, answer.cookie, answer.ticket), (nonce, 9, 7));
    assert_eq!(sent(&mut host, ms(1_001)), None, "once");
    let mut answers = 0;
    for now in 2_000..3_000 {
        say(&mut host, ms(now), &cookie(nonce, now, 1));
        answers += usize::from(sent(&mut host, ms(now)).is_some());
    }
    assert!((5..=10).contains(&answers), "{answers} in a second");
}

#[test]
fn challenge_of_another_address_is_not_signed_but_told() {
    let mut host = registration(1);
    register(&mut host, secs(0));
    let nonce = register(&mut host, secs(15));
    events(&mut host);
    say(&mut host, secs(16), &cookie(nonce, 9, 66));
    assert_eq!(sent(&mut host, secs(16)), None);
    let told = HostEvent::Contested { signed: addr(1), other: addr(66) };
    assert_eq!(events(&mut host), std::slice::from_ref(&told));
    say(&mut host, secs(17), &cookie(nonce, 9, 66));
    assert_eq!(events(&mut host), [], "once for each registration");
    let nonce = register(&mut host, secs(30));
    events(&mut host);
    say(&mut host, secs(31), &cookie(nonce, 9, 66));
    assert_eq!(events(&mut host), [told]);
}

#[test]
fn contested_registration_is_repeated_sooner() {
    let mut host = registration(1);
    let nonce = register(&mut host, ms(0));
    assert_eq!(host.poll_timeout(), Some(secs(15)));
    let mut host = registration(1);
    host.set_ticket(7);
    assert_eq!(sent(&mut host, ms(0)).map(|sent| sent.nonce), Some(nonce), "the same seed");
    say(&mut host, ms(0), &cookie(nonce, 5, 66));
    say(&mut host, ms(0), &cookie(nonce, 5, 1));
    assert!(sent(&mut host, ms(0)).is_some());
    say(&mut host, ms(0), &grant(nonce, 66));
    assert!(host.poll_timeout().is_some_and(|at| at < ms(7_500)));
}

#[test]
fn deliver_of_an_earlier_registration_counts() {
    let mut host = registration(1);
    let nonces = [0, 15, 30].map(|at| register(&mut host, secs(at)));
    events(&mut host);
    for (guest, nonce) in (1..).zip(nonces) {
        say(&mut host, secs(31), &Packet::Deliver(Deliver { nonce, guest, init: &init(9) }));
        assert_eq!(events(&mut host), [HostEvent::Delivered { guest, init: init(9) }]);
    }
    say(&mut host, secs(31), &Packet::Deliver(Deliver { nonce: 1, guest: 9, init: &init(9) }));
    assert_eq!(events(&mut host), []);
}

#[test]
fn sixteen_guests_can_be_answered() {
    let mut host = registration(1);
    let nonce = register(&mut host, ms(0));
    for guest in 0..20 {
        say(&mut host, ms(1), &Packet::Deliver(Deliver { nonce, guest, init: &init(9) }));
        events(&mut host);
    }
    assert!(!host.answer(3, &resp(&init(9))), "the oldest are forgotten");
    assert!(!host.answer(4, &init(9)), "no RESP");
    assert!(host.answer(4, &resp(&init(9))) && host.answer(19, &resp(&init(9))));
}

#[test]
fn retries_after_a_refusal_are_jittered() {
    let mut retries: Vec<Duration> = (1..=8)
        .map(|seed| {
            let mut host = registration(seed);
            host.set_ticket(7);
            let nonce = sent(&mut host, ms(0)).unwrap().nonce;
            say(&mut host, ms(1), &refusal(nonce, Denial::Full));
            host.poll_timeout().unwrap()
        })
        .collect();
    retries.sort();
    retries.dedup_by_key(|at| at.as_millis() / 100);
    assert!(retries.len() >= 6 && retries[0] >= ms(2_500) && retries[7.min(retries.len() - 1)] < ms(7_502));
}

#[test]
fn held_room_is_claimed_on_without_delay() {
    let mut host = registration(1);
    host.set_ticket(7);
    let nonce = sent(&mut host, ms(0)).unwrap().nonce;
    say(&mut host, ms(1), &cookie(nonce, 5, 1));
    sent(&mut host, ms(1)).unwrap();
    say(&mut host, ms(2), &refusal(nonce, Denial::Held));
    assert_eq!(events(&mut host), [HostEvent::Refused(Denial::Held)]);
    let sent_at = |host: &mut Registration| (3..6_000).filter(|at| sent(host, ms(*at)).is_some()).count();
    assert!(sent_at(&mut host) >= 6);
}

#[test]
fn registration_without_a_grant_is_begun_anew() {
    let mut host = registration(1);
    host.set_ticket(7);
    let nonce = sent(&mut host, ms(0)).unwrap().nonce;
    say(&mut host, ms(0), &cookie(nonce, 5, 1));
    let nonces: Vec<u64> =
        (0..80).filter_map(|step| sent(&mut host, ms(step * 100))).map(|sent| sent.nonce).collect();
    assert!(nonces.iter().all(|sent| *sent == nonce), "{nonces:?}");
    let anew = sent(&mut host, secs(8)).expect("a new exchange");
    assert!(anew.nonce != nonce && anew.cookie == 0);
}

#[test]
fn refresh_begins_a_new_exchange() {
    let mut host = registration(1);
    host.set_ticket(7);
    let first = sent(&mut host, ms(0)).unwrap().nonce;
    host.refresh();
    assert_ne!(sent(&mut host, ms(1)).unwrap().nonce, first);
}

#[test]
fn grant_ends_a_refusal() {
    let mut host = registration(1);
    host.set_ticket(7);
    let nonce = sent(&mut host, ms(0)).unwrap().nonce;
    say(&mut host, ms(0), &refusal(nonce, Denial::Busy));
    say(&mut host, ms(0), &refusal(nonce, Denial::Busy));
    assert_eq!(events(&mut host), [HostEvent::Refused(Denial::Busy)], "told once");
    register(&mut host, secs(1));
    events(&mut host);
    let mut told = Vec::new();
    for at in 2..70 {
        while sent(&mut host, secs(at)).is_some() {}
        told.extend(events(&mut host).into_iter().map(|event| (at, event)));
    }
    assert!(told.contains(&(61, HostEvent::Lapsed { why: None })), "{told:?}");
}

#[test]
fn host_counts_only_packets_of_its_server() {
    let mut host = registration(1);
    host.set_ticket(7);
    let nonce = sent(&mut host, ms(0)).unwrap().nonce;
    host.handle_datagram(ms(1), addr(66), &bytes(&cookie(nonce, 5, 1)));
    assert_eq!(sent(&mut host, ms(1)), None);
}

fn asked(post: &mut Post, now: Duration) -> Option<Ask> {
    let mut buf = [0; MAX_DATAGRAM];
    let (_, len) = post.poll_transmit(now, &mut buf)?;
    match wire::decode(&buf[..len]) {
        Ok(Packet::Ask(ask)) => Some(ask),
        other => panic!("{other:?}"),
    }
}

fn joiner() -> Post {
    Post::new(server_addr(), [1; 16], Randomness::Seeded(1)).unwrap()
}

#[test]
fn refusal_does_not_end_an_ask() {
    let mut post = joiner();
    let nonce = asked(&mut post, ms(0)).unwrap().nonce;
    post.renew_credentials();
    for _ in 0..40 {
        post.handle_datagram(ms(1), server_addr(), &bytes(&refusal(nonce, Denial::Version)));
    }
    let refused = JoinerEvent::Refused(Denial::Version);
    let told: Vec<_> = core::iter::from_fn(|| post.poll_event()).collect();
    assert_eq!(told, vec![refused; 16], "a bounded number");
    assert_eq!(asked(&mut post, ms(200)).map(|ask| ask.nonce), Some(nonce), "the same question");
    post.handle_datagram(ms(201), server_addr(), &bytes(&grant(nonce, 9)));
    assert!(matches!(post.poll_event(), Some(JoinerEvent::Ticket { .. })));
    assert_eq!(asked(&mut post, secs(9)), None);
}

#[test]
fn silence_of_a_server_is_told_again_after_an_answer() {
    let mut post = joiner();
    let mut nonce = 0;
    for round in 0..2 {
        let start = secs(100 * round);
        for at in 0..6 {
            nonce = asked(&mut post, start + secs(at)).map_or(nonce, |ask| ask.nonce);
        }
        assert_eq!(post.poll_event(), Some(JoinerEvent::ServerSilent), "round {round}");
        post.handle_datagram(start + secs(6), server_addr(), &bytes(&grant(nonce, 9)));
        assert!(matches!(post.poll_event(), Some(JoinerEvent::Ticket { .. })));
        post.renew_credentials();
    }
}

#[test]
fn answer_to_another_post_is_ignored() {
    let mut post = joiner();
    assert!(!post.post(&resp(&init(9))), "no INIT");
    assert!(post.post(&init(9)));
    let mut buf = [0; MAX_DATAGRAM];
    let (_, len) = post.poll_transmit(ms(0), &mut buf).unwrap();
    let Ok(Packet::Post(sent)) = wire::decode(&buf[..len]) else { panic!() };
    let nonce = sent.nonce;
    let resp = resp(&init(9));
    let answered = |nonce| bytes(&Packet::Reply(Reply { nonce, outcome: Outcome::Answered(&resp) }));
    post.handle_datagram(ms(1), server_addr(), &answered(nonce + 1));
    assert_eq!(post.poll_event(), None);
    post.handle_datagram(ms(1), server_addr(), &answered(nonce));
    assert_eq!(post.poll_event(), Some(JoinerEvent::Answered { resp: resp.clone() }));
    // The RESP may be a forged one: the INIT is posted on, and the host is not silent.
    for at in 1..8 {
        let _ = post.poll_transmit(secs(at), &mut buf);
        post.handle_datagram(
            secs(at),
            server_addr(),
            &bytes(&Packet::Reply(Reply { nonce, outcome: Outcome::Posted })),
        );
    }
    let told: Vec<_> = core::iter::from_fn(|| post.poll_event()).collect();
    assert!(!told.contains(&JoinerEvent::HostSilent), "{told:?}");
}
