//! A client's end of an R-Type connection.

use super::lives::{Lives, Spawned};
use super::numbers::{Numbers, OF_CHALLENGES, OF_SERVER};
use super::replies::Replies;
use super::{NO_ENTITY, decode};
use crate::Frame;
use crate::authority::dialect::{ClientEnd, Delivered, FromServer, NumberedInput};
use crate::authority::{Body, ClientConfig, Course, FIRST_SHOT, PlayerName, Record, Shown, Terms};
use crate::channel::entropy::Entropy;
use crate::channel::probes::Probes;
use crate::channel::refusal::Refusal;
use crate::channel::sequence::Received;
use crate::protocol::time::Time;
use crate::wire::rtype::{InputFlags, RtypeHeader, RtypePacket, RtypePayload};

/// The number of HELLOs whose ACK is waited for: one and five more.
const HELLOS: usize = 6;

/// Sequence numbers and replies towards the server.
#[derive(Clone, Debug)]
pub(crate) struct ClientLink {
    name: PlayerName,
    numbers: Numbers,
    replies: Replies,
    lives: Lives,
    /// The HELLOs under way. Each is a packet of its own, so that its ACK tells the round trip.
    hellos: Probes<u16, HELLOS>,
    /// The rates of the config, and the seed of the WELCOME.
    terms: Terms,
    /// The number of the WELCOME and the id in it, and whether anything but challenges came after it: we then have a seat.
    welcome: Option<(u16, u8)>,
    is_seated: bool,
    /// Packets that wait to be delivered as records, two if the end of an entity was here before its spawn.
    records: [Option<RtypePayload<'static>>; 2],
    leave: Option<u16>,
}

impl ClientLink {
    /// Takes in an answer to a HELLO: its ACK or NACK, or the WELCOME. `None` if the packet is something else.
    fn hear_answer(
        &mut self,
        now: Time,
        packet: &RtypePacket<'_>,
    ) -> Option<Result<FromServer<()>, Refusal>> {
        let number = packet.header.sequence;
        match packet.payload {
            RtypePayload::Ack(named) => {
                let said_at = self.hellos.answered(named).ok_or(Refusal::AckUnsent);
                Some(said_at.map(|said_at| FromServer::RoundTrip(now.since(said_at))))
            }
            RtypePayload::Nack(named) if self.welcome.is_none() => {
                Some(self.hellos.answered(named).map(|_| FromServer::Leaves).ok_or(Refusal::AckUnsent))
            }
            RtypePayload::Welcome { player_id, seed } => {
                match self.welcome {
                    None if self.hellos.count() == 0 => return Some(Err(Refusal::OutOfPlace)),
                    None => {
                        self.numbers.forget_received();
                        self.numbers.set_range(OF_CHALLENGES);
                        (self.welcome, self.is_seated) = (Some((number, player_id)), false);
                        self.terms.seed = seed;
                    }
                    Some((known, id)) if known == number && id == player_id => {}
                    // The first one counts. If it was forged we ask again.
                    Some(_) if !self.is_seated => return Some(Err(Refusal::OutOfPlace)),
                    Some(_) => return None,
                }
                let accepted = self.numbers.accept(now, number);
                self.replies.ack(number);
                Some(accepted.map(|_| FromServer::Accepted { id: player_id, sends_proof: true }))
            }
            _ if self.welcome.is_none() => Some(Err(Refusal::OutOfPlace)),
            _ => None,
        }
    }

