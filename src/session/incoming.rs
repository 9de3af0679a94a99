//! The receiving side of a session. Every packet is checked whole before it changes anything.

use super::Session;
use super::ending::LastState;
use super::event::{Event, Reason};
use super::input_stream::Run;
use super::liveness::Claim;
use super::lobby::seat_number;
use crate::channel::refusal::{Refusal, Rejected};
use crate::channel::sequence::Received;
use crate::protocol::time::Time;
use crate::session::desync::CheckedChecksum;
use crate::session::peer::handshake_responder::HelloOutcome;
use crate::wire::control::{ControlHeader, ControlPacket, ControlPayload};
use crate::wire::message::{Hello, Leaving, LeavingWhy, Message, Ordered, RefuseField};
use crate::wire::rbn1::{self, InputPacket};
use crate::wire::{DecodeError, Packet, WireFrame};
use crate::{Fields, protocol::trace};
use std::net::SocketAddr;

/// An input packet that passed every check. Only a value of this type is applied: a packet is taken in whole or not
/// at all.
struct Checked<'a> {
    packet: &'a InputPacket<'a>,
    run: Run,
    checksum: Option<CheckedChecksum>,
}

impl<S: Fields> Session<S> {
    #[inline]
    pub(super) fn receive(&mut self, now: Time, from: SocketAddr, datagram: &[u8]) -> Result<(), Rejected> {
        // Nearly every datagram is an input packet of the peer. Decoded here, it never goes through memory.
        if !self.link.is_peer(&from) || !datagram.starts_with(&InputPacket::MAGIC) {
            return self.receive_other(now, from, datagram);
        }
        let packet = InputPacket::decode(datagram, self.stream.flags()).map_err(DecodeError::Rbn1)?;
        let checked = self.check_inputs(&packet)?;
        self.apply_inputs(now, &checked);
        if rbn1::measures(datagram) {
            self.measure(now, datagram);
        }
        Ok(())
    }

    /// Takes in a datagram that is no input packet of the peer.
    #[cold]
    #[inline(never)]
    fn receive_other(&mut self, now: Time, from: SocketAddr, datagram: &[u8]) -> Result<(), Rejected> {
        match Packet::decode(datagram, self.stream.flags())? {
            Packet::Game(packet) => self.control(now, from, &packet),
            Packet::Rbn1(_) => Err(Refusal::Stranger.into()),
        }
    }

    /// Takes in the time and loss blocks of an input packet that was applied. The datagram is decoded once more, because
    /// three in sixty packets have a block and the others should not pay for it.
    #[cold]
    #[inline(never)]
    fn measure(&mut self, now: Time, datagram: &[u8]) {
        let Ok(packet) = InputPacket::decode(datagram, self.stream.flags()) else { return };
        if self.liveness.is_waiting() {
            self.stream.restart_counts();
        }
        if let Some(sample) = self.stream.measured(now, &packet, self.simulation.known()) {
            self.link.measured(sample);
        }
    }

    /// Checks an input packet: its numbers, its inputs against those confirmed, its checksum.
    #[inline]
    fn check_inputs<'a>(&self, packet: &'a InputPacket<'a>) -> Result<Checked<'a>, Rejected> {
        let run = self.stream.check(packet, self.simulation.known())?;
        if let Some(conflict) = self.simulation.conflict(run.start, packet) {
            return Err(conflict.into());
        }
        let checksum = match packet.checksum() {
            None => None,
            Some(checksum) => {
                let frame = self.stream.numbering().frame(checksum.frame);
                let frame = frame.ok_or(Refusal::ImplausibleChecksum)?;
                Some(self.watch.check(frame, checksum.value, run.acked)?)
            }
        };
        Ok(Checked { packet, run, checksum })
    }

    /// Takes in a checked input packet: inputs, ack, checksum.
    #[inline]
    fn apply_inputs(&mut self, now: Time, Checked { packet, run, checksum }: &Checked<'_>) {
        let known = self.simulation.known();
        if run.end < known {
            // A late packet says nothing that a newer one did not. It must not even keep a silent match alive.
            self.stream.late();
            return;
        }
        self.liveness.heard();
        if run.end > known {
            self.simulation.confirm(run.start, run.end, |at| packet.input(at));
            let rtt = || self.link.rtt().smoothed();
            self.liveness.progressed(now, run.end.since(known), run.end, rtt);
            self.pace.heard(now, run.end.since(known), run.end, run.acked);
            if self.can_go_on() {
                self.pace.hurry(now);
            }
        }
        if let Some(acked) = self.stream.apply(now, *run) {
            self.watch.acknowledged(acked);
        }
        if let Some(checksum) = *checksum {
            self.watch.heard(checksum);
        }
    }

