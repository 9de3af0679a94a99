//! A server's end of an R-Type connection.

use super::numbers::{Numbers, OF_CLIENT};
use super::outbox::Outbox;
use super::replies::Replies;
use super::updates::{self, Updates};
use super::{decode, to_wire};
use crate::Frame;
use crate::authority::dialect::{Challenges, FromClient, NumberedInput, Parts, Rest, ServerEnd};
use crate::authority::server::LeftWhy;
use crate::authority::{Command, Course, FIRST_SHOT, Record, Shown, Sight};
use crate::channel::refusal::Refusal;
use crate::channel::sequence::Received;
use crate::protocol::time::Time;
use crate::wire::rtype::{InputFlags, RtypeHeader, RtypePacket, RtypePayload};

/// Sequence numbers, reliable packets and positions towards one client.
#[derive(Clone, Debug)]
pub(crate) struct ServerLink {
    id: u8,
    seed: u32,
    numbers: Numbers,
    outbox: Outbox,
    replies: Replies,
    updates: Updates,
    /// The packets before the first, which the client may still acknowledge.
    challenges: Challenges,
    /// The number of the PLAYER_LEFT that tells the client that it was removed, and whether its ACK has come.
    farewell: Option<u16>,
    farewell_heard: bool,
}

impl ServerLink {
    /// Queues a record. Messages of the game's own and courses have no place in the format.
    fn queue(&mut self, now: Time, mark: u64, record: &Record) {
        let payload = match *record {
            Record::Spawn { id, kind, place, .. } => self.spawn(id.into(), kind, place.unwrap_or_default()),
            Record::Shot { id, kind, course, .. } => {
                self.spawn(FIRST_SHOT + u16::from(id), kind, (course.x, course.y))
            }
            Record::Gone { id, player, .. } => {
                if player {
                    self.outbox.push(now, &RtypePayload::PlayerLeft { player_id: id }, mark);
                }
                RtypePayload::EntityDestroy { id: id.into() }
            }
            Record::ShotEnd { id, .. } => RtypePayload::EntityDestroy { id: FIRST_SHOT + u16::from(id) },
            Record::Hit { id, damage, .. } => RtypePayload::HitEvent { id: id.into(), damage },
            Record::Bounce { .. } | Record::Told { .. } | Record::Bye { .. } => return,
        };
        self.outbox.push(now, &payload, mark);
    }

    fn spawn(&mut self, id: u16, kind: u8, (x, y): (f32, f32)) -> RtypePayload<'static> {
        let (x, y) = (to_wire(x), to_wire(y));
        self.updates.spawned(id, (x, y));
        RtypePayload::EntitySpawn { id, kind, x, y }
    }
}

/// The packets that a record becomes at most: the ship of a player who has left is two.
const PACKETS_A_RECORD: usize = 2;

fn command(flags: InputFlags) -> Command {
    let (x, y) = flags.direction();
    Command { x: f32::from(x), y: f32::from(y), actions: u8::from(flags.has(InputFlags::SHOOT)) }
}

impl ServerEnd for ServerLink {
    type Prepared = Parts;

    fn idle(seed: u32) -> Self {
        Self {
            id: 0,
            seed,
            numbers: Numbers::new(0, OF_CLIENT),
            outbox: Outbox::new(),
            replies: Replies::new(),
            updates: Updates::new(),
            challenges: Challenges::NONE,
            farewell: None,
            farewell_heard: false,
        }
    }

    fn nothing_prepared(_: u16) -> Parts {
        Parts::new()
    }

    /// The positions of all entities; projectiles are entities too.
    fn prepare_broadcast(
        _: Frame,
        entities: &[Shown],
        shots: impl Iterator<Item = (u8, (f32, f32))>,
        parts: &mut Parts,
    ) {
        parts.clear();
        let entities = entities.iter().map(|Shown { id, body }| (*id, (body.x, body.y)));
        for (id, (x, y)) in entities.chain(shots.map(|(id, place)| (FIRST_SHOT + u16::from(id), place))) {
            updates::put(id, (to_wire(x), to_wire(y)), parts);
        }
    }

    /// A place is all that travels: the one where the projectile is now.
    fn course_for_newcomer(course: Course, frame: Frame, frame_rate: u16) -> Course {
        course.moved_to(frame, frame_rate)
    }

    fn begin(&mut self, now: Time, id: u8, challenges: &Challenges) {
        (self.id, self.challenges) = (id, *challenges);
        (self.farewell, self.farewell_heard) = (None, false);
        self.numbers = Numbers::new(challenges.last(), OF_CLIENT);
        self.numbers.next();
        self.outbox.clear(now);
        self.replies.clear();
    }

