//! Tests of moves to another address.

use super::*;

const RTT: Span = Span::from_millis(80);
const LEN: usize = 32;
const UNPROVEN: Standing = Standing::Unproven;

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

fn addr(port: u16) -> SocketAddr {
    ([192, 0, 2, 7], port).into()
}

fn also_to(roam: &mut Roam, len: usize) -> Vec<u16> {
    let mut sent = Vec::new();
    roam.also_to(len, |to| sent.push(to.port()));
    sent
}

/// Runs 60 packets a second from `from`, with answers of those addresses that `answers` names, until it is decided.
fn run(roam: &mut Roam, time: core::ops::Range<u64>, from: u16, answers: &[u16]) -> Vec<(u64, Outcome)> {
    let mut decided = Vec::new();
    let mut due: Vec<(u64, u64)> = Vec::new();
    for ms in time {
        if ms % 17 == 0 {
            roam.heard(at(ms), (addr(from), UNPROVEN), 47, true);
        }
        let mut next = ms * 2;
        for (to, value) in roam
            .challenge(at(ms), LEN, || {
                next += 1;
                next
            })
            .into_iter()
            .flatten()
        {
            if answers.contains(&to.port()) {
                due.push((ms + 80, value));
            }
        }
        for (_, value) in due.extract_if(.., |(when, _)| *when <= ms) {
            roam.proof(value);
        }
        let outcome = roam.decide(at(ms), RTT);
        if outcome != Outcome::Undecided {
            decided.push((ms, outcome));
            break;
        }
    }
    decided
}

#[test]
fn new_port_is_taken_when_the_old_one_answers_no_more() {
    let mut roam = Roam::new(at(0), addr(1), addr(2), UNPROVEN);
    let decided = run(&mut roam, 0..3_000, 2, &[2]);
    assert!(matches!(decided[..], [(380..=600, Outcome::Moved(to))] if to == addr(2)), "{decided:?}");
    assert_eq!(run(&mut roam, 600..9_000, 2, &[2])[0].1, Outcome::Settled, "the old one is kept for a while");
}

#[test]
fn answering_forwarder_does_not_take_over_the_path() {
    let mut roam = Roam::new(at(0), addr(1), addr(2), UNPROVEN);
    assert_eq!(run(&mut roam, 0..60_000, 2, &[1, 2]), []);
    assert_eq!(run(&mut roam, 60_000..70_000, 1, &[1])[0].1, Outcome::Settled);
}

#[test]
fn forwarder_that_answers_sooner_takes_no_path() {
    let mut roam = Roam::new(at(0), addr(1), addr(2), UNPROVEN);
    let mut value = 0;
    for ms in (0..10_000).step_by(100) {
        roam.heard(at(ms), (addr(2), UNPROVEN), 47, true);
        let sent = roam.challenge(at(ms), LEN, || {
            value += 1;
            value
        });
        assert!(roam.proof(sent[1].unwrap().1));
        assert_eq!(roam.decide(at(ms + 5), RTT), Outcome::Undecided, "{ms}");
        assert!(roam.proof(sent[0].unwrap().1));
    }
}

#[test]
fn answer_from_before_both_fell_silent_proves_nothing() {
    let mut roam = Roam::new(at(0), addr(1), addr(2), UNPROVEN);
    assert_eq!(run(&mut roam, 0..1_000, 2, &[1, 2]), []);
    assert_eq!(run(&mut roam, 1_000..5_000, 2, &[]), []);
}

#[test]
fn address_that_is_not_proven_is_never_taken() {
    let mut roam = Roam::new(at(0), addr(1), addr(2), UNPROVEN);
    assert_eq!(run(&mut roam, 0..10_000, 2, &[]), []);
    assert!(!roam.proof(12_345));
}

