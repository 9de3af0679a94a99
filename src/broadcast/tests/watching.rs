//! Tests of a spectator: when it asks, acknowledges and gives up.

use super::{PARENT, SECRET, STATUS, Watcher, addr, head, ms};
use crate::broadcast::signing::SigningKey;
use crate::broadcast::spectator::Watching;
use crate::protocol::Protocol;
use crate::wire::broadcast::{Bye, Status, ToSpectator, UNKNOWN_MILLIS};

fn to_parent(words: &str) -> Vec<(u16, String)> {
    vec![(PARENT, words.to_owned())]
}

#[test]
fn broadcast_is_asked_every_half_second_until_it_answers() {
    let mut watcher = Watcher::new();
    assert_eq!(watcher.timeout(), Some(0));
    assert_eq!(watcher.sent(0), to_parent("watch 0"));
    assert_eq!((watcher.sent(499), watcher.timeout()), (vec![], Some(500)));
    assert_eq!(watcher.sent(500), to_parent("watch 0"));
    watcher.hear(600, &ToSpectator::Wait { millis: 2_000, status: STATUS });
    assert_eq!(watcher.0.state(), Watching::Waiting { until: Some(ms(2_600)) });
    assert_eq!((watcher.0.spectators(), watcher.0.delay()), (3, ms(250)));
    assert_eq!((watcher.sent(1_599), watcher.timeout()), (vec![], Some(1_600)));
    assert_eq!(watcher.sent(1_600), to_parent("ack 0 0 0"), "it is still there");
    watcher.hear(1_700, &ToSpectator::Wait { millis: UNKNOWN_MILLIS, status: STATUS });
    assert_eq!(watcher.0.state(), Watching::Waiting { until: None });
    assert_eq!(watcher.timeout(), Some(2_600), "a second after the last ACK");
}

#[test]
fn spectator_waits_for_a_match_as_long_as_the_broadcast_speaks() {
    let mut watcher = Watcher::new();
    for second in 0..30 {
        watcher.hear(second * 1_000, &ToSpectator::Wait { millis: UNKNOWN_MILLIS, status: STATUS });
        watcher.sent(second * 1_000);
        assert_eq!(watcher.timeout(), Some((second + 1) * 1_000), "the next ACK");
    }
    assert_eq!(watcher.0.state(), Watching::Waiting { until: None });
}

#[test]
fn wait_packet_does_not_end_a_running_match() {
    let mut watcher = Watcher::with(100);
    watcher.hear(10, &ToSpectator::Wait { millis: 5, status: Status { spectators: 9, ..STATUS } });
    assert_eq!((watcher.0.state(), watcher.0.spectators()), (Watching::Receiving, 9));
}

#[test]
fn opening_is_a_watch_for_the_parent_alone() {
    let mut watcher = Watcher::new();
    let mut buf = [0; 100];
    assert_eq!(watcher.0.opening(ms(0), addr(2), &mut buf), None);
    assert!(watcher.0.opening(ms(0), addr(PARENT), &mut buf).is_some());
    assert_eq!((watcher.sent(499), watcher.sent(500)), (vec![], to_parent("watch 0")));
    watcher.hear(600, &ToSpectator::Bye(Bye::Full));
    assert_eq!(watcher.0.opening(ms(700), addr(PARENT), &mut buf), None, "it is over");
}

#[test]
fn bytes_are_acknowledged_within_ten_ms_or_four_datagrams() {
    let mut watcher = Watcher::new();
    watcher.sent(0);
    watcher.hear(20, &ToSpectator::Head(head(1, 5_000, false), STATUS));
    assert_eq!(watcher.timeout(), Some(20), "a head at once");
    assert_eq!(watcher.sent(20), to_parent("ack 1 0 5000"));
    assert_eq!((watcher.sent(1_019), watcher.timeout()), (vec![], Some(1_020)));
    watcher.data(100, 0, 1_000);
    assert_eq!((watcher.sent(109), watcher.timeout()), (vec![], Some(110)));
    watcher.data(105, 1_000, 1_000);
    assert_eq!(watcher.sent(110), to_parent("ack 1 2000 5000"), "ten milliseconds after the first");
    watcher.data(200, 2_000, 500);
    watcher.data(200, 2_500, 500);
    watcher.data(200, 3_000, 500);
    assert_eq!(watcher.sent(200), []);
    watcher.data(200, 4_000, 500);
    assert_eq!(watcher.sent(200), to_parent("ack 1 3500 5000"), "the fourth does not wait");
    watcher.data(300, 3_500, 500);
    assert_eq!(watcher.timeout(), Some(310), "they are counted anew");
}

