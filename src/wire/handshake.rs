//! The messages of the handshake: HELLO, CHALLENGE, OFFER. The fourth, REFUSE, is in `refuse`.
//!
//! They are answered, never queued, numbered or acknowledged. No answer is longer than a HELLO, so that a host cannot be
//! used to amplify traffic to a forged address. The kind, version, nonce and cookie of a HELLO, all of CHALLENGE and all
//! of REFUSE keep their places in every later version, so that two versions can tell each other that they differ.

use super::bytes::{Reader, Writer};
use super::message::{DecodeError, EncodeError, Kind};
use super::numbering::WireFrame;
use super::refuse::REFUSE_LEN;
use crate::game::MAX_PADS;
use crate::{FrameRate, MAX_AXES, Player};

/// The version of the protocol that a HELLO asks for.
pub const VERSION: u16 = 3;
/// The most bytes that a game can put into its HELLO or OFFER.
pub const MAX_USER_DATA: usize = 64;
/// Length of every HELLO of this version.
pub const HELLO_LEN: usize = 58 + MAX_USER_DATA;
/// Length of the shortest HELLO of any version. A shorter one could be shorter than its answer, and an attacker could
/// amplify traffic with it.
const MIN_HELLO_LEN: usize = 108;
/// The greatest number on the wire for frame 0. The upper half of the range is left for the match.
pub const MAX_FIRST_FRAME: u32 = 1 << 31;
/// The greatest sum of window and delay: enough for a round trip of 600 ms at 60 frames a second.
pub const MAX_WINDOW_AND_DELAY: u8 = 30;
/// The longest interval between checksums: a desync is noticed within ten seconds at 60 frames a second, even if the
/// other side proposes a longer one.
pub const MAX_CADENCE: u16 = 600;

const CHALLENGE_LEN: usize = 17;
const OFFER_LEN: usize = 49;
const _: () = assert!(
    CHALLENGE_LEN <= MIN_HELLO_LEN && REFUSE_LEN <= MIN_HELLO_LEN && OFFER_LEN + MAX_USER_DATA <= HELLO_LEN
);

/// The optional parts of the protocol that a machine offers, a bit for each. A part is used if both machines offer it;
/// bits that are not known here are ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extensions(pub u32);

impl Extensions {
    /// None: RBN1 packets are those of version 1's document.
    pub const NONE: Self = Self(0);
    /// Time blocks in RBN1 packets take the place of PING and PONG during a match.
    pub const TIME_BLOCK: Self = Self(1);
    /// Loss blocks in RBN1 packets take the place of REPORT.
    pub const LOSS_BLOCK: Self = Self(2);
    /// A machine whose live state went wrong is mended; offered by [`OnDesync::Mend`](crate::OnDesync::Mend) alone.
    pub(crate) const MEND: Self = Self(4);
    /// All that do not depend on another setting.
    pub const ALL: Self = Self(Self::TIME_BLOCK.0 | Self::LOSS_BLOCK.0);

    /// These and, if `is_offered`, `other`.
    pub(crate) const fn with(self, other: Self, is_offered: bool) -> Self {
        Self(if is_offered { self.0 | other.0 } else { self.0 & !other.0 })
    }

    /// The extensions that both these and `other` have.
    #[must_use]
    pub const fn shared_with(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Whether all of `other` are among these.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// The joiner's request. Version, game id, content hash, frame rate, axes and pads must match the host's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello<'a> {
    /// Drawn by the joiner for this attempt; every answer repeats it.
    pub nonce: u64,
    /// From the host's CHALLENGE; 0 before there was one.
    pub cookie: u64,
    /// The number that names the game.
    pub game_id: u64,
    /// A hash of what must be alike: build, characters, stage, rules.
    pub content_hash: u64,
    /// Frames a second.
    pub frame_rate: FrameRate,
    /// The joiner's input delay.
    pub delay_frames: u8,
    /// The joiner's prediction window.
    pub window_frames: u8,
    /// The RTT that the joiner has measured so far, in units of 100 µs; 0 if it has not, or has chosen its input delay.
    pub round_trip: u16,
    /// The number of axes of an input, at most 6.
    pub axes: u8,
    /// The number of pads at each machine, 1 to 4. More than one only without axes.
    pub pads: u8,
    /// The largest first state that the joiner accepts, in bytes.
    pub first_state_limit: u32,
    /// The extensions that the joiner offers.
    pub capabilities: Extensions,
    /// Data of the game's own, such as a name, at most 64 bytes.
    pub user_data: &'a [u8],
}

/// The part of a HELLO of another version that keeps its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForeignHello {
    /// The version that the joiner speaks, not [`VERSION`].
    pub version: u16,
    /// Drawn by the joiner for this attempt.
    pub nonce: u64,
    /// From the host's CHALLENGE; 0 before there was one.
    pub cookie: u64,
}