    fn control(&mut self, now: Time, from: SocketAddr, packet: &ControlPacket<'_>) -> Result<(), Rejected> {
        self.traffic.stir();
        let message = match packet.payload {
            ControlPayload::ReliableEvent(payload) => Some((Message::decode(payload)?, payload)),
            _ => None,
        };
        // A HELLO: the host answers strangers, and the peer's program may have started again.
        if self.agreed.is_host || self.link.is_peer(&from) {
            match &message {
                Some((Message::Hello(hello), _)) => {
                    return Ok(self.hello(now, from, packet.header, hello)?);
                }
                Some((Message::ForeignHello(hello), _)) => {
                    let outcome = self.responder.foreign_hello(now, from, packet.header, *hello);
                    return Ok(outcome.result()?);
                }
                _ => {}
            }
        }
        // Anything else: only from the peer, and only with its numbers or the token of the match.
        if !self.link.is_peer(&from) {
            return Err(Refusal::Stranger.into());
        }
        match message {
            Some((Message::Resync(resync), _)) => {
                self.link.resynced(now, packet.header, resync)?;
                self.liveness.heard();
                return Ok(());
            }
            Some((Message::Leaving(leaving), _)) => return Ok(self.leaving(now, leaving)?),
            Some((Message::Resume(resume), _)) => return Ok(self.heard_resume(now, resume)?),
            // Late ones of the lobby, outside the sequence numbers.
            Some((Message::FirstState(_) | Message::FirstStateAck(_), _)) => {
                return Err(Refusal::OutOfPlace.into());
            }
            _ => {}
        }
        if let Err(refusal) = self.link.check(packet.header) {
            self.link.refused_numbers();
            return Err(refusal.into());
        }
        match packet.payload {
            ControlPayload::ReliableEvent(_) => {
                let Some((message, payload)) = message else { return Err(Refusal::OutOfPlace.into()) };
                return Ok(self.message(now, packet.header, &message, payload)?);
            }
            ControlPayload::ConnectReq if self.agreed.is_host => {
                self.link.owe_connect_ack(seat_number(self.local().other()));
            }
            // The answer to a CONNECT_REQ that had been answered already.
            ControlPayload::ConnectAck { client_id }
                if !self.agreed.is_host && client_id == seat_number(self.local()) => {}
            ControlPayload::Disconnect => self.liveness.heard_disconnect(now),
            ControlPayload::Ping(value) => self.link.pinged(now, value),
            ControlPayload::Pong(value) if self.link.ponged(now, value) => {}
            ControlPayload::Pong(_) => return Err(Refusal::UnaskedPong.into()),
            ControlPayload::Heartbeat => {}
            ControlPayload::ConnectReq
            | ControlPayload::ConnectAck { .. }
            | ControlPayload::Input(_)
            | ControlPayload::Inputs(_)
            | ControlPayload::Snapshot(_)
            | ControlPayload::Delta(_) => return Err(Refusal::OutOfPlace.into()),
        }
        self.link.heard(packet.header);
        self.liveness.heard();
        Ok(())
    }

    /// Takes in the peer's farewell, whatever the header's numbers: its token proves it.
    fn leaving(&mut self, now: Time, leaving: Leaving) -> Result<(), Refusal> {
        if leaving.token != self.agreed.token {
            return Err(Refusal::WrongToken);
        }
        let end = self.stream.numbering().frame(leaving.end).ok_or(Refusal::BeforeMatch)?;
        let is_cause = match leaving.why {
            LeavingWhy::GaveUp => self.clock_check.is_wrong(now),
            LeavingWhy::PausedTooLong => self.pause.is_overlong(now, self.local()),
            LeavingWhy::Left | LeavingWhy::StateFailed | LeavingWhy::Desync => false,
        };
        self.liveness.heard_leaving(now, end, leaving.why, is_cause);
        Ok(())
    }

