//! Packets of a rendezvous: how a host without a reachable port is found by its invite. Big-endian.
//!
//! This is the layout alone: no key and no state. INIT and RESP of the sealed handshake, and SIGNALs of a sealed connection,
//! travel inside as opaque bytes.
//! Every answer is at most as long as the request that it answers, so that a server amplifies nothing.

use super::broken_rules::broken_rules;
use super::kinds::kinds;
use core::fmt;
use std::net::SocketAddr;

mod decode;
mod encode;

pub use decode::{decode, is_carried, request_nonce};
pub use encode::{encode, signed_text};

/// The first byte of a REGISTER: a host opens its room or keeps it open.
pub const REGISTER: u8 = 0xE8;
/// The first byte of an ASK: a joiner asks for the ticket of a room.
pub const ASK: u8 = 0xE9;
/// The first byte of a POST: a joiner sends an INIT or a SIGNAL to the host of a room.
pub const POST: u8 = 0xEA;
/// The first byte of an ANSWER: a host sends its RESP or a SIGNAL to a guest.
pub const ANSWER: u8 = 0xEB;
/// The first byte of a COOKIE: the server asks for proof that the sender receives at its address.
pub const COOKIE: u8 = 0xEC;
/// The first byte of a GRANT: the server answers a REGISTER or an ASK.
pub const GRANT: u8 = 0xED;
/// The first byte of a DELIVER: the server hands the INIT or the SIGNAL of a guest to its host.
pub const DELIVER: u8 = 0xEE;
/// The first byte of a REPLY: the server answers a POST, hands on a RESP or a SIGNAL, or refuses a request.
pub const REPLY: u8 = 0xEF;

/// The version of this layout.
pub const VERSION: u8 = 1;

/// The length of the name of a room.
pub const ROOM_LEN: usize = 16;
/// The length of a host's public key.
pub const KEY_LEN: usize = 32;
/// The length of a signature.
pub const SIGNATURE_LEN: usize = 64;
/// The lengths of an INIT, a RESP or a SIGNAL inside.
pub const SIGNAL_LEN: core::ops::RangeInclusive<usize> = 53..=400;

/// First byte, version, nonce and cookie, which REGISTER, ASK and POST begin with.
const REQUEST_HEAD_LEN: usize = 1 + 1 + 8 + 8;
/// The length of a REGISTER.
pub const REGISTER_LEN: usize = REQUEST_HEAD_LEN + KEY_LEN + 8 + SIGNATURE_LEN;
/// The length of an ASK, whose zeros make it longer than its GRANT.
pub const ASK_LEN: usize = 88;
const POST_HEAD_LEN: usize = REQUEST_HEAD_LEN + ROOM_LEN;
const ANSWER_HEAD_LEN: usize = 1 + 1 + 8;
const ADDRESS_LEN: usize = 16 + 2;
const COOKIE_LEN: usize = 1 + 8 + 8 + ADDRESS_LEN;
const TURN_ID_LEN: usize = 6;
const TURN_PASSWORD_LEN: usize = 20;
const TURN_LEN: usize = ADDRESS_LEN + 4 + 2 + TURN_ID_LEN + TURN_PASSWORD_LEN;
/// The length of a GRANT.
pub const GRANT_LEN: usize = 1 + 8 + ADDRESS_LEN + 8 + TURN_LEN;
const DELIVER_HEAD_LEN: usize = 1 + 8 + 8;
const REPLY_HEAD_LEN: usize = 1 + 8 + 1;

/// The length of the longest packet.
pub const MAX_LEN: usize = POST_HEAD_LEN + *SIGNAL_LEN.end();

// No answer is longer than its request. A POST pays for its DELIVER and its REPLY together, and a REGISTER for its REPLY and
// a COOKIE to the address that holds the room.
const _: () = assert!(GRANT_LEN <= ASK_LEN && GRANT_LEN <= REGISTER_LEN && COOKIE_LEN <= ASK_LEN);
const _: () =
    assert!(REPLY_HEAD_LEN + COOKIE_LEN <= REGISTER_LEN && COOKIE_LEN <= POST_HEAD_LEN + *SIGNAL_LEN.start());
const _: () =
    assert!(DELIVER_HEAD_LEN + REPLY_HEAD_LEN <= POST_HEAD_LEN && REPLY_HEAD_LEN <= ANSWER_HEAD_LEN);

/// The name of a room: the first bytes of the SHA-256 of its host's public key.
pub type Room = [u8; ROOM_LEN];

/// A host opens its room, or keeps it open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register {
    /// The random number that the answer repeats.
    pub nonce: u64,
    /// The server's cookie, or 0 to ask for one.
    pub cookie: u64,
    /// The host's Ed25519 public key, which the name of the room is made of.
    pub key: [u8; KEY_LEN],
    /// The ticket that joiners put into their INIT.
    pub ticket: u64,
    /// The signature of [`signed_text`].
    pub signature: [u8; SIGNATURE_LEN],
}

/// A joiner asks for the ticket of a room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    /// The random number that the answer repeats.
    pub nonce: u64,
    /// The server's cookie, or 0 to ask for one.
    pub cookie: u64,
    /// The room.
    pub room: Room,
}

