//! The oracle: a direct simulation of the true inputs, with which every confirmed frame is compared.

use super::sim_peer::SimPeer;
use super::{Divergence, Play};
use crate::{Cues, Fields, Frame, Game, Inputs, Player, Visitor};
use std::fmt;

/// Makes the oracle's game from the agreed seed.
pub(super) type MakeDirect<G> = Box<dyn FnOnce(u32) -> G>;

/// Steps the game directly on the true inputs: those that each machine confirmed of its own player.
pub(super) struct Oracle<G> {
    build: fn(u32) -> G,
    /// Makes the game instead of `build`.
    pub(super) make: Option<MakeDirect<G>>,
    direct: Option<G>,
    /// The same game with neutral inputs; `None` beside a game that `make` made.
    idle: Option<G>,
    pub(super) checked: Frame,
    pub(super) influenced: u64,
    pub(super) divergence: Option<Divergence>,
    /// The true inputs of every checked frame, while they are recorded.
    pub(super) record: Option<Vec<Inputs>>,
}

impl<G: Game> Oracle<G> {
    pub(super) fn new(play: Play<G>) -> Self {
        Self {
            build: play.build,
            make: None,
            direct: None,
            idle: None,
            checked: Frame::ZERO,
            influenced: 0,
            divergence: None,
            record: None,
        }
    }

    /// Forgets the match, for another one of the same machines. A divergence that was found stays.
    pub(super) fn anew(&mut self) {
        (self.direct, self.idle, self.checked) = (None, None, Frame::ZERO);
    }

    pub(super) fn direct(&self) -> Option<&G> {
        self.direct.as_ref()
    }

    /// Whether there is a game with neutral inputs to compare with.
    pub(super) fn knows_idle(&self) -> bool {
        self.idle.is_some()
    }

    /// A copy of the oracle.
    ///
    /// # Panics
    ///
    /// When a closure is to make the game and has not been called yet.
    pub(super) fn fork(&self) -> Self
    where
        G: Clone,
    {
        assert!(self.make.is_none(), "a closure that makes the oracle's game cannot be copied");
        Self {
            build: self.build,
            make: None,
            direct: self.direct.clone(),
            idle: self.idle.clone(),
            checked: self.checked,
            influenced: self.influenced,
            divergence: self.divergence,
            record: self.record.clone(),
        }
    }

    /// Builds the games from the agreed seed, once a match.
    pub(super) fn begin(&mut self, seed: u32) {
        if self.direct.is_some() {
            return;
        }
        (self.direct, self.idle) = match self.make.take() {
            None => (Some((self.build)(seed)), Some((self.build)(seed))),
            Some(make) => (Some(make(seed)), None),
        };
    }

    /// Compares the oldest unchecked frame that both machines have confirmed. Returns whether there was one.
    pub(super) fn check(&mut self, machines: [&SimPeer<G>; 2]) -> bool {
        let Some(direct) = &mut self.direct else { return false };
        let [host, joiner] = machines;
        let (Some(&one), Some(&two)) = (host.confirmed.front(), joiner.confirmed.front()) else {
            return false;
        };
        let seats = [host.seat, joiner.seat];
        let mut truth = Inputs::default();
        for (seat, (_, inputs, _)) in seats.iter().zip([one, two]) {
            if let Some(player) = *seat {
                truth[player] = inputs[player];
            }
        }
        let mut cues = Cues::unseen();
        direct.step(truth, &mut cues);
        if let Some(record) = &mut self.record {
            record.push(truth);
        }
        let expected = digest(&direct.snapshot());
        for ((frame, inputs, digest), seat) in [one, two].into_iter().zip(seats) {
            let differs = digest.is_some_and(|digest| digest != expected);
            if self.divergence.is_none() && (inputs != truth || differs || frame != self.checked) {
                let player = seat.unwrap_or(Player::One);
                self.divergence = Some(Divergence { frame, player, inputs_differ: inputs != truth });
            }
        }
        if let Some(idle) = &mut self.idle {
            idle.step(Inputs::default(), &mut cues);
            self.influenced += u64::from(expected != digest(&idle.snapshot()));
        }
        self.checked = self.checked.next();
        true
    }
}

/// A digest of 64 bits, stronger than the checksum on the wire, so that no difference escapes the oracle.
pub(super) fn digest<S: Fields>(state: &S) -> u64 {
    struct Digest(u64);
    impl Visitor for Digest {
        fn leaf(&mut self, words: &[u32], _: &dyn fmt::Display) {
            for word in words {
                self.0 = (self.0.rotate_left(5) ^ u64::from(*word)).wrapping_mul(0x517C_C1B7_2722_0A95);
            }
        }
    }
    let mut digest = Digest(0);
    state.visit(&mut digest);
    digest.0
}
