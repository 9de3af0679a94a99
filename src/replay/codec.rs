//! Little-endian fields and variable-length numbers of version 2.

/// The most bytes of a [`put_number`].
pub(super) const MAX_NUMBER_LEN: usize = 5;

/// Writes a number of 7 bits a byte, low bits first; the top bit of a byte says that another follows.
pub(super) fn put_number(out: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Reads fields from a place in the file; `None` where they end too early.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    pub(super) fn slice(&mut self, len: usize) -> Option<&'a [u8]> {
        let slice = self.bytes.get(self.at..self.at.checked_add(len)?)?;
        self.at += len;
        Some(slice)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.slice(N)?.try_into().ok()
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// A number of [`put_number`], in its shortest form only: one meaning has one encoding.
    pub(super) fn number(&mut self) -> Option<u32> {
        let mut number = 0_u64;
        for index in 0..MAX_NUMBER_LEN {
            let byte = self.u8()?;
            number |= u64::from(byte & 0x7F) << (7 * index);
            if byte & 0x80 == 0 {
                let is_shortest = byte != 0 || index == 0;
                return if is_shortest { u32::try_from(number).ok() } else { None };
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_were_written() {
        for number in [0, 1, 127, 128, 300, 16_383, 16_384, 1 << 24, u32::MAX - 1, u32::MAX] {
            let mut bytes = Vec::new();
            put_number(&mut bytes, number);
            assert!(bytes.len() <= MAX_NUMBER_LEN);
            let mut reader = Reader::new(&bytes, 0);
            assert_eq!((reader.number(), reader.at), (Some(number), bytes.len()));
            assert_eq!(Reader::new(&bytes[..bytes.len() - 1], 0).number(), None, "cut");
        }
    }

    #[test]
    fn long_forms_and_numbers_beyond_32_bits_are_refused() {
        for bytes in [&[0x80, 0][..], &[0xFF, 0x80, 0], &[0xFF, 0xFF, 0xFF, 0xFF, 0x1F], &[0x80; 6], &[]] {
            assert_eq!(Reader::new(bytes, 0).number(), None, "{bytes:x?}");
        }
    }
}