    fn hear(&mut self, number: u64, payload: &RtypePayload<'_>, shown: &mut Vec<Shown>) -> FromServer<()> {
        match *payload {
            RtypePayload::EntitySpawn { id, kind, x, y } => {
                let spawned = self.lives.spawn(id, number);
                if spawned == Spawned::Stale {
                    return FromServer::Quiet;
                }
                let gone = (spawned == Spawned::AndGone).then_some(RtypePayload::EntityDestroy { id });
                self.records = [Some(RtypePayload::EntitySpawn { id, kind, x, y }), gone];
                FromServer::Messages
            }
            RtypePayload::EntityDestroy { id } if self.lives.destroy(id, number) => {
                self.records = [Some(RtypePayload::EntityDestroy { id }), None];
                FromServer::Messages
            }
            RtypePayload::HitEvent { id, damage } if id < FIRST_SHOT => {
                self.records = [Some(RtypePayload::HitEvent { id, damage }), None];
                FromServer::Messages
            }
            RtypePayload::EntityUpdate { id, x, y } if self.lives.update(id, number) => {
                shown.clear();
                shown.push(Shown { id, body: Body::at(f32::from(x), f32::from(y)) });
                FromServer::Entities(())
            }
            RtypePayload::PlayerLeft { player_id }
                if self.welcome.is_some_and(|(_, own)| own == player_id) =>
            {
                FromServer::Leaves
            }
            _ => FromServer::Quiet,
        }
    }
}

/// The record of a packet that has arrived at `frame`.
fn record(packet: RtypePayload<'_>, frame: Frame) -> Option<Record> {
    let shot = |id: u16| (id - FIRST_SHOT) as u8;
    Some(match packet {
        RtypePayload::EntitySpawn { id, kind, x, y } => {
            let (x, y) = (f32::from(x), f32::from(y));
            let course = Course { frame, x, y, velocity_x: 0.0, velocity_y: 0.0 };
            match u8::try_from(id) {
                Ok(id) => Record::Spawn { id, kind, frame, place: Some((x, y)) },
                Err(_) => Record::Shot { id: shot(id), kind, owner: 0, course },
            }
        }
        RtypePayload::EntityDestroy { id } => match u8::try_from(id) {
            Ok(id) => Record::Gone { id, frame, player: false },
            Err(_) => Record::ShotEnd { id: shot(id), frame },
        },
        RtypePayload::HitEvent { id, damage } => Record::Hit { id: u8::try_from(id).ok()?, damage, frame },
        _ => return None,
    })
}

impl ClientEnd for ClientLink {
    type Stamp = ();

    fn new(config: &ClientConfig, entropy: &mut Entropy) -> Self {
        let ClientConfig { frame_rate, broadcast_rate, name, .. } = *config;
        Self {
            name,
            numbers: Numbers::new(entropy.next_u64() as u16, OF_SERVER),
            replies: Replies::new(),
            lives: Lives::new(),
            hellos: Probes::new(),
            terms: Terms { frame_rate, broadcast_rate, seed: 0 },
            welcome: None,
            is_seated: false,
            records: [None; 2],
            leave: None,
        }
    }

    fn receive(
        &mut self,
        now: Time,
        datagram: &[u8],
        shown: &mut Vec<Shown>,
    ) -> Result<FromServer<()>, Refusal> {
        let packet = decode(datagram).inspect_err(|_| {
            if self.welcome.is_some() {
                self.replies.nack(now, &self.numbers, datagram);
            }
        })?;
        if let Some(answered) = self.hear_answer(now, &packet) {
            return answered;
        }
        match packet.payload {
            RtypePayload::Hello { .. } | RtypePayload::PlayerLeave | RtypePayload::Input(_) => {
                return Err(Refusal::OutOfPlace);
            }
            RtypePayload::Nack(named) if !self.numbers.was_sent(named) => return Err(Refusal::AckUnsent),
            _ => {}
        }
        let is_challenge = packet.payload == RtypePayload::EntityDestroy { id: NO_ENTITY };
        let (number, received) = self.numbers.accept(now, packet.header.sequence)?;
        if !self.is_seated && !is_challenge {
            self.is_seated = true;
            self.numbers.set_range(OF_SERVER);
        }
        if packet.header.asks_ack {
            self.replies.ack(packet.header.sequence);
        }
        if received == Received::Duplicate || is_challenge {
            return Ok(FromServer::Alive);
        }
        if let RtypePayload::Nack(_) = packet.payload {
            self.replies.nack_heard(now);
            let rejected = self.replies.are_rejected();
            return Ok(if rejected { FromServer::Rejected } else { FromServer::Alive });
        }
        Ok(self.hear(number, &packet.payload, shown))
    }

    fn deliver(&mut self, frame: Frame, mut take: impl FnMut(Delivered)) {
        let records = core::mem::take(&mut self.records).into_iter().flatten();
        records.filter_map(|packet| record(packet, frame)).for_each(|record| take(Delivered::Record(record)));
    }

    /// The format has no rates.
    fn seated(&mut self, _: Time) -> Option<Terms> {
        Some(self.terms)
    }

    fn next_due(&self) -> Time {
        if self.replies.is_waiting() { Time::ZERO } else { Time::NEVER }
    }

