//! A newcomer that has proven its address once, before it has a seat.
//!
//! A proof is a number of 16 bits, which a forger can guess. The newcomer is therefore sent challenges: packets whose numbers
//! leave random gaps. It gets its seat once it has acknowledged several of them. Until then it is sent no more bytes, and no
//! more datagrams, than have come from it.

use super::access::Newcomer;
use crate::authority::dialect::{AcceptRange, Challenges, Heard};
use crate::channel::refusal::Refusal;
use crate::protocol::time::{Span, Time};
use std::net::SocketAddr;

/// A seat needs acks of this many challenges. A forger guesses each with one chance in about 512.
const NEEDED: u8 = 4;

/// This many acks of numbers that were never sent end a trial. An honest newcomer sends none; a forger who sends them in its
/// name has to be near its sequence numbers.
const MAX_WRONG: u8 = 16;

/// The mask of the random gap between the numbers of two challenges.
const GAP: u16 = 1_023;

/// The time between two challenges, and the one once as many are under way as are kept.
const CHALLENGE_EVERY: Span = Span::from_millis(25);
const CHALLENGE_SELDOM: Span = Span::from_secs(1);

/// A newcomer that is silent for this long is forgotten.
const FORGOTTEN_AFTER: Span = Span::from_secs(5);

/// The greatest distance of a sequence number from the newest.
const RANGE: AcceptRange = AcceptRange::new(256, 0, 256);

/// One newcomer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial {
    addr: SocketAddr,
    /// The id that it was offered.
    id: u8,
    challenges: Challenges,
    /// The newest sequence number of the newcomer, and when a packet last came.
    newest: u16,
    heard_at: Time,
    passed: u8,
    wrong: u8,
    credit: Credit,
    due: Time,
}

/// The bytes that came less those that were sent, and the same of datagrams.
#[derive(Clone, Copy, Debug, Default)]
struct Credit {
    bytes: usize,
    datagrams: u32,
}

impl Credit {
    fn earn(&mut self, len: usize) {
        (self.bytes, self.datagrams) = (self.bytes + len, self.datagrams + 1);
    }

    /// Spends a datagram of `len` bytes. `false` if too little has come.
    fn spend(&mut self, len: usize) -> bool {
        let (Some(bytes), Some(datagrams)) = (self.bytes.checked_sub(len), self.datagrams.checked_sub(1))
        else {
            return false;
        };
        *self = Self { bytes, datagrams };
        true
    }
}

impl Trial {
    /// Begins with the packet that has proven the address by naming `proof`.
    pub(super) fn begin(now: Time, addr: SocketAddr, id: u8, proof: u16, sequence: u16) -> Self {
        Self {
            addr,
            id,
            challenges: Challenges::after(proof),
            newest: sequence,
            heard_at: now,
            passed: 0,
            wrong: 0,
            credit: Credit::default(),
            due: now,
        }
    }

    pub(super) fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Takes in a packet of `len` bytes.
    pub(super) fn hear(&mut self, now: Time, heard: Heard, len: usize) -> Result<(), Refusal> {
        let away = heard.sequence.wrapping_sub(self.newest).cast_signed();
        if !RANGE.allows(away, Span::ZERO) {
            return Err(Refusal::FarSequence);
        }
        if let Some(named) = heard.named {
            let Some(is_first) = self.challenges.acknowledge(named) else {
                self.wrong += 1;
                return Err(Refusal::AckUnsent);
            };
            self.passed += u8::from(is_first);
        }
        if away > 0 {
            self.newest = heard.sequence;
        }
        self.credit.earn(len);
        self.heard_at = now;
        Ok(())
    }

    /// The newcomer, if it has shown that it receives.
    pub(super) fn passed(&self) -> Option<Newcomer> {
        let Self { addr, id, challenges, .. } = *self;
        (self.passed >= NEEDED).then_some(Newcomer { addr, id, challenges })
    }

    /// Whether the newcomer has named too many numbers that it was not sent, or is gone.
    pub(super) fn is_void(&self, now: Time) -> bool {
        self.wrong >= MAX_WRONG || now.since(self.heard_at) > FORGOTTEN_AFTER
    }

    /// The number of the next challenge.
    pub(super) fn next_number(&self, random: u64) -> u16 {
        self.challenges.last().wrapping_add(1 + (random as u16 & GAP))
    }

