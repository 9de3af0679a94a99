//! The code that two players compare where there was only an address.
//!
//! A short code of the handshake's hash alone could be found by trying. The host therefore commits to 16 random bytes before
//! it sees the joiner's, and the joiner sends its own before it sees the host's: a man in the middle has one chance in a
//! million with each code.

use super::hash::hash;
use crate::protocol::time::{Span, Time};
use crate::wire::seal::COMMITMENT_LEN;
use core::fmt;

/// The host's or the joiner's part of a code.
type Part = [u8; 16];
type Commitment = [u8; COMMITMENT_LEN];

/// A joiner asks again after this long.
const ASK_AFTER: Span = Span::from_millis(200);

/// Six digits to compare with those at the other machine, over a channel that cannot be forged, such as a voice call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// The digits as a number below 1,000,000.
    pub digits: u32,
    /// How many guests the host has had before this one. More than expected indicates an attack.
    pub guests_before: u32,
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:03} {:03}", self.digits / 1_000, self.digits % 1_000)
    }
}

/// The host's commitment to its part.
pub(super) fn commitment(part: &Part) -> Commitment {
    hash(b"commitment", &[part]).first_chunk().copied().unwrap_or_default()
}

fn digits(handshake: &[u8; 32], host: &Part, joiner: &Part) -> u32 {
    let digest = hash(b"code", &[handshake, host, joiner]);
    let number = u64::from_be_bytes(digest.first_chunk().copied().unwrap_or_default());
    (number % 1_000_000) as u32
}

/// The comparison of a connection's code.
#[derive(Debug)]
pub(super) struct Comparison {
    side: Side,
    is_verified: bool,
}

/// One side's part in a comparison.
#[derive(Debug)]
enum Side {
    /// By invite there is nothing to compare, and without keys not yet.
    None,
    Host {
        handshake: [u8; 32],
        ours: Part,
        theirs: Option<Part>,
        revealed: bool,
        guests_before: u32,
    },
    Joiner {
        handshake: [u8; 32],
        commitment: Commitment,
        ours: Part,
        ask_at: Time,
        code: Option<Code>,
    },
}

impl Comparison {
    /// A connection that has nothing to compare. By invite it is certain who the peer is.
    pub(super) fn new(is_verified: bool) -> Self {
        Self { side: Side::None, is_verified }
    }

    /// The host's side, with the hash of the handshake and the host's part.
    pub(super) fn host(handshake: [u8; 32], ours: Part) -> Self {
        let side = Side::Host { handshake, ours, theirs: None, revealed: false, guests_before: 0 };
        Self { side, is_verified: false }
    }

    /// The joiner's side, with the hash of the handshake, the host's commitment and the joiner's part. It asks from `now` on.
    pub(super) fn joiner(now: Time, handshake: [u8; 32], commitment: Commitment, ours: Part) -> Self {
        let side = Side::Joiner { handshake, commitment, ours, ask_at: now, code: None };
        Self { side, is_verified: false }
    }

    pub(super) fn is_verified(&self) -> bool {
        self.is_verified
    }

    /// The player says that the code is the same at the other end. `false` if there is no code yet.
    pub(super) fn verify(&mut self) -> bool {
        let has_code = self.code().is_some();
        self.is_verified |= has_code;
        has_code
    }

    /// The peer has proven a key that was asked for: there is nothing left to compare.
    pub(super) fn trust(&mut self) {
        self.is_verified = true;
    }

    /// The guest is confirmed: at the host, `guests_before` counts it.
    pub(super) fn confirm(&mut self, count: impl FnOnce() -> u32) {
        if let Side::Host { guests_before, .. } = &mut self.side {
            *guests_before = count();
        }
    }

    pub(super) fn code(&self) -> Option<Code> {
        match &self.side {
            Side::None => None,
            Side::Joiner { code, .. } => *code,
            Side::Host { handshake, ours, theirs, revealed, guests_before } => {
                let digits = digits(handshake, ours, theirs.as_ref().filter(|_| *revealed)?);
                Some(Code { digits, guests_before: *guests_before })
            }
        }
    }

    /// When the joiner asks next.
    pub(super) fn ask_at(&self) -> Time {
        match &self.side {
            Side::Joiner { ask_at, code: None, .. } => *ask_at,
            _ => Time::NEVER,
        }
    }

    /// The joiner's part, to be sent at `now`.
    pub(super) fn ask(&mut self, now: Time) -> Option<Part> {
        match &mut self.side {
            Side::Joiner { ours, ask_at, code: None, .. } if *ask_at <= now => {
                *ask_at = now + ASK_AFTER;
                Some(*ours)
            }
            _ => None,
        }
    }

