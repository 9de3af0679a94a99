//! What a session is sent: checked whole before it changes anything.

use super::config::OnDesync;
use super::duel::{Session, Stage};
use super::event::{Event, Reason};
use super::lobby::seat_number;
use crate::peer::desk::Visit;
use crate::peer::refusal::Refusal;
use crate::peer::sequence::Received;
use crate::wire::control::{self, Header, Payload};
use crate::wire::message::{Hello, MAX_WINDOW_AND_DELAY, Message, Ordered, Refuse, RefuseField};
use crate::wire::rbn1::InputPacket;
use crate::wire::{self, Packet};
use crate::{Fields, Frame};
use core::time::Duration;
use std::net::SocketAddr;

/// A HELLO with a new nonce is believed to be a restart after this long without a new frame.
const RESTART_BELIEVED_AFTER: Duration = Duration::from_millis(500);

impl<S: Fields> Session<S> {
    pub(super) fn receive(
        &mut self,
        now: Duration,
        from: SocketAddr,
        datagram: &[u8],
    ) -> Result<(), Refusal> {
        match wire::decode(datagram) {
            Ok(Packet::Rbn1(packet)) if from == self.link.addr => self.inputs(now, &packet),
            Ok(Packet::Game(packet)) => self.control(now, from, &packet),
            Ok(Packet::Rbn1(_)) => Err(Refusal::Stranger),
            Err(error) => Err(Refusal::from(&error)),
        }
    }

    /// Takes in an input packet, whole or not at all.
    #[inline]
    fn inputs(&mut self, now: Duration, packet: &InputPacket<'_>) -> Result<(), Refusal> {
        let first = self.agreed.first_frame;
        let remote = self.local.other();
        let known = self.rollback.next_input(remote);
        let before = Refusal::BeforeMatch;
        let start = Frame(packet.start_frame().checked_sub(first).ok_or(before)?);
        if start > known {
            return Err(Refusal::InputGap);
        }
        // At most 32 beyond what is known, so this cannot overflow.
        let end = start.plus(packet.count() as u32);
        let acked = Frame(packet.ack_frame().checked_sub(first - 1).ok_or(before)?);
        if acked > self.outbox.sent {
            return Err(Refusal::InputAckUnsent);
        }
        // Within window and delay of what it acknowledges: further no peer can have stepped.
        if end.0 > acked.0 + u32::from(MAX_WINDOW_AND_DELAY) {
            return Err(Refusal::InputBeyondWindow);
        }
        if let Some((frame, confirmed, refused)) = self.rollback.conflict(remote, start, packet.inputs()) {
            if !self.conflict_told {
                self.conflict_told = true;
                self.tell(Event::InputConflict { frame, confirmed, refused });
            }
            return Err(Refusal::InputConflict);
        }
        let checksum = match packet.checksum() {
            None => None,
            Some(checksum) => {
                let frame = checksum.frame.checked_sub(first).map(Frame);
                // The peer cannot have settled a state that needs inputs of ours it does not have.
                let plausible = |frame: &Frame| *frame <= acked && self.checksums.is_due(*frame);
                Some((frame.filter(plausible).ok_or(Refusal::ImplausibleChecksum)?, checksum.value))
            }
        };

        self.silence.heard();
        self.inputs_in = self.inputs_in.wrapping_add(1);
        if end > known {
            self.confirm(known, end, start, packet);
            self.silence.progressed();
            self.farewell_heard = false;
            if acked > Frame::ZERO {
                if let Some((from, delay_frames)) = self.peer_delay_from
                    && end > from
                {
                    (self.peer_delay_frames, self.peer_delay_from) = (delay_frames, None);
                }
                let gap = end.0.wrapping_sub(acked.0).wrapping_sub(self.peer_delay_frames);
                self.lead.heard(gap.cast_signed());
            }
            if self.can_go_on() {
                self.pacing.hurry(now);
            }
        }
        if acked > self.outbox.acked {
            self.outbox.acked = acked;
            if acked > self.outbox.most_acked {
                self.outbox.most_acked = acked;
                self.copies.acknowledged(now, Frame(acked.0 - 1));
                self.checksums.acknowledged(acked);
            }
        } else if acked < self.outbox.acked && end >= known {
            // Its sender may have less than was acknowledged before: then that was forged or damaged, and without this
            // it would never get what it misses. Or it stalls, and this is an earlier one of the packets that it repeats:
            // then some inputs go out once more than they had to.
            self.outbox.acked = acked;
        }
        if let Some((frame, value)) = checksum {
            self.checksums.heard(frame, value);
        }
        Ok(())
    }

