//! RPLK version 1: the file format of replays.

use super::header::MAGIC;
use super::{ReadError, Replay, WriteError};
use crate::{Buttons, Frame, Inputs};
use std::io::{self, Read, Write};

/// Length of the header.
pub const HEADER_LEN: usize = 32;

/// The most frames that a file may hold: three days at 60 a second, 64 MiB. A header that declares more is broken or
/// hostile.
pub const MAX_FRAMES: u32 = 1 << 24;

pub(super) const VERSION: u8 = 1;
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
    /// axes, more than one pad or a first state, for which version 1 has no room. And errors of the writer.
    pub fn write(&self, writer: &mut impl Write) -> Result<(), WriteError> {
        if !self.first_state.is_empty() {
            return Err(WriteError::FirstState);
        }
        let frames = match u32::try_from(self.inputs.len()) {
            Ok(frames) if frames <= MAX_FRAMES => frames,
            _ => return Err(WriteError::TooManyFrames { frames: self.inputs.len() }),
        };
        write(self.seed, frames, || self.inputs.iter().copied(), writer)
    }

    /// Reads an RPLK file that is in memory.
    ///
    /// # Errors
    /// The first rule that the file breaks; the whole file is checked before memory is allocated.
    pub fn decode(file: &[u8]) -> Result<Self, ReadError> {
        let (seed, _) = check(file)?;
        let frames = file[HEADER_LEN..].as_chunks::<FRAME_LEN>().0;
        let inputs = frames.iter().copied().map(frame_inputs).collect();
        Ok(Self { seed, inputs, ..Self::default() })
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
            return Err(ReadError::TooShort { len, needed: HEADER_LEN });
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
            inputs.extend(chunk[..got].as_chunks::<FRAME_LEN>().0.iter().copied().map(frame_inputs));
        }
        if fill(reader, &mut [0])? > 0 {
            return Err(ReadError::Length { len: len + 1, expected });
        }
        let found = crc.finalize();
        if found != header.crc {
            return Err(ReadError::Crc { stated: header.crc, found });
        }
        Ok(Self { seed: header.seed, inputs, ..Self::default() })
    }
}

/// Writes a file of `frames` frames, whose inputs are gone through three times and never kept.
pub(super) fn write<I: Iterator<Item = Inputs>>(
    seed: u32,
    frames: u32,
    inputs: impl Fn() -> I,
    writer: &mut impl Write,
) -> Result<(), WriteError> {
    if seed == 0 {
        return Err(WriteError::Seed);
    }
    if let Some(at) = inputs().position(|Inputs(players)| players.iter().any(|i| i.axes_used() > 0)) {
        return Err(WriteError::Axes { frame: Frame(at as u32) });
    }
    let mut crc = crc32fast::Hasher::new();
    chunks(inputs(), |chunk| {
        crc.update(chunk);
        Ok(())
    })?;
    writer.write_all(&Header { seed, frames, crc: crc.finalize() }.encode())?;
    chunks(inputs(), |chunk| writer.write_all(chunk))?;
    Ok(())
}

/// Passes the encoded inputs to `take`, [`CHUNK_FRAMES`] at a time.
fn chunks(
    mut inputs: impl Iterator<Item = Inputs>,
    mut take: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut bytes = [0; CHUNK_FRAMES * FRAME_LEN];
    loop {
        let mut len = 0;
        for (slot, Inputs([one, two])) in bytes.as_chunks_mut::<FRAME_LEN>().0.iter_mut().zip(&mut inputs) {
            let ([a, b], [c, d]) = (one.buttons().0.to_le_bytes(), two.buttons().0.to_le_bytes());
            *slot = [a, b, c, d];
            len += FRAME_LEN;
        }
        if len == 0 {
            return Ok(());
        }
        take(&bytes[..len])?;
    }
}

/// Checks a whole file in memory without keeping its inputs; its seed and the number of its frames.
pub(super) fn check(file: &[u8]) -> Result<(u32, u32), ReadError> {
    let Some((header, contents)) = file.split_first_chunk() else {
        return Err(ReadError::TooShort { len: file.len(), needed: HEADER_LEN });
    };
    let header = Header::decode(header)?;
    if file.len() as u64 != header.file_len() {
        return Err(ReadError::Length { len: file.len() as u64, expected: header.file_len() });
    }
    let found = crc32fast::hash(contents);
    if found != header.crc {
        return Err(ReadError::Crc { stated: header.crc, found });
    }
    Ok((header.seed, header.frames))
}

/// The inputs of a frame of a checked file.
pub(super) fn inputs_at(file: &[u8], frame: u32) -> Option<Inputs> {
    let at = HEADER_LEN + frame as usize * FRAME_LEN;
    file.get(at..)?.first_chunk().copied().map(frame_inputs)
}

fn frame_inputs([a, b, c, d]: [u8; FRAME_LEN]) -> Inputs {
    Inputs::from([Buttons(u16::from_le_bytes([a, b])), Buttons(u16::from_le_bytes([c, d]))])
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
