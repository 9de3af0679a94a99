//! RPLK version 1: the file format of replays.

use super::Replay;
use crate::{Buttons, Frame, Inputs};
use core::fmt;
use std::io::{self, Read, Write};

/// Length of the header.
pub const HEADER_LEN: usize = 32;

/// The most frames that a file may hold: three days at 60 a second, 64 MiB. A header that declares more is broken or
/// hostile.
pub const MAX_FRAMES: u32 = 1 << 24;

const MAGIC: [u8; 4] = *b"RPLK";
const VERSION: u8 = 1;
const FRAME_LEN: usize = 4;

/// The number of frames that are read or written at once, through a buffer on the stack. Memory is therefore allocated
/// only for frames that the file really has.
const CHUNK_FRAMES: usize = 1024;

/// The fields of a header that has passed every check that needs the header alone.
struct Header {
    seed: u32,
    frames: u32,
    crc: u32,
}

impl Header {
    fn encode(&self) -> [u8; HEADER_LEN] {
        let mut bytes = [0; HEADER_LEN];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4] = VERSION;
        bytes[6..8].copy_from_slice(&(HEADER_LEN as u16).to_le_bytes());
        bytes[8..12].copy_from_slice(&self.seed.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.frames.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.crc.to_le_bytes());
        bytes
    }

    /// Checks the fields in their order, and returns the first rule that is broken.
    fn decode(bytes: &[u8; HEADER_LEN]) -> Result<Self, ReadError> {
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let magic = [bytes[0], bytes[1], bytes[2], bytes[3]];
        if magic != MAGIC {
            return Err(ReadError::Magic { magic });
        }
        if bytes[4] != VERSION {
            return Err(ReadError::Version { version: bytes[4] });
        }
        if bytes[5] != 0 {
            return Err(ReadError::Flags { flags: bytes[5] });
        }
        let size = u16::from_le_bytes([bytes[6], bytes[7]]);
        if usize::from(size) != HEADER_LEN {
            return Err(ReadError::HeaderSize { size });
        }
        let (seed, start_frame, frames, crc) = (word(8), word(12), word(16), word(20));
        if seed == 0 {
            return Err(ReadError::Seed);
        }
        if start_frame != 0 {
            return Err(ReadError::StartFrame { start_frame });
        }
        if frames > MAX_FRAMES {
            return Err(ReadError::TooManyFrames { frames });
        }
        let reserved: [u8; 8] = core::array::from_fn(|at| bytes[24 + at]);
        if reserved != [0; 8] {
            return Err(ReadError::Reserved { reserved });
        }
        Ok(Self { seed, frames, crc })
    }

    /// The length of the whole file that the header declares.
    fn file_len(&self) -> u64 {
        HEADER_LEN as u64 + u64::from(self.frames) * FRAME_LEN as u64
    }
}

impl Replay {
    /// Writes an RPLK file. Wrap a file in a [`BufWriter`](io::BufWriter).
    ///
    /// # Errors
    /// A replay that could not be read again as it is, before anything is written: seed 0, more than [`MAX_FRAMES`], or
    /// axes, for which version 1 has no room. And errors of the writer.
    pub fn write(&self, writer: &mut impl Write) -> Result<(), WriteError> {
        if self.seed == 0 {
            return Err(WriteError::Seed);
        }
        let frames = match u32::try_from(self.inputs.len()) {
            Ok(frames) if frames <= MAX_FRAMES => frames,
            _ => return Err(WriteError::TooManyFrames { frames: self.inputs.len() }),
        };
        if let Some(at) =
            self.inputs.iter().position(|Inputs(players)| players.iter().any(|i| i.axes_used() > 0))
        {
            return Err(WriteError::Axes { frame: Frame(at as u32) });
        }
        let mut crc = crc32fast::Hasher::new();
        self.chunks(|chunk| {
            crc.update(chunk);
            Ok(())
        })?;
        writer.write_all(&Header { seed: self.seed, frames, crc: crc.finalize() }.encode())?;
        self.chunks(|chunk| writer.write_all(chunk))?;
        Ok(())
    }

    /// Passes the encoded inputs to `take`, [`CHUNK_FRAMES`] at a time.
    fn chunks(&self, mut take: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let mut bytes = [0; CHUNK_FRAMES * FRAME_LEN];
        for inputs in self.inputs.chunks(CHUNK_FRAMES) {
            for (slot, Inputs([one, two])) in bytes.as_chunks_mut::<FRAME_LEN>().0.iter_mut().zip(inputs) {
                let ([a, b], [c, d]) = (one.buttons().0.to_le_bytes(), two.buttons().0.to_le_bytes());
                *slot = [a, b, c, d];
            }
            take(&bytes[..inputs.len() * FRAME_LEN])?;
        }
        Ok(())
    }

    /// Reads an RPLK file that is in memory.
    ///
    /// # Errors
    /// The first rule that the file breaks; its length is compared with the header before memory is allocated.
    pub fn decode(file: &[u8]) -> Result<Self, ReadError> {
        let Some((header, _)) = file.split_first_chunk() else {
            return Err(ReadError::TooShort { len: file.len() });
        };
        let expected = Header::decode(header)?.file_len();
        if file.len() as u64 != expected {
            return Err(ReadError::Length { len: file.len() as u64, expected });
        }
        Self::read(&mut &*file)
    }

