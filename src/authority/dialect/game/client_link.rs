//! A client's end of a GAME connection.

use super::connection::{Connection, OF_CHALLENGES, OF_SERVER};
use super::delta::{Baselines, Unread};
use super::losses::Losses;
use super::message::{self, Message};
use super::pings::Pings;
use super::responder::decode;
use crate::Frame;
use crate::authority::dialect::{ClientEnd, Delivered, FromServer, NumberedInput};
use crate::authority::{Body, ClientConfig, Command, Shown, Terms};
use crate::channel::entropy::Entropy;
use crate::channel::refusal::Refusal;
use crate::channel::reliable::Reliable;
use crate::channel::sequence::Received;
use crate::protocol::time::{Span, Time};
use crate::wire::control::{
    ControlHeader, ControlPacket, ControlPayload, EntityState, Entries, PlayerInput, Snapshot,
};

/// The number of sent packets that are remembered with their newest input.
const REMEMBERED: usize = 256;

/// The most inputs that one packet carries.
const MAX_INPUTS: usize = 16;

/// Deltas that cannot be read are requested again after this long.
const ASK_AGAIN: Span = Span::from_millis(500);

/// Sequence numbers, acks and reliable messages towards the server.
#[derive(Clone, Debug)]
pub(crate) struct ClientLink {
    connection: Connection,
    reliable: Reliable,
    /// The packet that carried an input last, and that input.
    newest_inputs: [(u16, Option<u32>); REMEMBERED],
    accepted: bool,
    /// Whether anything but challenges came since: we then have a seat.
    is_seated: bool,
    pings: Pings,
    losses: Losses,
    /// Unless the config wants none.
    deltas: Option<Deltas>,
}

/// The baselines of deltas, and when the server was asked for deltas last.
#[derive(Clone, Debug)]
struct Deltas {
    baselines: Baselines,
    asked: Option<Time>,
}

/// The frame of a snapshot, and the number of the last input applied for us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) frame: Frame,
    pub(crate) applied: Option<u32>,
}

impl ClientLink {
    fn write(&mut self, now: Time, payload: &ControlPayload<'_>, buf: &mut [u8]) -> Option<usize> {
        let header = self.connection.header(now);
        let newest = match payload {
            ControlPayload::Inputs(inputs) => inputs.iter().last().map(|input| input.sequence),
            _ => None,
        };
        self.newest_inputs[usize::from(header.sequence) % REMEMBERED] = (header.sequence, newest);
        ControlPacket::encode(&header, payload, buf).ok()
    }

    /// The newest input of the packets that a header acknowledges, for servers that do not say what they have applied.
    fn newest_acknowledged(&self, header: ControlHeader) -> Option<u32> {
        // The acknowledged packet may be a PING; the inputs were then in one shortly before.
        (0..8_u16).find_map(|back| {
            let sequence = header.ack.wrapping_sub(back);
            let (known, newest) = self.newest_inputs[usize::from(sequence) % REMEMBERED];
            newest.filter(|_| known == sequence)
        })
    }

    fn snapshot(
        &mut self,
        header: ControlHeader,
        snapshot: &Snapshot<'_>,
        shown: &mut Vec<Shown>,
    ) -> FromServer<Stamp> {
        shown.clear();
        shown.extend(snapshot.entities.iter().map(|entity| {
            let EntityState { id, x, y, velocity_x, velocity_y, health } = entity;
            Shown { id: id.into(), body: Body { x, y, velocity_x, velocity_y, health } }
        }));
        let applied = snapshot.last_input.or_else(|| self.newest_acknowledged(header));
        FromServer::Entities(Stamp { frame: Frame(snapshot.tick), applied })
    }

    /// Reads a DELTA, and requests deltas again if it is the difference to something that is not here.
    fn delta(&mut self, now: Time, payload: &[u8], shown: &mut Vec<Shown>) -> Result<Stamp, Refusal> {
        let Some(Deltas { baselines, asked: Some(asked) }) = &mut self.deltas else {
            return Err(Refusal::OutOfPlace);
        };
        match baselines.read(payload, shown) {
            Ok((frame, applied)) => Ok(Stamp { frame, applied: Some(applied) }),
            Err(Unread::Malformed) => Err(Refusal::MalformedControl),
            Err(Unread::NoBaseline) => {
                if now.since(*asked) >= ASK_AGAIN {
                    self.ask_for_deltas(now);
                }
                Err(Refusal::NoBaseline)
            }
        }
    }

