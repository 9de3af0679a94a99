//! Tests of the relay: UDP and streams, fresh allocations, and relays that are lost.

use super::*;
use crate::connect::nat::allocation_hostile::{Liar, RELAY, credentials};
use crate::connect::nat::candidate::Kind;

const ID: [u8; 12] = [7; 12];
const PORTS: [u16; 2] = [999, 1_000];

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

fn relayed(port: u16) -> Option<SocketAddr> {
    Some(([10, 0, 0, 1], 50_000 + port - PORTS[0]).into())
}

/// The answer to a probe, which the relay saw come from a port.
fn seen(port: u16) -> Vec<u8> {
    let mut answer = vec![0x01, 0x01, 0x00, 0x0C, 0x21, 0x12, 0xA4, 0x42];
    answer.extend(ID);
    answer.extend([0x00, 0x20, 0x00, 0x08, 0x00, 0x01]);
    answer.extend((port ^ 0x2112).to_be_bytes());
    answer.extend([10 ^ 0x21, 0x12, 0xA4, 9 ^ 0x42]);
    answer
}

/// Runs a machine behind the port that its router gives it, or whose datagrams are lost. Returns how often its address on the
/// relay has changed.
fn run(relay: &mut Relay, server: &mut Liar, time: core::ops::Range<u64>, port: Option<u16>) -> u32 {
    run_both(relay, server, time, [port, None])
}

/// The same with the ports of UDP and of a stream.
fn run_both(
    relay: &mut Relay,
    server: &mut Liar,
    time: core::ops::Range<u64>,
    ports: [Option<u16>; 2],
) -> u32 {
    let mut changes = 0;
    for now in time.step_by(10).map(ms) {
        if relay.wants_look(now) {
            relay.look(now, ID);
        }
        changes += u32::from(relay.run(now));
        while let Some((to, message)) = relay.poll_transmit(now) {
            assert!(to == RELAY || to == stream_to(RELAY), "{to}");
            assert!(relay.is_server(to));
            let Some(port) = ports[usize::from(to != RELAY)] else { continue };
            if message.starts_with(&[0, 1]) {
                let seen_at = ([10, 0, 0, 9], port).into();
                let heard = if to == RELAY { Heard::Seen(seen_at) } else { Heard::Own };
                assert_eq!(relay.handle(now, to, &seen(port)), heard);
                continue;
            }
            for answer in server.answer_to(now, port, &message) {
                let other = if to == RELAY { stream_to(RELAY) } else { RELAY };
                assert_eq!(relay.handle(now, other, &answer), Heard::Nothing, "it was asked elsewhere");
                relay.handle(now, to, &answer);
            }
        }
    }
    changes
}

const UDP: [Option<u16>; 2] = [Some(PORTS[0]), None];
const STREAM: [Option<u16>; 2] = [None, Some(PORTS[1])];
const BOTH: [Option<u16>; 2] = [Some(PORTS[0]), Some(PORTS[1])];

/// A relay that was asked, and may be asked over a stream.
fn asked() -> (Relay, Liar) {
    let mut relay = Relay::new();
    relay.set_credentials(credentials());
    relay.allow_stream();
    relay.ask(ms(0), ID);
    (relay, Liar::new(1))
}

#[test]
fn silent_udp_is_followed_by_a_stream_after_two_seconds() {
    let (mut relay, mut server) = asked();
    assert_eq!(run_both(&mut relay, &mut server, 0..2_000, STREAM), 0);
    assert!(relay.is_asking() && !relay.is_streamed());
    assert_eq!(relay.deadline(), ms(2_000));
    assert_eq!(run_both(&mut relay, &mut server, 2_000..2_300, STREAM), 1);
    assert!(relay.deadline() > ms(2_300), "nothing is due before");
    assert_eq!((relay.relayed(), relay.is_streamed()), (relayed(PORTS[1]), true));
    assert_eq!(relay.round_trip, Some(Span::ZERO), "it was measured over the stream");
}

#[test]
fn stream_is_not_waited_for_where_udp_is_known_to_fail() {
    let (mut relay, mut server) = asked();
    relay.expect_stream(true);
    assert_eq!(run_both(&mut relay, &mut server, 0..100, STREAM), 1);
    assert!(relay.is_streamed());
}

#[test]
fn relay_that_answers_over_udp_is_not_asked_over_a_stream() {
    let (mut relay, mut server) = asked();
    assert_eq!(run_both(&mut relay, &mut server, 0..30_000, BOTH), 1);
    assert_eq!((relay.relayed(), relay.is_streamed()), (relayed(PORTS[0]), false));
    let (mut relay, mut server) = asked();
    relay.streams.is_allowed = false;
    assert_eq!(run_both(&mut relay, &mut server, 0..30_000, STREAM), 0, "none is allowed");
}

