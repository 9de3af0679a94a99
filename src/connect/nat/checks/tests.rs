//! Tests of connectivity checks.

use super::*;
use crate::connect::nat::results::MAX_DISCOVERED;

const ADDRS: [&str; 2] = ["192.0.2.1:7", "192.0.2.2:7"];

fn at(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

fn from(text: &str) -> Path {
    Path { relayed: false, remote: at(text) }
}

/// The checks of two machines that know each other's addresses; the first one controls.
fn pair() -> [Checks; 2] {
    let credentials = [3, 5].map(|n: u8| Credentials::draw(&core::array::from_fn(|at| at as u8 * n)));
    core::array::from_fn(|id| {
        let bases = Bases { direct: [Some(at(ADDRS[id])), None], relayed: None };
        let part = OwnPart {
            credentials: credentials[id],
            tie_breaker: id as u64,
            bases,
            candidates: Vec::new(),
            no_relay: false,
            number: 0,
            certificate: None,
        };
        let mut checks = Checks::new(std::time::Instant::now().into(), id == 0, &part);
        let theirs = Candidate { kind: Kind::Host, addr: at(ADDRS[1 - id]) };
        checks.begin(&credentials[1 - id], &[theirs]);
        checks
    })
}

/// The next check of a machine, and the time of it.
fn check(checks: &mut Checks, mut now: Time) -> (Time, Vec<u8>) {
    loop {
        checks.run(now);
        if let Some((_, message)) =
            checks.poll_transmit(now).filter(|(_, message)| message.starts_with(&CHECK))
        {
            return (now, message);
        }
        now = now + PACE;
    }
}

#[test]
fn answer_counts_on_the_path_of_its_check_alone_and_once() {
    let [mut one, mut two] = pair();
    let (now, request) = check(&mut one, Time::ZERO);
    assert!(two.handle(now, from(ADDRS[0]), &request));
    let (_, answer) = two.poll_transmit(now).unwrap();
    let later = now + Span::from_millis(30);
    assert!(!one.handle(later, from("192.0.2.9:7"), &answer), "from elsewhere");
    assert!(!one.handle(later, Path { relayed: true, ..from(ADDRS[1]) }, &answer), "through a relay");
    assert_eq!(one.chosen(), None);
    let mut damaged = answer.clone();
    *damaged.last_mut().unwrap() ^= 1;
    damaged[30] ^= 1;
    assert!(!one.handle(later, from(ADDRS[1]), &damaged));
    assert!(one.handle(later, from(ADDRS[1]), &answer));
    assert_eq!(one.chosen(), Some((from(ADDRS[1]), Span::from_millis(30))));
    assert!(!one.handle(later, from(ADDRS[1]), &answer), "again");
}

#[test]
fn late_candidates_are_checked_in_the_same_search() {
    let [mut one, _] = pair();
    let sent_to = |one: &mut Checks, from: u64| {
        let mut found = Vec::new();
        for now in (from..from + 300).step_by(5).map(|ms| Time::ZERO + Span::from_millis(ms)) {
            one.run(now);
            found.extend(core::iter::from_fn(|| one.poll_transmit(now)).map(|(path, _)| path));
        }
        found
    };
    assert!(sent_to(&mut one, 0).iter().all(|path| *path == from(ADDRS[1])));
    let late = |last: u8| Candidate { kind: Kind::Reflexive, addr: ([198, 51, 100, last], 7).into() };
    one.extend(&[late(1), late(1)]);
    assert!(sent_to(&mut one, 300).contains(&Path { relayed: false, remote: late(1).addr }));
    one.set_relayed(at("192.0.2.99:9"));
    assert!(sent_to(&mut one, 600).contains(&Path { relayed: true, remote: late(1).addr }));
    one.set_relayed(at("192.0.2.98:9"));
    assert_eq!(one.bases.relayed, Some(at("192.0.2.99:9")), "it is not replaced");
    (0..100).for_each(|last| one.extend(&[late(last)]));
    assert_eq!(one.remote().len(), MAX_REMOTE);
}

#[test]
fn checks_begin_anew_while_none_is_answered() {
    let [mut one, mut two] = pair();
    let sent = |one: &mut Checks, span: core::ops::Range<u64>, peer: Option<&mut Checks>| {
        let (mut count, mut peer) = (0, peer);
        for now in span.step_by(10).map(|ms| Time::ZERO + Span::from_millis(ms)) {
            one.retry(now);
            one.run(now);
            if let Some(peer) = &mut peer {
                peer.run(now);
                while let Some((_, message)) = peer.poll_transmit(now) {
                    one.handle(now, from(ADDRS[1]), &message);
                }
            }
            let sent: Vec<_> = core::iter::from_fn(|| one.poll_transmit(now)).collect();
            count += sent.iter().filter(|(_, message)| message.starts_with(&CHECK)).count();
        }
        count
    };
    let round = usize::from(MAX_UNANSWERED);
    assert_eq!(sent(&mut one, 0..1_990, None), round);
    assert_eq!(sent(&mut one, 1_990..4_000, None), round);
    assert_eq!(sent(&mut one, 4_000..90_000, None), round * usize::from(MAX_AGAIN - 1), "not for ever");
    one.again();
    assert_eq!(sent(&mut one, 90_000..91_990, None), round);
    // Where checks of the peer come in, no answer to one of ours may be lost by a new beginning.
    let [mut one, _] = pair();
    assert_eq!(sent(&mut one, 0..1_500, Some(&mut two)), 8);
    assert_eq!(one.began.1, 0);
    sent(&mut one, 1_500..3_000, Some(&mut two));
    assert_eq!(one.began.1, 0);
}

#[test]
fn controlled_side_waits_for_the_nomination() {
    let [mut one, mut two] = pair();
    let mut now = Time::ZERO;
    for _ in 0..100 {
        now = now + Span::from_millis(5);
        for checks in [&mut one, &mut two] {
            checks.run(now);
        }
        while let Some((_, message)) = two.poll_transmit(now) {
            one.handle(now, from(ADDRS[1]), &message);
        }
        let answered = one.chosen().is_some();
        assert!(answered || two.chosen().is_none(), "it follows");
        while let Some((_, message)) = one.poll_transmit(now) {
            two.handle(now, from(ADDRS[0]), &message);
        }
    }
    assert_eq!(two.chosen().map(|(path, _)| path), Some(from(ADDRS[0])));
}

#[test]
fn checking_anew_forgets_the_choice_of_before() {
    let [mut one, mut two] = pair();
    let mut now = Time::ZERO;
    while one.chosen().is_none() {
        let (at, request) = check(&mut one, now);
        now = at;
        assert!(two.handle(now, from(ADDRS[0]), &request));
        let answers: Vec<_> = core::iter::from_fn(|| two.poll_transmit(now)).collect();
        for (_, answer) in answers {
            one.handle(now, from(ADDRS[1]), &answer);
        }
    }
    one.again();
    assert_eq!(one.chosen(), None, "the agent chooses again");
}

#[test]
fn replayed_checks_draw_few_checks() {
    let [mut one, mut two] = pair();
    let (mut now, request) = check(&mut one, Time::ZERO);
    let mut sent = [0; 2];
    for _ in 0..1_000 {
        now = now + Span::from_millis(60);
        for stranger in 0..12 {
            two.handle(now, from(&format!("192.0.2.{}:9", 100 + stranger)), &request);
        }
        two.run(now);
        while let Some((path, message)) = two.poll_transmit(now) {
            let is_check = message.starts_with(&CHECK) && path != from(ADDRS[0]);
            sent[0] += u32::from(is_check);
            sent[1] += u32::from(is_check && path == from("192.0.2.100:9"));
        }
    }
    assert_eq!(sent[1], u32::from(MAX_UNANSWERED));
    assert!(sent[0] <= MAX_DISCOVERED as u32 * u32::from(MAX_UNANSWERED), "{sent:?}");
}

#[test]
fn new_mapped_address_in_each_answer_adds_few_candidates() {
    let [mut one, _] = pair();
    let (mut now, mut answered) = (Time::ZERO, 0);
    for _ in 0..200 {
        now = now + KEEP_ALIVE;
        one.run(now);
        while let Some((_, request)) = one.poll_transmit(now) {
            let [_, mut two] = pair();
            answered += 1;
            assert!(two.handle(now, from(&format!("198.51.100.7:{answered}")), &request));
            let (_, answer) = two.poll_transmit(now).unwrap();
            assert_eq!(one.handle(now, from(ADDRS[1]), &answer), answered < MAX_LOCAL);
        }
    }
    assert!(answered > MAX_LOCAL, "{answered}");
    assert_eq!(one.agent.local_candidates().count(), MAX_LOCAL);
}

#[test]
fn messages_of_a_stranger_who_saw_a_check_have_no_effect() {
    let [mut one, mut two] = pair();
    let (now, request) = check(&mut one, Time::ZERO);
    assert!(two.handle(now, from(ADDRS[0]), &request));
    let (_, answer) = two.poll_transmit(now).unwrap();
    // An error whose first attribute is the integrity.
    let mut error = [&[1, 0x11, 0, 24][..], &request[4..20], &[0, 8, 0, 20]].concat();
    error.resize(44, 7);
    assert!(!one.handle(now, from(ADDRS[1]), &error));
    let mut draw = 0x9E37_79B9_7F4A_7C15_u64;
    let mut below = |bound: usize| {
        draw ^= draw << 13;
        draw ^= draw >> 7;
        draw ^= draw << 17;
        (draw % bound as u64) as usize
    };
    for _ in 0..100_000 {
        let mut message = [&request, &answer, &error][below(3)].clone();
        for _ in 0..1 + below(3) {
            let at = below(message.len());
            message[at] = [0, 1, 8, 0x11, 0x20, 0xFF, below(256) as u8][below(7)];
        }
        if below(4) == 0 {
            message.truncate(20 + below(message.len() - 19));
        }
        let len = (message.len() - 20) as u16;
        message[2..4].copy_from_slice(&len.to_be_bytes());
        // The fingerprint at the end is no part of what is authenticated.
        let is = |good: &[u8]| {
            let covered = good.len() - 8;
            message.len() >= covered && message[..2] == good[..2] && message[4..covered] == good[4..covered]
        };
        if !is(&request) && !is(&answer) {
            assert!(!one.handle(now, from(ADDRS[1]), &message), "{message:02X?}");
        }
    }
    assert_eq!(one.chosen(), None);
    assert!(one.handle(now, from(ADDRS[1]), &answer), "the right one still counts");
}