    /// Confirms the inputs of the frames from `known` up to `end`; the packet's own begin at `start`.
    #[inline]
    fn confirm(&mut self, known: Frame, end: Frame, start: Frame, packet: &InputPacket<'_>) {
        let remote = self.local.other();
        for (at, frame) in (known.since(start) as usize..).zip(known.until(end)) {
            // In order and bounded by the checks before: an error would be ours, and the frame simply comes again.
            let Some(buttons) = packet.input(at) else { return };
            if self.rollback.confirm(remote, frame, buttons).is_err() {
                return;
            }
        }
    }

    fn control(
        &mut self,
        now: Duration,
        from: SocketAddr,
        packet: &control::Packet<'_>,
    ) -> Result<(), Refusal> {
        self.stir();
        let message = match packet.payload {
            Payload::ReliableEvent(payload) => {
                Some((Message::decode(payload).map_err(|_| Refusal::MalformedMessage)?, payload))
            }
            _ => None,
        };
        // The host receives strangers; and whoever it is that we play with may have started anew.
        if self.agreed.is_host || from == self.link.addr {
            match &message {
                Some((Message::Hello(hello), _)) => return self.hello(now, from, packet.header, hello),
                Some((Message::ForeignHello(hello), _)) => {
                    let visit = self.desk.foreign_hello(now, from, packet.header, *hello);
                    return dealt(&visit);
                }
                _ => {}
            }
        }
        if from != self.link.addr {
            return Err(Refusal::Stranger);
        }
        self.link.check(packet.header)?;
        match packet.payload {
            Payload::ReliableEvent(_) => {
                let Some((message, payload)) = message else { return Err(Refusal::OutOfPlace) };
                return self.message(now, packet.header, &message, payload);
            }
            Payload::ConnectReq if self.agreed.is_host => {
                self.link.owe_connect_ack(seat_number(self.local.other()));
            }
            // The answer to a CONNECT_REQ that had been answered already.
            Payload::ConnectAck { client_id }
                if !self.agreed.is_host && client_id == seat_number(self.local) => {}
            Payload::Disconnect => self.farewell_heard = true,
            Payload::Ping(value) => self.link.pinged(value),
            Payload::Pong(value) if self.link.rtt.ponged(now, value) => {}
            Payload::Pong(_) => return Err(Refusal::UnaskedPong),
            Payload::Heartbeat => {}
            Payload::ConnectReq
            | Payload::ConnectAck { .. }
            | Payload::Input(_)
            | Payload::Inputs(_)
            | Payload::Snapshot(_) => return Err(Refusal::OutOfPlace),
        }
        self.link.heard(packet.header);
        self.silence.heard();
        Ok(())
    }

    /// Somebody wants to play, while a match is on.
    fn hello(
        &mut self,
        now: Duration,
        from: SocketAddr,
        header: Header,
        hello: &Hello<'_>,
    ) -> Result<(), Refusal> {
        let visit = self.desk.hello(now, from, header, hello);
        let Visit::Proven { .. } = visit else { return dealt(&visit) };
        if from != self.link.addr {
            let refuse = Refuse { nonce: hello.nonce, field: RefuseField::Full, ours: 0, theirs: 0 };
            self.desk.refuse(from, header, refuse);
        } else if hello.nonce != self.agreed.nonce && self.silence.stuck() >= RESTART_BELIEVED_AFTER {
            self.disconnect(Reason::Restarted);
        }
        Ok(())
    }