    fn receive(
        &mut self,
        now: Time,
        datagram: &[u8],
        inputs: &mut Vec<NumberedInput>,
    ) -> Result<FromClient, Refusal> {
        let packet = decode(datagram).inspect_err(|_| self.replies.nack(now, &self.numbers, datagram))?;
        let number = packet.header.sequence;
        match packet.payload {
            // The first of its sender, whose numbers may begin anywhere. It changes no number here.
            RtypePayload::Hello { .. } => {
                self.replies.ack(number);
                return Ok(FromClient::JoinAgain { tells_restart: false });
            }
            RtypePayload::Ack(named) | RtypePayload::Nack(named)
                if !self.numbers.was_sent(named) && !self.challenges.contains(named) =>
            {
                return Err(Refusal::AckUnsent);
            }
            RtypePayload::Ack(_)
            | RtypePayload::Nack(_)
            | RtypePayload::Input(_)
            | RtypePayload::PlayerLeave
            | RtypePayload::Heartbeat => {}
            _ => return Err(Refusal::OutOfPlace),
        }
        let (whole, received) = self.numbers.accept(now, number)?;
        self.outbox.heard(now);
        if packet.header.asks_ack {
            self.replies.ack(number);
        }
        if received == Received::Duplicate {
            return Ok(FromClient::Alive);
        }
        let number = whole as u32;
        Ok(match packet.payload {
            RtypePayload::Input(flags) => {
                inputs.clear();
                inputs.push((number, command(flags)));
                FromClient::Inputs
            }
            RtypePayload::PlayerLeave => FromClient::Leaves,
            RtypePayload::Ack(named) => {
                self.outbox.acknowledged(named);
                self.farewell_heard |= self.farewell == Some(named);
                FromClient::Passed { number }
            }
            RtypePayload::Nack(_) => {
                self.replies.nack_heard(now);
                FromClient::Passed { number }
            }
            _ => FromClient::Passed { number },
        })
    }

    fn lost(&self, now: Time) -> Option<LeftWhy> {
        if self.replies.are_rejected() {
            return Some(LeftWhy::Rejected);
        }
        self.outbox.is_unanswered(now).then_some(LeftWhy::Unanswered)
    }

    fn queue_records<'a>(
        &mut self,
        now: Time,
        records: impl Iterator<Item = (u64, &'a Record)>,
    ) -> Option<u64> {
        let mut last = None;
        for (mark, record) in records {
            if !self.outbox.has_room(PACKETS_A_RECORD) {
                break;
            }
            self.queue(now, mark, record);
            last = Some(mark);
        }
        last
    }

    fn mark_all(&mut self, mark: u64) {
        self.outbox.mark_all(mark);
    }

    fn acknowledged_mark(&self) -> Option<u64> {
        self.outbox.acknowledged_mark()
    }

    fn has_due(&self, now: Time) -> bool {
        self.replies.is_waiting() || self.outbox.has_due(now)
    }

    /// An ACK or a NACK does not wait for the next frame.
    fn has_urgent(&self, now: Time) -> bool {
        self.has_due(now)
    }

    fn write_due(&mut self, now: Time, buf: &mut [u8]) -> Option<usize> {
        self.replies.write(&mut self.numbers, buf).or_else(|| self.outbox.write(now, &mut self.numbers, buf))
    }

    fn write_accepted(&mut self, _: Time, id: u8, buf: &mut [u8]) -> Option<usize> {
        self.numbers.write(true, &RtypePayload::Welcome { player_id: id, seed: self.seed }, buf)
    }

    /// A PLAYER_LEFT with the client's own id; its copies have the same number.
    fn write_leaves(&mut self, _: Time, buf: &mut [u8]) -> Option<usize> {
        let sequence = *self.farewell.get_or_insert_with(|| self.numbers.next());
        let left = RtypePayload::PlayerLeft { player_id: self.id };
        RtypePacket::encode(RtypeHeader { asks_ack: true, sequence }, &left, buf).ok()
    }

    /// Nothing but that it was removed is told to somebody who is not there any more.
    fn begin_farewell(&mut self, now: Time) {
        self.outbox.clear(now);
    }

    fn is_farewell_heard(&self) -> bool {
        self.farewell_heard
    }

    /// Every entity is a packet of its own, and waits for its turn instead of being seen from afar.
    fn plan_broadcast(&mut self, parts: &mut Parts, budget: usize, _: impl Fn(u8) -> Sight) -> usize {
        self.updates.plan(parts, self.id.into(), budget)
    }

