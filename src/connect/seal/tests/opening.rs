//! Tests of how a seal follows the protocol inside it: its opening message, and what it knows.

use super::{INNER, Inner, Rig, addr, data};
use crate::connect::seal::{Randomness, Seal};
use crate::protocol::ConnectionStep;

#[test]
fn joiner_sends_a_request_for_any_packet_to_its_host() {
    let seal = Seal::join(Randomness::Seeded(2), [9; 32], &[addr(INNER)]).unwrap();
    let mut rig = Rig { seal, inner: Inner::default() };
    assert_eq!(rig.poll(0), []);
    rig.inner.says.push_back((addr(200), vec![7; 20]));
    assert_eq!(rig.poll(0), [], "to somebody else");
    (0..3).for_each(|_| rig.say(20));
    let sent: Vec<_> = rig.poll(0).iter().map(|(to, packet)| (*to, packet[0])).collect();
    assert_eq!(sent, [(INNER, 0xE0)], "one REQUEST for packets of one time");
}

/// A joiner whose host was heard last at time 0.
fn joined(opening: Option<&'static [u8]>) -> Rig {
    let seal = Seal::join(Randomness::Seeded(2), [9; 32], &[addr(INNER)]).unwrap();
    let mut rig = Rig { seal, inner: Inner { keeps: true, opening, ..Inner::default() } };
    rig.add(7, INNER, true);
    rig
}

#[test]
fn silent_host_gets_requests_while_there_is_an_opening_message() {
    for (opening, requests) in [(None, false), (Some(&b""[..]), true), (Some(b"hello"), true)] {
        let mut rig = joined(opening);
        for (now, silent) in [(999, false), (1_000, true)] {
            rig.say(20);
            let sent = rig.poll(now);
            assert_eq!(sent.iter().any(|(_, packet)| packet[0] == 0xE0), silent && requests, "{opening:?}");
            assert!(sent.iter().any(|(_, packet)| packet[0] == 0xE4), "the packet itself goes out");
        }
        assert_eq!(rig.first().holds(), !requests);
    }
}

/// Whether a state machine is told depends on what it knows, and not on whether it keeps the connection.
#[test]
fn step_is_told_before_a_packet_of_a_peer_that_is_not_known() {
    let (mut rig, mut guest) = Rig::playing();
    for now in [10, 20] {
        rig.hear(now, 1, &data(&mut guest, 20));
    }
    assert!(matches!(rig.inner.told[..], [(INNER, ConnectionStep::Confirmed { .. })]), "once");
    rig.inner.told.clear();
    rig.hear(30, 1, &data(&mut guest, 20));
    assert_eq!(rig.inner.told.len(), 1, "a new state machine on the old connection");
}

#[test]
fn connections_of_a_plain_protocol_are_maintained() {
    let mut rig = Rig::new();
    (rig.inner.is_plain, rig.inner.keeps) = (true, false);
    let mut guest = rig.add(7, INNER, true);
    let finds: Vec<u64> = (0..=2_000).step_by(100).filter(|ms| !rig.poll(*ms).is_empty()).collect();
    assert_eq!(finds, [1_000, 2_000]);
    rig.hear(2_000, 1, &data(&mut guest, 20));
    assert!(rig.inner.told.is_empty());
}
