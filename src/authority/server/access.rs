//! Datagrams of addresses without a seat: requests are answered, proofs begin trials, and passed trials become seats.

use super::event::NoSeat;
use super::guesses::Guesses;
use super::trial::Trial;
use crate::authority::config::ServerConfig;
use crate::authority::dialect::{Answer, Challenges, Heard, Stranger, Verdict, Wire};
use crate::channel::entropy::Entropy;
use crate::channel::keyed_hash::Key;
use crate::channel::refusal::Refusal;
use crate::channel::source::Source;
use crate::protocol::ConnectionStep;
use crate::protocol::time::Time;
use crate::protocol::trace;
use std::collections::VecDeque;
use std::net::SocketAddr;

/// The most answers to strangers that wait to be sent: as many as a driver receives before it sends.
const MAX_ANSWERS: usize = 256;

/// The most trials at once; the oldest makes room. A forger who guesses proofs from 100,000 addresses a second begins
/// three a second.
const MAX_TRIALS: usize = 64;

/// An address that has passed its trial, or has proven itself on an encrypted connection.
#[derive(Debug)]
pub(super) struct Newcomer {
    pub(super) addr: SocketAddr,
    pub(super) id: u8,
    pub(super) challenges: Challenges,
}

/// Everything that a server knows of addresses without a seat. All memory is taken at the start.
#[derive(Debug)]
pub(super) struct Access {
    /// The key of the proofs, and the seed of the world.
    key: Key,
    seed: u32,
    entropy: Entropy,
    /// Oldest first.
    trials: Vec<Trial>,
    max_trials_per_source: usize,
    guesses: Guesses,
    answers: VecDeque<(SocketAddr, Answer)>,
    vouched: Option<Vouched>,
}

/// The guest of an encrypted connection that was told of last. Another one is told of before each of its datagrams.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vouched {
    addr: SocketAddr,
    /// Whether it has answered a packet of ours, so that its own are no recorded ones.
    pub(super) is_confirmed: bool,
}

impl Access {
    pub(super) fn new(config: &ServerConfig, mut entropy: Entropy) -> Self {
        let mut key = || (entropy.next_u64(), entropy.next_u64());
        let (proofs, places) = (key(), key());
        let guesses = Guesses::new(places, entropy.next_u64());
        Self {
            key: proofs,
            seed: config.seed,
            entropy,
            trials: Vec::with_capacity(MAX_TRIALS),
            max_trials_per_source: usize::from(config.max_clients_per_source),
            guesses,
            answers: VecDeque::with_capacity(MAX_ANSWERS),
            vouched: None,
        }
    }

    /// Takes in a step of an encrypted connection.
    pub(super) fn connection(&mut self, addr: SocketAddr, step: ConnectionStep) {
        self.vouched = match step {
            ConnectionStep::Reached { .. } => Some(Vouched { addr, is_confirmed: false }),
            ConnectionStep::Confirmed { .. } => Some(Vouched { addr, is_confirmed: true }),
            ConnectionStep::Gone => self.vouched.filter(|vouched| vouched.addr != addr),
        };
    }

    /// The guest at this address, if its connection is encrypted.
    pub(super) fn vouched(&self, addr: SocketAddr) -> Option<Vouched> {
        self.vouched.filter(|vouched| vouched.addr == addr)
    }

