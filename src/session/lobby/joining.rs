//! The joiner's side of the handshake.

use super::Role;
use super::agreement::{Agreed, LobbyError};
use super::measuring::{self, Measuring};
use super::transfer::{Complete, Progress, Receiver};
use crate::channel::entropy::Entropy;
use crate::channel::probes::Probes;
use crate::channel::refusal::Refusal;
use crate::channel::sequence::Sequences;
use crate::protocol::time::{Span, Time};
use crate::protocol::trace;
use crate::session::config::Config;
use crate::session::first_state::FirstState;
use crate::session::peer::link::Link;
use crate::wire::Numbering;
use crate::wire::control::{ControlHeader, ControlPayload};
use crate::wire::message::{
    Challenge, FirstStateAck, FirstStatePart, Hello, Message, Offer, Refuse, RefuseField,
};
use core::time::Duration;
use std::net::SocketAddr;

/// The interval at which a joiner retransmits HELLO or CONNECT_REQ, or asks for the first state again.
pub(super) const RETRANSMIT_AFTER: Span = Span::from_millis(200);

/// One in this many sends of a joiner with an offer is a HELLO instead of a CONNECT_REQ. The host may have forgotten
/// the joiner, or have sent this many packets since the OFFER that its sequence number can no longer be acked.
const HELLO_AGAIN_EVERY: u32 = 5;

/// How many HELLOs an answer may be measured by.
const HELLOS: usize = 8;

/// The host that this machine joins, and the stage of the handshake.
#[derive(Clone, Debug)]
pub(super) struct Joining {
    link: Link,
    nonce: u64,
    cookie: u64,
    /// The sequence numbers of the newest HELLOs and when they were sent: a CHALLENGE acks the one that it answers.
    hellos: Probes<u16, HELLOS>,
    /// The round trip of the first HELLO that was answered.
    first_trip: Option<Span>,
    /// `None` if the delay is chosen.
    measuring: Option<Measuring>,
    next: Time,
    /// Counts sends: from 0 on after a CHALLENGE, from 1 on after an OFFER, which makes the next four CONNECT_REQs.
    sends: u32,
    offer: Option<Taken>,
    /// The token of an earlier OFFER that the host has replaced; late copies of it are refused.
    outdated: Option<u64>,
}

/// An OFFER of the host, to be confirmed by a CONNECT_REQ.
#[derive(Clone, Debug)]
struct Taken {
    terms: Agreed,
    /// The RTT that the host's delay is for, if it was measured.
    round_trip: Option<Span>,
    /// The sequence number of the first HELLO since the OFFER, sent because no CONNECT_REQ was answered.
    asked_again: Option<u16>,
    /// The host's first state, while parts of it are missing.
    receiving: Option<Receiver>,
}

impl Joining {
    pub(super) fn new(now: Time, addr: SocketAddr, config: &Config, entropy: &mut Entropy) -> Self {
        let mut link = Link::new(now, addr, config.game.frame_rate.frame_length().into(), entropy);
        let measuring = config.rollback.delay_frames.is_none().then(Measuring::default);
        if measuring.is_some() {
            link.ping_quickly();
        }
        Self {
            link,
            nonce: entropy.next_u64(),
            cookie: 0,
            hellos: Probes::new(),
            first_trip: None,
            measuring,
            next: now,
            sends: 0,
            offer: None,
            outdated: None,
        }
    }

    pub(super) fn link(&self) -> &Link {
        &self.link
    }

    pub(super) fn link_mut(&mut self) -> &mut Link {
        &mut self.link
    }

    pub(super) fn nonce(&self) -> u64 {
        self.nonce
    }

    /// The terms of the host's OFFER.
    pub(super) fn terms(&self) -> Option<&Agreed> {
        self.offer.as_ref().map(|taken| &taken.terms)
    }

    /// Notes the round trip of a sealed handshake, which takes the place of the CHALLENGE's. The next packet is due at once,
    /// because the host waits for it before it pings.
    pub(super) fn sealed(&mut self, now: Time, rtt: Span) {
        self.link.sealed();
        self.first_trip.get_or_insert(rtt);
        self.next = self.next.min(now);
    }

    /// Notes a PING of the host, which answers ours too by now.
    pub(super) fn pinged(&mut self, now: Time) {
        if let Some(measuring) = &mut self.measuring {
            measuring.begin(now);
        }
    }

    /// Checks the sequence number and the acks of a packet from the host. Before the first OFFER only the acks are
    /// checked: the host's sequence numbers are unknown until then, and a forged packet must not set them.
    pub(super) fn check(&self, header: ControlHeader) -> Result<(), Refusal> {
        if self.offer.is_some() { self.link.check(header) } else { self.link.check_ack(header) }
    }