    fn ask_for_deltas(&mut self, now: Time) {
        if let Some(deltas) = &mut self.deltas {
            deltas.asked = Some(now);
            // Without room for the message it is asked again later.
            let _ = self.reliable.send_bytes(now, |_, bytes| message::put_deltas(bytes));
        }
    }

    fn ponged(&mut self, now: Time, value: u64) -> Result<FromServer<Stamp>, Refusal> {
        self.pings.answered(now, value).map(FromServer::RoundTrip).ok_or(Refusal::UnaskedPong)
    }
}

impl ClientEnd for ClientLink {
    type Stamp = Stamp;

    fn new(config: &ClientConfig, entropy: &mut Entropy) -> Self {
        let first = entropy.next_u64() as u16;
        let deltas = || Deltas { baselines: Baselines::new(), asked: None };
        Self {
            connection: Connection::new(Time::ZERO, first, OF_SERVER),
            reliable: Reliable::roomy(),
            newest_inputs: [(0, None); REMEMBERED],
            accepted: false,
            is_seated: false,
            pings: Pings::new(entropy.next_u64()),
            losses: Losses::default(),
            deltas: config.delta_snapshots.then(deltas),
        }
    }

    fn receive(
        &mut self,
        now: Time,
        datagram: &[u8],
        shown: &mut Vec<Shown>,
    ) -> Result<FromServer<Stamp>, Refusal> {
        let packet = decode(datagram)?;
        let header = packet.header;
        self.connection.check(now, header)?;
        match packet.payload {
            ControlPayload::ConnectAck { client_id } => {
                if self.accepted {
                    self.connection.accept(now, header, &mut self.reliable);
                } else {
                    (self.accepted, self.is_seated) = (true, false);
                    self.connection.set_range(OF_CHALLENGES);
                    self.connection.accept_first(now, header, &mut self.reliable);
                    self.pings.begin(now);
                }
                return Ok(FromServer::Accepted { id: client_id.get(), sends_proof: false });
            }
            // A server without a seat for us has no connection either: its numbers mean nothing.
            ControlPayload::Disconnect if !self.accepted => return Ok(FromServer::Leaves),
            ControlPayload::ConnectReq
            | ControlPayload::Input(_)
            | ControlPayload::Inputs(_)
            | ControlPayload::Ping(_) => {
                return Err(Refusal::OutOfPlace);
            }
            _ if !self.accepted => return Err(Refusal::OutOfPlace),
            _ => {}
        }
        if !self.is_seated {
            if let ControlPayload::Heartbeat | ControlPayload::Pong(_) = packet.payload {
                self.connection.accept(now, header, &mut self.reliable);
                return match packet.payload {
                    ControlPayload::Pong(value) => self.ponged(now, value),
                    _ => Ok(FromServer::Alive),
                };
            }
            self.is_seated = true;
            self.connection.set_range(OF_SERVER);
        }
        self.losses.take_in(header);
        if let ControlPayload::ReliableEvent(payload) = packet.payload {
            return match message::read(payload) {
                Some(message @ (Message::Terms(..) | Message::Events { .. })) => {
                    let number = message.number();
                    self.connection.accept_message(now, header, number, payload, &mut self.reliable)?;
                    Ok(FromServer::Messages)
                }
                // An event of a server that knows the format alone: acknowledged, and nobody here can read it.
                _ => {
                    self.connection.accept(now, header, &mut self.reliable);
                    Ok(FromServer::Alive)
                }
            };
        }
        // A DELTA that cannot be read is not acknowledged: the server would take it for a baseline.
        let delta = match packet.payload {
            ControlPayload::Delta(payload) => Some(self.delta(now, payload, shown)?),
            _ => None,
        };
        if self.connection.accept(now, header, &mut self.reliable) == Received::Duplicate {
            return Ok(FromServer::Alive);
        }
        if let (Some(stamp), Some(deltas)) = (delta, &mut self.deltas) {
            deltas.baselines.keep(stamp.frame, shown);
            return Ok(FromServer::Entities(stamp));
        }
        Ok(match packet.payload {
            ControlPayload::Snapshot(snapshot) => self.snapshot(header, &snapshot, shown),
            ControlPayload::Pong(value) => return self.ponged(now, value),
            ControlPayload::Disconnect => FromServer::Leaves,
            _ => FromServer::Alive,
        })
    }