    /// Takes over a challenge of `len` bytes. `false` if it is too early for it, or too little has come.
    pub(super) fn challenge(&mut self, now: Time, number: u16, len: usize) -> bool {
        if self.due > now || !self.credit.spend(len) {
            return false;
        }
        self.challenges.push(number);
        let is_full = self.challenges.is_full();
        self.due = now + if is_full { CHALLENGE_SELDOM } else { CHALLENGE_EVERY };
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn trial() -> Trial {
        Trial::begin(at(0), ([192, 0, 2, 1], 5).into(), 7, 1_000, 50)
    }

    fn heard(sequence: u16, named: u16) -> Heard {
        Heard { sequence, named: Some(named), proves: false }
    }

    /// A trial that was sent `count` challenges without gaps.
    fn challenged(count: u16) -> Trial {
        let mut trial = trial();
        for n in 0..count {
            trial.hear(at(u64::from(n) * 25), heard(51 + n, 1_000), 15).unwrap();
            assert!(trial.challenge(at(u64::from(n) * 25), 1_001 + n, 15));
        }
        trial
    }

    #[test]
    fn four_different_challenges_have_to_be_acknowledged() {
        let mut trial = challenged(5);
        for named in [1_000, 1_001, 1_001, 1_002, 1_005, 1_000] {
            trial.hear(at(200), heard(60, named), 15).unwrap();
            assert!(trial.passed().is_none(), "{named}");
        }
        trial.hear(at(200), heard(60, 1_003), 15).unwrap();
        assert!(trial.passed().is_some());
    }

    #[test]
    fn overtaken_packet_does_not_move_the_newest_back() {
        let mut trial = trial();
        for sequence in [100, 60, 100 + 256] {
            assert_eq!(trial.hear(at(0), heard(sequence, 1_000), 15), Ok(()), "{sequence}");
        }
    }

    #[test]
    fn challenges_take_no_more_bytes_and_datagrams_than_came() {
        let mut trial = trial();
        assert!(!trial.challenge(at(0), 9, 0), "nothing came");
        trial.hear(at(0), heard(51, 1_000), 14).unwrap();
        assert!(!trial.challenge(at(0), 9, 15), "a byte is missing");
        trial.hear(at(1), heard(52, 1_000), 46).unwrap();
        assert!(trial.challenge(at(1), 9, 15));
        assert!(!trial.challenge(at(25), 9, 15), "too early");
        assert!(trial.challenge(at(26), 9, 15));
        assert!(!trial.challenge(at(60), 9, 15), "two datagrams for two");
    }

    #[test]
    fn challenge_is_repeated_seldom_once_24_are_under_way() {
        let mut trial = challenged(22);
        trial.hear(at(550), heard(80, 1_000), 100).unwrap();
        trial.hear(at(550), heard(81, 1_000), 100).unwrap();
        assert!(trial.challenge(at(550), 2_000, 15), "the last that finds room");
        assert!(!trial.challenge(at(1_549), 2_001, 15));
        assert!(trial.challenge(at(1_550), 2_001, 15));
    }

    #[test]
    fn gaps_between_challenges_are_random_and_at_most_1023() {
        let mut trial = trial();
        let mut last = 1_000;
        for (n, random) in [0, 1_023, 1_024, 77].into_iter().enumerate() {
            let now = at(n as u64 * 25);
            trial.hear(now, heard(51, 1_000), 15).unwrap();
            let number = trial.next_number(random);
            assert!(trial.challenge(now, number, 15));
            assert_eq!(number - last, 1 + (random % 1_024) as u16);
            last = number;
        }
    }

    #[test]
    fn sixteen_wrong_acks_or_five_seconds_of_silence_end_a_trial() {
        let mut trial = challenged(2);
        for _ in 0..15 {
            assert_eq!(trial.hear(at(100), heard(60, 1_003), 15), Err(Refusal::AckUnsent));
        }
        assert!(!trial.is_void(at(100)));
        assert_eq!(trial.hear(at(100), heard(400, 9), 15), Err(Refusal::FarSequence), "not counted");
        assert!(!trial.is_void(at(5_025)) && trial.is_void(at(5_026)), "silence since 25 ms");
        assert_eq!(trial.hear(at(100), heard(60, 999), 15), Err(Refusal::AckUnsent));
        assert!(trial.is_void(at(100)));
    }
}