    /// Handles an answer to our HELLO. The outer `Err` refuses the packet; the inner one is the host's refusal.
    pub(super) fn answer(
        &mut self,
        now: Time,
        config: &Config,
        header: ControlHeader,
        message: &Message<'_>,
    ) -> Result<Result<(), LobbyError>, Refusal> {
        let (Message::Challenge(Challenge { nonce, .. })
        | Message::Offer(Offer { nonce, .. })
        | Message::Refuse(Refuse { nonce, .. })) = message
        else {
            return Err(Refusal::OutOfPlace);
        };
        if *nonce != self.nonce {
            return Err(Refusal::WrongNonce);
        }
        // The answer to such a HELLO is no late copy: it is the host's current OFFER. A forged one may have replaced it
        // here, and forged packets may have moved the sequence numbers out of its reach.
        let asked_again = self.offer.as_ref().and_then(|taken| taken.asked_again);
        let is_current = asked_again.is_some_and(|hello| Sequences::acknowledges_since(header, hello));
        match (message, &self.offer) {
            (Message::Challenge(challenge), _) => {
                if let Some(said_at) = self.hellos.answered(header.ack) {
                    self.first_trip.get_or_insert(now.since(said_at));
                }
                if self.cookie != challenge.cookie {
                    (self.cookie, self.next, self.sends) = (challenge.cookie, now, 0);
                    trace::handshake(self.link.addr(), "challenged");
                }
            }
            (Message::Offer(offer), Some(taken))
                if offer.token == taken.terms.token && (!is_current || self.link.check(header).is_ok()) =>
            {
                self.link.check(header)?;
                self.link.heard(header);
            }
            (Message::Offer(offer), taken) if is_current || self.outdated != Some(offer.token) => {
                self.link.check_ack(header)?;
                let limit = config.lobby.first_state_limit;
                if offer.first_state_len > limit {
                    let (ours, theirs) = (limit.into(), offer.first_state_len.into());
                    return Ok(Err(LobbyError::Incompatible {
                        field: RefuseField::FirstState,
                        ours,
                        theirs,
                    }));
                }
                // The OFFER proves its sequence number, because only the host knows our nonce. After an earlier offer
                // the host has forgotten us in between, and its sequence numbers begin again.
                self.outdated = taken.as_ref().map(|taken| taken.terms.token);
                self.link.heard_for_certain(header);
                let Offer { token, first_state_len: len, first_state_hash: hash, .. } = *offer;
                let receiving = (len > 0).then(|| Receiver::new(now, token, len, hash));
                self.offer = Some(Taken {
                    terms: self.terms_of(config, offer),
                    round_trip: measuring::from_wire(offer.round_trip),
                    asked_again: None,
                    receiving,
                });
                self.pinged(now);
                (self.next, self.sends) = (now, 1);
                trace::handshake(self.link.addr(), "offer received");
            }
            (Message::Refuse(refuse), None) => {
                trace::handshake(self.link.addr(), "refused by the host");
                return Ok(Err(match refuse.field {
                    RefuseField::Full => LobbyError::Full,
                    RefuseField::Declined => LobbyError::Declined,
                    // The host's `ours` is our `theirs`.
                    field => LobbyError::Incompatible { field, ours: refuse.theirs, theirs: refuse.ours },
                }));
            }
            _ => return Err(Refusal::OutOfPlace),
        }
        Ok(Ok(()))
    }

    /// Takes in a part of the host's first state. The first state was damaged if an acknowledgement is returned, which
    /// tells the host.
    pub(super) fn part(
        &mut self,
        now: Time,
        part: &FirstStatePart<'_>,
    ) -> Result<Option<FirstStateAck>, Refusal> {
        let Some(taken) = &mut self.offer else { return Err(Refusal::OutOfPlace) };
        let receiver = taken.receiving.as_mut().ok_or(Refusal::OutOfPlace)?;
        match receiver.take(now, part)? {
            None => Ok(None),
            Some(Complete::Damaged) => Ok(Some(receiver.acknowledge())),
            Some(Complete::Intact(first_state)) => {
                (taken.terms.first_state, taken.receiving) = (first_state, None);
                // CONNECT_REQ at once.
                (self.next, self.sends) = (now, 1);
                trace::handshake(self.link.addr(), "first state received");
                Ok(None)
            }
        }
    }

    /// Whether parts of the host's first state are missing.
    pub(super) fn is_receiving(&self) -> bool {
        self.receiving().is_some()
    }

    fn receiving(&self) -> Option<&Receiver> {
        self.offer.as_ref()?.receiving.as_ref()
    }