    fn ends_farewell(&self, datagram: &[u8]) -> bool {
        let heard = decode(datagram).map(|packet| packet.payload);
        self.leave.is_some_and(|leave| heard == Ok(RtypePayload::Ack(leave)))
    }

    fn write_due(&mut self, _: Time, buf: &mut [u8]) -> Option<usize> {
        self.replies.write(&mut self.numbers, buf)
    }

    fn write_join(&mut self, now: Time, buf: &mut [u8]) -> Option<usize> {
        let sequence = self.numbers.next();
        self.hellos.sent(now, sequence);
        self.welcome = None;
        let hello = RtypePayload::Hello { version: RtypePacket::VERSION, name: self.name.as_str() };
        RtypePacket::encode(RtypeHeader { asks_ack: true, sequence }, &hello, buf).ok()
    }

    /// One input a packet: the newest.
    fn write_inputs(&mut self, _: Time, inputs: &[NumberedInput], buf: &mut [u8]) -> Option<usize> {
        let (_, command) = inputs.last()?;
        let flags = InputFlags::new(command.x as i8, command.y as i8, command.actions & 1 != 0);
        self.numbers.write(false, &RtypePayload::Input(flags), buf)
    }

    /// Until we have a seat the ACK of the WELCOME may have been lost: it is the proof.
    fn write_alive(&mut self, _: Time, buf: &mut [u8]) -> Option<usize> {
        match self.welcome {
            Some((number, _)) if !self.is_seated => {
                self.numbers.write(false, &RtypePayload::Ack(number), buf)
            }
            _ => self.numbers.write(false, &RtypePayload::Heartbeat, buf),
        }
    }

    fn write_leaves(&mut self, _: Time, buf: &mut [u8]) -> Option<usize> {
        let sequence = *self.leave.get_or_insert_with(|| self.numbers.next());
        RtypePacket::encode(RtypeHeader { asks_ack: true, sequence }, &RtypePayload::PlayerLeave, buf).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authority::Command;
    use crate::protocol::time::Span;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn packet(sequence: u16, payload: &RtypePayload<'_>) -> Vec<u8> {
        let mut buf = [0; 64];
        let asks_ack = !matches!(
            payload,
            RtypePayload::EntityUpdate { .. }
                | RtypePayload::Heartbeat
                | RtypePayload::Ack(_)
                | RtypePayload::Nack(_)
        );
        let len = RtypePacket::encode(RtypeHeader { asks_ack, sequence }, payload, &mut buf).unwrap();
        buf[..len].to_vec()
    }

    /// A connection that begins with packet 50.
    fn link() -> ClientLink {
        let numbers = Numbers::new(50, OF_SERVER);
        ClientLink { numbers, ..ClientLink::new(&ClientConfig::new(1), &mut Entropy::new(1)) }
    }

    /// A client that was welcomed as player 3 with packet 1,000.
    fn welcomed() -> ClientLink {
        let mut link = link();
        assert!(link.write_join(at(0), &mut [0; 64]).is_some());
        let welcome = packet(1_000, &RtypePayload::Welcome { player_id: 3, seed: 1 });
        let heard = link.receive(at(10), &welcome, &mut Vec::new());
        assert_eq!(heard, Ok(FromServer::Accepted { id: 3, sends_proof: true }));
        link
    }

    fn written(link: &mut ClientLink, now: Time) -> Vec<RtypePayload<'static>> {
        let mut buf = [0; 64];
        core::iter::from_fn(|| {
            let len = link.write_due(now, &mut buf)?;
            match decode(&buf[..len]).unwrap().payload {
                RtypePayload::Ack(number) => Some(RtypePayload::Ack(number)),
                other => panic!("{other:?}"),
            }
        })
        .collect()
    }