    /// Answers a HELLO that comes during the match.
    fn hello(
        &mut self,
        now: Time,
        from: SocketAddr,
        header: ControlHeader,
        hello: &Hello<'_>,
    ) -> Result<(), Refusal> {
        let outcome = self.responder.hello(now, from, header, hello);
        let HelloOutcome::Proven { .. } = outcome else { return outcome.result() };
        if !self.link.is_peer(&from) {
            // Sealed, a peer that has started again comes on another connection. While ours is quiet it is not sent away.
            if self.link.is_sealed() && self.liveness.is_quiet() {
                return Ok(());
            }
            self.responder.refuse(from, header, hello.nonce, RefuseField::Full);
        } else if hello.nonce != self.agreed.nonce && self.liveness.believes(Claim::Restart) {
            self.disconnect(Reason::Restarted);
        }
        Ok(())
    }

    fn message(
        &mut self,
        now: Time,
        header: ControlHeader,
        message: &Message<'_>,
        payload: &[u8],
    ) -> Result<(), Refusal> {
        match *message {
            Message::Report { sent, received, newest_frame } => {
                if self.link.heard(header) == Received::New {
                    if self.liveness.is_waiting() {
                        self.stream.restart_counts();
                    }
                    self.stream.reported(now, sent, received, newest_frame);
                }
            }
            Message::Ordered { number, body } => {
                self.check_ordered(number, body)?;
                self.link.message(now, number, payload)?;
                self.link.heard(header);
                self.deliver(now);
            }
            // A late answer to a HELLO that was repeated.
            Message::Offer(offer) if !self.agreed.is_host => {
                if offer.nonce != self.agreed.nonce {
                    return Err(Refusal::WrongNonce);
                }
                if offer.token != self.agreed.token {
                    return Err(Refusal::OutOfPlace);
                }
                self.link.heard(header);
            }
            _ => return Err(Refusal::OutOfPlace),
        }
        self.liveness.heard();
        Ok(())
    }

    /// Checks an ordered message before it is acknowledged. One that is refused comes again.
    fn check_ordered(&self, number: u16, body: Ordered<'_>) -> Result<(), Refusal> {
        match body {
            Ordered::User(_) if !self.events.has_room_for_message() => Err(Refusal::NoRoom),
            Ordered::Verdict { frame, .. } if !self.is_plausible_end(frame) => {
                Err(Refusal::ImplausibleChecksum)
            }
            // A PAUSE that is here already is past its frame by now, and is only acknowledged again.
            Ordered::Pause(pause) if !self.link.has_message(number) => self.check_pause(pause).map(|_| ()),
            _ => Ok(()),
        }
    }

    /// Whether the peer's match can have ended in this frame.
    ///
    /// Its last state needs inputs of ours that have been sent, and the match must not have gone on past it.
    fn is_plausible_end(&self, frame: WireFrame) -> bool {
        let last = self.stream.numbering().frame(frame);
        last.is_some_and(|last| self.stream.has_sent(last) && self.ending.can_be_theirs(last, self.settled()))
    }

    /// Acts on the messages that are next in order.
    fn deliver(&mut self, now: Time) {
        while let Some(payload) = self.link.deliver(now) {
            let Ok(Message::Ordered { body, .. }) = Message::decode(payload) else { continue };
            match body {
                Ordered::Verdict { frame, checksum, finished } => {
                    if let Some(frame) = self.stream.numbering().frame(frame) {
                        self.ending.theirs(LastState { frame, checksum, finished });
                    }
                    self.compare_verdicts(now);
                }
                Ordered::User(bytes) => self.events.tell(Event::Message(bytes.into())),
                Ordered::Delay { from_frame, delay_frames } => {
                    if let Some(from) = self.stream.numbering().frame(from_frame) {
                        self.pace.peer_delay(from, delay_frames);
                    }
                    self.agreed.peer_delay_frames = delay_frames;
                    if self.events.has_room_for_message() {
                        self.events.tell(Event::PeerDelay { delay_frames });
                    }
                }
                Ordered::Pause(pause) => self.heard_pause(now, pause),
                Ordered::Autopsy(bytes) => {
                    if let Err(refusal) = self.watch.receive(now, self.simulation.settled(), bytes) {
                        self.traffic.refuse(refusal);
                        trace::refused(self.link.addr(), &refusal, &"the notes of an AUTOPSY");
                    }
                }
            }
        }
    }
}