#[test]
fn silent_broadcast_is_asked_again_and_given_up_in_the_end() {
    let mut watcher = Watcher::with(100);
    watcher.hear(3_000, &ToSpectator::Wait { millis: 5, status: STATUS });
    for second in 1..=13 {
        watcher.sent(second * 1_000);
        assert_eq!(watcher.0.state(), Watching::Receiving);
    }
    assert_eq!(watcher.timeout(), Some(13_001));
    watcher.sent(13_001);
    assert_eq!((watcher.0.state(), watcher.timeout()), (Watching::Silent, Some(13_501)), "WATCH is sent");
    for second in 14..=153 {
        watcher.sent(second * 1_000);
        assert_eq!(watcher.0.state(), Watching::Silent);
    }
    watcher.sent(153_001);
    assert_eq!((watcher.0.state(), watcher.timeout()), (Watching::Lost, None));
    watcher.hear(153_002, &ToSpectator::Head(head(1, 100, true), STATUS));
    assert_eq!(watcher.0.state(), Watching::Lost, "it was given up");
}

#[test]
fn foreign_and_malformed_datagrams_are_no_sign_of_life() {
    let mut watcher = Watcher::with(100);
    for second in 1..=9 {
        watcher.hear_from(second * 1_000, 2, &ToSpectator::Wait { millis: 5, status: STATUS });
        watcher.0.handle_datagram(ms(second * 1_000), addr(PARENT), &[0xFF; 20]);
        watcher.sent(second * 1_000);
    }
    assert_eq!(watcher.timeout(), Some(10_000), "the next ACK");
    watcher.sent(10_000);
    assert_eq!(watcher.timeout(), Some(10_001));
}

#[test]
fn announced_bytes_that_do_not_come_end_it_after_ten_seconds() {
    let mut watcher = Watcher::with(100);
    let later = ToSpectator::Head(head(1, 1_000, false), STATUS);
    // While nothing is missing, heads alone are enough.
    for second in 1..=20 {
        watcher.hear(second * 1_000, &ToSpectator::Head(head(1, 100, false), STATUS));
        watcher.sent(second * 1_000);
    }
    for second in 21..=25 {
        watcher.hear(second * 1_000, &later);
    }
    watcher.data(25_000, 100, 10);
    watcher.data(27_000, 100, 10);
    for second in 26..=35 {
        watcher.hear(second * 1_000, &later);
        watcher.sent(second * 1_000);
        assert_eq!(watcher.0.state(), Watching::Receiving, "after {second} s");
    }
    assert_eq!(watcher.timeout(), Some(35_001), "bytes that it had were no progress");
    watcher.sent(35_001);
    assert_eq!(watcher.0.state(), Watching::Lost);
}

#[test]
fn whole_match_is_complete_and_the_next_one_begins_anew() {
    let mut watcher = Watcher::with(100);
    watcher.hear(10, &ToSpectator::Head(head(1, 100, true), STATUS));
    assert_eq!(watcher.0.state(), Watching::Complete);
    watcher.hear(9_000, &ToSpectator::Head(head(2, 50, false), STATUS));
    assert_eq!((watcher.0.state(), watcher.0.match_number()), (Watching::Receiving, 2));
    assert_eq!((watcher.0.bytes().len(), watcher.sent(9_000)), (0, to_parent("ack 2 0 50")));
    watcher.hear(10_500, &ToSpectator::Head(head(2, 50, false), STATUS));
    watcher.sent(11_000);
    assert_eq!(watcher.0.state(), Watching::Receiving, "its bytes have ten seconds from its first head on");
    watcher.data(11_000, 0, 50);
    assert_eq!(watcher.0.bytes().len(), 0, "bytes of another match");
    watcher.hear(11_000, &ToSpectator::Head(head(1, 100, true), STATUS));
    assert_eq!(watcher.0.match_number(), 2, "an earlier match");
}

