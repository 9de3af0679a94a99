//! A server's end of a GAME connection.

use super::connection::{Connection, OF_CLIENT};
use super::delta::Holdings;
use super::message::{self, EVENTS_HEAD, MAX_RECORD, Message};
use super::prepared::{MAX_SNAPSHOT, Prepared};
use super::responder::decode;
use crate::Frame;
use crate::authority::dialect::{Challenges, FromClient, NumberedInput, Rest, ServerEnd};
use crate::authority::{Command, Record, Shown, Sight, Terms};
use crate::channel::refusal::Refusal;
use crate::channel::reliable::{IN_FLIGHT, Reliable};
use crate::channel::sequence::Received;
use crate::protocol::time::Time;
use crate::wire::control::{ControlPacket, ControlPayload, PlayerInput};
use crate::wire::message::MAX_LEN;
use core::num::NonZeroU8;

/// The most inputs in one packet.
const MAX_INPUTS: usize = 255;

/// More DELTAs than a broadcast can become.
const MAX_DELTAS: usize = 16;

/// Sequence numbers, acks and reliable messages towards one client.
#[derive(Clone, Debug)]
pub(crate) struct ServerLink {
    connection: Connection,
    reliable: Reliable,
    /// The mark of the last record of each message under way.
    marks: [u64; IN_FLIGHT as usize],
    holdings: Holdings,
}

impl ServerLink {
    fn hear(
        &self,
        payload: &ControlPayload<'_>,
        inputs: &mut Vec<NumberedInput>,
    ) -> Result<FromClient, Refusal> {
        inputs.clear();
        let mut take = |input: PlayerInput| {
            if inputs.len() < MAX_INPUTS {
                let command = Command { x: input.move_x, y: input.move_y, actions: input.actions };
                inputs.push((input.sequence, command));
            }
        };
        match payload {
            ControlPayload::Input(input) => take(*input),
            ControlPayload::Inputs(all) => all.iter().for_each(take),
            ControlPayload::Ping(value) => return Ok(FromClient::Ping(*value)),
            ControlPayload::ConnectReq => return Ok(FromClient::JoinAgain { tells_restart: true }),
            ControlPayload::Disconnect => return Ok(FromClient::Leaves),
            ControlPayload::Heartbeat | ControlPayload::ReliableEvent(_) => return Ok(FromClient::Alive),
            ControlPayload::ConnectAck { .. }
            | ControlPayload::Snapshot(_)
            | ControlPayload::Pong(_)
            | ControlPayload::Delta(_) => return Err(Refusal::OutOfPlace),
        }
        Ok(FromClient::Inputs)
    }
}

impl ServerEnd for ServerLink {
    type Prepared = Prepared;

    fn idle(_: u32) -> Self {
        Self {
            connection: Connection::new(Time::ZERO, 0, OF_CLIENT),
            reliable: Reliable::roomy(),
            marks: [0; IN_FLIGHT as usize],
            holdings: Holdings::new(),
        }
    }

    fn nothing_prepared(frame_rate: u16) -> Prepared {
        Prepared::new(frame_rate)
    }

    /// Projectiles were told with their course.
    fn prepare_broadcast(
        frame: Frame,
        shown: &[Shown],
        _: impl Iterator<Item = (u8, (f32, f32))>,
        prepared: &mut Prepared,
    ) {
        prepared.prepare(frame, shown);
    }

    fn begin(&mut self, now: Time, _: u8, challenges: &Challenges) {
        self.connection = Connection::after(now, challenges);
        self.reliable.reset();
        self.marks = [0; IN_FLIGHT as usize];
        self.holdings = Holdings::new();
    }

    fn receive(
        &mut self,
        now: Time,
        datagram: &[u8],
        inputs: &mut Vec<NumberedInput>,
    ) -> Result<FromClient, Refusal> {
        let packet = decode(datagram)?;
        let heard = self.hear(&packet.payload, inputs)?;
        if let FromClient::JoinAgain { .. } = heard {
            // A CONNECT_REQ is the first of its sender. Later ones change no number here.
            self.connection.begin_with(now, packet.header.sequence);
            return Ok(heard);
        }
        self.connection.check(now, packet.header)?;
        if self.holdings.are_asked_for() {
            self.holdings.acknowledged(packet.header);
        }
        if let ControlPayload::ReliableEvent(payload) = packet.payload {
            self.connection.accept(now, packet.header, &mut self.reliable);
            return Ok(match message::read(payload) {
                Some(Message::Ticks { first }) => FromClient::Numbered { first },
                Some(Message::Deltas) => {
                    self.holdings.ask();
                    FromClient::Alive
                }
                // Anybody may send events of their own; the format says nothing about them. They are dropped.
                _ => FromClient::Alive,
            });
        }
        match self.connection.accept(now, packet.header, &mut self.reliable) {
            Received::New => Ok(heard),
            Received::Duplicate => Ok(FromClient::Alive),
        }
    }

