//! An invite: one line of text that names a host by its key, and the ways to reach it.
//!
//! | file | |
//! |---|---|
//! | `base32` | characters without look-alikes, the bits in them, and their checksum |
//! | `parts`, `terms`, `server_name` | the parts behind the addresses; whom an invite admits, and until when; the name of a rendezvous server |
//! | `offer` | the two texts of manual signalling, with the feature `nat` |
//! | `error` | why a text cannot be read, in words for a player |
//! | `wipe` | buffers that are overwritten when they are dropped |

mod base32;
mod error;
#[cfg(feature = "nat")]
mod offer;
mod parts;
mod server_name;
mod terms;
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
const VERSION: u8 = 2;

/// Two counts of addresses.
const COUNT_BITS: usize = 3;
const KEY_BITS: usize = 32 * 8;
const V4_BITS: usize = 6 * 8;
const V6_BITS: usize = 18 * 8;
const KIND_BITS: usize = 5;

/// The longest invite that this version writes.
const MAX_BITS: usize =
    2 * COUNT_BITS + KEY_BITS + MAX_ADDRESSES_PER_FAMILY * (V4_BITS + V6_BITS) + parts::MAX_BITS;

/// The characters of an invite without a single address, and the most that are read: a quarter more than this version writes.
const MIN_CHARACTERS: usize = characters_for(2 * COUNT_BITS + KEY_BITS) + CHECKSUM_LEN;
const MAX_CHARACTERS: usize = 640;
const _: () = assert!(characters_for(MAX_BITS) + CHECKSUM_LEN <= MAX_CHARACTERS);

/// The right to join a host, and the ways to reach it, as one line of text.
///
/// The text is `rebout:2:` and 68 characters for one IPv4 address, 77 in all. Digits and letters
/// without I, L, O and U; either case is read, look-alikes are read as the characters that they look like, and white space
/// is skipped. The last six characters are a checksum: every wrong character and every swap of neighbours is noticed.
///
/// The key is the host's public key. It grants the right to join, and does not allow anyone to impersonate the host; `Debug` does not show it.
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
/// After the addresses come parts, each with a kind and a length: a rendezvous, the fingerprint of a certificate, the key of a
/// broadcast, and the terms of an invite that has any. A part of an unknown kind below 16 is skipped, because it can only be one more way to the host; if no
/// way is left without it, the invite is refused and the part is named. An unknown part from 16 on must not be ignored, and the
/// invite is refused.
#[derive(Clone, PartialEq, Eq)]
pub struct Invite {
    key: [u8; 32],
    /// Those of IPv4 first.
    addresses: Vec<SocketAddr>,
    parts: Parts,
}

/// The host's room at a rendezvous.
type Room = [u8; 16];

