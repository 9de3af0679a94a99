//! Sealed packets: the handshake of a sealed link, and the envelopes of everything after it. Big-endian.
//!
//! This is the layout alone, without a key: a decoded packet is well-formed and nothing more. `docs/ENCRYPTION.md` says what
//! makes it believed.

use super::broken_rules::broken_rules;

mod decode;
mod encode;

#[cfg(feature = "seal")]
pub(crate) use decode::decode_data;
pub use decode::{decode, split_mac};
pub use encode::{control_head, data_head, encode_request, encode_retry, init_head, put_mac, resp_head};

/// The first byte of a REQUEST: a joiner asks for a cookie.
pub const REQUEST: u8 = 0xE0;
/// The first byte of a RETRY: a host gives a cookie, and keeps nothing.
pub const RETRY: u8 = 0xE1;
/// The first byte of an INIT: the first message of the Noise handshake.
pub const INIT: u8 = 0xE2;
/// The first byte of a RESP: the second message of the Noise handshake.
pub const RESP: u8 = 0xE3;
/// The first byte of DATA whose plaintext is a whole datagram.
pub const DATA_PLAIN: u8 = 0xE4;
/// The first byte of DATA whose plaintext is an RBN1 packet without magic and version.
pub const DATA_INPUTS: u8 = 0xE5;
/// The first byte of DATA whose plaintext is a GAME packet without its magic.
pub const DATA_GAME: u8 = 0xE6;
/// The first byte of a control packet of the link itself.
pub const CONTROL: u8 = 0xE7;

/// The version of the sealed handshake.
pub const VERSION: u8 = 1;
/// The length of the tag behind every sealed text.
pub const TAG_LEN: usize = 16;
/// The length of a public key.
pub const KEY_LEN: usize = 32;
/// The length of an INIT before its ephemeral key: the part that the prologue of the handshake has.
pub const INIT_HEAD_LEN: usize = 21;
/// The length of the head of DATA.
pub const DATA_HEAD_LEN: usize = 5;
/// The length of the head of a control packet.
pub const CONTROL_HEAD_LEN: usize = 8;
/// The most bytes that sealing adds to a datagram.
pub const MAX_OVERHEAD: usize = DATA_HEAD_LEN + TAG_LEN;
/// The length of the commitment in a RESP to a joiner by address.
pub const COMMITMENT_LEN: usize = 16;

/// The length of the key of a player and its proof.
pub const PLAYER_LEN: usize = KEY_LEN + 32;

/// The length of an opening message or a signal with its length in front and its padding: the plaintext of an INIT, and of a
/// control packet that carries a signal. All have the same length, so that a watcher learns nothing of what is in them.
pub const PADDED_LEN: usize = 256;
/// The length of the longest opening message, and of the longest signal.
pub const MAX_MESSAGE_LEN: usize = PADDED_LEN - 2;

const MAC_LEN: usize = 8;
const INIT_AROUND_LEN: usize = INIT_HEAD_LEN + KEY_LEN + TAG_LEN + MAC_LEN;
/// The length of an INIT. Every RESP is shorter.
pub const INIT_LEN: usize = INIT_AROUND_LEN + PADDED_LEN;
const RESP_HEAD_LEN: usize = 3;
const MIN_RESP_LEN: usize = RESP_HEAD_LEN + KEY_LEN + 2 + TAG_LEN;

/// How a joiner knows the host's public key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Pattern {
    /// From an invite. The key never travels.
    Invite = 1,
    /// From the RETRY that comes from an address. It is unauthenticated until the players compare the code.
    Open,
    /// From an invite, and the handshake carries signals instead of packets of the inner protocol: it is brought by a
    /// rendezvous before there is a path.
    Signal,
}

impl Pattern {
    fn of(number: u8) -> Option<Self> {
        [Self::Invite, Self::Open, Self::Signal].into_iter().find(|pattern| *pattern as u8 == number)
    }

    /// The length of a REQUEST, which is longer than the RETRY that answers it. There is none by signalling.
    #[must_use]
    pub const fn request_len(self) -> usize {
        match self {
            Self::Invite => 32,
            Self::Open => 64,
            Self::Signal => 0,
        }
    }

    /// The length of a RETRY. There is none by signalling.
    #[must_use]
    pub const fn retry_len(self) -> usize {
        match self {
            Self::Invite => 27,
            Self::Open => 27 + KEY_LEN,
            Self::Signal => 0,
        }
    }
}

/// A request for a cookie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// How the joiner knows the host's key.
    pub pattern: Pattern,
    /// The number by which the joiner wants to be answered.
    pub index: u16,
    /// The random number of the joiner's attempt.
    pub nonce: u64,
}

/// A cookie for a joiner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// The index of the REQUEST or INIT that this answers.
    pub index: u16,
    /// The nonce of the REQUEST or INIT that this answers.
    pub nonce: u64,
    /// Opaque to the joiner.
    pub cookie: u64,
    /// The host's public key, for a joiner by address.
    pub open_key: Option<[u8; KEY_LEN]>,
}

/// The head of an INIT, all of which is in the prologue of the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InitHead {
    /// How the joiner knows the host's key.
    pub pattern: Pattern,
    /// The number by which the joiner wants to be answered.
    pub index: u16,
    /// The random number of the joiner's attempt.
    pub nonce: u64,
    /// The cookie of a RETRY; by signalling the ticket of the host.
    pub cookie: u64,
}

/// The first message of the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Init<'a> {
    /// The fields before the ephemeral key.
    pub head: InitHead,
    /// The same as bytes.
    pub prologue: &'a [u8],
    /// The message of the handshake: ephemeral key, sealed text, tag.
    pub message: &'a [u8],
}

