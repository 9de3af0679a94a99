//! Sequence numbers and acks of GAME packets, in both directions of one connection.
//!
//! Both are checked strictly, because nothing else tells a packet of the peer from a blind forgery with the peer's
//! address: 64 of 65,536 sequence numbers are accepted, and about as few acks.

use crate::wire::control::ControlHeader;

/// How far a sequence may be behind the newest, and an ack behind the newest ack. A packet that comes later than this
/// brings nothing that a newer one did not bring.
const MAX_BEHIND: i16 = 16;

/// How far a sequence may be ahead of the newest: more than an honest peer sends without an ack
/// (see `CROWDED` of the link).
const MAX_AHEAD: i16 = 47;

/// Whether a received packet was seen before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Received {
    New,
    Duplicate,
}

/// Why sequence or ack of a packet were refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeaderError {
    FarSequence,
    AckOfNothingSent,
}

/// Both directions of one connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sequences {
    next: u16,
    /// Bit k: the number `next - 1 - k` was sent. The others were skipped, or come from before the connection.
    sent: u128,
    /// The newest of ours that the peer has acknowledged.
    acked: Option<u16>,
    /// Our newest RESYNC, at which the peer may have restarted its record of our packets.
    resync: Option<u16>,
    /// The newest number received, and bit k for the packet k + 1 before it.
    newest: Option<u16>,
    bits: u32,
    /// The handshake is over: the peer has kept its record of our packets since the last ack.
    settled: bool,
}

/// How far `a` is ahead of `b`, across the wrap.
#[inline]
fn ahead(a: u16, b: u16) -> i16 {
    a.wrapping_sub(b).cast_signed()
}

impl Sequences {
    /// `first` is the number of the first packet we send.
    pub(crate) fn new(first: u16) -> Self {
        Self { next: first, sent: 0, acked: None, resync: None, newest: None, bits: 0, settled: false }
    }

    /// The header for the next packet we send.
    ///
    /// `skip` leaves out the number after it. A forged packet that acknowledges a skipped number is detected.
    pub(crate) fn next(&mut self, skip: bool) -> ControlHeader {
        let sequence = self.next;
        self.next = sequence.wrapping_add(1 + u16::from(skip));
        self.sent = (self.sent << 1 | 1) << u32::from(skip);
        ControlHeader { sequence, ack: self.newest.unwrap_or(0), ack_bits: self.bits }
    }

    /// Checks sequence and ack of a packet; changes nothing.
    pub(crate) fn check(&self, header: ControlHeader) -> Result<(), HeaderError> {
        if !self.reaches(header.sequence) {
            return Err(HeaderError::FarSequence);
        }
        self.check_ack(header)?;
        match self.acked {
            Some(acked) if self.settled && !self.fits_record(header, acked) => {
                Err(HeaderError::AckOfNothingSent)
            }
            _ => Ok(()),
        }
    }

    /// Whether a sequence number is close enough to the newest received.
    pub(crate) fn reaches(&self, sequence: u16) -> bool {
        self.newest.is_none_or(|newest| (-MAX_BEHIND..=MAX_AHEAD).contains(&ahead(sequence, newest)))
    }

    /// Whether an ack fits the peer's record of our packets: it continues the newest one, or the peer has begun its record
    /// again at our RESYNC.
    fn fits_record(&self, header: ControlHeader, acked: u16) -> bool {
        Self::continues(header, acked) || self.resync.is_some_and(|at| Self::acknowledges(header, at))
    }

    /// Checks only that a packet acknowledges numbers that were sent.
    ///
    /// Every packet of a connection acknowledges something, because its sender has received a packet before. An empty ack is
    /// refused: otherwise every forged packet would use it.
    pub(crate) fn check_ack(&self, header: ControlHeader) -> Result<(), HeaderError> {
        let behind = u32::from(self.next.wrapping_sub(header.ack));
        let newest = behind.checked_sub(1).and_then(|at| self.sent.checked_shr(at)).unwrap_or(0);
        // Bit 0 is the acknowledged number, bit k + 1 that of bit k of the header.
        if newest & 1 == 1 && u128::from(header.ack_bits) & !(newest >> 1) == 0 {
            Ok(())
        } else {
            Err(HeaderError::AckOfNothingSent)
        }
    }

