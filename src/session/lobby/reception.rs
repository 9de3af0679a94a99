//! Handling of a lobby's datagrams. Each is checked as a whole before it changes anything.

use super::agreement::{Agreed, Mismatch};
use super::hosting::{Hosting, seat_number};
use super::{Lobby, Role};
use crate::channel::refusal::{Refusal, Rejected};
use crate::protocol::PeerRole;
use crate::protocol::time::Time;
use crate::session::peer::handshake_responder::HelloOutcome;
use crate::session::peer::link::Link;
use crate::wire::Packet;
use crate::wire::control::{ControlHeader, ControlPacket, ControlPayload};
use crate::wire::message::{Hello, Message, Refuse, RefuseField};
use crate::wire::rbn1::{Flags, InputPacket};
use crate::{Frame, protocol::trace};
use std::net::SocketAddr;

impl Lobby {
    pub(super) fn receive(&mut self, now: Time, from: SocketAddr, datagram: &[u8]) -> Result<(), Rejected> {
        match Packet::decode(datagram, self.flags())? {
            Packet::Rbn1(packet) => Ok(self.input(from, &packet)?),
            Packet::Game(packet) => self.control(now, from, &packet),
        }
    }

    /// The terms of a match that this machine has offered or was offered.
    fn terms(&self) -> Option<&Agreed> {
        match &self.role {
            Role::Waiting => None,
            Role::Host(hosting) => hosting.terms(),
            Role::Join(joining) => joining.terms(),
            Role::Agreed(_, terms) => Some(terms),
        }
    }

    /// The flags that an input packet may have: those of version 1 before there are terms.
    fn flags(&self) -> Flags {
        self.terms().map_or(Flags::VERSION_1, |terms| terms.flags(self.config.game.wire_axes()))
    }

    /// Concludes the handshake on a valid input packet: the peer has begun the match, and the rest of the handshake may
    /// have been lost.
    fn input(&mut self, from: SocketAddr, packet: &InputPacket<'_>) -> Result<(), Refusal> {
        if !self.is_peer(from) {
            return Err(Refusal::Stranger);
        }
        let Some(terms) = self.terms().filter(|_| !self.is_receiving()) else {
            return Err(Refusal::OutOfPlace);
        };
        if packet.axes() != self.config.game.wire_axes() {
            return Err(Refusal::InputAxes);
        }
        // We have sent no input that could be acked yet; without an ack from us, the peer's run begins at the first
        // frame.
        let numbering = terms.numbering;
        let start = numbering.frame(packet.start_frame()).ok_or(Refusal::BeforeMatch)?;
        let acked = numbering.acked(packet.ack_frame()).ok_or(Refusal::BeforeMatch)?;
        if start > Frame::ZERO {
            return Err(Refusal::InputGap);
        }
        if acked > Frame::ZERO {
            return Err(Refusal::InputAckUnsent);
        }
        self.conclude(None);
        Ok(())
    }

    fn control(&mut self, now: Time, from: SocketAddr, packet: &ControlPacket<'_>) -> Result<(), Rejected> {
        if let ControlPayload::ReliableEvent(payload) = packet.payload {
            let message = Message::decode(payload)?;
            return Ok(self.message(now, from, packet.header, &message)?);
        }
        if !self.is_peer(from) {
            return Err(Refusal::Stranger.into());
        }
        Ok(self.connected(now, packet)?)
    }

    fn message(
        &mut self,
        now: Time,
        from: SocketAddr,
        header: ControlHeader,
        message: &Message<'_>,
    ) -> Result<(), Refusal> {
        match message {
            Message::Hello(hello) if self.receives(from, hello.nonce) => self.hello(now, from, header, hello),
            Message::ForeignHello(hello) if self.receives(from, hello.nonce) => {
                let outcome = self.responder.foreign_hello(now, from, header, *hello);
                self.answered_hello(from, &outcome)
            }
            _ if !self.is_peer(from) => Err(Refusal::Stranger),
            Message::Challenge(_) | Message::Offer(_) | Message::Refuse(_) => {
                self.answer(now, header, message)
            }
            Message::FirstState(part) => self.part(now, part),
            Message::FirstStateAck(ack) => self.first_state_ack(now, ack),
            _ => Err(Refusal::OutOfPlace),
        }
    }

    fn is_peer(&self, from: SocketAddr) -> bool {
        self.role.link().is_some_and(|link| link.is_peer(&from))
    }

    /// Whether to answer a HELLO as its host. If two machines join each other, the one with the larger nonce does, unless
    /// an authenticated connection has decided that already.
    fn receives(&self, from: SocketAddr, nonce: u64) -> bool {
        match &self.role {
            Role::Waiting | Role::Host(_) => true,
            Role::Join(joining) => {
                let larger = match self.responder.authenticated(from) {
                    Some(peer) => peer.role == PeerRole::Player,
                    None => joining.nonce() > nonce,
                };
                self.is_peer(from) && larger && joining.terms().is_none()
            }
            Role::Agreed(_, agreed) => agreed.is_host,
        }
    }

    /// Notes a guest whose configuration is incompatible.
    fn answered_hello(&mut self, from: SocketAddr, outcome: &HelloOutcome) -> Result<(), Refusal> {
        if let HelloOutcome::Mismatch(Refuse { field, ours, theirs, .. }) = *outcome {
            self.mismatch = Some(Mismatch { addr: from, field, ours, theirs });
        }
        outcome.result()
    }