#[test]
fn new_address_gets_three_times_what_came_from_it() {
    let mut roam = Roam::new(at(0), addr(1), addr(2), UNPROVEN);
    roam.heard(at(0), (addr(2), UNPROVEN), 100, true);
    assert_eq!(also_to(&mut roam, 300), [2]);
    assert!(also_to(&mut roam, 1).is_empty());
    roam.heard(at(0), (addr(2), UNPROVEN), 50, false);
    assert!(also_to(&mut roam, 151).is_empty());
    assert_eq!(also_to(&mut roam, 150), [2]);
    roam.paths[1].challenges.sent(at(0), 7);
    assert!(roam.proof(7));
    assert_eq!(also_to(&mut roam, 1_000), [2], "once it is proven, as much as there is");
}

#[test]
fn one_candidate_at_a_time_until_it_has_nothing_newer() {
    let mut roam = Roam::new(at(0), addr(1), addr(2), UNPROVEN);
    roam.heard(at(299), (addr(3), UNPROVEN), 50, true);
    assert_eq!(roam.paths[1].addr, addr(2));
    roam.heard(at(300), (addr(3), UNPROVEN), 50, false);
    assert_eq!(roam.paths[1].addr, addr(2), "an old packet proves nothing");
    roam.heard(at(300), (addr(3), UNPROVEN), 50, true);
    assert_eq!((roam.paths[1].addr, roam.paths[1].bytes_in), (addr(3), 50));
    roam.heard(at(590), (addr(3), UNPROVEN), 50, true);
    roam.heard(at(700), (addr(4), UNPROVEN), 50, true);
    assert_eq!(roam.paths[1].addr, addr(3));
}

#[test]
fn better_path_takes_over_once_it_answers() {
    let mut roam = Roam::new(at(0), addr(1), addr(2), Standing::Preferred);
    assert_eq!(also_to(&mut roam, 1_000), [2], "it was checked");
    assert_eq!(run(&mut roam, 0..1_000, 1, &[1]), [], "it does not answer");
    let decided = run(&mut roam, 1_000..2_000, 1, &[1, 2]);
    assert!(matches!(decided[..], [(1_080..=1_200, Outcome::Moved(to))] if to == addr(2)), "{decided:?}");
    let decided = run(&mut roam, 1_200..9_000, 2, &[1, 2]);
    assert!(matches!(decided[..], [(1_580..=1_900, Outcome::Settled)]), "{decided:?}");
}

#[test]
fn better_path_that_never_answers_is_dropped() {
    let mut roam = Roam::new(at(0), addr(1), addr(2), Standing::Preferred);
    let decided = run(&mut roam, 0..9_000, 1, &[1]);
    assert!(matches!(decided[..], [(5_000..=5_020, Outcome::Settled)]), "{decided:?}");
}

#[test]
fn of_several_checked_paths_the_first_that_answers_is_taken() {
    for answers in [2_u16, 3, 4] {
        let mut roam = Roam::new(at(0), addr(1), addr(2), Standing::Checked);
        roam.add(at(0), addr(3), Standing::Checked);
        roam.add(at(0), addr(4), Standing::Checked);
        assert_eq!(also_to(&mut roam, 1_000), [2, 3, 4]);
        let decided = run(&mut roam, 0..3_000, answers, &[answers]);
        assert!(
            matches!(decided[..], [(380..=600, Outcome::Moved(to))] if to == addr(answers)),
            "{decided:?}"
        );
    }
}

#[test]
fn checked_paths_go_soon_when_the_one_in_use_answers_again() {
    let mut roam = Roam::new(at(0), addr(1), addr(2), Standing::Checked);
    roam.add(at(0), addr(3), Standing::Checked);
    let decided = run(&mut roam, 100..3_000, 1, &[1]);
    assert!(matches!(decided[..], [(500..=620, Outcome::Settled)]), "{decided:?}");
}

#[test]
fn no_more_paths_than_there_is_room_for() {
    let mut roam = Roam::new(at(0), addr(1), addr(2), UNPROVEN);
    (3..30).for_each(|port| roam.add(at(0), addr(port), Standing::Checked));
    roam.heard(at(400), (addr(40), UNPROVEN), 50, true);
    assert_eq!(also_to(&mut roam, 10), [3, 4, 5, 40], "a newer packet takes the place of the unproven one");
    assert_eq!(roam.challenge(at(400), LEN, || 1).into_iter().flatten().count(), 1 + MAX_CANDIDATES);
}

