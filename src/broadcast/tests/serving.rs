//! Tests of a broadcast: what it sends to whom, and when.

use super::{PARENT, SECRET, STATUS, Watcher, addr, head, ms};
use crate::Player;
use crate::broadcast::signing::SigningKey;
use crate::broadcast::spectator::Watching;
use crate::broadcast::{Broadcast, BroadcastConfig};
use crate::protocol::{Authenticated, ConnectionStep, PeerRole, Protocol};
use crate::replay::{End, Header, MatchEvent, Outcome, Recording, Winner};
use crate::wire::broadcast::{Head, ToSpectator, UNKNOWN_MILLIS, encode_ack, encode_leave, encode_watch};
use core::time::Duration;

/// A broadcast with a match, and the spectators that speak to it.
struct Host(Broadcast);

impl Host {
    fn new(config: BroadcastConfig) -> Self {
        Self(Broadcast::new(config, &SECRET))
    }

    fn playing(config: BroadcastConfig) -> Self {
        let mut host = Self::new(config);
        assert!(host.0.begin(ms(0), &Header::new(5)));
        host
    }

    fn hear(&mut self, now: u64, port: u16, packet: &[u8]) {
        self.0.handle_datagram(ms(now), addr(port), packet);
    }

    fn watch(&mut self, now: u64, port: u16, of: Option<Head>) {
        let mut buf = [0; 100];
        let (id, held) = of.map_or(([0; 16], 0), |head| (head.of.id, head.len));
        let len = encode_watch(&id, held, &mut buf).unwrap();
        self.hear(now, port, &buf[..len]);
    }

    fn ack(&mut self, now: u64, port: u16, (number, next, head): (u32, u32, u32)) {
        let mut buf = [0; 100];
        let len = encode_ack(number, next, head, &[], &mut buf).unwrap();
        self.hear(now, port, &buf[..len]);
    }

    /// The packets that go out at a time, in words.
    fn sent(&mut self, now: u64) -> Vec<(u16, String)> {
        let mut buf = [0; 1_200];
        let sent = core::iter::from_fn(|| {
            let (to, len) = self.0.poll_transmit(ms(now), &mut buf)?;
            let words = match ToSpectator::decode(&buf[..len]).unwrap() {
                ToSpectator::Head(head, _) => format!("head {}", head.of.number),
                ToSpectator::Data { number, offset, .. } => format!("data {number} {offset}"),
                ToSpectator::Wait { millis: UNKNOWN_MILLIS, .. } => "wait".to_owned(),
                ToSpectator::Wait { millis, .. } => format!("wait {millis}"),
                ToSpectator::Bye(bye) => format!("bye {bye:?}"),
            };
            Some((to.port(), words))
        });
        sent.collect()
    }

    /// The newest head, as a spectator at port 99 gets it.
    fn head(&mut self, now: u64) -> Head {
        self.watch(now, 99, None);
        let mut buf = [0; 1_200];
        loop {
            let (_, len) = self.0.poll_transmit(ms(now), &mut buf).expect("a head");
            if let ToSpectator::Head(head, _) = ToSpectator::decode(&buf[..len]).unwrap() {
                let len = encode_leave(&mut buf).unwrap();
                self.hear(now, 99, &buf[..len]);
                return head;
            }
        }
    }

    fn timeout(&self) -> Option<u64> {
        self.0.poll_timeout().map(|at| at.as_millis() as u64)
    }
}

fn words(port: u16, said: &[&str]) -> Vec<(u16, String)> {
    said.iter().map(|words| (port, (*words).to_owned())).collect()
}

fn end() -> End {
    End { outcome: Outcome::Agreed { checksum: 1 }, winner: Winner::Draw }
}

#[test]
fn spectator_gets_head_then_bytes_then_a_head_every_two_seconds() {
    let mut host = Host::playing(BroadcastConfig::default());
    host.watch(100, 2, None);
    assert_eq!(host.sent(100), words(2, &["head 1"]));
    assert_eq!((host.sent(399), host.timeout()), (vec![], Some(400)));
    assert_eq!(host.sent(400), words(2, &["head 1"]), "it was not acknowledged");
    let head = host.head(400);
    host.ack(450, 2, (1, 0, head.len));
    assert_eq!(host.sent(450), words(2, &["data 1 0"]));
    assert!(!host.0.is_received());
    host.ack(480, 2, (1, head.len, head.len));
    assert!(host.0.is_received());
    assert_eq!((host.sent(2_399), host.timeout()), (vec![], Some(2_400)));
    assert_eq!(host.sent(2_400), words(2, &["head 1"]));
}

