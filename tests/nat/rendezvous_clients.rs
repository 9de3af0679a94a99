//! The two clients of a rendezvous against packets that a test writes in the server's name.

use crate::hostile::{bytes, registration};
use crate::meeting::{addr, init, ms, resp, secs, server_addr};
use rebout::MAX_DATAGRAM;
use rebout::Randomness;
use rebout::lab::rendezvous::{Denial, JoinRequest, Registration, RendezvousEvent};
use rebout::lab::wire::rendezvous::{
    self as wire, Answer, Ask, Cookie, Deliver, Grant, Outcome, Packet, Register, Reply,
};
use std::time::Duration;

fn sent(host: &mut Registration, now: Duration) -> Option<Register> {
    let mut buf = [0; MAX_DATAGRAM];
    let (_, len) = host.poll_transmit(now, &mut buf)?;
    match wire::decode(&buf[..len]) {
        Ok(Packet::Register(register)) => Some(register),
        Ok(Packet::Ask(_)) => None, // for its own room
        other => panic!("{other:?}"),
    }
}

fn registers_at(host: &mut Registration) -> Duration {
    (0..).map(|tenth| ms(tenth * 100)).find(|at| sent(host, *at).is_some()).unwrap()
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

fn events(host: &mut Registration) -> Vec<RendezvousEvent> {
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
    assert_eq!(events(&mut host), [RendezvousEvent::Registered { observed: addr(1), credentials: None }]);
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
    let told = RendezvousEvent::Contested { signed: addr(1), other: addr(66) };
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
    assert_eq!(registers_at(&mut host), secs(15));
    let mut host = registration(1);
    host.set_ticket(7);
    assert_eq!(sent(&mut host, ms(0)).map(|sent| sent.nonce), Some(nonce), "the same seed");
    [66, 1].into_iter().for_each(|at| say(&mut host, ms(0), &cookie(nonce, 5, at)));
    assert!(sent(&mut host, ms(0)).is_some());
    say(&mut host, ms(0), &grant(nonce, 66));
    assert!(registers_at(&mut host) <= ms(7_500));
    let contested = RendezvousEvent::Contested { signed: addr(66), other: addr(1) };
    assert_eq!(events(&mut host).last(), Some(&contested));
}

#[test]
fn settled_host_repeats_a_contested_registration_no_sooner() {
    let mut host = registration(1);
    register(&mut host, secs(0));
    let nonce = sent(&mut host, secs(15)).unwrap().nonce;
    say(&mut host, secs(15), &cookie(nonce, 5, 66));
    assert_eq!(host.poll_timeout(), Some(ms(15_500)), "the server has time to name another address");
    say(&mut host, secs(15), &cookie(nonce, 5, 1));
    assert!(sent(&mut host, secs(15)).is_some());
    say(&mut host, secs(15), &grant(nonce, 1));
    assert!(events(&mut host).contains(&RendezvousEvent::Contested { signed: addr(1), other: addr(66) }));
    assert_eq!(registers_at(&mut host), secs(30));
}

#[test]
fn contest_without_a_grant_is_told() {
    let mut host = registration(1);
    host.set_ticket(7);
    let nonce = sent(&mut host, ms(0)).unwrap().nonce;
    [66, 1].into_iter().for_each(|at| say(&mut host, ms(0), &cookie(nonce, 5, at)));
    for step in 0..=80 {
        sent(&mut host, ms(step * 100));
    }
    assert!(events(&mut host).contains(&RendezvousEvent::Contested { signed: addr(66), other: addr(1) }));
}

#[test]
fn ticket_is_wanted_once_for_each_registration() {
    let mut host = registration(1);
    assert!(host.wants_ticket(ms(0)));
    host.set_ticket(7);
    assert!(!host.wants_ticket(ms(0)));
    register(&mut host, ms(0));
    assert!(!host.wants_ticket(ms(14_999)) && host.wants_ticket(secs(15)));
    sent(&mut host, secs(15)).expect("the old ticket is registered again");
    assert!(!host.wants_ticket(secs(15)));
}

#[test]
fn lapse_is_noticed_in_time() {
    let mut host = registration(1);
    register(&mut host, secs(0));
    let nonce = sent(&mut host, ms(59_900)).unwrap().nonce;
    say(&mut host, ms(59_901), &refusal(nonce, Denial::Full));
    assert_eq!(host.poll_timeout(), Some(secs(60)));
}

#[test]
fn silence_is_told_to_a_host_again_after_an_answer() {
    let mut host = registration(1);
    host.set_ticket(7);
    let mut nonce = 0;
    for round in 0..3 {
        let start = 100 * round;
        for at in 0..9 {
            nonce = sent(&mut host, secs(start + at)).map_or(nonce, |sent| sent.nonce);
        }
        let told = events(&mut host).iter().filter(|event| **event == RendezvousEvent::ServerSilent).count();
        assert_eq!(told, 1, "round {round}");
        match round {
            0 => say(&mut host, secs(9), &refusal(nonce, Denial::Busy)),
            _ => {
                register(&mut host, secs(start + 9));
            }
        }
    }
}

#[test]
fn deliver_of_an_earlier_registration_counts() {
    let mut host = registration(1);
    let nonces = [0, 15, 30].map(|at| register(&mut host, secs(at)));
    events(&mut host);
    for (guest, nonce) in (1..).zip(nonces) {
        say(&mut host, secs(31), &Packet::Deliver(Deliver { nonce, guest, signal: &init(9) }));
        assert_eq!(events(&mut host), [RendezvousEvent::Delivered { guest, signal: init(9) }]);
    }
    say(&mut host, secs(31), &Packet::Deliver(Deliver { nonce: 1, guest: 9, signal: &init(9) }));
    assert_eq!(events(&mut host), []);
}

#[test]
fn sixteen_guests_can_be_answered() {
    let mut host = registration(1);
    let nonce = register(&mut host, ms(0));
    for guest in 0..20 {
        say(&mut host, ms(1), &Packet::Deliver(Deliver { nonce, guest, signal: &init(9) }));
        events(&mut host);
    }
    assert!(!host.answer(3, &resp(&init(9))), "the oldest are forgotten");
    assert!(!host.answer(4, &init(9)), "no RESP");
    say(&mut host, ms(1), &Packet::Deliver(Deliver { nonce, guest: 19, signal: &init(9) }));
    assert_eq!(sent(&mut host, ms(1)), None, "there is no answer to repeat");
    assert!(host.answer(4, &resp(&init(9))) && host.answer(19, &resp(&init(9))));
    assert_eq!(host.poll_timeout(), Some(ms(0)));
}

#[test]
fn newest_answer_to_a_guest_counts() {
    let mut host = registration(1);
    let nonce = register(&mut host, ms(0));
    say(&mut host, ms(1), &Packet::Deliver(Deliver { nonce, guest: 4, signal: &init(9) }));
    for answer in [resp(&init(1)), resp(&init(2))] {
        assert!(host.answer(4, &answer));
        let mut buf = [0; MAX_DATAGRAM];
        let (_, len) = host.poll_transmit(ms(1), &mut buf).unwrap();
        assert_eq!(buf[..len], bytes(&Packet::Answer(Answer { guest: 4, signal: &answer })));
    }
}

#[test]
fn guest_that_could_not_be_told_is_told_later() {
    let mut host = registration(1);
    let nonce = register(&mut host, ms(0));
    for guest in 0..40 {
        say(&mut host, ms(1), &Packet::Deliver(Deliver { nonce, guest, signal: &init(9) }));
    }
    assert_eq!(events(&mut host).len(), 32);
    say(&mut host, ms(2), &Packet::Deliver(Deliver { nonce, guest: 39, signal: &init(9) }));
    assert_eq!(events(&mut host), [RendezvousEvent::Delivered { guest: 39, signal: init(9) }]);
}

#[test]
fn events_of_a_host_are_bounded() {
    let mut host = registration(1);
    for at in 0..50 {
        register(&mut host, secs(at * 15));
    }
    assert_eq!(events(&mut host).len(), 32);
}

#[test]
fn sixteen_registrations_are_remembered() {
    let mut host = registration(1);
    let nonces: Vec<u64> = (0..17).map(|at| register(&mut host, secs(at * 15))).collect();
    events(&mut host);
    for (guest, nonce) in (0..).zip(&nonces[..2]) {
        say(&mut host, secs(250), &Packet::Deliver(Deliver { nonce: *nonce, guest, signal: &init(9) }));
    }
    assert_eq!(events(&mut host), [RendezvousEvent::Delivered { guest: 1, signal: init(9) }]);
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
    assert_eq!(events(&mut host), [RendezvousEvent::Refused(Denial::Held)]);
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
    assert_eq!(events(&mut host), [RendezvousEvent::Refused(Denial::Busy)], "told once");
    register(&mut host, secs(1));
    events(&mut host);
    let mut told = Vec::new();
    for at in 2..70 {
        while sent(&mut host, secs(at)).is_some() {}
        told.extend(events(&mut host).into_iter().map(|event| (at, event)));
    }
    assert!(told.contains(&(61, RendezvousEvent::Lapsed { why: None })), "{told:?}");
}

#[test]
fn host_counts_only_packets_of_its_server() {
    let mut host = registration(1);
    host.set_ticket(7);
    let nonce = sent(&mut host, ms(0)).unwrap().nonce;
    host.handle_datagram(ms(1), addr(66), &bytes(&cookie(nonce, 5, 1)));
    assert_eq!(sent(&mut host, ms(1)), None);
}

fn asked(post: &mut JoinRequest, now: Duration) -> Option<Ask> {
    let mut buf = [0; MAX_DATAGRAM];
    let (_, len) = post.poll_transmit(now, &mut buf)?;
    match wire::decode(&buf[..len]) {
        Ok(Packet::Ask(ask)) => Some(ask),
        other => panic!("{other:?}"),
    }
}

fn joiner() -> JoinRequest {
    JoinRequest::new(server_addr(), [1; 16], Randomness::Seeded(1)).unwrap()
}

#[test]
fn refusal_does_not_end_an_ask() {
    let mut post = joiner();
    let nonce = asked(&mut post, ms(0)).unwrap().nonce;
    post.renew_credentials();
    for _ in 0..40 {
        post.handle_datagram(ms(1), server_addr(), &bytes(&refusal(nonce, Denial::Version)));
    }
    let refused = RendezvousEvent::Refused(Denial::Version);
    let told: Vec<_> = core::iter::from_fn(|| post.poll_event()).collect();
    assert_eq!(told, vec![refused; 16], "a bounded number");
    assert_eq!(asked(&mut post, ms(250)).map(|ask| ask.nonce), Some(nonce), "the same question");
    post.handle_datagram(ms(251), server_addr(), &bytes(&grant(nonce, 9)));
    assert!(matches!(post.poll_event(), Some(RendezvousEvent::Ticket { .. })));
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
        assert_eq!(post.poll_event(), Some(RendezvousEvent::ServerSilent), "round {round}");
        post.handle_datagram(start + secs(6), server_addr(), &bytes(&grant(nonce, 9)));
        assert!(matches!(post.poll_event(), Some(RendezvousEvent::Ticket { .. })));
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
    assert_eq!(post.poll_event(), Some(RendezvousEvent::Answered { signal: resp.clone() }));
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
    assert!(!told.contains(&RendezvousEvent::HostSilent), "{told:?}");
}

/// The POST that a joiner sends.
fn posted(post: &mut JoinRequest, now: Duration) -> Option<(u64, Vec<u8>)> {
    let mut buf = [0; MAX_DATAGRAM];
    let (_, len) = post.poll_transmit(now, &mut buf)?;
    match wire::decode(&buf[..len]) {
        Ok(Packet::Post(post)) => Some((post.nonce, post.signal.to_vec())),
        other => panic!("{other:?}"),
    }
}

/// A joiner whose question was answered.
fn informed_joiner() -> JoinRequest {
    let mut post = joiner();
    let nonce = asked(&mut post, ms(0)).unwrap().nonce;
    post.handle_datagram(ms(0), server_addr(), &bytes(&grant(nonce, 9)));
    assert!(matches!(post.poll_event(), Some(RendezvousEvent::Ticket { .. })));
    post
}

#[test]
fn settled_post_does_not_end_the_ask() {
    let mut post = joiner();
    post.settle();
    assert!(asked(&mut post, ms(0)).is_some());
}

#[test]
fn new_init_takes_the_place_of_the_old() {
    let mut post = informed_joiner();
    assert_eq!(post.poll_timeout(), None);
    post.post(&init(1));
    let (first, sent) = posted(&mut post, ms(1)).unwrap();
    assert_eq!((sent, post.poll_timeout()), (init(1), Some(ms(201))));
    post.post(&init(2));
    let (second, sent) = posted(&mut post, ms(2)).unwrap();
    assert!(second != first && sent == init(2));
}

/// The events of a joiner in eleven seconds in which each POST, or each ASK, gets this answer.
fn told_with(post: &mut JoinRequest, start: u64, outcome: Option<Outcome<'_>>) -> Vec<RendezvousEvent> {
    let mut buf = [0; MAX_DATAGRAM];
    for at in start..start + 11 {
        while post.poll_transmit(secs(at), &mut buf).is_some() {
            let nonce = u64::from_be_bytes(*buf[2..].first_chunk().unwrap());
            if let Some(outcome) = outcome {
                let reply = bytes(&Packet::Reply(Reply { nonce, outcome }));
                post.handle_datagram(secs(at), server_addr(), &reply);
            }
        }
    }
    core::iter::from_fn(|| post.poll_event()).collect()
}

#[test]
fn silence_is_told_once_and_again_after_an_answer() {
    let mut post = informed_joiner();
    post.post(&init(1));
    assert_eq!(told_with(&mut post, 0, None), [RendezvousEvent::ServerSilent]);
    assert_eq!(told_with(&mut post, 11, Some(Outcome::Posted)), [RendezvousEvent::HostSilent]);
    assert_eq!(told_with(&mut post, 22, None), [RendezvousEvent::ServerSilent]);
    let (mut post, answer) = (informed_joiner(), crate::meeting::resp(&init(1)));
    post.post(&init(1));
    let told = told_with(&mut post, 0, Some(Outcome::Answered(&answer)));
    assert_eq!(told, [RendezvousEvent::Answered { signal: answer.to_vec() }], "the host is not silent");
}

#[test]
fn server_that_refuses_a_joiner_is_not_silent() {
    let told = told_with(&mut joiner(), 0, Some(Outcome::Refused(Denial::Busy)));
    assert_eq!(told, vec![RendezvousEvent::Refused(Denial::Busy); 11]);
}