#[test]
fn udp_takes_over_from_a_stream_when_it_works_again() {
    let (mut relay, mut server) = asked();
    run_both(&mut relay, &mut server, 0..10_000, STREAM);
    assert!(relay.is_streamed());
    assert_eq!(run_both(&mut relay, &mut server, 10_000..27_000, BOTH), 1);
    assert_eq!((relay.relayed(), relay.is_streamed()), (relayed(PORTS[0]), false));
    let before = relay.deadline();
    assert!(before >= ms(27_000), "nothing is looked for any more: {before:?}");
}

#[test]
fn stream_is_given_up_when_udp_answers_after_all() {
    let (mut relay, mut server) = asked();
    run_both(&mut relay, &mut server, 0..2_100, [None; 2]);
    assert!(relay.is_refreshing(), "over a stream");
    assert_eq!(run_both(&mut relay, &mut server, 2_100..2_900, UDP), 1);
    assert!(!relay.is_refreshing() && !relay.is_streamed());
}

#[test]
fn stream_that_ends_is_replaced_by_another_with_an_allocation() {
    let (mut relay, mut server) = asked();
    run_both(&mut relay, &mut server, 0..3_000, STREAM);
    relay.notice(stream_to(RELAY), Notice::Opened);
    assert!(relay.is_streamed());
    relay.notice(stream_to(RELAY), Notice::Closed);
    assert!(relay.relayed().is_none() && relay.is_refreshing());
    let other = [None, Some(PORTS[0])];
    assert_eq!(run_both(&mut relay, &mut server, 3_000..3_300, other), 2, "none, and then another");
    assert_eq!((relay.relayed(), relay.is_streamed()), (relayed(PORTS[0]), true));
}

#[test]
fn relay_that_is_away_for_a_second_is_asked_again_over_a_stream() {
    let (mut relay, mut server) = asked();
    run_both(&mut relay, &mut server, 0..3_000, STREAM);
    relay.notice(stream_to(RELAY), Notice::Closed);
    for at in [3_000, 3_500] {
        run_both(&mut relay, &mut server, at..at + 500, [None; 2]);
        relay.notice(stream_to(RELAY), Notice::Unreachable);
    }
    run_both(&mut relay, &mut server, 4_000..5_500, [None, Some(PORTS[0])]);
    assert_eq!((relay.relayed(), relay.is_streamed()), (relayed(PORTS[0]), true));
}

#[test]
fn failed_stream_leaves_udp_alone_and_is_told() {
    let (mut relay, mut server) = asked();
    run_both(&mut relay, &mut server, 0..2_100, [None; 2]);
    relay.notice(RELAY, Notice::Expired);
    assert_eq!(relay.outcome(), RelayOutcome::Silent { server: RELAY, stream: None }, "no stream's address");
    relay.notice(stream_to(RELAY), Notice::WrongName);
    assert_eq!(relay.outcome(), RelayOutcome::Silent { server: RELAY, stream: Some(Notice::WrongName) });
    assert_eq!(run_both(&mut relay, &mut server, 2_100..3_000, UDP), 1);
    assert_eq!((relay.relayed(), relay.outcome()), (relayed(PORTS[0]), RelayOutcome::Tried));
}

fn made() -> (Relay, Liar) {
    let (mut relay, mut server) = (Relay::new(), Liar::new(1));
    relay.set_credentials(credentials());
    relay.ask(ms(0), ID);
    assert!(relay.is_asking() && relay.is_server(RELAY));
    assert_eq!(run(&mut relay, &mut server, 0..1_000, Some(PORTS[0])), 1);
    assert_eq!(relay.relayed(), relayed(PORTS[0]));
    (relay, server)
}

#[test]
fn new_port_gets_a_fresh_allocation_that_replaces_the_old_one() {
    let (mut relay, mut server) = made();
    relay.refresh();
    assert!(relay.is_refreshing());
    assert_eq!(run(&mut relay, &mut server, 1_000..2_000, Some(PORTS[1])), 1);
    assert_eq!((relay.relayed(), relay.is_refreshing()), (relayed(PORTS[1]), false));
}

#[test]
fn fresh_allocation_that_is_refused_changes_nothing() {
    let (mut relay, mut server) = made();
    relay.refresh();
    assert_eq!(run(&mut relay, &mut server, 1_000..3_000, Some(PORTS[0])), 0);
    assert_eq!((relay.relayed(), relay.is_refreshing()), (relayed(PORTS[0]), false));
    assert!(!relay.is_lost(), "the relay has answered");
}

#[test]
fn relay_is_lost_while_it_answers_nothing() {
    let (mut relay, mut server) = made();
    relay.refresh();
    run(&mut relay, &mut server, 1_000..5_000, None);
    assert!(!relay.is_lost(), "its answers may be lost");
    run(&mut relay, &mut server, 5_000..12_000, None);
    assert!(relay.is_lost() && !relay.is_refreshing());
    relay.refresh();
    relay.run(ms(12_000));
    let (_, request) = relay.poll_transmit(ms(12_000)).unwrap();
    for answer in server.answer_to(ms(12_000), PORTS[0], &request) {
        assert_eq!(relay.handle(ms(12_000), RELAY, &answer), Heard::Own);
    }
    assert!(!relay.is_lost());
}