    /// Takes in a datagram of a stranger, which would get the id `offer` now. Returns the newcomer if it gets a seat with it.
    pub(super) fn hear<W: Wire>(
        &mut self,
        now: Time,
        from: SocketAddr,
        datagram: &[u8],
        offer: Result<u8, NoSeat>,
    ) -> Result<Option<Newcomer>, Refusal> {
        // The packets of a guest that is only reached may be recorded ones.
        let is_confirmed = self.vouched(from).is_some_and(|guest| guest.is_confirmed);
        let newcomer = |number| {
            Ok(offer.ok().map(|id| Newcomer { addr: from, id, challenges: Challenges::after(number) }))
        };
        let stranger = Stranger { now, from, offer: offer.ok(), key: self.key, seed: self.seed };
        match W::judge(&stranger, datagram)? {
            Verdict::Offer(..) if is_confirmed => newcomer(self.entropy.next_u64() as u16),
            Verdict::Offer(answer, second) => self.answer(from, answer, second),
            Verdict::Refuse(answer) => {
                trace::seat_refused(from, &offer.err().unwrap_or(NoSeat::Version));
                self.answer(from, answer, None)
            }
            // The offer was in the handshake.
            Verdict::Packet(Heard { named: Some(named), proves: true, .. }) if is_confirmed => {
                newcomer(named)
            }
            Verdict::Packet(heard) => self.hear_packet::<W>(&stranger, datagram, heard),
        }
    }

    fn answer(
        &mut self,
        to: SocketAddr,
        first: Answer,
        second: Option<Answer>,
    ) -> Result<Option<Newcomer>, Refusal> {
        if !self.has_room(1 + usize::from(second.is_some())) {
            return Err(Refusal::NoRoom);
        }
        self.answers.extend([Some(first), second].into_iter().flatten().map(|answer| (to, answer)));
        Ok(None)
    }

    fn has_room(&self, count: usize) -> bool {
        self.answers.len() + count <= MAX_ANSWERS
    }

    fn hear_packet<W: Wire>(
        &mut self,
        stranger: &Stranger,
        datagram: &[u8],
        heard: Heard,
    ) -> Result<Option<Newcomer>, Refusal> {
        let Stranger { now, from, offer, .. } = *stranger;
        self.trials.retain(|trial| trial.addr() != from || !trial.is_void(now));
        let at = match self.trials.iter().position(|trial| trial.addr() == from) {
            Some(at) => at,
            None => self.begin_trial(stranger, heard)?,
        };
        self.trials[at].hear(now, heard, datagram.len())?;
        if let Some(newcomer) = self.trials[at].passed() {
            self.trials.remove(at);
            // Somebody else may have taken the id, or the last seat. The client asks again.
            return if offer == Some(newcomer.id) { Ok(Some(newcomer)) } else { Err(Refusal::Stranger) };
        }
        self.challenge::<W>(now, at, datagram)?;
        Ok(None)
    }

    /// Begins the trial of an address that has proven itself, and returns its place.
    fn begin_trial(&mut self, stranger: &Stranger, heard: Heard) -> Result<usize, Refusal> {
        let Stranger { now, from, offer, .. } = *stranger;
        let (named, source) = (heard.named.ok_or(Refusal::Stranger)?, Source::customer(from));
        let is_proof = self.guesses.judge(now, source, heard.proves);
        let id = offer.filter(|_| is_proof).ok_or(Refusal::Stranger)?;
        self.trials.retain(|trial| !trial.is_void(now));
        let is_same = |trial: &Trial| Source::customer(trial.addr()) == source;
        if self.trials.iter().filter(|trial| is_same(trial)).count() >= self.max_trials_per_source {
            // A source makes room for itself, and not at the cost of others.
            let oldest = self.trials.iter().position(is_same);
            oldest.map(|at| self.trials.remove(at));
        } else if self.trials.len() == MAX_TRIALS {
            self.trials.remove(0);
        }
        self.trials.push(Trial::begin(now, from, id, named, heard.sequence));
        Ok(self.trials.len() - 1)
    }

    /// Queues the next challenge of a trial, if it is due.
    fn challenge<W: Wire>(&mut self, now: Time, at: usize, datagram: &[u8]) -> Result<(), Refusal> {
        let (has_room, trial) = (self.has_room(1), &mut self.trials[at]);
        let number = trial.next_number(self.entropy.next_u64());
        let answer = W::challenge(datagram, number)?;
        if has_room && trial.challenge(now, number, answer.len) {
            self.answers.push_back((trial.addr(), answer));
        }
        Ok(())
    }

