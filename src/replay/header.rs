//! The header of RPLK version 2.

use super::ReadError;
use super::codec::Reader;
use crate::game::MAX_PADS;
use crate::{Agreed, Config, FirstState, Frame, FrameRate, Input, MAX_AXES};
use core::fmt;

pub(super) const MAGIC: [u8; 4] = *b"RPLK";
pub(super) const VERSION: u8 = 2;

/// The most bytes of a name: the most that a peer can send as its user data.
pub const MAX_NAME: usize = 64;

/// Length of the header without names, and with its CRC.
const MIN_LEN: usize = 58;
const NAMES_AT: usize = 54;
const CRC_LEN: usize = 4;
/// The flag of a file with a first state, and the length of the two fields about it.
const FIRST_STATE: u8 = 1;
const FIRST_STATE_LEN: usize = 12;
/// The delay that is not known.
const NO_DELAY: u8 = 0xFF;

/// The facts about a match that its replay begins with. `docs/REPLAY.md` has the layout.
///
/// Everything but the seed can be left out, because replays are shared: 0, `None` and an empty name mean "unknown".
///
/// ```
/// use rebout::replay::Header;
///
/// let mut header = Header::new(999);
/// header.game_id = 0x6475_656C;
/// header.names = ["Ada".to_owned(), String::new()];
/// assert!(header.check().is_ok());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The seed of the first state. A seed of 0 is invalid.
    pub seed: u32,
    /// The first state that the host gave to the joiner, which follows the header; empty without one.
    pub first_state: FirstState,
    /// The frame from which the match is to be shown. The frames before it are needed to get there.
    pub start_frame: Frame,
    /// The number of the game, as in [`GameConfig::id`](crate::GameConfig::id).
    pub game_id: u64,
    /// The hash of build, characters, stage and rules, as in [`GameConfig::content_hash`](crate::GameConfig::content_hash).
    pub content_hash: u64,
    /// The time of recording, in seconds since 1970.
    pub recorded_at_secs: u64,
    /// Frames a second.
    pub frame_rate: Option<FrameRate>,
    /// The number of axes of an input; axes beyond it cannot be recorded.
    pub axes: u8,
    /// The number of pads at each machine, 1 to 4; pads beyond it cannot be recorded.
    pub pads: u8,
    /// The input delay of each player at the start, at most [`Config::MAX_DELAY_FRAMES`].
    pub delay_frames: [Option<u8>; 2],
    /// The names of the players, at most [`MAX_NAME`] bytes each.
    pub names: [String; 2],
}

impl Header {
    /// A header of which only the seed is known.
    #[must_use]
    pub fn new(seed: u32) -> Self {
        Self {
            seed,
            first_state: FirstState::default(),
            start_frame: Frame::ZERO,
            game_id: 0,
            content_hash: 0,
            recorded_at_secs: 0,
            frame_rate: None,
            axes: 0,
            pads: 1,
            delay_frames: [None; 2],
            names: [String::new(), String::new()],
        }
    }

    /// The header of an online match, without names and time.
    #[must_use]
    pub fn of_match(config: &Config, agreed: &Agreed) -> Self {
        let mut header = Self::of_offline(config, agreed.seed);
        header.first_state = agreed.first_state.clone();
        header.delay_frames[agreed.seat.index()] = Some(agreed.delay_frames);
        header.delay_frames[agreed.seat.other().index()] = Some(agreed.peer_delay_frames);
        header
    }

    /// The header of a match at one machine, without names and time.
    #[must_use]
    pub fn of_offline(config: &Config, seed: u32) -> Self {
        Self {
            game_id: config.game.id,
            content_hash: config.game.content_hash,
            frame_rate: Some(config.game.frame_rate),
            axes: config.game.axes,
            pads: config.game.pads,
            ..Self::new(seed)
        }
    }