#[test]
fn unanswered_request_for_an_allocation_is_repeated_for_9_s() {
    let mut relay = Relay::new();
    relay.set_credentials(credentials());
    relay.ask(ms(0), ID);
    let mut sent = Vec::new();
    for at in (0..20_000).step_by(10) {
        relay.run(ms(at));
        let requests = core::iter::from_fn(|| relay.poll_transmit(ms(at)));
        sent.extend(requests.filter(|(_, request)| request.starts_with(&[0, 3])).map(|_| at));
    }
    let expected = (0..23).map(|n| if n == 0 { 200 } else { 200 + n * 400 });
    assert_eq!(sent, [0].into_iter().chain(expected).collect::<Vec<_>>());
}

#[test]
fn allocation_that_failed_is_asked_for_again() {
    let (mut relay, mut server) = (Relay::new(), Liar::new(1));
    relay.set_credentials(credentials());
    relay.ask(ms(0), ID);
    run(&mut relay, &mut server, 0..9_000, None);
    assert!(relay.is_asking(), "a relay that has made an allocation makes no second one for another request");
    run(&mut relay, &mut server, 9_000..12_000, None);
    assert!(!relay.is_asking() && relay.relayed().is_none());
    relay.ask(ms(12_000), ID);
    assert_eq!(run(&mut relay, &mut server, 12_000..13_000, Some(PORTS[0])), 1);
    assert_eq!(relay.relayed(), relayed(PORTS[0]));
}

#[test]
fn restarted_relay_is_asked_for_a_fresh_allocation() {
    let (mut relay, _) = made();
    // The first request that it gets is that for a permission. It refuses, and makes another allocation.
    let mut restarted = Liar::new(2);
    restarted.first_port = 60_000;
    let peer = Candidate { kind: Kind::Host, addr: ([10, 0, 0, 7], 7).into() };
    relay.permit(ms(1_000), &[peer], peer.addr);
    assert_eq!(run(&mut relay, &mut restarted, 1_000..3_000, Some(PORTS[0])), 1);
    assert_eq!((relay.relayed(), relay.is_lost()), (Some(([10, 0, 0, 1], 60_000).into()), false));
}

#[test]
fn refused_credentials_fail_without_delay() {
    let (mut relay, mut server) = made();
    relay.set_credentials(Credentials { password: "old".to_owned(), ..credentials() });
    relay.refresh();
    assert_eq!(run(&mut relay, &mut server, 1_000..2_000, Some(PORTS[1])), 0);
    assert!(!relay.is_refreshing() && !relay.is_lost());
    assert_eq!(relay.relayed(), relayed(PORTS[0]), "the old one stays");
    relay.set_credentials(credentials());
    relay.refresh();
    assert_eq!(run(&mut relay, &mut server, 2_000..4_000, Some(PORTS[1])), 1);
}

#[test]
fn why_there_is_no_relay_is_told() {
    let (mut relay, mut server) = (Relay::new(), Liar::new(1));
    assert_eq!(relay.outcome(), RelayOutcome::None);
    relay.set_credentials(Credentials { password: "wrong".to_owned(), ..credentials() });
    assert_eq!(relay.outcome(), RelayOutcome::Silent { server: RELAY, stream: None });
    relay.ask(ms(0), ID);
    run(&mut relay, &mut server, 0..1_000, Some(PORTS[0]));
    assert_eq!(relay.outcome(), RelayOutcome::Refused { server: RELAY });
    assert_eq!(made().0.outcome(), RelayOutcome::Tried);
}

#[test]
fn fresh_allocation_may_be_on_another_server() {
    let (mut relay, _) = made();
    let other = SocketAddr::from(([10, 0, 0, 2], 3478));
    relay.set_credentials(Credentials { server: other, ..credentials() });
    assert!(!relay.is_server(other), "nothing was asked there");
    relay.refresh();
    assert!(relay.is_server(other) && relay.is_server(RELAY));
}

#[test]
fn released_allocation_leaves_nothing_under_way() {
    let (mut relay, _) = made();
    relay.refresh();
    assert!(relay.release(ms(1_000)).is_some());
    assert!(!relay.is_refreshing() && !relay.is_server(RELAY) && relay.relayed().is_none());
}

#[test]
fn distance_of_the_relay_is_the_shortest_measured() {
    let (mut relay, _) = made();
    assert_eq!(relay.round_trip, Some(Span::ZERO));
    relay.round_trip = None;
    for (asked, answered) in [(1_000, 1_030), (2_000, 2_010), (3_000, 3_090)] {
        relay.look(ms(asked), ID);
        assert!(relay.deadline() <= ms(asked));
        assert!(relay.poll_transmit(ms(asked)).is_some());
        assert_ne!(relay.handle(ms(answered), RELAY, &seen(7)), Heard::Nothing);
        assert_eq!(relay.handle(ms(answered), RELAY, &seen(8)), Heard::Nothing, "one answer counts");
    }
    assert_eq!(relay.round_trip, Some(Span::from_millis(10)));
}