    fn deliver(&mut self, _: Frame, mut take: impl FnMut(Delivered)) {
        // Nobody asks here since when a message is missing.
        while let Some(payload) = self.reliable.deliver(Time::ZERO) {
            match message::read(payload) {
                Some(Message::Terms(terms, frame)) => {
                    if let Some(deltas) = &mut self.deltas {
                        deltas.baselines.set_frame_rate(terms.frame_rate);
                    }
                    take(Delivered::Terms(terms, frame));
                }
                Some(Message::Events { mut records, .. }) => {
                    while let Some(record) = message::take_record(&mut records) {
                        take(Delivered::Record(record));
                    }
                }
                _ => {}
            }
        }
    }

    fn seated(&mut self, now: Time) -> Option<Terms> {
        self.pings.quicken(now);
        None
    }

    fn measure_again(&mut self, now: Time) {
        self.pings.quicken(now);
    }

    fn queue_numbered(&mut self, now: Time, first: u32) {
        let sent = self.reliable.send_bytes(now, |_, bytes| message::put_ticks(first, bytes));
        debug_assert_eq!(sent, Ok(0), "TICKS is the first message");
        self.ask_for_deltas(now);
    }

    fn next_due(&self) -> Time {
        self.reliable.next_due().unwrap_or(Time::NEVER).min(self.pings.due())
    }

    fn recent_loss_run(&self) -> u32 {
        self.losses.recent_run()
    }

    fn write_due(&mut self, now: Time, buf: &mut [u8]) -> Option<usize> {
        let message = self.connection.write_due(now, &mut self.reliable, buf);
        if message.is_some() || self.pings.due() > now {
            return message;
        }
        let value = self.pings.next(now);
        self.write(now, &ControlPayload::Ping(value), buf)
    }

    fn write_join(&mut self, now: Time, buf: &mut [u8]) -> Option<usize> {
        self.accepted = false;
        self.connection.expect_first();
        self.write(now, &ControlPayload::ConnectReq, buf)
    }

    fn write_inputs(&mut self, now: Time, inputs: &[NumberedInput], buf: &mut [u8]) -> Option<usize> {
        let mut entries = [PlayerInput { sequence: 0, move_x: 0.0, move_y: 0.0, actions: 0 }; MAX_INPUTS];
        let inputs = &inputs[inputs.len().saturating_sub(MAX_INPUTS)..];
        for (entry, (number, command)) in entries.iter_mut().zip(inputs) {
            let Command { x: move_x, y: move_y, actions } = *command;
            *entry = PlayerInput { sequence: *number, move_x, move_y, actions };
        }
        self.write(now, &ControlPayload::Inputs(Entries::from(&entries[..inputs.len()])), buf)
    }

    fn write_alive(&mut self, now: Time, buf: &mut [u8]) -> Option<usize> {
        self.write(now, &ControlPayload::Heartbeat, buf)
    }