/// A joiner sends an INIT, or a SIGNAL of the connection that it has, to the host of a room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Post<'a> {
    /// The random number that the answers repeat.
    pub nonce: u64,
    /// The server's cookie, or 0 to ask for one.
    pub cookie: u64,
    /// The room.
    pub room: Room,
    /// The INIT or the SIGNAL.
    pub signal: &'a [u8],
}

/// A host sends its RESP, or a SIGNAL, to a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer<'a> {
    /// The guest's number, from its DELIVER.
    pub guest: u64,
    /// The RESP or the SIGNAL.
    pub signal: &'a [u8],
}

/// The server asks for proof that the sender receives at its address. Without a request it asks the address that holds a
/// room whether it still answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cookie {
    /// The nonce of the request, or that of the REGISTER that was granted.
    pub nonce: u64,
    /// The cookie, never 0, with which the request is to be sent again.
    pub cookie: u64,
    /// The address that the request came from. A host signs it.
    pub observed: SocketAddr,
}

/// The right to use a TURN server for a while, in coturn's scheme of a shared secret.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TurnGrant {
    /// The TURN server.
    pub server: SocketAddr,
    /// The Unix time in seconds at which the right ends.
    pub expiry: u32,
    /// How many seconds that is from now.
    pub valid_secs: u16,
    /// The part of the user's name behind the expiry.
    pub id: [u8; TURN_ID_LEN],
    /// The HMAC-SHA1 of the user's name.
    pub password: [u8; TURN_PASSWORD_LEN],
}

/// Without the password.
impl fmt::Debug for TurnGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TurnGrant")
            .field("server", &self.server)
            .field("expiry", &self.expiry)
            .field("valid_secs", &self.valid_secs)
            .finish_non_exhaustive()
    }
}

/// The server answers a REGISTER or an ASK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The nonce of the request.
    pub nonce: u64,
    /// The address that the request came from.
    pub observed: SocketAddr,
    /// The host's ticket.
    pub ticket: u64,
    /// The right to use a TURN server, if there is one.
    pub turn: Option<TurnGrant>,
}

/// The server hands the INIT of a guest to its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deliver<'a> {
    /// The nonce of the host's REGISTER.
    pub nonce: u64,
    /// The guest's number.
    pub guest: u64,
    /// The INIT or the SIGNAL.
    pub signal: &'a [u8],
}

/// The server answers a POST, hands on a RESP, or refuses a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply<'a> {
    /// The nonce of the request.
    pub nonce: u64,
    /// The content.
    pub outcome: Outcome<'a>,
}

/// The content of a [`Reply`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome<'a> {
    /// The POST has arrived. It says nothing of whether the room exists.
    Posted,
    /// The host's RESP or SIGNAL.
    Answered(&'a [u8]),
    /// The request is refused.
    Refused(Denial),
}

kinds! {
    /// Why a server refuses a request. `Display` is a clause about the server, for a sentence that names it.
    #[non_exhaustive]
    Denial:
    /// The server has as many rooms as it keeps, or as it keeps for one source.
    Full(2) = "it has no free room",
    /// The signature is not that of the key.
    Signature(3) = "it does not accept the signature",
    /// The server speaks another version.
    Version(4) = "it speaks another version",
    /// This source, its network or all together have sent too many requests.
    Busy(5) = "it gets too many requests",
    /// The room is open at another address, which is asked whether it still answers.
    Held(6) = "another address holds this room and still answers",
}

/// A decoded packet of a rendezvous.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packet<'a> {
    /// A host opens its room.
    Register(Register),
    /// A joiner asks for a ticket.
    Ask(Ask),
    /// A joiner sends an INIT or a SIGNAL.
    Post(Post<'a>),
    /// A host sends a RESP or a SIGNAL.
    Answer(Answer<'a>),
    /// The server asks for a cookie.
    Cookie(Cookie),
    /// The server answers a REGISTER or an ASK.
    Grant(Grant),
    /// The server hands on an INIT or a SIGNAL.
    Deliver(Deliver<'a>),
    /// The server answers a POST, hands on a RESP or a SIGNAL, or refuses.
    Reply(Reply<'a>),
}

broken_rules! {
    /// Why a datagram is no packet of a rendezvous.
    DecodeError {
        /// The first byte is none of a rendezvous packet.
        First = "rendezvous-first", "the first byte is none of a rendezvous packet",
        /// The length is not that of the packet.
        Length = "rendezvous-length", "the length is not that of the packet",
        /// The version is not [`VERSION`].
        Version = "rendezvous-version", "another version of the rendezvous",
        /// The padding is not zero.
        Padding = "rendezvous-padding", "the padding is not zero",
        /// The INIT, RESP or SIGNAL inside is none.
        Signal = "rendezvous-signal", "it carries something else than a sealed handshake or signal",
        /// A cookie of the server is 0.
        Cookie = "rendezvous-cookie", "the cookie is 0",
        /// The right to use a TURN server has no server.
        Turn = "rendezvous-turn", "TURN credentials without a server",
        /// The content of a REPLY is unknown.
        Outcome = "rendezvous-outcome", "an unknown outcome",
    }
}
