//! The addresses of one room: the one that holds it, and a rival that claims it.
//!
//! A valid claim from another address is a host that has moved, or an attacker who made the host sign for a foreign address.
//! The server cannot tell them apart by the claim. It therefore challenges the address that holds the room, and moves the
//! room only if that does not answer; until then a guest's signal goes to both in turn.

use super::stats::RoomRefusal;
use crate::protocol::time::{Span, Time};
use std::net::SocketAddr;

/// An address that holds a room has this long to answer a challenge, and this many challenges.
const PATIENCE: Span = Span::from_secs(3);
const MIN_CHALLENGES: u32 = 3;
/// A challenge is repeated after this long at the earliest.
const REPEAT_AFTER: Span = Span::from_millis(150);
/// A rival that has not claimed the room for this long is forgotten.
const RIVAL_FOR: Span = Span::from_secs(60);
/// The time of issue of a cookie is rounded down to less than this.
const ROUNDING: Span = Span::from_millis(1);

/// A registration whose signature is right.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claim {
    pub(super) addr: SocketAddr,
    /// The nonce of the REGISTER.
    pub(super) nonce: u64,
    pub(super) ticket: u64,
    /// When its cookie was issued. A recorded REGISTER never takes the place of a newer one.
    pub(super) issued: Time,
}

/// The outcome of a claim that is not refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Claimed {
    /// There was no such room.
    Opened,
    /// The address that holds the room has claimed it again.
    Kept,
    /// The room has moved to another address.
    Moved,
    /// Another address holds the room. It is to be challenged if it is named, with the nonce of its REGISTER.
    Held(Option<(SocketAddr, u64)>),
}

/// The addresses of a room.
#[derive(Clone, Debug)]
pub(super) struct Tenancy {
    holder: Claim,
    rival: Option<(Claim, Time)>,
    challenge: Option<Challenge>,
}

#[derive(Clone, Copy, Debug)]
struct Challenge {
    since: Time,
    count: u32,
    repeat_at: Time,
}

impl Tenancy {
    pub(super) fn new(claim: Claim) -> Self {
        Self { holder: claim, rival: None, challenge: None }
    }

    /// The address that holds the room.
    pub(super) fn addr(&self) -> SocketAddr {
        self.holder.addr
    }

    /// The newest ticket of the host.
    pub(super) fn ticket(&self) -> u64 {
        let rival = self.rival.filter(|(rival, _)| rival.issued > self.holder.issued);
        rival.map_or(self.holder.ticket, |(rival, _)| rival.ticket)
    }

    /// The address that gets a signal that was delivered this many times before, and the nonce of its REGISTER.
    pub(super) fn recipient(&self, now: Time, repeats: u32) -> (SocketAddr, u64) {
        let rival = self.rival(now).filter(|_| repeats % 2 == 1);
        let to = rival.unwrap_or(self.holder);
        (to.addr, to.nonce)
    }

    /// Whether an address may answer guests of the room.
    pub(super) fn may_answer(&self, now: Time, addr: SocketAddr) -> bool {
        self.holder.addr == addr || self.rival(now).is_some_and(|rival| rival.addr == addr)
    }

    /// Takes a claim.
    pub(super) fn claim(&mut self, now: Time, claim: Claim) -> Result<Claimed, RoomRefusal> {
        if claim.issued < self.holder.issued {
            return Err(RoomRefusal::Stale);
        }
        if claim.addr == self.holder.addr {
            self.holder = claim;
            // Only a cookie that was issued since the challenge shows that the address receives now.
            self.challenge.take_if(|challenge| claim.issued + ROUNDING > challenge.since);
            return Ok(Claimed::Kept);
        }
        if self.rival(now).is_some_and(|rival| claim.issued < rival.issued) {
            return Err(RoomRefusal::Stale);
        }
        let challenge =
            self.challenge.get_or_insert(Challenge { since: now, count: 0, repeat_at: Time::ZERO });
        if challenge.count >= MIN_CHALLENGES && now.since(challenge.since) >= PATIENCE {
            *self = Self::new(claim);
            return Ok(Claimed::Moved);
        }
        self.rival = Some((claim, now + RIVAL_FOR));
        if now < challenge.repeat_at {
            return Ok(Claimed::Held(None));
        }
        challenge.count += 1;
        challenge.repeat_at = now + REPEAT_AFTER;
        Ok(Claimed::Held(Some((self.holder.addr, self.holder.nonce))))
    }