    /// Whether an ack continues the newest one: a peer that has received more has not forgotten that packet.
    fn continues(header: ControlHeader, acked: u16) -> bool {
        match ahead(header.ack, acked) {
            1..=32 => Self::acknowledges(header, acked),
            newer => newer >= -MAX_BEHIND,
        }
    }

    /// Takes in the newest packet that the peer has received, from a header that was checked.
    pub(crate) fn acknowledged(&mut self, header: ControlHeader) {
        let continued = self.acked.filter(|acked| Self::continues(header, *acked));
        if continued.is_none_or(|acked| ahead(header.ack, acked) > 0) {
            self.acked = Some(header.ack);
        }
    }

    /// Takes in the ack of an authenticated packet, even if it is lower than before: earlier acks may have been forged.
    pub(crate) fn acknowledged_for_certain(&mut self, header: ControlHeader) {
        if self.check_ack(header).is_ok() {
            self.acked = Some(header.ack);
        }
    }

    /// The next packet that we send is a RESYNC.
    pub(crate) fn resyncs_next(&mut self) {
        self.resync = Some(self.next);
    }

    /// How many numbers were used after the newest that the peer is known to have.
    pub(crate) fn unacknowledged(&self) -> u32 {
        match self.acked {
            None => self.sent.count_ones(),
            Some(acked) => u32::from(self.next.wrapping_sub(acked).wrapping_sub(1)),
        }
    }

    /// Forgets what was received and counts from this packet on, which is proven to be the peer's: earlier ones may
    /// have been forged.
    pub(crate) fn begin_at(&mut self, sequence: u16) {
        (self.newest, self.bits) = (Some(sequence), 0);
    }

    /// The handshake is over. A joiner restarted its record of our packets at the OFFER: what it acknowledged before does
    /// not count, and later acks continue `acked`.
    pub(crate) fn settle(&mut self, acked: Option<u16>) {
        (self.settled, self.acked) = (true, acked);
    }

    /// Notes that a packet with this number has come. Advances only forward.
    pub(crate) fn received(&mut self, sequence: u16) -> Received {
        let Some(newest) = self.newest else {
            self.newest = Some(sequence);
            return Received::New;
        };
        match ahead(sequence, newest) {
            0 => Received::Duplicate,
            step @ 1.. => {
                let step = u32::from(step.unsigned_abs());
                // The old newest becomes a bit of its own.
                self.bits =
                    self.bits.checked_shl(step).unwrap_or(0) | 1_u32.checked_shl(step - 1).unwrap_or(0);
                self.newest = Some(sequence);
                Received::New
            }
            step => {
                let Some(bit) = 1_u32.checked_shl(u32::from(step.unsigned_abs()) - 1) else {
                    // Too old to be remembered either way.
                    return Received::Duplicate;
                };
                let seen = self.bits & bit != 0;
                self.bits |= bit;
                if seen { Received::Duplicate } else { Received::New }
            }
        }
    }

    /// Whether the newest packet that these numbers acknowledge is the one that we sent as `sequence`, or a later one.
    pub(crate) fn acknowledges_since(header: ControlHeader, sequence: u16) -> bool {
        ahead(header.ack, sequence) >= 0
    }

