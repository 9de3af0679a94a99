//! How the two players of a connection prove their keys to each other, over a channel that may lose packets.

use super::noise::Split;
use super::player::{PlayerKey, Verifier, prove};
use super::players::Players;
use crate::protocol::PeerRole;
use crate::protocol::time::{Span, Time};
use crate::wire::seal::PLAYER_LEN;

/// A proof, or the wish for one, is sent again after this long.
const REPEAT_AFTER: Span = Span::from_millis(200);
/// It is sent this often at most: the other side may not know such packets.
const MAX_REPEATS: u8 = 50;

/// The answer to a proof, or to the wish for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Answer {
    /// The proof was taken.
    Taken = 1,
    /// The proof does not fit, or is of a player that is not let in.
    Refused,
    /// The sender lets in nobody without a proof.
    Wanted,
    /// The sender has no key.
    None,
}

impl Answer {
    pub(super) fn of(number: u8) -> Option<Self> {
        [Self::Taken, Self::Refused, Self::Wanted, Self::None]
            .into_iter()
            .find(|answer| *answer as u8 == number)
    }
}

/// A packet that is sent until it is answered.
#[derive(Debug)]
struct Repeated {
    at: Time,
    left: u8,
}

impl Repeated {
    const NEVER: Self = Self { at: Time::NEVER, left: 0 };

    fn from(now: Time) -> Self {
        Self { at: now, left: MAX_REPEATS }
    }

    /// Whether it is sent at `now`.
    fn is_due(&mut self, now: Time) -> bool {
        if now < self.at {
            return false;
        }
        self.left = self.left.saturating_sub(1);
        self.at = if self.left > 0 { now + REPEAT_AFTER } else { Time::NEVER };
        true
    }
}

/// The key of the peer.
#[derive(Debug)]
enum Theirs {
    /// Before there are keys of the connection.
    Unknown,
    Awaited(Verifier),
    Proven(PlayerKey, [u8; PLAYER_LEN]),
    /// A proof did not fit. There is no second try, because each costs a Diffie-Hellman.
    Failed,
}

/// The proofs of one connection.
#[derive(Debug)]
pub(super) struct Introduction {
    proof: Option<[u8; PLAYER_LEN]>,
    says: Repeated,
    wants: Repeated,
    theirs: Theirs,
}

impl Introduction {
    /// Before there are keys of the connection.
    pub(super) fn none() -> Self {
        Self { proof: None, says: Repeated::NEVER, wants: Repeated::NEVER, theirs: Theirs::Unknown }
    }

    /// With the keys of a connection to a peer in this role. Spectators prove nothing.
    pub(super) fn new(now: Time, split: &Split, players: &Players, peer: PeerRole) -> Self {
        if peer == PeerRole::Spectator {
            return Self::none();
        }
        let is_host = peer != PeerRole::Host;
        let proof = players.own().and_then(|keys| prove(keys, split, is_host));
        let wants = players.wants(peer);
        Self {
            says: if proof.is_some() { Repeated::from(now) } else { Repeated::NEVER },
            proof,
            wants: if wants { Repeated::from(now) } else { Repeated::NEVER },
            theirs: Theirs::Awaited(Verifier::new(split, !is_host)),
        }
    }

    /// The key that the peer has proven.
    pub(super) fn player(&self) -> Option<PlayerKey> {
        match &self.theirs {
            Theirs::Proven(player, _) => Some(*player),
            _ => None,
        }
    }

    /// Checks the proof of the peer. Only the first counts.
    pub(super) fn prove(&mut self, text: &[u8; PLAYER_LEN]) -> Answer {
        self.wants = Repeated::NEVER;
        let theirs = match &self.theirs {
            Theirs::Proven(_, taken) if taken == text => return Answer::Taken,
            Theirs::Awaited(verifier) => verifier.check(text),
            _ => return Answer::Refused,
        };
        self.theirs = theirs.map_or(Theirs::Failed, |player| Theirs::Proven(player, *text));
        if theirs.is_some() { Answer::Taken } else { Answer::Refused }
    }

    /// The peer answers the proof, or the wish for one. Returns whether it makes sense, and whether the answer is that there is no key here.
    pub(super) fn answered(&mut self, now: Time, answer: Answer) -> (bool, bool) {
        match answer {
            Answer::Taken | Answer::Refused => {
                let is_one = self.proof.is_some();
                self.says = Repeated::NEVER;
                (is_one, false)
            }
            Answer::None => {
                let is_one = self.wants.at != Time::NEVER;
                self.wants = Repeated::NEVER;
                (is_one, false)
            }
            Answer::Wanted if self.proof.is_none() => (true, true),
            // The proof is on its way, or was given up.
            Answer::Wanted => {
                if self.says.at == Time::NEVER {
                    self.says = Repeated { at: now, left: 1 };
                }
                (true, false)
            }
        }
    }

    /// The proof to send at `now`.
    pub(super) fn says(&mut self, now: Time) -> Option<[u8; PLAYER_LEN]> {
        self.proof.filter(|_| self.says.is_due(now))
    }

    /// Whether the peer is asked for its proof at `now`.
    pub(super) fn wants(&mut self, now: Time) -> bool {
        self.wants.is_due(now)
    }

    /// When there is something to send next. Without `may_say` the proof waits.
    pub(super) fn due(&self, may_say: bool) -> Time {
        self.wants.at.min(if may_say { self.says.at } else { Time::NEVER })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Introduction {
        /// Sends this in the place of the proof.
        pub(in crate::connect::seal) fn forge(&mut self, proof: [u8; PLAYER_LEN]) {
            self.proof = Some(proof);
        }

        /// The proof that was taken.
        pub(in crate::connect::seal) fn proof_taken(&self) -> Option<[u8; PLAYER_LEN]> {
            match &self.theirs {
                Theirs::Proven(_, text) => Some(*text),
                _ => None,
            }
        }
    }

    #[test]
    fn proof_is_repeated_fifty_times_at_most() {
        let mut repeated = Repeated::from(Time::ZERO);
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let sent = (0..60_000).filter(|ms| repeated.is_due(at(*ms))).count();
        assert_eq!((sent, repeated.at), (50, Time::NEVER));
    }

    #[test]
    fn proof_that_was_given_up_is_sent_once_when_wanted() {
        let proof = Some([1; PLAYER_LEN]);
        let mut introduction = Introduction { proof, ..Introduction::none() };
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        assert_eq!(introduction.answered(at(5), Answer::Wanted), (true, false));
        let sent: Vec<u64> = (5..5_000).filter(|ms| introduction.says(at(*ms)).is_some()).collect();
        assert_eq!(sent, [5]);
    }
}
