//! The knowledge of an attacker who sees the whole traffic of a connection.

use super::message_of;
use crate::lab::{HOST, JOINER, Overheard, SimMatch};
use crate::wire::control::ControlHeader;
use crate::wire::message::Message;
use crate::{Game, Input};

/// The numbers, nonces and packets that an attacker knows who has seen a whole connection. They are collected from a
/// match that is [eavesdropped on](SimMatch::eavesdrop) from its start.
#[derive(Clone, Debug)]
pub struct Knows {
    /// The first frame of the match on the wire; 1000 if there is none yet.
    pub first: u32,
    /// The next input that the victim expects.
    pub known: u32,
    /// One past the newest input that the victim has sent.
    pub sent: u32,
    /// The buttons of the newest input that the victim has.
    pub newest: Input,
    /// The header that the victim takes for its peer's next.
    pub header: ControlHeader,
    /// The number of the victim's newest control packet.
    pub victims: u16,
    /// The joiner's nonce.
    pub nonce: u64,
    /// The token of the match.
    pub token: u64,
    /// The number of the first ordered message that the victim takes of its peer.
    pub first_number: u16,
    /// The seat of the joiner, as a CONNECT_ACK has it.
    pub seat: u8,
    /// The first input packet of the peer.
    pub oldest: Vec<u8>,
    /// The newest input packet of the peer.
    pub last: Vec<u8>,
}

impl Knows {
    /// The knowledge for an attack on the machine `victim`.
    ///
    /// # Panics
    ///
    /// When nobody eavesdrops on the match.
    #[must_use]
    pub fn of<G: Game>(sim: &SimMatch<G>, victim: usize) -> Self {
        let (here, there) = overheard(sim, victim);
        let newest = |id, label| sim.said_by(id, label).first().copied().and_then(message_of);
        let nonce = match newest(JOINER, "HELLO") {
            Some(Message::Hello(hello)) => hello.nonce,
            _ => 0,
        };
        let (first, token, seat) = match newest(HOST, "OFFER") {
            Some(Message::Offer(offer)) => (offer.first_frame.0, offer.token, offer.seat.index() as u8 + 1),
            _ => (1_000, 0, 2),
        };
        Self {
            first,
            known: first,
            sent: first,
            newest: here.heard_newest,
            header: ControlHeader::default(),
            victims: 0,
            nonce,
            token,
            first_number: if victim == HOST { (token >> 16) as u16 } else { token as u16 },
            seat,
            oldest: sim.said_by(1 - victim, "RBN1").pop().map(<[u8]>::to_vec).unwrap_or_default(),
            last: there.last_input.clone(),
        }
        .now(sim, victim)
    }

    /// The same with the numbers of this moment, which are followed even when no datagrams are recorded.
    ///
    /// # Panics
    ///
    /// When nobody eavesdrops on the match.
    #[must_use]
    pub fn now<G: Game>(mut self, sim: &SimMatch<G>, victim: usize) -> Self {
        let (here, there) = overheard(sim, victim);
        if here.heard_end != 0 {
            (self.known, self.newest) = (here.heard_end, here.heard_newest);
        }
        if here.said_end != 0 {
            self.sent = here.said_end;
        }
        let newest = |of: &Overheard| of.header.map_or(0, |header| header.sequence);
        self.victims = newest(here);
        // The peer's own acks are the ones that the victim certainly takes.
        let said = there.header.unwrap_or_default();
        self.header = if said.ack == 0 {
            ControlHeader { sequence: newest(there).wrapping_add(1), ack: newest(here), ack_bits: 0 }
        } else {
            ControlHeader { sequence: newest(there).wrapping_add(1), ..said }
        };
        self
    }
}

/// The overheard numbers of the victim, and of its peer.
fn overheard<G: Game>(sim: &SimMatch<G>, victim: usize) -> (&Overheard, &Overheard) {
    let of = |id: usize| sim.machine(id).overheard.as_ref().expect("somebody eavesdrops on the match");
    (of(victim), of(1 - victim))
}