#[test]
fn better_path_finds_room_among_many_candidates() {
    let mut roam = Roam::new(at(0), addr(1), addr(2), Standing::Unproven);
    (3..=5).for_each(|port| roam.add(at(0), addr(port), Standing::Checked));
    let ports = |roam: &Roam| roam.paths.iter().map(|path| path.addr.port()).collect::<Vec<_>>();
    roam.add(at(0), addr(7), Standing::Checked);
    assert_eq!(ports(&roam), [1, 2, 3, 4, 5], "another fallback does not");
    roam.add(at(0), addr(6), Standing::Preferred);
    assert_eq!(ports(&roam), [1, 2, 3, 4, 6]);
}

#[test]
fn named_path_that_never_answers_gets_two_seconds_of_a_match() {
    let mut roam = Roam::new(at(0), addr(1), addr(2), Standing::Checked);
    let sent: usize = (0..1_000).map(|_| also_to(&mut roam, 64).len() * 64).sum();
    assert_eq!(sent as u64, CHECKED_BYTES);
    roam.paths[1].challenges.sent(at(0), 7);
    assert!(roam.proof(7));
    assert_eq!(also_to(&mut roam, 64), [2]);
}

#[test]
fn checked_path_that_comes_back_late_is_found() {
    let mut roam = Roam::new(at(0), addr(1), addr(2), Standing::Checked);
    let mut challenges = 0;
    for ms in 0..25_000 {
        also_to(&mut roam, 64);
        roam.add(at(ms), addr(2), Standing::Checked);
        let sent = roam.challenge(at(ms), LEN, || ms);
        challenges += usize::from(ms >= 5_000 && sent[1].is_some());
        assert_eq!(roam.decide(at(ms), RTT), Outcome::Undecided);
    }
    assert_eq!(challenges, 20, "one a second");
    let decided = run(&mut roam, 25_000..27_000, 2, &[2]);
    assert!(matches!(decided[..], [(_, Outcome::Moved(to))] if to == addr(2)), "{decided:?}");
}

/// The old address answers after a round trip of half a second, and somebody who forwards at once.
#[test]
fn long_round_trip_is_no_silence() {
    let (mut roam, trip) = (Roam::new(at(0), addr(1), addr(2), UNPROVEN), Span::from_millis(500));
    for ms in (0..5_000).step_by(100) {
        roam.heard(at(ms), (addr(2), UNPROVEN), 47, true);
        roam.paths[1].answered = Some(at(ms));
        roam.paths[0].answered = ms.checked_sub(500).map(at);
        assert_eq!(roam.decide(at(ms + 99), trip), Outcome::Undecided, "{ms}");
    }
    let mut roam = Roam::new(at(0), addr(1), addr(2), Standing::Checked);
    assert_eq!(roam.decide(at(800), trip), Outcome::Undecided, "a checked path stays until it answers");
}

#[test]
fn old_address_gets_a_new_chance_beside_each_candidate() {
    let mut roam = Roam::new(at(0), addr(1), addr(2), UNPROVEN);
    roam.challenge(at(0), LEN, || 1);
    roam.heard(at(1_900), (addr(2), UNPROVEN), 47, false);
    assert!(roam.proof(1) && roam.decide(at(300), RTT) == Outcome::Undecided);
    roam.challenge(at(1_990), LEN, || 2);
    roam.heard(at(2_000), (addr(3), UNPROVEN), 47, true);
    let mut value = 2;
    let sent = roam.challenge(at(2_000), LEN, || {
        value += 1;
        value
    });
    assert!(roam.proof(sent[1].unwrap().1));
    assert_eq!((roam.decide(at(2_005), RTT), roam.paths[1].addr), (Outcome::Undecided, addr(3)));
}
