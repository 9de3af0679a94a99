//! Cursors that read and write bytes, numbers big-endian, for what is not on the hot path.

/// Reads fields from the front of a payload; `None` where it ends too early.
#[derive(Clone, Copy)]
pub(in crate::wire) struct Reader<'a>(pub(in crate::wire) &'a [u8]);

impl<'a> Reader<'a> {
    pub(in crate::wire) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*head)
    }

    pub(in crate::wire) fn slice(&mut self, len: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(head)
    }

    pub(in crate::wire) fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_be_bytes)
    }

    pub(in crate::wire) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    pub(in crate::wire) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    pub(in crate::wire) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    /// Everything that is left.
    pub(in crate::wire) fn rest(&mut self) -> &'a [u8] {
        core::mem::take(&mut self.0)
    }

    /// `Some` only if nothing is left.
    pub(in crate::wire) fn end(&self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}

/// Writes fields one after the other into a buffer. A field that does not fit is counted but not written, and the
/// length that would have been needed is known at the end.
pub(in crate::wire) struct Writer<'a> {
    buf: &'a mut [u8],
    len: usize,
}

impl<'a> Writer<'a> {
    pub(in crate::wire) fn new(buf: &'a mut [u8]) -> Self {
        Self { buf, len: 0 }
    }

    pub(in crate::wire) fn put(&mut self, bytes: &[u8]) {
        let end = self.len + bytes.len();
        if let Some(slot) = self.buf.get_mut(self.len..end) {
            slot.copy_from_slice(bytes);
        }
        self.len = end;
    }

    pub(in crate::wire) fn u8(&mut self, value: u8) {
        self.put(&[value]);
    }

    pub(in crate::wire) fn u16(&mut self, value: u16) {
        self.put(&value.to_be_bytes());
    }

    pub(in crate::wire) fn u32(&mut self, value: u32) {
        self.put(&value.to_be_bytes());
    }

    pub(in crate::wire) fn u64(&mut self, value: u64) {
        self.put(&value.to_be_bytes());
    }

    pub(in crate::wire) fn zeros(&mut self, count: usize) {
        for _ in 0..count {
            self.u8(0);
        }
    }

    /// The number of bytes put so far, including those that did not fit.
    pub(in crate::wire) fn len(&self) -> usize {
        self.len
    }

    /// The number of bytes written, or the length needed and the room that there was.
    pub(in crate::wire) fn finish(self) -> Result<usize, (usize, usize)> {
        if self.len <= self.buf.len() { Ok(self.len) } else { Err((self.len, self.buf.len())) }
    }
}