/// The host's first answer: it asks for a HELLO with this cookie, which proves the joiner's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Challenge {
    /// The joiner's nonce.
    pub nonce: u64,
    /// The cookie to repeat; not 0, which means that there is none.
    pub cookie: u64,
}

/// The host's acceptance, with everything that the host decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer<'a> {
    /// The joiner's nonce.
    pub nonce: u64,
    /// The number of frame 0 on the wire, 1..=2^31.
    pub first_frame: WireFrame,
    /// The seed of the game, not 0.
    pub seed: u32,
    /// The joiner's seat.
    pub seat: Player,
    /// The host's input delay.
    pub delay_frames: u8,
    /// The host's prediction window.
    pub window_frames: u8,
    /// The RTT that the host's input delay is for, in units of 100 µs; 0 if the delay was chosen.
    pub round_trip: u16,
    /// Frames from one checksum to the next, not 0.
    pub cadence_frames: u16,
    /// The extensions that the host offers.
    pub capabilities: Extensions,
    /// A random number that identifies this match.
    pub token: u64,
    /// The length of the first state that the host shares, 0 if there is none.
    pub first_state_len: u32,
    /// The hash of the first state that the host shares, 0 if there is none.
    pub first_state_hash: u64,
    /// Data of the game's own, such as a name, at most 64 bytes.
    pub user_data: &'a [u8],
}

/// The part of a HELLO that every version shares, and whether the rest is ours to read.
pub(super) enum AnyHello<'a> {
    Ours(Hello<'a>),
    Foreign(ForeignHello),
}

pub(super) fn read_hello(payload: &[u8]) -> Result<AnyHello<'_>, DecodeError> {
    let wrong_length = DecodeError::Length { kind: Kind::Hello, len: payload.len() };
    if payload.len() < MIN_HELLO_LEN {
        return Err(wrong_length);
    }
    let mut reader = Reader(payload);
    let shared = (reader.u8(), reader.u16(), reader.u64(), reader.u64());
    let (Some(_), Some(version), Some(nonce), Some(cookie)) = shared else {
        return Err(wrong_length);
    };
    if version != VERSION {
        return Ok(AnyHello::Foreign(ForeignHello { version, nonce, cookie }));
    }
    let (hello, padding) = read_own_hello(reader, nonce, cookie).ok_or(wrong_length)?;
    check_frame_rate(hello.frame_rate)?;
    check_window_and_delay(hello.window_frames, hello.delay_frames)?;
    check_input(hello.axes, hello.pads)?;
    let user_data = padding.user_data()?;
    Ok(AnyHello::Ours(Hello { user_data, ..hello }))
}

/// The 64 bytes that end a HELLO, of which the first `len` are said to be used.
struct Padded<'a> {
    len: u8,
    bytes: &'a [u8],
}

impl<'a> Padded<'a> {
    fn user_data(&self) -> Result<&'a [u8], DecodeError> {
        let Some((used, unused)) = self.bytes.split_at_checked(usize::from(self.len)) else {
            return Err(DecodeError::UserData { len: self.len.into() });
        };
        match unused.iter().find(|byte| **byte != 0) {
            None => Ok(used),
            Some(&byte) => Err(DecodeError::Padding { byte }),
        }
    }
}