    fn rival(&self, now: Time) -> Option<Claim> {
        self.rival.filter(|(_, until)| now < *until).map(|(rival, _)| rival)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn addr(last: u8) -> SocketAddr {
        ([192, 0, 2, last], 7_000).into()
    }

    /// A claim whose cookie was issued at `ms`. Nonce and ticket are that of the address and the time.
    fn claim(last: u8, ms: u64) -> Claim {
        Claim { addr: addr(last), nonce: last.into(), ticket: ms, issued: at(ms) }
    }

    #[test]
    fn room_moves_when_its_holder_answers_no_challenge() {
        let mut room = Tenancy::new(claim(1, 0));
        let held = Ok(Claimed::Held(Some((addr(1), 1))));
        for ms in [1_000, 1_200, 1_600, 2_400, 3_400] {
            assert_eq!(room.claim(at(ms), claim(2, 1_000)), held, "{ms}");
        }
        assert_eq!(room.claim(at(3_999), claim(2, 1_000)), held);
        assert_eq!(room.claim(at(4_000), claim(2, 1_000)), Ok(Claimed::Moved));
        assert_eq!((room.addr(), room.recipient(at(4_000), 1)), (addr(2), (addr(2), 2)), "no rival is left");
        assert!(!room.may_answer(at(4_000), addr(1)));
    }

    #[test]
    fn challenges_are_spaced_and_more_than_one_is_needed() {
        let mut room = Tenancy::new(claim(1, 0));
        assert!(matches!(room.claim(at(1_000), claim(2, 1_000)), Ok(Claimed::Held(Some(_)))));
        assert_eq!(room.claim(at(1_149), claim(2, 1_000)), Ok(Claimed::Held(None)));
        for ms in [9_000, 9_200] {
            assert!(
                matches!(room.claim(at(ms), claim(2, ms)), Ok(Claimed::Held(Some(_)))),
                "one may be lost"
            );
        }
        assert_eq!(room.claim(at(9_400), claim(3, 9_400)), Ok(Claimed::Moved));
        assert_eq!(room.recipient(at(9_401), 1), (addr(3), 3), "the rival before is forgotten");
    }

    #[test]
    fn holder_that_answers_keeps_the_room() {
        let mut room = Tenancy::new(claim(1, 0));
        for round in 1..10 {
            let ms = round * 1_000;
            assert!(matches!(room.claim(at(ms), claim(2, ms)), Ok(Claimed::Held(Some(_)))), "{round}");
            assert_eq!(room.claim(at(ms + 50), claim(1, ms)), Ok(Claimed::Kept));
            assert!(room.challenge.is_none());
        }
        assert_eq!(room.addr(), addr(1));
    }

    #[test]
    fn recorded_claim_of_the_holder_answers_no_challenge() {
        let mut room = Tenancy::new(claim(1, 500));
        for ms in [1_000, 2_000, 3_000] {
            room.claim(at(ms), claim(2, 1_000)).unwrap();
            assert_eq!(room.claim(at(ms + 50), claim(1, 500)), Ok(Claimed::Kept));
        }
        assert_eq!(room.claim(at(4_000), claim(2, 1_000)), Ok(Claimed::Moved));
        assert_eq!(
            room.claim(at(4_100), claim(1, 500)),
            Err(RoomRefusal::Stale),
            "nor does it bring the room back"
        );
    }

    #[test]
    fn init_goes_to_holder_and_rival_in_turn() {
        let mut room = Tenancy::new(claim(1, 0));
        assert_eq!([0, 1].map(|repeats| room.recipient(at(1), repeats)), [(addr(1), 1); 2]);
        room.claim(at(10), claim(2, 10)).unwrap();
        let to = [0, 1, 2, 3].map(|repeats| room.recipient(at(11), repeats));
        assert_eq!(to, [(addr(1), 1), (addr(2), 2), (addr(1), 1), (addr(2), 2)]);
        assert!(room.may_answer(at(11), addr(1)) && room.may_answer(at(11), addr(2)));
        assert!(!room.may_answer(at(11), addr(3)));
        assert_eq!(room.ticket(), 10, "the newest");
        room.claim(at(60), Claim { nonce: 9, ..claim(1, 50) }).unwrap();
        assert_eq!((room.ticket(), room.recipient(at(60), 0)), (50, (addr(1), 9)));
        assert_eq!(room.claim(at(61), claim(3, 9)), Err(RoomRefusal::Stale));
        assert_eq!(room.recipient(at(60_010), 1).0, addr(1), "the rival is forgotten");
        assert!(!room.may_answer(at(60_010), addr(2)));
    }

    #[test]
    fn older_rival_does_not_replace_a_newer_one() {
        let mut room = Tenancy::new(claim(1, 0));
        room.claim(at(100), claim(2, 100)).unwrap();
        assert_eq!(room.claim(at(101), claim(3, 99)), Err(RoomRefusal::Stale));
        assert!(room.may_answer(at(102), addr(2)) && !room.may_answer(at(102), addr(3)));
    }
}
