//! The terms of an invite: until when, and how many it admits.

use super::base32::{Reader, Writer};

/// The terms, which take no room in an invite that has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Terms {
    /// Whether it is for a single guest.
    pub(super) is_for_one: bool,
    /// The second since 1970 at which it expires.
    pub(super) expires_at: Option<u32>,
}

const FOR_ONE: u8 = 1;

impl Terms {
    /// The number of bytes in an invite; 0 if there is nothing to say.
    pub(super) fn len(&self) -> u8 {
        match self.expires_at {
            Some(_) => 5,
            None if *self == Self::default() => 0,
            None => 1,
        }
    }

    pub(super) fn write(&self, writer: &mut Writer) {
        writer.put(if self.is_for_one { FOR_ONE } else { 0 }, 8);
        if let Some(expires_at) = self.expires_at {
            writer.put_bytes(&expires_at.to_be_bytes());
        }
    }

    /// Reads terms of `len` bytes. `None` for terms of a later version, which must not be ignored.
    pub(super) fn read(reader: &mut Reader<'_>, len: u8) -> Option<Self> {
        let flags = reader.take(8).filter(|flags| flags & !FOR_ONE == 0)?;
        let expires_at = match len {
            1 => None,
            5 => Some(u32::from_be_bytes(reader.take_bytes()?)),
            _ => return None,
        };
        Some(Self { is_for_one: flags & FOR_ONE != 0, expires_at })
    }
}