    /// Reads an RPLK file from its beginning to its end.
    ///
    /// The header is checked before anything else is read, and memory grows only with the frames that are really there:
    /// a short file that declares millions of frames costs nothing.
    ///
    /// # Errors
    /// The first rule that the file breaks.
    pub fn read(reader: &mut impl Read) -> Result<Self, ReadError> {
        let mut bytes = [0; HEADER_LEN];
        let len = fill(reader, &mut bytes)?;
        if len < HEADER_LEN {
            return Err(ReadError::TooShort { len });
        }
        let header = Header::decode(&bytes)?;
        let expected = header.file_len();
        let mut len = HEADER_LEN as u64;
        let mut crc = crc32fast::Hasher::new();
        let mut inputs = Vec::new();
        let mut chunk = [0; CHUNK_FRAMES * FRAME_LEN];
        while len < expected {
            let wanted = (expected - len).min(chunk.len() as u64) as usize;
            let got = fill(reader, &mut chunk[..wanted])?;
            len += got as u64;
            if got < wanted {
                return Err(ReadError::Length { len, expected });
            }
            crc.update(&chunk[..got]);
            inputs.extend(chunk[..got].as_chunks::<FRAME_LEN>().0.iter().map(|&[a, b, c, d]| {
                Inputs::from([Buttons(u16::from_le_bytes([a, b])), Buttons(u16::from_le_bytes([c, d]))])
            }));
        }
        if fill(reader, &mut [0])? > 0 {
            return Err(ReadError::Length { len: len + 1, expected });
        }
        let found = crc.finalize();
        if found != header.crc {
            return Err(ReadError::Crc { stated: header.crc, found });
        }
        Ok(Self { seed: header.seed, inputs })
    }
}

/// Reads until `bytes` is full or the file is at its end, and returns the number of bytes read.
fn fill(reader: &mut impl Read, bytes: &mut [u8]) -> io::Result<usize> {
    let mut len = 0;
    while len < bytes.len() {
        match reader.read(&mut bytes[len..]) {
            Ok(0) => break,
            Ok(more) => len += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(len)
}

/// Why a file is not a replay. The rules are checked in this order, and the first one broken is reported.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// The reader failed.
    Io(io::Error),
    /// The file is shorter than a header.
    TooShort {
        /// Length of the file.
        len: usize,
    },
    /// The first four bytes are not `RPLK`.
    Magic {
        /// The bytes found.
        magic: [u8; 4],
    },
    /// The version is not 1.
    Version {
        /// The version found.
        version: u8,
    },
    /// A flag is set; version 1 has no flags.
    Flags {
        /// The flags found.
        flags: u8,
    },
    /// The header size is not 32.
    HeaderSize {
        /// The size found.
        size: u16,
    },
    /// The seed is 0, which is invalid.
    Seed,
    /// The replay does not begin with frame 0.
    StartFrame {
        /// The frame found.
        start_frame: u32,
    },
    /// The replay has more than [`MAX_FRAMES`].
    TooManyFrames {
        /// The count found.
        frames: u32,
    },
    /// The reserved bytes are not zero.
    Reserved {
        /// The bytes found.
        reserved: [u8; 8],
    },
    /// The length is not the one that the frame count requires.
    Length {
        /// Length of the file; one byte more than `expected` stands for any length above it.
        len: u64,
        /// The length that the header requires.
        expected: u64,
    },
    /// The contents do not match the CRC in the header: they were damaged.
    Crc {
        /// The CRC in the header.
        stated: u32,
        /// The CRC of the contents.
        found: u32,
    },
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "cannot be read: {error}"),
            Self::TooShort { len } => {
                write!(f, "length: {len} bytes are too few for the header of {HEADER_LEN}")
            }
            Self::Magic { magic } => write!(f, "magic: \"{}\" is not \"RPLK\"", magic.escape_ascii()),
            Self::Version { version } => write!(f, "version: {version} is not {VERSION}"),
            Self::Flags { flags } => write!(f, "flags: {flags:#04x} is not 0"),
            Self::HeaderSize { size } => write!(f, "header size: {size} is not {HEADER_LEN}"),
            Self::Seed => f.write_str("seed: 0 is no seed"),
            Self::StartFrame { start_frame } => write!(f, "start frame: {start_frame} is not 0"),
            Self::TooManyFrames { frames } => {
                write!(f, "frame count: {frames} is more than {MAX_FRAMES}")
            }
            Self::Reserved { reserved } => write!(f, "reserved bytes: {reserved:02x?} are not all 0"),
            Self::Length { len, expected } if len < expected => {
                write!(f, "length: {len} bytes, but the header asks for {expected}")
            }
            Self::Length { expected, .. } => {
                write!(f, "length: more than the {expected} bytes that the header asks for")
            }
            Self::Crc { stated, found } => {
                write!(f, "crc: the header says {stated:08X}, the contents have {found:08X}")
            }
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Why a replay was not written.
#[derive(Debug)]
#[non_exhaustive]
pub enum WriteError {
    /// The writer failed.
    Io(io::Error),
    /// The seed is 0, which is invalid.
    Seed,
    /// The replay has more than [`MAX_FRAMES`].
    TooManyFrames {
        /// The number of frames of the replay.
        frames: usize,
    },
    /// An input has an axis that is not at rest, and version 1 holds buttons only.
    Axes {
        /// The first such frame.
        frame: Frame,
    },
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "cannot be written: {error}"),
            Self::Seed => f.write_str("seed: 0 is no seed"),
            Self::TooManyFrames { frames } => write!(f, "frame count: {frames} is more than {MAX_FRAMES}"),
            Self::Axes { frame } => {
                write!(f, "axes: an axis is used in frame {frame}, and RPLK version 1 holds buttons only")
            }
        }
    }
}

impl std::error::Error for WriteError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
