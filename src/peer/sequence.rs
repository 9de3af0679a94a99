//! Sequence numbers and acks of GAME packets, in both directions of one connection.

use crate::wire::control::Header;

/// The farthest that a sequence or an ack may be from the newest. More than can be under way; it bounds how easily a
/// blind forger guesses.
const NEAR: u16 = 256;

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
    sent: u32,
    /// The newest of ours that the peer has acknowledged.
    acked: Option<u16>,
    /// The newest number received, and bit k for the packet k + 1 before it.
    newest: Option<u16>,
    bits: u32,
}

/// How far `a` is ahead of `b`, across the wrap.
#[inline]
fn ahead(a: u16, b: u16) -> i16 {
    a.wrapping_sub(b).cast_signed()
}

impl Sequences {
    /// `first` is the number of the first packet we send.
    pub(crate) fn new(first: u16) -> Self {
        Self { next: first, sent: 0, acked: None, newest: None, bits: 0 }
    }

    /// The header for the next packet we send.
    pub(crate) fn next(&mut self) -> Header {
        let sequence = self.next;
        self.next = sequence.wrapping_add(1);
        self.sent = self.sent.saturating_add(1);
        Header { sequence, ack: self.newest.unwrap_or(0), ack_bits: self.bits }
    }

    /// Checks sequence and ack of a packet; changes nothing.
    pub(crate) fn check(&self, header: Header) -> Result<(), HeaderError> {
        match self.newest {
            Some(newest) if ahead(header.sequence, newest).unsigned_abs() > NEAR => {
                Err(HeaderError::FarSequence)
            }
            _ => self.check_ack(header),
        }
    }

    /// Checks only that a packet acknowledges something that was sent.
    ///
    /// Every packet of a connection acknowledges something, because its sender has heard the other side before. An "ack
    /// of nothing" is refused: a forger would always claim it.
    pub(crate) fn check_ack(&self, header: Header) -> Result<(), HeaderError> {
        let behind = self.next.wrapping_sub(header.ack);
        if behind != 0 && u32::from(behind) <= self.sent.min(u32::from(NEAR)) {
            Ok(())
        } else {
            Err(HeaderError::AckOfNothingSent)
        }
    }

    /// Takes in the newest packet that the peer has received, from a header that was checked.
    pub(crate) fn acknowledged(&mut self, ack: u16) {
        if self.acked.is_none_or(|acked| ahead(ack, acked) > 0) {
            self.acked = Some(ack);
        }
    }

    /// How many packets have gone out after the newest that the peer is known to have.
    pub(crate) fn unacknowledged(&self) -> u32 {
        match self.acked {
            None => self.sent,
            Some(acked) => u32::from(self.next.wrapping_sub(acked).wrapping_sub(1)),
        }
    }

    /// Forgets what was received and counts from this packet on, which is proven to be the peer's: earlier ones may
    /// have been forged.
    pub(crate) fn begin_at(&mut self, sequence: u16) {
        (self.newest, self.bits) = (Some(sequence), 0);
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

    /// Whether these numbers acknowledge the packet that we sent as `sequence`.
    pub(crate) fn acknowledges(header: Header, sequence: u16) -> bool {
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

    fn header(sequence: u16, ack: u16, ack_bits: u32) -> Header {
        Header { sequence, ack, ack_bits }
    }

    #[test]
    fn bit_k_is_the_packet_k_plus_1_before_the_acknowledged_one() {
        let mut seq = Sequences::new(0);
        for received in [10, 11, 13, 9] {
            assert_eq!(seq.received(received), Received::New);
        }
        let Header { ack, ack_bits, .. } = seq.next();
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
        assert_eq!(seq.next().ack, 1, "a late packet does not move it back");
        assert_eq!(seq.next().ack_bits, 0b111);
    }

    #[test]
    fn a_long_jump_forgets_what_was_before() {
        let mut seq = Sequences::new(0);
        seq.received(0);
        seq.received(32);
        assert_eq!(seq.next().ack_bits, 1 << 31);
        seq.received(65);
        assert_eq!(seq.next().ack_bits, 0);
        seq.received(66);
        assert_eq!(seq.next().ack_bits, 1);
        assert_eq!(seq.received(30), Received::Duplicate, "too old to tell");
    }

    #[test]
    fn an_acknowledgement_of_what_was_never_sent_is_refused() {
        let mut seq = Sequences::new(65_530);
        assert_eq!(seq.check(header(5, 65_530, 0)), Err(HeaderError::AckOfNothingSent));
        assert_eq!(seq.check(header(5, 0, 0)), Err(HeaderError::AckOfNothingSent), "nor is nothing believed");
        for _ in 0..10 {
            seq.next();
        }
        assert_eq!(seq.check(header(5, 65_530, 0)), Ok(()));
        assert_eq!(seq.check(header(5, 3, 0)), Ok(()), "the newest, after the wrap");
        assert_eq!(seq.check(header(5, 4, 0)), Err(HeaderError::AckOfNothingSent));
        assert_eq!(seq.check(header(5, 65_529, 0)), Err(HeaderError::AckOfNothingSent));
    }

    #[test]
    fn a_sequence_far_from_the_last_is_refused() {
        let mut seq = Sequences::new(0);
        seq.next();
        assert_eq!(seq.check(header(40_000, 0, 0)), Ok(()), "the first may be any");
        seq.received(40_000);
        assert_eq!(seq.check(header(40_256, 0, 0)), Ok(()));
        assert_eq!(seq.check(header(40_257, 0, 0)), Err(HeaderError::FarSequence));
        assert_eq!(seq.check(header(39_743, 0, 0)), Err(HeaderError::FarSequence));
        seq.begin_at(7);
        assert_eq!(seq.check(header(8, 0, 0)), Ok(()), "known to be the peer's, whatever came before");
        assert_eq!(seq.check(header(40_000, 0, 0)), Err(HeaderError::FarSequence));
    }

    #[test]
    fn what_is_not_acknowledged_is_counted_across_the_wrap() {
        let mut seq = Sequences::new(65_530);
        assert_eq!(seq.unacknowledged(), 0);
        for _ in 0..10 {
            seq.next();
        }
        assert_eq!(seq.unacknowledged(), 10);
        seq.acknowledged(65_535);
        assert_eq!(seq.unacknowledged(), 4);
        seq.acknowledged(65_531);
        assert_eq!(seq.unacknowledged(), 4, "an older acknowledgement changes nothing");
        seq.acknowledged(3);
        assert_eq!(seq.unacknowledged(), 0);
    }
}
