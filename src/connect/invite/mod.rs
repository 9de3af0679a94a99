//! An invite: one line of text that names a host by its key, and the ways to reach it.
//!
//! | file | |
//! |---|---|
//! | `base32` | characters without look-alikes, the bits in them, and their checksum |
//! | `server_name` | the name of a rendezvous server
//! | `parts` | the parts after the addresses: rendezvous, and the key of a broadcast |
//! | `offer` | the two texts of manual signalling, with the feature `nat` |
//! | `error` | why a text cannot be read, in words for a player |
//! | `wipe` | buffers that are overwritten when they are dropped |

mod base32;
mod error;
#[cfg(feature = "nat")]
mod offer;
mod parts;
mod server_name;
mod wipe;

pub use error::{InviteError, Mistake};
#[cfg(feature = "nat")]
pub use offer::{Answer, Offer};
pub use server_name::ServerName;

use crate::canonical;
use base32::{CHECKSUM_LEN, Reader, Writer, characters_for};
use parts::Parts;
use std::fmt;
use std::iter::repeat_n;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use wipe::{Wiped, wipe};

/// The most addresses of IPv4 in an invite, and the most of IPv6. A guest sends a REQUEST to each.
pub const MAX_ADDRESSES_PER_FAMILY: usize = 4;

const SCHEME: &str = "rebout:";
const VERSION: u8 = 1;

/// Two counts of addresses.
const COUNT_BITS: usize = 3;
const KEY_BITS: usize = 32 * 8;
const V4_BITS: usize = 6 * 8;
const V6_BITS: usize = 18 * 8;
const KIND_BITS: usize = 5;

/// The kind of a part that names a rendezvous, and its lengths in bytes.
const RENDEZVOUS: u8 = 1;
const RENDEZVOUS_V4_BYTES: u8 = 6 + 16;
const RENDEZVOUS_V6_BYTES: u8 = 18 + 16;

/// The kind of a part that names a rendezvous by the name of its server, and its length without the name.
const NAMED_RENDEZVOUS: u8 = 2;
const NAMED_RENDEZVOUS_BYTES: usize = 16 + 2;

/// The kind of a part that has the public key of a broadcast: the invite is one to watch.
const BROADCAST: u8 = 3;
const BROADCAST_BYTES: u8 = 32;

/// The longest invite that this version writes.
const MAX_BITS: usize = 2 * COUNT_BITS
    + KEY_BITS
    + MAX_ADDRESSES_PER_FAMILY * (V4_BITS + V6_BITS)
    + KIND_BITS
    + 8
    + RENDEZVOUS_V6_BYTES as usize * 8
    + KIND_BITS
    + 8
    + (NAMED_RENDEZVOUS_BYTES + server_name::MAX_LEN) * 8
    + KIND_BITS
    + 8
    + BROADCAST_BYTES as usize * 8;

/// The characters of an invite without a single address, and the most that are read: a quarter more than this version writes.
const MIN_CHARACTERS: usize = characters_for(2 * COUNT_BITS + KEY_BITS) + CHECKSUM_LEN;
const MAX_CHARACTERS: usize = 512;
const _: () = assert!(characters_for(MAX_BITS) + CHECKSUM_LEN <= MAX_CHARACTERS);