    #[test]
    fn challenges_are_acknowledged_across_gaps_and_are_no_seat() {
        let (mut link, mut shown) = (welcomed(), Vec::new());
        let challenge = RtypePayload::EntityDestroy { id: NO_ENTITY };
        // Three in a row were lost before the last one.
        for number in [2_000, 5_096] {
            assert_eq!(link.receive(at(20), &packet(number, &challenge), &mut shown), Ok(FromServer::Alive));
        }
        let acks = [1_000, 2_000, 5_096].map(RtypePayload::Ack);
        assert_eq!(written(&mut link, at(20)), acks);
        let mut buf = [0; 64];
        let len = link.write_alive(at(30), &mut buf).unwrap();
        assert_eq!(
            decode(&buf[..len]).unwrap().payload,
            RtypePayload::Ack(1_000),
            "the proof, until there is a seat"
        );
        let spawn = packet(5_097, &RtypePayload::EntitySpawn { id: 3, kind: 0, x: 1, y: 1 });
        assert_eq!(link.receive(at(40), &spawn, &mut shown), Ok(FromServer::Messages));
        let len = link.write_alive(at(50), &mut buf).unwrap();
        assert_eq!(decode(&buf[..len]).unwrap().payload, RtypePayload::Heartbeat);
        let far = packet(5_097 + 400, &RtypePayload::Heartbeat);
        assert_eq!(link.receive(at(50), &far, &mut shown), Err(Refusal::FarSequence), "gaps are over");
    }

    #[test]
    fn only_the_own_players_end_is_ours() {
        let (mut link, mut shown) = (welcomed(), Vec::new());
        let left = |id| RtypePayload::PlayerLeft { player_id: id };
        assert_eq!(link.receive(at(20), &packet(1_001, &left(4)), &mut shown), Ok(FromServer::Quiet));
        assert_eq!(link.receive(at(20), &packet(1_002, &left(3)), &mut shown), Ok(FromServer::Leaves));
    }

    #[test]
    fn leave_is_repeated_under_its_number_until_its_ack() {
        let mut link = welcomed();
        let (mut first, mut second) = ([0; 16], [0; 16]);
        let lens = (link.write_leaves(at(20), &mut first), link.write_leaves(at(120), &mut second));
        assert_eq!((lens.0, first), (lens.1, second));
        let number = u16::from_be_bytes([first[2], first[3]]);
        assert!(!link.ends_farewell(&packet(1_001, &RtypePayload::Ack(number + 1))));
        assert!(link.ends_farewell(&packet(1_001, &RtypePayload::Ack(number))));
    }

    fn delivered(link: &mut ClientLink, frame: u32) -> Vec<Record> {
        let mut records = Vec::new();
        link.deliver(Frame(frame), |delivered| match delivered {
            Delivered::Record(record) => records.push(record),
            Delivered::Terms(..) => panic!("R-Type has no terms"),
        });
        records
    }

    #[test]
    fn each_packet_is_delivered_once_at_its_arrival() {
        let (mut link, mut shown) = (welcomed(), Vec::new());
        let hit = packet(1_001, &RtypePayload::HitEvent { id: 3, damage: 9 });
        assert_eq!(link.receive(at(20), &hit, &mut shown), Ok(FromServer::Messages));
        assert_eq!(delivered(&mut link, 20), [Record::Hit { id: 3, damage: 9, frame: Frame(20) }]);
        assert_eq!(link.receive(at(21), &hit, &mut shown), Ok(FromServer::Alive), "a copy");
        assert_eq!(delivered(&mut link, 21), []);
        let spawn = packet(1_002, &RtypePayload::EntitySpawn { id: 300, kind: 1, x: 5, y: 6 });
        let end = packet(1_003, &RtypePayload::EntityDestroy { id: 300 });
        // The end overtakes the beginning.
        assert_eq!(link.receive(at(30), &end, &mut shown), Ok(FromServer::Quiet));
        assert_eq!(link.receive(at(31), &spawn, &mut shown), Ok(FromServer::Messages));
        let course = Course { frame: Frame(31), x: 5.0, y: 6.0, velocity_x: 0.0, velocity_y: 0.0 };
        let shot = Record::Shot { id: 44, kind: 1, owner: 0, course };
        assert_eq!(delivered(&mut link, 31), [shot, Record::ShotEnd { id: 44, frame: Frame(31) }]);
        for (number, id) in [(1_004, 9), (1_005, 300), (1_006, 600)] {
            let update = packet(number, &RtypePayload::EntityUpdate { id, x: 1, y: 1 });
            assert_eq!(link.receive(at(32), &update, &mut shown), Ok(FromServer::Quiet), "{id} is not there");
        }
        let nobody = packet(1_007, &RtypePayload::HitEvent { id: 256, damage: 9 });
        assert_eq!(link.receive(at(33), &nobody, &mut shown), Ok(FromServer::Quiet), "not an entity");
    }

