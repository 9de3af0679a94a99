//! The parts of an invite behind its addresses, each with a kind and a length.

use super::base32::{Reader, Writer};
use super::error::InviteError;
use super::terms::Terms;
use super::{KIND_BITS, Rendezvous, Room, ServerName, put_addr, server_name, take_addr};

/// Kinds from here on are critical: a reader that does not know one refuses the invite. Those below can only be one more way to the
/// host, and are skipped.
const CRITICAL: u8 = 16;

/// A rendezvous, and its lengths in bytes.
const RENDEZVOUS: u8 = 1;
const RENDEZVOUS_V4_BYTES: u8 = 6 + 16;
const RENDEZVOUS_V6_BYTES: u8 = 18 + 16;
/// A rendezvous by the name of its server, and its length without the name.
const NAMED_RENDEZVOUS: u8 = 2;
const NAMED_RENDEZVOUS_BYTES: usize = 16 + 2;
/// The fingerprint of a certificate.
const CERTIFICATE: u8 = 3;
const CERTIFICATE_BYTES: u8 = 32;
/// The host is a page in a browser, which is reached over data channels alone.
const BY_CHANNEL: u8 = 4;
/// The terms.
const TERMS: u8 = 17;
const MAX_TERMS_BYTES: usize = 5;
/// The public key of a broadcast: the invite is one to watch.
const BROADCAST: u8 = 18;
const BROADCAST_BYTES: u8 = 32;

/// The bits of all parts at their longest.
pub(super) const MAX_BITS: usize = 6 * (KIND_BITS + 8)
    + (RENDEZVOUS_V6_BYTES as usize
        + NAMED_RENDEZVOUS_BYTES
        + server_name::MAX_LEN
        + CERTIFICATE_BYTES as usize
        + BROADCAST_BYTES as usize
        + MAX_TERMS_BYTES)
        * 8;

/// The parts.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Parts {
    pub(super) rendezvous: Option<Rendezvous>,
    pub(super) named: Option<(ServerName, Room)>,
    pub(super) certificate: Option<[u8; 32]>,
    pub(super) by_channel: bool,
    pub(super) terms: Terms,
    pub(super) broadcast: Option<[u8; 32]>,
}

impl Parts {
    pub(super) fn write(&self, writer: &mut Writer) {
        if self.terms.len() > 0 {
            writer.put(TERMS, KIND_BITS);
            writer.put(self.terms.len(), 8);
            self.terms.write(writer);
        }
        if let Some(key) = &self.broadcast {
            writer.put(BROADCAST, KIND_BITS);
            writer.put(BROADCAST_BYTES, 8);
            writer.put_bytes(key);
        }
        if let Some(Rendezvous { server, room }) = self.rendezvous {
            writer.put(RENDEZVOUS, KIND_BITS);
            writer.put(if server.is_ipv6() { RENDEZVOUS_V6_BYTES } else { RENDEZVOUS_V4_BYTES }, 8);
            put_addr(writer, server);
            writer.put_bytes(&room);
        }
        if let Some((server, room)) = &self.named {
            writer.put(NAMED_RENDEZVOUS, KIND_BITS);
            writer.put((NAMED_RENDEZVOUS_BYTES + server.name().len()) as u8, 8);
            writer.put_bytes(room);
            writer.put_bytes(&server.port().to_be_bytes());
            writer.put_bytes(server.name().as_bytes());
        }
        if let Some(certificate) = &self.certificate {
            writer.put(CERTIFICATE, KIND_BITS);
            writer.put(CERTIFICATE_BYTES, 8);
            writer.put_bytes(certificate);
        }
        if self.by_channel {
            writer.put(BY_CHANNEL, KIND_BITS);
            writer.put(0_u8, 8);
        }
    }

    /// Reads all parts, and the kind of the first that was skipped.
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<(Self, Option<u8>), InviteError> {
        let broken = |rule| InviteError::Malformed { rule };
        let (mut parts, mut unknown, mut has_terms) = (Self::default(), None, false);
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
                (CERTIFICATE, _) if parts.certificate.is_some() => {
                    return Err(broken("it has two certificates"));
                }
                (CERTIFICATE, CERTIFICATE_BYTES) => parts.certificate = reader.take_bytes(),
                (CERTIFICATE, _) => return Err(broken("its certificate has a wrong length")),
                (BY_CHANNEL, _) if parts.by_channel => {
                    return Err(broken("it has two parts about data channels"));
                }
                (BY_CHANNEL, 0) => parts.by_channel = true,
                (BY_CHANNEL, _) => return Err(broken("its part about data channels has a wrong length")),
                (TERMS, _) if has_terms => return Err(broken("it has two parts with terms")),
                (TERMS, _) => {
                    parts.terms = Terms::read(reader, len).ok_or(InviteError::Critical { kind })?;
                    has_terms = true;
                }
                (BROADCAST, _) if parts.broadcast.is_some() => {
                    return Err(broken("it has two keys of a broadcast"));
                }
                (BROADCAST, BROADCAST_BYTES) => parts.broadcast = reader.take_bytes(),
                (BROADCAST, _) => return Err(broken("the key of its broadcast has a wrong length")),
                (CRITICAL.., _) => return Err(InviteError::Critical { kind }),
                _ => {
                    unknown.get_or_insert(kind);
                    reader.skip(usize::from(len) * 8);
                }
            }
        }
        Ok((parts, unknown))
    }
}

fn take_named(reader: &mut Reader<'_>, len: u8) -> Option<(ServerName, Room)> {
    let name_len = usize::from(len).checked_sub(NAMED_RENDEZVOUS_BYTES)?;
    let (room, port) = (reader.take_bytes()?, u16::from_be_bytes(reader.take_bytes()?));
    let name: Option<Vec<u8>> = (0..name_len).map(|_| reader.take(8)).collect();
    Some((ServerName::new(str::from_utf8(&name?).ok()?, port)?, room))
}