/// The right to join a host, and the ways to reach it, as one line of text.
///
/// The text is `rebout:1:` and 68 characters for one IPv4 address, 77 in all. Digits and letters
/// without I, L, O and U; either case is read, look-alikes are read as the characters that they look like, and white space
/// is skipped. The last six characters are a checksum: every wrong character and every swap of neighbours is noticed.
///
/// The key is that of the host. Whoever knows it may join, and cannot pose as the host; `Debug` does not show it.
///
/// ```
/// use rebout::{Invite, InviteError};
///
/// let invite = Invite::new([7; 32], ["192.0.2.7:7000".parse().unwrap()]).unwrap();
/// let text = invite.to_string();
/// assert_eq!(text.len(), 77);
/// assert_eq!(text.parse(), Ok(invite.clone()));
/// assert_eq!(text.to_lowercase().parse(), Ok(invite));
/// assert_eq!(text[..40].parse::<Invite>(), Err(InviteError::TooShort { characters: 31, needed: 68 }));
/// ```
///
/// # Later versions
///
/// After the addresses come parts, each with a kind and a length; a rendezvous is such a part. A part of an unknown kind
/// is skipped, because it can only be one more way to the host: what a guest may do is decided by the key alone. If no
/// way is left without it, the invite is refused and the part is named. A change that an older version must not ignore
/// raises the version in the text, which is refused by number.
#[derive(Clone, PartialEq, Eq)]
pub struct Invite {
    key: [u8; 32],
    /// Those of IPv4 first.
    addresses: Vec<SocketAddr>,
    rendezvous: Option<Rendezvous>,
    named: Option<(ServerName, Room)>,
    broadcast: Option<[u8; 32]>,
}

/// The host's room at a rendezvous.
type Room = [u8; 16];

/// The place where a host can be asked for that has no address of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Rendezvous {
    /// The server.
    pub server: SocketAddr,
    /// The host's room there.
    pub room: Room,
}

impl Invite {
    /// An invite with addresses alone. Their order within a family stays; repeated ones are left out.
    ///
    /// # Errors
    ///
    /// For an address that nobody can join, for more than [`MAX_ADDRESSES_PER_FAMILY`] of a family, and for none at all.
    pub fn new(key: [u8; 32], addresses: impl IntoIterator<Item = SocketAddr>) -> Result<Self, InviteError> {
        Self::of(key, addresses, None, None)
    }

    /// An invite with a rendezvous, and with addresses if the host has any.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new), but there need not be an address.
    pub fn with_rendezvous(
        key: [u8; 32],
        addresses: impl IntoIterator<Item = SocketAddr>,
        rendezvous: Rendezvous,
    ) -> Result<Self, InviteError> {
        Self::of(key, addresses, Some(rendezvous), None)
    }

    /// An invite with the name of a rendezvous server and the host's room there, and with addresses if the host has any.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new), but there need not be an address.
    pub fn with_named_rendezvous(
        key: [u8; 32],
        addresses: impl IntoIterator<Item = SocketAddr>,
        server: ServerName,
        room: [u8; 16],
    ) -> Result<Self, InviteError> {
        Self::of(key, addresses, None, Some((server, room)))
    }

    fn of(
        key: [u8; 32],
        addresses: impl IntoIterator<Item = SocketAddr>,
        rendezvous: Option<Rendezvous>,
        named: Option<(ServerName, Room)>,
    ) -> Result<Self, InviteError> {
        // From here on the key is wiped if an address is refused.
        let mut invite = Self { key, addresses: Vec::new(), rendezvous: None, named, broadcast: None };
        let mut counts = [0; 2];
        let found = &mut invite.addresses;
        for addr in addresses {
            let addr = joinable(addr)?;
            if !found.contains(&addr) {
                let count = &mut counts[usize::from(addr.is_ipv6())];
                *count += 1;
                if *count > MAX_ADDRESSES_PER_FAMILY {
                    return Err(InviteError::TooManyAddresses);
                }
                found.push(addr);
            }
        }
        found.sort_by_key(SocketAddr::is_ipv6);
        invite.rendezvous = match rendezvous {
            Some(Rendezvous { server, room }) => Some(Rendezvous { server: joinable(server)?, room }),
            None if found.is_empty() && invite.named.is_none() => {
                return Err(InviteError::NoWay { unknown: None });
            }
            None => None,
        };
        Ok(invite)
    }

    /// An invite to watch a match at the same host: by another key of it, and with the public key of its broadcast. The right to play cannot
    /// be derived from it.
    #[must_use]
    pub fn to_watch(&self, key: [u8; 32], broadcast_key: [u8; 32]) -> Self {
        let mut invite = self.clone();
        wipe(&mut invite.key);
        (invite.key, invite.broadcast) = (key, Some(broadcast_key));
        invite
    }

