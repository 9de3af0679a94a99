//! Tests of how a peer's addresses are challenged, answer and replace each other.

use crate::connect::seal::roam::{Outcome, Roam, Standing};
use crate::protocol::time::{Span, Time};
use std::net::SocketAddr;

const RTT: Span = Span::from_millis(80);

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

fn addr(port: u16) -> SocketAddr {
    ([192, 0, 2, 7], port).into()
}

/// The address in use at port 1, and a candidate at port 2.
fn roam(standing: Standing) -> Roam {
    Roam::new(at(0), addr(1), addr(2), standing)
}

/// Challenges what is due: the value for a port is the time and the port. Returns the ports.
fn challenge(roam: &mut Roam, ms: u64) -> Vec<u16> {
    let mut place = 0;
    let sent = roam.challenge(at(ms), 32, || {
        place += 1;
        ms * 10 + place
    });
    sent.into_iter().flatten().map(|(to, _)| to.port()).collect()
}

#[test]
fn candidate_that_becomes_preferred_takes_over_when_it_answers() {
    let mut roam = roam(Standing::Checked);
    roam.add(at(0), addr(2), Standing::Preferred);
    roam.add(at(0), addr(2), Standing::Checked);
    challenge(&mut roam, 0);
    assert!(roam.proof(1) && roam.proof(2));
    assert_eq!(roam.decide(at(80), RTT), Outcome::Moved(addr(2)));
}

#[test]
fn late_answer_does_not_undo_a_newer_one() {
    let mut roam = roam(Standing::Unproven);
    roam.heard(at(0), (addr(2), Standing::Unproven), 500, true);
    for ms in [0, 100] {
        assert_eq!(challenge(&mut roam, ms), [1, 2]);
    }
    assert!(roam.proof(1_002) && roam.proof(1_001) && roam.proof(1));
    assert_eq!(roam.decide(at(500), RTT), Outcome::Undecided);
}

#[test]
fn added_path_is_challenged_at_once() {
    let mut roam = roam(Standing::Checked);
    assert_eq!((challenge(&mut roam, 0), challenge(&mut roam, 10)), (vec![1, 2], vec![]));
    roam.add(at(10), addr(3), Standing::Checked);
    assert_eq!(roam.challenge_at(), at(10));
    assert_eq!(challenge(&mut roam, 10), [1, 2, 3]);
    assert_eq!(roam.challenge_at(), at(110));
}

#[test]
fn address_of_before_is_kept_for_five_seconds_after_a_move() {
    let mut roam = roam(Standing::Unproven);
    roam.heard(at(4_000), (addr(2), Standing::Unproven), 500, true);
    assert_eq!(challenge(&mut roam, 4_000), [1, 2]);
    assert!(roam.proof(40_002));
    assert_eq!(roam.decide(at(4_500), RTT), Outcome::Moved(addr(2)));
    assert_eq!(roam.decide(at(9_499), RTT), Outcome::Undecided);
    assert_eq!(roam.decide(at(9_500), RTT), Outcome::Settled);
}

#[test]
fn preferred_path_comes_before_one_that_answered_later() {
    let mut roam = roam(Standing::Preferred);
    roam.add(at(0), addr(3), Standing::Checked);
    challenge(&mut roam, 0);
    challenge(&mut roam, 100);
    assert!(roam.proof(2) && roam.proof(1_003));
    assert_eq!(roam.decide(at(600), RTT), Outcome::Moved(addr(2)));
}

#[test]
fn fallback_is_needless_after_a_newer_answer_alone() {
    let (mut roam, trip) = (roam(Standing::Checked), Span::from_millis(500));
    challenge(&mut roam, 0);
    assert!(roam.proof(1));
    assert_eq!(roam.decide(at(500), trip), Outcome::Undecided);
    challenge(&mut roam, 100);
    assert!(roam.proof(1_001));
    assert_eq!(roam.decide(at(499), trip), Outcome::Undecided);
    assert_eq!(roam.decide(at(500), trip), Outcome::Settled);
}

#[test]
fn fallback_is_kept_while_the_address_in_use_is_silent() {
    let mut roam = roam(Standing::Checked);
    challenge(&mut roam, 0);
    challenge(&mut roam, 100);
    assert!(roam.proof(1_001), "the address in use has answered once");
    assert_eq!(roam.decide(at(600), RTT), Outcome::Undecided);
    assert_eq!(challenge(&mut roam, 600), [1, 2]);
}

#[test]
fn unproven_address_finds_no_room_among_checked_paths() {
    let mut roam = roam(Standing::Checked);
    (3..=5).for_each(|port| roam.add(at(0), addr(port), Standing::Checked));
    roam.heard(at(400), (addr(9), Standing::Unproven), 500, true);
    assert_eq!(challenge(&mut roam, 400), [1, 2, 3, 4, 5]);
}

#[test]
fn known_path_that_becomes_preferred_takes_no_place() {
    let mut roam = roam(Standing::Checked);
    (3..=5).for_each(|port| roam.add(at(0), addr(port), Standing::Checked));
    roam.add(at(0), addr(3), Standing::Preferred);
    assert_eq!(challenge(&mut roam, 0), [1, 2, 3, 4, 5]);
}
