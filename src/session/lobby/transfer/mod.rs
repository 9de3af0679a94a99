//! The transfer of the host's first state to the joiner, in parts that are acknowledged one by one.
//!
//! | part | owns |
//! |---|---|
//! | [`Sender`] | the host's bytes, and which of their parts are under way |
//! | [`Receiver`] | the joiner's bytes so far |
//!
//! `channel::congestion` says how many parts may be under way.

mod receiver;
mod sender;

pub(super) use receiver::{Complete, Receiver};
pub(super) use sender::Sender;

use crate::wire::message::PART_LEN;
use core::time::Duration;

/// The number of parts of a first state of this length.
fn parts(len: u32) -> u16 {
    len.div_ceil(PART_LEN as u32) as u16
}

/// The bytes of a part of a first state of this length.
fn range(number: u16, len: u32) -> core::ops::Range<usize> {
    let start = usize::from(number) * PART_LEN;
    start..(start + PART_LEN).min(len as usize)
}

/// How much of a first state the other side has, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The bytes that are there.
    pub bytes: u32,
    /// All bytes.
    pub of: u32,
    /// When the last of them came, or was acknowledged, on the clock of the calls to the lobby. At first, when they were asked
    /// for; `None` before.
    pub since: Option<Duration>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::entropy::Entropy;
    use crate::channel::refusal::Refusal;
    use crate::protocol::time::{Span, Time};
    use crate::session::first_state::FirstState;
    use crate::wire::message::{FirstStateAck, FirstStatePart, MAX_FIRST_STATE, REACH};
    use std::collections::BTreeMap;

    const TOKEN: u64 = 0x1122_3344_5566_7788;
    const TRIP: Span = Span::from_millis(120);

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn state(len: usize) -> FirstState {
        FirstState::from((0..len).map(|at| (at ^ at >> 8 ^ at >> 16) as u8).collect::<Vec<_>>())
    }

    fn receiver(state: &FirstState) -> Receiver {
        Receiver::new(at(0), TOKEN, state.len() as u32, state.hash())
    }

    enum Datagram {
        Part(u16, Vec<u8>),
        Ack(FirstStateAck),
    }

    /// A line between a sender and a receiver.
    struct Line {
        sender: Sender,
        receiver: Receiver,
        under_way: BTreeMap<(Time, u64), Datagram>,
        entropy: Entropy,
        loss_percent: u64,
        jitter: Span,
        /// The time that the line takes for a part, behind a queue of this length; a part that finds it full is lost.
        part_takes: Span,
        queue: Span,
        free_at: Time,
        /// Nothing arrives that is sent in this time.
        dead: core::ops::Range<Time>,
        sent: u64,
        parts: u64,
    }

    impl Line {
        fn new(state: &FirstState, loss_percent: u64) -> Self {
            Self {
                sender: Sender::new(state.clone(), TOKEN),
                receiver: receiver(state),
                under_way: BTreeMap::new(),
                entropy: Entropy::new(7),
                loss_percent,
                jitter: Span::ZERO,
                part_takes: Span::ZERO,
                queue: Span::from_secs(1),
                free_at: at(0),
                dead: at(0)..at(0),
                sent: 0,
                parts: 0,
            }
        }

        fn send(&mut self, now: Time, datagram: Datagram) {
            self.sent += 1;
            let is_part = matches!(datagram, Datagram::Part(..));
            self.parts += u64::from(is_part);
            let start = if is_part { self.free_at.max(now) } else { now };
            let is_lost = self.entropy.next_u64() % 100 < self.loss_percent || self.dead.contains(&now);
            if is_lost || start.since(now) > self.queue {
                return;
            }
            if is_part {
                self.free_at = start + self.part_takes;
            }
            let jitter = Span::from_micros(self.entropy.next_u64() % (self.jitter.nanos() / 1_000).max(1));
            self.under_way.insert((start + TRIP / 2 + jitter, self.sent), datagram);
        }

        /// Runs until the first state is whole; when, and what it is.
        fn run(&mut self, until: Time) -> (Time, Option<Complete>) {
            let mut now = at(0);
            while now < until {
                while let Some(part) = self.sender.poll(now) {
                    let part = Datagram::Part(part.number, part.bytes.to_vec());
                    self.send(now, part);
                }
                if self.receiver.ack_at() <= now {
                    let ack = self.receiver.acknowledge();
                    self.send(now, Datagram::Ack(ack));
                }
                let next = self.under_way.keys().next().map_or(Time::NEVER, |(at, _)| *at);
                let next = next.min(self.sender.poll_timeout()).min(self.receiver.ack_at());
                // The lobby asks again after this long.
                now = next.max(now).min(now + Span::from_millis(200));
                if next > now && self.receiver.ack_at() == Time::NEVER {
                    let ack = self.receiver.acknowledge();
                    self.send(now, Datagram::Ack(ack));
                }
                while let Some(entry) = self.under_way.first_entry().filter(|entry| entry.key().0 <= now) {
                    match entry.remove() {
                        Datagram::Ack(ack) => self.sender.acknowledged(now, &ack, TRIP).unwrap(),
                        Datagram::Part(number, bytes) => {
                            let part = FirstStatePart { token: TOKEN, number, bytes: &bytes };
                            if let Ok(Some(complete)) = self.receiver.take(now, &part) {
                                return (now, Some(complete));
                            }
                        }
                    }
                }
            }
            (now, None)
        }
    }

    fn whole(line: &mut Line, state: &FirstState, until_ms: u64) -> u64 {
        match line.run(at(until_ms)) {
            (time, Some(Complete::Intact(found))) => {
                assert!(found == *state);
                time.since(at(0)).nanos() / 1_000_000
            }
            (time, other) => panic!("{other:?} at {time:?}: {:?}", line.sender.progress()),
        }
    }

    #[test]
    fn any_length_arrives_whole() {
        for len in [1, 1_023, 1_024, 1_025, 5_000, 64 * 1_024] {
            let state = state(len);
            for loss in [0, 30] {
                whole(&mut Line::new(&state, loss), &state, 20_000);
            }
        }
    }

    #[test]
    fn loss_of_three_percent_hardly_slows_a_transfer() {
        let state = state(320 * 1_024);
        let [clean, lossy] = [0, 3].map(|loss| whole(&mut Line::new(&state, loss), &state, 5_000));
        assert!(clean <= 750 && lossy <= 1_000, "{clean} ms, {lossy} ms");
    }

    #[test]
    fn four_mebibytes_arrive_at_twenty_percent_loss() {
        let state = state(4 << 20);
        let mut line = Line::new(&state, 20);
        line.jitter = Span::from_millis(30);
        let took = whole(&mut line, &state, 30_000);
        assert!(took < 12_000, "{took} ms");
        assert!(line.parts < 4_096 * 3 / 2, "{} parts", line.parts);
    }

    #[test]
    fn transfer_goes_on_at_once_after_a_blackout() {
        let state = state(320 * 1_024);
        let clean = whole(&mut Line::new(&state, 0), &state, 5_000);
        for (dead_from, dead_ms) in [(130, 700), (300, 300), (300, 800), (300, 1_800), (300, 2_500)] {
            let mut line = Line::new(&state, 0);
            line.dead = at(dead_from)..at(dead_from + dead_ms);
            let took = whole(&mut line, &state, 20_000);
            // The joiner asks within 200 ms, and the first window is smaller than the last one was.
            let extra = took - dead_ms - clean;
            assert!(extra <= 550, "{extra} ms after a blackout of {dead_ms} ms from {dead_from} ms on");
            assert!(line.parts < 320 + 256, "{} parts", line.parts);
        }
    }

    #[test]
    fn narrow_line_is_not_flooded() {
        // 256 KiB a second: a part takes 4 ms. The queue holds a quarter of a second.
        let state = state(512 * 1_024);
        let mut line = Line::new(&state, 0);
        (line.part_takes, line.queue) = (Span::from_millis(4), Span::from_millis(250));
        let took = whole(&mut line, &state, 20_000);
        assert!((2_000..=3_500).contains(&took), "{took} ms");
        assert!(line.parts <= 512 * 5 / 4, "{} parts", line.parts);
    }

    #[test]
    fn parts_that_do_not_fit_are_refused_and_change_nothing() {
        let state = state(600 * 1_024 + 5);
        let mut receiver = receiver(&state);
        let all = parts(state.len() as u32);
        let full = [0; PART_LEN];
        let part = |token, number, bytes| FirstStatePart { token, number, bytes };
        for (part, refusal) in [
            (part(TOKEN ^ 1, 0, &full[..]), Refusal::WrongToken),
            (part(TOKEN, 0, &full[1..]), Refusal::FirstState),
            (part(TOKEN, all, &full), Refusal::FirstState),
            (part(TOKEN, u16::MAX, &full), Refusal::FirstState),
            (part(TOKEN, REACH + 1, &full), Refusal::FirstState),
        ] {
            assert_eq!(receiver.take(at(0), &part).map(|_| ()), Err(refusal), "{}", part.number);
        }
        assert_eq!((receiver.progress().bytes, receiver.acknowledge().end()), (0, 0));
        let first = part(TOKEN, 1, &state[1_024..2_048]);
        assert!(matches!(receiver.take(at(0), &first), Ok(None)));
        let other = part(TOKEN, 1, &full);
        assert_eq!(receiver.take(at(0), &other).map(|_| ()), Err(Refusal::FirstState), "it is here already");
        assert_eq!((receiver.progress().bytes, receiver.acknowledge().end()), (1_024, 2));
        let short = part(TOKEN, all - 1, &full[..6]);
        assert_eq!(
            receiver.take(at(0), &short).map(|_| ()),
            Err(Refusal::FirstState),
            "the rest has 5 bytes"
        );
    }

    #[test]
    fn memory_is_taken_as_parts_arrive() {
        let state = state(MAX_FIRST_STATE as usize);
        let mut receiver = receiver(&state);
        assert_eq!(receiver.room(), 0);
        let mut take = |number: u16| {
            let bytes = &state[range(number, state.len() as u32)];
            receiver.take(at(0), &FirstStatePart { token: TOKEN, number, bytes }).unwrap();
            receiver.room()
        };
        assert!(take(0) <= PART_LEN && take(REACH) <= (usize::from(REACH) + 1) * PART_LEN);
        let mut most = 0;
        for number in (1..REACH).chain(REACH + 1..4_095) {
            let room = take(number);
            assert!(room <= 2 * (usize::from(number.max(REACH)) + 1) * PART_LEN);
            most = most.max(room);
        }
        assert!(most <= state.len(), "{most}");
    }

    #[test]
    fn acks_of_unsent_parts_acknowledge_nothing() {
        let state = state(100 * 1_024);
        let mut sender = Sender::new(state.clone(), TOKEN);
        assert!(sender.poll(at(0)).is_none() && sender.poll_timeout() == Time::NEVER, "nobody has asked");
        let ack = |token, missing| FirstStateAck {
            token,
            is_damaged: false,
            missing,
            beyond: [0; REACH as usize / 8],
        };
        assert_eq!(sender.acknowledged(at(0), &ack(TOKEN ^ 1, 0), TRIP), Err(Refusal::WrongToken));
        assert_eq!(sender.acknowledged(at(0), &ack(TOKEN, 101), TRIP), Err(Refusal::FirstState));
        assert!(sender.poll(at(0)).is_none(), "still nobody");
        sender.acknowledged(at(0), &ack(TOKEN, 0), TRIP).unwrap();
        assert_eq!(sender.poll(at(0)).map(|part| part.number), Some(0));
        for missing in [101, u16::MAX] {
            assert_eq!(sender.acknowledged(at(0), &ack(TOKEN, missing), TRIP), Err(Refusal::FirstState));
        }
        let damaged = FirstStateAck { is_damaged: true, ..ack(TOKEN, 100) };
        assert_eq!(sender.acknowledged(at(0), &damaged, TRIP), Err(Refusal::FirstState), "99 were not sent");
        assert_eq!(sender.progress().bytes, 0);
        sender.acknowledged(at(1), &ack(TOKEN, 100), TRIP).unwrap();
        let since = Some(Duration::from_millis(1));
        assert_eq!(sender.progress(), Progress { bytes: 1_024, of: 100 * 1_024, since }, "one was sent");
        assert_eq!(sender.poll(at(100)).map(|part| part.number), Some(1));
    }

    #[test]
    fn late_ack_of_a_repeated_part_makes_no_other_part_lost() {
        let mut sender = Sender::new(state(100 * 1_024), TOKEN);
        let ack = |missing, first: &[u8]| {
            let mut beyond = [0; REACH as usize / 8];
            beyond[..first.len()].copy_from_slice(first);
            FirstStateAck { token: TOKEN, is_damaged: false, missing, beyond }
        };
        let polled = |sender: &mut Sender, ms: core::ops::Range<u64>| {
            let mut numbers = Vec::new();
            for ms in ms {
                while let Some(part) = sender.poll(at(ms)) {
                    numbers.push(part.number);
                }
            }
            numbers
        };
        sender.acknowledged(at(0), &ack(0, &[]), TRIP).unwrap();
        assert_eq!(polled(&mut sender, 0..120), (0..32).collect::<Vec<_>>());
        // Parts 4 to 20 have come, and part 3 has not.
        sender.acknowledged(at(120), &ack(3, &[0xFF, 0xFF, 1]), TRIP).unwrap();
        assert_eq!(sender.poll(at(120)).map(|part| part.number), Some(3), "overtaken");
        // The acknowledgement of its first copy, a millisecond after the second.
        sender.acknowledged(at(121), &ack(21, &[]), TRIP).unwrap();
        let next = polled(&mut sender, 121..140);
        assert!(next.len() > 5 && next.iter().all(|number| *number >= 32), "{next:?}");
    }

    #[test]
    fn bytes_with_another_hash_are_damaged() {
        let state = state(2_000);
        let mut receiver = Receiver::new(at(0), TOKEN, 2_000, state.hash() ^ 1);
        for number in [1, 0] {
            let bytes = &state[range(number, 2_000)];
            let taken = receiver.take(at(0), &FirstStatePart { token: TOKEN, number, bytes });
            assert_eq!(matches!(taken, Ok(Some(Complete::Damaged))), number == 0);
        }
        assert!(receiver.acknowledge().is_damaged);
    }

    #[test]
    fn silent_joiner_gets_few_parts_and_stalls() {
        let state = state(MAX_FIRST_STATE as usize);
        let mut sender = Sender::new(state, TOKEN);
        let ask =
            FirstStateAck { token: TOKEN, is_damaged: false, missing: 0, beyond: [0; REACH as usize / 8] };
        sender.acknowledged(at(0), &ask, TRIP).unwrap();
        let mut sent = 0;
        for ms in 0..5_000 {
            while sender.poll(at(ms)).is_some() {
                sent += 1;
            }
            // Asking again is no progress.
            sender.acknowledged(at(ms), &ask, TRIP).unwrap();
        }
        assert!(sent <= 80, "{sent} KiB to a machine that acknowledges nothing");
        let lost = Span::from_secs(5);
        assert!(!sender.has_stalled(at(5_000), lost) && sender.has_stalled(at(5_001), lost));
    }
}
