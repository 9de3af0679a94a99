//! Tests of reliable messages: retransmission, order and limits.

use super::*;

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

const RTT: Span = Span::from_millis(40);

fn header(ack: u16, ack_bits: u32) -> ControlHeader {
    ControlHeader { sequence: 0, ack, ack_bits }
}

fn delivered(reliable: &mut Reliable) -> Vec<Vec<u8>> {
    std::iter::from_fn(|| reliable.deliver(at(0)).map(<[u8]>::to_vec)).collect()
}

#[test]
fn message_is_resent_until_any_of_its_packets_is_acknowledged() {
    let mut reliable = Reliable::new();
    reliable.send(at(0), Ordered::User(b"hi")).unwrap();
    assert_eq!(reliable.transmit(at(0), 7, RTT), Some(&[17, 0, 0, b'h', b'i'][..]));
    assert_eq!(reliable.transmit(at(50), 8, RTT), None, "not due yet");
    assert_eq!(reliable.next_due(), Some(at(100)));
    assert!(reliable.transmit(at(100), 9, RTT).is_some());
    reliable.acknowledged(header(8, 0));
    assert!(!reliable.all_acknowledged());
    reliable.acknowledged(header(8, 1));
    assert!(reliable.all_acknowledged(), "packet 7 arrived after all");
    assert_eq!(reliable.next_due(), None);
}

#[test]
fn peer_that_never_acknowledges_is_sent_less_and_less() {
    let mut reliable = Reliable::new();
    reliable.send(at(0), Ordered::User(b"hi")).unwrap();
    let sends = |reliable: &mut Reliable, from: u64, to: u64| {
        (from..to).filter(|ms| reliable.transmit(at(*ms), *ms as u16, RTT).is_some()).count()
    };
    assert_eq!(sends(&mut reliable, 0, 1_500), 15, "at full rate, however bad the link");
    assert!(reliable.may_be_acknowledged());
    assert!(sends(&mut reliable, 1_500, 60_000) < 80, "where 585 would come at full rate");
    assert!(!reliable.may_be_acknowledged() && !reliable.all_acknowledged());
}

#[test]
fn reordered_messages_are_delivered_in_order_and_once() {
    let mut reliable = Reliable::new();
    assert_eq!(reliable.look_at(1), Arrival::New);
    reliable.keep(at(0), 1, b"second");
    assert_eq!(reliable.look_at(1), Arrival::Known);
    assert!(delivered(&mut reliable).is_empty());
    reliable.keep(at(0), 0, b"first");
    assert_eq!(delivered(&mut reliable), [b"first".to_vec(), b"second".to_vec()]);
    assert_eq!((reliable.look_at(0), reliable.look_at(1)), (Arrival::Known, Arrival::Known));
    assert_eq!(reliable.look_at(2), Arrival::New);
    assert_eq!(reliable.look_at(17), Arrival::New);
    assert_eq!(reliable.look_at(2_u16.wrapping_sub(32)), Arrival::Known);
    let beyond = [18, 40_000, 2_u16.wrapping_sub(33)];
    assert_eq!(beyond.map(|number| reliable.look_at(number)), [Arrival::Beyond; 3]);
}

fn sent(reliable: &mut Reliable, ms: u64) -> Vec<u8> {
    std::iter::from_fn(|| reliable.transmit(at(ms), 0, RTT).map(|payload| payload[2])).collect()
}

#[test]
fn acknowledged_message_is_not_sent_again() {
    let mut reliable = Reliable::new();
    for sequence in 0..2 {
        reliable.send(at(0), Ordered::User(b"x")).unwrap();
        reliable.transmit(at(0), sequence, RTT);
    }
    reliable.acknowledged(header(1, 0));
    assert_eq!((sent(&mut reliable, 200), reliable.next_due()), (vec![0], Some(at(300))));
}

#[test]
fn message_the_peer_misses_is_resent_although_acknowledged() {
    let mut reliable = Reliable::new();
    for n in 0..40_u8 {
        reliable.send(at(0), Ordered::User(&[n])).unwrap();
        reliable.transmit(at(0), u16::from(n), RTT);
        reliable.acknowledged(header(u16::from(n), 0));
    }
    reliable.resume_at(at(1), 7);
    assert!(reliable.all_acknowledged(), "no longer kept");
    reliable.resume_at(at(1), 41);
    assert!(reliable.all_acknowledged(), "never sent");
    reliable.resume_at(at(1), 8);
    assert_eq!(sent(&mut reliable, 1), (8..40).collect::<Vec<_>>());
    assert_eq!(reliable.send(at(1), Ordered::User(b"x")), Err(QueueFull));
    let mut young = Reliable::new();
    young.send(at(0), Ordered::User(b"x")).unwrap();
    young.resume_at(at(0), 0_u16.wrapping_sub(3));
    assert_eq!(
        (young.under_way().count(), sent(&mut young, 0)),
        (1, vec![0]),
        "nothing was before the first"
    );
}

