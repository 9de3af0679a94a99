//! Wrong proofs of addresses, counted by source in a table of fixed size.
//!
//! A forger can send wrong proofs in the name of any source. A source that has used up its wrong proofs is therefore not
//! locked out: a few of its proofs, chosen at random, are still checked. A client repeats its proof in every packet, so
//! that an honest one gets in within a second or so, while most guesses of the forger are lost.

use crate::channel::entropy::Entropy;
use crate::channel::keyed_hash::{Key, keyed_hash};
use crate::channel::source::Source;
use crate::protocol::time::{Span, Time};
use crate::protocol::trace;

/// Sources that fall on one place share its count. A stranger who does not know the key cannot choose the place.
const PLACES: usize = 4_096;

/// The wrong proofs of a source in a second after which not every proof is checked. A client that a server has removed
/// sends 60 a second.
const MAX_WRONG: u8 = 64;

/// One in this many proofs of such a source is checked.
const LOOKED_AT: u64 = 16;

/// The wrong proofs of this second.
#[derive(Debug)]
pub(super) struct Guesses {
    key: Key,
    entropy: Entropy,
    second: u64,
    wrong: Vec<u8>,
}

impl Guesses {
    pub(super) fn new(key: Key, seed: u64) -> Self {
        Self { key, entropy: Entropy::new(seed), second: 0, wrong: vec![0; PLACES] }
    }

    /// Counts a proof if it is wrong. Returns whether it counts as a proof: if it is right and is checked.
    pub(super) fn judge(&mut self, now: Time, source: Source, is_right: bool) -> bool {
        let second = now.since(Time::ZERO).nanos() / Span::from_secs(1).nanos();
        if self.second != second {
            self.second = second;
            self.wrong.fill(0);
        }
        let wrong = &mut self.wrong[keyed_hash(self.key, source.bytes()) as usize % PLACES];
        if !is_right {
            *wrong = wrong.saturating_add(1);
            if *wrong == MAX_WRONG {
                trace::wrong_proofs(&format_args!("{source:?}"));
            }
            return false;
        }
        *wrong < MAX_WRONG || self.entropy.next_u64().is_multiple_of(LOOKED_AT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn source(n: u8) -> Source {
        Source::customer(([192, 0, 2, n], 7).into())
    }

    #[test]
    fn after_64_wrong_proofs_one_in_16_is_looked_at() {
        let mut guesses = Guesses::new((1, 2), 3);
        (0..63).for_each(|_| assert!(!guesses.judge(at(100), source(1), false)));
        assert!((0..100).all(|_| guesses.judge(at(100), source(1), true)), "63 are allowed");
        guesses.judge(at(900), source(1), false);
        let looked_at = (0..1_600).filter(|_| guesses.judge(at(900), source(1), true)).count();
        assert!((60..140).contains(&looked_at), "{looked_at} of 1,600");
        (0..200).for_each(|_| assert!(!guesses.judge(at(900), source(1), false)));
        assert!(!(0..100).all(|_| guesses.judge(at(900), source(1), true)), "however many they are");
        assert!((0..100).all(|_| guesses.judge(at(900), source(2), true)), "another source");
        assert!((0..100).all(|_| guesses.judge(at(1_000), source(1), true)), "the next second");
    }
}