#[test]
fn next_broadcast_is_asked_from_the_proven_bytes_on() {
    let mut watcher = Watcher::with(100);
    watcher.0.add_parent(ms(5), addr(2));
    watcher.hear(10, &ToSpectator::Head(head(1, 300, false), STATUS));
    watcher.data(10, 100, 50);
    watcher.hear(20, &ToSpectator::Bye(Bye::TooSlow));
    assert_eq!((watcher.0.state(), watcher.0.parent()), (Watching::Asking, addr(2)));
    assert_eq!(watcher.sent(20), [(2, "watch 100".to_owned())]);
    watcher.hear_from(30, PARENT, &ToSpectator::Head(head(1, 100, true), STATUS));
    assert_eq!(watcher.0.state(), Watching::Asking, "the first one is not asked any more");
    watcher.hear_from(40, 2, &ToSpectator::Bye(Bye::Full));
    assert_eq!((watcher.0.state(), watcher.timeout()), (Watching::Refused(Bye::Full), None));
    assert_eq!((watcher.sent(600), watcher.0.bytes().len()), (vec![], 100));
    watcher.0.add_parent(ms(700), addr(3));
    assert_eq!(watcher.sent(700), [(3, "watch 100".to_owned())], "one more is asked after the end");
}

#[test]
fn another_broadcast_is_asked_at_once_on_another_clock() {
    let mut watcher = Watcher::with(100);
    watcher.hear(50_000, &ToSpectator::Bye(Bye::Closed));
    watcher.0.move_to(ms(10), addr(4));
    assert_eq!(watcher.0.state(), Watching::Asking);
    assert_eq!(watcher.sent(10), [(4, "watch 100".to_owned())]);
    assert_eq!(watcher.timeout(), Some(510));
}

#[test]
fn spectator_that_leaves_says_so_once() {
    let mut watcher = Watcher::with(100);
    assert!(!watcher.0.lingers());
    watcher.0.leave();
    assert_eq!((watcher.0.lingers(), watcher.timeout()), (true, Some(0)));
    assert_eq!(watcher.sent(10), to_parent("leave"));
    assert_eq!(
        (watcher.0.lingers(), watcher.0.state(), watcher.timeout()),
        (false, Watching::Refused(Bye::Closed), None)
    );
}

#[test]
fn signatures_are_checked_forty_times_a_second() {
    let mut watcher = Watcher::new();
    let newest = |watcher: &mut Watcher, now, lens: core::ops::Range<usize>| {
        for len in lens {
            watcher.hear(now, &ToSpectator::Head(head(1, len, false), STATUS));
        }
        watcher.sent(now).pop().unwrap().1
    };
    assert_eq!(newest(&mut watcher, 0, 1..20), "ack 1 0 10", "a quarter of them at once");
    watcher.hear(24, &ToSpectator::Head(head(1, 11, false), STATUS));
    assert_eq!(newest(&mut watcher, 25, 12..20), "ack 1 0 12", "one more every 25 ms");
    // The one that is known needs no check.
    watcher.hear(25, &ToSpectator::Head(head(1, 12, false), STATUS));
    assert_eq!(watcher.sent(25), to_parent("ack 1 0 12"));
}

#[test]
fn log_longer_than_anybody_can_play_is_not_taken() {
    let key = SigningKey::new(&SECRET);
    for (len, number) in [(64 << 20, 1), ((64 << 20) + 1, 0)] {
        let mut watcher = Watcher::new();
        watcher.hear(0, &ToSpectator::Head(key.sign(key.match_id(1), false, len, [0; 32]), STATUS));
        assert_eq!(watcher.0.match_number(), number);
    }
}

#[cfg(feature = "udp")]
#[test]
fn silence_counts_on_across_connections() {
    let mut watcher = Watcher::with(100);
    watcher.sent(10_001);
    assert_eq!(watcher.0.state(), Watching::Silent);
    // The clock of the next connection begins at zero.
    watcher.0.ask_anew(ms(60_000), ms(0), addr(PARENT));
    for (now, state) in [(0, Watching::Asking), (10_001, Watching::Silent), (90_000, Watching::Silent)] {
        watcher.sent(now);
        assert_eq!(watcher.0.state(), state, "{now} ms");
    }
    watcher.sent(90_001);
    assert_eq!(watcher.0.state(), Watching::Lost, "150 s in all");
}
