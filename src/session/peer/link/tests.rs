//! Tests of a link: numbers, acks, pings and messages.

use super::*;

const FRAME: Span = Span::from_micros(16_667);

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

fn link() -> Link {
    Link::new(at(0), SocketAddr::from(([192, 0, 2, 1], 5)), FRAME, &mut Entropy::new(7))
}

/// The packets that a link sends in a while, with their times, if it is asked whenever it says so and answers its pings.
fn sent(link: &mut Link, from: u64, to: u64) -> Vec<(u64, String)> {
    let mut said = Vec::new();
    let mut buf = [0; 1_200];
    for ms in from..to {
        while let Some(len) = link.poll_transmit(at(ms), &mut buf) {
            let packet = ControlPacket::decode(&buf[..len]).unwrap();
            if let ControlPayload::Ping(value) = packet.payload {
                link.ponged(at(ms), value);
            }
            let name = format!("{:?}", packet.payload);
            said.push((ms, name.split(['(', ' ']).next().unwrap().to_owned()));
            let ack = packet.header.sequence;
            link.sequences.acknowledged(ControlHeader { sequence: 0, ack, ack_bits: 0 });
        }
    }
    said
}

#[test]
fn one_number_in_four_is_skipped() {
    let mut link = link();
    let first = link.stamp(at(0)).sequence;
    let last = (0..4_000).map(|_| link.stamp(at(0)).sequence).last().unwrap();
    let skipped = i32::from(last.wrapping_sub(first)) - 4_000;
    assert!((900..1_100).contains(&skipped), "{skipped} of 4000");
}

#[test]
fn link_without_anything_to_say_keeps_itself_alive() {
    let mut link = link();
    sent(&mut link, 0, 1_000);
    let said = sent(&mut link, 1_000, 11_000);
    let heartbeats = said.iter().filter(|(_, name)| name == "Heartbeat").count();
    let pings = said.iter().filter(|(_, name)| name == "Ping").count();
    assert_eq!((heartbeats, pings), (48, 4), "{said:?}");
    assert!(said.windows(2).all(|pair| pair[1].0 - pair[0].0 <= 200));
    // An input packet does the same, and nothing else is due then.
    for ms in 11_000..13_000 {
        link.sent_input(at(ms));
        assert!(link.poll_timeout() > at(ms) || link.rtt.next_ping() <= at(ms));
    }
}

#[test]
fn message_is_acknowledged_within_a_frame_or_piggybacked() {
    let mut link = link();
    sent(&mut link, 0, 1_000);
    link.sent_input(at(1_000));
    assert!(!link.has_unfinished());
    link.message(at(1_000), 0, b"x").unwrap();
    link.message(at(1_010), 1, b"x").unwrap();
    assert!(link.has_unfinished());
    assert_eq!(sent(&mut link, 1_000, 1_100), [(1_017, "Heartbeat".to_owned())], "one for both");
    assert!(!link.has_unfinished());
    link.message(at(1_100), 2, b"x").unwrap();
    link.pinged(at(1_100), 9);
    assert!(link.owes_pong() && link.poll_timeout() == Time::ZERO);
    assert_eq!(sent(&mut link, 1_100, 1_200), [(1_100, "Pong".to_owned())], "which acknowledges it too");
    assert!(!link.owes_pong() && !link.has_unfinished());
    assert_eq!(link.message(at(1_200), 30, b"x"), Err(Refusal::NoRoom), "further than a peer can be");
    assert!(!link.has_unfinished());
}

#[test]
fn peer_that_never_acks_gets_two_packets_a_second() {
    let mut link = link();
    let mut buf = [0; 1_200];
    let mut sent = |link: &mut Link, from: u64, to: u64| {
        (from..to).filter(|ms| link.poll_transmit(at(*ms), &mut buf).is_some()).count()
    };
    for n in 0..12 {
        link.send(at(0), Ordered::User(&[n])).unwrap();
    }
    sent(&mut link, 0, 2_000);
    assert!(link.is_crowded());
    assert_eq!(sent(&mut link, 2_000, 12_000), 20);
    let newest = link.sequences.next(false).sequence;
    link.heard(ControlHeader { sequence: 1, ack: newest, ack_bits: 0 });
    assert!(!link.is_crowded());
    assert!(sent(&mut link, 12_000, 12_300) > 3, "and at full rate when it is back");
}

#[test]
fn measured_link_pings_while_a_message_waits() {
    let mut link = link();
    link.measured_by_inputs();
    assert!(sent(&mut link, 0, 5_000).iter().all(|(_, name)| name == "Heartbeat"));
    link.send(at(5_000), Ordered::User(b"x")).unwrap();
    let ping = sent(&mut link, 5_000, 7_000).into_iter().find(|(_, name)| name == "Ping");
    assert_eq!(ping.map(|(ms, _)| ms), Some(6_000), "the answer acknowledges it");
}

#[test]
fn messages_beyond_reach_ask_for_a_resync() {
    let mut link = link();
    link.begin(7, true, None);
    sent(&mut link, 0, 1_000);
    let beyond = |link: &mut Link| assert_eq!(link.message(at(1_000), 5_000, b"x"), Err(Refusal::NoRoom));
    (0..2).for_each(|_| beyond(&mut link));
    link.heard(ControlHeader::default());
    (0..2).for_each(|_| beyond(&mut link));
    assert_eq!(sent(&mut link, 1_000, 1_001), [], "not three in a row");
    beyond(&mut link);
    assert_eq!(sent(&mut link, 1_001, 1_002), [(1_001, "ReliableEvent".to_owned())]);
}

#[test]
fn resync_takes_a_forged_ack_back() {
    let mut link = link();
    link.begin(7, true, None);
    let first = link.stamp(at(0)).sequence;
    let newest = (0..9).map(|_| link.stamp(at(0)).sequence).last().unwrap();
    link.heard(ControlHeader { sequence: 1, ack: newest, ack_bits: 0 });
    assert!(link.sequences.unacknowledged() <= 1, "the number after the newest may be skipped");
    let resync = message::Resync { token: 7, expected: 7, asks: false };
    link.resynced(at(0), ControlHeader { sequence: 2, ack: first, ack_bits: 0 }, resync).unwrap();
    assert!(link.sequences.unacknowledged() >= 9, "{}", link.sequences.unacknowledged());
}

#[test]
fn both_sides_number_their_messages_by_the_token() {
    let token = 0xAAAA_BBBB_1234_5678;
    for (is_host, ours, theirs) in [(true, 0x5678_u16, 0x1234_u16), (false, 0x1234, 0x5678)] {
        let mut link = link();
        link.begin(token, is_host, None);
        assert_eq!(link.reliable.expected(), theirs);
        link.send(at(0), Ordered::User(b"x")).unwrap();
        let bytes = link.reliable.transmit(at(0), 0, FRAME).unwrap();
        assert_eq!(bytes[1..3], ours.to_be_bytes());
    }
}