#[test]
fn spectator_that_has_a_beginning_gets_the_rest() {
    let mut host = Host::playing(BroadcastConfig::default());
    let head = host.head(10);
    for (len, rest) in [(head.len - 1, "data 1"), (head.len, ""), (head.len + 1, "data 1 0")] {
        host.watch(20, 2, Some(Head { len, ..head }));
        host.sent(20);
        host.ack(20, 2, (1, 0, head.len));
        let said = host.sent(20);
        let expected = if rest == "data 1" { format!("data 1 {len}") } else { rest.to_owned() };
        assert_eq!(said.first().map_or("", |(_, said)| said), expected, "it has {len} bytes");
    }
    host.watch(20, 2, Some(Head { of: SigningKey::new(&[8; 32]).match_id(1), ..head }));
    host.sent(20);
    host.ack(20, 2, (1, 0, head.len));
    assert_eq!(host.sent(20), words(2, &["data 1 0"]), "the beginning of another match");
}

#[test]
fn delayed_match_is_told_by_its_wait() {
    let mut host = Host::new(BroadcastConfig { delay: ms(2_000), ..BroadcastConfig::default() });
    host.watch(10, 2, None);
    assert_eq!(host.sent(10), words(2, &["wait"]));
    assert!(host.0.begin(ms(100), &Header::new(5)));
    assert_eq!((host.sent(2_009), host.timeout()), (vec![], Some(2_010)), "the next status");
    assert_eq!(host.sent(2_010), words(2, &["wait 90"]));
    assert_eq!((host.sent(2_099), host.timeout()), (vec![], Some(2_100)));
    assert_eq!(host.sent(2_100), words(2, &["head 1"]));
}

#[test]
fn next_match_waits_for_the_last_at_most_ten_seconds() {
    for is_received in [true, false] {
        let mut host = Host::playing(BroadcastConfig::default());
        host.watch(0, 2, None);
        host.sent(0);
        host.0.finish(ms(10), end());
        host.sent(10);
        let head = host.head(10);
        assert!(head.is_last);
        if is_received {
            host.ack(20, 2, (1, 0, head.len));
            host.sent(20);
            host.ack(30, 2, (1, head.len, head.len));
        }
        assert!(host.0.begin(ms(100), &Header::new(6)));
        let first = (100..=11_000).step_by(50).find(|now| {
            // It speaks once a second.
            host.ack(*now, 2, (1, if is_received { head.len } else { 0 }, 0));
            host.sent(*now).iter().any(|(_, said)| said == "head 2")
        });
        assert_eq!(first, Some(if is_received { 100 } else { 10_100 }));
    }
}

#[test]
fn logs_of_matches_share_their_room_and_their_number_is_bounded() {
    let mut host = Host::new(BroadcastConfig { delay: ms(60_000), ..BroadcastConfig::default() });
    for number in 1..=33 {
        assert_eq!(host.0.begin(ms(0), &Header::new(5)), number <= 32, "match {number}");
        host.0.finish(ms(0), end());
    }
    let mut probe = Host::playing(BroadcastConfig::default());
    let one = probe.head(0).len;
    for (room, is_shown) in [(2 * one, true), (2 * one - 1, false)] {
        let mut host = Host::new(BroadcastConfig { max_log_bytes: room, ..BroadcastConfig::default() });
        assert!(host.0.begin(ms(0), &Header::new(5)));
        assert_eq!(host.0.begin(ms(0), &Header::new(6)), is_shown, "{room} bytes");
    }
}

#[test]
fn full_log_ends_and_the_broadcast_goes_on() {
    let one = Host::playing(BroadcastConfig::default()).head(0).len;
    let mut host = Host::playing(BroadcastConfig { max_log_bytes: one + 40, ..BroadcastConfig::default() });
    // Events wait for the end of a chunk, or until they fill one.
    for _ in 0..20_000 {
        host.0.event(ms(10), MatchEvent::Mark(7));
    }
    let head = host.head(20);
    assert!(head.len <= one + 40 && head.is_last, "{head:?}");
}

#[test]
fn spectators_get_messages_of_both_players_if_they_may() {
    for chat in [false, true] {
        let mut host = Host::playing(BroadcastConfig { chat, ..BroadcastConfig::default() });
        host.0.message(ms(10), Player::One, b"hello");
        host.0.hear(ms(10), Player::One, &crate::Event::Message(b"well met".to_vec().into()));
        host.0.finish(ms(20), end());
        let mut watcher = Watcher::new();
        let mut buf = [0; 1_200];
        for now in (0..2_000).step_by(10) {
            while let Some((_, len)) = watcher.0.poll_transmit(ms(now), &mut buf) {
                host.hear(now, 2, &buf[..len]);
            }
            while let Some((_, len)) = host.0.poll_transmit(ms(now), &mut buf) {
                watcher.0.handle_datagram(ms(now), addr(PARENT), &buf[..len]);
            }
        }
        assert_eq!(watcher.0.state(), Watching::Complete);
        let recording = Recording::open(watcher.0.bytes().to_vec()).unwrap();
        let said: Vec<_> = recording.messages().map(|(_, player, text)| (player, text)).collect();
        let all = [(Player::One, &b"hello"[..]), (Player::Two, b"well met")];
        assert_eq!(said, if chat { &all[..] } else { &[] });
    }
}