    fn queue_terms(&mut self, now: Time, terms: &Terms, frame: Frame) {
        let sent = self.reliable.send_bytes(now, |_, bytes| message::put_terms(terms, frame, bytes));
        debug_assert_eq!(sent, Ok(0), "TERMS is the first message");
    }

    fn queue_records<'a>(
        &mut self,
        now: Time,
        records: impl Iterator<Item = (u64, &'a Record)>,
    ) -> Option<u64> {
        let mut records = records.peekable();
        records.peek()?;
        let mut last = None;
        let sent = self.reliable.send_bytes(now, |number, bytes| {
            message::put_events_head(number, bytes);
            while bytes.len() + MAX_RECORD <= MAX_LEN
                && let Some((mark, record)) = records.next()
            {
                message::put_record(record, bytes);
                last = Some(mark);
            }
        });
        self.marks[usize::from(sent.ok()? % IN_FLIGHT)] = last?;
        last
    }

    fn mark_all(&mut self, mark: u64) {
        self.marks = [mark; IN_FLIGHT as usize];
    }

    fn acknowledged_mark(&self) -> Option<u64> {
        if self.reliable.all_acknowledged() {
            return None;
        }
        let last = self.reliable.first_unacknowledged().wrapping_sub(1);
        // Before the first message, TERMS, nothing is acknowledged: its mark and the untouched ones are 0.
        Some(self.marks[usize::from(last % IN_FLIGHT)])
    }

    fn has_due(&self, now: Time) -> bool {
        self.reliable.next_due().is_some_and(|due| due <= now)
    }

    fn write_due(&mut self, now: Time, buf: &mut [u8]) -> Option<usize> {
        self.connection.write_due(now, &mut self.reliable, buf)
    }

    fn write_accepted(&mut self, now: Time, id: u8, buf: &mut [u8]) -> Option<usize> {
        let client_id = NonZeroU8::new(id)?;
        self.connection.write(now, &ControlPayload::ConnectAck { client_id }, buf)
    }

    fn write_pong(&mut self, now: Time, value: u64, buf: &mut [u8]) -> Option<usize> {
        self.connection.write(now, &ControlPayload::Pong(value), buf)
    }

    fn write_leaves(&mut self, now: Time, buf: &mut [u8]) -> Option<usize> {
        self.connection.write(now, &ControlPayload::Disconnect, buf)
    }

    fn plan_broadcast(&mut self, prepared: &mut Prepared, _: usize, sight: impl Fn(u8) -> Sight) -> usize {
        if !self.holdings.are_asked_for() {
            return prepared.snapshots();
        }
        self.holdings.plan(prepared.history_mut(), sight);
        MAX_DELTAS
    }

    fn write_broadcast(
        &mut self,
        now: Time,
        prepared: &Prepared,
        rest: Rest,
        buf: &mut [u8],
    ) -> Option<usize> {
        if !self.holdings.are_asked_for() {
            let snapshot = prepared.snapshot(rest.at.into())?;
            return Prepared::copy(snapshot, buf, rest.applied, || self.connection.header(now));
        }
        let room = buf.len().min(MAX_SNAPSHOT);
        let payload = buf.get_mut(ControlPacket::HEADER_LEN..room)?;
        let (len, written) = self.holdings.write(prepared.history(), rest.at == 0, rest.applied, payload)?;
        let header = self.connection.header(now);
        self.holdings.sent(header.sequence, written);
        ControlPacket::put_delta_header(&header, len, buf)
    }
}