#[test]
fn forged_resume_does_not_stop_retransmission() {
    let mut reliable = Reliable::new();
    for _ in 0..3 {
        reliable.send(at(0), Ordered::User(b"x")).unwrap();
    }
    assert_eq!(sent(&mut reliable, 0), [0, 1, 2]);
    reliable.resume_at(at(1), 3);
    assert_eq!(sent(&mut reliable, 1), [0, 1, 2], "that may be forged");
}

#[test]
fn second_gap_counts_from_the_arrival_of_the_first_message() {
    let mut reliable = Reliable::new();
    reliable.keep(at(0), 1, b"second");
    reliable.keep(at(0), 3, b"fourth");
    assert_eq!(reliable.missing_since(), Some(at(0)));
    reliable.keep(at(900), 0, b"first");
    while reliable.deliver(at(900)).is_some() {}
    assert_eq!((reliable.expected(), reliable.missing_since()), (2, Some(at(900))));
    reliable.keep(at(950), 2, b"third");
    while reliable.deliver(at(950)).is_some() {}
    assert_eq!((reliable.expected(), reliable.missing_since()), (4, None));
}

#[test]
fn game_cannot_fill_the_queue_for_the_match() {
    let mut reliable = Reliable::new();
    let sent = (0..20).filter(|_| reliable.send(at(0), Ordered::User(b"x")).is_ok()).count();
    assert_eq!(sent, 12);
    let verdict = Ordered::Verdict { frame: crate::wire::WireFrame(1), checksum: 2, finished: true };
    assert_eq!((0..20).filter(|_| reliable.send(at(0), verdict).is_ok()).count(), 4);
}

#[test]
fn retransmission_waits_one_and_a_half_round_trips() {
    let mut reliable = Reliable::new();
    reliable.send(at(0), Ordered::User(b"x")).unwrap();
    assert!(reliable.transmit(at(0), 0, Span::from_millis(200)).is_some());
    assert_eq!(reliable.next_due(), Some(at(300)));
}

#[test]
fn numbers_wrap() {
    let (mut a, mut b) = (Reliable::new(), Reliable::new());
    for n in 0..70_000_u32 {
        a.send(at(0), Ordered::User(&n.to_be_bytes())).unwrap();
        let payload = a.transmit(at(0), n as u16, RTT).unwrap().to_vec();
        let number = u16::from_be_bytes([payload[1], payload[2]]);
        assert_eq!(b.look_at(number), Arrival::New, "message {n}");
        b.keep(at(0), number, &payload);
        assert_eq!(delivered(&mut b).len(), 1);
        a.acknowledged(header(n as u16, 0));
    }
}

#[test]
fn missing_message_is_missing_since_the_first_later_one_came() {
    let mut reliable = Reliable::new();
    reliable.keep(at(10), 0, b"0");
    assert_eq!(reliable.missing_since(), None, "it is the one that was expected");
    delivered(&mut reliable);
    reliable.keep(at(20), 3, b"3");
    reliable.keep(at(30), 2, b"2");
    assert_eq!(reliable.missing_since(), Some(at(20)));
    reliable.keep(at(40), 1, b"1");
    assert_eq!(delivered(&mut reliable).len(), 3);
    assert_eq!(reliable.missing_since(), None);
}

#[test]
fn peer_is_sent_again_what_it_has_proven_to_miss() {
    let mut reliable = Reliable::new();
    for n in 0..5_u16 {
        reliable.send(at(0), Ordered::User(b"x")).unwrap();
        reliable.transmit(at(0), n, RTT);
    }
    reliable.acknowledged(header(4, u32::MAX));
    assert!(reliable.all_acknowledged(), "by a forger, say");
    reliable.resume_at(at(50), 3);
    assert_eq!(reliable.next_due(), Some(at(50)), "at once");
    let again: Vec<Vec<u8>> =
        (5..9).filter_map(|n| reliable.transmit(at(50), n, RTT).map(<[u8]>::to_vec)).collect();
    assert_eq!(again, [[17, 0, 3, b'x'], [17, 0, 4, b'x']], "3 and 4, which it expects");
    for nonsense in [6, 40_000, 65_500] {
        let mut other = reliable.clone();
        other.resume_at(at(60), nonsense);
        assert_eq!((other.first, other.next), (reliable.first, reliable.next), "{nonsense}");
    }
}

#[test]
fn half_of_the_queue_is_left_to_the_verdict() {
    let mut reliable = Reliable::new();
    let sent = (0..20).take_while(|_| {
        reliable.has_room_for_session() && reliable.send(at(0), Ordered::Autopsy(&[])).is_ok()
    });
    assert_eq!(sent.count(), 8);
}

#[test]
fn acks_of_the_last_four_packets_of_a_message_count() {
    for (acknowledged, is_known) in [(0, false), (1, true), (2, true), (3, true), (4, true)] {
        let mut reliable = Reliable::new();
        reliable.send(at(0), Ordered::User(b"hi")).unwrap();
        for packet in 0..5 {
            assert!(reliable.transmit(at(u64::from(packet) * 100), packet * 50, RTT).is_some());
        }
        reliable.acknowledged(header(acknowledged * 50, 0));
        assert_eq!(reliable.all_acknowledged(), is_known, "packet {acknowledged} of 0 to 4");
    }
}