    fn message(
        &mut self,
        now: Duration,
        header: Header,
        message: &Message<'_>,
        payload: &[u8],
    ) -> Result<(), Refusal> {
        match *message {
            Message::Report { sent, received, newest_frame } => {
                if self.link.heard(header) == Received::New {
                    self.reported(now, sent, received, newest_frame);
                }
            }
            Message::Ordered { number, body } => {
                // Not acknowledged, so it comes again when the game has made room.
                if matches!(body, Ordered::User(_)) && !self.has_room_for_message() {
                    return Err(Refusal::NoRoom);
                }
                if let Ordered::Verdict { frame, .. } = body {
                    // The last state needs inputs of ours that have been sent, and no input comes after it but those of
                    // the delay: a match that goes on is not over.
                    let last = frame.checked_sub(self.agreed.first_frame).map(Frame);
                    let settled =
                        if self.stage == Stage::Playing { self.rollback.settled() } else { Frame::ZERO };
                    let outdated = |last: Frame| settled.since(last) > u32::from(MAX_WINDOW_AND_DELAY);
                    if last.is_none_or(|last| last > self.outbox.sent || outdated(last)) {
                        return Err(Refusal::ImplausibleChecksum);
                    }
                }
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
        self.silence.heard();
        Ok(())
    }

    fn reported(&mut self, now: Duration, sent: u32, received: u32, newest_frame: u32) {
        if let Some(newest) = newest_frame.checked_sub(self.agreed.first_frame) {
            self.copies.reported(now, received, Frame(newest));
        }
        if let Some((sent_before, here_before)) = self.peer_report.replace((sent, self.inputs_in)) {
            let (sent, here) = (sent.wrapping_sub(sent_before), self.inputs_in.wrapping_sub(here_before));
            if sent > 0 && sent < u32::MAX / 2 {
                let sample = 1.0 - here.min(sent) as f32 / sent as f32;
                self.loss_in = Some(self.loss_in.map_or(sample, |loss| loss + (sample - loss) / 4.0));
            }
        }
    }

    /// Acts on the messages that are next in order.
    fn deliver(&mut self, now: Duration) {
        while let Some(payload) = self.link.reliable.deliver() {
            let Ok(Message::Ordered { body, .. }) = Message::decode(payload) else { continue };
            match body {
                Ordered::Verdict { frame, checksum } => {
                    self.peer_verdict.get_or_insert((frame, checksum));
                    self.compare_verdicts(now);
                }
                Ordered::User(bytes) => {
                    let event = Event::Message(bytes.into());
                    self.tell(event);
                }
                Ordered::Delay { from_frame, delay_frames } => {
                    let from = Frame(from_frame.wrapping_sub(self.agreed.first_frame));
                    self.peer_delay_from = Some((from, u32::from(delay_frames)));
                    self.agreed.peer_delay_frames = delay_frames;
                    if self.has_room_for_message() {
                        self.tell(Event::PeerDelay { delay_frames });
                    }
                }
                // Who does not look into a desync does not help the other side to either.
                Ordered::Autopsy(_) if self.on_desync == OnDesync::GoOn => {
                    self.stats.refused.count(Refusal::OutOfPlace);
                }
                Ordered::Autopsy(bytes) => {
                    if !self.examiner.receive(now, self.rollback.settled(), bytes) {
                        self.stats.refused.count(Refusal::MalformedMessage);
                    }
                }
            }
        }
    }
}

fn dealt(visit: &Visit) -> Result<(), Refusal> {
    match visit {
        Visit::Dealt(Some(refusal)) => Err(*refusal),
        Visit::Dealt(None) | Visit::Mismatch(_) | Visit::Proven { .. } => Ok(()),
    }
}