    fn write_leaves(&mut self, now: Time, buf: &mut [u8]) -> Option<usize> {
        self.write(now, &ControlPayload::Disconnect, buf)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authority::world::Command;

    /// A connection that begins with packet 100.
    fn link() -> ClientLink {
        let connection = Connection::new(Time::ZERO, 100, OF_SERVER);
        ClientLink { connection, ..ClientLink::new(&ClientConfig::new(1), &mut Entropy::new(1)) }
    }

    #[test]
    fn acked_ping_acknowledges_the_inputs_before_it() {
        let (mut link, mut buf) = (link(), [0; 256]);
        assert!(link.write_inputs(Time::ZERO, &[(7, Command::NEUTRAL)], &mut buf).is_some());
        assert!(link.write(Time::ZERO, &ControlPayload::Ping(1), &mut buf).is_some());
        let newest = |ack| link.newest_acknowledged(ControlHeader { sequence: 0, ack, ack_bits: 0 });
        assert_eq!([99, 100, 101, 108].map(newest), [None, Some(7), Some(7), None]);
    }

    /// Hands in a packet of the server that acknowledges packet `ack`.
    fn hear(
        link: &mut ClientLink,
        sequence: u16,
        ack: u16,
        payload: &ControlPayload<'_>,
    ) -> Result<FromServer<Stamp>, Refusal> {
        let (mut buf, header) = ([0; 64], ControlHeader { sequence, ack, ack_bits: 0 });
        let len = ControlPacket::encode(&header, payload, &mut buf).unwrap();
        link.receive(Time::ZERO, &buf[..len], &mut Vec::new())
    }

    #[test]
    fn each_request_begins_the_numbers_of_the_server_anew() {
        let accepted = ControlPayload::ConnectAck { client_id: core::num::NonZeroU8::MIN };
        let snapshot = ControlPayload::Snapshot(Snapshot {
            tick: 1,
            entities: Entries::from(&[][..]),
            last_input: None,
        });
        let mut link = link();
        for (ack, first) in [(100, 1_000), (101, 30_000)] {
            assert!(link.write_join(Time::ZERO, &mut [0; 64]).is_some());
            let refused = hear(&mut link, 7, ack, &ControlPayload::Heartbeat);
            assert_eq!(refused, Err(Refusal::OutOfPlace), "before the answer");
            assert!(matches!(hear(&mut link, first, ack, &accepted), Ok(FromServer::Accepted { .. })));
            // Challenges leave gaps, also behind three that were lost.
            let challenge = hear(&mut link, first + 4_000, ack, &ControlPayload::Heartbeat);
            assert_eq!(challenge, Ok(FromServer::Alive));
            let unasked = hear(&mut link, first + 3_999, ack, &ControlPayload::Pong(7));
            assert_eq!(unasked, Err(Refusal::UnaskedPong), "round trips are learnt before there is a seat");
            assert!(matches!(hear(&mut link, first + 4_001, ack, &snapshot), Ok(FromServer::Entities(_))));
            let far = hear(&mut link, first + 4_001 + 257, ack, &ControlPayload::Heartbeat);
            assert_eq!(far, Err(Refusal::FarSequence), "a server with a seat for us leaves none");
            let goodbye = [(); 2].map(|()| hear(&mut link, first + 4_002, ack, &ControlPayload::Disconnect));
            assert_eq!(goodbye, [Ok(FromServer::Leaves), Ok(FromServer::Alive)], "a copy says nothing");
        }
    }

    #[test]
    fn packet_carries_the_newest_16_inputs() {
        let (mut link, mut buf) = (link(), [0; 512]);
        let inputs: Vec<_> = (1..=20).map(|number| (number, Command::NEUTRAL)).collect();
        let len = link.write_inputs(Time::ZERO, &inputs, &mut buf).unwrap();
        let ControlPayload::Inputs(sent) = decode(&buf[..len]).unwrap().payload else { panic!("no inputs") };
        let numbers: Vec<u32> = sent.iter().map(|input| input.sequence).collect();
        assert_eq!(numbers, (5..=20).collect::<Vec<_>>());
    }

    #[test]
    fn event_of_another_format_is_acknowledged() {
        let (mut link, mut buf) = (link(), [0; 64]);
        assert!(link.write_join(Time::ZERO, &mut buf).is_some());
        let accepted = ControlPayload::ConnectAck { client_id: core::num::NonZeroU8::MIN };
        assert!(hear(&mut link, 1_000, 100, &accepted).is_ok());
        let event = hear(&mut link, 1_001, 100, &ControlPayload::ReliableEvent(&[9, 9]));
        assert_eq!(event, Ok(FromServer::Alive));
        let len = link.write_alive(Time::ZERO, &mut buf).unwrap();
        assert_eq!(decode(&buf[..len]).unwrap().header.ack, 1_001);
    }
}