    /// Checks that a file can begin with this header.
    ///
    /// # Errors
    /// The first value that is not valid.
    pub fn check(&self) -> Result<(), HeaderError> {
        if self.seed == 0 {
            return Err(HeaderError::Seed);
        }
        if let Some(frame_rate) = self.frame_rate.filter(|rate| !rate.is_valid()) {
            return Err(HeaderError::FrameRate { frame_rate });
        }
        let Self { axes, pads, .. } = *self;
        if axes > MAX_AXES {
            return Err(HeaderError::Axes { axes });
        }
        if !(1..=MAX_PADS).contains(&pads) || (pads > 1 && axes > 0) {
            return Err(HeaderError::Pads { pads, axes });
        }
        if let Some(delay_frames) =
            self.delay_frames.into_iter().flatten().find(|d| *d > Config::MAX_DELAY_FRAMES)
        {
            return Err(HeaderError::Delay { delay_frames });
        }
        if self.first_state.len() > Config::MAX_FIRST_STATE as usize {
            return Err(HeaderError::FirstState { len: self.first_state.len() });
        }
        match self.names.iter().find(|name| name.len() > MAX_NAME) {
            Some(name) => Err(HeaderError::Name { len: name.len() }),
            None => Ok(()),
        }
    }

    /// The number of axes as inputs are recorded: pads after the first are two axes each.
    pub(super) fn recorded_axes(&self) -> u8 {
        Input::axes_of(self.axes, self.pads)
    }

    /// The encoded header with its CRC, and the CRC to continue with.
    pub(super) fn encode(&self) -> Result<(Vec<u8>, crc32fast::Hasher), HeaderError> {
        self.check()?;
        let has_first_state = !self.first_state.is_empty();
        let about_it = if has_first_state { FIRST_STATE_LEN } else { 0 };
        let len = MIN_LEN + about_it + self.names.iter().map(String::len).sum::<usize>();
        let mut out = Vec::with_capacity(len);
        out.extend(MAGIC);
        out.extend([VERSION, if has_first_state { FIRST_STATE } else { 0 }]);
        out.extend((len as u16).to_le_bytes());
        out.extend(self.seed.to_le_bytes());
        out.extend(self.start_frame.0.to_le_bytes());
        out.extend(self.game_id.to_le_bytes());
        out.extend(self.content_hash.to_le_bytes());
        out.extend(self.recorded_at_secs.to_le_bytes());
        let rate = self.frame_rate.map_or([0; 2], |rate| [rate.numerator(), rate.denominator()]);
        rate.iter().for_each(|part| out.extend(part.to_le_bytes()));
        out.extend([self.axes, self.pads]);
        out.extend(self.delay_frames.map(|delay| delay.unwrap_or(NO_DELAY)));
        out.extend(self.names.each_ref().map(|name| name.len() as u8));
        if has_first_state {
            out.extend((self.first_state.len() as u32).to_le_bytes());
            out.extend(self.first_state.hash().to_le_bytes());
        }
        self.names.iter().for_each(|name| out.extend(name.as_bytes()));
        let mut crc = crc32fast::Hasher::new();
        crc.update(&out);
        out.extend(crc.clone().finalize().to_le_bytes());
        Ok((out, crc))
    }

    /// Reads the header and the first state at the beginning of a file of version 2; the length of both, and the CRC to go on
    /// with.
    ///
    /// The CRC is checked before the fields, because a damaged length or name is no fact about the match.
    pub(super) fn decode(file: &[u8]) -> Result<(Self, usize, crc32fast::Hasher), ReadError> {
        let short = ReadError::TooShort { len: file.len(), needed: MIN_LEN };
        let size = Reader::new(file, 6).u16().ok_or(short)?;
        let len = usize::from(size);
        let about_it = if file[5] == FIRST_STATE { FIRST_STATE_LEN } else { 0 };
        if !(MIN_LEN..=MIN_LEN + about_it + 2 * MAX_NAME).contains(&len) {
            return Err(ReadError::NamesSize { size });
        }
        let (body, mut rest) = (file.get(..len - CRC_LEN), Reader::new(file, len - CRC_LEN));
        let (Some(body), Some(stated)) = (body, rest.u32()) else {
            return Err(ReadError::TooShort { len: file.len(), needed: len });
        };
        let mut crc = crc32fast::Hasher::new();
        crc.update(body);
        let found = crc.clone().finalize();
        if found != stated {
            return Err(ReadError::HeaderCrc { stated, found });
        }
        let (mut header, stated) = fields(body).ok_or(ReadError::NamesSize { size })??;
        let Some((first_state_len, stated)) = stated else { return Ok((header, len, crc)) };
        let rest = &file[len..];
        let Some(first_state) = rest.get(..first_state_len as usize) else {
            return Err(ReadError::FirstState { len: rest.len(), expected: first_state_len });
        };
        header.first_state = first_state.to_vec().into();
        let found = header.first_state.hash();
        if found != stated {
            return Err(ReadError::FirstStateHash { stated, found });
        }
        Ok((header, len + first_state.len(), crc))
    }
}