    #[test]
    fn nothing_is_rejected_before_the_welcome() {
        let (mut link, mut shown) = (link(), Vec::new());
        let welcome = packet(1_000, &RtypePayload::Welcome { player_id: 3, seed: 1 });
        assert_eq!(link.receive(at(0), &welcome, &mut shown), Err(Refusal::OutOfPlace), "not asked for");
        assert!(link.write_join(at(0), &mut [0; 64]).is_some());
        assert!(link.receive(at(0), &[0x99, 0, 0, 1], &mut shown).is_err());
        assert_eq!((link.next_due(), link.write_due(at(0), &mut [0; 64])), (Time::NEVER, None));
        assert!(link.receive(at(10), &welcome, &mut shown).is_ok());
        assert_eq!(link.next_due(), Time::ZERO, "the ACK of the welcome");
        assert_eq!(written(&mut link, at(10)), [RtypePayload::Ack(1_000)]);
        assert_eq!(link.next_due(), Time::NEVER);
    }

    #[test]
    fn another_request_makes_the_welcome_void() {
        let (mut link, mut shown) = (welcomed(), Vec::new());
        let welcome = |number, id| packet(number, &RtypePayload::Welcome { player_id: id, seed: 1 });
        for (number, id) in [(1_000, 4), (2_000, 3)] {
            let other = link.receive(at(20), &welcome(number, id), &mut shown);
            assert_eq!(other, Err(Refusal::OutOfPlace), "the first one counts");
        }
        assert!(link.receive(at(20), &welcome(1_000, 3), &mut shown).is_ok(), "a copy");
        let spawn = packet(1_001, &RtypePayload::EntitySpawn { id: 3, kind: 0, x: 1, y: 1 });
        assert_eq!(link.receive(at(30), &spawn, &mut shown), Ok(FromServer::Messages), "a seat");
        assert!(link.write_join(at(500), &mut [0; 64]).is_some());
        // Packets 50 and 51 were the requests.
        let refused = link.receive(at(510), &packet(0, &RtypePayload::Nack(51)), &mut shown);
        assert_eq!(refused, Ok(FromServer::Leaves));
        let accepted = link.receive(at(520), &welcome(30_000, 4), &mut shown);
        assert_eq!(accepted, Ok(FromServer::Accepted { id: 4, sends_proof: true }));
        let mut buf = [0; 64];
        let len = link.write_alive(at(530), &mut buf).unwrap();
        assert_eq!(decode(&buf[..len]).unwrap().payload, RtypePayload::Ack(30_000), "a proof again");
    }

    #[test]
    fn each_of_the_last_six_requests_tells_its_round_trip() {
        let (mut link, mut shown) = (link(), Vec::new());
        (0..7).for_each(|n| assert!(link.write_join(at(n * 100), &mut [0; 64]).is_some()));
        let mut acked = |named| link.receive(at(700), &packet(9, &RtypePayload::Ack(named)), &mut shown);
        assert_eq!([50, 57].map(&mut acked), [Err(Refusal::AckUnsent); 2]);
        let round_trip = |ms| Ok(FromServer::RoundTrip(Span::from_millis(ms)));
        assert_eq!([51, 54, 56].map(acked), [600, 300, 100].map(round_trip));
    }

    #[test]
    fn nack_of_a_packet_that_was_not_sent_is_refused() {
        let (mut link, mut shown) = (welcomed(), Vec::new());
        let mut nack =
            |number, named| link.receive(at(20), &packet(number, &RtypePayload::Nack(named)), &mut shown);
        assert_eq!([nack(1_001, 50), nack(1_002, 51)], [Ok(FromServer::Alive), Err(Refusal::AckUnsent)]);
    }

    #[test]
    fn newest_input_is_sent_as_flags() {
        let mut link = welcomed();
        for (x, y, actions, expected) in
            [(1.0, 0.0, 1, (1, 0, true)), (-1.0, 1.0, 2, (-1, 1, false)), (0.0, -1.0, 3, (0, -1, true))]
        {
            let (mut buf, old) = ([0; 64], (1, Command { x: 1.0, y: 1.0, actions: 1 }));
            let len = link.write_inputs(at(20), &[old, (2, Command { x, y, actions })], &mut buf).unwrap();
            let RtypePayload::Input(flags) = decode(&buf[..len]).unwrap().payload else { panic!("no input") };
            let (sent_x, sent_y) = flags.direction();
            assert_eq!((sent_x, sent_y, flags.has(InputFlags::SHOOT)), expected);
        }
    }
}