    fn with_broadcast(mut self, broadcast: Option<[u8; 32]>) -> Self {
        self.broadcast = broadcast;
        self
    }

    /// The public key of the broadcast, if this is an invite to watch.
    #[must_use]
    pub fn broadcast_key(&self) -> Option<[u8; 32]> {
        self.broadcast
    }

    /// The key of the host. It is the right to join: show it to nobody.
    #[must_use]
    pub fn key(&self) -> &[u8; 32] {
        &self.key
    }

    /// The addresses of the host, those of IPv4 first.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// The rendezvous.
    #[must_use]
    pub fn rendezvous(&self) -> Option<&Rendezvous> {
        self.rendezvous.as_ref()
    }

    /// The name of a rendezvous server, and the host's room there.
    #[must_use]
    pub fn named_rendezvous(&self) -> Option<(&ServerName, [u8; 16])> {
        self.named.as_ref().map(|(server, room)| (server, *room))
    }

    fn values(&self) -> Wiped {
        let mut writer = Writer::with_room(MAX_BITS);
        for v6 in [false, true] {
            let count = self.addresses.iter().filter(|addr| addr.is_ipv6() == v6).count();
            writer.put(count as u8, COUNT_BITS);
        }
        writer.put_bytes(&self.key);
        self.addresses.iter().for_each(|addr| put_addr(&mut writer, *addr));
        if let Some(Rendezvous { server, room }) = self.rendezvous {
            writer.put(RENDEZVOUS, KIND_BITS);
            writer.put(if server.is_ipv6() { RENDEZVOUS_V6_BYTES } else { RENDEZVOUS_V4_BYTES }, 8);
            put_addr(&mut writer, server);
            writer.put_bytes(&room);
        }
        if let Some((server, room)) = &self.named {
            writer.put(NAMED_RENDEZVOUS, KIND_BITS);
            writer.put((NAMED_RENDEZVOUS_BYTES + server.name().len()) as u8, 8);
            writer.put_bytes(room);
            writer.put_bytes(&server.port().to_be_bytes());
            writer.put_bytes(server.name().as_bytes());
        }
        if let Some(key) = &self.broadcast {
            writer.put(BROADCAST, KIND_BITS);
            writer.put(BROADCAST_BYTES, 8);
            writer.put_bytes(key);
        }
        writer.finish(VERSION)
    }
}

impl Drop for Invite {
    fn drop(&mut self) {
        wipe(&mut self.key);
    }
}

impl fmt::Display for Invite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{VERSION}:")?;
        base32::write(&self.values(), f)
    }
}

/// Without the key and without the room.
impl fmt::Debug for Invite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Invite");
        shown
            .field("addresses", &self.addresses)
            .field("rendezvous", &self.rendezvous)
            .field("named", &self.named.as_ref().map(|(server, _)| server))
            .finish_non_exhaustive()
    }
}

/// Without the room.
impl fmt::Debug for Rendezvous {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rendezvous").field("server", &self.server).finish_non_exhaustive()
    }
}

impl FromStr for Invite {
    type Err = InviteError;

    fn from_str(text: &str) -> Result<Self, InviteError> {
        let mut characters = base32::behind(SCHEME, text)?;
        let version = version(&mut characters)?;
        if version != u16::from(VERSION) {
            return Err(InviteError::Version { version });
        }
        checked(&base32::values(characters, MAX_CHARACTERS)?.0).and_then(read)
    }
}

/// Reads up to the colon behind the version.
fn version(characters: &mut impl Iterator<Item = char>) -> Result<u16, InviteError> {
    let mut version = None;
    for character in characters {
        version = match (character.to_digit(10), version) {
            (None, Some(version)) if character == ':' => return Ok(version),
            (Some(digit), None) => Some(digit as u16),
            (Some(digit), Some(above)) => {
                u16::checked_mul(above, 10).and_then(|ten| ten.checked_add(digit as u16))
            }
            (None, _) => None,
        };
        if version.is_none() {
            break;
        }
    }
    Err(InviteError::NotAnInvite)
}