/// The fields of a header, with length and hash of the first state.
type Fields = (Header, Option<(u32, u64)>);

/// The fields of a header whose CRC is right; `None` if the names do not fill it.
fn fields(body: &[u8]) -> Option<Result<Fields, ReadError>> {
    let mut reader = Reader::new(body, 5);
    let flags = reader.u8()?;
    if flags & !FIRST_STATE != 0 {
        return Some(Err(ReadError::Flags { flags }));
    }
    reader.u16()?;
    let mut header = Header::new(reader.u32()?);
    header.start_frame = Frame(reader.u32()?);
    header.game_id = reader.u64()?;
    header.content_hash = reader.u64()?;
    header.recorded_at_secs = reader.u64()?;
    let rate = u64::from(reader.u32()?) << 32 | u64::from(reader.u32()?);
    header.frame_rate = (rate != 0).then_some(FrameRate::from_bits(rate));
    (header.axes, header.pads) = (reader.u8()?, reader.u8()?);
    let delays = [reader.u8()?, reader.u8()?];
    header.delay_frames = delays.map(|delay| (delay != NO_DELAY).then_some(delay));
    let lens = [reader.u8()?, reader.u8()?].map(usize::from);
    let first_state = if flags == FIRST_STATE { Some((reader.u32()?, reader.u64()?)) } else { None };
    let about_it = if flags == FIRST_STATE { FIRST_STATE_LEN } else { 0 };
    if NAMES_AT + about_it + lens[0] + lens[1] != body.len() {
        return None;
    }
    if let Some((len, _)) = first_state.filter(|(len, _)| !(1..=Config::MAX_FIRST_STATE).contains(len)) {
        return Some(Err(ReadError::Header(HeaderError::FirstState { len: len as usize })));
    }
    for (name, len) in header.names.iter_mut().zip(lens) {
        match core::str::from_utf8(reader.slice(len)?) {
            Ok(text) => text.clone_into(name),
            Err(_) => return Some(Err(ReadError::Name)),
        }
    }
    Some(header.check().map(|()| (header, first_state)).map_err(ReadError::Header))
}

/// Why a [`Header`] is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HeaderError {
    /// The seed is 0.
    Seed,
    /// The frame rate is outside 1 to 1,000, or not in lowest terms.
    FrameRate {
        /// The frame rate.
        frame_rate: FrameRate,
    },
    /// There are more axes than [`MAX_AXES`].
    Axes {
        /// The number of axes.
        axes: u8,
    },
    /// There are no pads, more than four, or more than one together with axes.
    Pads {
        /// The number of pads.
        pads: u8,
        /// The number of axes.
        axes: u8,
    },
    /// An input delay is greater than [`Config::MAX_DELAY_FRAMES`].
    Delay {
        /// The delay.
        delay_frames: u8,
    },
    /// The first state is longer than [`Config::MAX_FIRST_STATE`], or the file declares one of 0 bytes.
    FirstState {
        /// Its length in bytes.
        len: usize,
    },
    /// A name is longer than [`MAX_NAME`].
    Name {
        /// The length of the name in bytes.
        len: usize,
    },
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Seed => f.write_str("seed: 0 is no seed"),
            Self::FrameRate { frame_rate } => {
                write!(
                    f,
                    "frame rate: {frame_rate} is outside 1..={}, or not in lowest terms",
                    FrameRate::MAX_HZ
                )
            }
            Self::Axes { axes } => write!(f, "axes: {axes} are more than {MAX_AXES}"),
            Self::Pads { pads, axes } if (1..=MAX_PADS).contains(pads) => {
                write!(f, "pads: {pads} leave no room for {axes} axes")
            }
            Self::Pads { pads, .. } => write!(f, "pads: {pads} are outside 1..={MAX_PADS}"),
            Self::Delay { delay_frames } => {
                write!(f, "input delay: {delay_frames} frames are more than {}", Config::MAX_DELAY_FRAMES)
            }
            Self::FirstState { len } => {
                write!(f, "first state: {len} bytes are outside 1..={}", Config::MAX_FIRST_STATE)
            }
            Self::Name { len } => write!(f, "name: {len} bytes are more than {MAX_NAME}"),
        }
    }
}