/// The rendezvous of a host that has no reachable address.
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
    /// For an address that cannot be joined, for more than [`MAX_ADDRESSES_PER_FAMILY`] of a family, and for none at all.
    pub fn new(key: [u8; 32], addresses: impl IntoIterator<Item = SocketAddr>) -> Result<Self, InviteError> {
        Self::of(key, addresses, Parts::default())
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
        Self::of(key, addresses, Parts { rendezvous: Some(rendezvous), ..Parts::default() })
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
        Self::of(key, addresses, Parts { named: Some((server, room)), ..Parts::default() })
    }

    fn of(
        key: [u8; 32],
        addresses: impl IntoIterator<Item = SocketAddr>,
        parts: Parts,
    ) -> Result<Self, InviteError> {
        // From here on the key is wiped if an address is refused.
        let mut invite = Self { key, addresses: Vec::new(), parts };
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
        if let Some(rendezvous) = &mut invite.parts.rendezvous {
            rendezvous.server = joinable(rendezvous.server)?;
        } else if found.is_empty() && invite.parts.named.is_none() {
            return Err(InviteError::NoWay { unknown: None });
        }
        Ok(invite)
    }

    /// The key of the host. It grants the right to join: keep it secret.
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
        self.parts.rendezvous.as_ref()
    }

    /// The name of a rendezvous server, and the host's room there.
    #[must_use]
    pub fn named_rendezvous(&self) -> Option<(&ServerName, [u8; 16])> {
        self.parts.named.as_ref().map(|(server, room)| (server, *room))
    }

    /// An invite to watch a match at the same host: by another key of it, and with the public key of its broadcast. The right to play cannot
    /// be derived from it.
    #[must_use]
    pub fn to_watch(&self, key: [u8; 32], broadcast_key: [u8; 32]) -> Self {
        let mut invite = self.clone();
        wipe(&mut invite.key);
        (invite.key, invite.parts.broadcast) = (key, Some(broadcast_key));
        invite
    }

    /// The public key of the broadcast, if this is an invite to watch.
    #[must_use]
    pub fn broadcast_key(&self) -> Option<[u8; 32]> {
        self.parts.broadcast
    }

    /// The same invite for a single guest: after that one is connected, the host revokes it.
    #[must_use]
    pub fn for_one(mut self) -> Self {
        self.parts.terms.is_for_one = true;
        self
    }

    /// The same invite until a time, in seconds since 1970 (UTC).
    #[must_use]
    pub fn until(mut self, unix_seconds: u32) -> Self {
        self.parts.terms.expires_at = Some(unix_seconds);
        self
    }

    /// The same invite with the SHA-256 fingerprint of the certificate that the host has for DTLS, for a browser.
    #[must_use]
    pub fn with_certificate(mut self, fingerprint: [u8; 32]) -> Self {
        self.parts.certificate = Some(fingerprint);
        self
    }

    /// The same invite of a host that is a page in a browser, which is reached over data channels alone.
    #[must_use]
    pub(crate) fn by_channel(mut self) -> Self {
        self.parts.by_channel = true;
        self
    }

    /// Whether the host is a page in a browser, which is reached over data channels alone.
    pub(crate) fn is_by_channel(&self) -> bool {
        self.parts.by_channel
    }

    /// Whether it is for a single guest.
    #[must_use]
    pub fn is_for_one(&self) -> bool {
        self.parts.terms.is_for_one
    }

    /// The second since 1970 (UTC) at which it expires.
    #[must_use]
    pub fn expires_at(&self) -> Option<u32> {
        self.parts.terms.expires_at
    }

    /// The fingerprint of the host's certificate.
    #[must_use]
    pub fn certificate(&self) -> Option<&[u8; 32]> {
        self.parts.certificate.as_ref()
    }

    fn values(&self) -> Wiped {
        let mut writer = Writer::with_room(MAX_BITS);
        for v6 in [false, true] {
            let count = self.addresses.iter().filter(|addr| addr.is_ipv6() == v6).count();
            writer.put(count as u8, COUNT_BITS);
        }
        writer.put_bytes(&self.key);
        self.addresses.iter().for_each(|addr| put_addr(&mut writer, *addr));
        self.parts.write(&mut writer);
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
            .field("rendezvous", &self.parts.rendezvous)
            .field("named", &self.parts.named.as_ref().map(|(server, _)| server))
            .field("terms", &self.parts.terms)
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
    let (parts, unknown) = Parts::read(&mut reader)?;
    match Invite::of(key, addresses, parts) {
        Err(InviteError::NoWay { .. }) => Err(InviteError::NoWay { unknown }),
        result => result,
    }
}

/// The address as a guest sees it, or the reason why it cannot be joined. Loopback is fine: the guest may be on the same
/// machine.
fn joinable(addr: SocketAddr) -> Result<SocketAddr, InviteError> {
    let mut addr = canonical(addr);
    let obstacle = match addr.ip() {
        ip if ip.is_unspecified() => "it is the unspecified address",
        ip if ip.is_multicast() => "it is a multicast address",
        IpAddr::V4(v4) if v4.is_broadcast() => "it is the broadcast address",
        IpAddr::V6(v6) if v6.is_unicast_link_local() => "it is a link-local address",
        _ if addr.port() == 0 => "port 0 is invalid",
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