    /// How much of the host's first state is here.
    pub(super) fn progress(&self) -> Option<Progress> {
        let whole = self.terms().map_or(0, |terms| terms.first_state.len() as u32);
        let whole = (whole > 0).then_some(Progress { bytes: whole, of: whole, since: None });
        self.receiving().map(Receiver::progress).or(whole)
    }

    /// Ends the handshake if there is an offer: the host has confirmed it. Without a chosen delay the joiner takes the one
    /// that both sides' measurements suggest, near the host's: that is a claim, which must not slow the joiner down.
    pub(super) fn conclude(mut self, config: &Config) -> Role {
        if self.is_receiving() {
            return Role::Join(self);
        }
        let Some(Taken { mut terms, round_trip, .. }) = self.offer.take() else { return Role::Join(self) };
        let mut link = self.link;
        if self.measuring.is_some() {
            let rtt = measuring::agreed_trip(link.rtt(), round_trip, self.first_trip);
            let own = measuring::suggested_delay(rtt, config);
            let beside_hosts = round_trip.map(|_| measuring::beside(own, terms.peer_delay_frames));
            terms.delay_frames = beside_hosts.unwrap_or(own).min(config.max_delay_frames());
        }
        terms.round_trip = link.rtt().smoothed().or(self.first_trip).map(Duration::from);
        link.begin(terms.token, false, None);
        Role::Agreed(link, terms)
    }

    /// The terms of the host's offer, from the joiner's point of view.
    fn terms_of(&self, config: &Config, offer: &Offer<'_>) -> Agreed {
        let announced_delay_frames = config.rollback.delay_frames.unwrap_or(0);
        Agreed {
            peer: self.link.addr(),
            seat: offer.seat,
            seed: offer.seed,
            first_state: FirstState::default(),
            is_host: false,
            user_data: offer.user_data.to_vec(),
            delay_frames: announced_delay_frames,
            peer_delay_frames: offer.delay_frames,
            peer_window_frames: offer.window_frames,
            round_trip: None,
            token: offer.token,
            numbering: Numbering::new(offer.first_frame),
            cadence_frames: offer.cadence_frames,
            nonce: self.nonce,
            announced_delay_frames,
            extensions: config.capabilities().shared_with(offer.capabilities),
        }
    }

    pub(super) fn poll_transmit(&mut self, now: Time, config: &Config, buf: &mut [u8]) -> Option<usize> {
        if now < self.next() {
            if self.receiving().is_some_and(|receiver| receiver.ack_at() <= now) {
                return self.write_ack(buf);
            }
            return if self.has_contact() { self.link.poll_transmit(now, buf) } else { None };
        }
        self.next = now + RETRANSMIT_AFTER;
        self.sends = self.sends.wrapping_add(1);
        if self.offer.is_some() && self.sends % HELLO_AGAIN_EVERY != 1 {
            if self.is_receiving() {
                return self.write_ack(buf);
            }
            return self.link.write(now, &ControlPayload::ConnectReq, buf);
        }
        self.write_hello(now, config, buf)
    }

    /// When a HELLO or CONNECT_REQ is due. A CONNECT_REQ waits for the measurement of the link.
    fn next(&self) -> Time {
        let measured_at = match (&self.offer, self.measuring) {
            (Some(Taken { receiving: None, .. }), Some(measuring)) => measuring.done_at(self.link.rtt()),
            _ => Time::ZERO,
        };
        self.next.max(measured_at)
    }

    /// Whether the host takes other packets than a HELLO by now: it has pinged, or sent an OFFER.
    fn has_contact(&self) -> bool {
        let is_measuring = self.measuring.is_some_and(|measuring| measuring.has_begun());
        is_measuring || self.offer.is_some() || self.link.owes_pong()
    }

    /// Writes the acknowledgement of the parts that are here.
    fn write_ack(&mut self, buf: &mut [u8]) -> Option<usize> {
        let ack = self.offer.as_mut()?.receiving.as_mut()?.acknowledge();
        Message::FirstStateAck(ack).encode_outside(buf).ok()
    }

    pub(super) fn write_hello(&mut self, now: Time, config: &Config, buf: &mut [u8]) -> Option<usize> {
        let hello = Hello {
            nonce: self.nonce,
            cookie: self.cookie,
            game_id: config.game.id,
            content_hash: config.game.content_hash,
            frame_rate: config.game.frame_rate,
            delay_frames: config.rollback.delay_frames.unwrap_or(0),
            window_frames: config.rollback.window_frames,
            round_trip: measuring::to_wire(self.measuring.and_then(|_| self.link.rtt().percentile_75())),
            axes: config.game.axes,
            pads: config.game.pads,
            first_state_limit: config.lobby.first_state_limit,
            capabilities: config.capabilities(),
            user_data: &config.lobby.user_data,
        };
        let header = self.link.stamp(now);
        if let Some(taken) = &mut self.offer {
            taken.asked_again.get_or_insert(header.sequence);
        }
        self.hellos.sent(now, header.sequence);
        Message::Hello(hello).encode_packet(&header, buf).ok()
    }