    /// Takes the joiner's part, of which only the first counts. `may_reveal` says whether a new code may be revealed now.
    /// Returns the text of the answer, and whether it reveals the part for the first time.
    pub(super) fn asked(&mut self, part: Part, may_reveal: bool) -> Option<([u8; 20], bool)> {
        let Side::Host { ours, theirs, revealed, guests_before, .. } = &mut self.side else { return None };
        if *theirs.get_or_insert(part) != part || !(*revealed || may_reveal) {
            return None;
        }
        let first = !core::mem::replace(revealed, true);
        let mut text = [0; 20];
        text[..16].copy_from_slice(ours);
        text[16..].copy_from_slice(&guests_before.to_be_bytes());
        Some((text, first))
    }

    /// Takes the host's part. `false` if it is not the one that the host has committed to.
    pub(super) fn revealed(&mut self, text: &[u8; 20]) -> bool {
        let Side::Joiner { handshake, commitment: committed, ours, code, .. } = &mut self.side else {
            return false;
        };
        let (part, guests) = text.split_last_chunk::<4>().unwrap_or((&[], &[0; 4]));
        let Some(part) = part.first_chunk() else { return false };
        if commitment(part) != *committed {
            return false;
        }
        let guests_before = u32::from_be_bytes(*guests);
        code.get_or_insert(Code { digits: digits(handshake, part, ours), guests_before });
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(hashes: [[u8; 32]; 2]) -> [Comparison; 2] {
        let ours = [7; 16];
        let mut host = Comparison::host(hashes[0], ours);
        host.confirm(|| 3);
        [host, Comparison::joiner(Time::ZERO, hashes[1], commitment(&ours), [9; 16])]
    }

    #[test]
    fn code_is_the_same_on_both_sides_and_new_each_handshake() {
        let codes = |hashes| {
            let [mut host, mut joiner] = pair(hashes);
            let part = joiner.ask(Time::ZERO).unwrap();
            assert_eq!(joiner.ask(Time::ZERO), None, "not twice at once");
            assert!(host.asked(part, false).is_none() && host.code().is_none(), "too soon after another");
            assert!(!host.verify() && !joiner.verify(), "there is no code yet");
            let (text, first) = host.asked(part, true).unwrap();
            assert!(first && !host.asked(part, false).unwrap().1, "said again, but not anew");
            assert!(joiner.revealed(&text));
            assert_eq!(joiner.ask_at(), Time::NEVER);
            assert!(!joiner.is_verified() && joiner.verify() && joiner.is_verified());
            [host.code().unwrap(), joiner.code().unwrap()]
        };
        let [ours, theirs] = codes([[1; 32]; 2]);
        assert_eq!((ours, ours.guests_before), (theirs, 3));
        let [ours, theirs] = codes([[1; 32], [2; 32]]);
        assert_ne!(ours.digits, theirs.digits, "somebody in the middle has two handshakes");
    }

    #[test]
    fn only_the_first_part_counts_and_the_commitment_binds() {
        let [mut host, mut joiner] = pair([[1; 32]; 2]);
        let (mut text, _) = host.asked([9; 16], true).unwrap();
        let code = host.code();
        assert!(host.asked([8; 16], true).is_none());
        assert_eq!(host.code(), code);
        text[3] ^= 1;
        assert!(!joiner.revealed(&text) && joiner.code().is_none());
        assert!(!host.revealed(&text) && joiner.asked([1; 16], true).is_none(), "each has its own part");
    }

    #[test]
    fn code_is_read_as_two_groups_of_digits() {
        let shown = |digits| Code { digits, guests_before: 0 }.to_string();
        assert_eq!([shown(7), shown(123_456), shown(999_000)], ["000 007", "123 456", "999 000"]);
    }

    #[test]
    fn joiner_asks_every_200_ms_until_the_first_reveal() {
        let [mut host, mut joiner] = pair([[1; 32]; 2]);
        assert!(joiner.ask(Time::ZERO).is_some());
        assert_eq!(joiner.ask_at(), Time::ZERO + Span::from_millis(200));
        assert!(joiner.ask(Time::ZERO + Span::from_millis(199)).is_none());
        let part = joiner.ask(Time::ZERO + Span::from_millis(200)).unwrap();
        let (mut text, _) = host.asked(part, true).unwrap();
        assert!(joiner.revealed(&text));
        let code = joiner.code();
        text[19] += 1;
        assert!(joiner.revealed(&text));
        assert_eq!(joiner.code(), code, "a later number of guests changes nothing");
        assert_eq!(joiner.ask(Time::ZERO + Span::from_secs(9)), None);
    }
}