/// The values without their checksum, if it fits. A single mistake explains a wrong checksum better than a missing end.
fn checked(values: &[u8]) -> Result<&[u8], InviteError> {
    let needed = needed(values);
    let cut = InviteError::TooShort { characters: values.len(), needed };
    if values.len() < MIN_CHARACTERS {
        return Err(cut);
    }
    match base32::check(VERSION, values) {
        Ok(()) => Ok(&values[..values.len() - CHECKSUM_LEN]),
        Err(Mistake::Unknown) if values.len() < needed => Err(cut),
        Err(mistake) => Err(InviteError::Checksum { mistake }),
    }
}

/// The characters of the shortest invite with this beginning.
fn needed(values: &[u8]) -> usize {
    let mut reader = Reader::new(values);
    match [reader.take(COUNT_BITS), reader.take(COUNT_BITS)].map(|count| count.map(usize::from)) {
        [Some(v4), Some(v6)] if v4.max(v6) <= MAX_ADDRESSES_PER_FAMILY => {
            characters_for(2 * COUNT_BITS + KEY_BITS + v4 * V4_BITS + v6 * V6_BITS) + CHECKSUM_LEN
        }
        _ => MIN_CHARACTERS,
    }
}

fn read(values: &[u8]) -> Result<Invite, InviteError> {
    let ends_early = InviteError::Malformed { rule: "it ends inside its content" };
    let mut reader = Reader::new(values);
    let mut count = || reader.take(COUNT_BITS).map(usize::from).ok_or(ends_early);
    let [v4, v6] = [count()?, count()?];
    if v4.max(v6) > MAX_ADDRESSES_PER_FAMILY {
        return Err(InviteError::TooManyAddresses);
    }
    let key = reader.take_bytes().ok_or(ends_early)?;
    let mut addresses = Vec::with_capacity(v4 + v6);
    for is_ipv6 in repeat_n(false, v4).chain(repeat_n(true, v6)) {
        addresses.push(take_addr(&mut reader, is_ipv6).ok_or(ends_early)?);
    }
    let parts = Parts::read(&mut reader)?;
    let broadcast = parts.broadcast;
    match Invite::of(key, addresses, parts.rendezvous, parts.named) {
        Ok(invite) => Ok(invite.with_broadcast(broadcast)),
        Err(InviteError::NoWay { .. }) => Err(InviteError::NoWay { unknown: parts.unknown }),
        Err(error) => Err(error),
    }
}

/// The address as a guest sees it, or the reason why nobody can join it. Loopback is fine: the guest may be on the same
/// machine.
fn joinable(addr: SocketAddr) -> Result<SocketAddr, InviteError> {
    let mut addr = canonical(addr);
    let obstacle = match addr.ip() {
        ip if ip.is_unspecified() => "it stands for every address of a machine",
        ip if ip.is_multicast() => "it is a multicast address",
        IpAddr::V4(v4) if v4.is_broadcast() => "it is the broadcast address",
        IpAddr::V6(v6) if v6.is_unicast_link_local() => {
            "it means something else on every machine (link-local)"
        }
        _ if addr.port() == 0 => "port 0 is none",
        _ => {
            if let SocketAddr::V6(v6) = &mut addr {
                v6.set_scope_id(0);
            }
            return Ok(addr);
        }
    };
    Err(InviteError::Address { addr, obstacle })
}

fn put_addr(writer: &mut Writer, addr: SocketAddr) {
    match addr.ip() {
        IpAddr::V4(ip) => writer.put_bytes(&ip.octets()),
        IpAddr::V6(ip) => writer.put_bytes(&ip.octets()),
    }
    writer.put_bytes(&addr.port().to_be_bytes());
}

fn take_addr(reader: &mut Reader<'_>, is_ipv6: bool) -> Option<SocketAddr> {
    let ip = if is_ipv6 {
        IpAddr::from(reader.take_bytes::<16>()?)
    } else {
        IpAddr::from(reader.take_bytes::<4>()?)
    };
    Some((ip, u16::from_be_bytes(reader.take_bytes()?)).into())
}