    fn write_broadcast(&mut self, _: Time, parts: &Parts, rest: Rest, buf: &mut [u8]) -> Option<usize> {
        match self.updates.take(parts, rest.at.into()) {
            Some((id, (x, y))) => self.numbers.write(false, &RtypePayload::EntityUpdate { id, x, y }, buf),
            None => self.numbers.write(false, &RtypePayload::Heartbeat, buf),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::time::Span;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn packet(sequence: u16, payload: &RtypePayload<'_>) -> Vec<u8> {
        let mut buf = [0; 64];
        let len = RtypePacket::encode(RtypeHeader { asks_ack: false, sequence }, payload, &mut buf).unwrap();
        buf[..len].to_vec()
    }

    /// The link of client 3 after challenges 1,000 and 1,700.
    fn link() -> ServerLink {
        let mut challenges = Challenges::after(1_000);
        challenges.push(1_700);
        let mut link = ServerLink::idle(1);
        link.begin(at(0), 3, &challenges);
        link
    }

    #[test]
    fn farewell_is_heard_by_its_own_ack() {
        let (mut link, mut inputs, mut buf) = (link(), Vec::new(), [0; 64]);
        link.queue_records(at(0), [(1, &Record::Hit { id: 3, damage: 1, frame: Frame(1) })].into_iter());
        assert!(link.write_due(at(0), &mut buf).is_some());
        let len = link.write_leaves(at(10), &mut buf).unwrap();
        let number = decode(&buf[..len]).unwrap().header.sequence;
        assert_eq!(number, 1_702);
        for (sequence, named, is_heard) in [(50, 1_701, false), (51, 1_000, false), (52, 1_702, true)] {
            link.receive(at(20), &packet(sequence, &RtypePayload::Ack(named)), &mut inputs).unwrap();
            assert_eq!(link.is_farewell_heard(), is_heard, "{named}");
        }
    }

    #[test]
    fn challenges_may_be_acknowledged_late_and_other_numbers_not() {
        let (mut link, mut inputs) = (link(), Vec::new());
        let mut acked = |sequence, named| {
            link.receive(at(20), &packet(sequence, &RtypePayload::Ack(named)), &mut inputs).is_ok()
        };
        assert_eq!(
            [acked(1, 1_000), acked(2, 1_700), acked(3, 1_001), acked(4, 1_701)],
            [true, true, false, false]
        );
    }

    #[test]
    fn record_of_two_packets_waits_for_room_for_both() {
        let mut link = link();
        let hit = Record::Hit { id: 3, damage: 1, frame: Frame(1) };
        while link.outbox.has_room(PACKETS_A_RECORD) {
            assert_eq!(link.queue_records(at(0), [(1, &hit)].into_iter()), Some(1));
        }
        let gone = Record::Gone { id: 4, frame: Frame(1), player: true };
        assert_eq!(link.queue_records(at(0), [(2, &gone)].into_iter()), None);
    }

    #[test]
    fn input_counts_once() {
        let (mut link, mut inputs) = (link(), Vec::new());
        let input = packet(9, &RtypePayload::Input(InputFlags::RIGHT));
        assert_eq!(link.receive(at(20), &input, &mut inputs), Ok(FromClient::Inputs));
        assert_eq!(link.receive(at(21), &input, &mut inputs), Ok(FromClient::Alive));
    }

    #[test]
    fn client_that_is_heard_of_is_not_unanswered() {
        let (mut link, mut inputs, mut buf) = (link(), Vec::new(), [0; 64]);
        link.queue_records(at(0), [(1, &Record::Hit { id: 3, damage: 1, frame: Frame(1) })].into_iter());
        for ms in (0..1_000).step_by(10) {
            while link.write_due(at(ms), &mut buf).is_some() {}
            link.receive(at(ms), &packet(ms as u16 / 10, &RtypePayload::Heartbeat), &mut inputs).unwrap();
            assert_eq!(link.lost(at(ms)), None, "after {ms} ms");
        }
    }

    /// The payloads of everything that is due, without the numbers.
    fn due(link: &mut ServerLink) -> Vec<Vec<u8>> {
        let mut buf = [0; 64];
        core::iter::from_fn(|| link.write_due(at(0), &mut buf).map(|len| [&buf[..1], &buf[4..len]].concat()))
            .collect()
    }

    #[test]
    fn end_of_a_player_is_two_packets_and_of_an_entity_one() {
        let mut link = link();
        let gone = |id, player| Record::Gone { id, frame: Frame(1), player };
        link.queue_records(at(0), [(1, &gone(4, true)), (2, &gone(5, false))].into_iter());
        assert_eq!(due(&mut link), [vec![0x13, 4], vec![0x32, 0, 4], vec![0x32, 0, 5]]);
    }

    #[test]
    fn next_client_on_a_link_inherits_nothing() {
        let (mut link, mut inputs, mut buf) = (link(), Vec::new(), [0; 64]);
        let spawn = Record::Spawn { id: 9, kind: 1, frame: Frame(1), place: Some((5.0, 6.0)) };
        let mut parts = Parts::new();
        let body = crate::authority::Body::at(5.0, 6.0);
        ServerLink::prepare_broadcast(Frame(1), &[Shown { id: 9, body }], core::iter::empty(), &mut parts);
        for _ in 0..2 {
            link.begin(at(0), 3, &Challenges::after(1_000));
            assert!(!link.is_farewell_heard() && !link.has_due(at(0)) && link.lost(at(0)).is_none());
            assert_eq!(link.queue_records(at(0), [(1, &spawn)].into_iter()), Some(1));
            let mut updates = 0;
            for _ in 0..20 {
                let planned = link.plan_broadcast(&mut parts, 9, |_| Sight::Near);
                updates += (0..planned).filter(|at| link.updates.take(&parts, *at).is_some()).count();
            }
            assert_eq!(updates, 8, "a spawn is repeated eight times");
            assert!(link.write_leaves(at(0), &mut buf).is_some());
            let named = decode(&buf[..4 + 1]).unwrap().header.sequence;
            for n in 0..64 {
                link.receive(at(1), &packet(n, &RtypePayload::Nack(named)), &mut inputs).unwrap();
            }
            link.receive(at(1), &packet(64, &RtypePayload::Ack(named)), &mut inputs).unwrap();
            let mut asks = packet(65, &RtypePayload::Input(InputFlags::SHOOT));
            asks[1] = 1;
            assert_eq!(link.receive(at(1), &asks, &mut inputs), Ok(FromClient::Inputs));
            assert_eq!(inputs[0].1, Command { x: 0.0, y: 0.0, actions: 1 });
            assert!(link.is_farewell_heard() && link.has_due(at(1)));
            assert_eq!(link.lost(at(1)), Some(LeftWhy::Rejected));
        }
    }

    #[test]
    fn shots_are_entities_from_256_on() {
        let mut link = link();
        let course =
            crate::authority::Course { frame: Frame(1), x: 5.0, y: 6.0, velocity_x: 9.0, velocity_y: 9.0 };
        let records =
            [Record::Shot { id: 4, kind: 2, owner: 3, course }, Record::ShotEnd { id: 4, frame: Frame(1) }];
        assert_eq!(link.queue_records(at(0), (1..).zip(&records)), Some(2));
        assert_eq!(due(&mut link), [vec![0x30, 1, 4, 2, 0, 5, 0, 6], vec![0x32, 1, 4]]);
        let hit = Record::Hit { id: 3, damage: 7, frame: Frame(1) };
        link.queue_records(at(0), [(1, &hit), (2, &Record::Bounce { id: 4, course })].into_iter());
        assert_eq!(due(&mut link), [vec![0x40, 0, 3, 7]], "the format has no courses");
    }

    #[test]
    fn flags_of_an_input_are_a_command() {
        let (mut link, mut inputs) = (link(), Vec::new());
        for (n, x, y, shoots) in [(1, 1, 0, true), (2, -1, 0, false), (3, 0, 1, true), (4, 0, -1, false)] {
            let input = packet(n, &RtypePayload::Input(InputFlags::new(x, y, shoots)));
            assert_eq!(link.receive(at(1), &input, &mut inputs), Ok(FromClient::Inputs));
            let expected = Command { x: f32::from(x), y: f32::from(y), actions: shoots.into() };
            assert_eq!(inputs.iter().map(|(_, command)| *command).collect::<Vec<_>>(), [expected]);
        }
    }

    #[test]
    fn packets_that_only_a_server_sends_are_refused() {
        let (mut link, mut inputs) = (link(), Vec::new());
        let wrong = [
            RtypePayload::Welcome { player_id: 3, seed: 1 },
            RtypePayload::PlayerLeft { player_id: 3 },
            RtypePayload::EntitySpawn { id: 1, kind: 1, x: 1, y: 1 },
            RtypePayload::EntityUpdate { id: 1, x: 1, y: 1 },
            RtypePayload::EntityDestroy { id: 1 },
            RtypePayload::HitEvent { id: 1, damage: 1 },
        ];
        for payload in wrong {
            assert_eq!(link.receive(at(1), &packet(1, &payload), &mut inputs), Err(Refusal::OutOfPlace));
        }
        assert_eq!(
            link.receive(at(1), &packet(1, &RtypePayload::PlayerLeave), &mut inputs),
            Ok(FromClient::Leaves)
        );
    }
}