impl Init<'_> {
    /// The joiner's ephemeral key.
    #[must_use]
    pub fn ephemeral(&self) -> [u8; KEY_LEN] {
        self.message.first_chunk().copied().unwrap_or_default()
    }
}

/// The second message of the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resp<'a> {
    /// The index of the INIT that this answers.
    pub index: u16,
    /// The message of the handshake: ephemeral key, sealed text, tag.
    pub message: &'a [u8],
}

/// The part of a datagram that its DATA leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Nothing.
    Plain,
    /// The magic and version of RBN1.
    Inputs,
    /// The magic of GAME.
    Game,
}

impl Form {
    /// The bytes that every datagram of this form begins with, and that do not travel.
    #[must_use]
    #[inline]
    pub const fn dropped(self) -> &'static [u8] {
        match self {
            Self::Plain => b"",
            Self::Inputs => b"RBN1\x01",
            Self::Game => b"GAME",
        }
    }

    /// The form of a datagram.
    #[must_use]
    #[inline]
    pub fn of(datagram: &[u8]) -> Self {
        match datagram {
            [b'R', b'B', b'N', b'1', 1, ..] => Self::Inputs,
            [b'G', b'A', b'M', b'E', ..] => Self::Game,
            _ => Self::Plain,
        }
    }

    /// The first byte of such DATA.
    #[must_use]
    #[inline]
    pub const fn first_byte(self) -> u8 {
        match self {
            Self::Plain => DATA_PLAIN,
            Self::Inputs => DATA_INPUTS,
            Self::Game => DATA_GAME,
        }
    }
}

/// A sealed datagram of the protocol inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data<'a> {
    /// The part that was left out.
    pub form: Form,
    /// The receiver's number of the connection.
    pub index: u16,
    /// The low bits of the counter.
    pub counter: u16,
    /// The head, which the tag covers.
    pub head: [u8; DATA_HEAD_LEN],
    /// The sealed text and its tag.
    pub sealed: &'a [u8],
}

/// The kind of a control packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Asks for a [`Found`](Self::Found), because nothing could be opened for a second.
    Find,
    /// Answers a [`Find`](Self::Find): 32 bits of the counter.
    Found,
    /// Asks whether the peer receives at the address that this is sent to.
    Challenge,
    /// Answers a [`Challenge`](Self::Challenge) with its value.
    Proof,
    /// The joiner's 16 bytes of the code.
    CodeAsk,
    /// The host's 16 bytes of the code, and how many guests came before.
    CodeReveal,
    /// A signal: candidates and credentials of a machine that is reached by other paths now.
    Signal,
    /// The public key of the player at the sender, and its proof.
    Player,
    /// Answers a [`Player`](Self::Player), or asks for one.
    PlayerAnswer,
}

impl Kind {
    /// All of them, in the order of their numbers, which count from 1.
    pub const ALL: [Self; 9] = [
        Self::Find,
        Self::Found,
        Self::Challenge,
        Self::Proof,
        Self::CodeAsk,
        Self::CodeReveal,
        Self::Signal,
        Self::Player,
        Self::PlayerAnswer,
    ];

    /// The number on the wire.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8 + 1
    }

    /// The length of the plaintext.
    #[must_use]
    pub const fn plain_len(self) -> usize {
        match self {
            Self::Find | Self::Found => 0,
            Self::Challenge | Self::Proof => 8,
            Self::CodeAsk => 16,
            Self::CodeReveal => 20,
            Self::Signal => PADDED_LEN,
            Self::Player => PLAYER_LEN,
            Self::PlayerAnswer => 1,
        }
    }
}

/// The length of the longest control packet.
pub const MAX_CONTROL_LEN: usize = CONTROL_HEAD_LEN + PADDED_LEN + TAG_LEN;

/// A packet of the link itself, sealed like DATA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control<'a> {
    /// The receiver's number of the connection.
    pub index: u16,
    /// The low bits of the counter.
    pub counter: u32,
    /// The kind.
    pub kind: Kind,
    /// The head, which the tag covers.
    pub head: [u8; CONTROL_HEAD_LEN],
    /// The sealed text and its tag.
    pub sealed: &'a [u8],
}

/// A decoded packet of a sealed link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packet<'a> {
    /// A request for a cookie.
    Request(Request),
    /// A cookie.
    Retry(Retry),
    /// The first message of the handshake.
    Init(Init<'a>),
    /// The second message of the handshake.
    Resp(Resp<'a>),
    /// A sealed datagram.
    Data(Data<'a>),
    /// A packet of the link itself.
    Control(Control<'a>),
}

broken_rules! {
    /// Why a datagram is no packet of a sealed link.
    DecodeError {
        /// The first byte is none of a sealed packet.
        First = "seal-first", "the first byte is none of a sealed packet",
        /// The length is not that of the packet.
        Length = "seal-length", "the length is not that of the packet",
        /// The version is not [`VERSION`].
        Version = "seal-version", "another version of the sealed handshake",
        /// The pattern is unknown.
        Pattern = "seal-pattern", "an unknown pattern",
        /// The padding of a REQUEST is not zero.
        Padding = "seal-padding", "the padding is not zero",
        /// The kind of a control packet is unknown.
        Kind = "seal-kind", "an unknown kind of control packet",
    }
}

/// Whether a datagram says that it is a packet of a sealed link.
#[must_use]
pub fn is_sealed(datagram: &[u8]) -> bool {
    datagram.first().is_some_and(|first| (REQUEST..=CONTROL).contains(first))
}