fn read_own_hello(mut reader: Reader<'_>, nonce: u64, cookie: u64) -> Option<(Hello<'_>, Padded<'_>)> {
    let hello = Hello {
        nonce,
        cookie,
        game_id: reader.u64()?,
        content_hash: reader.u64()?,
        frame_rate: FrameRate::from_bits(reader.u64()?),
        delay_frames: reader.u8()?,
        window_frames: reader.u8()?,
        round_trip: reader.u16()?,
        axes: reader.u8()?,
        pads: reader.u8()?,
        first_state_limit: reader.u32()?,
        capabilities: Extensions(reader.u32()?),
        user_data: &[],
    };
    let padded = Padded { len: reader.u8()?, bytes: reader.slice(MAX_USER_DATA)? };
    reader.end()?;
    Some((hello, padded))
}

pub(super) fn read_challenge(payload: &[u8]) -> Result<Challenge, DecodeError> {
    let read = |mut reader: Reader<'_>| {
        reader.u8()?;
        let challenge = Challenge { nonce: reader.u64()?, cookie: reader.u64()? };
        reader.end()?;
        Some(challenge)
    };
    let challenge =
        read(Reader(payload)).ok_or(DecodeError::Length { kind: Kind::Challenge, len: payload.len() })?;
    if challenge.cookie == 0 { Err(DecodeError::Cookie) } else { Ok(challenge) }
}

pub(super) fn read_offer(payload: &[u8]) -> Result<Offer<'_>, DecodeError> {
    let wrong_length = DecodeError::Length { kind: Kind::Offer, len: payload.len() };
    let (offer, seat, user_data_len) = read_offer_fields(payload).ok_or(wrong_length)?;
    if usize::from(user_data_len) > MAX_USER_DATA {
        return Err(DecodeError::UserData { len: user_data_len.into() });
    }
    if offer.user_data.len() != usize::from(user_data_len) {
        return Err(wrong_length);
    }
    check_first_frame(offer.first_frame)?;
    check_seed(offer.seed)?;
    let seat = match seat {
        1 => Player::One,
        2 => Player::Two,
        _ => return Err(DecodeError::Seat { seat }),
    };
    check_window_and_delay(offer.window_frames, offer.delay_frames)?;
    check_cadence(offer.cadence_frames)?;
    Ok(Offer { seat, ..offer })
}

fn read_offer_fields(payload: &[u8]) -> Option<(Offer<'_>, u8, u8)> {
    let mut reader = Reader(payload);
    reader.u8()?;
    let (nonce, first_frame, seed) = (reader.u64()?, reader.u32()?, reader.u32()?);
    let seat = reader.u8()?;
    let (delay_frames, window_frames) = (reader.u8()?, reader.u8()?);
    let (round_trip, cadence_frames) = (reader.u16()?, reader.u16()?);
    let (capabilities, token) = (reader.u32()?, reader.u64()?);
    let (first_state_len, first_state_hash, user_data_len) = (reader.u32()?, reader.u64()?, reader.u8()?);
    let offer = Offer {
        nonce,
        first_frame: WireFrame(first_frame),
        seed,
        seat: Player::One,
        delay_frames,
        window_frames,
        round_trip,
        cadence_frames,
        capabilities: Extensions(capabilities),
        token,
        first_state_len,
        first_state_hash,
        user_data: reader.rest(),
    };
    Some((offer, seat, user_data_len))
}

pub(super) fn put_hello(writer: &mut Writer<'_>, hello: &Hello<'_>) -> Result<(), EncodeError> {
    let len = user_data_len(hello.user_data)?;
    check_frame_rate(hello.frame_rate)?;
    check_window_and_delay(hello.window_frames, hello.delay_frames)?;
    check_input(hello.axes, hello.pads)?;
    writer.u16(VERSION);
    writer.u64(hello.nonce);
    writer.u64(hello.cookie);
    writer.u64(hello.game_id);
    writer.u64(hello.content_hash);
    writer.u64(hello.frame_rate.to_bits());
    writer.u8(hello.delay_frames);
    writer.u8(hello.window_frames);
    writer.u16(hello.round_trip);
    writer.u8(hello.axes);
    writer.u8(hello.pads);
    writer.u32(hello.first_state_limit);
    writer.u32(hello.capabilities.0);
    writer.u8(len);
    writer.put(hello.user_data);
    writer.zeros(MAX_USER_DATA - usize::from(len));
    Ok(())
}