#[test]
fn broadcast_counts_spectators_datagrams_and_refusals() {
    let mut host = Host::playing(BroadcastConfig { max_spectators: 2, ..BroadcastConfig::default() });
    for port in [2, 3, 2, 4] {
        host.watch(0, port, None);
    }
    let stats = host.0.stats();
    assert_eq!((stats.spectators, stats.joined, stats.evicted, stats.refused), (2, 2, 0, 1));
    let sent = host.sent(0);
    assert_eq!(sent.iter().map(|(to, _)| *to).collect::<Vec<_>>(), [4, 2, 3], "a BYE first");
    assert_eq!(sent[0].1, "bye Full");
    assert_eq!(host.0.stats().sent, 2, "heads");
    host.hear(1, 3, &[0xFF; 5]);
    host.ack(1, 9, (1, 0, 0));
    assert_eq!(host.0.stats().refused, 3);
    assert_eq!(host.sent(1), words(9, &["bye Silent"]), "it was sent away before");
    let mut buf = [0; 10];
    let len = encode_leave(&mut buf).unwrap();
    host.hear(2, 3, &buf[..len]);
    host.ack(3, 2, (1, 0, u32::MAX));
    let stats = host.0.stats();
    assert_eq!((stats.spectators, stats.joined, stats.evicted, stats.refused), (0, 2, 1, 4));
    assert_eq!(host.sent(3), words(2, &["bye Misbehaved"]));
}

#[test]
fn connection_that_is_gone_is_no_spectator_any_more() {
    let mut host = Host::playing(BroadcastConfig::default());
    host.watch(0, 2, None);
    assert!(host.0.keeps(addr(2)) && !host.0.keeps(addr(3)));
    assert!(host.0.serves(PeerRole::Spectator) && !host.0.serves(PeerRole::Player));
    let step = ConnectionStep::Confirmed { round_trip: ms(5), role: PeerRole::Spectator };
    host.0.connection(ms(5), addr(2), step);
    assert_eq!(host.0.stats().spectators, 1);
    host.0.connection(ms(5), addr(2), ConnectionStep::Gone);
    assert_eq!((host.0.stats().spectators, host.0.keeps(addr(2))), (0, false));
}

#[test]
fn closed_broadcast_tells_all_and_lets_nobody_in() {
    let mut host = Host::playing(BroadcastConfig::default());
    host.watch(0, 2, None);
    host.watch(0, 3, None);
    host.0.close();
    assert!(host.0.lingers());
    assert_eq!(host.timeout(), Some(0));
    let byes = host.sent(0);
    assert_eq!(byes, [words(2, &["bye Closed"]), words(3, &["bye Closed"])].concat());
    assert!(!host.0.lingers());
    host.watch(10, 4, None);
    assert_eq!(host.sent(10), words(4, &["bye Full"]));
}

#[test]
fn bandwidth_of_all_spectators_is_bounded() {
    let mut host = Host::playing(BroadcastConfig { bits_per_second: 1, ..BroadcastConfig::default() });
    for mark in 0..20_000 {
        host.0.event(ms(0), MatchEvent::Mark(mark));
    }
    let head = host.head(0);
    for port in 2..6 {
        host.watch(0, port, None);
        host.ack(0, port, (1, 0, 0));
    }
    let mut bytes = 0;
    for now in 0..5_000 {
        let before = host.0.stats();
        host.sent(now);
        let after = host.0.stats();
        bytes += after.sent_bytes - before.sent_bytes + 49 * (after.sent - before.sent);
        for port in 2..6 {
            if now > 1_000 && now % 50 == 0 {
                host.ack(now, port, (1, 0, head.len));
            }
        }
    }
    assert!((30_000..42_500).contains(&bytes), "64 kbit/s is the least: {bytes} bytes in 5 s");
}

