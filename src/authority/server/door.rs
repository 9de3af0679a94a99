//! Datagrams of addresses without a seat: requests are answered, proofs begin trials, and passed trials become seats.

use super::guesses::Guesses;
use super::network::Network;
use super::trial::Trial;
use crate::authority::config::ServerConfig;
use crate::authority::dialect::{Answer, Challenges, Gate, Heard, Knock, MeetsStrangers};
use crate::peer::entropy::Entropy;
use crate::peer::refusal::Refusal;
use crate::time::Time;
use std::collections::VecDeque;
use std::net::SocketAddr;

/// The most answers to strangers that wait to be sent: as many as a driver receives before it sends.
const MAX_ANSWERS: usize = 256;

/// The most trials at once; the oldest makes room. A forger who guesses proofs from 100,000 addresses a second begins
/// three a second.
const MAX_TRIALS: usize = 64;

/// An address that has passed its trial.
#[derive(Debug)]
pub(super) struct Newcomer {
    pub(super) id: u8,
    pub(super) challenges: Challenges,
}

/// Everything that a server knows of addresses without a seat. All memory is taken at the start.
#[derive(Debug)]
pub(super) struct Door {
    gate: Gate,
    entropy: Entropy,
    /// Oldest first.
    trials: Vec<Trial>,
    max_trials_per_source: usize,
    guesses: Guesses,
    answers: VecDeque<(SocketAddr, Answer)>,
}

impl Door {
    pub(super) fn new(config: &ServerConfig, mut entropy: Entropy) -> Self {
        let mut key = || (entropy.next_u64(), entropy.next_u64());
        let (gate, places) = (key(), key());
        let guesses = Guesses::new(places, entropy.next_u64());
        Self {
            gate: Gate::new(config.wire, gate, config.seed),
            entropy,
            trials: Vec::with_capacity(MAX_TRIALS),
            max_trials_per_source: usize::from(config.max_clients_per_source),
            guesses,
            answers: VecDeque::with_capacity(MAX_ANSWERS),
        }
    }

    /// Takes in a datagram of a stranger, which would get the id `offer` now. Returns the newcomer if it gets a seat with it.
    pub(super) fn hear(
        &mut self,
        now: Time,
        from: SocketAddr,
        datagram: &[u8],
        offer: Option<u8>,
    ) -> Result<Option<Newcomer>, Refusal> {
        match self.gate.knock(now, from, datagram, offer)? {
            Knock::Answer(answer, second) => {
                if !self.has_room(1 + usize::from(second.is_some())) {
                    return Err(Refusal::NoRoom);
                }
                let answers = [Some(answer), second].into_iter().flatten();
                self.answers.extend(answers.map(|answer| (from, answer)));
                Ok(None)
            }
            Knock::Packet(heard) => self.hear_packet(now, from, datagram, heard, offer),
        }
    }

    fn has_room(&self, count: usize) -> bool {
        self.answers.len() + count <= MAX_ANSWERS
    }

    fn hear_packet(
        &mut self,
        now: Time,
        from: SocketAddr,
        datagram: &[u8],
        heard: Heard,
        offer: Option<u8>,
    ) -> Result<Option<Newcomer>, Refusal> {
        self.trials.retain(|trial| trial.addr != from || !trial.is_void(now));
        let at = match self.trials.iter().position(|trial| trial.addr == from) {
            Some(at) => at,
            None => self.begin_trial(now, from, heard, offer)?,
        };
        self.trials[at].hear(now, heard, datagram.len())?;
        if self.trials[at].is_passed() {
            let Trial { id, challenges, .. } = self.trials.remove(at);
            // Somebody else may have taken the id, or the last seat. The client asks again.
            return if offer == Some(id) {
                Ok(Some(Newcomer { id, challenges }))
            } else {
                Err(Refusal::Stranger)
            };
        }
        self.challenge(now, at, datagram)?;
        Ok(None)
    }

    /// Begins the trial of an address that has proven itself, and returns its place.
    fn begin_trial(
        &mut self,
        now: Time,
        from: SocketAddr,
        heard: Heard,
        offer: Option<u8>,
    ) -> Result<usize, Refusal> {
        let (Some(named), network) = (heard.named, Network::of(from)) else { return Err(Refusal::Stranger) };
        let is_proof = self.guesses.judge(now, network, heard.proves);
        let Some(id) = offer.filter(|_| is_proof) else { return Err(Refusal::Stranger) };
        self.trials.retain(|trial| !trial.is_void(now));
        let is_same = |trial: &Trial| Network::of(trial.addr) == network;
        if self.trials.iter().filter(|trial| is_same(trial)).count() >= self.max_trials_per_source {
            // A network makes room for itself, and not at the cost of others.
            let oldest = self.trials.iter().position(is_same);
            oldest.map(|at| self.trials.remove(at));
        } else if self.trials.len() == MAX_TRIALS {
            self.trials.remove(0);
        }
        self.trials.push(Trial::begin(now, from, id, named, heard.sequence));
        Ok(self.trials.len() - 1)
    }

    /// Queues the next challenge of a trial, if it is due.
    fn challenge(&mut self, now: Time, at: usize, datagram: &[u8]) -> Result<(), Refusal> {
        let (has_room, trial) = (self.has_room(1), &mut self.trials[at]);
        let number = trial.next_number(self.entropy.next_u64());
        let answer = self.gate.challenge(datagram, number)?;
        if has_room && trial.challenge(now, number, answer.len) {
            self.answers.push_back((trial.addr, answer));
        }
        Ok(())
    }

    /// The next answer to send.
    pub(super) fn next_answer(&mut self) -> Option<(SocketAddr, Answer)> {
        self.answers.pop_front()
    }
}