const _: () = assert!(EVENTS_HEAD + MAX_RECORD <= MAX_LEN);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::control::{ControlHeader, Entries, Snapshot};

    #[test]
    fn duplicate_packet_is_ignored() {
        let mut link = ServerLink::idle(1);
        link.begin(Time::ZERO, 7, &Challenges::after(100));
        for (sequence, payload, expected) in [
            (5, ControlPayload::Ping(9), FromClient::Ping(9)),
            (6, ControlPayload::Disconnect, FromClient::Leaves),
        ] {
            let mut buf = [0; 64];
            let len =
                ControlPacket::encode(&ControlHeader { sequence, ack: 100, ack_bits: 0 }, &payload, &mut buf)
                    .unwrap();
            let heard = [(); 2].map(|()| link.receive(Time::ZERO, &buf[..len], &mut Vec::new()));
            assert_eq!(heard, [Ok(expected), Ok(FromClient::Alive)]);
        }
    }

    fn packet(sequence: u16, ack: u16, ack_bits: u32) -> Vec<u8> {
        let mut buf = [0; 64];
        let header = ControlHeader { sequence, ack, ack_bits };
        let len = ControlPacket::encode(&header, &ControlPayload::Heartbeat, &mut buf).unwrap();
        buf[..len].to_vec()
    }

    #[test]
    fn marks_follow_the_acknowledged_messages() {
        let mut link = ServerLink::idle(1);
        for _ in 0..2 {
            link.begin(Time::ZERO, 7, &Challenges::after(100));
            assert_eq!(link.acknowledged_mark(), None, "nothing is under way");
            let terms = Terms { frame_rate: 60, broadcast_rate: 20, seed: 1 };
            link.queue_terms(Time::ZERO, &terms, Frame(1));
            assert_eq!(link.acknowledged_mark(), Some(0));
            let hit = Record::Hit { id: 3, damage: 1, frame: Frame(1) };
            for mark in [7, 9] {
                assert_eq!(link.queue_records(Time::ZERO, [(mark, &hit)].into_iter()), Some(mark));
            }
            // TERMS is packet 101, the records are 102 and 103.
            (0..3).for_each(|_| assert!(link.write_due(Time::ZERO, &mut [0; 128]).is_some()));
            let mut heard = |sequence, ack, bits| {
                link.receive(Time::ZERO, &packet(sequence, ack, bits), &mut Vec::new())
                    .map(|_| link.acknowledged_mark())
            };
            assert_eq!(heard(1, 104, 0), Err(Refusal::AckUnsent));
            assert_eq!(heard(1, 103, 0), Ok(Some(0)), "102 is missing");
            assert_eq!(heard(2, 103, 1), Ok(Some(0)));
            assert_eq!(heard(3, 102, 1), Ok(None));
            link.mark_all(50);
        }
        link.begin(Time::ZERO, 7, &Challenges::after(100));
        for mark in [7, 9] {
            link.queue_records(Time::ZERO, [(mark, &Record::Bye { kicked: true })].into_iter());
            assert!(link.write_due(Time::ZERO, &mut [0; 128]).is_some());
        }
        link.receive(Time::ZERO, &packet(1, 101, 0), &mut Vec::new()).unwrap();
        assert_eq!(link.acknowledged_mark(), Some(7));
        link.mark_all(50);
        assert_eq!(link.acknowledged_mark(), Some(50));
    }

    fn heard(payload: &ControlPayload<'_>) -> (Result<FromClient, Refusal>, Vec<NumberedInput>) {
        let (mut link, mut inputs, mut buf) = (ServerLink::idle(1), vec![(9, Command::NEUTRAL)], [0; 64]);
        link.begin(Time::ZERO, 7, &Challenges::after(100));
        let header = ControlHeader { sequence: 1, ack: 100, ack_bits: 0 };
        let len = ControlPacket::encode(&header, payload, &mut buf).unwrap();
        (link.receive(Time::ZERO, &buf[..len], &mut inputs), inputs)
    }

    #[test]
    fn inputs_are_commands_with_their_numbers() {
        let input = |sequence| PlayerInput { sequence, move_x: 0.5, move_y: -1.0, actions: 3 };
        let expected = |number| (number, Command { x: 0.5, y: -1.0, actions: 3 });
        assert_eq!(heard(&ControlPayload::Input(input(5))), (Ok(FromClient::Inputs), vec![expected(5)]));
        let all = [input(6), input(7)];
        let inputs = ControlPayload::Inputs(Entries::from(&all[..]));
        assert_eq!(heard(&inputs), (Ok(FromClient::Inputs), [6, 7].map(expected).into()));
    }

    #[test]
    fn packets_that_only_a_server_sends_are_refused() {
        let snapshot = Snapshot { tick: 1, entities: Entries::from(&[][..]), last_input: None };
        let wrong = [
            ControlPayload::ConnectAck { client_id: NonZeroU8::MIN },
            ControlPayload::Snapshot(snapshot),
            ControlPayload::Pong(1),
        ];
        for payload in wrong {
            assert_eq!(heard(&payload).0, Err(Refusal::OutOfPlace));
        }
        assert_eq!(heard(&ControlPayload::ConnectReq).0, Ok(FromClient::JoinAgain { tells_restart: true }));
        assert_eq!(
            heard(&ControlPayload::ReliableEvent(&[9, 9])).0,
            Ok(FromClient::Alive),
            "another's event"
        );
        assert_eq!(
            heard(&ControlPayload::ReliableEvent(&[2, 0, 0, 0, 7])).0,
            Ok(FromClient::Numbered { first: 7 })
        );
    }
}