    /// The next answer to send.
    pub(super) fn next_answer(&mut self) -> Option<(SocketAddr, Answer)> {
        self.answers.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authority::{GameWire, RtypeWire};
    use crate::protocol::time::Span;
    use crate::wire::control::{ControlHeader, ControlPacket, ControlPayload};

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn addr(n: u8, port: u16) -> SocketAddr {
        SocketAddr::from(([192, 0, 2, n], port))
    }

    fn access(max_per_source: u8) -> Access {
        let mut config = ServerConfig::new(1);
        config.max_clients_per_source = max_per_source;
        Access::new(&config, Entropy::new(1))
    }

    fn packet(sequence: u16, ack: u16, payload: &ControlPayload<'_>) -> Vec<u8> {
        let mut buf = [0; 64];
        let len =
            ControlPacket::encode(&ControlHeader { sequence, ack, ack_bits: 0 }, payload, &mut buf).unwrap();
        buf[..len].to_vec()
    }

    /// The number of the next answer, which has to be for `from`.
    fn answered(access: &mut Access, from: SocketAddr) -> u16 {
        let (to, answer) = access.next_answer().expect("an answer");
        assert_eq!(to, from);
        ControlPacket::decode(&answer.bytes[..answer.len]).unwrap().header.sequence
    }

    /// Asks and proves the address; returns the number of the first challenge.
    fn prove(access: &mut Access, now: Time, from: SocketAddr) -> u16 {
        access.hear::<GameWire>(now, from, &packet(1, 0, &ControlPayload::ConnectReq), Ok(7)).unwrap();
        let proof = answered(access, from);
        assert!(
            access
                .hear::<GameWire>(now, from, &packet(2, proof, &ControlPayload::Heartbeat), Ok(7))
                .unwrap()
                .is_none()
        );
        answered(access, from)
    }

    fn has_trial(access: &Access, from: SocketAddr) -> bool {
        access.trials.iter().any(|trial| trial.addr() == from)
    }

    #[test]
    fn source_makes_room_for_its_own_trials_only() {
        let mut access = access(3);
        prove(&mut access, at(0), addr(9, 1));
        (1..=5).for_each(|port| {
            prove(&mut access, at(1), addr(1, port));
        });
        assert_eq!(
            [1, 2, 3, 4, 5].map(|port| has_trial(&access, addr(1, port))),
            [false, false, true, true, true]
        );
        assert!(has_trial(&access, addr(9, 1)));
    }

    #[test]
    fn oldest_of_64_trials_makes_room() {
        let mut access = access(3);
        (0..=64).for_each(|n| {
            prove(&mut access, at(1), addr(n, 1));
        });
        assert_eq!(access.trials.len(), 64);
        assert!(
            !has_trial(&access, addr(0, 1))
                && has_trial(&access, addr(1, 1))
                && has_trial(&access, addr(64, 1))
        );
        // Those that are silent go first.
        prove(&mut access, at(5_002), addr(99, 1));
        assert_eq!(access.trials.len(), 1);
    }

    #[test]
    fn passed_trial_is_a_seat_if_its_id_is_still_free() {
        for (offer, is_seated) in [(Ok(7), true), (Ok(8), false), (Err(NoSeat::Full), false)] {
            let (mut access, from) = (access(3), addr(1, 1));
            let mut number = prove(&mut access, at(0), from);
            for n in 1..4 {
                let now = at(u64::from(n) * 25);
                let heard = access.hear::<GameWire>(
                    now,
                    from,
                    &packet(2 + n, number, &ControlPayload::Heartbeat),
                    Ok(7),
                );
                assert!(heard.unwrap().is_none(), "{n} challenges");
                number = answered(&mut access, from);
            }
            let heard =
                access.hear::<GameWire>(at(100), from, &packet(9, number, &ControlPayload::Heartbeat), offer);
            assert_eq!(matches!(heard, Ok(Some(Newcomer { id: 7, .. }))), is_seated, "{offer:?}");
            assert!(!has_trial(&access, from));
        }
    }

    #[test]
    fn ping_in_a_trial_is_answered_with_its_pong() {
        let (mut access, from) = (access(3), addr(1, 1));
        let number = prove(&mut access, at(0), from);
        access.hear::<GameWire>(at(25), from, &packet(3, number, &ControlPayload::Ping(77)), Ok(7)).unwrap();
        let (_, answer) = access.next_answer().expect("an answer");
        let packet = ControlPacket::decode(&answer.bytes[..answer.len]).unwrap();
        assert_eq!((packet.payload, packet.header.ack), (ControlPayload::Pong(77), 3));
    }

    fn step(is_confirmed: bool) -> ConnectionStep {
        let (round_trip, role) = (core::time::Duration::ZERO, crate::protocol::PeerRole::Player);
        match is_confirmed {
            true => ConnectionStep::Confirmed { round_trip, role },
            false => ConnectionStep::Reached { round_trip, role },
        }
    }

    /// The packets in the handshake of a guest may be recorded ones. Those on a confirmed connection are not.
    #[test]
    fn confirmed_guest_is_seated_and_a_reached_one_is_not() {
        let (guest, request) = (addr(1, 1), packet(1, 0, &ControlPayload::ConnectReq));
        let mut reached = access(3);
        reached.connection(guest, step(false));
        assert!(reached.hear::<GameWire>(at(0), guest, &request, Ok(7)).unwrap().is_none());
        let proof = packet(2, answered(&mut reached, guest), &ControlPayload::Heartbeat);
        assert!(reached.hear::<GameWire>(at(0), guest, &proof, Ok(7)).unwrap().is_none(), "a trial");

        let seated = |access: &mut Access, datagram: &[u8]| {
            access.connection(guest, step(true));
            let seated = access.hear::<GameWire>(at(1), guest, datagram, Ok(7)).unwrap().expect("a seat");
            assert!(seated.id == 7 && access.next_answer().is_none());
            seated.challenges
        };
        let (mut offered, mut confirmed) = (access(3), access(3));
        offered.connection(guest, step(false));
        offered.hear::<GameWire>(at(0), guest, &request, Ok(7)).unwrap();
        let number = answered(&mut offered, guest);
        let proof = packet(2, number, &ControlPayload::Heartbeat);
        assert_eq!(seated(&mut offered, &proof).last(), number, "by the offer in its handshake");
        seated(&mut confirmed, &request);
        assert!(
            confirmed.hear::<GameWire>(at(1), guest, &request, Err(NoSeat::Full)).unwrap().is_none(),
            "there is no seat"
        );
        assert_eq!(confirmed.next_answer().map(|(to, _)| to), Some(guest));
    }

    #[test]
    fn only_the_guest_that_was_told_of_is_vouched_for() {
        let (mut access, guest, other) = (access(3), addr(1, 1), addr(1, 2));
        access.connection(guest, step(true));
        assert!(access.vouched(guest).is_some() && access.vouched(other).is_none());
        assert!(
            access
                .hear::<GameWire>(at(0), other, &packet(1, 0, &ControlPayload::ConnectReq), Ok(7))
                .unwrap()
                .is_none()
        );
        assert_eq!(access.next_answer().map(|(to, _)| to), Some(other), "a proof first");
        access.connection(other, ConnectionStep::Gone);
        assert!(access.vouched(guest).is_some());
        access.connection(guest, ConnectionStep::Gone);
        assert!(access.vouched(guest).is_none());
    }

    /// A request of R-Type, which is answered with two datagrams if there is a seat and with one if there is none.
    fn hello(access: &mut Access, offer: Result<u8, NoSeat>) -> Result<(), Refusal> {
        access.hear::<RtypeWire>(at(0), addr(1, 1), &[0x10, 1, 0, 9, 1, b'x'], offer).map(|_| ())
    }

    #[test]
    fn offer_is_queued_whole_or_not_at_all() {
        let mut access = Access::new(&ServerConfig::new(1), Entropy::new(1));
        hello(&mut access, Err(NoSeat::Full)).unwrap();
        (0..127).for_each(|n| hello(&mut access, Ok(7)).unwrap_or_else(|_| panic!("offer {n}")));
        assert_eq!(hello(&mut access, Ok(7)), Err(Refusal::NoRoom), "room for one of two");
        assert_eq!(hello(&mut access, Err(NoSeat::Full)), Ok(()));
        assert_eq!(hello(&mut access, Err(NoSeat::Full)), Err(Refusal::NoRoom));
        assert_eq!(core::iter::from_fn(|| access.next_answer()).count(), 256);
    }

    #[test]
    fn challenge_that_finds_no_room_is_not_queued() {
        let (mut access, from) = (access(3), addr(1, 1));
        let number = prove(&mut access, at(0), from);
        let request = packet(1, 0, &ControlPayload::ConnectReq);
        (0..256).for_each(|_| assert!(access.hear::<GameWire>(at(1), addr(2, 1), &request, Ok(9)).is_ok()));
        let heartbeat = packet(3, number, &ControlPayload::Heartbeat);
        assert!(access.hear::<GameWire>(at(25), from, &heartbeat, Ok(7)).unwrap().is_none());
        assert!(core::iter::from_fn(|| access.next_answer()).all(|(to, _)| to != from));
        assert!(access.hear::<GameWire>(at(26), from, &heartbeat, Ok(7)).unwrap().is_none());
        assert_eq!(answered(&mut access, from).wrapping_sub(number).cast_signed().signum(), 1);
    }

    #[test]
    fn ended_trial_does_not_go_on() {
        let (mut access, from) = (access(3), addr(1, 1));
        let number = prove(&mut access, at(0), from);
        let beat = |ack| packet(3, ack, &ControlPayload::Heartbeat);
        for _ in 0..16 {
            let wrong = access.hear::<GameWire>(at(25), from, &beat(number.wrapping_sub(2_000)), Ok(7));
            assert_eq!(wrong.map(|_| ()), Err(Refusal::AckUnsent));
        }
        let right = access.hear::<GameWire>(at(25), from, &beat(number), Ok(7));
        assert_eq!(right.map(|_| ()), Err(Refusal::Stranger), "a challenge is no proof");
    }

    #[test]
    fn numbers_of_challenges_cannot_be_foreseen() {
        let (mut access, from) = (access(3), addr(1, 1));
        let mut number = prove(&mut access, at(0), from);
        let gaps: Vec<u16> = (1..4)
            .map(|n| {
                let heartbeat = packet(2 + n, number, &ControlPayload::Heartbeat);
                access.hear::<GameWire>(at(u64::from(n) * 25), from, &heartbeat, Ok(7)).unwrap();
                let last = core::mem::replace(&mut number, answered(&mut access, from));
                number.wrapping_sub(last)
            })
            .collect();
        assert!(
            gaps.iter().all(|gap| (1..=1_024).contains(gap)) && gaps.iter().any(|gap| *gap > 1),
            "{gaps:?}"
        );
    }

    #[test]
    fn wrong_proofs_of_a_source_are_counted() {
        let mut access = access(8);
        let mut proves = |port: u16, wrong: u16| {
            access
                .hear::<GameWire>(at(1), addr(1, port), &packet(1, 0, &ControlPayload::ConnectReq), Ok(7))
                .unwrap();
            let proof = answered(&mut access, addr(1, port)).wrapping_add(wrong);
            let heartbeat = packet(2, proof, &ControlPayload::Heartbeat);
            let heard = access.hear::<GameWire>(at(1), addr(1, port), &heartbeat, Ok(7));
            core::iter::from_fn(|| access.next_answer()).count();
            heard.is_ok()
        };
        assert!((0..100).all(|port| !proves(port, 1)));
        let right = (100..200).filter(|port| proves(*port, 0)).count();
        assert!(right < 30, "one in 16 is looked at: {right}");
    }
}
