//! One GAME connection: sequence numbers, acks, the round trip that they show, and reliable messages.

use crate::authority::dialect::{AcceptRange, Challenges};
use crate::channel::refusal::Refusal;
use crate::channel::reliable::{Arrival, Reliable};
use crate::channel::sequence::{Received, Sequences};
use crate::protocol::time::{Span, Time};
use crate::wire::control::{ControlHeader, ControlPacket, ControlPayload};

/// A client sends one packet a frame, and pings.
pub(super) const OF_CLIENT: AcceptRange = AcceptRange::new(64, 256, 64);
/// A server sends up to five datagrams a broadcast, and may count the packets to all its clients together.
pub(super) const OF_SERVER: AcceptRange = AcceptRange::new(256, 2_048, 256);
/// The numbers of challenges leave gaps of up to 1,023, and three in a row may be lost.
pub(super) const OF_CHALLENGES: AcceptRange = OF_SERVER.with_ahead(4_096);

/// An ack may be this much older than the newest one: packets overtake each other.
const MAX_ACK_BEHIND: u64 = 64;

/// The number of packets whose time of sending is kept.
const TIMED: usize = 128;

/// The time that an ack may take beyond the round trip.
const ACK_DELAY: Span = Span::from_millis(20);

/// The round trip that is assumed before one was measured.
const FIRST_ROUND_TRIP: Span = Span::from_millis(200);

/// Both directions of one connection.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    sequences: Sequences,
    range: AcceptRange,
    /// The number of the last packet sent, and how many were.
    last_sent: u16,
    sent: u64,
    newest: Option<u16>,
    /// The packets before the first, which the other side may still acknowledge.
    challenges: Challenges,
    heard_at: Time,
    trips: Trips,
}

/// The round trip that acks show: when the last packets were sent, and the smoothed time to their acks.
#[derive(Clone, Debug)]
struct Trips {
    sent_at: [(u16, Time); TIMED],
    smoothed: Option<Span>,
}

impl Trips {
    fn sent(&mut self, now: Time, sequence: u16) {
        self.sent_at[usize::from(sequence) % TIMED] = (sequence, now);
    }

    fn acknowledged(&mut self, now: Time, sequence: u16) {
        let slot = &mut self.sent_at[usize::from(sequence) % TIMED];
        if slot.0 == sequence && slot.1 != Time::NEVER {
            let sample = now.since(slot.1);
            slot.1 = Time::NEVER;
            self.smoothed = Some(self.smoothed.map_or(sample, |smoothed| smoothed.averaged(sample, 8)));
        }
    }
}

impl Connection {
    /// A connection whose first packet will be `first`; `nat` is that of the other side.
    pub(super) fn new(now: Time, first: u16, range: AcceptRange) -> Self {
        Self {
            sequences: Sequences::new(first),
            range,
            last_sent: first.wrapping_sub(1),
            sent: 0,
            newest: None,
            challenges: Challenges::NONE,
            heard_at: now,
            trips: Trips { sent_at: [(0, Time::NEVER); TIMED], smoothed: None },
        }
    }

    /// A connection of a server that has sent these challenges.
    pub(super) fn after(now: Time, challenges: &Challenges) -> Self {
        let mut this = Self::new(now, challenges.last(), OF_CLIENT);
        this.challenges = *challenges;
        this.next_header();
        this
    }

    fn next_header(&mut self) -> ControlHeader {
        let header = self.sequences.next(false);
        self.last_sent = header.sequence;
        self.sent = self.sent.saturating_add(1);
        header
    }

    /// The header of a packet that goes out now.
    pub(super) fn header(&mut self, now: Time) -> ControlHeader {
        let header = self.next_header();
        self.trips.sent(now, header.sequence);
        header
    }

    /// Writes a packet.
    pub(super) fn write(&mut self, now: Time, payload: &ControlPayload<'_>, buf: &mut [u8]) -> Option<usize> {
        let header = self.header(now);
        ControlPacket::encode(&header, payload, buf).ok()
    }

    /// Writes the message that is due, if there is one.
    pub(super) fn write_due(&mut self, now: Time, reliable: &mut Reliable, buf: &mut [u8]) -> Option<usize> {
        if reliable.next_due().is_none_or(|due| due > now) {
            return None;
        }
        // The other side sends in every frame, so an ack takes a round trip and little more. `transmit` waits for one and
        // a half times what it is given.
        let rtt = (self.round_trip() * 2) / 3 + ACK_DELAY;
        let header = self.header(now);
        let bytes = reliable.transmit(now, header.sequence, rtt)?;
        ControlPacket::encode(&header, &ControlPayload::ReliableEvent(bytes), buf).ok()
    }

