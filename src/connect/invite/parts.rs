//! The parts of an invite after its addresses.

use super::base32::Reader;
use super::{
    BROADCAST, BROADCAST_BYTES, InviteError, KIND_BITS, NAMED_RENDEZVOUS, NAMED_RENDEZVOUS_BYTES, RENDEZVOUS,
    RENDEZVOUS_V4_BYTES, RENDEZVOUS_V6_BYTES, Rendezvous, Room, ServerName, take_addr,
};

#[derive(Default)]
pub(super) struct Parts {
    pub(super) rendezvous: Option<Rendezvous>,
    pub(super) named: Option<(ServerName, Room)>,
    pub(super) broadcast: Option<[u8; 32]>,
    /// The first part that this version does not know.
    pub(super) unknown: Option<u8>,
}

impl Parts {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, InviteError> {
        let broken = |rule| InviteError::Malformed { rule };
        let mut parts = Self::default();
        while !reader.is_at_end() {
            let head = reader.take(KIND_BITS).zip(reader.take(8));
            let Some((kind, len)) = head else { return Err(broken("it ends inside the head of a part")) };
            let fits = usize::from(len) * 8 <= reader.left();
            match (kind, len) {
                _ if !fits => return Err(broken("a part is longer than the invite")),
                (0, _) => return Err(broken("a part has kind 0")),
                (RENDEZVOUS, _) if parts.rendezvous.is_some() => return Err(broken("it has two rendezvous")),
                (RENDEZVOUS, RENDEZVOUS_V4_BYTES | RENDEZVOUS_V6_BYTES) => {
                    let server = take_addr(reader, len == RENDEZVOUS_V6_BYTES);
                    let found = server.zip(reader.take_bytes());
                    parts.rendezvous = found.map(|(server, room)| Rendezvous { server, room });
                }
                (RENDEZVOUS, _) => return Err(broken("its rendezvous has a wrong length")),
                (NAMED_RENDEZVOUS, _) if parts.named.is_some() => {
                    return Err(broken("it has two names of rendezvous"));
                }
                (NAMED_RENDEZVOUS, _) => {
                    let named = take_named(reader, len);
                    parts.named = Some(named.ok_or(broken("the name of its rendezvous cannot be used"))?);
                }
                (BROADCAST, _) if parts.broadcast.is_some() => {
                    return Err(broken("it has two keys of a broadcast"));
                }
                (BROADCAST, BROADCAST_BYTES) => parts.broadcast = reader.take_bytes(),
                (BROADCAST, _) => return Err(broken("the key of its broadcast has a wrong length")),
                _ => {
                    parts.unknown.get_or_insert(kind);
                    reader.skip(usize::from(len) * 8);
                }
            }
        }
        Ok(parts)
    }
}

fn take_named(reader: &mut Reader<'_>, len: u8) -> Option<(ServerName, Room)> {
    let name_len = usize::from(len).checked_sub(NAMED_RENDEZVOUS_BYTES)?;
    let (room, port) = (reader.take_bytes()?, u16::from_be_bytes(reader.take_bytes()?));
    let name: Option<Vec<u8>> = (0..name_len).map(|_| reader.take(8)).collect();
    Some((ServerName::new(str::from_utf8(&name?).ok()?, port)?, room))
}
