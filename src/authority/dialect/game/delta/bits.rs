//! Bits in a datagram, the most significant first.

/// Writes bits behind each other. Bits without room are counted and not written.
#[derive(Debug)]
pub(super) struct BitWriter<'a> {
    buf: &'a mut [u8],
    at: usize,
    waiting: u64,
    waiting_bits: u32,
}

impl<'a> BitWriter<'a> {
    pub(super) fn new(buf: &'a mut [u8]) -> Self {
        Self { buf, at: 0, waiting: 0, waiting_bits: 0 }
    }

    /// Writes the lowest `bits` of a value that has no others, at most 32.
    #[inline]
    pub(super) fn put(&mut self, value: u32, bits: u32) {
        self.waiting = self.waiting << bits | u64::from(value);
        self.waiting_bits += bits;
        if self.waiting_bits >= 32 {
            self.waiting_bits -= 32;
            let word = (self.waiting >> self.waiting_bits) as u32;
            if let Some(room) = self.buf.get_mut(self.at..self.at + 4) {
                room.copy_from_slice(&word.to_be_bytes());
            }
            self.at += 4;
        }
    }

    /// The number of bits so far.
    pub(super) fn bits(&self) -> usize {
        self.at * 8 + self.waiting_bits as usize
    }

    /// Fills the last byte with zeros, and returns the number of bytes; `None` if there was no room for them.
    pub(super) fn finish(mut self) -> Option<usize> {
        let len = self.bits().div_ceil(8);
        let rest = len - self.at;
        self.waiting <<= 32 - self.waiting_bits;
        let word = (self.waiting as u32).to_be_bytes();
        self.buf.get_mut(self.at..len)?.copy_from_slice(&word[..rest]);
        Some(len)
    }
}

/// Reads bits; `None` beyond the end.
#[derive(Debug)]
pub(super) struct BitReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> BitReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The next `bits` bits, at most 32.
    #[inline]
    pub(super) fn take(&mut self, bits: u32) -> Option<u32> {
        let (byte, end) = (self.at / 8, self.at + bits as usize);
        if end > self.bytes.len() * 8 {
            return None;
        }
        // 39 bits are the most that a value can reach into: five bytes.
        let mut window = [0; 8];
        let near = &self.bytes[byte..self.bytes.len().min(byte + 8)];
        window[..near.len()].copy_from_slice(near);
        let shifted = u64::from_be_bytes(window) << (self.at % 8);
        self.at = end;
        Some(shifted.checked_shr(64 - bits).unwrap_or(0) as u32)
    }

    pub(super) fn flag(&mut self) -> Option<bool> {
        self.take(1).map(|bit| bit == 1)
    }

    /// The bytes after the one that was begun; `None` if its remaining bits are not 0.
    pub(super) fn rest(mut self) -> Option<&'a [u8]> {
        let left = (self.at.next_multiple_of(8) - self.at) as u32;
        (self.take(left)? == 0).then(|| &self.bytes[self.at / 8..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_come_back_as_they_were_written() {
        let fields = [(1, 1), (0, 3), (0xFFFF_FFFF, 32), (5, 3), (0x1234, 16), (0, 0), (0x7F, 7), (1, 32)];
        let mut buf = [0xA5; 32];
        let mut writer = BitWriter::new(&mut buf);
        fields.iter().for_each(|(value, bits)| writer.put(*value, *bits));
        let bits = writer.bits();
        assert_eq!(bits, fields.iter().map(|(_, bits)| *bits as usize).sum::<usize>());
        let len = writer.finish().unwrap();
        assert_eq!(len, bits.div_ceil(8));
        let mut reader = BitReader::new(&buf[..len]);
        for (value, bits) in fields {
            assert_eq!(reader.take(bits), Some(value), "{bits} bits");
        }
        assert_eq!(reader.rest(), Some(&[][..]));
        assert_eq!(buf[len], 0xA5, "nothing beyond the end");
    }

    #[test]
    fn reader_ends_where_the_bytes_end() {
        let mut reader = BitReader::new(&[0xF0, 0x0F]);
        assert_eq!((reader.take(12), reader.take(5), reader.take(4)), (Some(0xF00), None, Some(0xF)));
        assert_eq!((reader.flag(), reader.take(0)), (None, Some(0)));
    }

    #[test]
    fn filling_bits_are_zero_and_short_buffers_are_refused() {
        let mut reader = BitReader::new(&[0xF0, 7]);
        assert_eq!(reader.take(4), Some(0xF));
        assert_eq!(reader.rest(), Some(&[7][..]));
        let mut reader = BitReader::new(&[0xF1]);
        reader.take(4);
        assert_eq!(reader.rest(), None);
        for room in 0..8 {
            let mut buf = [0; 8];
            let mut writer = BitWriter::new(&mut buf[..room]);
            (0..57).for_each(|_| writer.put(1, 1));
            assert_eq!(writer.finish(), None, "room for {room} of 8 bytes");
        }
    }
}