    /// Checks the numbers of a packet; changes nothing.
    pub(super) fn check(&self, now: Time, header: ControlHeader) -> Result<(), Refusal> {
        if let Some(newest) = self.newest {
            let away = header.sequence.wrapping_sub(newest).cast_signed();
            if !self.range.allows(away, now.since(self.heard_at)) {
                return Err(Refusal::FarSequence);
            }
        }
        let behind = u64::from(self.last_sent.wrapping_sub(header.ack));
        let allowed = (u64::from(self.sequences.unacknowledged()) + MAX_ACK_BEHIND).min(self.sent);
        let is_challenge = self.sent <= MAX_ACK_BEHIND && self.challenges.contains(header.ack);
        if behind < allowed || is_challenge { Ok(()) } else { Err(Refusal::AckUnsent) }
    }

    /// Takes in the numbers of a packet that was checked. Acks count even if the packet is a copy.
    pub(super) fn accept(&mut self, now: Time, header: ControlHeader, reliable: &mut Reliable) -> Received {
        self.heard_at = now;
        self.sequences.acknowledged(header);
        reliable.acknowledged(header);
        self.trips.acknowledged(now, header.ack);
        let received = self.sequences.received(header.sequence);
        if self.newest.is_none_or(|newest| header.sequence.wrapping_sub(newest).cast_signed() > 0) {
            self.newest = Some(header.sequence);
        }
        received
    }

    /// Takes in the number of a request, which acknowledges nothing, if the connection begins with it.
    pub(super) fn begin_with(&mut self, now: Time, sequence: u16) {
        if self.newest.is_none() {
            (self.heard_at, self.newest) = (now, Some(sequence));
            self.sequences.begin_at(sequence);
        }
    }

    /// Takes in the first packet of the other side, wherever its numbers begin.
    pub(super) fn accept_first(&mut self, now: Time, header: ControlHeader, reliable: &mut Reliable) {
        self.sequences.begin_at(header.sequence);
        self.newest = None;
        self.accept(now, header, reliable);
    }

    pub(super) fn set_range(&mut self, range: AcceptRange) {
        self.range = range;
    }

    /// Lets the other side restart its numbers with its next packet.
    pub(super) fn expect_first(&mut self) {
        self.newest = None;
    }

    /// Takes in a packet with a numbered message, which is kept if it is new. One without room is not acknowledged.
    pub(super) fn accept_message(
        &mut self,
        now: Time,
        header: ControlHeader,
        number: u16,
        payload: &[u8],
        reliable: &mut Reliable,
    ) -> Result<(), Refusal> {
        let arrival = reliable.look_at(number);
        if arrival == Arrival::Beyond {
            return Err(Refusal::NoRoom);
        }
        let received = self.accept(now, header, reliable);
        if received == Received::New && arrival == Arrival::New {
            reliable.keep(now, number, payload);
        }
        Ok(())
    }