    pub(super) fn poll_timeout(&self) -> Time {
        if self.has_contact() {
            let ack_at = self.receiving().map_or(Time::NEVER, Receiver::ack_at);
            self.next().min(self.link.poll_timeout()).min(ack_at)
        } else {
            self.next()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Player;
    use crate::wire::WireFrame;
    use crate::wire::control::ControlPacket;
    use crate::wire::message::Extensions;

    fn joining(config: &Config) -> Joining {
        Joining::new(Time::ZERO, ([192, 0, 2, 1], 7_000).into(), config, &mut Entropy::new(1))
    }

    /// Says HELLO; its sequence number.
    fn hello(joining: &mut Joining, config: &Config) -> u16 {
        let mut buf = [0; 1_200];
        let len = joining.write_hello(Time::ZERO, config, &mut buf).unwrap();
        ControlPacket::decode(&buf[..len]).unwrap().header.sequence
    }

    /// The token of the offer after an OFFER with this one, in answer to the packet `ack`.
    fn offered(joining: &mut Joining, config: &Config, ack: u16, token: u64) -> Option<u64> {
        let header = ControlHeader { sequence: 9, ack, ack_bits: 0 };
        let offer = Offer {
            nonce: joining.nonce,
            first_frame: WireFrame(1),
            seed: 1,
            seat: Player::Two,
            delay_frames: 0,
            window_frames: 8,
            round_trip: 0,
            cadence_frames: 30,
            capabilities: Extensions::NONE,
            token,
            first_state_len: 0,
            first_state_hash: 0,
            user_data: b"",
        };
        let _ = joining.answer(Time::ZERO, config, header, &Message::Offer(offer));
        joining.offer.as_ref().map(|taken| taken.terms.token)
    }

    /// The delay that the joiner takes beside a host that offers this delay, for this RTT in units of 100 µs.
    fn taken_delay(delay_frames: u8, round_trip: u16) -> u8 {
        let config = Config::new(1);
        let mut joining = joining(&config);
        let ack = hello(&mut joining, &config);
        offered(&mut joining, &config, ack, 1);
        for _ in 0..8 {
            joining.link.measured(Span::from_millis(100));
        }
        if let Some(taken) = &mut joining.offer {
            (taken.terms.peer_delay_frames, taken.round_trip) =
                (delay_frames, measuring::from_wire(round_trip));
        }
        let Role::Agreed(_, agreed) = joining.conclude(&config) else { panic!("an agreement") };
        agreed.delay_frames
    }

    #[test]
    fn host_that_lies_moves_the_delay_by_two_frames_at_most() {
        assert_eq!(taken_delay(1, 1_000), 1, "both have measured 100 ms");
        assert_eq!(taken_delay(2, 1_200), 2, "the same delay");
        assert_eq!(taken_delay(24, 60_000), 3, "one frame, and two for the claim");
        assert_eq!(taken_delay(24, 0), 1, "a chosen delay has no part in it");
        assert_eq!((taken_delay(0, 400), taken_delay(0, 1)), (0, 0), "the host has measured less");
    }

    #[test]
    fn connect_req_waits_for_the_measurement() {
        let config = Config::new(1);
        let (mut joining, mut buf) = (joining(&config), [0; 1_200]);
        assert!(!joining.has_contact());
        let ack = hello(&mut joining, &config);
        offered(&mut joining, &config, ack, 1);
        assert_eq!(joining.next(), Time::ZERO + Span::from_secs(2), "no ping is answered");
        for _ in 0..8 {
            joining.link.measured(Span::from_millis(40));
        }
        assert_eq!(joining.next(), Time::ZERO);
        let len = joining.poll_transmit(Time::ZERO, &config, &mut buf).expect("a packet");
        assert_eq!(ControlPacket::decode(&buf[..len]).unwrap().payload, ControlPayload::ConnectReq);
    }

    #[test]
    fn offer_that_answers_any_later_hello_is_current() {
        let config = Config::new(1);
        let mut joining = joining(&config);
        let first = hello(&mut joining, &config);
        assert_eq!(offered(&mut joining, &config, first, 1), Some(1));
        assert_eq!(
            offered(&mut joining, &config, first, 2),
            Some(2),
            "the host has forgotten us, or it is forged"
        );
        assert_eq!(offered(&mut joining, &config, first, 1), Some(2), "a late copy");
        let again = hello(&mut joining, &config);
        hello(&mut joining, &config);
        assert_eq!(
            offered(&mut joining, &config, again, 1),
            Some(1),
            "the round trip is longer than a retry"
        );
    }
}
