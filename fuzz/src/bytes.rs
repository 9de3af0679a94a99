//! The fuzzer's bytes as choices. At their end every choice is 0, so that each prefix of an input is an input too.

use std::time::Duration;

/// Choices that are taken from the front.
pub(crate) struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    pub(crate) fn new(data: &'a [u8]) -> Self {
        Self(data)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn u8(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    pub(crate) fn u16(&mut self) -> u16 {
        u16::from_be_bytes([self.u8(), self.u8()])
    }

    pub(crate) fn u32(&mut self) -> u32 {
        u32::from(self.u16()) << 16 | u32::from(self.u16())
    }

    pub(crate) fn u64(&mut self) -> u64 {
        u64::from(self.u32()) << 32 | u64::from(self.u32())
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::from(self.u8()) % bound.max(1)
    }

    pub(crate) fn flag(&mut self) -> bool {
        self.u8() & 1 == 1
    }

    /// A number of milliseconds in one byte: many short times, and a few long ones.
    pub(crate) fn wait(&mut self) -> Duration {
        let byte = u64::from(self.u8());
        Duration::from_millis(match byte {
            0..200 => byte / 4,
            200..250 => (byte - 190) * 10,
            _ => (byte - 249) * 2_000,
        })
    }

    /// As many bytes as the next choice says, at most `max` and what is left.
    pub(crate) fn slice(&mut self, max: usize) -> &'a [u8] {
        let len = usize::from(self.u16()) % (max + 1);
        self.take(len)
    }

    fn take(&mut self, len: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        taken
    }
}