pub(super) fn put_foreign_hello(writer: &mut Writer<'_>, hello: &ForeignHello) -> Result<(), EncodeError> {
    if hello.version == VERSION {
        return Err(EncodeError::OwnVersion);
    }
    writer.u16(hello.version);
    writer.u64(hello.nonce);
    writer.u64(hello.cookie);
    writer.zeros(HELLO_LEN - writer.len());
    Ok(())
}

pub(super) fn put_challenge(writer: &mut Writer<'_>, challenge: &Challenge) -> Result<(), EncodeError> {
    if challenge.cookie == 0 {
        return Err(DecodeError::Cookie.into());
    }
    writer.u64(challenge.nonce);
    writer.u64(challenge.cookie);
    Ok(())
}

pub(super) fn put_offer(writer: &mut Writer<'_>, offer: &Offer<'_>) -> Result<(), EncodeError> {
    let len = user_data_len(offer.user_data)?;
    check_first_frame(offer.first_frame)?;
    check_seed(offer.seed)?;
    check_window_and_delay(offer.window_frames, offer.delay_frames)?;
    check_cadence(offer.cadence_frames)?;
    writer.u64(offer.nonce);
    writer.u32(offer.first_frame.0);
    writer.u32(offer.seed);
    writer.u8(match offer.seat {
        Player::One => 1,
        Player::Two => 2,
    });
    writer.u8(offer.delay_frames);
    writer.u8(offer.window_frames);
    writer.u16(offer.round_trip);
    writer.u16(offer.cadence_frames);
    writer.u32(offer.capabilities.0);
    writer.u64(offer.token);
    writer.u32(offer.first_state_len);
    writer.u64(offer.first_state_hash);
    writer.u8(len);
    writer.put(offer.user_data);
    Ok(())
}

fn user_data_len(user_data: &[u8]) -> Result<u8, DecodeError> {
    match u8::try_from(user_data.len()) {
        Ok(len) if user_data.len() <= MAX_USER_DATA => Ok(len),
        _ => Err(DecodeError::UserData { len: user_data.len() }),
    }
}

fn check_frame_rate(frame_rate: FrameRate) -> Result<(), DecodeError> {
    if frame_rate.is_valid() { Ok(()) } else { Err(DecodeError::FrameRate { frame_rate }) }
}

fn check_input(axes: u8, pads: u8) -> Result<(), DecodeError> {
    if axes > MAX_AXES {
        return Err(DecodeError::Axes { axes });
    }
    if !(1..=MAX_PADS).contains(&pads) || (pads > 1 && axes > 0) {
        return Err(DecodeError::Pads { pads, axes });
    }
    Ok(())
}

fn check_first_frame(WireFrame(first_frame): WireFrame) -> Result<(), DecodeError> {
    if (1..=MAX_FIRST_FRAME).contains(&first_frame) {
        Ok(())
    } else {
        Err(DecodeError::FirstFrame { first_frame })
    }
}

fn check_seed(seed: u32) -> Result<(), DecodeError> {
    if seed == 0 { Err(DecodeError::Seed) } else { Ok(()) }
}

fn check_cadence(cadence_frames: u16) -> Result<(), DecodeError> {
    if (1..=MAX_CADENCE).contains(&cadence_frames) {
        Ok(())
    } else {
        Err(DecodeError::Cadence { cadence_frames })
    }
}

fn check_window_and_delay(window_frames: u8, delay_frames: u8) -> Result<(), DecodeError> {
    if u16::from(window_frames) + u16::from(delay_frames) <= u16::from(MAX_WINDOW_AND_DELAY) {
        Ok(())
    } else {
        Err(DecodeError::WindowAndDelay { window_frames, delay_frames })
    }
}