    /// The smoothed round trip, from sending a packet to its ack.
    pub(super) fn round_trip(&self) -> Span {
        self.trips.smoothed.unwrap_or(FIRST_ROUND_TRIP)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn header(sequence: u16, ack: u16) -> ControlHeader {
        ControlHeader { sequence, ack, ack_bits: 0 }
    }

    #[test]
    fn only_what_was_sent_can_be_acknowledged() {
        let mut reliable = Reliable::new();
        let mut link = Connection::after(at(0), &Challenges::after(65_534));
        assert_eq!(link.check(at(1), header(7, 65_534)), Ok(()));
        for ack in [65_533, 65_535, 0, 30_000] {
            assert_eq!(link.check(at(1), header(7, ack)), Err(Refusal::AckUnsent), "{ack}");
        }
        for _ in 0..3 {
            link.header(at(1));
        }
        assert_eq!(link.check(at(2), header(7, 1)), Ok(()), "across the wrap");
        assert_eq!(link.check(at(2), header(7, 2)), Err(Refusal::AckUnsent));
        link.accept(at(51), header(7, 1), &mut reliable);
        assert_eq!(link.round_trip(), Span::from_millis(50));
    }

    #[test]
    fn challenges_can_be_acknowledged_for_64_packets() {
        let mut challenges = Challenges::after(100);
        [900, 1_700].into_iter().for_each(|number| challenges.push(number));
        let mut link = Connection::after(at(0), &challenges);
        let check =
            |link: &Connection| [100, 900, 901, 1_700].map(|ack| link.check(at(1), header(7, ack)).is_ok());
        assert_eq!(check(&link), [true, true, false, true]);
        for _ in 0..63 {
            link.header(at(1));
        }
        assert_eq!(check(&link), [true, true, false, true]);
        link.header(at(1));
        assert_eq!(check(&link), [false, false, false, true]);
    }

    #[test]
    fn sequence_may_be_far_only_after_a_silence() {
        let mut reliable = Reliable::new();
        let mut link = Connection::after(at(0), &Challenges::after(5));
        link.accept(at(0), header(65_000, 5), &mut reliable);
        assert_eq!(link.check(at(10), header(64_990, 5)), Ok(()));
        assert_eq!(link.check(at(0), header(64_936, 5)), Ok(()));
        assert_eq!(link.check(at(0), header(64_935, 5)), Err(Refusal::FarSequence), "65 behind");
        assert_eq!(link.check(at(10), header(200, 5)), Err(Refusal::FarSequence));
        assert_eq!(link.check(at(1_000), header(200, 5)), Err(Refusal::FarSequence));
        assert_eq!(link.check(at(5_000), header(200, 5)), Ok(()), "736 further, after five seconds");
        assert_eq!(link.check(at(5_000), header(20_000, 5)), Err(Refusal::FarSequence));
    }

    #[test]
    fn message_without_room_is_not_acknowledged() {
        let mut reliable = Reliable::new();
        let mut link = Connection::after(at(0), &Challenges::after(5));
        assert_eq!(link.accept_message(at(1), header(100, 5), 0, &[1], &mut reliable), Ok(()));
        let beyond = link.accept_message(at(2), header(101, 5), 30_000, &[1], &mut reliable);
        assert_eq!(beyond, Err(Refusal::NoRoom));
        assert_eq!(link.header(at(3)).ack, 100);
    }

    #[test]
    fn message_is_resent_after_a_round_trip_and_a_little_more() {
        let mut reliable = Reliable::new();
        let mut link = Connection::after(at(0), &Challenges::after(5));
        for (sent, sample, smoothed) in [(0, 240, 240), (1_000, 320, 250)] {
            let ack = link.header(at(sent)).sequence;
            let from_client = header(7 + sent as u16 / 1_000, ack);
            link.accept(at(sent + sample), from_client, &mut reliable);
            assert_eq!(link.round_trip(), Span::from_millis(smoothed));
            link.accept(at(sent + 900), from_client, &mut reliable);
            assert_eq!(link.round_trip(), Span::from_millis(smoothed), "a second ack of the same packet");
        }
        let ack = link.header(at(1_950)).sequence.wrapping_add(128);
        link.accept(at(1_960), header(9, ack), &mut reliable);
        assert_eq!(link.round_trip(), Span::from_millis(250), "that one was not sent");
        reliable.send_bytes(at(2_000), |_, bytes| bytes.push(1)).unwrap();
        assert!(link.write_due(at(2_000), &mut reliable, &mut [0; 64]).is_some());
        let due = reliable.next_due().unwrap();
        assert!((at(2_270)..=at(2_290)).contains(&due), "{due:?}");
    }

    #[test]
    fn overtaken_packet_leaves_the_newest_where_it_is() {
        let mut reliable = Reliable::new();
        let mut link = Connection::after(at(0), &Challenges::after(5));
        [100, 60].into_iter().for_each(|sequence| {
            link.accept(at(0), header(sequence, 5), &mut reliable);
        });
        assert_eq!(link.check(at(0), header(164, 5)), Ok(()));
        assert_eq!(link.check(at(0), header(165, 5)), Err(Refusal::FarSequence));
        // Ten seconds later it was silent for none of them.
        link.accept(at(10_000), header(101, 5), &mut reliable);
        assert_eq!(link.check(at(10_000), header(300, 5)), Err(Refusal::FarSequence));
    }

    #[test]
    fn numbers_of_the_other_side_begin_once() {
        let mut reliable = Reliable::new();
        let mut link = Connection::after(at(0), &Challenges::after(5));
        link.begin_with(at(0), 100);
        link.begin_with(at(0), 9_000);
        assert_eq!(link.check(at(0), header(101, 5)), Ok(()));
        assert_eq!(link.header(at(0)).ack, 100);
        link.accept_first(at(0), header(50, 5), &mut reliable);
        assert_eq!(link.header(at(0)).ack, 50, "a server that is asked again begins where it wants to");
    }

    #[test]
    fn message_is_kept_once() {
        let mut reliable = Reliable::new();
        let mut link = Connection::after(at(0), &Challenges::after(5));
        for (sequence, payload) in [(100, 1), (101, 2), (101, 3)] {
            let taken = link.accept_message(at(1), header(sequence, 5), 0, &[payload], &mut reliable);
            assert_eq!(taken, Ok(()));
        }
        assert_eq!(reliable.deliver(at(1)), Some(&[1][..]));
        assert_eq!(reliable.deliver(at(1)), None);
    }

    #[test]
    fn ack_is_at_most_64_behind_the_newest() {
        let mut reliable = Reliable::new();
        let mut link = Connection::after(at(0), &Challenges::after(5));
        let newest = (0..200).map(|_| link.header(at(0)).sequence).last().unwrap();
        let check = |link: &Connection, behind| link.check(at(0), header(7, newest - behind)).is_ok();
        assert!(check(&link, 0) && check(&link, 150), "nothing was acknowledged yet");
        link.accept(at(0), header(7, newest), &mut reliable);
        assert_eq!([63, 64, 150].map(|behind| check(&link, behind)), [true, false, false]);
    }
}