impl core::error::Error for HeaderError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(header: &Header) -> Vec<u8> {
        header.encode().unwrap().0
    }

    /// A header with some bytes changed and a CRC that fits.
    fn changed(header: &Header, change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut bytes = encoded(header);
        bytes.truncate(bytes.len() - CRC_LEN);
        change(&mut bytes);
        let size = (bytes.len() + CRC_LEN) as u16;
        bytes[6..8].copy_from_slice(&size.to_le_bytes());
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        bytes
    }

    #[test]
    fn largest_values_are_written_and_read() {
        let header = Header {
            frame_rate: Some(FrameRate::ratio(39_375_000, 655_171)),
            axes: MAX_AXES,
            delay_frames: [Some(Config::MAX_DELAY_FRAMES), Some(0)],
            names: ["x".repeat(MAX_NAME), "y".repeat(MAX_NAME)],
            ..Header::new(u32::MAX)
        };
        let bytes = encoded(&header);
        let (decoded, len, _) = Header::decode(&bytes).unwrap();
        assert_eq!((decoded, len), (header, bytes.len()));
    }

    #[test]
    fn first_state_follows_the_header_and_is_checked() {
        let first_state = FirstState::from(vec![7; 5_000]);
        let header = Header { first_state, names: ["Ada".to_owned(), String::new()], ..Header::new(1) };
        let head = encoded(&header);
        let file = [&head[..], &header.first_state, b"chunks"].concat();
        let (decoded, len, _) = Header::decode(&file).unwrap();
        assert_eq!((&decoded, len), (&header, file.len() - 6));
        for cut in [0, 1, 4_999] {
            let error = Header::decode(&file[..head.len() + cut]).unwrap_err();
            assert!(matches!(error, ReadError::FirstState { len, expected: 5_000 } if len == cut));
        }
        let mut flipped = file.clone();
        flipped[head.len() + 4_999] ^= 1;
        assert!(matches!(Header::decode(&flipped), Err(ReadError::FirstStateHash { .. })));
        // A file of a few bytes that declares gigabytes costs nothing.
        for len in [0, Config::MAX_FIRST_STATE + 1, u32::MAX] {
            let lie = changed(&header, |bytes| {
                bytes[NAMES_AT..NAMES_AT + 4].copy_from_slice(&len.to_le_bytes());
            });
            let refused = ReadError::Header(HeaderError::FirstState { len: len as usize });
            assert_eq!(Header::decode(&lie).unwrap_err().to_string(), refused.to_string());
        }
    }

    #[test]
    fn flags_rate_pads_and_lengths_of_names_are_checked() {
        let header = Header { names: ["Ada".to_owned(), String::new()], ..Header::new(1) };
        let refusal = |bytes: &[u8]| Header::decode(bytes).map(|_| ()).unwrap_err().to_string();
        let unreduced = HeaderError::FrameRate { frame_rate: FrameRate::from_bits(120 << 32 | 2) };
        let rate = |bytes: &mut Vec<u8>| (bytes[40], bytes[44]) = (120, 2);
        assert_eq!(refusal(&changed(&header, rate)), unreduced.to_string());
        let pads = |bytes: &mut Vec<u8>| (bytes[48], bytes[49]) = (1, 2);
        assert_eq!(refusal(&changed(&header, pads)), "pads: 2 leave no room for 1 axes");
        assert_eq!(
            refusal(&changed(&header, |bytes| bytes[5] = 4)),
            ReadError::Flags { flags: 4 }.to_string()
        );
        let size = |size| ReadError::NamesSize { size }.to_string();
        assert_eq!(refusal(&changed(&header, |bytes| bytes[52] = 2)), size(61), "a character is left over");
        assert_eq!(refusal(&changed(&header, |bytes| bytes[52] = 4)), size(61), "a character is missing");
        let long = changed(&header, |bytes| {
            bytes.resize(NAMES_AT + 2 * MAX_NAME + 1, b'x');
            bytes[52] = 2 * MAX_NAME as u8 + 1;
        });
        assert_eq!(refusal(&long), size(187), "longer than two names");
    }
}