#[test]
fn relay_passes_on_the_proven_bytes_of_each_match() {
    let mut relay = Host(Broadcast::relay(BroadcastConfig::default()));
    assert!(!relay.0.begin(ms(0), &Header::new(5)) && relay.0.key().is_none());
    relay.watch(5, 2, None);
    assert_eq!(relay.sent(5), words(2, &["wait"]));
    let mut watcher = Watcher::with(100);
    relay.0.follow(&watcher.0);
    assert_eq!(relay.sent(10), words(2, &["head 1"]));
    relay.ack(20, 2, (1, 0, 100));
    assert_eq!(relay.sent(20), words(2, &["data 1 0"]));
    watcher.hear(30, &ToSpectator::Head(head(2, 50, false), STATUS));
    watcher.hear(30, &ToSpectator::Data { number: 2, offset: 0, bytes: &[0; 50] });
    relay.0.follow(&watcher.0);
    assert_eq!(relay.sent(30), words(2, &["head 2"]));
    relay.ack(40, 2, (2, 0, 50));
    assert_eq!(relay.sent(40), words(2, &["data 2 0"]));
}

#[test]
fn config_beyond_its_limits_is_brought_within() {
    let beyond = BroadcastConfig {
        max_spectators: 257,
        delay: Duration::from_secs(601),
        bits_per_second: 63_999,
        ..BroadcastConfig::default()
    };
    let within = beyond.clone().within_limits();
    assert_eq!((within.max_spectators, within.delay), (256, Duration::from_secs(600)));
    assert_eq!(within.bits_per_second, 64_000);
    let same = BroadcastConfig { max_spectators: 255, delay: ms(599_999), bits_per_second: 64_001, ..beyond };
    assert_eq!(same.clone().within_limits(), same);
    let usual = BroadcastConfig::default();
    assert_eq!((usual.max_spectators, usual.delay, usual.chat), (8, Duration::ZERO, false));
    assert_eq!((usual.bits_per_second, usual.max_log_bytes), (1_000_000, 16 << 20));
}

#[test]
fn match_that_is_ended_twice_keeps_its_log() {
    let mut host = Host::playing(BroadcastConfig::default());
    host.watch(10, 1, None);
    assert!(!host.sent(10).is_empty());
    let end = End { outcome: Outcome::Local, winner: Winner::Undecided };
    host.0.finish(ms(20), end);
    host.0.finish(ms(30), end);
    host.watch(40, 2, None);
    assert!(host.sent(40).iter().any(|(port, words)| *port == 2 && words == "head 1"));
}

/// Everything that both send until a time, and the log of each match as the spectator had it last.
fn exchange(host: &mut Host, watcher: &mut Watcher, times: core::ops::Range<u64>, logs: &mut [Vec<u8>]) {
    let mut buf = [0; 1_200];
    for now in times.step_by(5) {
        while let Some((_, len)) = watcher.0.poll_transmit(ms(now), &mut buf) {
            host.hear(now, 2, &buf[..len]);
        }
        while let Some((_, len)) = host.0.poll_transmit(ms(now), &mut buf) {
            watcher.0.handle_datagram(ms(now), addr(PARENT), &buf[..len]);
            if let Some(number) = watcher.0.match_number().checked_sub(1) {
                logs[number as usize] = watcher.0.bytes().to_vec();
            }
        }
    }
}

#[test]
fn spectators_go_on_from_a_match_without_an_end() {
    for delay in [0, 3_000] {
        let mut host = Host::new(BroadcastConfig { delay: ms(delay), ..BroadcastConfig::default() });
        let (mut watcher, mut logs) = (Watcher::new(), vec![vec![]; 3]);
        for number in 1..=3_u8 {
            let at = u64::from(number) * 10_000;
            assert!(host.0.begin(ms(at), &Header::new(number.into())));
            exchange(&mut host, &mut watcher, at..at + delay, &mut logs);
            assert_eq!(
                watcher.0.match_number(),
                u32::from(number) - 1,
                "no later than it must, and no earlier"
            );
            exchange(&mut host, &mut watcher, at + delay..at + 5_000, &mut logs);
            assert_eq!((watcher.0.match_number(), watcher.0.state()), (number.into(), Watching::Receiving));
            // Less than a chunk: it is written when the next match begins.
            host.0.event(ms(at + 5_000), MatchEvent::Mark(number.into()));
            exchange(&mut host, &mut watcher, at + 5_000..at + 10_000, &mut logs);
        }
        for (number, log) in (1_u8..).zip(logs) {
            let recording = Recording::open(log).unwrap();
            let marks = recording.events().map(|(_, event)| event).collect::<Vec<_>>();
            let expected = if number < 3 { vec![MatchEvent::Mark(number.into())] } else { vec![] };
            assert_eq!((recording.header().seed, marks), (number.into(), expected));
        }
    }
}