    fn hello(
        &mut self,
        now: Time,
        from: SocketAddr,
        header: ControlHeader,
        hello: &Hello<'_>,
    ) -> Result<(), Refusal> {
        let outcome = self.responder.hello(now, from, header, hello);
        let HelloOutcome::Proven { rtt } = outcome else { return self.answered_hello(from, &outcome) };
        let authenticated = self.responder.authenticated(from);
        let confirmed = authenticated.is_none_or(|peer| peer.confirmed);
        match &mut self.role {
            Role::Host(hosting) if hosting.is_known(from, hello.nonce) => {
                if hosting.hello_again(now, header, hello) {
                    self.responder.refuse(from, header, hello.nonce, RefuseField::Declined);
                }
            }
            // A handshake that may be a replay replaces no guest. A real guest sends HELLO again.
            Role::Host(hosting)
                if !hosting.is_guest(from)
                    && hosting.is_confirmed()
                    && !confirmed
                    && hosting.makes_room(now) => {}
            // Another guest is refused, unless ours makes room. Ours with a new nonce has restarted, and begins
            // again.
            Role::Host(hosting) if !hosting.is_guest(from) && !hosting.makes_room(now) => {
                self.responder.refuse(from, header, hello.nonce, RefuseField::Full);
            }
            Role::Agreed(_, agreed) if agreed.peer != from => {
                self.responder.refuse(from, header, hello.nonce, RefuseField::Full);
            }
            // A HELLO after the agreement may be a restart. The session handles that, and the joiner retransmits.
            Role::Agreed(..) => {}
            Role::Waiting | Role::Host(_) | Role::Join(_) => {
                let mut link = Link::new(
                    now,
                    from,
                    self.config.game.frame_rate.frame_length().into(),
                    &mut self.entropy,
                );
                link.heard(header);
                if authenticated.is_some() {
                    link.sealed();
                }
                if self.config.rollback.delay_frames.is_none() {
                    link.ping_quickly();
                }
                let mut guest = Hosting::new(now, link, hello, rtt, confirmed);
                if let Role::Host(before) = &self.role {
                    guest.replaces(before);
                }
                self.role = Role::Host(guest);
                trace::handshake(from, "guest proven");
                self.decide(now);
            }
        }
        Ok(())
    }

    fn answer(&mut self, now: Time, header: ControlHeader, message: &Message<'_>) -> Result<(), Refusal> {
        let Role::Join(joining) = &mut self.role else { return Err(Refusal::OutOfPlace) };
        if let Err(error) = joining.answer(now, &self.config, header, message)? {
            self.error = Some(error);
        }
        self.answered(now);
        Ok(())
    }

    /// Whether a CONNECT_REQ or CONNECT_ACK is expected from the peer at this point.
    fn concludes(&self, packet: &ControlPacket<'_>) -> bool {
        match (&self.role, packet.payload) {
            (Role::Host(hosting), ControlPayload::ConnectReq) => hosting.offer_arrived(packet.header),
            (Role::Agreed(_, agreed), ControlPayload::ConnectReq) => agreed.is_host,
            (Role::Join(joining), ControlPayload::ConnectAck { client_id }) if !joining.is_receiving() => {
                joining.terms().is_some_and(|terms| client_id == seat_number(terms.seat))
            }
            (Role::Agreed(_, agreed), ControlPayload::ConnectAck { client_id }) => {
                !agreed.is_host && client_id == seat_number(agreed.seat)
            }
            _ => false,
        }
    }

    /// Handles any packet from the peer but messages.
    fn connected(&mut self, now: Time, packet: &ControlPacket<'_>) -> Result<(), Refusal> {
        // Check the packet as a whole: sequence number and acks, then its payload.
        let concludes = self.concludes(packet);
        if let Role::Join(joining) = &self.role {
            joining.check(packet.header)?;
        } else {
            self.role.link().ok_or(Refusal::Stranger)?.check(packet.header)?;
        }
        let link = self.role.link_mut().ok_or(Refusal::Stranger)?;
        match packet.payload {
            ControlPayload::ConnectReq | ControlPayload::ConnectAck { .. } if !concludes => {
                return Err(Refusal::OutOfPlace);
            }
            ControlPayload::Input(_)
            | ControlPayload::Inputs(_)
            | ControlPayload::Snapshot(_)
            | ControlPayload::Delta(_) => {
                return Err(Refusal::OutOfPlace);
            }
            ControlPayload::Pong(value) if !link.ponged(now, value) => return Err(Refusal::UnaskedPong),
            ControlPayload::Ping(value) => link.pinged(now, value),
            _ => {}
        }
        // Record that the peer is there, or that it leaves.
        link.heard(packet.header);
        self.answered(now);
        match (&mut self.role, packet.payload) {
            (Role::Host(hosting), ControlPayload::Disconnect) => hosting.farewell(now),
            (Role::Host(hosting), _) => hosting.heard(now),
            (Role::Join(joining), ControlPayload::Ping(_)) => joining.pinged(now),
            _ => {}
        }
        // Conclude the handshake, or accept the guest if this packet completed the measurement.
        match packet.payload {
            ControlPayload::ConnectReq => {
                self.conclude(Some(packet.header));
                if let Role::Agreed(link, agreed) = &mut self.role {
                    link.owe_connect_ack(seat_number(agreed.seat.other()));
                }
            }
            ControlPayload::ConnectAck { .. } => self.conclude(None),
            // A joiner retransmits until it is answered or gives up; after the agreement only the session ends the
            // match.
            ControlPayload::Disconnect => {}
            _ => self.decide(now),
        }
        Ok(())
    }
}