    /// Whether these numbers acknowledge the packet that we sent as `sequence`.
    pub(crate) fn acknowledges(header: ControlHeader, sequence: u16) -> bool {
        match header.ack.wrapping_sub(sequence) {
            0 => true,
            back @ 1..=32 => header.ack_bits >> (back - 1) & 1 == 1,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(sequence: u16, ack: u16, ack_bits: u32) -> ControlHeader {
        ControlHeader { sequence, ack, ack_bits }
    }

    /// A side that has sent `count` packets from number `first` on and received none.
    fn sent(first: u16, count: u32) -> Sequences {
        let mut seq = Sequences::new(first);
        for _ in 0..count {
            seq.next(false);
        }
        seq
    }

    #[test]
    fn bit_k_is_the_packet_k_plus_1_before_the_acknowledged_one() {
        let mut seq = Sequences::new(0);
        for received in [10, 11, 13, 9] {
            assert_eq!(seq.received(received), Received::New);
        }
        let ControlHeader { ack, ack_bits, .. } = seq.next(false);
        assert_eq!((ack, ack_bits), (13, 0b1110));
        for (sequence, known) in [(13, true), (12, false), (11, true), (10, true), (9, true), (8, false)] {
            assert_eq!(Sequences::acknowledges(header(0, ack, ack_bits), sequence), known, "{sequence}");
        }
        assert!(Sequences::acknowledges(header(0, 40, 1 << 31), 8));
        assert!(!Sequences::acknowledges(header(0, 40, u32::MAX), 7));
    }

    #[test]
    fn reordered_packets_across_the_wrap_are_each_new_once() {
        let mut seq = Sequences::new(0);
        for received in [65_534, 1, 65_535, 0] {
            assert_eq!(seq.received(received), Received::New, "{received}");
            assert_eq!(seq.received(received), Received::Duplicate, "{received} again");
        }
        assert_eq!(seq.next(false).ack, 1, "a late packet does not move it back");
        assert_eq!(seq.next(false).ack_bits, 0b111);
    }

    #[test]
    fn long_jump_forgets_what_was_before() {
        let mut seq = Sequences::new(0);
        seq.received(0);
        seq.received(32);
        assert_eq!(seq.next(false).ack_bits, 1 << 31);
        seq.received(65);
        assert_eq!(seq.next(false).ack_bits, 0);
        seq.received(66);
        assert_eq!(seq.next(false).ack_bits, 1);
        assert_eq!(seq.received(30), Received::Duplicate, "too old to tell");
    }

    #[test]
    fn ack_of_what_was_never_sent_is_refused() {
        let refused = Err(HeaderError::AckOfNothingSent);
        assert_eq!(Sequences::new(65_530).check(header(5, 65_530, 0)), refused);
        assert_eq!(Sequences::new(65_530).check(header(5, 0, 0)), refused, "nor is an ack of nothing taken");
        let seq = sent(65_530, 10);
        assert_eq!(seq.check(header(5, 65_530, 0)), Ok(()));
        assert_eq!(seq.check(header(5, 3, 0)), Ok(()), "the newest, after the wrap");
        assert_eq!(seq.check(header(5, 4, 0)), refused);
        assert_eq!(seq.check(header(5, 65_529, 0)), refused);
        assert_eq!(seq.check(header(5, 65_532, 0b11)), Ok(()), "and the two before it");
        assert_eq!(seq.check(header(5, 65_532, 0b111)), refused, "one before the first");
        let long = sent(0, 1_000);
        assert_eq!((long.check(header(5, 872, 0)), long.check(header(5, 871, 0))), (Ok(()), refused));
    }

    #[test]
    fn skipped_number_cannot_be_acknowledged() {
        let mut seq = Sequences::new(100);
        let numbers: Vec<u16> =
            [false, true, false, true].iter().map(|skip| seq.next(*skip).sequence).collect();
        assert_eq!(numbers, [100, 101, 103, 104]);
        let refused = Err(HeaderError::AckOfNothingSent);
        for (ack, taken) in [(99, refused), (100, Ok(())), (101, Ok(())), (102, refused), (104, Ok(()))] {
            assert_eq!(seq.check(header(0, ack, 0)), taken, "{ack}");
        }
        assert_eq!(seq.check(header(0, 105, 0)), refused, "skipped after the newest");
        assert_eq!(seq.check(header(0, 104, 0b1101)), Ok(()), "103, 101 and 100");
        assert_eq!(seq.check(header(0, 104, 0b1111)), refused, "102 too: a full bit field is a guess");
    }

    #[test]
    fn ack_stays_close_to_the_newest_and_keeps_its_bit() {
        let mut seq = sent(0, 100);
        seq.settle(None);
        seq.acknowledged(header(0, 50, 0));
        let refused = Err(HeaderError::AckOfNothingSent);
        assert_eq!((seq.check(header(0, 34, 0)), seq.check(header(0, 33, 0))), (Ok(()), refused));
        assert_eq!(seq.check(header(0, 50, 0)), Ok(()), "the same, without any bits");
        assert_eq!(seq.check(header(0, 60, 0)), refused, "more has arrived, and 50 is forgotten");
        assert_eq!(seq.check(header(0, 60, 1 << 9)), Ok(()));
        assert_eq!(seq.check(header(0, 82, 0)), refused);
        assert_eq!(seq.check(header(0, 83, 0)), Ok(()), "beyond the bits");
    }

    #[test]
    fn peer_that_begins_its_record_anew_at_our_resync_is_believed() {
        let mut seq = sent(0, 100);
        seq.settle(None);
        seq.acknowledged(header(0, 98, 0));
        let refused = Err(HeaderError::AckOfNothingSent);
        seq.resyncs_next();
        assert_eq!(seq.next(false).sequence, 100);
        seq.next(false);
        assert_eq!(seq.check(header(0, 101, 0)), refused, "neither record");
        assert_eq!(seq.check(header(0, 101, 1 << 2)), Ok(()), "the RESYNC was lost: 98 is still known");
        assert_eq!(seq.check(header(0, 101, 1)), Ok(()), "the RESYNC has arrived");
        assert_eq!(seq.check(header(0, 100, 0)), Ok(()));
        // A packet after the RESYNC overtook it, so the peer has forgotten that packet.
        seq.acknowledged(header(0, 101, 1 << 2));
        seq.acknowledged(header(0, 100, 0));
        seq.next(false);
        assert_eq!(seq.check(header(0, 102, 1 << 1)), Ok(()));
        assert_eq!(seq.unacknowledged(), 1, "102 alone: a RESYNC does not make the link crowded");
        seq.acknowledged_for_certain(header(0, 99, 0));
        assert_eq!(seq.unacknowledged(), 3, "proven, although less");
        seq.acknowledged_for_certain(header(0, 500, 0));
        assert_eq!(seq.unacknowledged(), 3, "a number that was never sent is no proof");
    }

    #[test]
    fn acks_after_the_handshake_continue_the_one_that_ended_it() {
        let mut seq = sent(0, 10);
        seq.acknowledged(header(0, 8, 0));
        seq.settle(Some(7));
        let refused = Err(HeaderError::AckOfNothingSent);
        assert_eq!(seq.check(header(0, 8, 0)), refused, "8 overtook the OFFER, and is forgotten there");
        assert_eq!(seq.check(header(0, 9, 1 << 1)), Ok(()));
        assert_eq!(seq.check(header(0, 9, 1 << 1 | 1 << 4)), Ok(()), "4 came late");
    }

    #[test]
    fn sequence_far_from_the_newest_is_refused() {
        let mut seq = sent(0, 1);
        assert_eq!(seq.check(header(40_000, 0, 0)), Ok(()), "the first may be any");
        seq.received(40_000);
        assert_eq!(seq.check(header(40_047, 0, 0)), Ok(()));
        assert_eq!(seq.check(header(40_048, 0, 0)), Err(HeaderError::FarSequence));
        assert_eq!(seq.check(header(39_984, 0, 0)), Ok(()));
        assert_eq!(seq.check(header(39_983, 0, 0)), Err(HeaderError::FarSequence));
        seq.begin_at(7);
        assert_eq!(seq.check(header(8, 0, 0)), Ok(()), "proven to be the peer's, and all before forgotten");
        assert_eq!(seq.check(header(40_000, 0, 0)), Err(HeaderError::FarSequence));
    }

    /// The cost of a blind guess, as WIRE.md states it: sequences times acks that are taken, of 2^32.
    #[test]
    fn blind_guess_costs_two_to_the_22() {
        let mut seq = Sequences::new(0);
        for packet in 0..200_u32 {
            seq.next(packet % 4 == 0);
        }
        let newest = seq.next.wrapping_sub(1);
        seq.received(1_000);
        seq.settle(None);
        seq.acknowledged(header(0, newest, 0));
        let sequences = (0..=u16::MAX).filter(|s| seq.check(header(*s, newest, 0)).is_ok()).count();
        let acks = (0..=u16::MAX).filter(|ack| seq.check(header(1_000, *ack, 0)).is_ok()).count();
        assert_eq!(sequences, 64);
        assert!((2_u64.pow(32) / (sequences * acks) as u64) >= 2_u64.pow(22), "{sequences} * {acks}");
    }

    #[test]
    fn unacknowledged_numbers_are_counted_across_the_wrap() {
        let mut seq = Sequences::new(65_530);
        assert_eq!(seq.unacknowledged(), 0);
        for _ in 0..10 {
            seq.next(false);
        }
        assert_eq!(seq.unacknowledged(), 10);
        seq.acknowledged(header(0, 65_535, 0));
        assert_eq!(seq.unacknowledged(), 4);
        seq.acknowledged(header(0, 65_531, 0));
        assert_eq!(seq.unacknowledged(), 4, "an older acknowledgement changes nothing");
        seq.acknowledged(header(0, 3, 0));
        assert_eq!(seq.unacknowledged(), 0);
    }
}
