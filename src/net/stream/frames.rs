//! Datagrams on a stream: where one ends and the next begins.

/// The longest datagram on a stream: longer than any of ours with the head of a relay around it.
pub(super) const MAX_FRAME: usize = 2_048;
const STUN_HEAD: usize = 20;
const CHANNEL_HEAD: usize = 4;
const PREFIX: usize = 2;

/// How datagrams follow each other on a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// Messages of TURN, which have their length in their head. Data of a channel is padded to four bytes (RFC 8656, section
    /// 12.5).
    Turn,
    /// Each datagram after its length, as a big-endian number of two bytes.
    Prefixed,
}

/// A datagram at the beginning of some bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    /// Its place.
    pub(super) datagram: core::ops::Range<usize>,
    /// Where the next one begins.
    pub(super) end: usize,
}

/// The bytes are no frames: nothing behind them can be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed;

impl Framing {
    /// The framing for datagrams with this first byte: those of a rendezvous begin with E8 to EF.
    pub(super) fn of(first: u8) -> Self {
        if first < 0x80 { Self::Turn } else { Self::Prefixed }
    }

    /// The name of the protocol in the TLS handshake (ALPN), by which one port can serve both. The first one is that of RFC 7443.
    pub(super) fn protocol(self) -> &'static [u8] {
        match self {
            Self::Turn => b"stun.turn",
            Self::Prefixed => b"rebout",
        }
    }

    /// The first datagram of `bytes`; `None` before all of it is there.
    pub(super) fn first(self, bytes: &[u8]) -> Result<Option<Frame>, Malformed> {
        let Some(head) = bytes.first_chunk::<4>() else { return Ok(None) };
        let length = |at: usize| usize::from(u16::from_be_bytes([head[at], head[at + 1]]));
        let (start, len, end) = match (self, head[0] >> 6) {
            (Self::Turn, 0) => (0, STUN_HEAD + length(2), STUN_HEAD + length(2)),
            (Self::Turn, 1) => {
                let len = CHANNEL_HEAD + length(2);
                (0, len, len.next_multiple_of(4))
            }
            (Self::Turn, _) => return Err(Malformed),
            (Self::Prefixed, _) => (PREFIX, length(0), PREFIX + length(0)),
        };
        // A datagram of one byte would be a notice of the transport.
        if !(2..=MAX_FRAME).contains(&len) {
            return Err(Malformed);
        }
        Ok((bytes.len() >= end).then_some(Frame { datagram: start..start + len, end }))
    }

    /// The bytes that a datagram of this length takes.
    pub(super) fn len(self, datagram: usize) -> usize {
        match self {
            Self::Turn => datagram.next_multiple_of(4),
            Self::Prefixed => PREFIX + datagram,
        }
    }

    /// Appends a datagram of at most [`MAX_FRAME`] bytes.
    pub(super) fn write(self, datagram: &[u8], out: &mut Vec<u8>) {
        let end = out.len() + self.len(datagram.len());
        if self == Self::Prefixed {
            out.extend((datagram.len() as u16).to_be_bytes());
        }
        out.extend(datagram);
        out.resize(end, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stun(len: u16) -> Vec<u8> {
        let mut message = vec![0x01, 0x03];
        message.extend(len.to_be_bytes());
        message.resize(STUN_HEAD + usize::from(len), 7);
        message
    }

    fn channel(len: u16) -> Vec<u8> {
        let mut data = vec![0x40, 0x00];
        data.extend(len.to_be_bytes());
        data.resize(CHANNEL_HEAD + usize::from(len), 7);
        data
    }

    fn packet(len: usize) -> Vec<u8> {
        vec![0xE9; len]
    }

    #[test]
    fn datagrams_come_out_as_they_went_in() {
        let turn = [stun(0), channel(5), stun(8), channel(0), channel(1_203), channel(4)];
        let packets = [packet(2), packet(122), packet(MAX_FRAME), packet(3)];
        for (framing, datagrams) in [(Framing::Turn, &turn[..]), (Framing::Prefixed, &packets[..])] {
            let mut bytes = Vec::new();
            for datagram in datagrams {
                assert_eq!(framing, Framing::of(datagram[0]));
                let before = bytes.len();
                framing.write(datagram, &mut bytes);
                assert_eq!(bytes.len() - before, framing.len(datagram.len()));
            }
            let mut rest = &bytes[..];
            for datagram in datagrams {
                let Frame { datagram: place, end } = framing.first(rest).unwrap().unwrap();
                assert_eq!(&rest[place], datagram);
                for cut in 0..end {
                    assert_eq!(framing.first(&rest[..cut]), Ok(None), "{cut} of {end}");
                }
                rest = &rest[end..];
            }
            assert!(rest.is_empty());
        }
    }

    #[test]
    fn bytes_that_are_no_frames_are_refused() {
        for bytes in [&b"HTTP/1.1 400 Bad Request"[..10], &[0x80, 0, 0, 0], &[0xFF; 4]] {
            let is_refused = Framing::Turn.first(bytes) == Err(Malformed);
            // "HT" are the first bytes of a channel, with a length that is too long.
            assert!(is_refused, "{bytes:?}");
        }
        assert_eq!(Framing::Turn.first(&stun(MAX_FRAME as u16 - 16)[..4]), Err(Malformed));
        assert_eq!(Framing::Turn.first(&channel(MAX_FRAME as u16 - 3)[..4]), Err(Malformed));
        for len in [0_u16, 1, MAX_FRAME as u16 + 1, u16::MAX] {
            let [high, low] = len.to_be_bytes();
            assert_eq!(Framing::Prefixed.first(&[high, low, 7, 7]), Err(Malformed), "{len}");
        }
    }
}
